"""Where Wolfe's algorithm begins when many rows have weight: pairs of rows as its vertices."""

from __future__ import annotations

import numpy as np

from adaline.results import Array

Vertices = tuple[list[tuple[int, int]], Array, Array]  # names, rows and weights


def first_corral(Z: Array, t: Array, weights: Array, bias: bool) -> Vertices | None:
    """Vertices whose convex combination is the point of these weights; None if they are too many.

    More vertices than dimensions depend on each other.
    """
    if np.count_nonzero(weights) > Z.shape[1]:
        return None
    if not bias:
        own = np.flatnonzero(weights)
        return [(i, i) for i in own.tolist()], t[own, None] * Z[own], weights[own]
    names, share = _staircase(weights * (t > 0), weights * (t < 0))
    left, right = (np.array(part) for part in zip(*names, strict=True))
    return names, Z[left] - Z[right], share


def _staircase(a: Array, b: Array) -> tuple[list[tuple[int, int]], Array]:
    """Pairs and weights with the row sums a and the column sums b: as few pairs as can be.

    >>> _staircase(np.array([0.75, 0.25, 0.0]), np.array([0.5, 0.0, 0.5]))
    ([(0, 0), (0, 2), (1, 2)], array([0.5 , 0.25, 0.25]))
    """
    rows, columns = np.flatnonzero(a), np.flatnonzero(b)
    ends_a, ends_b = np.cumsum(a[rows]), np.cumsum(b[columns])
    ends = np.union1d(ends_a[:-1] / ends_a[-1], ends_b[:-1] / ends_b[-1])
    starts, ends = np.concatenate([[0.0], ends]), np.append(ends, 1.0)
    i = rows[np.searchsorted(ends_a[:-1] / ends_a[-1], starts, side="right")]
    j = columns[np.searchsorted(ends_b[:-1] / ends_b[-1], starts, side="right")]
    return list(zip(i.tolist(), j.tolist(), strict=True)), ends - starts
