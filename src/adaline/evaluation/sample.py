"""What the rows learned from give reason to doubt: few of them, few of a class, numbers of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.evaluation.words import name, percent, plural

_ROWS_A_COLUMN = 5  # below this, coefficients are rough whatever the learner
_RARE, _RARE_ROWS = 0.05, 10  # share, and rows, below which a class is called rare
_NUMBERED = 20  # rows from which a column of 1, 2, 3, ... is noticed


def doubts_of_rows(X: Any, y: Any, names: list[str], classes: bool) -> list[str]:
    """Doubts about the rows of a fit, with advice; X (n, p) dense or CSR, y (n,) or None."""
    said = [*_few(X.shape[0], X.shape[1])]
    if classes and y is not None:
        said += _rare(np.asarray(y))
    if not hasattr(X, "toarray"):
        said += _numbered(np.asarray(X), names)
    return said


def _few(n: int, p: int) -> list[str]:
    if n >= _ROWS_A_COLUMN * p:
        return []
    return [
        f"{plural(n, 'row')} for {plural(p, 'column')} are few: less than {_ROWS_A_COLUMN} a "
        "column, so that coefficients are rough and other rows may give others. Leave columns out, "
        "or find more rows."
    ]


def _rare(y: Any) -> list[str]:
    """Classes of few rows: quality as a whole says little about them."""
    labels, counts = np.unique(y, return_counts=True)
    k = int(np.argmin(counts))
    least, n = int(counts[k]), len(y)
    if len(labels) < 2 or (least >= _RARE * n and least >= _RARE_ROWS):
        return []
    are = "is" if least == 1 else "are"
    if 2 * len(labels) * least >= n:  # half of an equal share: the classes are even, and small
        return [
            f"only {least} of {n:,} rows learned from {are} {name(labels[k])!r}: few to learn a "
            "class from. More rows would tell."
        ]
    rare = int(np.sum((counts < _RARE * n) | (counts < _RARE_ROWS)))
    more = "" if rare == 1 else f" ({rare} classes are as rare)"
    return [
        f"only {least} of {n:,} rows learned from {are} {name(labels[k])!r}, {percent(least / n)}"
        f"{more}: the share of right answers hides them. Look at their recall, and weigh their "
        "errors by costs."
    ]


def _numbered(X: Any, names: list[str]) -> list[str]:
    """Columns that go up by one from row to row."""
    if len(X) < _NUMBERED or X.dtype.kind != "f":
        return []
    found = np.flatnonzero(np.all(np.diff(X, axis=0) == 1.0, axis=0))
    if not len(found):
        return []
    listed = ", ".join(name(names[j]) for j in found[:3].tolist())
    return [
        f"{listed} goes up by 1 from row to row: if it only counts the rows, leave it out, as new "
        "rows have other numbers."
    ]
