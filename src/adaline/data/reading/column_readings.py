"""A column read another way: text as numbers or days, numbers as text, marks as gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.notations import read
from adaline.data.reading.source import Column


def as_numbers(column: Column, reading: str, na: Sequence[str]) -> tuple[Column, tuple[str, ...]]:
    """Numbers, or days of dates, and texts that the notation cannot read; numbers stay."""
    if column.kind == "number":
        return without_marks(column, na), ()
    if column.kind == "date":
        return replace(column, kind="number", notation=reading), ()
    if column.kind != "text":
        return column, ()
    found = read(column.levels, reading or "number", na)
    gone = None if column.missing is None else column.missing.copy()
    if not len(column.levels):
        gone = np.ones(len(column.values), dtype=bool)
        return Column("number", np.zeros(len(column.values)), (), gone, reading), ()
    values = found.values[column.values]
    if found.gone.any():
        marked = found.gone[column.values]
        gone = marked if gone is None else gone | marked
    if gone is not None:
        values[gone] = 0.0
    return Column("number", values, (), gone, reading), _present(found.strange, column)


def _present(strange: tuple[str, ...], column: Column) -> tuple[str, ...]:
    """Those that a row has: a part of a block keeps the levels of the whole block."""
    if not strange:
        return ()
    there = column.values if column.missing is None else column.values[~column.missing]
    used = {column.levels[k] for k in np.unique(there).tolist()}
    return tuple(level for level in strange if level in used)


def as_text(column: Column, na: Sequence[str]) -> Column:
    """Text; whole numbers are written without a decimal point."""
    if column.kind == "text":
        return _text_without_marks(column, na)
    if column.kind == "other":
        return column
    found, codes = np.unique(column.values, return_inverse=True)
    texts = [_written(value) for value in found.tolist()]
    levels = tuple(sorted(set(texts)))
    place = {level: k for k, level in enumerate(levels)}
    rank = np.array([place[text] for text in texts], dtype=np.int32)
    gone = column.missing
    if found.dtype.kind == "f" and np.isnan(found).any():
        nan = np.isnan(column.values)
        gone = nan if gone is None else gone | nan
    text = Column("text", rank[codes.ravel()], levels, gone)
    return _text_without_marks(text, na)


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63:
        return str(int(value))
    return str(value)


def _text_without_marks(column: Column, na: Sequence[str]) -> Column:
    if not na:
        return column
    marks = [k for k, level in enumerate(column.levels) if level.strip() in na]
    if not marks:
        return column
    gone = np.isin(column.values, marks)
    gone = gone if column.missing is None else gone | column.missing
    return replace(column, missing=gone)


def without_marks(column: Column, na: Sequence[str]) -> Column:
    """Numbers, those that the user calls missing taken away."""
    marks = [number for number in map(_as_number, na) if number is not None]
    if not marks:
        return column
    gone: NDArray[np.bool_] = np.isin(column.values, marks)
    if not gone.any():
        return column
    values = np.where(gone, 0, column.values)  # an infinity that is called missing is none
    gone = gone if column.missing is None else gone | column.missing
    return replace(column, values=values, missing=gone)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
