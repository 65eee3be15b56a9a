"""What the kernels of LMS share: places in head, the step sizes of a piece of signal, and guards.

head holds numbers (real parts, where it is complex), a copy of them from before the block, and a
table of the current piece. Code reads arrays by offsets rather than slices: slices cost reference
counting, more than a step of a short filter. Offsets are unsigned, because signed offsets could be
negative and compile to slow gather instructions.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom, sums_kernel
from adaline.kernels.filters.guards import (
    BLOWN,
    EVERY,
    MEMORY,
    PIECE,
    TINY,
    USEFUL,
    jumps,
    louder,
    mean_power,
)

# Places in head: settings, then numbers that change with the signal.
RULE, RATE_A, RATE_B, RELATIVE, LEAK, SIGN, ANY_RATE, ADAPT, CHANNELS, TAPS = range(10)
SET_NORM, SEEN, CLOCK, POWER, POWER_COUNT, TOP, LOUDEST, SQUARES, COUNT, SCALE = range(10, 20)
R, STEPS, ERRORS, S, HEAD = 20, 24, 28, 32, 36

# The check of a constant eta needs SQUARES and COUNT; a restart, which only a filter with an
# automatic step makes, keeps its two numbers in the same places.
LOUDEST_X, EXCESS = SQUARES, COUNT

# Rules; the first four are the codes of adaline.schedules.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, NORMALISED = range(5)
NO_SIGN, SIGN_ERROR, SIGN_DATA, SIGN_BOTH = range(4)

AUTO_RATE = 0.2  # a tenth of the bound 2/tr[R]

U = np.uintp
U1, U2, U3, U4 = U(1), U(2), U(3), U(4)
# The table: r_3 to r_0 of each sample, after those of the sample before; then r_0, the steps and
# the mean power, each sample by sample.
ROWS, R0 = U(2 * HEAD + 4), U(2 * HEAD + 4 + 4 * PIECE)
MU, LEVEL, ROOM = R0 + U(PIECE), R0 + U(2 * PIECE), int(R0) + 3 * PIECE


@seldom
@kernel
def moved(store, to, start, count):
    """Copy a stretch of store to an earlier or a separate one."""
    for i in range(count):
        store[to + i] = store[start + i]


@inlined
def sign(v):
    """v/|v|, and 0 where v is 0."""
    return v / abs(v) if v != 0 else v


@sums_kernel
def energy(d, start, m):
    """Sum of |d|^2 over a stretch, which is finite if d is (and not far beyond 1e150)."""
    s = 0.0
    for i in range(start, start + m):
        a, b = np.float64(d[i].real), np.float64(d[i].imag)
        s += a * a + b * b
    return s


@inlined
def averaged(head, r):
    """Update the mean power by r, an x^H x."""
    power, count = mean_power(head[POWER].real, head[POWER_COUNT].real, r, MEMORY)
    head[POWER], head[POWER_COUNT] = power, count


@inlined
def automatic(head):
    """Whether the filter may restart: its step is automatic, and the user set no weights."""
    rule = head[RULE].real
    own = rule == AUTO or (rule == NORMALISED and head[RELATIVE].real > 0.0)
    return own and head[SET_NORM].real == 0.0


@sums_kernel
def excess_of(d, out, start, m):
    """Energy of the errors of m samples above USEFUL times the energy of d."""
    s = 0.0
    for i in range(start, start + m):
        a, b = np.float64(d[i].real), np.float64(d[i].imag)
        p, q = np.float64(out[1, i].real), np.float64(out[1, i].imag)
        s += (p * p + q * q) - USEFUL * (a * a + b * b)
    return s


@seldom
@kernel
def add_excess(head, d, out, start, m):
    """Add the excess of m samples to EXCESS."""
    now = head[EXCESS].real + excess_of(d, out, start, m)
    if np.isfinite(now):
        head[EXCESS] = now


@seldom
@kernel
def mark_jumps(head, m):
    """Turn the sign of the step at each sample of a piece where x^H x jumps; whether one does."""
    loudest, found = head[LOUDEST_X].real, False
    for i in range(m):
        r = head[R0 + i].real
        if jumps(r, loudest):
            head[MU + i], found = -head[MU + i].real, True
        loudest = louder(r, loudest)
    head[LOUDEST_X] = loudest
    return found


@inlined
def levels(m, head):
    """The mean power at each sample of a piece."""
    i, clock = U(0), np.int64(head[CLOCK].real)
    while i < m:
        into = (clock + np.int64(i)) % EVERY
        first = head[POWER_COUNT].real == 0.0  # the first sample that is not silent counts too
        if (into == 0 or first) and head[R0 + i].real > 0.0:
            averaged(head, head[R0 + i].real)
            first = False
        until = i + (U1 if first else U(EVERY - into))
        until = until if until < m else m
        for k in range(i, until):
            head[LEVEL + k] = head[POWER]
        i = until


@inlined
def _below(r, eps, relative, head, i):
    """x^H x + eps; a relative eps grows where x is much quieter than it used to be."""
    if r <= TINY:  # silence: no step, rather than one that overflows
        return np.inf
    low = relative * head[LEVEL + i].real
    return r + eps + low * (1.0 + low / r)


@inlined
def _loud(r, head, i):
    """x^H x, or its mean where that is larger."""
    level = head[LEVEL + i].real
    most = level if level > r else r
    return most if most > TINY else np.inf


@inlined
def steps(head, m, frozen, start):
    """eta(n) for each sample of a piece, and 0 where no update is made.

    frozen None: every sample makes an update, by a rule that does not count samples. The compiler
    then leaves out the other rules.
    """
    rule, a, b = head[RULE].real, head[RATE_A].real, head[RATE_B].real
    seen, relative = head[SEEN].real, head[RELATIVE].real
    if frozen is None:
        head[SEEN] = seen + np.float64(m)
        for i in range(m):
            r = head[R0 + i].real
            if rule == CONSTANT:
                below = 1.0
            elif rule == NORMALISED:
                below = _below(r, b, relative, head, i)
            else:
                below = _loud(r, head, i)
            head[MU + i] = a / below
    else:
        for i in range(m):
            if frozen.shape[0] > 0 and frozen[start + i]:
                head[MU + i] = 0.0
                continue
            r = head[R0 + i].real
            if rule == CONSTANT:
                below = 1.0
            elif rule == OVER_K:
                below = seen + 1.0
            elif rule == SEARCH_THEN_CONVERGE:
                below = 1.0 + seen / b
            elif rule == NORMALISED:
                below = _below(r, b, relative, head, i)
            else:
                below = _loud(r, head, i)
            head[MU + i] = a / below
            seen += 1.0
        head[SEEN] = seen


@seldom
@kernel
def _worse(head, i, m, most, out, start):
    """How many samples of a piece, from i to m - 1, have |y|^2/|x|^2 above `most`."""
    worse = 0
    for k in range(i, m):
        a, b = np.float64(out[0, start + k].real), np.float64(out[0, start + k].imag)
        v = (a * a + b * b) * head[LEVEL + k].real
        worse += not v <= most * (head[R0 + k].real + 1e-300)
    return worse


@inlined
def first_diverged(head, m, d, out, start):
    """The first sample whose |y|/|x| is BLOWN times above the largest |d|/|x| so far, or m."""
    # The root of a piece's energy is between its largest sample and 12 times that.
    loud, loudest = np.sqrt(energy(d, start, m)), head[LOUDEST].real
    loud = 1e300 if loud > 1e300 else loud
    loudest = loud if loud > loudest else loudest
    head[LOUDEST] = loudest
    most = BLOWN * (loudest + head[SET_NORM].real * np.sqrt(head[POWER].real))
    most *= most
    i, worse = U(0), _worse(head, U(0), m, most, out, start)
    while worse > 0:  # the first such sample: there are fewer from the next one on
        i += U1
        left = _worse(head, i, m, most, out, start)
        if left < worse:
            return i - U1
    return m
