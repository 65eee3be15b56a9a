"""Cancel noise of which a reference is at hand, and cancel an echo.

x is the reference: of the noise, or the signal of the far end. d is the primary: signal and noise,
or the microphone. `noise_filter` and `reference_delay` also serve the command `adaline filter`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaline.filters import signals
from adaline.filters.affine_projection import AffineProjection
from adaline.filters.block_lms import BlockLMS
from adaline.filters.filter import Filter
from adaline.filters.lms import LMS, NLMS
from adaline.filters.noise import (
    JUDGED_SAMPLES,
    MAX_EXACT_WEIGHTS,
    best_fits,
    best_fixed,
    chance_share,
    noise_reduction,
    path_changes,
)
from adaline.filters.rls import RLS
from adaline.filters.signals import Signal
from adaline.filters.tasks import TaskResult, choose_filter, gain_db
from adaline.filters.wiener import WienerFilter
from adaline.parameters import NOT_NEGATIVE, POSITIVE, count, shown, words
from adaline.results import Array

ALGORITHMS = words("auto", "rls", "block", "nlms", "affine", "lms", "wiener")
MAX_PASSES = 100  # any round number
# Samples that RLS remembers: about 2 s of speech, or for each weight so many that it adds noise
# 33 dB below a steady signal; or a twentieth of them, for a path that changes.
MIN_MEMORY, MEMORY_PER_WEIGHT, SHORT_MEMORY_SHARE = 30_000, 1000, 0.05
SHORT_MEMORY_GAIN = 1.0  # dB by which the short memory must be better
# The steps of the first and of later passes: large ones to learn, small ones to stay. The signal
# itself disturbs learning, so that the steps are far below those for a system without noise.
PASS_STEPS = {
    "block": (BlockLMS, 0.1, 0.02),
    "nlms": (NLMS, 0.05, 0.005),
    "lms": (LMS, 0.05, 0.005),
    "affine": (AffineProjection, 0.01, 0.001),
}
LONGEST_DELAY = 16_384  # samples: a third of a second at 48 kHz, a second at 16 kHz
DELAY_SAMPLES = 2**17  # from the first sound of x on: enough to estimate a delay
PEAK_HEIGHT = 6.0  # times the level of chance: how high a peak must be to count
DELAY_GAIN = 3.0  # times what the weights explain by chance: how much a delay must gain


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
        If not given, `noise_filter` chooses one.
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        As in `noise_filter`, where no filter is given. "wiener", the best fixed filter of all
        samples, is cleaner where the path does not change.
    delay : int, optional
        Samples by which the reference is delayed, or advanced where negative. If not given, it is
        estimated, 0 where that gains little; a filter of yours sees the reference as it is.
    passes : int, optional
        How often (at most 100) the filter goes over the samples; the last pass is answered. 2
        where no filter is given, so that the beginning is clean too, and 1, as in real time, for a
        filter of yours.

    Returns
    -------
    TaskResult
        `signal` is e. `removed_db`: the power of the primary over that of e. `coherence_before`,
        `coherence_after`, `noise_reduction_db`: as in `NoiseReduction`.

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
    x, d = signals.as_pair(reference, "reference", primary, "primary")
    ALGORITHMS("algorithm", algorithm)
    if filter is not None and algorithm != "auto":
        raise ValueError(f"algorithm is {shown(algorithm)} and a filter is given; leave one out.")
    if passes is None:
        passes = 2 if filter is None else 1
    passes = count(1, MAX_PASSES)("passes", passes)
    taps = count()("taps", 32 if taps is None else taps) if filter is None else taps
    if delay is not None:
        delay = count(-len(d), len(d))("delay", delay)
    else:
        delay = reference_delay(x, d, taps) if filter is None and taps else 0
    x = signals.shifted(x, delay)
    if filter is None and taps:
        with np.errstate(over="ignore", invalid="ignore"):
            level = float(signals.squares(x).sum()) / len(x)
        settings = {"channels": x.shape[1], "level": level if np.isfinite(level) else 0.0}
        chosen = noise_filter(taps, algorithm, **settings, heard=(x, d), passes=passes)
        for _ in range(passes - 1 if algorithm != "wiener" else 0):
            chosen.process(x, d)
            chosen = noise_filter(taps, algorithm, **settings, after=chosen)
    else:
        chosen = choose_filter(filter, taps, None)
        for _ in range(passes - 1):
            chosen.process(x, d)
    y, e = chosen.process(x, d)
    reduction = noise_reduction(d, x, e, chosen.taps, start=len(e) // 2)
    if reduction.worse:
        message = (
            f"More noise was added than removed by {type(chosen).__name__}: it followed the signal "
            "that is to stay, or the path of the noise changed faster than it learns. Leave the "
            "filter out, or take fewer taps, or another eta or forgetting."
        )
        warnings.warn(message, UserWarning, stacklevel=2)
    elif reduction.more_taps:
        warnings.warn(reduction.advice(chosen.taps), UserWarning, stacklevel=2)
    measures = {
        "removed_db": gain_db(d, e),
        "noise_reduction_db": reduction.db,
        "coherence_before": reduction.coherence_before,
        "coherence_after": reduction.coherence_after,
    }
    return TaskResult(e, chosen, y, e, measures, delay)


def noise_filter(
    taps: int = 32,
    algorithm: str = "auto",
    eta: float | None = None,
    *,
    channels: int = 1,
    level: float = 0.0,
    after: Filter | None = None,
    heard: tuple[Any, Any] | None = None,
    passes: int = 2,
) -> Filter:
    """The filter that `cancel` and the command `adaline filter` take, with their settings.

    The signal that is to stay disturbs learning, so the filter must average over many samples:
    RLS with a long memory up to 512 weights, else BlockLMS with a small step. Where a path changes,
    a long memory is late: with `heard`, a memory of a twentieth is tried too, and the one is taken
    whose output is closer to that of the best fixed filter (of each quarter of the samples, where
    the path changes).

    Parameters
    ----------
    taps : int, default=32
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        "wiener" is the best fixed filter of the samples `heard`.
    eta : float, optional
        The step of learning; for RLS the factor of forgetting. If not given, RLS remembers
        30,000 samples, or 1,000 for each weight where that is more.
    channels : int, default=1
        How many references there are.
    level : float, default=0.0
        The mean power of the references, all channels together; 0 if unknown. With it RLS starts
        softly, and LMS needs it for its step.
    after : Filter, optional
        The filter of a pass before, over the same samples: RLS goes on as it is, the others from
        their weights with a smaller step.
    heard : tuple of (reference, primary), optional
        Samples on which RLS is tried (the last million), and from which "wiener" learns.
    passes : int, default=2
        How often the samples are gone through: the trial is judged by its last pass.

    Returns
    -------
    Filter

    Examples
    --------
    >>> from adaline.filters import noise_filter
    >>> type(noise_filter(64)).__name__, type(noise_filter(1000)).__name__
    ('RLS', 'BlockLMS')
    """
    taps, channels = count()("taps", taps), count()("channels", channels)
    algorithm, passes = ALGORITHMS("algorithm", algorithm), count()("passes", passes)
    signals.require_memory({"taps": taps, "channels": channels}, 8 * channels * taps)
    level = NOT_NEGATIVE("level", level)
    eta = None if eta is None else POSITIVE("eta", eta)
    if after is not None and not isinstance(after, Filter):
        raise TypeError(f"after is {shown(after)}; expected the filter of a pass before, or None.")
    if heard is not None and not (isinstance(heard, tuple) and len(heard) == 2):
        raise TypeError(f"heard is {shown(heard)}; expected a tuple (reference, primary), or None.")
    if algorithm == "auto":
        algorithm = "rls" if channels * taps <= MAX_EXACT_WEIGHTS else "block"
    if after is not None and (algorithm in ("rls", "wiener") or eta is not None):
        return after
    if algorithm == "wiener":
        if heard is None or eta is not None:
            raise ValueError("algorithm='wiener' needs heard, the samples to learn from, not eta.")
        return WienerFilter.from_signals(*heard, taps)
    if algorithm == "rls":
        if eta is not None and eta > 1:
            raise ValueError(f"eta is {shown(eta)}; for RLS it is the share to keep, at most 1.")
        # With a small delta RLS would fit the signal during the first `taps` samples.
        delta: Any = taps * level or "auto"
        memory = max(MIN_MEMORY, MEMORY_PER_WEIGHT * channels * taps)
        steady = RLS(taps, 1.0 - 1.0 / memory if eta is None else eta, delta)
        if heard is None or eta is not None:
            return steady
        quick = RLS(taps, 1.0 - 1.0 / (SHORT_MEMORY_SHARE * memory), delta)
        return _choose_memory(steady, quick, *heard, passes)
    kind, first_step, later_step = PASS_STEPS[algorithm]
    step = eta or (first_step if after is None else later_step)
    if kind is LMS and eta is None:
        if not level:
            raise ValueError("LMS needs the level of the reference for its step, or eta.")
        step /= taps * level  # the step that NLMS takes
    new: Filter = kind(taps, eta=step, weights=None if after is None else after.weights)
    return new


def _choose_memory(
    steady: Filter, quick: Filter, reference: Any, primary: Any, passes: int
) -> Filter:
    """Of two new filters the one whose output is closer to the noise, as new as before."""
    x, d = signals.as_pair(reference, "reference", primary, "primary")
    x, d = x[-JUDGED_SAMPLES:], d[-JUDGED_SAMPLES:]
    fits = best_fits(x, d, steady.taps)
    if not fits:
        return steady
    noise, left = fits[-path_changes(fits)].y, []
    for filter in (steady, quick):
        for _ in range(min(passes, 2)):
            y, _ = filter.process(x, d)
        left.append(signals.squares(y - noise)[steady.taps :].sum())
    return (quick if signals.ratio_db(*left) > SHORT_MEMORY_GAIN else steady).reset()


def onset_lag(x: Signal, d: Signal, *, may_lead: bool) -> int | None:
    """The lag of d behind x by the first clear peak of the cross-correlation; None without one.

    All amplitudes are set to 1 (GCC-PHAT; Knapp and Carter, 1976). Negative lags count if d
    `may_lead`. The first sample that counts is the first sound of x.
    """
    first = int(np.argmax(np.abs(x).max(axis=1) > 0.01 * np.abs(x).max(initial=0.0)))
    x, d = x[first : first + DELAY_SAMPLES], d[first : first + DELAY_SAMPLES]
    longest = min(LONGEST_DELAY, len(d) // 4)
    if longest < 2 or not x.any() or not d.any():
        return None
    size = 1 << (len(d) + longest).bit_length()
    spectrum, lags = np.fft.fft(d.astype(np.complex128), size), np.zeros(size)
    for channel in x.T:
        cross = spectrum * np.conj(np.fft.fft(channel.astype(np.complex128), size))
        strength = np.abs(cross)
        lags += np.abs(np.fft.ifft(cross / np.maximum(strength, 1e-6 * strength.max() + 1e-300)))
    # Where no delay is expected there is only chance.
    chance = np.sqrt(np.mean((lags[longest:-longest] if may_lead else lags[-longest:]) ** 2))
    near = np.concatenate([lags[-longest:], lags[:longest]]) if may_lead else lags[:longest]
    if not near.max() > PEAK_HEIGHT * chance:
        return None
    return int(np.argmax(near > 0.5 * near.max())) - (longest if may_lead else 0)


def reference_delay(x: Signal, d: Signal, taps: int) -> int:
    """Samples by which to delay x, negative where x lags behind d; 0 where that gains little.

    An eighth of the taps is left for what comes before the first clear peak. A delay counts where
    the best filter with so many taps explains clearly more of d then.
    """
    onset = onset_lag(x, d, may_lead=True)
    if onset is None or 0 <= onset < taps // 2:
        return 0
    delay = onset - taps // 8
    x, d = x[:DELAY_SAMPLES], d[:DELAY_SAMPLES]
    left = []
    for k in (0, delay):
        moved = signals.shifted(x, k)
        left.append(best_fixed(moved, d, taps).process(moved, d)[1])
    chance = chance_share(moved, left[0], taps)  # a hum fits a voice at any delay
    without, aligned = (
        np.array([signals.squares(part).sum() for part in np.array_split(e, 4)]) for e in left
    )
    # In every quarter: the ends of a hum are clicks that make a peak, and gain in one place only.
    return delay if (aligned + DELAY_GAIN * chance * without < without).all() else 0


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
        A filter of yours works alone, learns from double talk too, and sees x without a delay if
        you give none.
    delay : int, optional
        Samples by which x is delayed, so that the taps need not cover them. If not given, it is
        estimated (at most 16,384).

    Returns
    -------
    TaskResult
        `signal` is e, the near end. `erle_db`: echo return loss enhancement, which means something
        while only the far end talks. `filter` has the weights that were trusted last; alone it does
        not detect double talk.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import cancel_echo
    >>> far = np.random.default_rng(0).standard_normal(8000)
    >>> echo = np.convolve(far, 0.9 ** np.arange(50))[:8000]
    >>> cancel_echo(echo, far, taps=100).measures["erle_db"] > 60
    True
    """
    x, d = signals.as_pair(far_end, "far_end", microphone, "microphone")
    if delay is not None:
        delay = count(0)("delay", delay)
    if filter is not None:
        chosen = choose_filter(filter, taps, None)
        y, e = chosen.process(signals.shifted(x, delay or 0), d)
        return TaskResult(e, chosen, y, e, {"erle_db": gain_db(d, e)}, delay or 0)
    taps = count()("taps", 1024 if taps is None else taps)
    signals.require_memory({"taps": taps}, 16 * x.shape[1] * taps)
    if delay is None:  # a part of the taps is left for what comes before the peak
        onset = onset_lag(x, d, may_lead=False)
        delay = 0 if onset is None else max(0, onset - 32 - taps // 16)
    learning, y = _run_two_paths(signals.shifted(x, delay), d, taps)
    e = d - y
    return TaskResult(e, learning, y, e, {"erle_db": gain_db(d, e)}, delay)


def _run_two_paths(x: Signal, d: Signal, taps: int) -> tuple[BlockLMS, Signal]:
    """The learning filter with the weights that are trusted last, and y of the trusted filter.

    One filter learns all the time, another answers with fixed weights (Ochiai, Araseki and
    Ogihara, 1977). It gets the weights of the first where those leave clearly less of d, now and
    on average. While both ends talk they seldom do, so the near end hardly spoils the trusted ones.
    """
    # The largest reasonable step: double talk may lead the learning filter astray without harm.
    learning = BlockLMS(taps, eta=1.0)
    trusted = WienerFilter(np.zeros((x.shape[1], taps)), dtype=signals.kind_of(x, d))
    block, mean = max(512, learning.block or 1), np.zeros(3)
    y = np.empty(len(d), signals.kind_of(x, d))
    for start in range(0, len(d), block):
        part = slice(start, start + block)
        _, e_learning = learning.process(x[part], d[part])
        y[part], e_trusted = trusted.process(x[part], d[part])
        now = np.array([signals.squares(v).sum() for v in (d[part], e_trusted, e_learning)])
        mean = 0.75 * mean + 0.25 * now
        _exchange_weights(learning, trusted, now, mean)
    learning.weights = trusted.weights
    return learning, y


def _exchange_weights(learning: BlockLMS, trusted: WienerFilter, now: Array, mean: Array) -> None:
    """Hand over weights; now and mean are the powers of d and of what both filters leave of it.

    The factors are those at which `bench_cancelling` keeps double talk out and follows changes.
    """
    microphone, left, left_by_learning = mean
    if now[2] < 0.65 * now[1] and left_by_learning < min(0.65 * left, microphone):
        trusted.weights = learning.weights
    elif left > 2.0 * microphone:  # the path has changed: better no filter than a wrong one
        trusted.weights = np.zeros_like(trusted.weights)
    elif left_by_learning > 2.0 * left:
        learning.weights = trusted.weights
