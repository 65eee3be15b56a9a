"""Columns that give the target away: each alone predicts it (nearly) perfectly.

`checks` calls it with the rows at hand, so that terminal, report and page say it. What such a
column is, only a person can tell: a copy or a code of the target, or a very good measurement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import name
from adaline.results import Array

_MIN_ROWS = 30  # with fewer, one of many columns separates two classes by chance
_ROWS, _COLUMNS = 10_000, 1000  # up to which rows and columns are looked at
_LEVELS = 20  # different values up to which a column may be a code
_UNEXPLAINED = 1e-3  # of the variance of a target of numbers, at most
_WRONG = 0.02  # of the rows that the most frequent class gets wrong, at most
_NAMED = 3


def columns_alone(X: Any, y: Any, names: list[str], classes: bool) -> list[str] | None:
    """Columns that alone predict y; None where there are too few rows or columns to ask.

    Indicators `a=1`, `a=2` of one column count as one column `a`.

    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.column_stack([np.tile(np.arange(10.0), 6), 7.0 - 2 * y])
    >>> columns_alone(X, np.array(list("abc"))[y], ["size", "code"], True)
    ['code']
    """
    y = np.asarray(y)
    if y.ndim != 1 or len(y) < _MIN_ROWS or hasattr(X, "toarray") or len(X) != len(y):
        return None
    groups = _columns_of_table(names)
    if not 2 <= len(groups) <= _COLUMNS:
        return None
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), _ROWS)).astype(np.int64))
    X, y = np.asarray(X)[some], y[some]
    if classes:
        _, y = np.unique(y, return_inverse=True)
    if len(np.unique(y)) < 2:
        return None
    alone = _tells_class if classes else _tells_number
    found = []
    for column, members in groups.items():
        x = X[:, members[0]] if len(members) == 1 else _code(X[:, members])
        if np.isfinite(x).all() and alone(x, y):
            found.append(column)
    return found


def sentence(columns: list[str], target: str) -> str:
    """What to ask about them."""
    if not columns:
        return f"No column alone predicts {target} (nearly) perfectly."
    listed = ", ".join(f"'{name(column)}'" for column in columns[:_NAMED])
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    verb, each = ("predicts", "it is") if len(columns) == 1 else ("predict", "each is")
    return (
        f"{listed}{more} alone {verb} {target} (nearly) perfectly, so {each} perhaps a copy or a "
        "code of it (leakage). Is it known when predicting? If not, leave it out."
    )


def _columns_of_table(names: list[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for j, label in enumerate(names):
        groups.setdefault(label.rsplit("=", 1)[0], []).append(j)
    return groups


def _code(indicators: Array) -> Array:
    """One number for each level; 0 for the base level, whose indicators are all 0."""
    return indicators @ np.arange(1.0, indicators.shape[1] + 1)


def _tells_number(x: Array, y: Array) -> bool:
    """Whether x is y, or a monotone function or a code of it."""
    values, code = np.unique(x, return_inverse=True)
    spread = float(np.var(y))
    if 2 <= len(values) <= min(_LEVELS, len(y) // 5):
        means = np.bincount(code, y) / np.bincount(code)
        return bool(np.var(y - means[code]) <= _UNEXPLAINED * spread)
    return len(values) > 2 and bool(
        max(_squared_correlation(x, y), _squared_correlation(_ranks(x), _ranks(y)))
        >= 1 - _UNEXPLAINED
    )


def _squared_correlation(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    with np.errstate(all="ignore"):
        return float((a @ b) ** 2 / ((a @ a) * (b @ b)))


def _tells_class(x: Array, y: NDArray[np.int64]) -> bool:
    """Whether each value, or each interval between K - 1 thresholds, holds one class."""
    n, sizes = len(y), np.bincount(y)
    allowed = _WRONG * (n - sizes.max())
    values, code = np.unique(x, return_inverse=True)
    if len(values) <= min(_LEVELS + len(sizes), n // 5):
        table = np.zeros((len(values), len(sizes)))
        np.add.at(table, (code, y), 1.0)
        return bool(n - table.max(axis=1).sum() <= allowed)
    order = np.argsort([np.median(x[y == k]) for k in range(len(sizes))])
    place = np.argsort(order)[y]  # 0, 1, ... in the order of the classes' medians
    last = np.append(np.diff(np.sort(x)) > 0, True)  # a threshold lies between different values
    sorted_places = place[np.argsort(x, kind="stable")]
    wrong = 0
    for k in range(len(sizes) - 1):
        above = np.cumsum(sorted_places > k)  # wrongly below a threshold after each row
        below: Any = np.sum(place <= k) - np.cumsum(sorted_places <= k)
        wrong += int((above + below)[last].min())
    return bool(wrong <= allowed)


def _ranks(values: Any) -> Any:
    """Average ranks from 1 on, as scipy.stats has them, which takes long to load."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - 0.5 * (counts - 1.0))[places]
