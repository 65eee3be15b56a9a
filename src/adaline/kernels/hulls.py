"""The corral of Wolfe's algorithm for the nearest point of a convex hull.

Called by procedures/nearest_point.py. Legend: vertices V (m, q - 1), kept with a factorisation
[s 1; V'] = Q R. Q (q, most) has orthonormal columns, R (most, most) is upper triangular, and m
columns of both are in use. Functions change their arguments in place.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import fma, kernel, sum_kernel

CORRECTIONS = 8  # at most; each gains as many digits as the condition number of R leaves


@sum_kernel
def insert(Q, R, m, column):
    """Append a column, which is overwritten. Returns the length of what the others do not span.

    Gram and Schmidt's method, twice: once leaves rounding errors of the size of what it subtracts.
    """
    q = column.shape[0]
    for i in range(m):
        R[i, m] = 0.0
    for _ in range(2):
        for i in range(m):
            h = 0.0
            for k in range(q):
                h += Q[k, i] * column[k]
            for k in range(q):
                column[k] -= h * Q[k, i]
            R[i, m] += h
    square = 0.0
    for k in range(q):
        square += column[k] * column[k]
    R[m, m] = np.sqrt(square)
    if square > 0.0:
        for k in range(q):
            Q[k, m] = column[k] / R[m, m]
    return R[m, m]


@kernel
def remove(Q, R, m, k):
    """Remove column k: R loses it, and rotations of its rows make R triangular again."""
    for j in range(k, m - 1):
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    for j in range(k, m - 1):
        a, b = R[j, j], R[j + 1, j]
        size = np.hypot(a, b)
        if size == 0.0:
            continue
        c, s = a / size, b / size
        R[j, j], R[j + 1, j] = size, 0.0
        for i in range(j + 1, m - 1):
            upper, lower = R[j, i], R[j + 1, i]
            R[j, i], R[j + 1, i] = c * upper + s * lower, c * lower - s * upper
        for i in range(Q.shape[0]):
            left, right = Q[i, j], Q[i, j + 1]
            Q[i, j], Q[i, j + 1] = c * left + s * right, c * right - s * left


@sum_kernel
def solve(R, m, u):
    """Overwrite u by R^-1 u, by back substitution."""
    for i in range(m - 1, -1, -1):
        rest = u[i]
        for j in range(i + 1, m):
            rest -= R[i, j] * u[j]
        u[i] = rest / R[i, i]


@kernel
def combine(V, m, u, low, z, z_low):
    """z = V'(u + low), added in double-double: what cancels keeps its digits."""
    for k in range(z.shape[0]):
        z[k] = z_low[k] = 0.0
    for i in range(m):
        for k in range(z.shape[0]):
            product = u[i] * V[i, k]
            error = fma(u[i], V[i, k], -product)
            total = z[k] + product
            t = total - z[k]
            carry = (z[k] - (total - t)) + (product - t)
            z[k] = total
            z_low[k] += carry + fma(low[i], V[i, k], error)
    for k in range(z.shape[0]):
        z[k] += z_low[k]


@sum_kernel
def heights(V, m, z, h):
    """h_i = v_i'z, and by how much they differ. At the nearest point of the hull all are z'z."""
    least, largest = np.inf, -np.inf
    for i in range(m):
        h[i] = 0.0
        for k in range(z.shape[0]):
            h[i] += V[i, k] * z[k]
        least, largest = min(least, h[i]), max(largest, h[i])
    return largest - least


@kernel
def level_step(Q, R, m, h, excess):
    """Overwrite h by d that makes v_i'(z + V'd) equal and takes the excess from the sum of u.

    With M'M = R'R, R d = -(a + l q) for a = R'^-1 h and q = Q'e_1, where R'q = s 1 gives
    s 1'd = -q'(a + l q), from which l.
    """
    qa, qq = 0.0, 0.0
    for i in range(m):  # row by row, as R lies in memory
        h[i] /= R[i, i]
        for j in range(i + 1, m):
            h[j] -= R[i, j] * h[i]
        qa += Q[0, i] * h[i]
        qq += Q[0, i] * Q[0, i]
    s = Q[0, 0] * R[0, 0]
    for i in range(m):
        h[i] = -(h[i] + (s * excess - qa) / qq * Q[0, i])
    solve(R, m, h)


@kernel
def correct(Q, R, V, m, z, level, u, weights_room, points_room):
    """Correct u, and z = V'u with it, until rounding alone keeps the v_i'z apart.

    R may be ill-conditioned, but each correction gains the digits that it still has: u is held as
    u + low, so that a z much shorter than the vertices is right to its own digits. Where the v_i'z
    are no farther apart than level z'z, nothing is corrected. Both rooms are overwritten.
    """
    low, u_new, low_new, h = weights_room[1], weights_room[2], weights_room[3], weights_room[4]
    z_new, z_low, apart = points_room[0], points_room[1], np.inf
    for i in range(m):
        u_new[i], low_new[i] = u[i], 0.0
    for _ in range(CORRECTIONS + 1):
        combine(V, m, u_new, low_new, z_new, z_low)
        now = heights(V, m, z_new, h)
        if not now < apart:
            break
        square, excess, rest = 0.0, -1.0, 0.0  # 1'(u + low) - 1 is excess + rest
        for k in range(z.shape[0]):
            z[k] = z_new[k]
            square += z[k] * z[k]
        for i in range(m):
            u[i], low[i] = u_new[i], low_new[i]
            total = excess + u[i]
            t = total - excess
            rest += ((excess - (total - t)) + (u[i] - t)) + low[i]
            excess = total
        if now > apart / 2 or now <= level * square:
            break
        apart = now
        level_step(Q, R, m, h, excess + rest)
        for i in range(m):  # u + low + h
            total = u[i] + h[i]
            t = total - u[i]
            tail = low[i] + ((u[i] - (total - t)) + (h[i] - t))
            u_new[i] = total + tail
            low_new[i] = tail - (u_new[i] - total)


@kernel
def settle(Q, R, V, weights, names, m, z, level, weights_room, points_room):
    """Move to the nearest point z of the corral's affine hull, without vertices in the way.

    |V'u|^2 with 1'u = 1 is least where (V V' + s^2 1 1') u is constant: u = c R^-1 Q'e_1. Returns
    how many vertices are left.
    """
    u = weights_room[0]
    while True:
        for i in range(m):
            u[i] = Q[0, i]
        solve(R, m, u)
        total = 0.0
        for i in range(m):
            total += u[i]
        for i in range(m):
            u[i] /= total
        correct(Q, R, V, m, z, level, u, weights_room, points_room)
        k, step = m, np.inf
        for i in range(m):
            if u[i] <= 0.0:
                # As far towards u as all weights stay positive; the first to reach zero leaves.
                fall = weights[i] - u[i]
                ratio = weights[i] / fall if fall > 0.0 else 0.0
                if ratio < step:
                    k, step = i, ratio
        if k == m or m == 1:
            for i in range(m):
                weights[i] = u[i]
            return m
        remove(Q, R, m, k)
        total, kept = 0.0, 0
        for i in range(m):
            if i != k:
                weights[kept] = max(weights[i] + step * (u[i] - weights[i]), 0.0)
                total += weights[kept]
                names[kept] = names[i]
                for j in range(V.shape[1]):
                    V[kept, j] = V[i, j]
                kept += 1
        m -= 1
        if total > 0.0:
            for i in range(m):
                weights[i] /= total
