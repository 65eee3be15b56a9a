"""Columns of a text file: which hold numbers, and numbers where marks stand for gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adaline.data.reading.column_readings import as_numbers
from adaline.data.reading.notations import is_gap
from adaline.data.reading.source import Column, Kind
from adaline.errors import DataError

_NEARLY = 0.9  # of the values that are numbers make a column of numbers
_CODE = re.compile(r"\d[\w/-]*[A-Za-z/-][\w/-]*")  # 136A, 1977-1989, 0301-551
_ZEROS = re.compile(r"0\d+")  # 01234


def kind_of(values: Iterable[str], is_number: Callable[[str], bool]) -> Kind:
    """Numbers where nearly all values are; a few others are mistakes, but codes are text.

    A column without any value is text, which an encoding reads as numbers if some come later.

    >>> def is_number(text):
    ...     return text.replace(".", "").isdigit()
    >>> [kind_of(v, is_number) for v in (["1.5", "?"], ["12", "136A"], ["01234", "99999"], ["?"])]
    ['number', 'text', 'text', 'text']
    """
    told = numbers = 0
    digits, zeros = True, False
    for value in values:
        plain = value.strip()
        if is_gap(plain):
            continue
        told += 1
        if is_number(value):
            numbers += 1
            digits = digits and plain.isdigit()
            zeros = zeros or _ZEROS.fullmatch(plain) is not None
        elif _CODE.fullmatch(plain) is not None:
            return "text"
    if not told or (zeros and digits):
        return "text"
    return "number" if numbers >= _NEARLY * told else "text"


def not_a_number(source: str, line: int, value: str, column: str) -> DataError:
    """Say what is no number in a column of numbers, and what to do about it."""
    return DataError(
        f"{source}: line {line} has {value[:40]!r} in column {column!r}, where nearly all are "
        f"numbers; correct it, leave it empty if it is missing (or say so: --na {value[:40]!r}, "
        f"in Python na=[{value[:40]!r}]), or take the column as text (--text {column!r}, "
        f"read={{{column!r}: 'text'}})."
    )


def numbers_of_text(series: Any, column: Column, na: Sequence[str], reading: str) -> Column | None:
    """Text of a column of numbers, in which marks are gaps; None where something else is text.

    `series` is the column of a polars table, which reads plain numbers faster, or None.
    """
    if series is None or reading != "number":
        found, strange = as_numbers(column, reading, na)
        return None if strange else found
    import polars as pl

    plain = series.cast(pl.Float64, strict=False)
    odd = (series.is_not_null() & plain.is_null()).to_numpy()
    if not odd.any():
        gone = series.is_null().to_numpy()
        return Column("number", plain.fill_null(0).to_numpy(), (), gone if gone.any() else None)
    rows = np.flatnonzero(odd)
    texts = np.array(series.gather(rows).to_list(), dtype=object)
    levels, codes = np.unique(texts, return_inverse=True)
    rest = Column("text", codes, tuple(levels.tolist()))
    found, strange = as_numbers(rest, reading, na)
    if strange:
        return None
    values, gone = plain.fill_null(0).to_numpy().copy(), series.is_null().to_numpy().copy()
    values[rows] = found.values
    if found.missing is not None:
        gone[rows] = found.missing
    return Column("number", values, (), gone)
