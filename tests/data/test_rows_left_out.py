"""Notes below a table and a row of totals are left out and told; rows never are."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.data import blocks, look, table
from adaline.errors import DataError

SHOPS = ["north", "south", "west"] * 8
SALES = [round(1000 + 37.25 * k, 2) for k in range(24)]


def frame(**total):
    data = pd.DataFrame({"shop": SHOPS, "sales": SALES, "size": [k % 7 for k in range(24)]})
    return pd.concat([data, pd.DataFrame([total])]) if total else data


@pytest.fixture(params=["csv", "xlsx", "semicolons", "quoted"])
def write(request, tmp_path):
    def to_file(data):
        path = tmp_path / f"t.{'xlsx' if request.param == 'xlsx' else 'csv'}"
        if request.param == "xlsx":
            data.to_excel(path, index=False)
        elif request.param == "semicolons":
            data.to_csv(path, index=False, sep=";", decimal=",")
        else:
            data.to_csv(path, index=False, quoting=int(request.param == "quoted"))
        return path

    return to_file


def rows_of(source):
    return sum(block.rows for block in source)


TOTALS = [
    {"shop": "Total", "sales": sum(SALES), "size": sum(k % 7 for k in range(24))},
    {"shop": "Summe", "sales": sum(SALES)},
    {"sales": sum(SALES), "size": sum(k % 7 for k in range(24))},
]


@pytest.mark.parametrize("total", TOTALS)
def test_a_total_is_left_out_and_said(write, total):
    path = write(frame(**total))
    source = blocks(path)
    assert rows_of(source) == 24
    assert any("keep_total" in note for note in source.notes)
    assert rows_of(blocks(path, keep_total=True)) == 25
    assert len(table(path, "sales").y) == 24
    assert len(table(blocks(path, keep_total=True), "sales").y) == 25
    assert look(path, "sales").encoding.inputs[0].levels == ("north", "south", "west")


@pytest.mark.parametrize(
    "row",
    [
        {"shop": "west", "sales": sum(SALES), "size": 3},  # a sum, and nothing else says so
        {"shop": "Total", "sales": 12.0, "size": 3},  # a word, and no sum
        {"shop": None, "sales": 1000.0, "size": 3},
    ],
)
def test_other_last_rows_are_kept(write, row):
    source = blocks(write(frame(**row)))
    assert rows_of(source) == 25
    assert not any("total" in note for note in source.notes)


def test_few_rows_and_many_files_keep_what_may_be_a_total(tmp_path):
    frame()[:4].to_csv(tmp_path / "few.csv", index=False)
    with open(tmp_path / "few.csv", "a") as file:
        file.write(f"Total,{sum(SALES[:4])},\n")
    assert rows_of(blocks(tmp_path / "few.csv")) == 5
    for name in ("a", "b"):
        frame(**TOTALS[0]).to_csv(tmp_path / f"part-{name}.csv", index=False)
    assert rows_of(blocks(tmp_path / "part-*.csv")) == 50


TABLE = "region,price,units\n" + "".join(f"N,{k}.5,{100 + k}\n" for k in range(30))
NOTES = {
    "a source below an empty line": "\nSource: Statistics Office, 2020, all\n",
    "a source at once": "Source: Statistics Office\n",
    "an asterisk with separators": '* provisional,,\n"Note: see, below",,\n',
    "words below empty fields": ",,\nProvisional figures for 2020\n(c) us\n",
    "two paragraphs": "\nMade by us\n\nNotes: none\n",
    "no newline at the end": "\nSource: us",
}
ROWS = {
    "a name that begins as notes do": "Notebook,3.1,5\n",
    "an asterisk": "*N,11.5,120\n",
    "gaps": "South,,\n",
}
WRONG = {
    "half a row": "North West\n",
    "cut": "John Smi",
    "too short": "\nNorth,5\n",
    "digits": "12\n",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", NOTES.values(), ids=NOTES)
def test_notes_are_left_out_and_told(tmp_path, tail, end):
    path = tmp_path / "t.csv"
    path.write_bytes((TABLE + tail).replace("\n", end).encode())
    assert rows_of(blocks(path)) == rows_of(blocks(path, rows=7)) == 30
    assert any("below the table" in note for note in blocks(path).notes)


@pytest.mark.parametrize("tail", ROWS.values(), ids=ROWS)
def test_rows_are_kept(tmp_path, tail):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + tail)
    assert rows_of(blocks(path)) == 31
    assert not any("below the table" in note for note in blocks(path).notes)


@pytest.mark.parametrize("tail", WRONG.values(), ids=WRONG)
def test_what_may_be_a_row_is_refused_not_left_out(tmp_path, tail):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + tail)
    with pytest.raises(DataError, match=r"line 3[23] has"):
        rows_of(blocks(path))


def test_one_known_field_below_a_row_of_gaps_is_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + ",,\nSouth,,\n")
    assert rows_of(blocks(path)) == 32
    path.write_text("name,score\n,\nAnn Lee,\n")
    assert rows_of(blocks(path)) == 2


@given(st.lists(st.lists(st.text("ab 1*:", min_size=1), min_size=2, max_size=2), min_size=1))
def test_full_rows_are_never_notes(tmp_path_factory, table):
    """Whatever two fields hold, unless the first says what it is: `Source:`."""
    path = tmp_path_factory.getbasetemp() / "full.csv"
    lines = ["name,y", *(",".join(field.strip() or "x" for field in row) for row in table)]
    path.write_text("\n".join(lines))
    assert rows_of(blocks(path)) == len(table)
