"""A last row that is no row: the totals of a spreadsheet. Used by text tables and sheets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.notations import candidates, is_gap, read

_ROWS = 5  # above a total
_ROUNDING = 1e-3  # of a sum of cells that are rounded
_WORDS = re.compile(
    r"\b(total|totals|sum|summe|gesamt|insgesamt|totale|somme|suma)\b", re.IGNORECASE
)


def note_on_total(names: Sequence[str], rows: Sequence[Sequence[str]], place: str) -> str:
    """Says that the last row is a total, which is left out; "" where it is none.

    A sum, and a word such as "Total" or nothing in a column that is full above: not by chance.

    >>> rows = [["a", "1"], ["b", "2"], ["a", "3"], ["b", "4"], ["a", "5"], ["", "15"]]
    >>> note_on_total(["shop", "sales"], rows, "line 7")  # doctest: +ELLIPSIS
    "line 7 is a total (the sum of all rows above in 'sales') and was left out; keep_total=True ..."
    """
    if len(rows) <= _ROWS or any(len(row) != len(rows[0]) for row in rows):
        return ""
    last, columns = rows[-1], list(zip(*rows, strict=True))
    empty = any(is_gap(c[-1]) and not any(map(is_gap, c[:-1])) for c in columns)
    for name, cells in zip(names, columns, strict=False):
        if not (empty or any(map(_WORDS.search, last))) or is_gap(cells[-1]):
            continue
        found = [read(cells, n) for n in candidates(cells) if n.startswith("number")]
        if any(is_sum(one.values, one.gone) for one in found):
            return (
                f"{place} is a total (the sum of all rows above in {name!r}) and was left out; "
                "keep_total=True (--keep-total) keeps it"
            )
    return ""


def is_sum(values: NDArray[Any], gone: NDArray[np.bool_] | None = None) -> bool:
    """Whether the last number is the sum of those before it, and larger than each."""
    there = values.astype(np.float64) if gone is None else values[~gone].astype(np.float64)
    if len(there) <= _ROWS or (gone is not None and gone[-1]):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        others, last = there[:-1], abs(there[-1])
        off = abs(there[-1] - others.sum())
        return bool(last > np.abs(others).max() and off <= _ROUNDING * last)
