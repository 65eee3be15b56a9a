"""Gradients of squared errors in double-double, of all targets in one pass over the rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adaline._threads import over_pieces, pieces
from adaline.kernels.double_double import double_double, long_rows
from adaline.linalg import UNIT
from adaline.results import Array
from adaline.tiles import Rows, is_sparse

_ROOM = 2**16  # numbers of one pass's accumulators: they stay in cache
_FEWEST = 8  # targets in a pass, for which reading X once is worth its while


def gradients(
    rows: Rows, which: NDArray[np.int64], scale: Array, y_scale: Array, theta: Array, low: Array
) -> tuple[Array, Array, Array]:
    """Sums of omega (x, 1) r, high and low parts, and of omega r^2, for r = y - (x, 1)'theta.

    which (k,) are columns of Y, scaled by y_scale (k,); theta + low (p + 1, k) are their (w, b).
    Returns (p + 1, k) twice, and (k,). What is found for a target does not depend on the others.
    """
    X, Y, k = rows.X, np.ascontiguousarray(rows.Y), len(which)
    high, tail = np.ascontiguousarray(theta.T), np.ascontiguousarray(low.T)
    most = max(_ROOM // (2 * double_double.LANES * len(theta)), _FEWEST)
    passes = -(-k // most)
    cuts = [k * i // passes for i in range(passes + 1)]

    def of_piece(i: int, j: int) -> tuple[Array, Array, Array]:
        if passes == 1:
            return of_targets(i, j, 0, k)
        g, g_low, squares = np.empty_like(high), np.empty_like(high), np.empty(k)
        for s, e in pairwise(cuts):
            g[s:e], g_low[s:e], squares[s:e] = of_targets(i, j, s, e)
        return g, g_low, squares

    long = X.shape[1] >= long_rows.LONG and not len(rows.X_low)

    def of_targets(i: int, j: int, s: int, e: int) -> tuple[Array, Array, Array]:
        of_y = scale, Y[i:j], which[s:e], y_scale[s:e], rows.omega[i:j], high[s:e], tail[s:e]
        if is_sparse(X):
            entries = X.data, X.indices, X.indptr[i : j + 1]
            found: tuple[Array, Array, Array] = double_double.gradients_sparse(*entries, *of_y)
        elif long:
            found = long_rows.gradients_long(X[i:j], *of_y)
        else:
            found = double_double.gradients_dense(X[i:j], rows.X_low[i:j], *of_y)
        return found

    (g, g_low, squares), *others = over_pieces(of_piece, X.shape[0], len(theta))
    for part, part_low, part_squares in others:
        g, carry = double_double.two_sums(g, part)
        g, g_low = double_double.two_sums(g, g_low + part_low + carry)
        squares += part_squares
    return g.T, g_low.T, squares


def additions(n: int, p: int) -> int:
    """Numbers that `gradients` adds up in a row, at most, where n rows have p columns."""
    lanes = double_double.LANES
    return (n if p >= long_rows.LONG else n // lanes) + lanes + 16


def additions_of_pieces(n: int, p: int) -> int:
    """The same, where rows are so many that sums of pieces are added."""
    cuts = pieces(n, p + 1)
    return min(additions(n, p), additions(cuts[0][1], p) + 2 * len(cuts))


def doubt_of_residuals(rows: Rows, p: int, size: float) -> float:
    """A bound on the length of the errors of residuals y - (x, 1)'theta in `gradients`.

    size is the sum of the lengths of y and of all p + 1 columns times |theta|.
    """
    if is_sparse(rows.X) or p < long_rows.LONG or len(rows.X_low):
        return 2 * (p + 3) ** 2 * UNIT**2 * size
    # Each of 32 lanes adds c products and their errors, which are at most c times the unit roundoff
    # of their sum; then lanes are added: (c^2 + 3c + 4) + 64 (c + 34) units squared, at most.
    c = p // double_double.LANES + 1
    return 2 * (c + 2 * double_double.LANES) ** 2 * UNIT**2 * size


def minus_product(*arrays: Array) -> tuple[Array, Array]:
    """g + g_low - a (c + c_low) in double-double, from these five arrays of one shape."""
    shape = arrays[0].shape
    high, low = double_double.minus_product(*(a.ravel() for a in arrays))
    return high.reshape(shape), low.reshape(shape)
