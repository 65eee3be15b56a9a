"""Affine projection on a delay line, at the price of LMS.

Legend: as in LMS; K order, X = [x(n), ..., x(n-K+1)], R = X^H X, r_l(n) = x(n-l)^H x(n).

    (R + eps I) g = conj(e),   w(n+1) = w(n) + eta X g,

where e holds the errors of w(n) at the last K samples. An update is a sum of K vectors, K-1 of
which are in the next update too. So the weights in memory, w, leave out the updates along vectors
that are still in X: w(n) = w + sum_i E_i x(n-1-i). A vector is added once, when it leaves X. The
sums r_l correct the outputs for the missing part, and the errors at past samples follow from R, so
that a sample costs one dot product and one addition of length M.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, seldom, sums_kernel
from adaline.kernels.filters.guards import (
    BLOWN,
    DIVERGED,
    EVERY,
    FADES,
    FINE,
    MEMORY,
    PIECE,
    TINY,
    counted,
    diverged,
    excess,
    jumps,
    louder,
    mean_power,
    not_finite,
)

# Places in head; then come r (K), E (K), e (K), g (K), R (K, K), a factor (K, K), and a copy.
ORDER, RATE, EPS, RELATIVE, ADAPT, SET_NORM, ROWS, ROUNDING = range(8)
CLOCK, POWER, POWER_COUNT, TOP, LOUDEST, LOUDEST_X, EXCESS, NUMBERS = range(8, 16)

SEGMENT = 2048  # samples copied to the line at a time
SUDDEN = 0.25  # a mean power below this share of x^H x is replaced by the share, in a relative eps

U = np.uintp


@kernel
def head_size(order):
    """Length of head without its copy."""
    return NUMBERS + 4 * order + 2 * order * order


@seldom
@sums_kernel
def _correlation(line, at, lag, taps, one):
    """x(n-lag)^H x(n), added up in double precision."""
    s, start = one * 0, U(at + 1 - taps)
    for c in range(line.shape[0]):
        for k in range(start, start + U(taps)):
            s += np.conj(one * line[c, k - U(lag)]) * line[c, k]
    return s


@seldom
@kernel
def _copy(target, source):
    """target <- source; an assignment of slices would take seconds to compile."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@seldom
@kernel
def _zero(v):
    """v <- 0, likewise."""
    for i in range(v.shape[0]):
        v[i] = 0.0


@sums_kernel
def _fused(w, row, taps, line, at, leaving, g):
    """w + g x(n-K) for one channel, in place, and w^H x(n) of the new weights."""
    s = w.dtype.type(0)
    for k in range(taps):
        u = w[row + k] + g * line[leaving + k]
        w[row + k] = u
        s += np.conj(u) * line[at + k]
    return s


@kernel
def _power(head, now):
    """Update the mean power by x^H x: every 32 samples, and at the first that is not silent."""
    power, count = head[POWER].real, head[POWER_COUNT].real
    if (np.int64(head[CLOCK].real) % EVERY == 0 or count == 0.0) and now > 0.0:
        power, count = mean_power(power, count, now, MEMORY)
        head[POWER], head[POWER_COUNT] = power, count


@kernel
def _sums(line, at, taps, head, r, one):
    """r_l(n) from r_l(n-1), or computed afresh; and the mean power."""
    clock, order = np.int64(head[CLOCK].real), r.shape[0]
    for c in range(line.shape[0]):
        a, b = one * line[c, at], one * line[c, at - taps]
        for lag in range(order):
            r[lag] += np.conj(line[c, at - lag]) * a - np.conj(line[c, at - taps - lag]) * b
    # A much louder x in the past has left its rounding errors in the sums.
    if clock % PIECE == 0 or r[0].real * 256.0 < head[TOP].real:
        for lag in range(order):
            r[lag] = _correlation(line, at, lag, taps, one)
        head[TOP] = r[0]
    if r[0].real > head[TOP].real:
        head[TOP] = r[0].real
    _power(head, r[0].real)


@kernel
def _solve(R, eps, e, rounding, L, g):
    """(R + eps I) g = conj(e) by L D L^H; a vector that depends on earlier ones gets g = 0.

    A pivot below `rounding` times its diagonal counts as zero: it is rounding error.
    """
    order = R.shape[0]
    for i in range(order):
        g[i] = np.conj(e[i])
        for j in range(i):
            v = R[i, j]
            for k in range(j):
                v -= L[i, k] * np.conj(L[j, k]) * L[k, k]
            L[i, j] = v / L[j, j] if L[j, j] != 0 else v * 0
            g[i] -= L[i, j] * g[j]
        pivot = R[i, i].real + eps
        whole = pivot
        for k in range(i):
            pivot -= (L[i, k] * np.conj(L[i, k]) * L[k, k]).real
        L[i, i] = pivot if pivot > rounding * whole + TINY else 0.0
    for i in range(order):
        g[i] = g[i] / L[i, i] if L[i, i] != 0 else g[i] * 0
    for i in range(order - 1, -1, -1):
        for k in range(i + 1, order):
            g[i] -= np.conj(L[k, i]) * g[k]
        if L[i, i] == 0:
            g[i] = g[i] * 0


@kernel
def _shift(R, r, E, e):
    """Make room for x(n) in R, E and e."""
    order = r.shape[0]
    for i in range(order - 1, 0, -1):
        for j in range(order - 1, 0, -1):
            R[i, j] = R[i - 1, j - 1]
        E[i], e[i] = E[i - 1], e[i - 1]
    for i in range(order):
        R[i, 0], R[0, i] = r[i], np.conj(r[i])
    E[0] = E[0] * 0


@kernel
def _updated(head, r, E, e, g, R, L):
    """Solve for the update, and compute E and the errors of the new weights."""
    order, eta = r.shape[0], head[RATE].real
    low = head[RELATIVE].real * head[POWER].real
    if order > 1 and low > 0.0:
        # A jump of x makes the vectors nearly parallel; without a larger eps, noise is amplified.
        least = head[RELATIVE].real * SUDDEN * r[0].real
        low = least if least > low else low
    # A relative eps grows where x is much quieter than it used to be.
    now = r[0].real if r[0].real > TINY else TINY
    _solve(R, head[EPS].real + low * (1.0 + low / now), e, head[ROUNDING].real, L, g)
    for i in range(order):
        g[i] *= eta
        E[i] += g[i]
    for i in range(order):
        for j in range(order):
            e[i] -= np.conj(R[i, j] * g[j])


@kernel
def _starts_over(head, r):
    """Whether x^H x = r is far above all before it, and the weights have not reduced the error."""
    loudest = head[LOUDEST_X].real
    head[LOUDEST_X] = louder(r, loudest)
    jumped = head[RELATIVE].real > 0.0 and jumps(r, loudest)
    # Weights that the user set are kept.
    if not (jumped and head[EXCESS].real > 0.0) or head[SET_NORM].real > 0.0:
        return False
    head[EXCESS] = 0.0
    return True


@kernel
def _judged(head, rows, e, d):
    """Add the error of a sample to EXCESS, if its piece counts; rows all count, unfaded."""
    clock = 0 if rows else np.int64(head[CLOCK].real)
    if counted(clock):
        fades = FADES if clock % PIECE == 0 and not rows else 1.0
        head[EXCESS] = excess(head[EXCESS].real, fades, e, d)


@kernel
def _blown(head, y, r, loud):
    """Whether the output has diverged; loud is |d|."""
    if loud > head[LOUDEST].real:
        head[LOUDEST] = loud
    power, loudest, set_norm = head[POWER].real, head[LOUDEST].real, head[SET_NORM].real
    return diverged(y, r, power, loudest, set_norm, BLOWN)


@kernel
def _run(w, line, first, d, frozen, head, y, e_out, one):
    """Samples from line[:, first] on; answers the one that diverged, or their number."""
    order, m = np.int64(head[ORDER].real), d.shape[0]
    taps, width, kind = w.shape[1], U(line.shape[1]), w.dtype.type
    lists = head[NUMBERS : NUMBERS + 4 * order].reshape((4, order))
    r, E, e, g = lists[0], lists[1], lists[2], lists[3]
    tables = head[NUMBERS + 4 * order : head_size(order)].reshape((2, order, order))
    R, L = tables[0], tables[1]
    flat, signal = w.reshape(-1), line.reshape(-1)
    for i in range(m):
        at = first + i
        _sums(line, at, taps, head, r, one)
        row, x, out = U(0), U(at + 1 - taps), kind(E[order - 1])
        s = one * 0
        for _ in range(w.shape[0]):
            s += _fused(flat, row, U(taps), signal, x, x - U(order), out)
            row, x = row + U(taps), x + width
        _shift(R, r, E, e)
        for k in range(1, order):
            s += np.conj(E[k]) * r[k]
        learns = head[ADAPT].real != 0.0 and not (frozen.shape[0] > 0 and frozen[i])
        if _starts_over(head, r[0].real) and learns:
            _zero(flat)
            _zero(E)
            _zero(e)
            s = one * 0
        _judged(head, False, d[i] - s, d[i])
        y[i], e_out[i] = s, d[i] - s
        e[0] = d[i] - s
        if _blown(head, s, r[0].real, abs(d[i])):
            return i
        if not learns:
            e[0] = 0.0  # later updates do not learn from this sample either
        else:
            _updated(head, r, E, e, g, R, L)
        head[CLOCK] += 1.0
    return m


@kernel
def affine_block(x, d, frozen, store, head, out, taps):
    """A block of C channels, x[n C + c], through the filter kept in store and head.

    store: weights and the last samples of each channel, a copy of both, and room for the line.
    """
    n, order = d.shape[0], np.int64(head[ORDER].real)
    channels, kept = x.shape[0] // n, taps + order
    size, numbers = channels * (taps + kept), head_size(order)
    found = not_finite(x, d)
    if found != FINE:
        return found
    _copy(store[size : 2 * size], store)
    _copy(head[numbers : 2 * numbers], head)
    w = store[: channels * taps].reshape((channels, taps))
    past = store[channels * taps : size].reshape((channels, kept))
    line = store[2 * size :].reshape((channels, kept + SEGMENT))
    for c in range(channels):
        _copy(line[c, :kept], past[c])
    for start in range(0, n, SEGMENT):
        m = SEGMENT if n - start > SEGMENT else n - start
        for c in range(channels):
            for i in range(m):
                line[c, kept + i] = x[(start + i) * channels + c]
        on, hold = d[start : start + m], frozen[start : start + m]
        y, e = out[0, start : start + m], out[1, start : start + m]
        went = _run(w, line, kept, on, hold, head, y, e, head.dtype.type(1))
        if went < m:
            _copy(store[:size], store[size:])
            _copy(head[:numbers], head[numbers:])
            return 8 * (start + went) + DIVERGED
        for c in range(channels):
            for i in range(kept):
                line[c, i] = line[c, m + i]
    for c in range(channels):
        _copy(past[c], line[c])
    return FINE


@sums_kernel
def weights_now(store, head, w):
    """The weights after the last sample, pending updates included: w (C, M), ordered as in store.

    The oldest vector is added first, as `_run` will add it, for the same bits.
    """
    channels, taps = w.shape
    order = np.int64(head[ORDER].real)
    kept = taps + order
    for c in range(channels):
        past, v = store[channels * taps + c * kept :], w[c]
        _copy(v, store[c * taps :])
        for q in range(order):
            g, x = store.dtype.type(head[NUMBERS + 2 * order - 1 - q]), past[q + 1 :]
            for k in range(taps):
                v[k] = v[k] + g * x[k]


@sums_kernel
def _dot(a, b, one):
    """a^H b, added up in double precision."""
    s = one * 0
    for k in range(a.shape[0]):
        s += np.conj(one * a[k]) * b[k]
    return s


@sums_kernel
def _add(w, g, x):
    """w + g x, in place."""
    for k in range(w.shape[0]):
        w[k] = w[k] + g * x[k]


@kernel
def affine_rows(rows, d, frozen, own, head, out):
    """Given rows instead of a delay line; own holds w and the last K rows, newest first."""
    order, one = np.int64(head[ORDER].real), head.dtype.type(1)
    before, numbers = own.copy(), head_size(order)
    _copy(head[numbers : 2 * numbers], head)
    lists = head[NUMBERS : NUMBERS + 4 * order].reshape((4, order))
    r, E, e, g = lists[0], lists[1], lists[2], lists[3]
    tables = head[NUMBERS + 4 * order : numbers].reshape((2, order, order))
    for i in range(d.shape[0]):
        for q in range(order, 1, -1):
            _copy(own[q], own[q - 1])
        _copy(own[1], rows[i])
        for q in range(order):
            r[q] = _dot(own[q + 1], own[1], one)
        _power(head, r[0].real)
        _shift(tables[0], r, E, e)
        learns = head[ADAPT].real != 0.0 and not (frozen.shape[0] > 0 and frozen[i])
        if _starts_over(head, r[0].real) and learns:
            _zero(own[0])
            _zero(e)
        y = _dot(own[0], own[1], one)
        _judged(head, True, d[i] - y, d[i])
        out[0, i], out[1, i] = y, d[i] - y
        e[0] = d[i] - y
        if _blown(head, y, r[0].real, abs(d[i])):
            for q in range(order + 1):
                _copy(own[q], before[q])
            _copy(head[:numbers], head[numbers:])
            return 8 * i + DIVERGED
        if not learns:
            e[0] = 0.0
        else:
            _updated(head, r, E, e, g, tables[0], tables[1])
            for q in range(order):
                _add(own[0], own.dtype.type(g[q]), own[q + 1])
        _zero(E)
        head[CLOCK] += 1.0
    return FINE
