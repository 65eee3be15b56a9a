"""What is asked of each row of a logistic loss, tile by tile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaline._threads import over_pieces
from adaline.objective import Objective
from adaline.results import Array
from adaline.tiles import tile_rows, tiles


def projected(loss: Objective, A: Array) -> Array:
    """A'(z, 1) of each row, (n, columns of A)."""
    return np.concatenate(_tiled(loss, lambda tile, i: tile @ A, np.empty(0)))


def leverages(loss: Objective, root: Array, A: Array) -> Array:
    """|root A'(z, 1)|^2 of each row, (n,); root may be empty, for ones."""
    return np.concatenate(_tiled(loss, lambda tile, i: np.sum((tile @ A) ** 2, axis=1), root))


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


def _tiled(loss: Objective, of: Callable[[Array, int], Array], root: Array) -> list[Array]:
    """of(tile, first row) of all tiles of rows root (z, 1), in order."""
    X, q = loss.X, len(loss.penalty)
    none, rows = np.empty((X.shape[0], 0)), tile_rows(q)

    def of_piece(i: int, j: int) -> list[Array]:
        found = []
        for k, tile in enumerate(tiles(X, none, root, loss.scale, loss.shift, rows, i, j)):
            if not loss.intercept:
                tile[:, -1] = 0.0
            found.append(of(tile, i + k * rows))
        return found

    return [part for piece in over_pieces(of_piece, X.shape[0], q) for part in piece]
