"""Residuals, gradients and powers with twice the digits of float64.

A number is high + low, |low| <= ulp(high) / 2, about 32 digits: `two_sum` and `two_product` return
a rounded result together with its exact rounding error (Dekker 1971; Ogita, Rump & Oishi 2005).

Called by `sums.rows`, `procedures.least_squares` and the polynomial learner. Compiled without
fastmath: the order of operations is the method.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import fma, kernel

LANES = 32  # rows worked on together: whole vector registers, and their sums stay in cache


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
def gradients(columns, low_columns, Y, omega, theta, theta_low, g, g_low, squares):
    """Add a block of rows to the sums of omega x r and of omega r^2, where r = y - x'theta.

    columns (q, m) hold x of m rows, a multiple of LANES, with a column of ones for the bias among
    them; low_columns (q, m) or (0, m) what rounding left of them; Y (k, m) the targets, omega (m,)
    the weights; theta + theta_low are (k, q). Every row of a group of LANES adds to sums of its
    own, g + g_low (k, q, LANES) and squares (k, LANES), so that loops over LANES are vectorised.
    The bits of a target's sums do not depend on the others.
    """
    high, low = np.empty(LANES), np.empty(LANES)
    for t in range(theta.shape[0]):
        for c in range(0, columns.shape[1], LANES):
            for i in range(LANES):
                high[i] = Y[t, c + i]
                low[i] = 0.0
            for j in range(columns.shape[0]):
                w, w_low = -theta[t, j], -theta_low[t, j]
                for i in range(LANES):
                    x = columns[j, c + i]
                    product, error = two_product(x, w)
                    total, carry = two_sum(high[i], product)
                    high[i] = total
                    low[i] += carry + fma(x, w_low, error)
            for j in range(low_columns.shape[0]):
                for i in range(LANES):
                    low[i] -= low_columns[j, c + i] * theta[t, j]
            for i in range(LANES):
                total = high[i] + low[i]
                low[i] -= total - high[i]
                squares[t, i] += total * total * omega[c + i]
                product, error = two_product(total, omega[c + i])
                error = fma(low[i], omega[c + i], error)
                high[i] = product + error
                low[i] = error - (high[i] - product)
            for j in range(columns.shape[0]):
                for i in range(LANES):
                    x = columns[j, c + i]
                    product, error = two_product(x, high[i])
                    total, carry = two_sum(g[t, j, i], product)
                    tail = g_low[t, j, i] + (carry + fma(x, low[i], error))
                    # Renormalise each time: over 10^6 rows errors of the tail would add up.
                    g[t, j, i] = total + tail
                    g_low[t, j, i] = tail - (g[t, j, i] - total)
            for j in range(low_columns.shape[0]):
                for i in range(LANES):
                    g_low[t, j, i] += low_columns[j, c + i] * high[i]


@kernel
def add_lanes(g, g_low, sums, sums_low):
    """Add the lanes of g + g_low (k, q, LANES) to sums + sums_low (k, q)."""
    for t in range(g.shape[0]):
        for i in range(LANES):
            for j in range(g.shape[1]):
                total, carry = two_sum(sums[t, j], g[t, j, i])
                tail = sums_low[t, j] + (carry + g_low[t, j, i])
                sums[t, j] = total + tail
                sums_low[t, j] = tail - (sums[t, j] - total)


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
