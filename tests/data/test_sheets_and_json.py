"""Excel files and JSON arrays, which are read as a whole; small files may not claim much."""

from __future__ import annotations

import datetime
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from adaline import LeastSquares
from adaline.data import Encoding, blocks, fit, table
from adaline.errors import DataError, DataWarning
from python_tables import columns_of


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
    found = columns_of(source)
    assert found["x"] == [1.5, None, 2.5]
    assert found["n"] == [2, 3, 4]
    assert found["word"] == ["red", None, "grün"]
    assert found["mixed"] == ["3", "136A", "5"]
    assert found["sure"] == ["true", "false", "true"]
    assert next(iter(source)).place(2) == "row 5"  # as Excel counts
    assert columns_of(blocks(path, sheet="second")) == {"a": [1.0]}
    assert columns_of(blocks(path, ["n"], rows=2)) == {"n": [2, 3, 4]}
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
    assert columns_of(source) == {"x": [1, 3], "y": [2, 4]}
    assert "1 row above" in source.notes[0]
    one = excel(s=[["x"], ["a"], ["b"]])
    assert columns_of(blocks(one)) == {"x": ["a", "b"]}


def test_a_sheet_without_names(excel):
    path = excel(s=[[1, 2.5], [3, 4], [5, 6]])
    assert columns_of(blocks(path)) == {"x0": [1, 3, 5], "x1": [2.5, 4, 6]}
    assert blocks(path, header=True).names == ("1", "2.5")
    assert columns_of(blocks(path, skip_rows=1, header=False)) == {"x0": [3, 5], "x1": [4, 6]}


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


@pytest.mark.parametrize("content", [b"PK\x03\x04 nothing", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0" * 9])
def test_what_is_no_excel_file_is_refused(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(DataError, match="no whole Excel file"):
        blocks(tmp_path / "t.xlsx")


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
        found = columns_of(blocks(tmp_path / "t.json"))
        assert found == {"a": [1, 2.5], "b": ["x", None], "c": [None, "true"]}


WRONG = {
    "cut": ('[{"a": 1},\n{"a":', "line 2"),
    "deep": ("[" * 100_000, "not JSON"),
    "numbers": ("[1, 2]", "no table"),
    "a number": ("7", "no table"),
    "nothing": ("  \n", "no rows"),
    "empty objects": ("[{}, {}]", "no rows"),
    "uneven columns": ('{"a": [1, 2], "b": [1]}', "different rows"),
    "lists in it": ('[{"a": [1], "y": 2}, {"a": [2], "y": 3}]', "neither numbers nor text"),
    "lists among numbers": ('[{"a": [1], "y": 2}, {"a": 2, "y": 3}]', "neither numbers nor text"),
    "many names": (json.dumps([{f"n{k}": 1} for k in range(20_000)]), "different names"),
}


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG)
def test_wrong_json_is_refused(tmp_path, content, words):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(DataError, match=words):
        fit(LeastSquares(), str(tmp_path / "t.json"), "y")


def test_merged_cells_of_a_sheet_have_their_value_in_every_row(tmp_path):
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Sales of the year", None, None])
    sheet.append(["region", "n", "y"])
    for k in range(12):
        sheet.append([{0: "north", 6: "south"}.get(k), k % 5, 1.5 * k])
    for cells in ("A3:A8", "A9:A14", "A1:C1", "B100000:B900000"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    source = blocks(tmp_path / "t.xlsx")
    (block,) = source
    region = block.columns[0]
    assert [region.levels[k] for k in region.values] == ["north"] * 6 + ["south"] * 6
    assert region.missing is None
    assert any("merged" in note for note in source.notes)


# A few texts in a column of numbers are gaps, as they are in a CSV file.

N = 40
VALUES = [round(7.25 * i % 31, 2) for i in range(N)]


def with_units():
    """Names, a row of units, numbers, and a row of a total that has a word."""
    rows = [["m", "count", "EUR"]]
    rows += [[VALUES[i], i % 6, 3 * VALUES[i] + i % 6] for i in range(N)]
    return rows


def as_sheet(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [["a", "b", "y"], *rows]:
        book.active.append(row)
    book.save(path)
    return path


def as_json(path, rows):
    path.write_text(json.dumps([dict(zip("aby", row, strict=True)) for row in rows]))
    return path


def as_frame(path, rows):
    return pd.DataFrame(rows, columns=list("aby"))


@pytest.mark.parametrize(
    ("write", "name"), [(as_sheet, "t.xlsx"), (as_json, "t.json"), (as_frame, "")]
)
@pytest.mark.filterwarnings("ignore::adaline.DataWarning")
def test_a_row_of_units_is_a_row_of_gaps(tmp_path, write, name):
    source = write(tmp_path / name, with_units())
    with pytest.warns(DataWarning, match="'m' among numbers is taken as missing"):
        encoding = Encoding.learn(source, "y", missing="auto")
    assert [entry.name for entry in encoding.inputs] == ["a", "b"]
    assert [entry.levels for entry in encoding.inputs] == [None, None]
    assert encoding.target.marks == ("EUR",)
    found = table(source, "y")
    assert len(found.y) == N
    assert np.array_equal(found.X[:, 0], VALUES)
    assert found.y.dtype.kind == "f"
