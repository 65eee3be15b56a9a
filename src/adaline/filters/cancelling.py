"""Cancel noise of which a reference is at hand, and cancel an echo.

x is the reference: of the noise, or the signal of the far end. d is the primary: signal and noise,
or the microphone.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaline.filters.block_lms import BlockLMS
from adaline.filters.coherence import CLEAR, peaks, reference_delay, shifted
from adaline.filters.filter import Filter
from adaline.filters.noise import ALGORITHMS, noise_filter, noise_reduction
from adaline.filters.signals import Signal, kind_of, require_memory, squares
from adaline.filters.tasks import TaskResult, checked_pair, gain, given_or_usual, usual_taps
from adaline.filters.wiener import WienerFilter
from adaline.parameters import count, shown, words
from adaline.results import Array

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
        (2 if filter is None else 1) if passes is None else count(1, MOST_PASSES)("passes", passes)
    )
    words(*ALGORITHMS)("algorithm", algorithm)
    if filter is not None and algorithm != "auto":
        raise ValueError(f"algorithm is {shown(algorithm)} and a filter is given; leave one out.")
    taps = usual_taps(taps, filter, 32)
    if delay is not None:
        delay = count(-len(desired), len(desired))("delay", delay)
    elif filter is None:
        assert taps is not None
        delay = reference_delay(noise, desired, count()("taps", taps))
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


CHECKED = 512  # samples, at least, after which the two filters are compared
BETTER = 0.65  # of the power that the trusted filter leaves: then the learning one is trusted
ASTRAY = 2.0  # times that power: then the learning filter goes back to the trusted weights
HARMFUL = 2.0  # times the power of d that the trusted filter leaves: then it is of no use
MEMORY = 0.75  # of the mean powers, from one comparison to the next
STEP = 1.0  # of the learning filter: double talk may lead it astray without harm


def cancel_echo(
    microphone: Any,
    far_end: Any,
    taps: int | None = None,
    filter: Filter | None = None,
    *,
    delay: int | None = None,
) -> TaskResult:
    """Remove from the microphone the echo of what the loudspeaker played.

    Two filters work side by side, so that a near end that talks does little harm: one learns all
    the time, the other answers. Only where the learning one leaves clearly less of the microphone's
    signal are its weights handed over.

    Parameters
    ----------
    microphone : array-like of shape (N,)
        Near end and echo: d.
    far_end : array-like of shape (N,) or (N, loudspeakers)
        What was played: x.
    taps : int, optional
        Length of the echo in samples; 1024 where no filter is given.
    filter : Filter, optional
        If not given, BlockLMS and a second filter, as said above. A filter of yours works alone,
        learns from double talk too, and sees x without a delay if you give none.
    delay : int, optional
        Samples between the sound in x and the first of it in d, by which x is delayed, so that the
        taps need not cover them. If not given, it is estimated (at most 16,384).

    Returns
    -------
    TaskResult
        `signal` is e, the near end. `erle_db`: echo return loss enhancement, which means something
        while only the far end talks. `delay` is the delay that was taken. `filter` has the weights
        that were trusted last; alone it does not detect double talk.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import cancel_echo
    >>> far = np.random.default_rng(0).standard_normal(8000)
    >>> echo = np.convolve(far, 0.9 ** np.arange(50))[:8000]
    >>> cancel_echo(echo, far, taps=100).measures["erle_db"] > 60
    True
    """
    played, desired = checked_pair(far_end, "far_end", microphone, "microphone")
    taps = usual_taps(taps, filter, 1024)
    if delay is not None:
        delay = count(0)("delay", delay)
        require_memory({"delay": delay}, 4 * delay)
    if filter is None:
        assert taps is not None
        taps = count()("taps", taps)
        require_memory({"taps": taps}, 16 * played.shape[1] * taps)
        lag = bulk_delay(played, desired, taps) if delay is None else delay
        chosen: Filter
        chosen, y = two_paths(shifted(played, lag), desired, taps)
        e = desired - y
    else:
        lag = delay or 0
        chosen = given_or_usual(filter, taps, played.shape[1], eta=0.5)
        y, e = chosen.process(shifted(played, lag), desired)
    return TaskResult(e, chosen, y, e, {"erle_db": gain(desired, e)}, lag)


def bulk_delay(x: Signal, d: Signal, taps: int) -> int:
    """Samples by which d surely lags behind x, 0 where nothing is clear.

    The peak of the cross-correlation (`peaks`). A part of the taps is left for what comes before
    it.
    """
    lags, most = peaks(x, d)
    if not most:
        return 0
    chance = np.sqrt(np.mean(lags[-most:] ** 2))  # an echo never comes before its sound
    peak = lags[:most].max()
    if not peak > CLEAR * chance:
        return 0
    onset = int(np.argmax(lags[:most] > 0.5 * peak))
    return max(0, onset - 32 - taps // 16)


def two_paths(x: Signal, d: Signal, taps: int) -> tuple[BlockLMS, Signal]:
    """The learning filter with the weights that are trusted last, and y of the trusted filter.

    One filter learns all the time, another answers with fixed weights (Ochiai, Araseki and
    Ogihara, 1977). It gets the weights of the first where those leave clearly less of d, now and
    on average. While both ends talk they seldom do, so the near end hardly spoils the trusted ones.
    """
    learning = BlockLMS(taps, eta=STEP)
    trusted = WienerFilter(np.zeros((x.shape[1], taps)), dtype=kind_of(x, d))
    every, mean = max(CHECKED, learning.block or 1), np.zeros(3)
    y = np.empty(len(d), kind_of(x, d))
    for start in range(0, len(d), every):
        here = slice(start, start + every)
        _, e_learning = learning.process(x[here], d[here])
        y[here], e_trusted = trusted.process(x[here], d[here])
        now = np.array([squares(v).sum() for v in (d[here], e_trusted, e_learning)])
        mean = MEMORY * mean + (1 - MEMORY) * now
        _exchange(learning, trusted, now, mean)
    learning.weights = trusted.weights
    return learning, y


def _exchange(learning: BlockLMS, trusted: WienerFilter, now: Array, mean: Array) -> None:
    """Hand over weights; now and mean are the powers of d and of what both filters leave of it."""
    microphone, left, left_by_learning = mean
    if now[2] < BETTER * now[1] and left_by_learning < min(BETTER * left, microphone):
        trusted.weights = learning.weights
    elif left > HARMFUL * microphone:  # the path has changed: better no filter than a wrong one
        trusted.weights = np.zeros_like(trusted.weights)
    elif left_by_learning > ASTRAY * left:
        learning.weights = trusted.weights
