"""Which columns tell nothing that a new row could have: numbers of rows, names, constants."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.column_facts import Numbers, Texts
from adaline.data.columns.of_blocks import missing_in
from adaline.data.reading.source import Column

COUNTED = 10  # rows from which on a column 1, 2, 3, ... counts the rows, whatever its name
_NAMED = 3  # rows from which on the name of a column counts
_DIFFERENT = 0.8  # share of the rows with a value of their own that makes names of a text
_ROW_NAMES = frozenset(
    (
        *("", "id", "ids", "index", "idx", "row", "rows", "rowname", "rownames", "row.names"),
        *("row names", "row_names", "rownumber", "row_number", "row number", "rowid", "no", "no."),
        *("nr", "nr.", "obs", "observation", "case", "caseno", "key", "uuid", "guid", "record"),
        *("#", "level_0"),
    )
)
_ROW_NAME = re.compile(r"unnamed: ?\d+(\.\d+)?|(.*[ _.-])?(id|uuid|guid|rownum|rowid)")
_CAMEL = re.compile(r".*[a-z](Id|ID)")
_CODES = (99.0, 999.0, 9999.0, 99999.0, 999999.0)


def is_named_like_rows(name: str) -> bool:
    """Whether a name is one that numbers of rows have.

    >>> [is_named_like_rows(n) for n in ("", "Unnamed: 0", "customer_id", "userId", "width")]
    [True, True, True, True, False]
    """
    plain = name.strip().lower()
    return (
        plain in _ROW_NAMES
        or _ROW_NAME.fullmatch(plain) is not None
        or _CAMEL.fullmatch(name.strip()) is not None
    )


def counts_rows(column: Column, name: str) -> str | None:
    """Why numbers of the first rows are numbers of rows; None where they are not."""
    values = np.asarray(column.values)
    n = len(values)
    if n >= COUNTED and values[0] in (0, 1) and column.missing is None:
        with np.errstate(over="ignore", invalid="ignore"):
            steps = values[1:] - values[:-1]
        if bool(np.all(steps == 1)):
            return "counts the rows"
    if n < _NAMED or not is_named_like_rows(name) or missing_in(column) is not None:
        return None
    if _are_whole(values) and len(np.unique(values)) == n:
        return "has a number of its own in every row"
    if _are_whole(values) and are_rounded(values):
        return "has whole numbers beyond 2^53, of which the last digits are lost"
    return None


def are_rounded(values: NDArray[np.generic]) -> bool:
    """Whether floats hold numbers so large that different whole numbers became the same."""
    return values.dtype.kind == "f" and bool(np.any(np.abs(values) >= 2.0**53))


def _are_whole(values: NDArray[np.generic]) -> bool:
    if values.dtype.kind in "iu":
        return True
    if values.dtype.kind != "f":
        return False
    return bool(np.isfinite(values).all() and np.all(values == np.floor(values)))


def names_rows(found: Texts, name: str, most: int) -> str | None:
    """Why text is names of rows, or too many levels; None where it is neither."""
    rows = found.n + found.gaps
    if found.counts is None:
        return "has more than 20,000 different values"
    different = len(found.counts)
    if found.n and is_named_like_rows(name) and different == found.n >= _NAMED:
        return "has a text of its own in every row"
    if different > _DIFFERENT * found.n and found.n >= COUNTED:
        return f"has {different:,} different values in {rows:,} rows"
    if different > most:
        return f"has {different:,} different values, more than {most:,}"
    return None


def tells_nothing(found: Numbers) -> str | None:
    """Why numbers of all rows tell nothing; None where they do."""
    if not found.n:
        return "has no value in any row"
    if found.low == found.high and not found.gaps:
        return f"is {found.low:g} in every row"
    return None


def suspicious_code(column: Column) -> float | None:
    """A number such as -999 that may stand for a missing value: extreme, repeated and far off.

    A negative one is far off where no other number is negative.
    """
    gone = missing_in(column)
    values = np.asarray(column.values if gone is None else column.values[~gone])
    if len(values) < COUNTED or values.dtype.kind not in "iuf":
        return None
    for code in (float(values.min()), float(values.max())):
        if abs(code) not in _CODES:
            continue
        others = values[values != code]
        if len(others) < 2 or len(values) - len(others) < 2:
            continue
        low, high = float(others.min()), float(others.max())
        alone = code < 0 <= low
        if alone or min(abs(code - low), abs(code - high)) > max(high - low, 1.0):
            return code
    return None
