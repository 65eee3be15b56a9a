"""Where to begin when many rows will decide: about the nearest points of both hulls, at once.

Wolfe's algorithm finds the deciding rows one by one, and each costs passes over all rows and over
the rows found so far. Steps between two rows at a time (Mitchell, Demyanov and Malozemov) need only
the inner products G of the rows, made once by BLAS; they say soon which rows decide, but slowly how
much. So they begin, and Wolfe's algorithm goes on from their rows. Nothing is proven here.
"""

from __future__ import annotations

import numpy as np

from adaline._threads import one_blas_thread
from adaline.kernels.separability import hull_steps
from adaline.results import Array

Vertices = tuple[list[tuple[int, int]], Array, Array]  # names, rows and weights

_FEW, _MANY = 256, 4096  # rows: below it is no work, and above n x n numbers are too many
_SHARE = 4  # times the columns may be fewer than the rows: many rows decide
_TOL = 1e-3  # of z'z: enough to know nearly all that decide
_STEPS = 16  # for each row, at most


def first_corral(Z: Array, t: Array, bias: bool) -> Vertices | None:
    """Vertices whose hull comes near the nearest point, and their weights; None if not worth it."""
    n, d = Z.shape
    if not _FEW <= n <= _MANY or _SHARE * d < n:
        return None
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        G = Z @ Z.T
        if not bias:  # one hull, of the rows t x
            G *= t * t[:, None]
        side = t if bias else np.ones(n)
        positive = np.count_nonzero(side > 0)
        weights = np.where(side > 0, 1.0 / positive, 1.0 / max(n - positive, 1))
        h = side * (G @ (side * weights))
    hull_steps.approach(G, side, weights, h, _TOL, _STEPS * n)
    if np.count_nonzero(weights) > d:  # so many that they depend on each other
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
