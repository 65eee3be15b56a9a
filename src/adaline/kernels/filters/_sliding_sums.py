"""The sums r_l(n) = x(n-l)^H x(n), l = 0, ..., 3, each computed from the one before.

Legend: line holds the signal in time order, `room` numbers a channel; p is the place of x[n], M the
taps. A row of the table is r_3, r_2, r_1, r_0: the products of x[n] with the four samples that
end with it, in the order in which they lie in memory, so that one vector holds the row.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, sums_kernel
from adaline._jit.lanes import conj, four, last, load, minus, plus, spread, store, times
from adaline.kernels.filters.guards import PIECE
from adaline.kernels.filters.lms_steps import CLOCK, R0, ROWS, TOP, U1, U2, U3, U4, R, U


@sums_kernel
def _correlations(line, at, taps, room, channels, one):
    """r_0(n), ..., r_3(n), added up in double precision; x(n) starts at."""
    r0 = r1 = r2 = r3 = one * 0
    for _ in range(channels):
        for k in range(at, at + taps):
            a = one * line[k]
            r0 += np.conj(a) * a
            r1 += np.conj(one * line[k - U1]) * a
            r2 += np.conj(one * line[k - U2]) * a
            r3 += np.conj(one * line[k - U3]) * a
        at += room
    return r0, r1, r2, r3


@inlined
def _difference(line, p, taps, head):
    """A row less the row before, for one channel: products that enter less those that leave."""
    q = p - taps
    enter = times(conj(four(line, p - U3)), spread(head, line[p]))
    leave = times(conj(four(line, q - U3)), spread(head, line[q]))
    return minus(enter, leave)


@inlined
def _slide(line, first, i, m, taps, room, channels, head):
    """Rows from sample i of a piece on, until r_0 has fallen so far that rounding errors show."""
    r, top = load(head, ROWS + U4 * i - U4), head[TOP].real
    while i < m:
        r = plus(r, _difference(line, first + i, taps, head))
        for c in range(U1, channels):
            r = plus(r, _difference(line, first + i + c * room, taps, head))
        store(head, ROWS + U4 * i, r)
        r0 = last(r).real
        head[R0 + i] = r0
        if r0 * 256.0 < top:
            break
        top = r0 if r0 > top else top
        i += U1
    head[TOP] = top
    return i


@inlined
def sliding_sums(line, first, m, taps, room, channels, head, one):
    """Rows of a piece whose samples start at first; sums are computed afresh between pieces.

    Answers the largest r_0 since sums were last computed afresh.
    """
    for lag in range(U4):  # the row before the piece
        head[ROWS - U1 - lag] = head[U(R) + lag]
    again = np.int64(head[CLOCK].real) % PIECE == 0
    i = U(0) if again else _slide(line, first, U(0), m, taps, room, channels, head)
    peak = 0.0 if again else head[TOP].real
    while i < m:
        # Afresh: at the first sample of a piece, and after a much louder sample has left.
        r0, r1, r2, r3 = _correlations(line, first + i + U1 - taps, taps, room, channels, one)
        row = ROWS + U4 * i
        head[row], head[row + U1], head[row + U2], head[row + U3] = r3, r2, r1, r0
        head[R0 + i], head[TOP] = r0.real, r0.real
        i = _slide(line, first, i + U1, m, taps, room, channels, head)
        peak = head[TOP].real if head[TOP].real > peak else peak
    for lag in range(U4):
        head[U(R) + lag] = head[ROWS + U4 * m - U1 - lag]
    return peak
