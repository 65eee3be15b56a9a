"""Every compiled loop: filling cache-sized tiles, and residuals in double-double.

Legend: X (n, p) samples, Y (n, k) targets, root (n,) square roots of the sample weights,
scale (p,) powers of two, shift what is subtracted. A tile is a block of rows copied to one
reused buffer that stays in cache; all that follows reads the tile, so float32, strided and
sparse input share one arithmetic.

A double-double number is a pair high + low of float64, |low| <= ulp(high)/2, about 32 digits:
`two_sum` and `two_product` return a rounded result together with its exact rounding error
(Dekker 1971; Ogita, Rump & Oishi 2005).
"""

from __future__ import annotations

import numpy as np

from adaline._jit import fma, kernel, sums_kernel

GRAM_ROWS = 256  # rows of a transposed tile
LANES = 32  # rows worked on together: whole vector registers, and accumulators stay in cache


@kernel
def two_sum(a, b):
    """a + b = high + low exactly."""
    high = a + b
    t = high - a
    return high, (a - (high - t)) + (b - t)


@kernel
def two_product(a, b):
    """a b = high + low exactly."""
    high = a * b
    return high, fma(a, b, -high)


@kernel
def fill_dense(X, Y, root, scale, shift, tile):
    """Rows of sqrt(omega) (scale [X Y] - shift, 1) into the tile; returns nothing."""
    n, p = X.shape
    k = Y.shape[1]
    for i in range(n):
        for j in range(p):
            tile[i, j] = X[i, j] * scale[j] - shift[j]
        for j in range(k):
            tile[i, p + j] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[i, p + k] = 1.0
    if root.shape[0] > 0:
        for i in range(n):
            for j in range(p + k + 1):
                tile[i, j] *= root[i]


@kernel
def fill_sparse(data, indices, indptr, Y, root, scale, shift, tile):
    """`fill_dense` for the rows of a CSR matrix: entries not stored are zeros."""
    n, k = Y.shape
    p = scale.shape[0] - k
    for i in range(n):
        for j in range(p):
            tile[i, j] = -shift[j]
        for q in range(indptr[i], indptr[i + 1]):  # += : entries stored twice add up
            j = indices[q]
            tile[i, j] += data[q] * scale[j]
        for j in range(k):
            tile[i, p + j] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[i, p + k] = 1.0
    if root.shape[0] > 0:
        for i in range(n):
            for j in range(p + k + 1):
                tile[i, j] *= root[i]


@kernel
def _transpose_dense(X, Y, root, scale, shift, start, stop, tile):
    """Rows start..stop of sqrt(omega) (scale [X Y] - shift, 1) as columns of the tile."""
    p, k = X.shape[1], Y.shape[1]
    for i in range(start, stop):
        for j in range(p):
            tile[j, i - start] = X[i, j] * scale[j] - shift[j]
        for j in range(k):
            tile[p + j, i - start] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[p + k, i - start] = 1.0
    _weigh_columns(root, start, stop, p + k + 1, tile)


@kernel
def _transpose_sparse(data, indices, indptr, Y, root, scale, shift, start, stop, tile):
    """`_transpose_dense` for the rows of a CSR matrix."""
    k = Y.shape[1]
    p = scale.shape[0] - k
    for j in range(p):
        for i in range(stop - start):
            tile[j, i] = -shift[j]
    for i in range(start, stop):
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            tile[j, i - start] += data[q] * scale[j]
        for j in range(k):
            tile[p + j, i - start] = Y[i, j] * scale[p + j] - shift[p + j]
        tile[p + k, i - start] = 1.0
    _weigh_columns(root, start, stop, p + k + 1, tile)


@kernel
def _weigh_columns(root, start, stop, q, tile):
    if root.shape[0] > 0:
        for j in range(q):
            for i in range(start, stop):
                tile[j, i - start] *= root[i]


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
            rows = (
                (a00, a01, a02, a03),
                (a10, a11, a12, a13),
                (a20, a21, a22, a23),
                (a30, a31, a32, a33),
            )
            for r in range(4):
                for c in range(4):
                    G[j + r, k + c] += rows[r][c]


@kernel
def _gram_tile(q):
    """A zeroed tile for q columns: their number a multiple of 4, and no stride a power of two."""
    return np.zeros((-(-q // 4) * 4, GRAM_ROWS + 8))


@kernel
def gram_dense(X, Y, root, scale, shift):
    """Sum of z z' over the rows z = sqrt(omega) (scale [X Y] - shift, 1); its upper triangle.

    For few columns faster than BLAS, which spends its time on packing them.
    """
    n, q = X.shape[0], scale.shape[0] + 1
    tile = _gram_tile(q)
    G = np.zeros((tile.shape[0], tile.shape[0]))
    for start in range(0, n, GRAM_ROWS):
        stop = min(start + GRAM_ROWS, n)
        if stop - start < GRAM_ROWS:
            tile[:] = 0.0
        _transpose_dense(X, Y, root, scale, shift, start, stop, tile)
        _add_products(tile, G)
    return G[:q, :q]


@kernel
def gram_sparse(data, indices, indptr, Y, root, scale, shift):
    """`gram_dense` for a CSR matrix."""
    n, q = indptr.shape[0] - 1, scale.shape[0] + 1
    tile = _gram_tile(q)
    G = np.zeros((tile.shape[0], tile.shape[0]))
    for start in range(0, n, GRAM_ROWS):
        stop = min(start + GRAM_ROWS, n)
        if stop - start < GRAM_ROWS:
            tile[:] = 0.0
        _transpose_sparse(data, indices, indptr, Y, root, scale, shift, start, stop, tile)
        _add_products(tile, G)
    return G[:q, :q]


@kernel
def _columns_dense(X, scale, start, stop, tile):
    """Scaled rows start..stop as columns of the tile (p, LANES)."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            tile[j, i - start] = X[i, j] * scale[j]


@kernel
def _columns_sparse(data, indices, indptr, scale, start, stop, tile):
    """`_columns_dense` for a CSR matrix without duplicate entries."""
    tile[:] = 0.0
    for i in range(start, stop):
        for q in range(indptr[i], indptr[i + 1]):
            tile[indices[q], i - start] = data[q] * scale[indices[q]]


@kernel
def _residual(tile, w, w_low, high, low):
    """high + low -= w'x for each column x of the tile; then normalised."""
    for j in range(tile.shape[0]):
        for i in range(LANES):
            x = tile[j, i]
            product, error = two_product(x, -w[j])
            total, carry = two_sum(high[i], product)
            high[i] = total
            low[i] += carry + fma(x, -w_low[j], error)
    for i in range(LANES):
        total = high[i] + low[i]
        low[i] -= total - high[i]
        high[i] = total


@kernel
def _residual_low(tile_low, w, low):
    """low -= w'x_low, where the samples themselves are x + x_low."""
    for j in range(tile_low.shape[0]):
        for i in range(LANES):
            low[i] -= tile_low[j, i] * w[j]


@kernel
def _gradient(tile, high, low, g, g_low):
    """g + g_low += x r in every lane, with r = high + low."""
    for j in range(tile.shape[0]):
        for i in range(LANES):
            x = tile[j, i]
            product, error = two_product(x, high[i])
            total, carry = two_sum(g[j, i], product)
            tail = g_low[j, i] + (carry + fma(x, low[i], error))
            # Renormalise each time: over 10^6 rows, errors of the tail would add up.
            g[j, i] = total + tail
            g_low[j, i] = tail - (g[j, i] - total)


@kernel
def _gradient_low(tile_low, high, g_low):
    """g_low += x_low r."""
    for j in range(tile_low.shape[0]):
        for i in range(LANES):
            g_low[j, i] += tile_low[j, i] * high[i]


@kernel
def _weigh(omega, start, stop, high, low):
    """r <- omega r."""
    for i in range(stop - start):
        product, error = two_product(high[i], omega[start + i])
        error = fma(low[i], omega[start + i], error)
        high[i] = product + error
        low[i] = error - (high[i] - product)


@kernel
def _add_up(g, g_low):
    """The lanes of each row added: double-double in, double-double out."""
    high = np.zeros(g.shape[0])
    low = np.zeros(g.shape[0])
    for j in range(g.shape[0]):
        for i in range(LANES):
            total, carry = two_sum(high[j], g[j, i])
            tail = low[j] + (carry + g_low[j, i])
            high[j] = total + tail
            low[j] = tail - (high[j] - total)
    return high, low


@kernel
def _residual_start(y, y_scale, b, b_low, start, stop, high, low):
    """high + low = y - b for the rows of a tile; lanes past the end are zero."""
    high[:] = 0.0
    low[:] = 0.0
    for i in range(stop - start):
        total, carry = two_sum(y[start + i] * y_scale, -b)
        high[i] = total
        low[i] = carry - b_low


@kernel
def _accumulate(tile, omega, w, w_low, start, stop, high, low, g, g_low):
    """One tile's share of sum omega (x, 1) r, given r = y - b so far; returns sum omega r^2."""
    _residual(tile, w, w_low, high, low)
    squares = 0.0
    for i in range(stop - start):
        squares += high[i] * high[i] * (omega[start + i] if omega.shape[0] > 0 else 1.0)
    if omega.shape[0] > 0:
        _weigh(omega, start, stop, high, low)
    p = tile.shape[0]
    _gradient(tile, high, low, g[:p], g_low[:p])
    _gradient(np.ones((1, LANES)), high, low, g[p:], g_low[p:])
    return squares


@kernel
def gradient_dense(X, X_low, scale, y, y_scale, omega, w, w_low, b, b_low):
    """(sum omega x r, sum omega r) and sum omega r^2, with r = y - b - w'x in double-double.

    X_low (n, p) or (0, 0) holds what rounding left of the samples. Returns the p + 1 sums
    as high and low parts, the one for b last, and the plain sum of squares.
    """
    n, p = X.shape
    tile, tile_low = np.zeros((p, LANES)), np.zeros((p, LANES))
    high, low = np.zeros(LANES), np.zeros(LANES)
    g, g_low = np.zeros((p + 1, LANES)), np.zeros((p + 1, LANES))
    squares = 0.0
    for start in range(0, n, LANES):
        stop = min(start + LANES, n)
        if stop - start < LANES:
            tile[:] = 0.0
            tile_low[:] = 0.0
        _columns_dense(X, scale, start, stop, tile)
        _residual_start(y, y_scale, b, b_low, start, stop, high, low)
        if X_low.shape[0] > 0:
            _columns_dense(X_low, scale, start, stop, tile_low)
            _residual_low(tile_low, w, low)
        squares += _accumulate(tile, omega, w, w_low, start, stop, high, low, g, g_low)
        if X_low.shape[0] > 0:
            _gradient_low(tile_low, high, g_low[:p])
    sums, sums_low = _add_up(g, g_low)
    return sums, sums_low, squares


@kernel
def gradient_sparse(data, indices, indptr, scale, y, y_scale, omega, w, w_low, b, b_low):
    """`gradient_dense` for a CSR matrix without duplicate entries."""
    n, p = indptr.shape[0] - 1, scale.shape[0]
    tile = np.zeros((p, LANES))
    high, low = np.zeros(LANES), np.zeros(LANES)
    g, g_low = np.zeros((p + 1, LANES)), np.zeros((p + 1, LANES))
    squares = 0.0
    for start in range(0, n, LANES):
        stop = min(start + LANES, n)
        _columns_sparse(data, indices, indptr, scale, start, stop, tile)
        _residual_start(y, y_scale, b, b_low, start, stop, high, low)
        squares += _accumulate(tile, omega, w, w_low, start, stop, high, low, g, g_low)
    sums, sums_low = _add_up(g, g_low)
    return sums, sums_low, squares


@kernel
def minus_product(g, g_low, a, c, c_low):
    """g - a c for each component, in double-double; a is plain."""
    high, low = np.empty(g.shape[0]), np.empty(g.shape[0])
    for j in range(g.shape[0]):
        product, error = two_product(-a[j], c[j])
        total, carry = two_sum(g[j], product)
        tail = g_low[j] + (carry + fma(-a[j], c_low[j], error))
        high[j] = total + tail
        low[j] = tail - (high[j] - total)
    return high, low


@kernel
def monomials(X, parent, factor, high, low):
    """Column j of high + low is column parent[j] times X[:, factor[j]], in double-double.

    A parent of -1 is the constant 1.
    """
    for i in range(X.shape[0]):
        for j in range(parent.shape[0]):
            x = X[i, factor[j]]
            if parent[j] < 0:
                high[i, j] = x
                low[i, j] = 0.0
            else:
                product, error = two_product(high[i, parent[j]], x)
                error = fma(low[i, parent[j]], x, error)
                high[i, j] = product + error
                low[i, j] = error - (high[i, j] - product)


@kernel
def values(X, X_low, w, w_low, b, b_low):
    """w'x + b of each row, summed in double-double and rounded once; samples are X + X_low."""
    n, p = X.shape
    v = np.empty(n)
    for i in range(n):
        high, low = b, b_low
        for j in range(p):
            product, error = two_product(X[i, j], w[j])
            high, carry = two_sum(high, product)
            low += carry + fma(X[i, j], w_low[j], error) + X_low[i, j] * w[j]
        v[i] = high + low
    return v


# Classes: codes (n,) in 0..K-1, shift (K, p) what is subtracted from the rows of each class.


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
