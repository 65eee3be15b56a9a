"""One pass over dense rows for the proofs of separability.

Legend: X (n, p) samples, z = scale x - centre, u (p,) weights of z and u0 that of the intercept.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel


@kernel
def extremes(X):
    """Least and largest entry of each column; NaN spoils neither."""
    n, p = X.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for i in range(n):
        for j in range(p):
            x = X[i, j]
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
    return low, high


def extremes_by_numpy(X):
    """`extremes` of rows without NaN, with nothing to compile; up to eight times as slow."""
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


@sums_kernel
def dots(X, scale, centre, u, u0, bias):
    """v = z'u + u0 and the length of (bias, z) of each row."""
    n, p = X.shape
    v, length = np.empty(n), np.empty(n)
    for i in range(n):
        total = 0.0
        square = 0.0
        for j in range(p):
            z = X[i, j] * scale[j] - centre[j]
            total += z * u[j]
            square += z * z
        v[i] = total + u0
        length[i] = np.sqrt(square + bias)
    return v, length


@sums_kernel
def unit_rows(X, scale, centre, t, bias, Z):
    """Rows t (bias, z) / |(bias, z)| in Z (n, p + bias); returns the least length."""
    n, p = X.shape
    least = np.inf
    for i in range(n):
        square = 0.0
        for j in range(p):
            z = X[i, j] * scale[j] - centre[j]
            Z[i, j + bias] = z
            square += z * z
        length = np.sqrt(square + bias)
        least = length if length < least else least
        factor = t[i] / length if length > 0.0 else 0.0
        if bias:
            Z[i, 0] = factor
        for j in range(p):
            Z[i, j + bias] *= factor
    return least
