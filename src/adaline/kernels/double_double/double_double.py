"""Residuals, gradients and powers in double-double arithmetic.

A double-double number is a pair high + low of float64, |low| <= ulp(high)/2, about 32 digits:
`two_sum` and `two_product` return a rounded result together with its exact rounding error
(Dekker 1971; Ogita, Rump & Oishi 2005).
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work
from adaline._jit.processor import fma

LANES = 32  # rows worked on together: whole vector registers, and accumulators stay in cache
TOGETHER = 8  # targets whose y are read together: a cache line of a row of Y
BLOCK = 2**14  # numbers of X gone through target by target: they stay in cache


@kernel
def two_sum(a, b):
    """a + b = high + low exactly."""
    high = a + b
    t = high - a
    return high, (a - (high - t)) + (b - t)


def two_sums(a, b):
    """`two_sum` of arrays by numpy: for each kind of arrays it would take 0.7 s to compile."""
    with np.errstate(all="ignore"):  # as kernels do: infinities are found in the answer
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
        for i in range(LANES):
            if first + i < stop:
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
        rows = LANES if first + LANES < stop else stop - first
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
def _add_up(g, g_low, sums, sums_low):
    """The lanes of each row of g (k, q, LANES) added: double-double in, double-double out."""
    for t in range(g.shape[0]):
        for i in range(LANES):
            for j in range(g.shape[1]):
                total, carry = two_sum(sums[t, j], g[t, j, i])
                tail = sums_low[t, j] + (carry + g_low[t, j, i])
                sums[t, j] = total + tail
                sums_low[t, j] = tail - (sums[t, j] - total)


@kernel
def _add_rows(
    tiles,
    tiles_low,
    Y,
    which,
    y_scale,
    omega,
    start,
    stop,
    theta,
    theta_low,
    y,
    r,
    g,
    g_low,
    squares,
):
    """Every target's share of the rows start..stop, which the tiles hold."""
    k, together = which.shape[0], y.shape[0]
    for first in range(0, k, together):
        for i in range(stop - start):
            for q in range(together if first + together < k else k - first):
                y[q, i] = Y[start + i, which[first + q]] * y_scale[first + q]
        for q in range(together):
            t = first + q
            if t < k:
                _add_target(
                    tiles, tiles_low, y, q, omega, start, stop, t, theta, theta_low,
                    r[0], r[1], g, g_low, squares,
                )  # fmt: skip


def _room(n, p, k, low):
    """Arrays to work in: tiles, tiles_low, y and r; then g, g_low and squares, lane by lane."""
    # Few enough tiles to stay in cache while we go through them target by target.
    T = max(min(-(-n // LANES), max(k, 8), BLOCK // (LANES * (p + 1))), 1)
    tiles = np.ones((T, p + 1, LANES)), np.zeros((T, p, LANES) if low else (0, 0, LANES))
    y, r = np.empty((max(min(k, TOGETHER), 1), T * LANES)), np.empty((2, LANES))
    g, g_low = np.zeros((k, p + 1, LANES)), np.zeros((k, p + 1, LANES))
    return *tiles, y, r, g, g_low, np.zeros((k, LANES))


@kernel
def _gradients_dense(
    X, X_low, scale, Y, which, y_scale, omega, theta, theta_low,
    sums, sums_low, tiles, tiles_low, y, r, g, g_low, squares,
):  # fmt: skip
    step = y.shape[1]
    for start in range(0, X.shape[0], step):
        stop = start + step if start + step < X.shape[0] else X.shape[0]
        _columns_dense(X, scale, start, stop, tiles)
        if X_low.shape[0] > 0:
            _columns_dense(X_low, scale, start, stop, tiles_low)
        _add_rows(
            tiles, tiles_low, Y, which, y_scale, omega, start, stop, theta, theta_low,
            y, r, g, g_low, squares,
        )  # fmt: skip
    _add_up(g, g_low, sums, sums_low)


def gradients_dense(X, X_low, scale, Y, which, y_scale, omega, theta, theta_low):
    """(sum omega x r, sum omega r) and sum omega r^2 with r = y - b - w'x, for several targets.

    which (k,) are the columns of Y, y_scale (k,) their scales, theta + theta_low (k, p + 1) their
    (w, b). X_low (n, p) or (0, 0) holds what rounding left of the samples. Returns sums (k, p + 1)
    as high and low parts, and the plain sums of squares. The bits of a target's sums do not depend
    on the others.
    """
    # The arrays are made here, since a kernel that makes arrays takes a second more to compile.
    room = _room(len(X), X.shape[1], len(which), len(X_low) > 0)
    sums, sums_low = np.zeros(theta.shape), np.zeros(theta.shape)
    at = theta, theta_low, sums, sums_low
    run = for_work(_gradients_dense, X.size * len(which))
    run(X, X_low, scale, Y, which, y_scale, omega, *at, *room)
    return sums, sums_low, _added(room[-1])


@kernel
def _gradients_sparse(
    data, indices, indptr, scale, Y, which, y_scale, omega, theta, theta_low,
    sums, sums_low, tiles, tiles_low, y, r, g, g_low, squares,
):  # fmt: skip
    n, step = indptr.shape[0] - 1, y.shape[1]
    for start in range(0, n, step):
        stop = start + step if start + step < n else n
        _columns_sparse(data, indices, indptr, scale, start, stop, tiles)
        _add_rows(
            tiles, tiles_low, Y, which, y_scale, omega, start, stop, theta, theta_low,
            y, r, g, g_low, squares,
        )  # fmt: skip
    _add_up(g, g_low, sums, sums_low)


def gradients_sparse(data, indices, indptr, scale, Y, which, y_scale, omega, theta, theta_low):
    """`gradients_dense` for a CSR matrix without duplicate entries."""
    room = _room(len(indptr) - 1, len(scale), len(which), False)
    sums, sums_low = np.zeros(theta.shape), np.zeros(theta.shape)
    of_y, at = (Y, which, y_scale, omega), (theta, theta_low, sums, sums_low)
    run = for_work(_gradients_sparse, len(scale) * (len(indptr) - 1) * len(which))
    run(data, indices, indptr, scale, *of_y, *at, *room)
    return sums, sums_low, _added(room[-1])


def _added(squares):
    """Sums over the lanes, in their order."""
    return squares.cumsum(axis=1)[:, -1]


@kernel
def _minus_product(g, g_low, a, c, c_low, high, low):
    for j in range(g.shape[0]):
        product, error = two_product(-a[j], c[j])
        total, carry = two_sum(g[j], product)
        tail = g_low[j] + (carry + fma(-a[j], c_low[j], error))
        high[j] = total + tail
        low[j] = tail - (high[j] - total)


def minus_product(g, g_low, a, c, c_low):
    """g - a c for each component, in double-double; a is plain."""
    high, low = np.empty(len(g)), np.empty(len(g))
    for_work(_minus_product, len(g))(g, g_low, a, c, c_low, high, low)
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
