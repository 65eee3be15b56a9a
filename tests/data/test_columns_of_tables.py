"""Columns of polars and of pyarrow tables: the same kinds, values, levels and gaps."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from adaline.data import blocks

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

NOON = dt.datetime(1970, 1, 3, 12)
VALUES = {  # values of a column, its kind, and what is read
    "decimal": ([Decimal("1.25"), None, Decimal("2.50")], "number", [1.25, 0.0, 2.5]),
    "nothing": ([None, None, None], "number", None),
    "truth": ([True, None, False], "text", [1, 0, 0]),
    "text": (["b", None, "a"], "text", [1, 0, 0]),
    "no text": ([None, None, None], "text", [0, 0, 0]),
    "day": ([NOON.date(), None, dt.date(1970, 1, 1)], "date", [2.0, 0.0, 0.0]),
    "moment": ([NOON, None, dt.datetime(1970, 1, 1)], "date", [2.5, 0.0, 0.0]),
    "time": ([dt.time(6), None, dt.time(18)], "number", [0.25, 0.0, 0.75]),
    "duration": ([dt.timedelta(hours=36), None, dt.timedelta(0)], "number", [1.5, 0.0, 0.0]),
    "list": ([[1], None, [2]], "other", [0, 0, 0]),
}
ARROW = {
    "decimal": [pa.decimal128(10, 2)],
    "nothing": [pa.null()],
    "truth": [pa.bool_()],
    "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
    "no text": [pa.string()],
    "day": [pa.date32(), pa.date64()],
    "moment": [pa.timestamp("ms"), pa.timestamp("ns"), pa.timestamp("us", "UTC")],
    "time": [pa.time32("s"), pa.time64("ns")],
    "duration": [pa.duration("ms"), pa.duration("ns")],
    "list": [pa.list_(pa.int64())],
}
POLARS = {"decimal": pl.Decimal(10, 2), "no text": pl.String, "nothing": pl.Null}


def read(table):
    source = blocks(table)
    return source.kinds[0], source.head().columns[0]


def check(table, name):
    given, kind, values = VALUES[name]
    found, column = read(table)
    assert (found, column.kind) == (kind, kind)
    gaps = [value is None for value in given]
    assert column.missing.tolist() == gaps
    if values is not None:
        there = ~np.array(gaps)
        np.testing.assert_allclose(column.values[there], np.array(values)[there])
    if name == "text":
        assert column.levels == ("a", "b")
    if name == "truth":
        assert column.levels == ("false", "true")


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in ARROW for dtype in ARROW[name]], ids=str
)
def test_columns_of_pyarrow(name, dtype):
    whole = pa.table({"x": pa.array(VALUES[name][0], type=dtype)})
    check(whole, name)
    check(pa.concat_tables([whole[:1], whole[1:]]), name)  # in two pieces


@pytest.mark.parametrize("name", VALUES)
def test_columns_of_polars(name):
    check(pa.table(pl.DataFrame({"x": pl.Series(VALUES[name][0], dtype=POLARS.get(name))})), name)


def test_columns_without_gaps_have_none():
    for table in (pa.table({"x": [1, 2]}), pa.table(pl.DataFrame({"x": [1, 2]}))):
        assert read(table)[1].missing is None
