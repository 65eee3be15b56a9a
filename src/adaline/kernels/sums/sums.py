"""Tiles of rows, scaled and shifted on the way in, and sums of their products."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

GRAM_ROWS = 256  # rows of a transposed tile
# Products of a table so small that numpy makes them: so few that BLAS uses one thread for them.
FEW_PRODUCTS = 2**15


@kernel
def _finish_rows(Y, root, scale, shift, tile):
    """The targets and the one into the last columns of the tile, then sqrt(omega) times all."""
    n, k = Y.shape
    p = scale.shape[0] - k
    for i in range(n):
        for j in range(k):
            tile[i, p + j] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[i, p + k] = 1.0
    if root.shape[0] > 0:
        for i in range(n):
            for j in range(p + k + 1):
                tile[i, j] *= root[i]


def fill_dense(X, Y, root, scale, shift, tile):
    """Rows of sqrt(omega) (scale [X Y] - shift, 1) into the tile."""
    from adaline._jit.little import for_work  # not every learner fills tiles, or has to load it

    for_work(_fill_dense, X.size, _fill_by_numpy)(X, Y, root, scale, shift, tile)


@kernel
def _fill_dense(X, Y, root, scale, shift, tile):
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            tile[i, j] = X[i, j] * scale[j] - shift[j]
    _finish_rows(Y, root, scale, shift, tile)


@kernel
def fill_sparse(data, indices, indptr, Y, root, scale, shift, tile):
    """`fill_dense` for the rows of a CSR matrix: entries not stored are zeros."""
    for i in range(Y.shape[0]):
        for j in range(scale.shape[0] - Y.shape[1]):
            tile[i, j] = -shift[j]
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            tile[i, j] += data[q] * scale[j]
    _finish_rows(Y, root, scale, shift, tile)


@kernel
def _finish_columns(Y, root, scale, shift, start, stop, tile):
    """`_finish_rows` for a transposed tile, whose columns are the rows start..stop."""
    k = Y.shape[1]
    p = scale.shape[0] - k
    for i in range(start, stop):
        for j in range(k):
            tile[p + j, i - start] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[p + k, i - start] = 1.0
    if root.shape[0] > 0:
        for j in range(p + k + 1):
            for i in range(start, stop):
                tile[j, i - start] *= root[i]


@kernel
def _transpose_dense(X, Y, root, scale, shift, start, stop, tile):
    """Rows start..stop of sqrt(omega) (scale [X Y] - shift, 1) as columns of the tile."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            tile[j, i - start] = X[i, j] * scale[j] - shift[j]
    _finish_columns(Y, root, scale, shift, start, stop, tile)


@kernel
def _transpose_sparse(data, indices, indptr, Y, root, scale, shift, start, stop, tile):
    """`_transpose_dense` for the rows of a CSR matrix."""
    for j in range(scale.shape[0] - Y.shape[1]):
        for i in range(stop - start):
            tile[j, i] = -shift[j]
    for i in range(start, stop):
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            tile[j, i - start] += data[q] * scale[j]
    _finish_columns(Y, root, scale, shift, start, stop, tile)


@kernel
def _add_to_row(G, j, k, a, b, c, d):
    G[j, k] += a
    G[j, k + 1] += b
    G[j, k + 2] += c
    G[j, k + 3] += d


@sums_kernel
def _add_products(tile, G):
    """G += tile tile', the blocks on and above the diagonal; 4 x 4 sums stay in registers."""
    for j in range(0, tile.shape[0], 4):
        for k in range(j, tile.shape[0], 4):
            a00 = a01 = a02 = a03 = a10 = a11 = a12 = a13 = 0.0
            a20 = a21 = a22 = a23 = a30 = a31 = a32 = a33 = 0.0
            for i in range(GRAM_ROWS):
                x0, x1, x2, x3 = tile[j, i], tile[j + 1, i], tile[j + 2, i], tile[j + 3, i]
                y0, y1, y2, y3 = tile[k, i], tile[k + 1, i], tile[k + 2, i], tile[k + 3, i]
                a00 += x0 * y0
                a01 += x0 * y1
                a02 += x0 * y2
                a03 += x0 * y3
                a10 += x1 * y0
                a11 += x1 * y1
                a12 += x1 * y2
                a13 += x1 * y3
                a20 += x2 * y0
                a21 += x2 * y1
                a22 += x2 * y2
                a23 += x2 * y3
                a30 += x3 * y0
                a31 += x3 * y1
                a32 += x3 * y2
                a33 += x3 * y3
            _add_to_row(G, j, k, a00, a01, a02, a03)
            _add_to_row(G, j + 1, k, a10, a11, a12, a13)
            _add_to_row(G, j + 2, k, a20, a21, a22, a23)
            _add_to_row(G, j + 3, k, a30, a31, a32, a33)


def _gram_room(q):
    """A tile for q columns, and their sums: a multiple of 4, and no stride a power of two."""
    q += -q % 4
    return np.zeros((q, GRAM_ROWS + 8)), np.zeros((q, q))


@kernel
def _gram_dense(X, Y, root, scale, shift, tile, G):
    n = X.shape[0]
    for start in range(0, n, GRAM_ROWS):
        stop = start + GRAM_ROWS
        if stop > n:
            stop = n
            tile[:] = 0.0
        _transpose_dense(X, Y, root, scale, shift, start, stop, tile)
        _add_products(tile, G)


def few_rows(X, Y, scale, shift):
    """Rows z = (scale [X Y] - shift, 1) by numpy."""
    z = np.empty((len(X), len(scale) + 1))
    _fill_by_numpy(X, Y, z[:0, 0], scale, shift, z)
    return z


def _fill_by_numpy(X, Y, root, scale, shift, tile):
    """`_fill_dense` with nothing to compile; up to six times as slow."""
    p = X.shape[1]
    np.multiply(X, scale[:p], out=tile[:, :p])
    np.multiply(Y, scale[p:], out=tile[:, p:-1])
    tile[:, :-1] -= shift
    tile[:, -1] = 1.0
    if len(root):
        tile *= root[:, None]


def gram_of_few(z, root):
    """Sum of root^2 z z' by numpy: a little slower on a small table, and nothing to compile."""
    if len(root):
        z = z * root[:, None]
    return np.dot(z.T, z)


def gram_dense(X, Y, root, scale, shift):
    """Sum of z z' over the rows z = sqrt(omega) (scale [X Y] - shift, 1); its upper triangle.

    For few columns faster than BLAS, which spends its time on packing them.
    """
    q = len(scale) + 1
    if len(X) * q * q <= FEW_PRODUCTS:
        return gram_of_few(few_rows(X, Y, scale, shift), root)
    tile, G = _gram_room(q)
    _gram_dense(X, Y, root, scale, shift, tile, G)
    return G[:q, :q]


def class_products(X, Y, R, scale, shift):
    """Sums of r_k r_m z z' over the rows for each pair m < k of the columns of R (n, K).

    Their upper triangles, (pairs, q, q); a tile of rows is transposed once for all of them.
    """
    q, K = len(scale) + 1, R.shape[1]
    tile, G = _gram_room(q)
    G = np.zeros((K * (K - 1) // 2, *G.shape))
    _class_products(X, Y, R, scale, shift, tile, tile.copy(), np.zeros(tile.shape[1]), G)
    return G[:, :q, :q]


@kernel
def _class_products(X, Y, R, scale, shift, tile, weighted, weights, G):
    n = X.shape[0]
    for start in range(0, n, GRAM_ROWS):
        stop = start + GRAM_ROWS
        if stop > n:
            stop = n
            tile[:] = 0.0
        _transpose_dense(X, Y, weights[:0], scale, shift, start, stop, tile)
        pair = 0
        for k in range(R.shape[1]):
            for m in range(k):
                for i in range(start, stop):
                    weights[i - start] = R[i, k] * R[i, m]
                for j in range(tile.shape[0]):
                    for i in range(tile.shape[1]):
                        weighted[j, i] = tile[j, i] * weights[i]
                _add_products(weighted, G[pair])
                pair += 1


@kernel
def _gram_sparse(data, indices, indptr, Y, root, scale, shift, tile, G):
    n = indptr.shape[0] - 1
    for start in range(0, n, GRAM_ROWS):
        stop = start + GRAM_ROWS
        if stop > n:
            stop = n
            tile[:] = 0.0
        _transpose_sparse(data, indices, indptr, Y, root, scale, shift, start, stop, tile)
        _add_products(tile, G)


def gram_sparse(data, indices, indptr, Y, root, scale, shift):
    """`gram_dense` for a CSR matrix."""
    n, q = len(indptr) - 1, len(scale) + 1
    if n * q * q <= FEW_PRODUCTS:
        X, row = np.zeros((n, q - 1 - Y.shape[1])), np.repeat(np.arange(n), np.diff(indptr))
        stored = slice(indptr[0], indptr[-1])
        np.add.at(X, (row, indices[stored]), data[stored])
        return gram_of_few(few_rows(X, Y, scale, shift), root)
    tile, G = _gram_room(q)
    _gram_sparse(data, indices, indptr, Y, root, scale, shift, tile, G)
    return G[:q, :q]
