"""Cancel an echo: the bulk delay, and two filters of which one is always trusted.

x is the signal of the far end and d that of the microphone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._settings import fits, whole
from adaline.filters._signals import Signal, kind_of, squares
from adaline.filters.block_lms import BlockLMS
from adaline.filters.coherence import CLEAR, peaks, shifted
from adaline.filters.tasks.filters import checked_pair, given_or_usual, usual_taps
from adaline.filters.tasks.results import TaskResult, gain
from adaline.filters.wiener import WienerFilter
from adaline.results import Array

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
        delay = whole(delay, "delay", 0)
        fits("delay", delay, 4 * delay)
    if filter is None:
        assert taps is not None
        taps = whole(taps, "taps", 1)
        fits("taps", taps, 16 * played.shape[1] * taps)
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
    every, mean = max(CHECKED, learning.block), np.zeros(3)
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
