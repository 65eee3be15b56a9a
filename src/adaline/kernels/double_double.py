"""Residuals, gradients and powers in double-double arithmetic.

A double-double number is a pair high + low of float64, |low| <= ulp(high)/2, about 32 digits:
`two_sum` and `two_product` return a rounded result together with its exact rounding error
(Dekker 1971; Ogita, Rump & Oishi 2005).
"""

from __future__ import annotations

import numpy as np

from adaline._jit import fma, kernel

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
