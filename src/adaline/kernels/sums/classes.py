"""Tiles and sums of rows with a class code each.

Legend: codes (n,) in 0..K-1, shift (K, p) what is subtracted from the rows of each class.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


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
