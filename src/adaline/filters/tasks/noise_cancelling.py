"""Cancel noise of which a reference is at hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._settings import one_of, shown, whole
from adaline.filters._signals import Signal, squares
from adaline.filters.coherence import reference_delay, shifted
from adaline.filters.noise import ALGORITHMS, noise_filter, noise_reduction
from adaline.filters.tasks.filters import checked_pair, given_or_usual, usual_taps
from adaline.filters.tasks.results import TaskResult, gain

MOST_PASSES = 100
WORSE = (
    "More noise was added than removed by {}: it followed the signal that is to stay, or the path "
    "of the noise changed faster than it learns. Leave the filter out, and cancel() chooses one; "
    "or take fewer taps, or another eta or forgetting."
)


def cancel(
    primary: Any,
    reference: Any,
    taps: int | None = None,
    filter: Filter | None = None,
    *,
    algorithm: str = "auto",
    delay: int | None = None,
    passes: int | None = None,
) -> TaskResult:
    """Remove from the primary signal all that a reference of the noise explains.

    The reference must not hold the signal itself, or that is removed too. A `UserWarning` says
    where more noise was added than removed, and where much of what is left is still coherent with
    the reference.

    Parameters
    ----------
    primary : array-like of shape (N,)
        Signal and noise: d.
    reference : array-like of shape (N,) or (N, sensors)
        What the noise comes from: x.
    taps : int, optional
        32 where no filter is given.
    filter : Filter, optional
        If not given, `noise_filter` chooses: RLS up to 512 weights, with a long memory, or a short
        one where the path of the noise changes; else BlockLMS.
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        As in `noise_filter`, where no filter is given. "wiener", the best fixed filter of all
        samples, is cleaner where the path does not change.
    delay : int, optional
        Samples by which the reference is delayed, or advanced where negative, because it lags
        behind the noise in the primary. If not given, it is estimated from the cross-correlation,
        0 where that gains little; a filter of yours sees the reference as it is.
    passes : int, optional
        How often (at most 100) the filter goes over the samples; the last pass is answered. 2
        where no filter is given, so that the beginning is clean too, and 1 for a filter of yours.
        With 1 the result is that of a filter in real time.

    Returns
    -------
    TaskResult
        `signal` is e, the signal. `delay` is the delay that was taken. `removed_db`: the power of
        the primary over that of e. `coherence_before`, `coherence_after`: the shares of the power
        of the primary and of e that are coherent with the reference. `noise_reduction_db`: by how
        much all that goes with the reference fell, a careful estimate, NaN where it cannot be told
        (see `noise_reduction`).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import cancel
    >>> n = np.arange(4000)
    >>> tone, hum = np.sin(0.05 * n), np.sin(0.3 * n)
    >>> clean = cancel(tone + 3 * np.sin(0.3 * n - 1), hum, taps=2).signal
    >>> bool(np.abs(clean - tone)[-500:].max() < 0.1)
    True
    """
    noise, desired = checked_pair(reference, "reference", primary, "primary")
    rounds = (
        (2 if filter is None else 1) if passes is None else whole(passes, "passes", 1, MOST_PASSES)
    )
    one_of("algorithm", algorithm, ALGORITHMS)
    if filter is not None and algorithm != "auto":
        raise ValueError(f"algorithm is {shown(algorithm)} and a filter is given; leave one out.")
    taps = usual_taps(taps, filter, 32)
    if delay is not None:
        delay = whole(delay, "delay", -len(desired), len(desired))
    elif filter is None:
        assert taps is not None
        delay = reference_delay(noise, desired, whole(taps, "taps", 1))
    noise = shifted(noise, delay or 0)
    settings: dict[str, Any] = {"channels": noise.shape[1], "level": _level(noise)}
    if filter is None:
        assert taps is not None
        chosen = noise_filter(taps, algorithm, **settings, heard=(noise, desired), passes=rounds)
    else:
        chosen = given_or_usual(filter, taps, noise.shape[1], eta=0.05)
    if algorithm == "wiener":
        rounds = 1
    for k in range(rounds):
        if k and filter is None:
            chosen = noise_filter(chosen.taps, algorithm, **settings, after=chosen)
        y, e = chosen.process(noise, desired)
    found = noise_reduction(desired, noise, e, chosen.taps, start=len(e) // 2)
    if found.worse:
        warnings.warn(WORSE.format(type(chosen).__name__), UserWarning, stacklevel=2)
    elif found.more_taps:
        warnings.warn(found.advice(chosen.taps), UserWarning, stacklevel=2)
    measures = {
        "removed_db": gain(desired, e),
        "noise_reduction_db": found.db,
        "coherence_before": found.coherence_before,
        "coherence_after": found.coherence_after,
    }
    return TaskResult(e, chosen, y, e, measures, delay or 0)


def _level(x: Signal) -> float:
    """Mean power, all channels together; 0 where it is no finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        level = float(squares(x).sum()) / len(x)
    return level if np.isfinite(level) else 0.0
