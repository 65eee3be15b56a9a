"""An orthogonal factorisation that gains and loses columns, for the corral of `nearest_point`.

Legend: columns m_1 ... m_m, kept as Q (q, most) orthonormal and R (most, most) upper triangular
with [m_1 ... m_m] = Q R in their first m columns. All functions work in place, and make no arrays:
that takes a third of the time to compile. work (5, most) and trial (2, q) are room for them.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline._jit.processor import fma

CORRECTIONS = 8  # at most


@sums_kernel
def insert(Q, R, m, rest):
    """Append a column, rest, overwritten; returns the length of what the others do not span.

    Orthogonalised twice: once leaves rounding errors of the size of what was subtracted.
    """
    q = rest.shape[0]
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


@sums_kernel
def solve(R, m, u):
    """Overwrite u by R^-1 u, by back substitution in the first m columns."""
    for i in range(m - 1, -1, -1):
        rest = u[i]
        for j in range(i + 1, m):
            rest -= R[i, j] * u[j]
        u[i] = rest / R[i, i]


@kernel
def _combine(V, m, u, u_low, z, z_low):
    """z + z_low = V'(u + u_low) in double-double: what cancels keeps its digits."""
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
            z_low[k] += carry + fma(u_low[i], V[i, k], error)
    for k in range(z.shape[0]):
        total = z[k] + z_low[k]
        z_low[k] -= total - z[k]
        z[k] = total


@sums_kernel
def _blend(V, m, u, z):
    """z = V'u in float64; returns z'z."""
    for k in range(z.shape[0]):
        z[k] = 0.0
    for i in range(m):
        for k in range(z.shape[0]):
            z[k] += u[i] * V[i, k]
    square = 0.0
    for k in range(z.shape[0]):
        square += z[k] * z[k]
    return square


@sums_kernel
def _uneven(V, m, z, h):
    """h_i = v_i'z, and by how much they differ; at the nearest point of the hull all are z'z."""
    low, high = np.inf, -np.inf
    for i in range(m):
        value = 0.0
        for k in range(z.shape[0]):
            value += V[i, k] * z[k]
        h[i] = value
        low = value if value < low else low
        high = value if value > high else high
    return high - low


@kernel
def _excess(u, u_low, m):
    """1'(u + u_low) - 1, in double-double, rounded."""
    total, rest = -1.0, 0.0
    for i in range(m):
        new = total + u[i]
        t = new - total
        rest += ((total - (new - t)) + (u[i] - t)) + u_low[i]
        total = new
    return total + rest


@kernel
def _step(Q, R, m, a, excess):
    """Overwrite a = h by d that makes v_i'(z + V'd) equal and takes the excess from 1'u.

    With M'M = R'R, R d = -(a + l q) for a = R'^-1 h and q = Q'e_1, where R'q = s 1 gives
    s 1'd = -q'(a + l q), from which l.
    """
    for i in range(m):  # row by row, as R lies in memory
        a[i] /= R[i, i]
        for j in range(i + 1, m):
            a[j] -= R[i, j] * a[i]
    qa, qq = 0.0, 0.0
    for i in range(m):
        qa += Q[0, i] * a[i]
        qq += Q[0, i] * Q[0, i]
    s = Q[0, 0] * R[0, 0]
    for i in range(m):
        a[i] = -(a[i] + (s * excess - qa) / qq * Q[0, i])
    solve(R, m, a)


@kernel
def _refine(Q, R, V, m, u, z, level, work, trial):
    """Correct u, and z = V'u with it, until rounding alone keeps the v_i'z apart.

    R may be ill-conditioned, but each correction gains the digits that it still has: u is kept
    as a high and a low part, so that a z much shorter than the vertices is right to its own digits.
    Where float64 alone leaves the v_i'z apart by at most level z'z, nothing is corrected.
    """
    u_low, h, high, low, z_new, z_low = work[1], work[2], work[3], work[4], trial[0], trial[1]
    if level > 0.0:
        square = _blend(V, m, u, z)
        if _uneven(V, m, z, h) <= level * square:
            return
    for i in range(m):
        u_low[i] = 0.0
    _combine(V, m, u, u_low, z, z_low)
    uneven = _uneven(V, m, z, h)
    for _ in range(CORRECTIONS):
        _step(Q, R, m, h, _excess(u, u_low, m))
        for i in range(m):
            total = u[i] + h[i]
            t = total - u[i]
            tail = u_low[i] + ((u[i] - (total - t)) + (h[i] - t))
            high[i] = total + tail
            low[i] = tail - (high[i] - total)
        _combine(V, m, high, low, z_new, z_low)
        new = _uneven(V, m, z_new, h)
        if not new < uneven:
            break
        for i in range(m):
            u[i], u_low[i] = high[i], low[i]
        for k in range(z.shape[0]):
            z[k] = z_new[k]
        done = new > uneven / 2
        uneven = new
        if done:
            break


@kernel
def settle(Q, R, V, weights, names, m, point, level, work, trial):
    """Move to the nearest point of the corral's affine hull, dropping vertices that block the way.

    |V'u|^2 with 1'u = 1 is least where (V V' + s^2 1 1') u is constant, u ~ R^-1 Q'e_1, which is
    then corrected unless it is level enough. Returns m, what is left.
    """
    u = work[0]
    while True:
        for i in range(m):
            u[i] = Q[0, i]
        solve(R, m, u)
        total = 0.0
        for i in range(m):
            total += u[i]
        for i in range(m):
            u[i] /= total
        _refine(Q, R, V, m, u, point, level, work, trial)
        k = np.int64(-1)  # not -1 alone: `remove` would be compiled for that number too
        step = np.inf
        for i in range(m):
            if u[i] <= 0.0:
                # As far towards u as all weights stay positive; the first to reach zero leaves.
                drop = weights[i] - u[i]
                ratio = weights[i] / drop if drop > 0.0 else 0.0
                if ratio < step:
                    step, k = ratio, np.int64(i)
        if k < 0 or m == 1:
            for i in range(m):
                weights[i] = u[i]
            return m
        rest = 0.0
        for i in range(m):
            moved = weights[i] + step * (u[i] - weights[i])
            weights[i] = 0.0 if moved < 0.0 else moved
            rest += weights[i] if i != k else 0.0
        remove(Q, R, m, k)
        for i in range(k, m - 1):
            weights[i] = weights[i + 1]
            names[i] = names[i + 1]
            for j in range(V.shape[1]):
                V[i, j] = V[i + 1, j]
        m -= 1
        if rest > 0.0:
            for i in range(m):
                weights[i] /= rest
