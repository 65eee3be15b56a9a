"""Columns of Arrow tables to columns of a block: numbers, days of dates, and levels of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.source import Column, Kind
from adaline.errors import MissingExtra
from adaline.results import Array

_MICROSECONDS, _NANOSECONDS = 86_400e6, 86_400e9  # of a day


def arrow(what: str) -> Any:
    """pyarrow, or a sentence that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra.of("io", f"reading {what}", "pyarrow") from None
    return pyarrow


def kinds_of(schema: Any) -> tuple[Kind, ...]:
    """What the columns of a table hold."""
    return tuple(kind_of_type(field.type) for field in schema)


def kind_of_type(dtype: Any) -> Kind:
    """What values of an Arrow type are; durations and times of day are numbers of days."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return kind_of_type(dtype.value_type)
    if types.is_floating(dtype) or types.is_integer(dtype) or types.is_decimal(dtype):
        return "number"
    if types.is_null(dtype) or types.is_duration(dtype) or types.is_time(dtype):
        return "number"
    text = types.is_string(dtype) or types.is_large_string(dtype) or types.is_boolean(dtype)
    if text or types.is_string_view(dtype):
        return "text"
    return "date" if types.is_temporal(dtype) else "other"


def columns_of(table: Any, kinds: Sequence[Kind]) -> tuple[Column, ...]:
    """Every column of a table."""
    return tuple(typed_column(c, kind) for c, kind in zip(table.columns, kinds, strict=True))


def typed_column(array: Any, kind: Kind) -> Column:
    """A column of an Arrow array, its missing values 0."""
    import pyarrow as pa

    array = _whole(array)
    if kind == "text":
        return text_column(array, ())
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind == "date" or pa.types.is_temporal(array.type):
        return Column(kind, _days(array), missing=missing)
    if kind == "other":
        return Column(kind, np.zeros(len(array), dtype=np.int8), missing=missing)
    if not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        array = array.cast(pa.float64())
    array = array.fill_null(0) if missing is not None else array
    return Column(kind, array.to_numpy(zero_copy_only=False), missing=missing)


def text_column(array: Any, missing: Sequence[str]) -> Column:
    """Levels of text in their order; nulls are missing, and so are these texts."""
    import pyarrow as pa
    from pyarrow import compute

    array = _whole(array)
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    coded = array.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted((k for k in range(len(texts)) if texts[k] not in missing), key=texts.__getitem__)
    rank: NDArray[np.int32] = np.full(len(texts) + 1, -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    places = compute.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False)
    codes = rank[places]
    gone = codes < 0
    levels = tuple(texts[k] for k in order)
    return Column("text", np.maximum(codes, 0), levels, gone if gone.any() else None)


def _whole(array: Any) -> Any:
    import pyarrow as pa

    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def _days(array: Any) -> Array:
    """Days since 1970-01-01, the time of day as a fraction; days of durations and times."""
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
