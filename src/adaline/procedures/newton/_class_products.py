"""Sums of p_k p_m z z' over the rows, for each pair of K classes: the blocks of their Hessian."""

from __future__ import annotations

from collections.abc import Iterator
from operator import iadd

import numpy as np

from adaline._threads import pieces, summed
from adaline.kernels.sums import sums
from adaline.linalg import symmetric
from adaline.objective import Objective
from adaline.results import Array
from adaline.row_sums.objective_sums import FEW
from adaline.tiles import is_sparse

_MANY = 2**27  # products of all pairs, beyond which a kernel of their own is worth compiling


def class_products(loss: Objective, P: Array) -> Iterator[tuple[int, int, Array]]:
    """k, m < k and the sum of omega p_k p_m z z', (q, q); P (n, K) are the probabilities.

    Where there is no bias, the last row and column are zero.
    """
    n, K = P.shape
    q, pairs = len(loss.penalty), [(k, m) for k in range(K) for m in range(k)]
    root = np.sqrt(P * np.sqrt(loss.omega)[:, None] if len(loss.omega) else P)
    if is_sparse(loss.X) or q > FEW or n * q * q * len(pairs) <= _MANY:
        found = (loss.gram(root[:, k] * root[:, m]) for k, m in pairs)
    else:
        found = (symmetric(G) for G in _all_pairs(loss, root, len(pairs)))
    for (k, m), G in zip(pairs, found, strict=True):
        if not loss.intercept:
            G[-1], G[:, -1] = 0.0, 0.0
        yield k, m, G


def _all_pairs(loss: Objective, root: Array, pairs: int) -> Array:
    """The upper triangles of all pairs, from one transposed copy of each tile of rows."""
    X, (n, q) = loss.X, (len(root), len(loss.penalty))
    none = np.empty((n, 0))

    def of_piece(i: int, j: int) -> Array:
        some = X[i:j], none[i:j], root[i:j]
        return np.asarray(sums.class_products(*some, loss.scale, loss.shift))

    return summed(of_piece, iadd, pieces(n, q, pairs * q * q))
