"""Recursive least squares, four samples a pass over half of P.

Legend: m weights (padded with zeros), x(n) the delay line or a given row, P the inverse of the
forgetting sum of x x^H, lambda the forgetting factor, pi = P x, q = x^H pi, c = 1/(lambda + q).

    w + c pi conj(e),   P <- (P - c pi pi^H)/lambda

Look-ahead: with P that at the first sample of a group of four, and L the product of 1/lambda so
far, P(n+j) = L (P - sum_i g_i g_i^H), g = sqrt(c/L) pi; so one pass over P subtracts four products
of the group before and answers P x for the four samples to come. Only one half of P is computed:
it cannot lose its symmetry, which is what makes the textbook's recursion explode.

Everything is in double precision, whatever the signals are.

P (without L) and V, the vectors, are laid out as `rls_panels` says. The second halves of P, V and
head hold copies from before the block.

Functions that run once a sample pass no arrays on: passing an array costs reference counting, more
than a sample of a short filter.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom, sums_kernel
from adaline.kernels.filters.guards import (
    BLOWN,
    DIVERGED,
    EVERY,
    TINY,
    TOO_LOUD,
    not_finite,
)
from adaline.kernels.filters.rls_head import (
    ADAPT,
    CLOCK,
    DELTA,
    EXTRA,
    FORGETS,
    FORGETTING,
    GROWN,
    GROWTH,
    HEAD,
    HOLD,
    HOLDS,
    LOUD,
    POWER,
    ROUNDED,
    START,
    STARTED,
    UNEVEN,
    blown,
    keep,
    largest,
)
from adaline.kernels.filters.rls_panels import (
    APART,
    COLUMNS,
    G0,
    G1,
    G2,
    PANEL,
    PI,
    U1,
    G,
    U,
    W,
    X,
    entry,
    high_of,
    lesser,
    over_half,
    padded,
    panels,
    place,
    width_of,
    zeroed,
)


@inlined
def abs2(v):
    """|v|^2."""
    return v.real * v.real + v.imag * v.imag


@seldom
@kernel
def _scaled(P, V, m, growth):
    """Multiply L into P and G; the caller then sets L = 1."""
    for k in range(P.shape[0] // 2):
        P[k] *= growth
    for start in range(0, panels(m) * PANEL, PANEL):
        for k in range(start + G, start + X):
            V[k] *= np.sqrt(growth)


@seldom
@kernel
def _begin(P, V, m, real, j, head):
    """P = I/delta at the first sample that is not silent, and Pi for the rest of its group."""
    r, heard = 0.0, 0
    for k in range(real):
        a = V[place(k) + X + j * APART]
        r, heard = r + (np.conj(a) * a).real, heard + (a != 0)
    if r > TINY:
        delta = head[DELTA].real if head[DELTA].real > 0.0 else START * r / heard
        for k in range(real):
            P[entry(k, k, m)] = 1.0 / delta
            for q in range(place(k) + j * APART, place(k) + 4 * APART, APART):
                V[q + PI] = V[q + X] * (1.0 / delta)
        head[STARTED] = delta


@seldom
@kernel
def _bounded(P, V, m, head):
    """Whether the largest entry of P's diagonal is out of bounds; if so, G will halve it.

    It acts like a sample that confirms w_k: directions that x does not excite keep their weights.
    """
    k, power, growth = 0, head[POWER].real, head[GROWTH].real
    if power == 0.0 or head[FORGETTING].real == 1.0:
        return False
    for i in range(m):
        if P[entry(i, i, m)].real > P[entry(k, k, m)].real:
            k = i
    bound = largest(head, m) / growth
    size = P[entry(k, k, m)].real
    head[HOLD] = HOLDS if size > 1e3 * bound else FORGETS
    if size > bound:
        zeroed(V, m, G, X)
        for i in range(m):
            p = P[entry(i, k, m)] if i >= k else np.conj(P[entry(k, i, m)])
            V[place(i) + G] = p * np.sqrt(0.5 / size)
    return size > bound


@sums_kernel
def _heard(V, m, j):
    """Of sample j in its group: x^H x, w^H x, and g_i^H x of those before it."""
    r, y = 0.0, V.dtype.type(0)
    t0 = t1 = t2 = y
    for p in range(panels(m)):
        v = U(p * PANEL)
        x = U(X + j * APART)
        for k in range(v, v + width_of(p, m)):
            a = V[x + k]
            r += (np.conj(a) * a).real
            y += np.conj(V[k]) * a
            t0 += np.conj(V[k + G0]) * a
            t1 += np.conj(V[k + G1]) * a
            t2 += np.conj(V[k + G2]) * a
    return r, y, t0 * (j > 0), t1 * (j > 1), t2 * (j > 2)


@sums_kernel
def _caught_up(V, m, j, t0, t1, t2):
    """pi of sample j, in place, and x^H pi."""
    q, x, pi = 0.0, U(X + j * APART), U(PI + j * APART)
    for p in range(panels(m)):
        v = U(p * PANEL)
        for k in range(v, v + width_of(p, m)):
            a = V[pi + k] - (t0 * V[k + G0] + t1 * V[k + G1] + t2 * V[k + G2])
            V[pi + k] = a
            q += (np.conj(V[x + k]) * a).real
    return q


@sums_kernel
def _moved(V, m, j, step, scale):
    """w + step pi, and g = scale pi."""
    g, pi = U(G + j * APART), U(PI + j * APART)
    for p in range(panels(m)):
        v = U(p * PANEL)
        for k in range(v, v + width_of(p, m)):
            a = V[pi + k]
            V[k] += step * a
            V[g + k] = scale * a


@kernel
def _gains(head, q, e):
    """The factors of pi in w and in g, with x^H pi = q; zeros for a sample without an update, which
    forgets nothing either."""
    step, scale, growth = 0.0 * e, 0.0, head[GROWTH].real
    q *= growth
    if q > 0.0:
        forgetting = 1.0 if head[HOLD].real else head[FORGETTING].real
        c = 1.0 / (forgetting + q)
        step = growth * c * np.conj(e)
        scale = np.sqrt(growth * c)  # g = sqrt(c/L) (L pi), and never all of what P had along x
        head[GROWTH] = growth / forgetting
    return step, scale


@seldom
@kernel
def _uneven(P, V, m, j, head, q):
    """Whether so much cancels in x^H P x = q that P has lost its digits along x.

    Beside lambda + q, the gain would be wrong. Beside q alone, P may turn indefinite: an eigenvalue
    below zero grows with each sample instead of falling, and the weights explode.
    """
    apart, growth = 0.0, head[GROWTH].real
    for k in range(m):
        apart += abs2(V[place(k) + X + j * APART]) * P[entry(k, k, m)].real
    apart, q = apart * growth, q * growth
    return apart > UNEVEN * (head[FORGETTING].real + q) or apart > ROUNDED * q


@seldom
@kernel
def _gather(V, j, x, n, store, past, taps, channels, rows):
    """x(n) to its row, as given or newest first; what is older than the block is in store."""
    row, real = X + j * APART, channels * taps
    for k in range(real):
        c, age = k // taps, k % taps
        if rows:
            a = x[n * real + k]
        elif age <= n:
            a = x[(n - age) * channels + c]
        else:
            a = store[past + (c + 1) * (taps + EXTRA) + n - age]
        V[row + place(k)] = a


@kernel
def _shifted(V, m, j, x, n, taps, channels):
    """x(n) from x(n-1), which is in the row before."""
    row, last, real = U(X + j * APART), U(X + (j + 3) % 4 * APART), channels * taps
    for p in range(panels(m)):
        v = U(p * PANEL)
        for k in range(v, v + width_of(p, m)):
            V[row + k] = V[last + k - U1]
        if p > 0:
            V[row + v] = V[last + v - U(PANEL - COLUMNS + 1)]
    for c in range(channels):
        V[row + U(place(c * taps))] = x[n * channels + c]
    if real < m:
        V[row + U(place(real))] = 0.0


@seldom
@kernel
def _rows(V, m, first, until, back):
    """Rows of V to its second half, or back from there."""
    half = V.shape[0] // 2
    for p in range(panels(m)):
        for row in range(p * PANEL + first, p * PANEL + until, APART):
            a, b = U(row + half * back), U(row + half * (not back))
            for k in range(width_of(p, m)):
                V[b + k] = V[a + k]


@seldom
@kernel
def _copied(P, head, m, changes, back):
    """P if it changes, and head to their second halves, or back from there."""
    a, b = U(0), U(P.shape[0] // 2)
    a, b = (b, a) if back else (a, b)
    for i in range(m * changes):
        end = lesser(m, (i // high_of(m) + 1) * high_of(m))
        for start in range(0, i + 1, COLUMNS):
            at = U(entry(i, start, m))
            for k in range(at, at + U(lesser(COLUMNS, end - start))):
                P[b + k] = P[a + k]
    for k in range(HEAD):
        head[k + HEAD * (not back)] = head[k + HEAD * back]


@kernel
def rls_block(x, d, frozen, store, head, P, V, A, B, C, out, taps, channels, rows):
    """A block through the filter kept in P, V and head: x[n C + c], or rows x[n m + k].

    A, B and C: see `over_half`. The last samples are at the end of store. A sample that is too loud
    for P is answered like a bad one: the memory is as before.
    """
    n, real, m, i, until = d.shape[0], channels * taps, padded(channels * taps), 0, 4
    past, found, phase = m * m + 5 * m, not_finite(x, d), np.int64(head[CLOCK].real) % 4
    changes = phase == 0 or phase + n > 4 or head[STARTED].real == 0.0
    _copied(P, head, m, changes, False)
    _rows(V, m, W, X, False)
    while i < n and not found:
        clock = np.int64(head[CLOCK].real)
        phase = clock % 4
        until = lesser(4, phase + n - i)
        for j in range(phase, until):
            if rows or i + j == phase:
                _gather(V, j, x, i + j - phase, store, past, taps, channels, rows)
            else:
                _shifted(V, m, j, x, i + j - phase, taps, channels)
        if phase > 0:  # the group before is in P already
            zeroed(V, m, G, X)
        elif head[GROWTH].real > GROWN:
            _scaled(P, V, m, head[GROWTH].real)
            head[GROWTH] = 1.0
        for _ in range(2):
            over_half(V, m, A, B, C)
            if clock % EVERY > 0 or not _bounded(P, V, m, head):
                break
        if phase > 0:  # what this group has learned already
            _rows(V, m, G, X, True)
        for j in range(phase, until):
            learns = head[ADAPT].real != 0.0 and (frozen.shape[0] == 0 or frozen[i] == 0)
            if head[STARTED].real == 0.0 and learns:
                _begin(P, V, m, real, j, head)
            r, y, t0, t1, t2 = _heard(V, m, j)
            if blown(head, r, y, abs(d[i]), BLOWN):
                found = 8 * i + DIVERGED
                break
            learns = learns and r > TINY  # silence makes no update
            q = _caught_up(V, m, j, t0, t1, t2) if learns else 0.0
            # x^H P x with P of the first sample of the group: the subtraction cancels digits of it.
            whole = q + abs2(t0) + abs2(t1) + abs2(t2)
            loud = whole * head[GROWTH].real > LOUD * head[FORGETTING].real
            look = (clock + j - phase) % EVERY == 0
            # P is positive definite; where rounding makes q negative, P is no longer.
            if learns and (loud or q <= 0.0 or (look and _uneven(P, V, m, j, head, q))):
                found = 8 * i + TOO_LOUD
                break
            step, scale = _gains(head, q, d[i] - y)
            if scale > 0.0:
                _moved(V, m, j, step, scale)
            else:
                zeroed(V, m, G + j * APART, G + (j + 1) * APART)
            out[0, i], out[1, i] = y, d[i] - y
            i += 1
    zeroed(V, m, G + until * APART, X)
    if found:
        _copied(P, head, m, changes, True)
        _rows(V, m, W, X, True)
    keep(store, past, 0 if rows or found else taps + EXTRA, x, n, channels)
    return found
