"""Residuals, gradients and powers with twice the digits of float64.

A number is high + low, |low| <= ulp(high) / 2, about 32 digits: `two_sum` and `two_product` return
a rounded result together with its exact rounding error (Dekker 1971; Ogita, Rump & Oishi 2005).

Called by `sums`, `procedures.least_squares` and the polynomial learner. Compiled without fastmath:
the order of operations is the method.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import fma, kernel

LANES = 32  # rows worked on together: whole vector registers, and their sums stay in cache
MAX_GROUPS = 64  # groups of LANES rows in a block, whose tails are added in float64


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
def add_gradients(X, X_low, scale, Y, omega, theta, theta_low, columns, g, g_low, squares):
    """Add sums over a block of rows of omega (x, 1) r to g + g_low, and of omega r^2 to squares.

    r = y - (x, 1)'(theta + theta_low), where x is a row of (X + X_low) scale. X_low (m, p) and
    omega (m,) may be empty; Y (k, m), theta, g (k, p + 1), squares (k,). A target's bits do not
    depend on the others. LANES rows in a row add to sums of their own, so that loops over lanes are
    vectorised; `columns` (groups, p + 1 or 2p + 1, LANES) is where they are transposed to. Tails
    are renormalised once a block, so that errors grow as the square of the number of groups.
    """
    (m, p), zero = X.shape, 0.0
    groups = (m + LANES - 1) // LANES
    q, lows = p + 1, X_low.shape[1]
    columns[:groups] = 0.0  # rows of zeros fill the last group, and add nothing
    for i in range(m):
        tile, lane = columns[i // LANES], i % LANES
        for j in range(p):
            tile[j, lane] = X[i, j] * scale[j]
        tile[p, lane] = 1.0
        for j in range(lows):
            tile[q + j, lane] = X_low[i, j] * scale[j]
    high, low, weight = np.empty(LANES), np.empty(LANES), np.ones(LANES)
    s, s_low, s_squares = np.empty((q, LANES)), np.empty((q, LANES)), np.empty(LANES)
    for t in range(theta.shape[0]):
        s[:], s_low[:], s_squares[:] = zero, zero, zero
        for c in range(groups):
            tile, first = columns[c], c * LANES
            for i in range(min(LANES, m - first)):
                high[i] = Y[t, first + i]
                if omega.shape[0] > 0:
                    weight[i] = omega[first + i]
            for i in range(m - first, LANES):
                high[i] = 0.0
            low[:] = 0.0
            for j in range(q):
                w, w_low = -theta[t, j], -theta_low[t, j]
                for i in range(LANES):
                    x = tile[j, i]
                    product, error = two_product(x, w)
                    total, carry = two_sum(high[i], product)
                    high[i] = total
                    low[i] += carry + fma(x, w_low, error)
            for j in range(lows):
                for i in range(LANES):
                    low[i] -= tile[q + j, i] * theta[t, j]
            for i in range(LANES):
                total = high[i] + low[i]
                low[i] -= total - high[i]
                s_squares[i] += total * total * weight[i]
                product, error = two_product(total, weight[i])
                error = fma(low[i], weight[i], error)
                high[i] = product + error
                low[i] = error - (high[i] - product)
            for j in range(q):
                for i in range(LANES):
                    x = tile[j, i]
                    product, error = two_product(x, high[i])
                    total, carry = two_sum(s[j, i], product)
                    s[j, i] = total
                    s_low[j, i] += carry + fma(x, low[i], error)
            for j in range(lows):
                for i in range(LANES):
                    s_low[j, i] += tile[q + j, i] * high[i]
        squares[t] += s_squares.sum()
        half = LANES // 2
        while half > 0:
            for j in range(q):
                for i in range(half):
                    total, carry = two_sum(s[j, i], s[j, i + half])
                    tail = carry + (s_low[j, i] + s_low[j, i + half])
                    s[j, i] = total + tail
                    s_low[j, i] = tail - (s[j, i] - total)
            half //= 2
        for j in range(q):
            total, carry = two_sum(g[t, j], s[j, 0])
            tail = g_low[t, j] + (carry + s_low[j, 0])
            g[t, j] = total + tail
            g_low[t, j] = tail - (g[t, j] - total)


@kernel
def towards_the_mean(sums, low, mean, D, theta, theta_low, g):
    """g = sums[:p] - mean sums[p] - D theta (p, k), rounded once; D is (p, k) or (p, 1)."""
    p = mean.shape[0]
    for t in range(g.shape[1]):
        for j in range(p):
            product, error = two_product(-mean[j], sums[p, t])
            total, carry = two_sum(sums[j, t], product)
            tail = low[j, t] + (carry + fma(-mean[j], low[p, t], error))
            high = total + tail
            tail -= high - total
            d = D[j, t % D.shape[1]]
            product, error = two_product(-d, theta[j, t])
            total, carry = two_sum(high, product)
            g[j, t] = total + (tail + (carry + fma(-d, theta_low[j, t], error)))


@kernel
def monomials(X, parent, factor, high, low):
    """Column j of high + low is column parent[j] times X[:, factor[j]].

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
    """w'x + b of each row, summed with twice the digits and rounded once; samples are X + X_low."""
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
