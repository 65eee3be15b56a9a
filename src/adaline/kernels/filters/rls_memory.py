"""The memory of recursive least squares: from the kernel's layout to the state's, and back.

store holds P without L (m, m), w (m,), G (4, m) and the last samples (C, H). This P is that at the
first sample of the unfinished group of four, and G holds the vectors g of the group so far: P now
is L (P - sum_i g_i g_i^H). `rls` works on P and V, laid out as `rls_panels` says.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline.kernels.filters.rls_panels import APART, COLUMNS, PANEL, entry, place

VECTORS = 5  # w and G


@kernel
def opened(store, P, V, m):
    """P, w and G from store."""
    for start in range(0, m, COLUMNS):
        p, width = start // COLUMNS, min(COLUMNS, m - start)
        for i in range(m):
            at, o = (p * m + i) * APART, i * m + start
            for k in range(width):
                P[at + k] = store[o + k]
        for q in range(VECTORS):
            at, o = p * PANEL + q * APART, m * m + q * m + start
            for k in range(width):
                V[at + k] = store[o + k]


@kernel
def closed(store, P, V, m):
    """P, w and G to store; all of P from its lower half, in 8 x 8 squares that fit in the cache."""
    for i in range(0, m, 8):
        for j in range(0, i + 8, 8):
            for k in range(i, i + 8):
                for h in range(j, min(j + 8, k + 1)):
                    p = P[entry(k, h, m)]
                    store[k * m + h], store[h * m + k] = p, np.conj(p)
    for q in range(VECTORS):
        for k in range(m):
            store[m * m + q * m + k] = V[place(k) + q * APART]


@kernel
def inverse_now(store, growth, P):
    """P after the last sample, pending updates included; growth is L."""
    m = (P.shape[0] + 7) // 8 * 8
    g = m * m + m
    for i in range(P.shape[0]):
        for j in range(i + 1):
            v = store[i * m + j] * 1.0
            for q in range(g, g + 4 * m, m):
                v -= store[q + i] * np.conj(store[q + j])
            P[i, j] = growth * v
            P[j, i] = np.conj(P[i, j])
        P[i, i] = P[i, i].real
