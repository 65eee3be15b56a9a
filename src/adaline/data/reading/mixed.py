"""Columns of Python values of several kinds, as sheets, JSON and data frames have them."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.data.reading.notations import read

_STRAYS, _NUMBERS_A_STRAY = 3, 9  # different texts at most, and numbers for each text
_CODE = re.compile(r"\d[\w/-]*[A-Za-z/-][\w/-]*")  # 136A
_TEXT = str | datetime.time | datetime.timedelta


def as_one_kind(column: Sequence[Any]) -> tuple[type, list[Any]]:
    """The values as one type: numbers, dates or truth values; text where they are mixed.

    Lists and objects are bytes, which nothing reads further.
    """
    kinds = _kinds(column)
    if len(kinds) > 1 and kinds <= {datetime.date, datetime.datetime}:
        midnight = datetime.time()
        whole = [
            datetime.datetime.combine(v, midnight) if _kind(v) is datetime.date else v
            for v in column
        ]
        return datetime.datetime, whole
    if bytes in kinds:
        return bytes, [None if value is None else b"" for value in column]
    if len(kinds) > 1:
        return str, [None if value is None else as_text(value) for value in column]
    kind = kinds.pop() if kinds else float
    if kind is str:
        return kind, [None if value is None else str(value) for value in column]
    if kind is float:
        return kind, [None if value is None else _number(value) for value in column]
    return kind, list(column)


def strays_in(column: Sequence[Any]) -> tuple[str, ...]:
    """The few texts in a column of which nearly all values are numbers; () where they are more.

    >>> strays_in([*range(20), "none of these"]), strays_in([1, 2, "3A", "4B"])
    (('none of these',), ())
    """
    if not {float, str} <= _kinds(column):
        return ()
    texts = Counter(str(v).strip() for v in column if v is not None and _kind(v) is str)
    odd = read(list(texts), "number", most=len(texts)).strange
    numbers = sum(_kind(v) is float for v in column if v is not None)
    few = len(odd) <= _STRAYS and sum(texts[text] for text in odd) <= numbers / _NUMBERS_A_STRAY
    return odd if few and not any(map(_CODE.fullmatch, odd)) else ()


def without_mixed(frame: Any) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """A pandas DataFrame whose columns of mixed objects are text, and the strays among numbers.

    Libraries that read tables refuse a column of numbers and texts.
    """
    found: dict[str, tuple[str, ...]] = {}
    changed = frame
    for j, kind in enumerate(frame.dtypes):
        if str(kind) != "object":
            continue
        column = frame.iloc[:, j]
        gone = column.isna().tolist()
        values = [None if g else v for v, g in zip(column.tolist(), gone, strict=True)]
        kinds = _kinds(values)
        if len(kinds) < 2 or bytes in kinds:
            continue
        changed = frame.copy(deep=False) if changed is frame else changed
        changed.isetitem(j, as_one_kind(values)[1])
        found[str(frame.columns[j])] = strays_in(values)
    return changed, {name: odd for name, odd in found.items() if odd}


def as_text(value: Any) -> str:
    """A value as people write it: 3 and not 3.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _kinds(column: Sequence[Any]) -> set[type]:
    return {_kind(value) for value in column if value is not None}


def _kind(value: Any) -> type:
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, int | float | np.integer | np.floating):
        return float
    if isinstance(value, datetime.datetime):
        return datetime.datetime
    if isinstance(value, datetime.date):
        return datetime.date
    return str if isinstance(value, _TEXT) else bytes


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 300 digits
        return np.inf if value > 0 else -np.inf


def arrow_table(names: Sequence[str], values: Sequence[Sequence[Any]]) -> Any:
    """An Arrow table of columns of Python values."""
    import pyarrow as pa

    types = {bool: pa.bool_(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    types |= {datetime.date: pa.date32(), datetime.datetime: pa.timestamp("us")}
    arrays = []
    for column in values:
        kind, converted = as_one_kind(column)
        arrays.append(pa.array(converted, types[kind]))
    return pa.Table.from_arrays(arrays, names=list(names))
