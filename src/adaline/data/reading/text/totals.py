"""A last row that is no row: the totals of a spreadsheet. Used by text tables and sheets."""

from __future__ import annotations

import re
from collections.abc import Sequence

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

    One of its columns has the sum of all rows above, and it has a word such as "Total", or nothing
    in a column that is full above: chance makes no row with both.

    >>> rows = [["a", "1"], ["b", "2"], ["a", "3"], ["b", "4"], ["a", "5"], ["", "15"]]
    >>> note_on_total(["shop", "sales"], rows, "line 7")  # doctest: +ELLIPSIS
    "line 7 is a total (the sum of all rows above in 'sales') and was left out; keep_total=True ..."
    """
    if len(rows) <= _ROWS or any(len(row) != len(rows[0]) for row in rows):
        return ""
    *above, last = rows
    empty = (j for j, cell in enumerate(last) if is_gap(cell))
    if not any(map(_WORDS.search, last)) and not any(_is_full(above, j) for j in empty):
        return ""
    for name, *cells in zip(names, *rows, strict=False):
        if not is_gap(cells[-1]) and _has_sum(cells):
            return (
                f"{place} is a total (the sum of all rows above in {name!r}) and was left out; "
                "keep_total=True (--keep-total) keeps it"
            )
    return ""


def _is_full(rows: Sequence[Sequence[str]], j: int) -> bool:
    return not any(is_gap(row[j]) for row in rows)


def _has_sum(cells: list[str]) -> bool:
    for notation in candidates(cells):
        found = read(cells, notation)
        if notation.startswith("number") and is_sum(found.values[~found.gone]):
            return True
    return False


def is_sum(values: NDArray[np.float64]) -> bool:
    """Whether the last number is the sum of those before it, and larger than each."""
    others, last = values[:-1], values[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(
            len(others) >= _ROWS
            and abs(last) > np.abs(others).max()
            and abs(last - others.sum()) <= _ROUNDING * abs(last)
        )
