"""Samples that are no numbers, and learning that runs away: found, told, or lived with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.errors import DivergenceError
from adaline.filters._signals import held

Block = NDArray[Any]
Frozen = NDArray[np.uint8]

NOT_FROZEN: Frozen = np.zeros(0, np.uint8)
# What `_advance` answers: 8 * sample + one of these. Kernels know the same numbers.
FINE, BAD_X, BAD_D, DIVERGED, RATE_TOO_LARGE = range(5)

_ADVICE = (
    "Nothing of the block was used. on_nan='hold' repeats the last good sample, "
    "on_nan='skip' does not learn from it."
)


class Clean(NamedTuple):
    """A block without NaN, where not to learn, where e is unknown, and what to hold after it."""

    x: Block
    d: Block
    frozen: Frozen
    unknown: NDArray[np.bool_]
    held: Block


def cleaned(x: Block, d: Block, on_nan: str, taps: int, before: Block) -> Clean:
    """What on_nan makes of x (n, channels) and d (n,).

    before: the last good sample of each channel and of d, and for how many samples more a sample
    that never came is in the delay line.
    """
    bad_x, bad_d = ~np.isfinite(x), ~np.isfinite(d)
    nowhere = np.zeros(len(d), bool)
    if on_nan == "raise":
        if bad_x.any() or bad_d.any():
            raise ValueError(not_finite(*(("x", x) if bad_x.any() else ("d", d))))
        return Clean(x, d, NOT_FROZEN, nowhere, before)
    if on_nan == "hold":
        x = held(x, bad_x, before[:-2])
        d = held(d[:, None], bad_d[:, None], before[-2:-1])[:, 0]
        after = np.concatenate([x[-1], d[-1:], before[-1:]])
        frozen = (bad_x.any(axis=1) | bad_d).astype(np.uint8)
        return Clean(np.ascontiguousarray(x), np.ascontiguousarray(d), frozen, nowhere, after)
    spoiled, left = _while_in_line(np.asarray(bad_x.any(axis=1)), taps, int(before[-1].real))
    after = np.zeros_like(before)
    after[-1] = left
    x, silent = np.where(bad_x, 0, x).astype(x.dtype), np.where(bad_d, 0, d).astype(d.dtype)
    return Clean(x, silent, (spoiled | bad_d).astype(np.uint8), bad_d, after)


def _while_in_line(bad: NDArray[np.bool_], taps: int, still: int) -> tuple[NDArray[np.bool_], int]:
    """Which samples have a bad one in their delay line, and for how many more that will be so.

    >>> _while_in_line(np.array([False, True, False, False, False]), 2, still=1)
    (array([ True,  True,  True, False, False]), 0)
    """
    at = np.arange(len(bad))
    last = np.maximum.accumulate(np.where(bad, at, still - taps))
    return at - last < taps, max(0, int(last[-1]) + taps - len(bad))


def not_finite(name: str, signal: Block, advice: str = _ADVICE) -> str:
    """Which sample is no number, and what can be done.

    >>> not_finite("d", np.array([0.0, np.inf]), "Look there.")
    'd[1] is inf; a filter needs finite samples. Look there.'
    """
    at = np.argwhere(~np.isfinite(signal))[0]
    place = int(at[0]) if signal.ndim == 1 or signal.shape[1] == 1 else tuple(at.tolist())
    return f"{name}[{place}] is {signal[tuple(at)]}; a filter needs finite samples. {advice}"


def ran_away(name: str, at: int, count: int) -> DivergenceError:
    """The error of a filter whose weights have run away at a sample of a block."""
    return DivergenceError(
        f"{name} diverged at sample {at} of this block (sample {count + at} of the signal): its "
        "output left all proportion to the signals. The filter is as it was before the block. "
        "Take a smaller step, or check the levels of x and d."
    )
