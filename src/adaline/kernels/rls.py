"""Recursive least squares, four samples a pass over P.

Legend: m weights (padded with zeros), x(n) the delay line or a given row, P the inverse of the
forgetting sum of x x^H, lambda the forgetting factor, pi = P x, q = x^H pi, c = 1/(lambda + q).

    w + c pi conj(e),   P <- (P - c pi pi^H)/lambda

Look-ahead: with P that at the first sample of a group of four, and L the product of 1/lambda so
far, P(n+j) = L (P - sum_i g_i g_i^H), g = sqrt(c/L) pi; so one pass over P adds four products of
the group before and answers P x for the four samples to come. A product g g^H is symmetric to the
last bit, and P with it: what makes the textbook's recursion explode never starts.

Everything is in double precision, whatever the signals are. store: P (m, m), w (m,), G (4, m), the
past (C, H), a copy of all these, and room for X (4, m), Pi (4, m) and zeros (4, m).
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

# Places in head; its second half is a copy from before the block.
FORGETTING, DELTA, ADAPT, SET_NORM, STARTED, GROWTH = range(6)
CLOCK, POWER, POWER_COUNT, LOUDEST, HOLD, HEAD = range(6, 12)

FINE, BAD_X, BAD_D, DIVERGED = range(4)

EXTRA = 4  # samples kept beyond the taps: an open group
EVERY = 32  # power and size of P are looked at every so many samples
MEMORY = 1024.0  # so many looks make the mean power
START = 0.01  # delta, in units of the power of the first sample that is not silent
LARGEST = 1e5  # of P, in units of 1/power: a direction not heard for long is forgotten no further
SURE = 1e-10  # one sample leaves P at least so much of itself
TINY = 1e-290  # squares below are silence
BLOWN = 1e8  # a gain so far above |d|/|x| is divergence

U = np.uintp  # signed counters might be negative, wrap around, and compile to gathers


@kernel
def padded(real):
    """Length of the vectors: the weights and zeros up to a multiple of 8, for whole registers."""
    return (real + 7) // 8 * 8


@kernel
def _bad(x):
    """Index of the first NaN or infinity, or the length."""
    for i in range(x.shape[0]):
        if not np.isfinite(x[i]):
            return i
    return x.shape[0]


@sums_kernel
def _dot(a, i, b, j, m):
    """a^H b of two stretches of length m."""
    s, i, j = a.dtype.type(0), U(i), U(j)
    for k in range(U(m)):
        s += np.conj(a[i + k]) * b[j + k]
    return s


@sums_kernel
def _add(a, i, v, b, j, m):
    """a + v b, in place."""
    i, j = U(i), U(j)
    for k in range(U(m)):
        a[i + k] += v * b[j + k]


@sums_kernel
def _fused(P, m, G, at, growth, X, room):
    """P <- growth (P - sum_i g_i g_i^H), and Pi = P x for the four x in X; one reading of P.

    Two rows at a time, so that what is read of G and X serves twice.
    """
    n1, n2, n3 = U(m), U(2 * m), U(3 * m)
    g, x, pi = U(at), U(room), U(room + 4 * m)
    for k in range(U(0), n1, U(2)):
        o, t = k * n1, k + U(1)
        a0, a1, a2, a3 = G[g + k], G[g + k + n1], G[g + k + n2], G[g + k + n3]
        b0, b1, b2, b3 = G[g + t], G[g + t + n1], G[g + t + n2], G[g + t + n3]
        s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = P.dtype.type(0)
        for j in range(n1):
            h = g + j
            h0, h1, h2, h3 = G[h], G[h + n1], G[h + n2], G[h + n3]
            h0, h1, h2, h3 = np.conj(h0), np.conj(h1), np.conj(h2), np.conj(h3)
            u = growth * (P[o + j] - ((a0 * h0 + a1 * h1) + (a2 * h2 + a3 * h3)))
            v = growth * (P[o + n1 + j] - ((b0 * h0 + b1 * h1) + (b2 * h2 + b3 * h3)))
            P[o + j], P[o + n1 + j] = u, v
            h = x + j
            h0, h1, h2, h3 = X[h], X[h + n1], X[h + n2], X[h + n3]
            s0, s1, s2, s3 = s0 + u * h0, s1 + u * h1, s2 + u * h2, s3 + u * h3
            t0, t1, t2, t3 = t0 + v * h0, t1 + v * h1, t2 + v * h2, t3 + v * h3
        q = pi + k
        X[q], X[q + n1], X[q + n2], X[q + n3] = s0, s1, s2, s3
        q = pi + t
        X[q], X[q + n1], X[q + n2], X[q + n3] = t0, t1, t2, t3


@kernel
def _lowered(store, m, at, count, growth):
    """P <- growth (P - sum_i g_i g_i^H), one half computed and the other its mirror."""
    for i in range(m):
        for j in range(i + 1):
            v = store[i * m + j]
            for q in range(at, at + count * m, m):
                v -= store[q + i] * np.conj(store[q + j])
            store[i * m + j] = growth * v
            store[j * m + i] = np.conj(growth * v)
        store[i * m + i] = store[i * m + i].real


@kernel
def _begin(store, m, real, room, j, head, r):
    """P = I/delta at the first sample that is not silent; Pi of the group's rest goes with it."""
    delta = head[DELTA].real
    if delta == 0.0:
        heard = 0
        for k in range(m):
            heard += store[room + j * m + k] != 0
        delta = START * r / heard
    for k in range(real):
        store[k * m + k] = 1.0 / delta
    for k in range((4 - j) * m):
        store[room + (4 + j) * m + k] = store[room + j * m + k] * (1.0 / delta)
    head[STARTED] = delta


@kernel
def _largest(store, m):
    """Which diagonal entry of P is the largest."""
    best = 0
    for k in range(m):
        if store[k * m + k].real > store[best * m + best].real:
            best = k
    return best


@kernel
def _bounded(store, m, room, head):
    """Halve the largest entry of P's diagonal where it is out of bounds; true if it was.

    The same as a sample that tells w_k is what it is: what is never heard stays as it was learned.
    """
    k, power = _largest(store, m), head[POWER].real
    bound = max(1.0 / head[STARTED].real, LARGEST * m / power)
    size = store[k * m + k].real
    head[HOLD] = 1.0 if size > 1e3 * bound else 0.0
    if size <= bound:
        return False
    g, scale = room + 4 * m, np.sqrt(0.5 / size)
    for j in range(m):
        store[g + j] = store[j * m + k] * scale
    _lowered(store, m, g, 1, 1.0)
    return True


@kernel
def _ready(store, m, g, room, head):
    """At a group's first sample, and where a block continues one: bring P and Pi up to date."""
    clock, zeros = np.int64(head[CLOCK].real), room + 8 * m
    if clock % 4 != 0:
        _fused(store, m, store, zeros, 1.0, store, room)
        return
    growth = head[GROWTH].real
    if store.itemsize > 8:  # complex: a fused product is not the conjugate of its mirror
        _lowered(store, m, g, 4, growth)
        _fused(store, m, store, zeros, 1.0, store, room)
    else:
        _fused(store, m, store, g, growth, store, room)
    store[g : g + 4 * m] = 0.0
    head[GROWTH] = 1.0
    look = clock % EVERY == 0 and head[POWER].real > 0.0 and head[FORGETTING].real < 1.0
    if look and _bounded(store, m, room, head):
        _fused(store, m, store, zeros, 1.0, store, room)


@kernel
def _blown(head, y, r, loud):
    """Whether |y|/|x| is out of all proportion to the |d|/|x| seen so far, or no number."""
    head[LOUDEST] = max(head[LOUDEST].real, loud)
    level = np.sqrt(head[POWER].real)
    most = head[LOUDEST].real + head[SET_NORM].real * level
    return not abs(y) * level <= BLOWN * most * np.sqrt(r + 1e-300)


@kernel
def _power(head, r):
    """The mean of x^H x, in which a spike counts at most four times the mean."""
    now = np.int64(head[CLOCK].real) % EVERY == 0 or head[POWER_COUNT].real == 0.0
    if now and r > TINY:
        power, count = head[POWER].real, min(head[POWER_COUNT].real + 1.0, MEMORY)
        head[POWER] = r if count == 1.0 else power + (min(r, 4.0 * power) - power) / count
        head[POWER_COUNT] = count


@kernel
def _learn(store, m, g, room, j, e, head):
    """One update: w, and the vector that P will lose."""
    w, x, pi = m * m, room + j * m, room + (4 + j) * m
    for i in range(j):
        _add(store, pi, -_dot(store, g + i * m, store, x, m), store, g + i * m, m)
    growth = head[GROWTH].real
    q = growth * _dot(store, x, store, pi, m).real
    if not q > 0.0:  # nothing to learn, and nothing to forget
        return
    forgetting = 1.0 if head[HOLD].real else head[FORGETTING].real
    c = 1.0 / (forgetting + q)
    _add(store, w, growth * c * np.conj(e), store, pi, m)
    # g = sqrt(c/L) (L pi): so much, and never all, of what P had along x.
    scale = np.sqrt(growth * min(c, (1.0 - SURE) / q))
    for k in range(m):
        store[g + j * m + k] = scale * store[pi + k]
    head[GROWTH] = growth / forgetting


@kernel
def _sample(store, m, real, g, room, j, d, frozen, head):
    """Sample j of its group; answers y, and whether it blew up."""
    x = room + j * m
    r = _dot(store, x, store, x, m).real
    _power(head, r)
    y = _dot(store, m * m, store, x, m)
    if _blown(head, y, r, abs(d)):
        return y, True
    if head[ADAPT].real != 0.0 and not frozen and r > TINY:  # silence has nothing to teach
        if head[STARTED].real == 0.0:
            _begin(store, m, real, room, j, head, r)
        _learn(store, m, g, room, j, d - y, head)
    head[CLOCK] += 1.0
    return y, False


@kernel
def _gather(store, to, x, n, channels, taps, past, kept):
    """x(n) of all channels to a place in store, newest first."""
    fresh = min(taps, n + 1)
    for c in range(channels):
        new, old = n * channels + c, past + (c + 1) * kept + n
        for k in range(fresh):
            store[to + k] = x[new - k * channels]
        for k in range(fresh, taps):
            store[to + k] = store[old - k]
        to += taps


@kernel
def _keep(store, x, n, channels, past, kept):
    """The last samples of each channel, for the next block."""
    for c in range(channels):
        for k in range(kept):
            i = n - kept + k
            old = past + c * kept
            store[old + k] = x[i * channels + c] if i >= 0 else store[old + k + n]


@kernel
def rls_block(x, d, frozen, store, head, out, taps, channels, rows):
    """A block through the filter kept in store and head: x[n C + c], or rows x[n m + k]."""
    n, real, kept = d.shape[0], channels * taps, taps + EXTRA
    m = padded(real)
    g, past = m * m + m, m * m + 5 * m
    size = past + channels * kept
    room = 2 * size
    if _bad(x) < x.shape[0]:
        return 8 * (_bad(x) // (x.shape[0] // n)) + BAD_X
    if _bad(d) < n:
        return 8 * _bad(d) + BAD_D
    store[size:room] = store[:size]
    head[HEAD:] = head[:HEAD]
    i = 0
    while i < n:
        phase = np.int64(head[CLOCK].real) % 4
        until = min(4, phase + n - i)
        store[room : room + 4 * m] = 0.0
        for j in range(phase, until):
            if rows:
                start = (i + j - phase) * real
                for k in range(real):
                    store[room + j * m + k] = x[start + k]
            else:
                _gather(store, room + j * m, x, i + j - phase, channels, taps, past, kept)
        _ready(store, m, g, room, head)
        for j in range(phase, until):
            still = frozen.shape[0] > 0 and frozen[i] != 0
            y, blown = _sample(store, m, real, g, room, j, d[i], still, head)
            if blown:
                store[:size] = store[size:room]
                head[:HEAD] = head[HEAD:]
                return 8 * i + DIVERGED
            out[0, i], out[1, i] = y, d[i] - y
            i += 1
    if not rows:
        _keep(store, x, n, channels, past, kept)
    return FINE


@kernel
def inverse_now(store, head, P):
    """P after the last sample, open updates included."""
    m = padded(P.shape[0])
    g, growth = m * m + m, head[GROWTH].real
    for i in range(P.shape[0]):
        for j in range(i + 1):
            v = store[i * m + j] * 1.0
            for q in range(g, g + 4 * m, m):
                v -= store[q + i] * np.conj(store[q + j])
            P[i, j] = growth * v
            P[j, i] = np.conj(P[i, j])
        P[i, i] = P[i, i].real
