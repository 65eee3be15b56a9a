"""A column read another way: text as numbers or days, numbers as text, marks as missing values."""

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
    if not column.levels:
        gone = np.ones(len(column.values), dtype=bool)
        return Column("number", np.zeros(len(column.values)), (), gone, reading), ()
    levels = read(column.levels, reading or "number", na)
    missing = _either(column.missing, levels.gone[column.values])
    values = levels.values[column.values]
    if missing is not None:
        values[missing] = 0.0
    strange = levels.strange
    if strange:  # those that a row has: a part of a block keeps the levels of the whole block
        rows = column.values if column.missing is None else column.values[~column.missing]
        used = {column.levels[k] for k in np.unique(rows).tolist()}
        strange = tuple(level for level in strange if level in used)
    return Column("number", values, (), missing, reading), strange


def as_text(column: Column, na: Sequence[str]) -> Column:
    """Text; whole numbers are written without a decimal point."""
    if column.kind == "other":
        return column
    if column.kind != "text":
        numbers, codes = np.unique(column.values, return_inverse=True)
        texts = [_text_of(value) for value in numbers.tolist()]
        levels = tuple(sorted(set(texts)))
        places = {level: k for k, level in enumerate(levels)}
        rank = np.array([places[text] for text in texts], dtype=np.int32)
        nan = np.isnan(column.values) if numbers.dtype.kind == "f" else np.zeros(1, bool)
        missing = _either(column.missing, nan)
        column = Column("text", rank[codes.ravel()], levels, missing)
    marks = [k for k, level in enumerate(column.levels) if level.strip() in na]
    if not marks:
        return column
    return replace(column, missing=_either(column.missing, np.isin(column.values, marks)))


def _text_of(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63
    return str(int(value) if is_whole else value)


def without_marks(column: Column, na: Sequence[str]) -> Column:
    """Numbers, those that the user calls missing taken away."""
    marks = [number for text in na if (number := _float_of(text)) is not None]
    gone = np.isin(column.values, marks) if marks else np.zeros(1, bool)
    if not gone.any():
        return column
    values = np.where(gone, 0, column.values)  # an infinity that is called missing is none
    return replace(column, values=values, missing=_either(column.missing, gone))


def _either(missing: Any, more: NDArray[np.bool_]) -> Any:
    if not more.any():
        return missing
    return more if missing is None else missing | more


def _float_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
