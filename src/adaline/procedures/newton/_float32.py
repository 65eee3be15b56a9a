"""Steps with the rows in float32: half the bytes to read, and a Hessian in half the time.

The minimum of the loss of rounded rows is next to that of the rows as they are: most steps may lead
to it. All sums are still added up in float64, so that nu falls as smoothly as with the rows
themselves, to which the last steps and every proof return.
"""

from __future__ import annotations

from dataclasses import replace
from operator import iadd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline._threads import one_blas_thread, over_pieces, summed
from adaline.linalg import inverse_cholesky
from adaline.objective import LONG, Objective
from adaline.procedures.newton.curvature import Curvature
from adaline.results import Array
from adaline.tiles import is_sparse, tile_rows

_LEAST, _MOST = 2**20, 2**26  # numbers in X, between which a copy of half its size pays
_PIECE, _PIECES = 768, 8  # rows whose products are summed by one thread, at least; how many such

Rows32 = NDArray[np.float32]


def rounded(loss: Objective) -> Objective | None:
    """The loss of the rows z, rounded to float32; None where a copy of them does not pay."""
    X, p = loss.X, len(loss.scale)
    if loss.K > 1 or is_sparse(X) or X.dtype != np.float64 or p < LONG:
        return None
    if not _LEAST <= X.size <= _MOST:
        return None
    Z = np.empty(X.shape, dtype=np.float32)

    def of_piece(i: int, j: int) -> None:
        for k in range(i, j, size):
            end = min(k + size, j)
            z = X[k:end] * loss.scale
            z -= loss.shift
            Z[k:end] = z

    size = max(tile_rows(p) // 8, 1)
    over_pieces(of_piece, *X.shape)
    return replace(loss, X=Z, scale=np.ones(p), shift=np.zeros(p))


def rough_curvature(rows: Objective, root: Array) -> Curvature | None:
    """The Hessian of rounded rows with these slopes; None where float32 cannot factor it."""
    q = len(rows.penalty)
    H: Any = _products(rows, root.astype(np.float32))
    with np.errstate(over="ignore", invalid="ignore"):  # penalties may leave float32
        H.flat[:: q + 1] += rows.penalty.astype(np.float32)
        if not rows.intercept:
            H[-1, -1] = 1.0
        d = np.sqrt(H.diagonal())
        d[d == 0.0] = 1.0
        H /= d
        H /= d[:, None]
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        A = inverse_cholesky(H)
    if A is None:
        return None
    rough = np.asarray(A / d[:, None], dtype=np.float32)
    return Curvature((), False, diagonal=np.square(d, dtype=np.float64), rough=rough)


def _products(rows: Objective, root: Rows32) -> Rows32:
    """Sum of root^2 (z, 1)(z, 1)' over the rows."""
    Z, n = rows.X, rows.n
    size = max(_PIECE, -(-n // _PIECES))

    def of_piece(i: int, j: int) -> Rows32:
        T = np.empty((j - i, len(rows.penalty)), dtype=np.float32)
        np.multiply(Z[i:j], root[i:j, None], out=T[:, :-1])
        T[:, -1] = root[i:j] if rows.intercept else 0.0
        with one_blas_thread(1):
            return T.T @ T

    return summed(of_piece, iadd, [(i, min(i + size, n)) for i in range(0, n, size)])
