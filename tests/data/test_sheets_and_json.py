"""Excel files and JSON arrays, which are read as a whole; small files may not claim much."""

from __future__ import annotations

import datetime
import json
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from adaline import LeastSquares
from adaline.data import blocks, fit, look
from adaline.data.reading import arrays, json_files
from adaline.errors import DataError, MissingExtra


def table(source) -> dict[str, list]:
    """Columns as Python has them; None for what is missing."""
    found: dict[str, list] = {name: [] for name in source.names}
    for block in source:
        for name, column in zip(block.names, block.columns, strict=True):
            values = column.values.tolist()
            if column.kind == "text":
                values = [column.levels[k] if column.levels else None for k in values]
            gone = column.missing if column.missing is not None else [False] * len(values)
            found[name] += [None if g else v for g, v in zip(gone, values, strict=True)]
    return found


@pytest.fixture
def excel(tmp_path):
    """Writes sheets of cells, by name, and gives the path."""
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")

    def write(**sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, cells in sheets.items():
            sheet = book.create_sheet(name)
            for row in cells:
                sheet.append(row)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return write


def test_a_sheet_is_a_table(excel):
    day = datetime.datetime(2024, 5, 17)
    path = excel(
        first=[
            ["x", "n", "word", "day", "mixed", "sure"],
            [1.5, 2, "red", day, 3, True],
            [None, 3, "NA", day, "136A", False],
            [None] * 6,
            [2.5, 4, "grün", day, 5, True],
        ],
        second=[["a"], [1]],
    )
    source = blocks(path)
    assert source.kinds == ("number", "number", "text", "date", "text", "text")
    assert len(source.notes) == 1
    assert "'second'" in source.notes[0]
    found = table(source)
    assert found["x"] == [1.5, None, 2.5]
    assert found["n"] == [2, 3, 4]
    assert found["word"] == ["red", None, "grün"]
    assert found["mixed"] == ["3", "136A", "5"]
    assert found["sure"] == ["true", "false", "true"]
    assert next(iter(source)).place(2) == "row 5"  # as Excel counts
    assert table(blocks(path, sheet="second")) == {"a": [1.0]}
    assert table(blocks(path, ["n"], rows=2)) == {"n": [2, 3, 4]}
    with pytest.raises(DataError, match="no sheet 'secnd'; did you mean 'second'"):
        blocks(path, sheet="secnd")


def test_titles_above_a_table_and_empty_columns_are_left_out(excel):
    path = excel(
        s=[
            ["Sales of the year", None, None, None],
            [],
            [None, "x", None, "y"],
            [None, 1, None, 2],
            [None, 3, None, 4],
        ]
    )
    source = blocks(path)
    assert table(source) == {"x": [1, 3], "y": [2, 4]}
    assert "1 row above" in source.notes[0]
    one = excel(s=[["x"], ["a"], ["b"]])
    assert table(blocks(one)) == {"x": ["a", "b"]}


def test_a_sheet_without_names(excel):
    path = excel(s=[[1, 2.5], [3, 4], [5, 6]])
    assert table(blocks(path)) == {"x0": [1, 3, 5], "x1": [2.5, 4, 6]}
    assert blocks(path, header=True).names == ("1", "2.5")


def test_what_pandas_writes_to_excel_is_read(tmp_path, rng):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.choice(["u", "v"], 30)})
    frame["y"] = 2 * frame["a"] + (frame["b"] == "v")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    model = fit(LeastSquares(), str(tmp_path / "t.xlsx"), "y")
    assert np.allclose(model.coef_, [2, 1])


@pytest.mark.parametrize(
    ("sheets", "words"), [({"s": []}, "is empty"), ({"s": [["a", "b"]]}, "no rows")]
)
def test_empty_sheets_are_refused(excel, sheets, words):
    with pytest.raises(DataError, match=words):
        blocks(excel(**sheets))


def xml_sheet(path, cells: str, padding: int = 0) -> None:
    """An Excel file with a sheet of this XML."""
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>'
            '<sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        packed.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="rId1" Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
        )
        packed.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="rId1" Type="{rel}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        begin = f'<worksheet xmlns="{main}"><dimension ref="A1:XFD1048576"/><sheetData>'
        text = f"{begin}{cells}</sheetData></worksheet>"
        packed.writestr("xl/worksheets/sheet1.xml", text + " " * padding)


def test_far_cells_do_not_ask_for_memory(tmp_path):
    path = tmp_path / "t.xlsx"
    near = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
    xml_sheet(path, near + '<row r="2"><c r="A2"><v>3</v></c><c r="B2"><v>4</v></c></row>')
    assert sum(block.rows for block in blocks(path)) == 2
    for name in ("XFD1048576", "xfd1048576", "ZZZZZZ1", "A999999999999"):
        xml_sheet(path, f'{near}<row r="1048576"><c r = "{name}"><v>1</v></c></row>')
        with pytest.raises(DataError, match="delete the empty rows"):
            blocks(path)
    xml_sheet(path, near + '<row r="2"><c r="&#88;FD1048576"><v>1</v></c></row>')
    with pytest.raises(DataError, match="strange names"):
        blocks(path)


def test_a_bomb_of_a_sheet_is_refused_before_it_unpacks(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "SMALL_SIZE", 2**22)
    xml_sheet(tmp_path / "t.xlsx", "", padding=2**24)
    assert (tmp_path / "t.xlsx").stat().st_size < 2**15
    with pytest.raises(DataError, match="bomb"):
        blocks(tmp_path / "t.xlsx")


@pytest.mark.parametrize("content", [b"PK\x03\x04 nothing", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0" * 9])
def test_what_is_no_excel_file_is_refused(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(DataError, match="no whole Excel file"):
        blocks(tmp_path / "t.xlsx")


def test_excel_without_its_reader_says_what_to_install(tmp_path, monkeypatch):
    xml_sheet(tmp_path / "t.xlsx", "")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtra, match="python-calamine") as told:
        blocks(tmp_path / "t.xlsx")
    assert MissingExtra.how_to_install("io") in str(told.value)


ROWS = [{"a": 1, "b": "x"}, {"a": 2.5, "b": None, "c": True}]
FORMS = {
    "an array": json.dumps(ROWS),
    "an array over lines": json.dumps(ROWS, indent=2),
    "columns as lists": '{"a": [1, 2.5], "b": ["x", null], "c": [null, true]}',
    "columns as objects": '{"a": {"0": 1, "1": 2.5}, "b": {"0": "x"  , "1": null}, '
    '"c": {"0": null, "1": true}}',
    "an object a line": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "an array in an object": json.dumps({"schema": {"v": 1}, "n": 3, "data": ROWS}),
}


@pytest.mark.parametrize("form", FORMS)
def test_json_is_a_table(tmp_path, form):
    for text in (FORMS[form].encode(), FORMS[form].encode("utf-8-sig")):
        if text.startswith(b"\xef") and form == "an object a line":
            continue
        (tmp_path / "t.json").write_bytes(text)
        found = table(blocks(tmp_path / "t.json"))
        assert found == {"a": [1, 2.5], "b": ["x", None], "c": [None, "true"]}


@pytest.mark.parametrize("orient", ["records", "columns", "table"])
def test_what_pandas_writes_as_json_is_read(tmp_path, rng, orient):
    frame = pd.DataFrame({"a": rng.normal(size=5).round(6), "b": list("uvuvu")})
    frame.to_json(tmp_path / "t.json", orient=orient)
    found = table(blocks(tmp_path / "t.json"))
    assert found["b"] == list("uvuvu")
    assert np.allclose(found["a"], frame["a"])


WRONG = {
    "cut": ('[{"a": 1},\n{"a":', "line 2 is not JSON"),
    "NaN": ('[{"a": 1},\n{"a": NaN}]', "line 2: NaN is no JSON number"),
    "beyond": ('[{"a": 1},\n{"a": 1e999}]', "line 2: 1e999 is beyond"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "deep objects": ('{"a":' * 100_000, "nested too deeply"),
    "numbers": ("[1, 2]", "row 1 is a int"),
    "a number": ("7", "this is a int"),
    "nothing": ("  \n", "no rows"),
    "no rows": ("[]", "no rows"),
    "empty objects": ("[{}, {}]", "no rows"),
    "uneven columns": ('{"a": [1, 2], "b": [1]}', "different rows"),
    "lists in it": ('[{"a": [1], "y": 2}, {"a": [2], "y": 3}]', "neither numbers nor text"),
    "many names": (
        json.dumps([{f"n{k}": 1} for k in range(20_000)]),
        "different names in all",
    ),
}


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG)
def test_wrong_json_is_refused(tmp_path, content, words):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(DataError, match=words):
        fit(LeastSquares(), str(tmp_path / "t.json"), "y")


def test_json_that_is_too_long_is_refused(tmp_path, monkeypatch):
    (tmp_path / "t.json").write_text(json.dumps(ROWS * 100))
    monkeypatch.setattr(json_files, "MAX_BYTES", 1000)
    with pytest.raises(DataError, match="Save it as NDJSON"):
        blocks(tmp_path / "t.json")


def test_packed_json_is_read(tmp_path):
    import gzip

    (tmp_path / "t.json.gz").write_bytes(gzip.compress(json.dumps(ROWS).encode()))
    assert table(blocks(tmp_path / "t.json.gz"))["a"] == [1, 2.5]


def test_lists_and_objects_are_left_out_and_told_where_gaps_are_filled_in(tmp_path):
    path = tmp_path / "t.jsonl"
    row = '{{"a": {k}, "inside": {{"b": {k}}}, "tags": ["p", "q"], "y": {k}.5}}'
    path.write_text("\n".join(row.format(k=k * k) for k in range(20)) + "\n", encoding="utf-8")
    found = look(path, "y")
    why = "holds neither numbers nor text"
    assert found.encoding.left_out == (("inside", why), ("tags", why))
    assert found.encoding.names == ("a",)
    with pytest.raises(DataError, match="'tags' holds neither"):
        look(path, "y", use=["tags"])
    with pytest.raises(DataError, match="'inside' holds neither"):
        look(path, "y", ignore=["a", "tags"])
