"""Residuals, gradients and powers in double-double arithmetic.

A double-double number is a pair high + low of float64, |low| <= ulp(high)/2, about 32 digits:
`two_sum` and `two_product` return a rounded result together with its exact rounding error
(Dekker 1971; Ogita, Rump & Oishi 2005).
"""

from __future__ import annotations

import numpy as np

from adaline._jit import fma, kernel

LANES = 32  # rows worked on together: whole vector registers, and accumulators stay in cache
TOGETHER = 8  # targets whose y are read together: a cache line of a row of Y
BLOCK = 2**14  # numbers of X gone through target by target: they stay in cache


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
def _columns_dense(X, scale, start, stop, tiles):
    """Scaled rows start..stop as columns of tiles (T, p, LANES); those past the end are zero."""
    for c in range(-(-(stop - start) // LANES)):
        first = start + c * LANES
        if first + LANES > stop:
            tiles[c, : X.shape[1]] = 0.0
        for i in range(min(LANES, stop - first)):
            for j in range(X.shape[1]):
                tiles[c, j, i] = X[first + i, j] * scale[j]


@kernel
def _columns_sparse(data, indices, indptr, scale, start, stop, tiles):
    """`_columns_dense` for a CSR matrix without duplicate entries."""
    tiles[:, : scale.shape[0]] = 0.0
    for i in range(stop - start):
        c, lane = i // LANES, i % LANES
        for q in range(indptr[start + i], indptr[start + i + 1]):
            tiles[c, indices[q], lane] = data[q] * scale[indices[q]]


@kernel
def _weigh(omega, start, rows, high, low):
    """r <- omega r."""
    for i in range(rows):
        product, error = two_product(high[i], omega[start + i])
        error = fma(low[i], omega[start + i], error)
        high[i] = product + error
        low[i] = error - (high[i] - product)


@kernel
def _add_target(
    tiles, tiles_low, y, q, omega, start, stop, t, theta, theta_low, high, low, g, g_low, squares
):
    """Target t's share of the rows start..stop: g += omega (x, 1) r, squares += omega r^2.

    Tiles (T, p + 1, LANES) hold these rows, each with a row of ones at the end, y[q] their targets;
    r = y - b - w'x is kept as high + low. One body and no views, since calls and views for every
    tile would cost as much as the arithmetic of few columns.
    """
    p = tiles.shape[1] - 1
    for c in range(-(-(stop - start) // LANES)):
        first = start + c * LANES
        rows = min(LANES, stop - first)
        high[:] = 0.0
        low[:] = 0.0
        for i in range(rows):
            total, carry = two_sum(y[q, c * LANES + i], -theta[t, p])
            high[i] = total
            low[i] = carry - theta_low[t, p]
        for j in range(tiles_low.shape[1]):
            for i in range(LANES):
                low[i] -= tiles_low[c, j, i] * theta[t, j]
        for j in range(p):
            w, w_low = -theta[t, j], -theta_low[t, j]
            for i in range(LANES):
                product, error = two_product(tiles[c, j, i], w)
                total, carry = two_sum(high[i], product)
                high[i] = total
                low[i] += carry + fma(tiles[c, j, i], w_low, error)
        for i in range(LANES):
            total = high[i] + low[i]
            low[i] -= total - high[i]
            high[i] = total
        if omega.shape[0] > 0:
            for i in range(rows):
                squares[t, i] += high[i] * high[i] * omega[first + i]
            _weigh(omega, first, rows, high, low)
        else:
            for i in range(LANES):
                squares[t, i] += high[i] * high[i]
        for j in range(p + 1):
            for i in range(LANES):
                x = tiles[c, j, i]
                product, error = two_product(x, high[i])
                total, carry = two_sum(g[t, j, i], product)
                tail = g_low[t, j, i] + (carry + fma(x, low[i], error))
                # Renormalise each time: over 10^6 rows, errors of the tail would add up.
                g[t, j, i] = total + tail
                g_low[t, j, i] = tail - (g[t, j, i] - total)
        for j in range(tiles_low.shape[1]):
            for i in range(LANES):
                g_low[t, j, i] += tiles_low[c, j, i] * high[i]


@kernel
def _add_up(g, g_low):
    """The lanes of each row of g (q, LANES) added: double-double in, double-double out."""
    q = g.shape[0]
    sums, sums_low = np.empty(q), np.empty(q)
    for start in range(0, q, LANES):
        stop = min(start + LANES, q)
        a, a_low = np.zeros((LANES, LANES)), np.zeros((LANES, LANES))
        for j in range(start, stop):  # transposed, so that rows are added side by side
            for i in range(LANES):
                a[i, j - start], a_low[i, j - start] = g[j, i], g_low[j, i]
        high, low = np.zeros(LANES), np.zeros(LANES)
        for i in range(LANES):
            for j in range(LANES):
                total, carry = two_sum(high[j], a[i, j])
                tail = low[j] + (carry + a_low[i, j])
                high[j] = total + tail
                low[j] = tail - (high[j] - total)
        for j in range(start, stop):  # an assignment of slices would take seconds to compile
            sums[j], sums_low[j] = high[j - start], low[j - start]
    return sums, sums_low


@kernel
def _add_rows(tiles, tiles_low, Y, which, y_scale, omega, start, stop, at, y, r, sums):
    """Every target's share of the rows start..stop, which the tiles hold."""
    k = which.shape[0]
    for first in range(0, k, TOGETHER):
        several = min(TOGETHER, k - first)
        for i in range(stop - start):
            for q in range(several):
                y[q, i] = Y[start + i, which[first + q]] * y_scale[first + q]
        for q in range(several):
            t = first + q
            _add_target(tiles, tiles_low, y, q, omega, start, stop, t, *at, *r, *sums)


@kernel
def _tiles_together(n, p, k):
    """How many tiles to go through target by target: few enough to stay in cache."""
    return min(-(-n // LANES), max(k, 8), max(BLOCK // (LANES * (p + 1)), 1))


@kernel
def _zeros(k, p):
    """Where the lanes of g, g_low and squares are added up for each target."""
    g, g_low = np.zeros((k, p + 1, LANES)), np.zeros((k, p + 1, LANES))
    return g, g_low, np.zeros((k, LANES))


@kernel
def _finish(g, g_low, squares):
    """Sums over the lanes for each target: (k, p + 1) high, low, and (k,)."""
    k, q, lanes = g.shape
    high, low = _add_up(g.reshape((k * q, lanes)), g_low.reshape((k * q, lanes)))
    total = np.zeros(k)
    for t in range(k):
        for i in range(lanes):
            total[t] += squares[t, i]
    return high.reshape((k, q)), low.reshape((k, q)), total


@kernel
def gradients_dense(X, X_low, scale, Y, which, y_scale, omega, theta, theta_low):
    """(sum omega x r, sum omega r) and sum omega r^2 with r = y - b - w'x, for several targets.

    which (k,) are the columns of Y, y_scale (k,) their scales, theta + theta_low (k, p + 1) their
    (w, b). X_low (n, p) or (0, 0) holds what rounding left of the samples. Returns sums (k, p + 1)
    as high and low parts, and the plain sums of squares. The bits of a target's sums do not depend
    on the others.
    """
    n, p = X.shape
    k = which.shape[0]
    T = _tiles_together(n, p, k)
    tiles = np.ones((T, p + 1, LANES))
    tiles_low = np.zeros((T, p, LANES) if X_low.shape[0] > 0 else (0, 0, LANES))
    y, r = np.empty((min(k, TOGETHER), T * LANES)), (np.empty(LANES), np.empty(LANES))
    sums = _zeros(k, p)
    for start in range(0, n, T * LANES):
        stop = min(start + T * LANES, n)
        _columns_dense(X, scale, start, stop, tiles)
        if X_low.shape[0] > 0:
            _columns_dense(X_low, scale, start, stop, tiles_low)
        of_y = Y, which, y_scale, omega, start, stop
        _add_rows(tiles, tiles_low, *of_y, (theta, theta_low), y, r, sums)
    return _finish(*sums)


@kernel
def gradients_sparse(data, indices, indptr, scale, Y, which, y_scale, omega, theta, theta_low):
    """`gradients_dense` for a CSR matrix without duplicate entries."""
    n, p, k = indptr.shape[0] - 1, scale.shape[0], which.shape[0]
    T = _tiles_together(n, p, k)
    tiles, tiles_low = np.ones((T, p + 1, LANES)), np.zeros((0, 0, LANES))
    y, r = np.empty((min(k, TOGETHER), T * LANES)), (np.empty(LANES), np.empty(LANES))
    sums = _zeros(k, p)
    for start in range(0, n, T * LANES):
        stop = min(start + T * LANES, n)
        _columns_sparse(data, indices, indptr, scale, start, stop, tiles)
        of_y = Y, which, y_scale, omega, start, stop
        _add_rows(tiles, tiles_low, *of_y, (theta, theta_low), y, r, sums)
    return _finish(*sums)


@kernel
def gradient_dense(X, X_low, scale, y, y_scale, omega, w, w_low, b, b_low):
    """`gradients_dense` for one target y (n,): sums (p + 1,) high and low, and sum omega r^2."""
    at = np.append(w, b).reshape((1, -1)), np.append(w_low, b_low).reshape((1, -1))
    of_y = y.reshape((-1, 1)), np.zeros(1, np.int64), np.full(1, y_scale)
    g, g_low, squares = gradients_dense(X, X_low, scale, *of_y, omega, *at)
    return g[0], g_low[0], squares[0]


@kernel
def gradient_sparse(data, indices, indptr, scale, y, y_scale, omega, w, w_low, b, b_low):
    """`gradient_dense` for a CSR matrix without duplicate entries."""
    at = np.append(w, b).reshape((1, -1)), np.append(w_low, b_low).reshape((1, -1))
    of_y = y.reshape((-1, 1)), np.zeros(1, np.int64), np.full(1, y_scale)
    g, g_low, squares = gradients_sparse(data, indices, indptr, scale, *of_y, omega, *at)
    return g[0], g_low[0], squares[0]


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
