"""Tiles and sums of rows with a class code each.

Legend: codes (n,) in 0..K-1, shift (K, p) what is subtracted from the rows of each class.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline.kernels.sums.sums import GRAM_ROWS, _add_products

FLUSH = 8192  # rows summed before a partial sum is put away, which bounds its rounding error


@kernel
def first_rows(codes, K, most):
    """Where the first members of each class are: (K, most) row numbers, -1 past the last."""
    rows = np.full((K, most), -1)
    found = np.zeros(K, dtype=np.int64)
    missing = K * most
    for i in range(codes.shape[0]):
        c = codes[i]
        if found[c] < most:
            rows[c, found[c]] = i
            found[c] += 1
            missing -= 1
            if missing == 0:
                break
    return rows


@kernel
def class_places(codes, ends):
    """Places of the rows once they are sorted by class; ends (K,) receives where classes end."""
    ends[:] = 0
    for i in range(codes.shape[0]):
        ends[codes[i]] += 1
    total = 0
    for c in range(ends.shape[0]):
        size = ends[c]
        ends[c] = total
        total += size
    places = np.empty(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        places[i] = ends[codes[i]]
        ends[codes[i]] += 1
    return places


@kernel
def fill_classes_dense(X, codes, places, root, scale, shift, tile, sums):
    """Rows of sqrt(omega) (scale X - shift of their class) at their places in the tile.

    Adds omega (scale X - shift) to the sums (K, p) of their classes.
    """
    n, p = X.shape
    for i in range(n):
        c, q = codes[i], places[i]
        r = root[i] if root.shape[0] > 0 else 1.0
        for j in range(p):
            tile[q, j] = (X[i, j] * scale[j] - shift[c, j]) * r
        for j in range(p):
            sums[c, j] += tile[q, j] * r


@kernel
def fill_classes_sparse(data, indices, indptr, codes, places, root, scale, shift, tile, sums):
    """`fill_classes_dense` for the rows of a CSR matrix: entries not stored are zeros."""
    p = tile.shape[1]
    for i in range(codes.shape[0]):
        c, q = codes[i], places[i]
        r = root[i] if root.shape[0] > 0 else 1.0
        for j in range(p):
            tile[q, j] = -shift[c, j]
        for s in range(indptr[i], indptr[i + 1]):
            j = indices[s]
            tile[q, j] += data[s] * scale[j]
        for j in range(p):
            tile[q, j] *= r
        for j in range(p):
            sums[c, j] += tile[q, j] * r


@kernel
def add_squares_dense(X, codes, omega, scale, shift, sums, squares):
    """Adds omega t to sums and omega t^2 to squares (K, p), with t = scale X - shift."""
    n, p = X.shape
    t = np.empty(p)
    for i in range(n):
        c = codes[i]
        for j in range(p):
            t[j] = X[i, j] * scale[j] - shift[c, j]
        a = omega[i] if omega.shape[0] > 0 else 1.0
        for j in range(p):
            sums[c, j] += a * t[j]
        for j in range(p):
            squares[c, j] += a * t[j] * t[j]


@kernel
def add_squares_sparse(data, indices, indptr, codes, omega, scale, shift, sums, squares, stored):
    """`add_squares_dense` for the stored entries only; adds their weights to stored (K, p)."""
    for i in range(codes.shape[0]):
        c = codes[i]
        a = omega[i] if omega.shape[0] > 0 else 1.0
        for s in range(indptr[i], indptr[i + 1]):
            j = indices[s]
            t = data[s] * scale[j] - shift[c, j]
            sums[c, j] += a * t
            squares[c, j] += a * t * t
            stored[c, j] += a


@kernel
def class_grams_dense(X, codes, K, root, scale, shift, grams, sums):
    """Adds omega t t' to grams (g, q, q), and omega t to sums (K, p), with t = scale X - shift.

    There is one matrix for each class, or one for all (g = 1), of which the blocks on and above
    the diagonal are made; q is p, rounded up to a multiple of 4. For few columns faster than BLAS,
    and one call for many rows, during which other threads may do the same.
    """
    n, p = X.shape
    groups = grams.shape[0]
    tiles = np.zeros((groups, grams.shape[1], GRAM_ROWS + 8))
    filled = np.zeros(groups, dtype=np.int64)
    part = np.zeros((K, p))
    for i in range(n):
        c = codes[i]
        k = c if groups > 1 else 0
        r = root[i] if root.shape[0] > 0 else 1.0
        at, tile = filled[k], tiles[k]
        for j in range(p):
            t = (X[i, j] * scale[j] - shift[c, j]) * r
            tile[j, at] = t
            part[c, j] += t * r
        filled[k] += 1
        if filled[k] == GRAM_ROWS:
            _add_products(tile, grams[k])
            filled[k] = 0
        if i % FLUSH == FLUSH - 1 or i == n - 1:
            sums += part
            part[:] = 0.0
    for k in range(groups):
        if filled[k] > 0:
            tiles[k, :, filled[k] :] = 0.0
            _add_products(tiles[k], grams[k])
