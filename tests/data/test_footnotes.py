"""Notes below a table are left out and told; rows never are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.data import blocks
from adaline.data.reading.blocks import opened
from adaline.data.reading.header import find_footnotes
from adaline.errors import DataError

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


def rows(path, **options):
    return sum(block.rows for block in blocks(path, **options))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", NOTES.values(), ids=NOTES)
def test_notes_are_left_out_and_told(tmp_path, tail, end):
    path = tmp_path / "t.csv"
    path.write_bytes((TABLE + tail).replace("\n", end).encode())
    assert rows(path) == rows(path, rows=7) == 30
    assert any("below the table" in note for note in opened(path).notes)


@pytest.mark.parametrize("tail", ROWS.values(), ids=ROWS)
def test_rows_are_kept(tmp_path, tail):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + tail)
    assert rows(path) == 31
    assert not any("below the table" in note for note in opened(path).notes)


@pytest.mark.parametrize("tail", WRONG.values(), ids=WRONG)
def test_what_may_be_a_row_is_refused_not_left_out(tmp_path, tail):
    path = tmp_path / "t.csv"
    path.write_text(TABLE + tail)
    with pytest.raises(DataError, match=r"line 3[23] has"):
        rows(path)


def test_semicolons_and_old_encodings(tmp_path):
    path = tmp_path / "t.csv"
    text = TABLE.replace(",", ";").replace(".", ",") + "\nQuelle: Amt für Statistik\n"
    path.write_bytes(text.encode("cp1252"))
    assert rows(path) == 30


def test_a_long_field_in_quotes_is_no_note():
    assert find_footnotes(b'1,2\n3,"a\n\nSource: us\nthe end"\n', ",", 2) is None


@given(st.lists(st.lists(st.text("ab 1*:", min_size=1), min_size=2, max_size=2), min_size=1))
def test_full_rows_are_never_notes(table):
    """Whatever two fields hold, unless the first says what it is: `Source:`."""
    lines = [",".join(field.strip() or "x" for field in row) for row in table]
    assert find_footnotes("\n".join(lines).encode() + b"\n", ",", 2) is None
