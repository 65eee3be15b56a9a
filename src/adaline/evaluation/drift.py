"""Whether two samples of rows are alike, column by column: Kolmogorov and Smirnov, and shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov, ndtr

from adaline.evaluation.words import cell, name, p_value, percent, plural
from adaline.results import Array, Result

SMALL = 0.1  # distance below which a difference matters to nobody, however sure it is
_SURE = 0.01  # p-value, all columns taken into account, below which samples differ
_ROWS, _COLUMNS = 50_000, 1000  # up to which rows and columns are compared
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Drift(Result):
    """How rows differ from other rows.

    Attributes
    ----------
    names : tuple of str
    distance : ndarray of shape (p,)
        Largest difference of the two distribution functions, 0 to 1; of columns of two values the
        difference of their shares.
    p : ndarray of shape (p,)
        How likely a distance as large is by chance, times the number of columns (Bonferroni).
    means : ndarray of shape (2, p)
    rows : tuple of two int

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.evaluation.drift import drift
    >>> found = drift(np.arange(100.0)[:, None], 50 + np.arange(60.0)[:, None], ["age"])
    >>> found.distance, [names for names in found.moved]
    (array([0.5]), ['age'])
    """

    names: tuple[str, ...]
    distance: Array
    p: Array
    means: Array
    rows: tuple[int, int]

    @property
    def order(self) -> NDArray[np.int64]:
        """Columns, the surest difference first."""
        return np.lexsort((-self.distance, self.p))

    @property
    def moved(self) -> list[str]:
        """Columns that differ surely, and by more than a trifle."""
        return [
            self.names[j]
            for j in self.order.tolist()
            if self.p[j] < _SURE and self.distance[j] > SMALL
        ]

    @property
    def sentence(self) -> str:
        """What the distances say."""
        before, after = (plural(n, "row") for n in self.rows)
        if self.moved:
            places = [self.names.index(column) for column in self.moved[:_NAMED]]
            told = "; ".join(
                f"{name(column)}, mean {cell(now, column, 3)} instead of {cell(then, column, 3)}"
                for column, then, now in (
                    (self.names[j], self.means[0, j], self.means[1, j]) for j in places
                )
            )
            more = len(self.moved) - _NAMED
            told += f"; and {plural(more, 'column')} more" if more > 0 else ""
            return (
                f"The {after} that measure the quality differ from the {before} learned from: "
                f"{told}. The quality is that of such rows, and may be another for others."
            )
        j = int(self.order[0])
        many = f"{plural(len(self.names), 'column')}" if len(self.names) > 1 else "the column"
        return (
            f"The {after} that measure the quality are like the {before} learned from: of {many}, "
            f"{name(self.names[j])} differs most, by {percent(float(self.distance[j]))} of the "
            f"rows ({p_value(float(self.p[j]))}, all columns taken into account)."
        )


def drift(before: Any, after: Any, names: list[str]) -> Drift | None:
    """Compare the columns of rows with those of other rows; None for sparse or very wide rows.

    Parameters
    ----------
    before, after : ndarray of shape (n, p) and (m, p)
        Rows learned from, and rows that measure the quality. Of very many rows some are compared,
        evenly spaced.
    names : list of p str
    """
    if any(hasattr(rows, "toarray") or len(rows) < 2 for rows in (before, after)):
        return None
    if before.shape[1] > _COLUMNS:
        return None
    A, B = (_some(np.asarray(rows, dtype=np.float64)) for rows in (before, after))
    with np.errstate(all="ignore"):
        means = np.array([A.mean(axis=0), B.mean(axis=0)])
    found = [_compared(A[:, j], B[:, j]) for j in range(A.shape[1])]
    d, p = np.array(found).T
    corrected = np.minimum(p * len(found), 1.0)
    return Drift(tuple(names), d, corrected, means, (len(before), len(after)))


def _some(rows: Array) -> Array:
    """At most so many rows, evenly spaced."""
    if len(rows) <= _ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64)]


def _compared(a: Array, b: Array) -> tuple[float, float]:
    """Distance and p-value of one column."""
    values = np.concatenate([a, b])
    low, high = values.min(), values.max()
    if low == high:
        return 0.0, 1.0
    if bool(np.all((values == low) | (values == high))):
        return _shares(float(np.mean(a == high)), float(np.mean(b == high)), len(a), len(b))
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    below = [np.searchsorted(part, at, side="right") / len(part) for part in (a, b)]
    d = float(np.abs(below[0] - below[1]).max())
    root = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    # Stephens' correction of Kolmogorov's limit for few rows.
    return d, float(kolmogorov((root + 0.12 + 0.11 / root) * d))


def _shares(s: float, t: float, n: int, m: int) -> tuple[float, float]:
    """Two shares, by the normal distribution of their difference."""
    both = (s * n + t * m) / (n + m)
    error = np.sqrt(both * (1 - both) * (1 / n + 1 / m))
    return abs(s - t), float(2 * ndtr(-abs(s - t) / error))
