"""An orthogonal factorisation that gains and loses columns, for the corral of `nearest_point`.

Legend: columns m_1 ... m_m, kept as Q (q, most) orthonormal and R (most, most) upper triangular
with [m_1 ... m_m] = Q R in their first m columns. All functions work in place.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


@kernel
def insert(Q, R, m, column):
    """Append a column; returns the length of its part that the others do not span.

    Orthogonalised twice: once leaves rounding errors of the size of what was subtracted.
    """
    q = column.shape[0]
    rest = column.copy()
    for i in range(m):
        R[i, m] = 0.0
    for _ in range(2):
        for i in range(m):
            h = 0.0
            for k in range(q):
                h += Q[k, i] * rest[k]
            for k in range(q):
                rest[k] -= h * Q[k, i]
            R[i, m] += h
    square = 0.0
    for k in range(q):
        square += rest[k] * rest[k]
    length = np.sqrt(square)
    R[m, m] = length
    if length > 0.0:
        for k in range(q):
            Q[k, m] = rest[k] / length
    return length


@kernel
def remove(Q, R, m, k):
    """Remove column k: R loses it, and rotations make R triangular again."""
    q = Q.shape[0]
    for j in range(k, m - 1):
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    for j in range(k, m - 1):
        a, b = R[j, j], R[j + 1, j]
        length = np.hypot(a, b)
        if length == 0.0:
            continue
        c, s = a / length, b / length
        R[j, j], R[j + 1, j] = length, 0.0
        for i in range(j + 1, m - 1):
            upper, lower = R[j, i], R[j + 1, i]
            R[j, i] = c * upper + s * lower
            R[j + 1, i] = c * lower - s * upper
        for i in range(q):
            left, right = Q[i, j], Q[i, j + 1]
            Q[i, j] = c * left + s * right
            Q[i, j + 1] = c * right - s * left


@kernel
def solve(R, m, g):
    """u with R u = g, by back substitution in the first m columns."""
    u = np.empty(m)
    for i in range(m - 1, -1, -1):
        rest = g[i]
        for j in range(i + 1, m):
            rest -= R[i, j] * u[j]
        u[i] = rest / R[i, i]
    return u


@kernel
def settle(Q, R, V, weights, names, m, point):
    """Move to the nearest point of the corral's affine hull, dropping vertices that block the way.

    |V'u|^2 with 1'u = 1 is least where (V V' + s^2 1 1') u is constant, u ~ R^-1 Q'e_1. The point
    comes from Q alone, which keeps its digits where R is ill-conditioned. Returns m, what is left.
    """
    q = Q.shape[0]
    while True:
        u = solve(R, m, Q[0])
        total = 0.0
        for i in range(m):
            total += u[i]
        k = -1
        step = np.inf
        for i in range(m):
            u[i] /= total
            if u[i] <= 0.0:
                # As far towards u as all weights stay positive; the first to reach zero leaves.
                drop = weights[i] - u[i]
                ratio = weights[i] / drop if drop > 0.0 else 0.0
                if ratio < step:
                    step, k = ratio, i
        if k < 0 or m == 1:
            weights[:m] = u
            for i in range(1, q):
                value = 0.0
                for j in range(m):
                    value += Q[i, j] * Q[0, j]
                point[i - 1] = value / total
            return m
        rest = 0.0
        for i in range(m):
            weights[i] = max(weights[i] + step * (u[i] - weights[i]), 0.0)
            rest += weights[i] if i != k else 0.0
        remove(Q, R, m, k)
        for i in range(k, m - 1):
            weights[i] = weights[i + 1]
            names[i] = names[i + 1]
            V[i] = V[i + 1]
        m -= 1
        if rest > 0.0:
            for i in range(m):
                weights[i] /= rest
