"""Gradients in double-double over rows of many columns: vectors run along a row, not down columns.

Rows are read as they lie in memory, and sums of a row and of the gradient stay in cache, where
tiles of 32 rows (`double_double`) would not.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work
from adaline._jit.processor import fma
from adaline.kernels.double_double.double_double import LANES, two_product, two_sum

LONG = 256  # columns from which on this is faster than tiles of rows, for one target


@kernel
def _value(x, theta, theta_low, high, low):
    """w'x + b as high + low, in double-double; x ends with a one."""
    for i in range(LANES):
        high[i] = 0.0
        low[i] = 0.0
    for c in range(x.shape[0]):
        for i in range(LANES):
            product, error = two_product(x[c, i], theta[c, i])
            total, carry = two_sum(high[i], product)
            high[i] = total
            low[i] += carry + fma(x[c, i], theta_low[c, i], error)
    value, rest = 0.0, 0.0
    for i in range(LANES):
        value, carry = two_sum(value, high[i])
        rest += carry + low[i]
    return value, rest


@kernel
def _add(x, r, r_low, g, g_low):
    """g += x r."""
    for c in range(x.shape[0]):
        for i in range(LANES):
            product, error = two_product(x[c, i], r)
            total, carry = two_sum(g[c, i], product)
            tail = g_low[c, i] + (carry + fma(x[c, i], r_low, error))
            # Renormalise each time: over many rows, errors of the tail would add up.
            g[c, i] = total + tail
            g_low[c, i] = tail - (g[c, i] - total)


@kernel
def _gradients_long(
    X, scale, Y, which, y_scale, omega, theta, theta_low, x, room, g, g_low, squares
):
    flat = x.reshape(x.size)
    for a in range(X.shape[0]):
        for j in range(X.shape[1]):
            flat[j] = X[a, j] * scale[j]
        for t in range(which.shape[0]):
            value, rest = _value(x, theta[t], theta_low[t], room[0], room[1])
            total, low = two_sum(Y[a, which[t]] * y_scale[t], -value)
            low -= rest
            r = total + low
            low -= r - total
            if omega.shape[0] > 0:
                squares[t] += r * r * omega[a]
                product, error = two_product(r, omega[a])
                error = fma(low, omega[a], error)
                r = product + error
                low = error - (r - product)
            else:
                squares[t] += r * r
            _add(x, r, low, g[t], g_low[t])


def gradients_long(X, scale, Y, which, y_scale, omega, theta, theta_low):
    """`gradients_dense` of rows without low parts: the same sums, in another order."""
    k, q = theta.shape
    shape = k, -(-q // LANES), LANES
    at = np.zeros((4, k, shape[1] * LANES))  # theta and g as whole vectors, each high and low
    at[0, :, :q], at[1, :, :q] = theta, theta_low
    x, squares = np.zeros(shape[1] * LANES), np.zeros(k)
    x[q - 1] = 1.0
    high, low, g, g_low = (part.reshape(shape) for part in at)
    work = x.reshape(shape[1:]), np.empty((2, LANES)), g, g_low, squares
    run = for_work(_gradients_long, X.size * k)
    run(X, scale, Y, which, y_scale, omega, high, low, *work)
    return at[2, :, :q].copy(), at[3, :, :q].copy(), squares
