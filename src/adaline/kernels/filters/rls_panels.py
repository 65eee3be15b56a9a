"""One pass over half of P: four products subtracted, and P x for four samples.

Legend: m weights, a multiple of 8; P the lower half and small squares on its diagonal, in panels of
COLUMNS columns; V vectors, in panels too: w, G0-3, X0-3 and Pi0-3.

    P <- P - sum_i g_i g_i^H,   Pi_j = P x_j

In the squares, where both halves are, g g^H is symmetric to the last bit. Rows in a panel are
APART numbers apart, a constant, from which the compiler knows that they do not overlap.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom, sums_kernel
from adaline._jit.processor import fma

# Rows about 4096 bytes apart would share cache sets and slow each other; 288 numbers avoid that.
COLUMNS, APART = 256, 288
W, G, X, PI, PANEL = 0, APART, 5 * APART, 9 * APART, 13 * APART

U = np.uintp  # signed counters might be negative, wrap around, and compile to gathers
U1, ROW = U(1), U(APART)
G0, G1, G2, G3 = U(G), U(G + APART), U(G + 2 * APART), U(G + 3 * APART)
X0, X1, X2, X3 = U(X), U(X + APART), U(X + 2 * APART), U(X + 3 * APART)
Z0, Z1, Z2, Z3 = U(PI), U(PI + APART), U(PI + 2 * APART), U(PI + 3 * APART)


@kernel
def padded(real):
    """Length of the vectors: the weights and zeros up to a multiple of 8, for whole registers."""
    return (real + 7) // 8 * 8


@kernel
def lesser(i, j):
    """The lesser of two integers. The compiler takes much longer over `min`."""
    return i if i < j else j


@kernel
def panels(m):
    """How many panels m columns make."""
    return (m + COLUMNS - 1) // COLUMNS


@kernel
def high_of(m):
    """Rows of a square on the diagonal: all of it is computed, but without sums along a row."""
    return 32 if m <= 64 else 16


@kernel
def _eights(n):
    """n, a multiple of 8, in a form from which the compiler sees that no remainder is left."""
    return (U(n) >> U(3)) << U(3)


@kernel
def width_of(p, m):
    """How many columns panel p has."""
    return _eights(lesser(COLUMNS, m - p * COLUMNS))


@kernel
def place(i):
    """Of number i of a vector, in its row of V."""
    return i // COLUMNS * PANEL + i % COLUMNS


@kernel
def entry(i, j, m):
    """Place of P[i, j], in the lower half or in a square on the diagonal."""
    return (j // COLUMNS * m + i) * APART + j % COLUMNS


@sums_kernel
def _diagonal(P, at, V, v, n):
    """A square on the diagonal, n rows: P - sum_i g_i g_i^H, and Pi + P x.

    Two rows at a time, here and below, so that each number read from V is used twice.
    """
    columns = _eights(n)
    for r in range(U(v), U(v + n), U(2)):
        o, t = U(at) + (r - U(v)) * ROW, r + U1
        a0, a1, a2, a3 = -V[r + G0], -V[r + G1], -V[r + G2], -V[r + G3]
        b0, b1, b2, b3 = -V[t + G0], -V[t + G1], -V[t + G2], -V[t + G3]
        c0, c1, c2, c3 = V[r + X0], V[r + X1], V[r + X2], V[r + X3]
        d0, d1, d2, d3 = V[t + X0], V[t + X1], V[t + X2], V[t + X3]
        for i in range(columns):
            j = U(v) + i
            h0, h1, h2, h3 = V[j + G0], V[j + G1], V[j + G2], V[j + G3]
            p = fma(a3, h3, fma(a2, h2, fma(a1, h1, fma(a0, h0, P[o + i]))))
            q = fma(b3, h3, fma(b2, h2, fma(b1, h1, fma(b0, h0, P[o + ROW + i]))))
            P[o + i], P[o + ROW + i] = p, q
            V[j + Z0] += p * c0 + q * d0
            V[j + Z1] += p * c1 + q * d1
            V[j + Z2] += p * c2 + q * d2
            V[j + Z3] += p * c3 + q * d3


@sums_kernel
def _beside(P, at, V, v, n, row, high):
    """n columns from v on, left of a square: the same, and Pi of their mirror image."""
    columns = _eights(n)
    for r in range(U(row), U(row + high), U(2)):
        o, t = U(at) + (r - U(row)) * ROW, r + U1
        a0, a1, a2, a3 = -V[r + G0], -V[r + G1], -V[r + G2], -V[r + G3]
        b0, b1, b2, b3 = -V[t + G0], -V[t + G1], -V[t + G2], -V[t + G3]
        c0, c1, c2, c3 = V[r + X0], V[r + X1], V[r + X2], V[r + X3]
        d0, d1, d2, d3 = V[t + X0], V[t + X1], V[t + X2], V[t + X3]
        s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
        for i in range(columns):
            j = U(v) + i
            h0, h1, h2, h3 = V[j + G0], V[j + G1], V[j + G2], V[j + G3]
            p = fma(a3, h3, fma(a2, h2, fma(a1, h1, fma(a0, h0, P[o + i]))))
            q = fma(b3, h3, fma(b2, h2, fma(b1, h1, fma(b0, h0, P[o + ROW + i]))))
            P[o + i], P[o + ROW + i] = p, q
            h0, h1, h2, h3 = V[j + X0], V[j + X1], V[j + X2], V[j + X3]
            s0, s1, s2, s3 = s0 + p * h0, s1 + p * h1, s2 + p * h2, s3 + p * h3
            t0, t1, t2, t3 = t0 + q * h0, t1 + q * h1, t2 + q * h2, t3 + q * h3
            V[j + Z0] += p * c0 + q * d0
            V[j + Z1] += p * c1 + q * d1
            V[j + Z2] += p * c2 + q * d2
            V[j + Z3] += p * c3 + q * d3
        V[r + Z0], V[r + Z1] = V[r + Z0] + s0, V[r + Z1] + s1
        V[r + Z2], V[r + Z3] = V[r + Z2] + s2, V[r + Z3] + s3
        V[t + Z0], V[t + Z1] = V[t + Z0] + t0, V[t + Z1] + t1
        V[t + Z2], V[t + Z3] = V[t + Z2] + t2, V[t + Z3] + t3


@sums_kernel
def _complex(P, V, m):
    """Both for complex numbers, a row at a time.

    Three short loops: one long loop of complex numbers fills no vector registers.
    """
    for i in range(m):
        r, at = U(place(i)), entry(i, i, m)
        a0, a1, a2, a3 = V[r + G0], V[r + G1], V[r + G2], V[r + G3]
        c0, c1, c2, c3 = V[r + X0], V[r + X1], V[r + X2], V[r + X3]
        b = (np.conj(a0) * a0 + np.conj(a1) * a1 + np.conj(a2) * a2 + np.conj(a3) * a3).real
        P[at] = p = P[at].real - b + 0.0 * a0
        s0, s1, s2, s3 = p * c0, p * c1, p * c2, p * c3
        for start in range(0, i, COLUMNS):
            o, v = U(entry(i, start, m)), U(place(start))
            n = U(lesser(i - start, COLUMNS))
            for k in range(n):
                j = v + k
                h0, h1, h2, h3 = V[j + G0], V[j + G1], V[j + G2], V[j + G3]
                h0, h1, h2, h3 = np.conj(h0), np.conj(h1), np.conj(h2), np.conj(h3)
                P[o + k] -= (a0 * h0 + a1 * h1) + (a2 * h2 + a3 * h3)
            for k in range(n):
                j, p = v + k, P[o + k]
                s0, s1 = s0 + p * V[j + X0], s1 + p * V[j + X1]
                s2, s3 = s2 + p * V[j + X2], s3 + p * V[j + X3]
            for k in range(n):
                j, p = v + k, np.conj(P[o + k])
                V[j + Z0], V[j + Z1] = V[j + Z0] + p * c0, V[j + Z1] + p * c1
                V[j + Z2], V[j + Z3] = V[j + Z2] + p * c2, V[j + Z3] + p * c3
        V[r + Z0], V[r + Z1] = V[r + Z0] + s0, V[r + Z1] + s1
        V[r + Z2], V[r + Z3] = V[r + Z2] + s2, V[r + Z3] + s3


@seldom
@kernel
def zeroed(V, m, first, until):
    """Rows of V = 0."""
    for p in range(panels(m)):
        for row in range(p * PANEL + first, p * PANEL + until, APART):
            for k in range(U(row), U(row) + width_of(p, m)):
                V[k] = 0.0


@inlined
def over_half(V, m, A, B, C):
    """The pass. A and B are P and V where they are real, C is P where it is complex, or else None.

    The compiler leaves out what is None: a fifth of the time to compile.
    """
    zeroed(V, m, PI, PANEL)
    if C is not None:
        _complex(C, V, m)
    if A is not None:
        for p in range(panels(m)):
            for k in range(p * COLUMNS, m, high_of(m)):
                high, left = lesser(high_of(m), m - k), lesser(k - p * COLUMNS, COLUMNS)
                if left > 0:
                    at = entry(k, p * COLUMNS, m)
                    _beside(A, at, B, p * PANEL, left, place(k), high)
                if left < COLUMNS:
                    _diagonal(A, entry(k, k, m), B, place(k), high)
