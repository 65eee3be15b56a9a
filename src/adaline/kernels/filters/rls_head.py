"""What both forms of recursive least squares share: numbers in head, the guard, and the past."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel

# Places in head.
FORGETTING, DELTA, ADAPT, SET_NORM, STARTED, GROWTH = range(6)
CLOCK, POWER, POWER_COUNT, LOUDEST, HOLD, HEAD = range(6, 12)
# What HOLD says: P forgets; it is far out of bounds and forgets nothing; store holds its factor.
FORGETS, HOLDS, FACTORED = range(3)
# Answers: 8 * sample + what was found there. A sample too loud for P; P well conditioned again.
FINE, BAD_X, BAD_D, DIVERGED, TOO_LOUD, CALM_AGAIN = range(6)

EXTRA = 4  # samples kept beyond the taps: an open group
EVERY = 32  # power and size of P are looked at every so many samples
MEMORY = 1024.0  # so many looks make the mean power
START = 0.01  # delta, in units of the power of the first sample that is not silent
LARGEST = 1e5  # of P, in units of 1/power: a direction not heard for long is forgotten no further
OPEN = 1e3  # and so many times 1/delta, where that is more
LOUD = 1e6  # x^H P x in units of lambda: one sample may take so many of the digits of P
UNEVEN = 1e9  # the same for the diagonal of P alone: what cancels in x^H P x has taken digits
TINY = 1e-290  # squares below are silence
BLOWN = 1e8  # a gain so far above |d|/|x| is divergence
GROWN = 1e6  # an L so large is multiplied into P


@kernel
def mean_power(clock, power, count, r):
    """The mean of x^H x, in which a spike counts at most four times the mean; and its count."""
    if r > TINY and (clock % EVERY == 0 or count == 0.0):
        count = min(count + 1.0, MEMORY)
        power = r if count == 1.0 else power + (min(r, 4.0 * power) - power) / count
    return power, count


@kernel
def blown(head, r, y, loud, far):
    """Whether |y|/|x| is `far` above the |d|/|x| seen so far, or no number; the clock goes on."""
    clock = np.int64(head[CLOCK].real)
    power, count = mean_power(clock, head[POWER].real, head[POWER_COUNT].real, r)
    loudest, level = max(head[LOUDEST].real, loud), np.sqrt(power)
    head[CLOCK], head[POWER], head[POWER_COUNT], head[LOUDEST] = clock + 1, power, count, loudest
    most = loudest + head[SET_NORM].real * level
    return not abs(y) * level <= far * most * np.sqrt(r + 1e-300)


@kernel
def keep(store, past, kept, x, n, channels):
    """The last samples of each channel, for the next block."""
    for c in range(channels):
        for k in range(kept):
            i = n - kept + k
            old = past + c * kept
            store[old + k] = x[i * channels + c] if i >= 0 else store[old + k + n]


@kernel
def largest(head, m):
    """What no entry of P should exceed."""
    return max(OPEN / head[STARTED].real, LARGEST * m / max(head[POWER].real, TINY))
