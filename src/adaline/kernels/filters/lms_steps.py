"""What the kernels of LMS share: their memory, the steps of a piece of signal, and the guards.

head holds numbers (real parts, where it is complex), a copy of them from before the block, and a
table of the piece at work. Places are told by offsets: a view would be counted in and out, and a
short filter takes less time than that. Offsets are unsigned: a signed one might be negative, wraps
around, and compiles to gathers.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, sums_kernel

# Places in head: settings, then what travels with the signal.
RULE, RATE_A, RATE_B, RELATIVE, LEAK, SIGN, ANY_RATE, ADAPT, CHANNELS, TAPS = range(10)
SET_NORM, SEEN, CLOCK, POWER, POWER_COUNT, TOP, LOUDEST, SQUARES, COUNT, SCALE = range(10, 20)
R, STEPS, ERRORS, S, HEAD = 20, 24, 28, 32, 36

# Where the step is automatic, these two places tell whether to start over.
LOUDEST_X, USELESS = SQUARES, COUNT

# Rules; the first four are the codes of adaline.schedules.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, NORMALISED = range(5)
NO_SIGN, SIGN_ERROR, SIGN_DATA, SIGN_BOTH = range(4)
# Answers: 8 * sample + what was found there.
FINE, BAD_X, BAD_D, DIVERGED, RATE_TOO_LARGE = range(5)

PIECE = 128  # samples of a table: the sliding sums are added up anew this often
EVERY = 32  # the mean power takes in every so many samples,
MEMORY = 1024.0  # and looks back over so many of them
AUTO_RATE = 0.2  # a tenth of the bound 2/tr[R]
BLOWN = 1e8  # a gain so far above |d|/|x| is divergence
TINY = 1e-290
JUMP = 4.0  # an x^H x so far above all before it ends what was learned from them, if
USEFUL = 0.9  # the errors have kept more than this share of the energy of d
SHARE = 4  # one piece of so many is looked at for that, and the first eight
FADES = 1.0 - 1.0 / 64.0  # what such a look leaves of those before it

U = np.uintp
U1, U2, U3, U4 = U(1), U(2), U(3), U(4)
# The table: r_3 to r_0 of each sample, after those of the sample before; then r_0, the steps and
# the mean power, each sample by sample.
ROWS, R0 = U(2 * HEAD + 4), U(2 * HEAD + 4 + 4 * PIECE)
MU, LEVEL, ROOM = R0 + U(PIECE), R0 + U(2 * PIECE), int(R0) + 3 * PIECE


@inlined
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
    """Let r, an x^H x, into the mean power."""
    power, count = head[POWER].real, min(head[POWER_COUNT].real + 1.0, MEMORY)
    # One sample counts at most four times the mean, so that a spike is soon forgotten.
    head[POWER] = r if count == 1.0 else power + (min(r, 4.0 * power) - power) / count
    head[POWER_COUNT] = count


@inlined
def automatic(head):
    """Whether the filter may start over: the step follows x by itself, and nobody set weights."""
    rule = head[RULE].real
    own = rule == AUTO or (rule == NORMALISED and head[RELATIVE].real > 0.0)
    return own and head[SET_NORM].real == 0.0


@inlined
def looked_at(head):
    """Whether this piece tells of the use of the weights; it depends on the clock alone."""
    piece = np.int64(head[CLOCK].real) // PIECE
    return piece < 8 or piece % SHARE == 0


@sums_kernel
def left_over(d, out, start, m):
    """How much more of the energy of d the errors have than a useful filter leaves."""
    s = 0.0
    for i in range(start, start + m):
        a, b = np.float64(d[i].real), np.float64(d[i].imag)
        p, q = np.float64(out[1, i].real), np.float64(out[1, i].imag)
        s += (p * p + q * q) - USEFUL * (a * a + b * b)
    return s


@kernel
def judge(head, d, out, start, m):
    """Let the errors of a piece that was looked at tell of the use of the weights."""
    use = head[USELESS].real + left_over(d, out, start, m)
    if np.isfinite(use):
        head[USELESS] = use


@kernel
def jumps(head, m):
    """Whether x^H x jumps in this piece; where it does, the steps are marked by their sign."""
    loudest, found = head[LOUDEST_X].real, False
    for i in range(m):
        r = head[R0 + i].real
        if 0.0 < JUMP * loudest < r:
            head[MU + i], found = -head[MU + i].real, True
        if np.isfinite(r):
            loudest = max(loudest, r)
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
        until = min(m, i + (U1 if first else U(EVERY - into)))
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
def steps(head, m, frozen, start):
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


@inlined
def blown(head, m, d, out, start):
    """The first sample whose |y|/|x| is out of all proportion to the |d|/|x| seen, or m."""
    # The root of a piece's energy is between its largest sample and 12 times that.
    loud, worse = np.sqrt(energy(d, start, m)), 0
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
