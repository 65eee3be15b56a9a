"""LMS in groups of four samples: a pass over the weights adds four updates and filters four more.

Legend: x input, d desired, y = w^H x(n) output, e = d - y, mu the step. M taps, C channels. w
holds the taps backwards, channel after channel, so that x(n) lies in memory the way w does; line
holds the signal in time order, `room` samples a channel.

The weights in memory are those at the first sample n of a group of four. Inside the group
w(n+j) = a w(n) + sum_i c_i conj(u_i) x(n+i), where u is e or its sign and c the step, so that

    y(n+j) = a w(n)^H x(n+j) + sum_{i<j} c_i r_{j-i}(n+j) u_i,   r_l(n) = x(n-l)^H x(n),

and the four dot products need no error of their own group. Groups are counted from the beginning
of the signal, not of the block: head keeps an unfinished group, so that blocks of any length give
the same bits.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom
from adaline._jit.lanes import conj, load, multiply_add, spread, store, sums, width
from adaline.kernels.filters.guards import counted
from adaline.kernels.filters.lms_steps import (
    CLOCK,
    ERRORS,
    EXCESS,
    LEAK,
    MU,
    NO_SIGN,
    ROWS,
    SCALE,
    SIGN,
    SIGN_ERROR,
    STEPS,
    U1,
    U2,
    U3,
    U4,
    S,
    U,
    excess_of,
    moved,
    sign,
)


@inlined
def fused(w, row, taps, line, at, g0, g1, g2, g3):
    """Add the four updates of the group before to w, and answer w^H x(n), ..., w^H x(n+3).

    One channel: its weights start at row, and its x(n-4) at.
    """
    n = width(w)
    whole = taps - taps % n
    k0, k1, k2, k3 = spread(w, g0), spread(w, g1), spread(w, g2), spread(w, g3)
    x0, x1, x2, x3 = load(line, at), load(line, at + U1), load(line, at + U2), load(line, at + U3)
    s0 = s1 = s2 = s3 = spread(w, 0.0)
    for k in range(U(0), whole, n):
        q = at + k
        if n > U4:  # a vector longer than a group leaves nothing to reuse, see below
            x0, x1 = load(line, q), load(line, q + U1)
            x2, x3 = load(line, q + U2), load(line, q + U3)
        u = multiply_add(k1, x1, multiply_add(k0, x0, load(w, row + k)))
        u = multiply_add(k3, x3, multiply_add(k2, x2, u))  # g3 is known last, and added last
        store(w, row + k, u)
        u, q = conj(u), q + U4
        # The dot products here and the update of the next weights need the same samples. Loads
        # limit the speed of this loop, so the samples stay in registers.
        x0, x1, x2, x3 = load(line, q), load(line, q + U1), load(line, q + U2), load(line, q + U3)
        s0, s1 = multiply_add(u, x0, s0), multiply_add(u, x1, s1)
        s2, s3 = multiply_add(u, x2, s2), multiply_add(u, x3, s3)
    y0, y1, y2, y3 = sums(s0, s1, s2, s3)
    for k in range(whole, taps):
        q = at + k
        v = multiply_add(g1, line[q + U1], multiply_add(g0, line[q], w[row + k]))
        v = multiply_add(g3, line[q + U3], multiply_add(g2, line[q + U2], v))
        w[row + k] = v
        v, q = np.conj(v), q + U4
        y0, y1 = multiply_add(v, line[q], y0), multiply_add(v, line[q + U1], y1)
        y2, y3 = multiply_add(v, line[q + U2], y2), multiply_add(v, line[q + U3], y3)
    return y0, y1, y2, y3


@seldom
@kernel
def _start_over(head, i, k, d, out, n):
    """At a sample whose step is marked: zero weights, if they have not reduced the error so far."""
    head[MU + i] = -head[MU + i].real
    now, counts = head[EXCESS].real, counted(np.int64(head[CLOCK].real))
    if counts:
        now += excess_of(d, out, n - i, i)
    if now > 0.0:
        head[SCALE] = 0.0
        for q in range(k):
            head[U(STEPS) + q] = 0.0
        head[EXCESS] = -excess_of(d, out, n - i, i) if counts else 0.0


@inlined
def _open_group(head, i, j, until, d, out, n):
    """Samples j, ..., until - 1 of an unfinished group, whose first errors are in head.

    A negative step marks a jump of x^H x.
    """
    signed, leak = head[SIGN].real == SIGN_ERROR, head[LEAK].real
    for k in range(j, until):
        if head[MU + i].real < 0.0:
            _start_over(head, i, k, d, out, n)
        y = head[SCALE] * head[U(S) + k]
        t = d[n] - y
        for q in range(k):
            r = head[ROWS + U4 * i + U3 - (k - q)]
            c, u = head[U(STEPS) + q].real * r, head[U(ERRORS) + q]
            y, t = multiply_add(c, u, y), multiply_add(-c, u, t)
        out[0, n], out[1, n] = y, d[n] - y
        stays = 1.0 - head[MU + i].real * leak
        head[SCALE] *= stays
        for q in range(k):
            head[U(STEPS) + q] *= stays
        head[U(STEPS) + k], head[U(ERRORS) + k] = head[MU + i].real, sign(t) if signed else t
        i += U1
        n += U1


@inlined
def _whole_group(s0, s1, s2, s3, head, i, d, out, n):
    """As _open_group for four samples of plain LMS, without loops; the same bits."""
    a, b, c = n + U1, n + U2, n + U3
    m0, m1, m2 = head[MU + i].real, head[MU + i + U1].real, head[MU + i + U2].real
    second = ROWS + U4 * i + U4  # where r_3 to r_0 of the second sample are
    third, fourth = second + U4, second + U4 + U4
    k01, k02, k12 = m0 * head[second + U2], m0 * head[third + U1], m1 * head[third + U2]
    k03, k13, k23 = m0 * head[fourth], m1 * head[fourth + U1], m2 * head[fourth + U2]
    t0 = d[n] - s0
    # Each error needs those before it, so only one instruction stands between two of them.
    t1 = multiply_add(-k01, t0, d[a] - s1)
    t2 = multiply_add(-k12, t1, multiply_add(-k02, t0, d[b] - s2))
    t3 = multiply_add(-k13, t1, multiply_add(-k03, t0, d[c] - s3))
    t3 = multiply_add(-k23, t2, t3)
    y1 = multiply_add(k01, t0, s1)
    y2 = multiply_add(k12, t1, multiply_add(k02, t0, s2))
    y3 = multiply_add(k23, t2, multiply_add(k13, t1, multiply_add(k03, t0, s3)))
    out[0, n], out[0, a], out[0, b], out[0, c] = s0, y1, y2, y3
    out[1, n], out[1, a], out[1, b], out[1, c] = d[n] - s0, d[a] - y1, d[b] - y2, d[c] - y3
    return t0, t1, t2, t3


@inlined
def _updates(head, at, t0, t1, t2, t3):
    """The coefficients of x(n), ..., x(n+3) in the update by a group."""
    g0, g1 = head[at].real * np.conj(t0), head[at + U1].real * np.conj(t1)
    g2, g3 = head[at + U2].real * np.conj(t2), head[at + U3].real * np.conj(t3)
    return g0, g1, g2, g3


@inlined
def kept_updates(head):
    """The coefficients for the errors in head."""
    e = U(ERRORS)
    return _updates(head, U(STEPS), head[e], head[e + U1], head[e + U2], head[e + U3])


@inlined
def look_ahead(w, line, first, m, taps, room, channels, head, d, out, start, one, marked):
    """A piece of the signal, samples first, ... of the line, in groups of four.

    marked: whether the sign of some step marks a jump of x^H x.
    """
    kind, wide, zero = w.dtype.type, head.dtype.type, one * 0
    plain = head[LEAK].real == 0.0 and head[SIGN].real == NO_SIGN and not marked
    phase, i, before = U(np.int64(head[CLOCK].real) % 4), U(0), first - U3 - taps
    g0, g1, g2, g3 = kept_updates(head)
    while i < m:
        if phase == 0 and head[SCALE] != 1.0:
            for k in range(channels * taps):
                w[k] *= kind(head[SCALE])
            head[SCALE] = one
        if phase > 0:  # unfinished: the weights already have the updates of the group before
            g0 = g1 = g2 = g3 = zero
        k0, k1, k2, k3, at = kind(g0), kind(g1), kind(g2), kind(g3), before + i - phase
        a0, a1, a2, a3 = fused(w, U(0), taps, line, at, k0, k1, k2, k3)
        s0, s1, s2, s3 = wide(a0), wide(a1), wide(a2), wide(a3)
        for c in range(U1, channels):
            a0, a1, a2, a3 = fused(w, c * taps, taps, line, at + c * room, k0, k1, k2, k3)
            s0, s1, s2, s3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
        if plain and phase == 0 and m - i >= U4:
            t0, t1, t2, t3 = _whole_group(s0, s1, s2, s3, head, i, d, out, start + i)
            g0, g1, g2, g3 = _updates(head, MU + i, t0, t1, t2, t3)
            i += U4
            if i == m:
                head[ERRORS], head[ERRORS + 1], head[ERRORS + 2], head[ERRORS + 3] = t0, t1, t2, t3
                moved(head, U(STEPS), MU + i - U4, U4)
        else:
            head[S], head[S + 1], head[S + 2], head[S + 3] = s0, s1, s2, s3
            if phase == 0:
                head[STEPS] = head[STEPS + 1] = head[STEPS + 2] = head[STEPS + 3] = zero
            until = phase + m - i
            until = until if until < U4 else U4
            _open_group(head, i, phase, until, d, out, start + i)
            i += until - phase
            phase = U(0)
            g0, g1, g2, g3 = kept_updates(head)
