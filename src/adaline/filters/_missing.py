"""Missing samples: NaN and infinity in a block, refused, replaced or skipped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.filters._signals import Signal

Frozen = NDArray[np.uint8]

NOT_FROZEN: Frozen = np.zeros(0, np.uint8)

_ADVICE = (
    "Nothing of the block was used. on_nan='hold' repeats the last good sample, "
    "on_nan='skip' does not learn from it."
)


class Clean(NamedTuple):
    """A block without missing samples.

    x, d: the samples, missing ones replaced    frozen: 1 where no update is made
    unknown: where d is missing and e is NaN    held: what the next block needs to know
    """

    x: Signal
    d: Signal
    frozen: Frozen
    unknown: NDArray[np.bool_]
    held: Signal


def cleaned(x: Signal, d: Signal, on_nan: str, taps: int, before: Signal) -> Clean:
    """Replace missing samples (NaN or infinite) of x (n, channels) and d (n,) as on_nan says.

    before: the last good sample of each channel and of d, then the number of samples for which a
    missing one of an earlier block stays in the delay line.
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
    in_line, left = _missing_in_line(np.asarray(bad_x.any(axis=1)), taps, int(before[-1].real))
    after = np.zeros_like(before)
    after[-1] = left
    x, d = np.where(bad_x, 0, x).astype(x.dtype), np.where(bad_d, 0, d).astype(d.dtype)
    return Clean(x, d, (in_line | bad_d).astype(np.uint8), bad_d, after)


def _missing_in_line(
    bad: NDArray[np.bool_], taps: int, still: int
) -> tuple[NDArray[np.bool_], int]:
    """Which delay lines hold a missing sample, and for how many samples of the next block.

    >>> _missing_in_line(np.array([False, True, False, False, False]), 2, still=1)
    (array([ True,  True,  True, False, False]), 0)
    """
    at = np.arange(len(bad))
    last = np.maximum.accumulate(np.where(bad, at, still - taps))
    return at - last < taps, max(0, int(last[-1]) + taps - len(bad))


def held(x: Signal, bad: NDArray[np.bool_], last: Signal) -> Signal:
    """x (n, c) with bad entries replaced by the last good one of their channel.

    >>> held(np.array([[1.0], [np.nan]]), np.array([[False], [True]]), np.array([0.0])).T
    array([[1., 1.]])
    """
    place = np.where(bad, -1, np.arange(len(x))[:, None])
    place = np.maximum.accumulate(place, axis=0)
    filled = np.take_along_axis(x, np.maximum(place, 0), axis=0)
    return np.where(place < 0, last, filled)


def not_finite(name: str, signal: Signal, advice: str = _ADVICE) -> str:
    """The error about the first sample that is NaN or infinite, with advice.

    >>> not_finite("d", np.array([0.0, np.inf]), "Look there.")
    'd[1] is inf; a filter needs finite samples. Look there.'
    """
    at = np.argwhere(~np.isfinite(signal))[0]
    place = int(at[0]) if signal.ndim == 1 or signal.shape[1] == 1 else tuple(at.tolist())
    return f"{name}[{place}] is {signal[tuple(at)]}; a filter needs finite samples. {advice}"
