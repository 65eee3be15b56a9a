"""One iteration of Ho and Kashyap's procedure in one pass over an orthonormal basis.

Called by procedures/ho_kashyap.py. Legend: Q (r, n) orthonormal rows; t (n,) targets -1 or +1;
b (n,) margins; u (r,) = Q (t b), so that Ya = t Q'u is the projection of b on the columns of Y.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import sum_kernel

BLOCK = 256  # samples: their part of Q serves both products while it is in cache


@sum_kernel
def iterate(Q, t, u, b, eta, Ya, b_next, u_next):
    """Ya, b_next = b + eta (e + |e|) with e = Ya - b, and u_next = Q (t b_next).

    Returns the least Ya, and the least and the largest e.
    """
    r, n = Q.shape
    v, c = np.empty(BLOCK), np.empty(BLOCK)
    least, low, high = np.inf, np.inf, -np.inf
    for j in range(r):
        u_next[j] = 0.0
    for first in range(0, n, BLOCK):
        part = slice(first, min(first + BLOCK, n))
        Ya_part, margin, raised, side = Ya[part], b[part], b_next[part], t[part]
        m = len(margin)
        for i in range(m):
            v[i] = 0.0
        for j in range(r):
            q, s = Q[j, part], u[j]
            for i in range(m):
                v[i] += s * q[i]
        for i in range(m):
            Ya_part[i] = side[i] * v[i]
            e = Ya_part[i] - margin[i]
            raised[i] = margin[i] + eta * (e + abs(e))
            c[i] = side[i] * raised[i]
        for i in range(m):
            e = Ya_part[i] - margin[i]
            least, low, high = min(least, Ya_part[i]), min(low, e), max(high, e)
        for j in range(r):
            q, s = Q[j, part], 0.0
            for i in range(m):
                s += c[i] * q[i]
            u_next[j] += s
    return least, low, high
