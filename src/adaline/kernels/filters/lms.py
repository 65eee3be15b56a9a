"""LMS and NLMS on a delay line: a block of signal through a filter, all of it or nothing.

Legend: x input, d desired, y output, e = d - y. M taps, C channels. w holds the taps backwards,
channel after channel; line holds the signal in time order, `room` samples a channel. A block goes
through the line in segments, and a segment in pieces: sums, step sizes and guards are computed for
a whole piece at a time.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom, sums_kernel
from adaline.kernels.filters._look_ahead import fused, kept_updates, look_ahead
from adaline.kernels.filters._sliding_sums import sliding_sums
from adaline.kernels.filters.guards import (
    DIVERGED,
    FADES,
    FINE,
    PIECE,
    RATE_TOO_LARGE,
    counted,
    not_finite,
)
from adaline.kernels.filters.lms_steps import (
    ADAPT,
    ANY_RATE,
    CHANNELS,
    CLOCK,
    CONSTANT,
    COUNT,
    ERRORS,
    EXCESS,
    HEAD,
    LEAK,
    LOUDEST_X,
    MU,
    RATE_A,
    RULE,
    SCALE,
    SIGN,
    SIGN_BOTH,
    SQUARES,
    STEPS,
    TAPS,
    U1,
    U2,
    U4,
    R,
    U,
    add_excess,
    automatic,
    energy,
    first_diverged,
    levels,
    mark_jumps,
    moved,
    sign,
    steps,
)

SEGMENT = 2048  # samples copied to the line at a time: line and weights stay in fast cache
EXTRA = 8  # samples kept beyond the taps: an open group and the one before it
BEYOND = 8  # numbers after the last sample: an open group and a vector may reach there


@sums_kernel
def _output(w, line, at, taps, room, channels):
    """w^H x(n); x(n) starts at."""
    s, row = w.dtype.type(0), U(0)
    for _ in range(channels):
        for k in range(taps):
            s += np.conj(w[row + k]) * line[at + k]
        row, at = row + taps, at + room
    return s


@inlined
def _by_sign_of_data(w, line, first, m, taps, room, channels, head, d, out, start, one):
    """A piece sample by sample, where an update goes along the signs of x(n)."""
    kind, signed, leak = w.dtype.type, head[SIGN].real == SIGN_BOTH, head[LEAK].real
    for i in range(m):
        n, at, row = start + i, first + i + U1 - taps, U(0)
        y = one * _output(w, line, at, taps, room, channels)
        e, mu = d[n] - y, head[MU + i].real
        out[0, n], out[1, n] = y, e
        g, stays = kind(mu * np.conj(sign(e) if signed else e)), kind(1.0 - mu * leak)
        for _ in range(channels):
            for k in range(taps):
                w[row + k] = stays * w[row + k] + g * sign(line[at + k])
            row, at = row + taps, at + room


@seldom
@kernel
def _checked(x, d, taps, head):
    """Whether the block may be learned from: finite, and the rate below 2/tr[R]."""
    n = d.shape[0]
    power = energy(x, U(0), U(x.shape[0]))
    if not np.isfinite(power + energy(d, U(0), U(n))):  # a bad sample, or overflow
        found = not_finite(x, d)
        if found != FINE:
            return found
    if head[RULE].real != CONSTANT or head[ANY_RATE].real or head[ADAPT].real == 0.0:
        return FINE
    squares, count = head[SQUARES].real + power, head[COUNT].real + n
    trace = taps * squares / (count if count > taps else taps)
    if n >= taps and taps * power / n > trace:
        trace = taps * power / n
    if head[RATE_A].real * trace >= 2.0:
        head[HEAD] = trace
        return RATE_TOO_LARGE
    head[SQUARES], head[COUNT] = squares, count
    return FINE


@seldom
@kernel
def _overflows(head, kind):
    """Whether the pending updates of the last group overflow: no output has shown that yet."""
    size = 1.0 + np.sqrt(head[R].real)
    for q in range(4):
        g = head[STEPS + q].real * head[ERRORS + q]
        if not np.isfinite(kind(g * size)):
            return True
    return False


@inlined
def _piece(w, line, first, m, taps, room, channels, frozen, signs, head, d, out, start, one):
    """A piece of the signal; answers the sample that diverged, or m."""
    peak = sliding_sums(line, first, m, taps, room, channels, head, one)
    levels(m, head)
    steps(head, m, frozen, start)
    may_restart, clock = automatic(head), np.int64(head[CLOCK].real)
    marked = may_restart and peak > head[LOUDEST_X].real and mark_jumps(head, m)
    counts = may_restart and counted(clock)
    if counts and clock % PIECE == 0:
        head[EXCESS] *= FADES
    if signs is None:
        look_ahead(w, line, first, m, taps, room, channels, head, d, out, start, one, marked)
    else:
        _by_sign_of_data(w, line, first, m, taps, room, channels, head, d, out, start, one)
    if counts:
        add_excess(head, d, out, start, m)
    head[CLOCK] += np.float64(m)
    return first_diverged(head, m, d, out, start)


@kernel
def lms_block(x, d, frozen, signs, store, head, out):
    """A block of C channels, x[n C + c], through the filter kept in store and head.

    store: weights and the last samples of each channel, a copy of both, and room for the line.
    frozen: see `steps`. signs: True where an update goes along the signs of x(n), else None. What
    is None is not compiled.
    """
    taps, channels = U(np.int64(head[TAPS].real)), U(np.int64(head[CHANNELS].real))
    moved(head, U(HEAD), U(0), U(HEAD))
    found = _checked(x, d, np.int64(taps), head)
    if found != FINE:
        return found
    n, kept, one = U(d.shape[0]), taps + U(EXTRA), head.dtype.type(1)
    size, room = channels * (taps + kept), kept + U(SEGMENT + BEYOND)
    moved(store, size, U(0), size)
    past, begin = channels * taps, U2 * size
    line = store[begin:]
    for c in range(channels):
        moved(store, begin + c * room, past + c * kept, kept)
    start, i, end, went, m = U(0), U(0), U(0), U(0), U(0)
    while start < n and went == m:
        if i == end:  # the next segment
            i, end = U(0), n - start
            end = end if end < U(SEGMENT) else U(SEGMENT)
            for c in range(channels):
                at = c * room + kept
                for k in range(end):
                    line[at + k] = x[(start + k) * channels + c]
                for k in range(end, end + U4):
                    line[at + k] = 0.0
        m = U(PIECE) - U(np.int64(head[CLOCK].real) % PIECE)
        m = m if m < end - i else end - i
        piece = (kept + i, m, taps, room, channels)
        went = _piece(store, line, *piece, frozen, signs, head, d, out, start, one)
        i, start = i + m, start + went
        if i == end:
            for c in range(channels):
                moved(line, c * room, c * room + end, kept)
    if went < m or _overflows(head, store.dtype.type):
        moved(store, U(0), size, size)
        moved(head, U(0), U(HEAD), U(HEAD))
        return 8 * np.int64(start - (U1 if went == m else U(0))) + DIVERGED
    for c in range(channels):
        moved(store, past + c * kept, begin + c * room, kept)
    return FINE


@kernel
def weights_now(store, head, w):
    """The weights after the last sample, pending updates included: w (C M,), ordered as in store.

    `fused` adds the updates here, as it will in the next block, for the same bits.
    """
    taps, channels = U(np.int64(head[TAPS].real)), U(np.int64(head[CHANNELS].real))
    kept, kind, clock = taps + U(EXTRA), store.dtype.type, np.int64(head[CLOCK].real)
    group = (clock - 1) % 4 + 1 if clock > 0 else 0  # samples of the last group, open or whole
    for k in range(channels * taps):
        w[k] = store[k] if head[SCALE] == 1.0 else store[k] * kind(head[SCALE])
    g0, g1, g2, g3 = kept_updates(head)
    row, at = U(0), channels * taps + kept - U(group) + U1 - taps
    for _ in range(channels):
        fused(w, row, taps, store, at, kind(g0), kind(g1), kind(g2), kind(g3))
        row, at = row + taps, at + kept
