"""What both forms of recursive least squares share: places in head, the guard, last samples."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, seldom
from adaline.kernels.filters.guards import EVERY, MEMORY, TINY, diverged, mean_power

# Places in head.
FORGETTING, DELTA, ADAPT, SET_NORM, STARTED, GROWTH = range(6)
CLOCK, POWER, POWER_COUNT, LOUDEST, HOLD, HEAD = range(6, 12)
# Values of HOLD: P forgets; P is far out of bounds and forgets nothing; store holds its factor.
FORGETS, HOLDS, FACTORED = range(3)

EXTRA = 4  # samples kept beyond the taps: an unfinished group
START = 0.01  # delta="auto", in units of the power of the first sample that is not silent
LARGEST = 1e5  # bound on P in units of 1/power: forgetting stops there for an unexcited direction
OPEN = 1e3  # bound on P in units of 1/delta, if that bound is larger
LOUD = 1e6  # limit of x^H P x in units of lambda: beyond it one update of P loses too many digits
UNEVEN = 1e9  # the same limit for the sum |x_k|^2 P_kk, whose terms cancel in x^H P x
ROUNDED = 1e11  # the same sum in units of x^H P x: P's condition, beyond which rounding decides q
GROWN = 1e6  # an L above this is multiplied into P


@kernel
def blown(head, r, y, loud, limit):
    """Whether the output has diverged; loud is |d|. Updates clock, mean power and loudest |d|."""
    clock, power, count = np.int64(head[CLOCK].real), head[POWER].real, head[POWER_COUNT].real
    if r > TINY and (clock % EVERY == 0 or count == 0.0):
        power, count = mean_power(power, count, r, MEMORY)
    loudest = head[LOUDEST].real
    loudest = loud if loud > loudest else loudest
    head[CLOCK], head[POWER], head[POWER_COUNT], head[LOUDEST] = clock + 1, power, count, loudest
    return diverged(y, r, power, loudest, head[SET_NORM].real, limit)


@seldom
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
    """The bound on the entries of P."""
    power = head[POWER].real
    opened, bound = OPEN / head[STARTED].real, LARGEST * m / (power if power > TINY else TINY)
    return bound if bound > opened else opened
