"""One iteration of Ho and Kashyap's procedure in one pass over an orthonormal basis.

Letters: Q (blocks, r, B) basis of the columns of (1, X) in blocks of B samples, zeros behind the
last sample; t (n,) targets -1 or +1; b (n,) margins; u (r,) = Q'(t b), so that Ya = t Q u is the
projection of b on the columns of Y.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import sums_kernel


@sums_kernel
def iterate(Q, t, u, b, eta, Ya, b_next, u_next):
    """Ya, b_next = b + eta (e + |e|) with e = Ya - b, and u_next = Q'(t b_next).

    Returns the least Ya, and the least and the largest e. A block of Q serves both products
    while it is in cache.
    """
    blocks, r, B = Q.shape
    n = len(b)
    u_next[:] = 0.0
    v, c = np.empty(B), np.empty(B)
    least, low, high = np.inf, np.inf, -np.inf
    for k in range(blocks):
        first, m = k * B, min(B, n - k * B)
        margin, side = b[first : first + m], t[first : first + m]
        out, raised = Ya[first : first + m], b_next[first : first + m]
        v[:] = 0.0
        c[:] = 0.0
        for j in range(r):
            q, s = Q[k, j], u[j]
            for i in range(B):
                v[i] += s * q[i]
        for i in range(m):
            out[i] = side[i] * v[i]
            e = out[i] - margin[i]
            raised[i] = margin[i] + eta * (e + abs(e))
            c[i] = side[i] * raised[i]
        for i in range(m):
            e = out[i] - margin[i]
            least, low, high = min(least, out[i]), min(low, e), max(high, e)
        for j in range(r):
            q, s = Q[k, j], 0.0
            for i in range(B):
                s += c[i] * q[i]
            u_next[j] += s
    return least, low, high
