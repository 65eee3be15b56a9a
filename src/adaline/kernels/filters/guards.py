"""What the kernels of all filters share: their answers, the mean power, divergence and restarts.

Legend: x(n) delay line, r = x(n)^H x(n), y output, d desired signal, e = d - y. The clock counts
samples from the beginning of the signal, so that no decision depends on how the signal is cut.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom

# A kernel answers FINE, or 8 * sample + what it found at that sample. TOO_LOUD and CALM_AGAIN are
# for RLS: a sample is too loud for the recursion of P; P is well conditioned again.
FINE, BAD_X, BAD_D, DIVERGED, RATE_TOO_LARGE, TOO_LOUD, CALM_AGAIN = range(7)

PIECE = 128  # samples after which sliding sums are computed afresh
EVERY = 32  # samples from one update of the mean power to the next
MEMORY = 1024.0  # updates that the mean power averages over
SPIKE = 4.0  # r counts in the mean power as at most so many times the mean
TINY = 1e-290  # an r below is silence: dividing by it could overflow
BLOWN = 1e8  # a gain |y|/|x| so many times above |d|/|x| is divergence

# A filter restarts from zero weights where r is JUMP times above all r before it, if the energy of
# the errors so far is above USEFUL times that of d: such weights fit noise.
JUMP = 4.0
USEFUL = 0.9
SHARE = 4  # of the errors, only those of one piece in SHARE are counted, and of the first eight
FADES = 1.0 - 1.0 / 64.0  # the weight of earlier errors falls by this factor in a counted piece


@kernel
def first_bad(x):
    """Index of the first NaN or infinity, or the length."""
    for i in range(x.shape[0]):
        if not np.isfinite(x[i]):
            return i
    return x.shape[0]


@seldom
@kernel
def not_finite(x, d):
    """The first sample of x (n C,) that is NaN or infinite, or else that of d (n,), or FINE."""
    bad, n = first_bad(x), d.shape[0]
    if bad < x.shape[0]:
        return 8 * (bad // (x.shape[0] // n)) + BAD_X
    bad = first_bad(d)
    return 8 * bad + BAD_D if bad < n else FINE


@inlined
def mean_power(power, count, r, memory):
    """The mean power and its count with one more r; a spike is limited, so it is soon forgotten."""
    count = count + 1.0 if count + 1.0 < memory else memory
    most = SPIKE * power
    power = r if count == 1.0 else power + ((most if most < r else r) - power) / count
    return power, count


@inlined
def diverged(y, r, power, loudest, set_norm, limit):
    """Whether |y|/|x| is `limit` times above the largest |d|/|x| so far, or not a number.

    loudest is the largest |d| so far, and set_norm the norm of weights that the user set.
    """
    level = np.sqrt(power)
    most = loudest + set_norm * level
    return not abs(y) * level <= limit * most * np.sqrt(r + 1e-300)


@inlined
def jumps(r, loudest):
    """Whether r is far above the loudest before it, which was not silence."""
    return 0.0 < JUMP * loudest < r


@inlined
def louder(r, loudest):
    """The loudest r with one more; an overflow does not count."""
    return r if r > loudest and np.isfinite(r) else loudest


@inlined
def counted(clock):
    """Whether errors of this piece of the signal count for a restart."""
    piece = clock // PIECE
    return piece < 8 or piece % SHARE == 0


@inlined
def excess(before, fades, e, d):
    """The energy of the errors above USEFUL times that of d, with one more sample."""
    error, desired = e.real * e.real + e.imag * e.imag, d.real * d.real + d.imag * d.imag
    now = before * fades + error - USEFUL * desired
    return now if np.isfinite(now) else before
