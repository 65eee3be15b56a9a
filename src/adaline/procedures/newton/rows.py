"""What is asked of each row of a logistic loss, tile by tile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaline._threads import over_pieces
from adaline.linalg import is_upper_triangle
from adaline.objective import Objective
from adaline.results import Array
from adaline.tiles import tile_rows, tiles

_BLOCKS, _NARROW = 8, 64  # of columns of a triangle, and how narrow they may be


def projected(loss: Objective, A: Array) -> Array:
    """A'(z, 1) of each row, (n, columns of A)."""
    return np.concatenate(_tiled(loss, lambda tile, i: tile @ A, np.empty(0)))


def leverages(loss: Objective, root: Array, A: Array) -> Array:
    """|root A'(z, 1)|^2 of each row, (n,); root may be empty, for ones."""
    q = len(A)
    width = max(-(-q // _BLOCKS), _NARROW) if is_upper_triangle(A) else A.shape[1]
    # Column j of an upper triangle has j + 1 numbers: nearly half of the products are with zeros.
    blocks = [A[: i + width, i : i + width] for i in range(0, A.shape[1], width)]

    def squares(tile: Array, i: int) -> Array:
        found = np.zeros(len(tile))
        for block in blocks:
            T = tile[:, : len(block)] @ block
            found += np.einsum("ij,ij->i", T, T)
        return found

    return np.concatenate(_tiled(loss, squares, root))


def rows_about(loss: Objective, middle: Array) -> Array:
    """z - middle of each row, (n, p)."""
    return np.concatenate(_tiled(loss, lambda tile, i: tile[:, :-1] - middle, np.empty(0)))


def squared_lengths(loss: Objective, middle: Array, each: Array) -> Array:
    """Sum of each_j (z_j - middle_j)^2 over the columns, of each row, (n,)."""

    def squares(tile: Array, i: int) -> Array:
        rows = tile[:, :-1] - middle
        return np.asarray((rows * rows) @ each)

    return np.concatenate(_tiled(loss, squares, np.empty(0)))


def class_leverages(loss: Objective, A: Array) -> Array:
    """A_k'(z, 1) times A_m'(z, 1) of each row, (n, K, K); A_k (q, Kq) are the rows of class k."""
    K, q = loss.K, len(loss.penalty)
    first = [k * q if is_upper_triangle(A) else 0 for k in range(K)]  # columns that are not zero

    def products(tile: Array, i: int) -> Array:
        T = [tile @ A[k * q : (k + 1) * q, first[k] :] for k in range(K)]
        B = np.empty((len(tile), K, K))
        for k in range(K):
            for m in range(k + 1):
                both = T[k], T[m][:, first[k] - first[m] :]
                B[:, k, m] = B[:, m, k] = np.einsum("ij,ij->i", *both)
        return B

    return np.concatenate(_tiled(loss, products, np.empty(0), tile_rows(K * q)))


def summed(loss: Objective, r: Array) -> Array:
    """Sum of r (z, 1) over the rows, (p + 1,)."""
    parts = _tiled(loss, lambda tile, i: r[i : i + len(tile)] @ tile, np.empty(0))
    return np.asarray(np.sum(parts, axis=0))


def scatters(loss: Objective) -> Array:
    """Sum of omega (x_j - mean_j)^2 of each column of X, (p,); with no bias, of omega x_j^2.

    The mean is weighted too, so that a weight of 2 is a row given twice. Infinite where the sum
    leaves float64.
    """

    def moments(tile: Array, i: int) -> Array:
        rows = tile[:, :-1]  # the last column is sqrt(omega), or zero without a bias
        return np.stack([np.einsum("ij,ij->j", rows, rows), tile[:, -1] @ rows])

    squares, sums = np.sum(_tiled(loss, moments, np.sqrt(loss.omega)), axis=0)
    with np.errstate(over="ignore"):
        found = np.maximum(squares - sums**2 / loss.weight, 0.0) / loss.scale / loss.scale
    return np.asarray(found)


def _tiled(
    loss: Objective, of: Callable[[Array, int], Array], root: Array, rows: int = 0
) -> list[Array]:
    """of(tile, first row) of all tiles of rows root (z, 1), in order; so many rows, if given."""
    X, q = loss.X, len(loss.penalty)
    none, rows = np.empty((X.shape[0], 0)), rows or tile_rows(q)

    def of_piece(i: int, j: int) -> list[Array]:
        found = []
        for k, tile in enumerate(tiles(X, none, root, loss.scale, loss.shift, rows, i, j)):
            if not loss.intercept:
                tile[:, -1] = 0.0
            found.append(of(tile, i + k * rows))
        return found

    return [part for piece in over_pieces(of_piece, X.shape[0], q) for part in piece]
