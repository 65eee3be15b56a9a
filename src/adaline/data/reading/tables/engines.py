"""Tables of polars or pyarrow to columns of numbers and levels; polars where it is installed.

Both are optional, and loaded only where a file needs them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.source import Column, Kind
from adaline.errors import MissingExtra
from adaline.results import Array

_MICROSECONDS, _NANOSECONDS = 86_400e6, 86_400e9  # of a day


@cache
def has(name: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(name) is not None


def engine(what: str) -> str:
    """ "polars" or "pyarrow", or a sentence that says how to get them."""
    for name in ("polars", "pyarrow"):
        if has(name):
            return name
    raise MissingExtra.of("io", f"reading {what}", "polars or pyarrow")


def csv_engine() -> str:
    """ "polars" or "pyarrow"; Python's own reader, which is slower, where neither is there."""
    return next((name for name in ("polars", "pyarrow") if has(name)), "python")


def is_polars(table: Any) -> bool:
    """Whether a table is a polars DataFrame."""
    return type(table).__module__.partition(".")[0] == "polars"


def kinds_of(table: Any) -> tuple[Kind, ...]:
    """What the columns of a table, or of its schema, hold."""
    if is_polars(table):
        return tuple(polars_kind(dtype) for dtype in table.dtypes)
    return tuple(arrow_kind(field.type) for field in table.schema)


def columns_of(table: Any, kinds: Sequence[Kind]) -> tuple[Column, ...]:
    """Every column of a polars or pyarrow table."""
    make = _polars_column if is_polars(table) else _arrow_column
    series = table.get_columns() if is_polars(table) else table.columns
    return tuple(make(column, kind) for column, kind in zip(series, kinds, strict=True))


def polars_kind(dtype: Any) -> Kind:
    import polars as pl

    if dtype.is_numeric() or dtype in (pl.Null, pl.Duration, pl.Time):
        return "number"  # of days
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean):
        return "text"
    return "date" if dtype.is_temporal() else "other"


def _polars_column(series: Any, kind: Kind) -> Column:
    import polars as pl

    missing = series.is_null().to_numpy() if series.null_count() else None
    if kind == "number":
        if series.dtype.is_temporal():
            return Column(kind, _polars_days(series), missing=missing)
        if series.dtype.is_decimal() or series.dtype == pl.Null:
            series = series.cast(pl.Float64)
        if missing is not None:
            series = series.fill_null(0)
        return Column(kind, series.to_numpy(), missing=missing)
    if kind == "date":
        return Column(kind, _polars_days(series), missing=missing)
    if kind != "text":
        return Column(kind, np.zeros(len(series), dtype=np.int8), missing=missing)
    if series.dtype != pl.String:
        series = series.cast(pl.String)
    levels = series.drop_nulls().unique().sort()
    places = pl.Series(values=np.arange(len(levels)), dtype=pl.Int32)
    codes = series.replace_strict(levels, places, default=None) if len(levels) else None
    values = np.zeros(len(series), np.int32) if codes is None else codes.fill_null(0).to_numpy()
    return Column(kind, values, tuple(levels.to_list()), missing)


def _polars_days(series: Any) -> Array:
    """Days since 1970-01-01, the time of day as a fraction; days of durations and times."""
    import polars as pl

    if series.dtype == pl.Date:
        return np.asarray(series.to_physical().fill_null(0).to_numpy(), dtype=np.float64)
    if series.dtype != pl.Time:
        series = series.dt.cast_time_unit("us")
    whole = series.to_physical().fill_null(0).to_numpy()
    return np.asarray(whole / (_NANOSECONDS if series.dtype == pl.Time else _MICROSECONDS))


def arrow_kind(dtype: Any) -> Kind:
    from pyarrow import types

    if types.is_dictionary(dtype):
        return arrow_kind(dtype.value_type)
    if types.is_floating(dtype) or types.is_integer(dtype) or types.is_decimal(dtype):
        return "number"
    if types.is_null(dtype) or types.is_duration(dtype) or types.is_time(dtype):
        return "number"  # of days
    text = types.is_string(dtype) or types.is_large_string(dtype) or types.is_boolean(dtype)
    if text or (hasattr(types, "is_string_view") and types.is_string_view(dtype)):
        return "text"
    return "date" if types.is_temporal(dtype) else "other"


def _arrow_column(array: Any, kind: Kind) -> Column:
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind == "number":
        if pa.types.is_temporal(array.type):
            return Column(kind, _arrow_days(array), missing=missing)
        if pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
            array = array.cast(pa.float64())
        if missing is not None:
            array = array.fill_null(0)
        return Column(kind, array.to_numpy(zero_copy_only=False), missing=missing)
    if kind == "date":
        return Column(kind, _arrow_days(array), missing=missing)
    if kind != "text":
        return Column(kind, np.zeros(len(array), dtype=np.int8), missing=missing)
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    coded = array.dictionary_encode()
    found = coded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=found.__getitem__)
    rank: NDArray[np.int32] = np.zeros(max(len(found), 1), dtype=np.int32)
    rank[order] = np.arange(len(found))
    codes = compute.fill_null(coded.indices, 0).to_numpy(zero_copy_only=False)
    return Column(kind, rank[codes], tuple(found[i] for i in order), missing)


def _arrow_days(array: Any) -> Array:
    """As `_polars_days`."""
    import pyarrow as pa

    if pa.types.is_date32(array.type):
        days = array.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(days, dtype=np.float64)
    if pa.types.is_date64(array.type):
        array = array.cast(pa.timestamp("ms"))
    if pa.types.is_time(array.type):
        whole, parts = array.cast(pa.time64("ns")), _NANOSECONDS
    elif pa.types.is_duration(array.type):
        whole, parts = array.cast(pa.duration("us"), safe=False), _MICROSECONDS
    else:
        zone = getattr(array.type, "tz", None)
        whole, parts = array.cast(pa.timestamp("us", zone), safe=False), _MICROSECONDS
    return np.asarray(whole.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False) / parts)
