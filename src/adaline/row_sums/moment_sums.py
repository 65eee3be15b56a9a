"""Sums over rows that `moments` are made of: Gram matrices about a shift, and about the means.

Legend: z = sqrt(omega) (scale [X Y] - shift, 1), q columns of X and Y together, G = sum of z z'.
"""

from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from adaline._threads import Cuts, one_blas_thread, over_pieces, pieces, summed
from adaline.kernels.sums import sums
from adaline.linalg import symmetric
from adaline.results import Array
from adaline.tiles import Rooms, first_mean, is_sparse, product_of, tile_rows, tiles

_FEW = 64  # columns up to which our own loop beats BLAS
_REGISTER = 4  # numbers in a vector register: BLAS takes a fifth longer for a few columns more
_MOST_ROWS = 2048  # of a tile whose products BLAS makes
_THIN = 80  # products of nonzeros that take as long as one of a dense matrix, in BLAS
_SPREAD = 1e-3  # share of the squares about zero that has to be left about the mean
_HEAVY = 0.25  # share of all weight from which the mean is nearer to a row than to other rows' mean


def centre(X: Any, Y: Array, scale: Array, rows: int, omega: Array) -> Array:
    """About where the weighted mean is: that of the first rows, or a row that outweighs others.

    A row of weight 1e60 leaves no digit of the others' squares unless it is zero itself.
    """
    if len(omega):
        heaviest = int(np.argmax(omega))
        if omega[heaviest] > _HEAVY * omega.sum():
            some = slice(heaviest, heaviest + 1)
            return first_mean(X[some], Y[some], scale, 1)
    return first_mean(X, Y, scale, rows, omega)


def gram(X: Any, Y: Array, root: Array, scale: Array, shift: Array) -> tuple[Array, int]:
    """Sums of z z' over rows z = sqrt(omega) (scale [X Y] - shift, 1), and how long they are."""
    n, q = X.shape[0], len(scale) + 1
    cuts = pieces(n, q, q * q)
    longest = cuts[0][1]
    rows = sums.GRAM_ROWS if q <= _FEW else _rows_of_products(q, longest)
    if q <= _FEW:
        G = _gram_of_few(X, Y, root, scale, shift, cuts)
    else:  # Threads of BLAS would change the last digit.
        with one_blas_thread(q) if len(cuts) == 1 else nullcontext():
            G = _gram_of_tiles(X, Y, root, scale, shift, cuts, rows)
    return G, min(rows, n) + longest // rows + len(cuts)


def _gram_of_few(X: Any, Y: Array, root: Array, scale: Array, shift: Array, cuts: Cuts) -> Array:
    """`gram` by a loop of our own."""

    def of_piece(i: int, j: int) -> Array:
        rest = (Y[i:j], root[i:j], scale, shift)
        if is_sparse(X):
            G = sums.gram_sparse(X.data, X.indices, X.indptr[i : j + 1], *rest)
        else:
            G = sums.gram_dense(X[i:j], *rest)
        return np.asarray(G)

    return summed(of_piece, operator.iadd, cuts)


def _gram_of_tiles(
    X: Any, Y: Array, root: Array, scale: Array, shift: Array, cuts: Cuts, rows: int
) -> Array:
    """`gram` by BLAS, of tiles of so many rows."""
    q = len(scale) + 1
    buffers, products = Rooms(rows, q), Rooms(q, q)

    def of_piece(i: int, j: int) -> Array:
        room = buffers.take()
        G = product_of(tiles(X, Y, root, scale, shift, rows, i, j, room), q, products)
        buffers.put(room)
        return G

    def add(total: Array, part: Array) -> Array:
        total += part
        products.put(part)
        return total

    return summed(of_piece, add, cuts)


def _rows_of_products(q: int, n: int) -> int:
    """Rows of a tile with q columns, of n: so many that to add up q x q sums takes little time."""
    rows = max(tile_rows(q), min(2 * q, _MOST_ROWS))
    return -(-n // max(round(n / rows), 1))  # none are left over for a short last tile


def gram_of_nonzeros(
    X: Any, Y: Array, omega: Array, scale: Array, shift: Array
) -> tuple[Array, int] | None:
    """`gram` from products of nonzeros, about zero for the columns of X.

    None where these are not few, or where a column has so large a mean that squares about zero
    would leave few digits of those about the mean.
    """
    n, p, q = X.shape[0], X.shape[1], len(scale)
    if not is_sparse(X) or q <= _FEW:
        return None
    if float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2)) * _THIN > n * q * q:
        return None
    X = sparse.csr_array(X.multiply(scale[:p]), dtype=np.float64)
    Z = np.column_stack([Y * scale[p:] - shift[p:], np.ones(n)])
    weighted = sparse.diags_array(omega) @ X if len(omega) else X
    G = np.empty((q + 1, q + 1))
    G[:p, :p] = (X.T @ weighted).toarray()
    G[:p, p:] = weighted.T @ Z
    G[p:, :p] = G[:p, p:].T
    G[p:, p:] = Z.T @ (omega[:, None] * Z if len(omega) else Z)
    squares, sums, weight = np.diag(G)[:p], G[:p, q], G[q, q]
    with np.errstate(divide="ignore", invalid="ignore"):
        if not np.all((squares == 0) | (squares - sums**2 / weight > _SPREAD * squares)):
            return None
    return G, n + 2


def gram_apart(
    X: Any, Y: Array, root: Array, scale: Array, shift: Array
) -> tuple[Array, Array, int]:
    """Sums of squares of z, of (x, 1) z' with z as in `gram`, (p + 1, q + 1), and their length.

    Targets are in their own units: scale is 1 for them.
    """
    n, p, q = X.shape[0], X.shape[1], len(scale) + 1
    rows = tile_rows(q)

    none, k = np.empty((n, 0)), Y.shape[1]
    whole = -(-(p + 1) // _REGISTER) * _REGISTER

    def of_piece(i: int, j: int) -> tuple[Array, Array, Array]:
        side, across, squares = np.zeros((p + 1, p + 1)), np.zeros((whole, k)), np.zeros(k)
        room, product = np.empty((min(rows, j - i), k)), np.empty((whole, k))
        padded = np.zeros((min(rows, j - i), whole))
        for own in tiles(X, none, root, scale[:p], shift[:p], rows, i, j):
            i, some = i + len(own), slice(i, i + len(own))
            T = room[: len(own)]
            np.subtract(Y[some], shift[p:], out=T)
            if len(root):
                T *= root[some, None]
            side += own.T @ own
            padded[: len(own), : p + 1] = own
            across += np.matmul(padded[: len(own)].T, T, out=product)
            squares += np.einsum("ij,ij->j", T, T)
        return side, across[: p + 1], squares

    parts = over_pieces(of_piece, n, q)
    side, across, of_y = (sum(found[1:], found[0]) for found in zip(*parts, strict=True))
    G = np.hstack([side[:, :p], across, side[:, p:]])
    squares = np.concatenate([side.diagonal()[:p], of_y, side[p:, p]])
    longest = pieces(n, q)[0][1]
    return squares, G, min(rows, n) + longest // rows + len(parts)


def scatter_of(G: Array, root: Array) -> Array:
    """Products about the mean from those about the shift; root is the sum over sqrt(weight)."""
    q = len(root)
    scatter = symmetric(G[:q, :q])
    for i in range(0, q, _FEW):  # no second matrix
        scatter[i : i + _FEW] -= root[i : i + _FEW, None] * root
    if scatter.diagonal().min(initial=0.0) < 0.0:
        np.fill_diagonal(scatter, np.maximum(scatter.diagonal(), 0.0))
    return scatter


def scatter_apart(G: Array, squares: Array, root: Array) -> Array:
    """The same from G (p + 1, q + 1), with NaN for products of one target with another."""
    p, q = len(G) - 1, len(root)
    scatter = np.full((q, q), np.nan)
    top = G[:p, :q] - np.outer(root[:p], root)
    top[:, :p] = (top[:, :p] + top[:, :p].T) / 2
    scatter[:p], scatter[p:, :p] = top, top[:, p:].T
    np.fill_diagonal(scatter, np.maximum(squares - root**2, 0.0))
    return scatter
