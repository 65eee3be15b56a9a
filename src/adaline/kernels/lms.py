"""LMS and NLMS on a delay line, four samples a pass over the weights.

Legend: x input, d desired, y = w^H x(n) output, e = d - y, mu the step. M taps, C channels. w
holds the taps backwards, channel after channel, so that x(n) lies in memory the way w does; line
holds the signal in time order, `width` samples a channel.

Look-ahead: the weights in memory are those at the first sample n of a group of four. Inside the
group w(n+j) = a w(n) + sum_i c_i conj(u_i) x(n+i), where u is e or its sign and c the step, so that

    y(n+j) = a w(n)^H x(n+j) + sum_{i<j} c_i r_{j-i}(n+j) u_i,   r_l(n) = x(n-l)^H x(n),

and the four dot products wait for no error. The sums r_l slide with the signal. A group belongs to
the sample counter, not to the block: what a block leaves open stays in head, so any cutting of
the signal gives the same bits.

head holds numbers (real parts, where it is complex), a copy of them from before the block, and a
table of the piece at work. Places are told by offsets: a view would be counted in and out, and a
short filter takes less time than that. Offsets are unsigned: a signed one might be negative, wraps
around, and compiles to gathers.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

# Places in head: settings, then what travels with the signal.
RULE, RATE_A, RATE_B, RELATIVE, LEAK, SIGN, ANY_RATE, ADAPT, CHANNELS, TAPS = range(10)
SET_NORM, SEEN, CLOCK, POWER, POWER_COUNT, TOP, LOUDEST, SQUARES, COUNT, SCALE = range(10, 20)
R, STEPS, ERRORS, S, HEAD = 20, 24, 28, 32, 36

# Rules; the first four are the codes of adaline.schedules.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, NORMALISED = range(5)
NO_SIGN, SIGN_ERROR, SIGN_DATA, SIGN_BOTH = range(4)
# Answers: 8 * sample + what was found there.
FINE, BAD_X, BAD_D, DIVERGED, RATE_TOO_LARGE = range(5)

SEGMENT = 2048  # samples copied to the line at a time: line and weights stay in fast cache
EXTRA = 8  # samples kept beyond the taps: an open group and the one before it
PIECE = 128  # the sliding sums are added up anew this often
EVERY = 32  # the mean power takes in every so many samples,
MEMORY = 1024.0  # and looks back over so many of them
AUTO_RATE = 0.2  # a tenth of the bound 2/tr[R]
BLOWN = 1e8  # a gain so far above |d|/|x| is divergence
TINY = 1e-290

U = np.uintp
U1, U2, U3, U4 = U(1), U(2), U(3), U(4)
# The table of a piece: r_0 to r_3, the steps and the mean power, sample by sample.
R0, R1, R2, R3 = U(2 * HEAD), U(2 * HEAD + PIECE), U(2 * HEAD + 2 * PIECE), U(2 * HEAD + 3 * PIECE)
MU, LEVEL, ROOM = U(2 * HEAD + 4 * PIECE), U(2 * HEAD + 5 * PIECE), 2 * HEAD + 6 * PIECE


@sums_kernel
def _square(x):
    """Sum of |x|^2, which is finite if x is (and not far beyond 1e150)."""
    s = 0.0
    for i in range(x.shape[0]):
        a, b = np.float64(x[i].real), np.float64(x[i].imag)
        s += a * a + b * b
    return s


@kernel
def _bad(x):
    """Index of the first NaN or infinity, or the length."""
    for i in range(x.shape[0]):
        if not np.isfinite(x[i]):
            return i
    return x.shape[0]


@sums_kernel
def _correlation(line, at, lag, taps, width, channels, one):
    """x(n-lag)^H x(n), added up in double precision; x(n) starts at."""
    s = one * 0
    for _ in range(channels):
        for k in range(at, at + taps):
            s += np.conj(one * line[k - lag]) * line[k]
        at += width
    return s


@sums_kernel
def _fused(w, row, taps, line, at, g0, g1, g2, g3):
    """Add the four updates of the group before to w, and answer w^H x(n), ..., w^H x(n+3).

    One channel: its weights start at row, and its x(n-4) at.
    """
    s0 = s1 = s2 = s3 = w.dtype.type(0)
    for k in range(taps):
        q = at + k
        # g3 is known last, and added last.
        u = (w[row + k] + g0 * line[q]) + (g1 * line[q + U1] + g2 * line[q + U2])
        u = u + g3 * line[q + U3]
        w[row + k] = u
        u = np.conj(u)
        q += U4
        s0 += u * line[q]
        s1 += u * line[q + U1]
        s2 += u * line[q + U2]
        s3 += u * line[q + U3]
    return s0, s1, s2, s3


@kernel
def _differences(line, new, m, taps, head, one):
    """r_l(n) - r_l(n-1) of the first channel, whose samples start at new, into the table."""
    old = new - taps
    for i in range(m):
        p, q = new + i, old + i
        a, b = one * line[p], one * line[q]
        head[R0 + i] = np.conj(a) * a - np.conj(b) * b
        head[R1 + i] = np.conj(line[p - U1]) * a - np.conj(line[q - U1]) * b
        head[R2 + i] = np.conj(line[p - U2]) * a - np.conj(line[q - U2]) * b
        head[R3 + i] = np.conj(line[p - U3]) * a - np.conj(line[q - U3]) * b


@kernel
def _more_differences(line, new, m, taps, head, one):
    """Those of another channel, added to the table."""
    old = new - taps
    for i in range(m):
        p, q = new + i, old + i
        a, b = one * line[p], one * line[q]
        head[R0 + i] += np.conj(a) * a - np.conj(b) * b
        head[R1 + i] += np.conj(line[p - U1]) * a - np.conj(line[q - U1]) * b
        head[R2 + i] += np.conj(line[p - U2]) * a - np.conj(line[q - U2]) * b
        head[R3 + i] += np.conj(line[p - U3]) * a - np.conj(line[q - U3]) * b


@kernel
def _slide(i, m, head):
    """Sum up the differences from i on, until so much has gone that rounding shows."""
    r0, r1, r2, r3, top = head[R], head[R + 1], head[R + 2], head[R + 3], head[TOP].real
    while i < m:
        r0, r1, r2, r3 = r0 + head[R0 + i], r1 + head[R1 + i], r2 + head[R2 + i], r3 + head[R3 + i]
        head[R0 + i], head[R1 + i], head[R2 + i], head[R3 + i] = r0, r1, r2, r3
        if r0.real * 256.0 < top:
            break
        top = max(top, r0.real)
        i += U1
    head[R], head[R + 1], head[R + 2], head[R + 3], head[TOP] = r0, r1, r2, r3, top
    return i


@kernel
def _sums(line, first, m, taps, width, channels, head, one):
    """r_l(n) for a piece that starts, at most, where sums are added up anew."""
    _differences(line, first, m, taps, head, one)
    for c in range(U1, channels):
        _more_differences(line, first + c * width, m, taps, head, one)
    again = np.int64(head[CLOCK].real) % PIECE == 0
    i = U(0) if again else _slide(U(0), m, head)
    while i < m:
        # At the first sample of a piece, and where something far louder has just gone.
        start = first + i + U1 - taps
        for lag in range(U4):
            r = _correlation(line, start, lag, taps, width, channels, one)
            head[R0 + lag * U(PIECE) + i], head[U(R) + lag] = r, r
        head[TOP] = head[R]
        i = _slide(i + U1, m, head)


@kernel
def _averaged(head, r):
    """Let r, an x^H x, into the mean power."""
    power, count = head[POWER].real, min(head[POWER_COUNT].real + 1.0, MEMORY)
    # One sample counts at most four times the mean, so that a spike is soon forgotten.
    head[POWER] = r if count == 1.0 else power + (min(r, 4.0 * power) - power) / count
    head[POWER_COUNT] = count


@kernel
def _levels(m, head):
    """The mean power at each sample of a piece."""
    i, clock = U(0), np.int64(head[CLOCK].real)
    while i < m:
        into = (clock + np.int64(i)) % EVERY
        first = head[POWER_COUNT].real == 0.0  # the first sample that is not silent counts too
        if (into == 0 or first) and head[R0 + i].real > 0.0:
            _averaged(head, head[R0 + i].real)
            first = False
        until = min(m, i + (U1 if first else U(EVERY - into)))
        for k in range(i, until):
            head[LEVEL + k] = head[POWER]
        i = until


@kernel
def _below(r, eps, relative, head, i):
    """x^H x + eps; a relative eps grows where x is much quieter than it used to be."""
    if r <= TINY:  # silence: no step, rather than one that overflows
        return np.inf
    low = relative * head[LEVEL + i].real
    return r + eps + low * (1.0 + low / r)


@kernel
def _steps(head, m, frozen, start):
    """eta(n) for a piece, and 0 where nothing is learned."""
    rule, a, b = head[RULE].real, head[RATE_A].real, head[RATE_B].real
    seen, relative = head[SEEN].real, head[RELATIVE].real
    stop = head[ADAPT].real == 0.0
    if frozen.shape[0] == 0 and not stop and rule in (CONSTANT, NORMALISED):
        head[SEEN] = seen + np.float64(m)
        for i in range(m):
            below = 1.0 if rule == CONSTANT else _below(head[R0 + i].real, b, relative, head, i)
            head[MU + i] = a / below
        return
    for i in range(m):
        if stop or (frozen.shape[0] > 0 and frozen[start + i]):
            head[MU + i] = 0.0
            continue
        if rule == CONSTANT:
            step = a
        elif rule == OVER_K:
            step = a / (seen + 1.0)
        elif rule == SEARCH_THEN_CONVERGE:
            step = a / (1.0 + seen / b)
        else:
            below = max(head[R0 + i].real, head[LEVEL + i].real)
            below = below if below > TINY else np.inf
            if rule == NORMALISED:
                below = _below(head[R0 + i].real, b, relative, head, i)
            step = a / below
        head[MU + i] = step
        seen += 1.0
    head[SEEN] = seen


@kernel
def _sign(v):
    """v/|v|, and 0 where v is 0."""
    return v / abs(v) if v != 0 else v


@sums_kernel
def _energy(d, start, m):
    """Sum of |d|^2 over a piece."""
    s = 0.0
    for i in range(start, start + m):
        a, b = np.float64(d[i].real), np.float64(d[i].imag)
        s += a * a + b * b
    return s


@kernel
def _blown(head, m, d, out, start):
    """The first sample whose |y|/|x| is out of all proportion to the |d|/|x| seen, or m."""
    # The root of a piece's energy is between its largest sample and 12 times that.
    loud, worse = np.sqrt(_energy(d, start, m)), 0
    loudest = max(head[LOUDEST].real, min(loud, 1e300))
    head[LOUDEST] = loudest
    most = BLOWN * (loudest + head[SET_NORM].real * np.sqrt(head[POWER].real))
    most *= most
    for i in range(m):
        a, b = np.float64(out[0, start + i].real), np.float64(out[0, start + i].imag)
        v = (a * a + b * b) * head[LEVEL + i].real
        worse += not v <= most * (head[R0 + i].real + 1e-300)
    if worse == 0:
        return m
    for i in range(m):
        a, b = np.float64(out[0, start + i].real), np.float64(out[0, start + i].imag)
        v = (a * a + b * b) * head[LEVEL + i].real
        if not v <= most * (head[R0 + i].real + 1e-300):
            return i
    return m


@kernel
def _open_group(head, i, j, until, d, out, n):
    """Samples j, ..., until - 1 of a group, whose first errors are in head."""
    signed, leak = head[SIGN].real == SIGN_ERROR, head[LEAK].real
    for k in range(j, until):
        y = head[SCALE] * head[U(S) + k]
        t = d[n] - y
        for q in range(k):
            r = head[R0 + (k - q) * U(PIECE) + i]
            c, u = head[U(STEPS) + q].real, head[U(ERRORS) + q]
            y += (c * r) * u
            t -= (c * r) * u
        out[0, n], out[1, n] = y, d[n] - y
        stays = 1.0 - head[MU + i].real * leak
        head[SCALE] *= stays
        for q in range(k):
            head[U(STEPS) + q] *= stays
        head[U(STEPS) + k], head[U(ERRORS) + k] = head[MU + i].real, _sign(t) if signed else t
        i += U1
        n += U1


@kernel
def _whole_group(s0, s1, s2, s3, head, i, d, out, n):
    """The same for four samples of plain LMS, spelled out; the same bits."""
    a, b, c = n + U1, n + U2, n + U3
    m0, m1, m2 = head[MU + i].real, head[MU + i + U1].real, head[MU + i + U2].real
    k01, k12, k23 = m0 * head[R1 + i + U1], m1 * head[R1 + i + U2], m2 * head[R1 + i + U3]
    k02, k13, k03 = m0 * head[R2 + i + U2], m1 * head[R2 + i + U3], m0 * head[R3 + i + U3]
    t0 = d[n] - s0
    # The errors wait for each other: a product and a difference each, and nothing else.
    t1 = (d[a] - s1) - k01 * t0
    t2 = ((d[b] - s2) - k02 * t0) - k12 * t1
    t3 = (((d[c] - s3) - k03 * t0) - k13 * t1) - k23 * t2
    y1 = s1 + k01 * t0
    y2 = (s2 + k02 * t0) + k12 * t1
    y3 = ((s3 + k03 * t0) + k13 * t1) + k23 * t2
    out[0, n], out[0, a], out[0, b], out[0, c] = s0, y1, y2, y3
    out[1, n], out[1, a], out[1, b], out[1, c] = d[n] - s0, d[a] - y1, d[b] - y2, d[c] - y3
    return t0, t1, t2, t3


@kernel
def _look_ahead(w, line, first, m, taps, width, channels, head, d, out, start, one):
    """A piece of the signal, samples first, ... of the line, in groups of four."""
    kind, zero = w.dtype.type, one * 0
    plain = head[LEAK].real == 0.0 and head[SIGN].real == NO_SIGN
    phase, i, before = U(np.int64(head[CLOCK].real) % 4), U(0), first - U3 - taps
    g0, g1 = (
        head[STEPS].real * np.conj(head[ERRORS]),
        head[STEPS + 1].real * np.conj(head[ERRORS + 1]),
    )
    g2 = head[STEPS + 2].real * np.conj(head[ERRORS + 2])
    g3 = head[STEPS + 3].real * np.conj(head[ERRORS + 3])
    while i < m:
        if phase == 0 and head[SCALE] != 1.0:
            for k in range(channels * taps):
                w[k] *= kind(head[SCALE])
            head[SCALE] = one
        if phase > 0:  # an open group: its weights have the updates of the group before
            g0 = g1 = g2 = g3 = zero
        k0, k1, k2, k3 = kind(g0), kind(g1), kind(g2), kind(g3)
        s0 = s1 = s2 = s3 = zero
        row, at = U(0), before + i - phase
        for _ in range(channels):
            a0, a1, a2, a3 = _fused(w, row, taps, line, at, k0, k1, k2, k3)
            s0, s1, s2, s3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
            row, at = row + taps, at + width
        if plain and phase == 0 and m - i >= U4:
            t0, t1, t2, t3 = _whole_group(s0, s1, s2, s3, head, i, d, out, start + i)
            g0, g1 = head[MU + i].real * np.conj(t0), head[MU + i + U1].real * np.conj(t1)
            g2, g3 = head[MU + i + U2].real * np.conj(t2), head[MU + i + U3].real * np.conj(t3)
            i += U4
            if i == m:
                head[ERRORS], head[ERRORS + 1], head[ERRORS + 2], head[ERRORS + 3] = t0, t1, t2, t3
                for k in range(4):
                    head[STEPS + k] = head[MU + i - U4 + U(k)]
        else:
            head[S], head[S + 1], head[S + 2], head[S + 3] = s0, s1, s2, s3
            if phase == 0:
                head[STEPS : STEPS + 4] = 0.0
            until = min(U4, phase + m - i)
            _open_group(head, i, phase, until, d, out, start + i)
            i += until - phase
            phase = U(0)
            g0 = head[STEPS].real * np.conj(head[ERRORS])
            g1 = head[STEPS + 1].real * np.conj(head[ERRORS + 1])
            g2 = head[STEPS + 2].real * np.conj(head[ERRORS + 2])
            g3 = head[STEPS + 3].real * np.conj(head[ERRORS + 3])


@sums_kernel
def _output(w, line, at, taps, width, channels):
    """w^H x(n); x(n) starts at."""
    s, row = w.dtype.type(0), U(0)
    for _ in range(channels):
        for k in range(taps):
            s += np.conj(w[row + k]) * line[at + k]
        row, at = row + taps, at + width
    return s


@kernel
def _by_sign_of_data(w, line, first, m, taps, width, channels, head, d, out, start, one):
    """The same sample by sample, where an update goes along the signs of x(n)."""
    kind, signed, leak = w.dtype.type, head[SIGN].real == SIGN_BOTH, head[LEAK].real
    for i in range(m):
        n, at, row = start + i, first + i + U1 - taps, U(0)
        y = one * _output(w, line, at, taps, width, channels)
        e, mu = d[n] - y, head[MU + i].real
        out[0, n], out[1, n] = y, e
        g, stays = kind(mu * np.conj(_sign(e) if signed else e)), kind(1.0 - mu * leak)
        for _ in range(channels):
            for k in range(taps):
                w[row + k] = stays * w[row + k] + g * _sign(line[at + k])
            row, at = row + taps, at + width


@kernel
def _checked(x, d, taps, head):
    """Whether the block may be learned from: finite, and the rate below 2/tr[R]."""
    power, n = _square(x), d.shape[0]
    if not np.isfinite(power) and _bad(x) < x.shape[0]:
        return 8 * (_bad(x) // (x.shape[0] // n)) + BAD_X
    if not np.isfinite(_square(d)) and _bad(d) < n:
        return 8 * _bad(d) + BAD_D
    if head[RULE].real != CONSTANT or head[ANY_RATE].real or head[ADAPT].real == 0.0:
        return FINE
    squares, count = head[SQUARES].real + power, head[COUNT].real + n
    trace = taps * squares / max(count, taps)
    if n >= taps:
        trace = max(trace, taps * power / n)
    if head[RATE_A].real * trace >= 2.0:
        head[HEAD] = trace
        return RATE_TOO_LARGE
    head[SQUARES], head[COUNT] = squares, count
    return FINE


@kernel
def _moved(store, to, start, count):
    """Copy a stretch of store to an earlier or a separate one."""
    for i in range(count):
        store[to + i] = store[start + i]


@kernel
def _past(store, line, kept, width, channels, to_line):
    """The last samples of each channel to the start of the line, or back."""
    past = U(0)
    for c in range(channels):
        for i in range(kept):
            if to_line:
                line[U(c) * width + i] = store[past + i]
            else:
                store[past + i] = line[U(c) * width + i]
        past += kept


@kernel
def _overflows(head, kind):
    """Whether the updates of the last group, which no output has shown yet, are no numbers."""
    size = 1.0 + np.sqrt(head[R].real)
    for q in range(4):
        g = head[STEPS + q].real * head[ERRORS + q]
        if not np.isfinite(kind(g * size)):
            return True
    return False


@kernel
def lms_block(x, d, frozen, store, head, out):
    """A block of C channels, x[n C + c], through the filter kept in store and head.

    store: weights and the last samples of each channel, a copy of both, and room for the line.
    """
    n, taps, channels = (
        U(d.shape[0]),
        U(np.int64(head[TAPS].real)),
        U(np.int64(head[CHANNELS].real)),
    )
    found = _checked(x, d, np.int64(taps), head)
    if found != FINE:
        return found
    kept = taps + U(EXTRA)
    size, width, one = channels * (taps + kept), kept + U(SEGMENT + 4), head.dtype.type(1)
    _moved(store, size, U(0), size)
    _moved(head, U(HEAD), U(0), U(HEAD))
    past, line = store[channels * taps :], store[U2 * size :]
    _past(past, line, kept, width, channels, True)
    start, i, end = U(0), U(0), U(0)
    while start < n:
        if i == end:  # the next segment
            i, end = U(0), min(U(SEGMENT), n - start)
            for c in range(channels):
                at = c * width + kept
                for k in range(end):
                    line[at + k] = x[(start + k) * channels + c]
                for k in range(end, end + U4):
                    line[at + k] = 0.0
        m = min(U(PIECE) - U(np.int64(head[CLOCK].real) % PIECE), end - i)
        went = _piece(
            store, line, kept + i, m, taps, width, channels, frozen, head, d, out, start, one
        )
        if went < m:
            _moved(store, U(0), size, size)
            _moved(head, U(0), U(HEAD), U(HEAD))
            return 8 * np.int64(start + went) + DIVERGED
        i, start = i + m, start + m
        if i == end:
            for c in range(channels):
                _moved(line, c * width, c * width + end, kept)
    if _overflows(head, store.dtype.type):
        _moved(store, U(0), size, size)
        _moved(head, U(0), U(HEAD), U(HEAD))
        return 8 * np.int64(n - U1) + DIVERGED
    _past(past, line, kept, width, channels, False)
    return FINE


@kernel
def _piece(w, line, first, m, taps, width, channels, frozen, head, d, out, start, one):
    """A piece of the signal; answers the sample that blew up, or m."""
    _sums(line, first, m, taps, width, channels, head, one)
    _levels(m, head)
    _steps(head, m, frozen, start)
    if head[SIGN].real < SIGN_DATA:
        _look_ahead(w, line, first, m, taps, width, channels, head, d, out, start, one)
    else:
        _by_sign_of_data(w, line, first, m, taps, width, channels, head, d, out, start, one)
    head[CLOCK] += np.float64(m)
    return _blown(head, m, d, out, start)


@kernel
def weights_now(store, head, w):
    """The weights after the last sample, open updates included: w (C M,), ordered as in store.

    By the very pass that will add these updates to the weights, for the same bits.
    """
    taps, channels = U(np.int64(head[TAPS].real)), U(np.int64(head[CHANNELS].real))
    kept, kind, clock = taps + U(EXTRA), store.dtype.type, np.int64(head[CLOCK].real)
    group = (clock - 1) % 4 + 1 if clock > 0 else 0  # samples of the last group, open or whole
    for k in range(channels * taps):
        w[k] = store[k] if head[SCALE] == 1.0 else store[k] * kind(head[SCALE])
    g0 = kind(head[STEPS].real * np.conj(head[ERRORS]))
    g1 = kind(head[STEPS + 1].real * np.conj(head[ERRORS + 1]))
    g2 = kind(head[STEPS + 2].real * np.conj(head[ERRORS + 2]))
    g3 = kind(head[STEPS + 3].real * np.conj(head[ERRORS + 3]))
    row, at = U(0), channels * taps + kept - U(group) + U1 - taps
    for _ in range(channels):
        _fused(w, row, taps, store, at, g0, g1, g2, g3)
        row, at = row + taps, at + kept


@sums_kernel
def _dot(w, u):
    """w^H u."""
    s = w.dtype.type(0)
    for k in range(w.shape[0]):
        s += np.conj(w[k]) * u[k]
    return s


@kernel
def lms_rows(rows, d, frozen, w, head, out):
    """Given rows instead of a delay line; w (C M,) is written in place, head too."""
    _moved(head, U(HEAD), U(0), U(HEAD))
    kind, one, sign = w.dtype.type, head.dtype.type(1), head[SIGN].real
    for i in range(d.shape[0]):
        u = rows[i]
        r = _square(u)
        if (i % EVERY == 0 or head[POWER_COUNT].real == 0.0) and r > 0.0:
            _averaged(head, r)
        head[R0], head[LEVEL] = r, head[POWER]
        _steps(head, U1, frozen, U(i))
        y, mu = one * _dot(w, u), head[MU].real
        e = d[i] - y
        out[0, i], out[1, i] = y, e
        if _blown(head, U1, d, out, U(i)) < 1:
            _moved(head, U(0), U(HEAD), U(HEAD))
            return 8 * i + DIVERGED
        wanted = _sign(e) if sign in (SIGN_ERROR, SIGN_BOTH) else e
        g, stays = kind(mu * np.conj(wanted)), kind(1.0 - mu * head[LEAK].real)
        for k in range(w.shape[0]):
            w[k] = stays * w[k] + g * (_sign(u[k]) if sign >= SIGN_DATA else u[k])
    return FINE
