"""Recursive least squares by Givens rotations, for samples that would cost P its digits.

A sample far louder than all before it leaves P with parts of very different sizes: P - c pi pi^H
may be 1e-12 of P along x, and is computed to 1e-16 of P. The factor R of the inverse of P, and z,
which gives the weights, lose no digits:

    P^-1 = R^H R,   R w = z,   R upper triangular

A sample is one more row, x^H w = conj(d), which Givens rotations add to R and z. This takes about
ten times as long as a sample of `rls`; so it runs from a loud sample on until R is well
conditioned and gives P again.

Legend: as in `rls`. In store, in place of P: row j of R from j m + j on; then w, and z in place of
the first vector g.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline.kernels.filters.guards import CALM_AGAIN, DIVERGED, EVERY, TINY, not_finite
from adaline.kernels.filters.rls_head import (
    ADAPT,
    CLOCK,
    DELTA,
    EXTRA,
    FORGETTING,
    GROWTH,
    START,
    STARTED,
    blown,
    keep,
    largest,
)

FAR = 1e64  # as BLOWN in guards, but higher: the least-squares solution itself may be so large
CALM = 1e9  # P is used again if the sum of P_kk (P^-1)_kk is below this


@sums_kernel
def _turned(store, at, a, n, c, s, stays):
    """Rotate the row of R that starts at `at` and the last n numbers of a by (c, s)."""
    start = a.shape[0] - n
    for i in range(n):
        r, v = store[at + i] * stays, a[start + i]
        store[at + i] = c * r + np.conj(s) * v
        a[start + i] = c * v - s * r


@sums_kernel
def _product(store, at, w, n):
    """A row of R, which starts at `at`, times n weights from w on."""
    s = store[at] * 0
    for i in range(n):
        s += store[at + i] * store[w + i]
    return s


@kernel
def _learned(store, a, b, m, forgetting, low):
    """R, z and w after one more row a w = b; a row of R below `low` is forgotten no further."""
    real, z = a.shape[0], m * m + m
    root = np.sqrt(forgetting)
    for j in range(real):
        n, at = real - j, j * m + j
        stays = root if store[at].real * root >= low else 1.0
        old, v = store[at].real * stays, a[j]
        size = np.hypot(old, abs(v))
        c, s = old / size, v / size
        _turned(store, at, a, n, c, s, stays)
        store[at] = size
        old_z = store[z + j] * stays
        store[z + j] = c * old_z + np.conj(s) * b
        b = c * b - s * old_z
    solved(store, m, real)


@kernel
def solved(store, m, real):
    """w of R w = z."""
    w, z = m * m, m * m + m
    for j in range(real - 1, -1, -1):
        at, n = j * m + j, real - 1 - j
        rest = store[z + j]
        if n > 0:
            rest = rest - _product(store, at + 1, w + j + 1, n)
        store[w + j] = rest / store[at].real


@kernel
def follow_weights(store, m, real):
    """z = R w, where w was set."""
    w, z = m * m, m * m + m
    for j in range(real):
        store[z + j] = _product(store, j * m + j, w + j, real - j)


@sums_kernel
def _taken(P, j, k, share):
    """Row k of the lower half of P, less a share of row j."""
    for i in range(k + 1):
        P[k, i] -= share * P[j, i]


@sums_kernel
def _dot(a, at, P, j, first, until):
    """The sum of a[at + k] conj(P[j, k]), k from first on."""
    s = P[0, 0] * 0
    for k in range(first, until):
        s += a[at + k] * np.conj(P[j, k])
    return s


@kernel
def factor(store, head, P, m):
    """P (real, real), which is overwritten, to R in store: P = U D U^H, R = D^-1/2 U^-1."""
    real = P.shape[0]
    least = np.empty(real)  # what rounding leaves of a zero on the diagonal
    for j in range(real):
        least[j] = max(1e-16 * P[j, j].real, TINY)
    for j in range(real - 1, -1, -1):
        D = max(P[j, j].real, least[j])
        for k in range(j):
            _taken(P, j, k, np.conj(P[j, k]) / D)
        for k in range(j):
            P[j, k] /= D  # conj(U[k, j]); D stays on the diagonal
        P[j, j] = D
    store[: m * m] = 0.0
    for i in range(real):  # row i of U^-1, from its diagonal on
        store[i * m + i] = 1.0
        for j in range(i + 1, real):
            store[i * m + j] = -_dot(store, i * m, P, j, i, j)
    for i in range(real):
        root = np.sqrt(P[i, i].real)
        for j in range(i, real):
            store[i * m + j] /= root
    store[m * m + m : m * m + 5 * m] = 0.0
    follow_weights(store, m, real)
    head[GROWTH] = 1.0


@kernel
def _inverse_factor(store, m, V):
    """R^-1: row i of V is its column i, conjugated."""
    for i in range(V.shape[0]):
        V[i, i] = 1.0 / store[i * m + i].real
        for j in range(i - 1, -1, -1):
            s = _dot(store, j * m, V, i, j + 1, i + 1)
            V[i, j] = -np.conj(s) / store[j * m + j].real


@kernel
def inverse(store, m, P):
    """P = R^-1 R^-H (real, real)."""
    real = P.shape[0]
    V = np.zeros_like(P)
    _inverse_factor(store, m, V)
    for i in range(real):
        for k in range(real):
            P[i, k] = 0.0
    for j in range(real):
        for i in range(j + 1):
            _added(P, i, V, j, np.conj(V[j, i]))
    for i in range(real):
        P[i, i] = P[i, i].real
        for k in range(i):
            P[k, i] = np.conj(P[i, k])


@sums_kernel
def _added(P, i, V, j, share):
    """Row i of the lower half of P, and a share of row j of V."""
    for k in range(i + 1):
        P[i, k] += share * V[j, k]


@kernel
def _begin(store, x, r, m, head):
    """R = sqrt(delta) I at the first sample that is not silent."""
    heard = 0
    for k in range(x.shape[0]):
        heard += x[k] != 0
    delta = head[DELTA].real if head[DELTA].real > 0.0 else START * r / heard
    for k in range(x.shape[0]):
        store[k * m + k] = np.sqrt(delta)
    follow_weights(store, m, x.shape[0])
    head[STARTED] = delta


@kernel
def _well_conditioned(store, m, real):
    """Whether the sum of P_kk (P^-1)_kk is below CALM.

    Each term says how much of input k the other inputs explain, in any units: 1/(1 - R_k^2). By the
    inequality of Cauchy and Schwarz the sum is at least sum |x_k|^2 P_kk / x^H P x for every x.
    """
    columns, least, most = np.zeros(real), 0.0, 0.0
    for j in range(real):
        for i in range(j + 1):
            u = store[i * m + j]
            columns[j] += u.real * u.real + u.imag * u.imag
        own = store[j * m + j].real
        least += columns[j] / (own * own)  # P_jj is at least 1/R_jj^2
    if not least < CALM:
        return False
    V = np.zeros((real, real), store.dtype)
    _inverse_factor(store, m, V)
    for j in range(real):
        for i in range(j + 1):
            v = V[j, i]
            most += columns[i] * (v.real * v.real + v.imag * v.imag)
    return most < CALM


@kernel
def _sample(x, n, store, past, taps, channels, rows, into):
    """x(n), as given or newest first; what is older than the block is in store."""
    for k in range(channels * taps):
        c, age = k // taps, k % taps
        if rows:
            into[k] = x[n * channels * taps + k]
        elif age <= n:
            into[k] = x[(n - age) * channels + c]
        else:
            into[k] = store[past + (c + 1) * (taps + EXTRA) + n - age]


@kernel
def factored_block(x, d, frozen, store, head, out, taps, channels, rows):
    """As `rls_block`, on the factor that is in store, until P may be used again.

    After a sample that is wrong the memory is of no use: the caller has a copy.
    """
    n, real = d.shape[0], channels * taps
    m = (real + 7) // 8 * 8
    past, w = m * m + 5 * m, m * m
    u = np.zeros(real, store.dtype)
    i, found = 0, not_finite(x, d)
    if found:
        return found
    while i < n and not found:
        _sample(x, i, store, past, taps, channels, rows, u)
        r, y = 0.0, u[0] * 0
        for q in range(real):
            r += (np.conj(u[q]) * u[q]).real
            y += np.conj(store[w + q]) * u[q]
        if blown(head, r, y, abs(d[i]), FAR):
            return 8 * i + DIVERGED
        out[0, i], out[1, i] = y, d[i] - y
        if head[ADAPT].real != 0.0 and (frozen.shape[0] == 0 or frozen[i] == 0) and r > TINY:
            if head[STARTED].real == 0.0:
                _begin(store, u, r, m, head)
            for q in range(real):
                u[q] = np.conj(u[q])
            b = u[0] * 0 + np.conj(d[i])
            _learned(store, u, b, m, head[FORGETTING].real, 1.0 / np.sqrt(largest(head, m)))
        i += 1
        if np.int64(head[CLOCK].real) % EVERY == 0 and _well_conditioned(store, m, real):
            found = 8 * i + CALM_AGAIN
    keep(store, past, 0 if rows else taps + EXTRA, x, i, channels)
    return found
