"""A few texts in a column of numbers of a sheet or of JSON: gaps, as they are in a CSV file."""

from __future__ import annotations

import json

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

from adaline.data import Encoding, blocks, table
from adaline.errors import DataError, DataWarning

N = 40
VALUES = [round(7.25 * i % 31, 2) for i in range(N)]


def with_units():
    """Names, a row of units, numbers, and a row of a total that has a word."""
    rows = [["m", "count", "EUR"]]
    rows += [[VALUES[i], i % 6, 3 * VALUES[i] + i % 6] for i in range(N)]
    return rows


def as_sheet(path, rows):
    book = openpyxl.Workbook()
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


def test_codes_among_numbers_of_a_sheet_stay_levels(tmp_path):
    rows = [[i % 3 if i % 2 else f"{i % 3}A", i, i] for i in range(N)]
    source = as_sheet(tmp_path / "t.xlsx", rows)
    encoding = Encoding.learn(source, "y", missing="auto", use=["b"])
    assert set(encoding.inputs[0].levels) == {"0", "1", "2", "0A", "1A", "2A"}


def test_texts_of_digits_in_a_typed_table_stay_text():
    frame = pd.DataFrame({"a": ["1", "2", "x", "3"] * 10, "y": range(N)})
    assert Encoding.learn(frame, "y", missing="auto").inputs[0].levels == ("1", "2", "3", "x")
    assert blocks(frame).strays() == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "p": [1 + 1j, 2j]}), "a column that cannot be read"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "the column name 'a' comes twice"),
        (pd.Series([1.0, 2.0], name="a"), "to_frame"),
        (pl.Series("a", [1.0, 2.0]), "to_frame"),
    ],
)
def test_tables_that_no_library_reads_are_refused_in_our_words(given, words):
    with pytest.raises(DataError, match=words):
        blocks(given)
