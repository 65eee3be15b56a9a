"""Cancel noise of which a reference is at hand, and cancel an echo.

x is the reference: of the noise, or the signal of the far end. d is the primary: signal and noise,
or the microphone. `reference_delay` also serves the command `adaline filter`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import fft

from adaline.filters import signals
from adaline.filters.affine_projection import AffineProjection
from adaline.filters.block_lms import BlockLMS
from adaline.filters.filter import Filter
from adaline.filters.lms import LMS, NLMS
from adaline.filters.noise import (
    CLEAR_ERRORS,
    MAX_EXACT_WEIGHTS,
    best_fit,
    best_fits,
    noise_reduction,
    path_changes,
)
from adaline.filters.rls import RLS
from adaline.filters.signals import Signal
from adaline.filters.tasks import TaskResult, choose_filter, gain_db
from adaline.filters.wiener import WienerFilter
from adaline.parameters import NONE, POSITIVE, count, number, shown, words

# The signal itself disturbs learning, so steps are far below those for a system without noise.
STEPS: dict[str, tuple[type[Any], float]] = {
    "block": (BlockLMS, 0.05),
    "nlms": (NLMS, 0.02),
    "lms": (LMS, 0.02),
    "affine": (AffineProjection, 0.005),
}
ALGORITHMS = words("auto", "rls", "wiener", *STEPS)
DELAY_SAMPLES = 2**17  # from the first sound of x on: enough to estimate a delay


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
    taps, filter : int, and Filter, optional
        By default 32 taps, and what `noise_filter` chooses.
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        As in `noise_filter`. "wiener" is cleaner where the path does not change.
    delay : int, optional
        Samples by which the reference is delayed, or advanced where negative. If not given, it is
        estimated, 0 where that gains little; a filter of yours sees the reference as it is.
    passes : int, optional
        How often (at most 100) the filter goes over the samples; the last pass is answered. By
        default 2, so that the beginning is clean too, and for a filter of yours 1, as in real time.

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
    passes = (NONE | count(1, 100))("passes", passes)
    delay = (NONE | count(-len(d), len(d)))("delay", delay)
    if filter is None:
        taps = count()("taps", 32 if taps is None else taps)
        delay = reference_delay(x, d, taps) if delay is None else delay
        x = signals.shifted(x, delay)
        chosen = noise_filter(x, d, taps, algorithm)
    elif algorithm != "auto":
        raise ValueError(f"algorithm is {shown(algorithm)} and a filter is given; choose one.")
    else:
        chosen, delay = choose_filter(filter, taps, None), delay or 0
        x = signals.shifted(x, delay)
    for _ in range(passes or (2 if filter is None else 1)):
        y, e = chosen.process(x, d)
    reduction = noise_reduction(d, x, e, chosen.taps, start=len(e) // 2)
    if advice := reduction.advice(chosen.taps):
        warnings.warn(advice, UserWarning, stacklevel=2)
    measures = {
        "removed_db": gain_db(d, e),
        "noise_reduction_db": reduction.db,
        "coherence_before": reduction.coherence_before,
        "coherence_after": reduction.coherence_after,
    }
    return TaskResult(e, chosen, y, e, measures, delay)


def noise_filter(
    reference: Any,
    primary: Any,
    taps: int = 32,
    algorithm: str = "auto",
    eta: float | None = None,
) -> Filter:
    """The filter that `cancel` and the command `adaline filter` take for these signals, new.

    The signal that is to stay disturbs learning, so the filter must average over many samples:
    RLS with a long memory up to 512 weights, else BlockLMS with a small step. Where the path of the
    noise changes, RLS gets a twentieth of that memory.

    Parameters
    ----------
    reference : array-like of shape (N,) or (N, sensors)
    primary : array-like of shape (N,)
    taps : int, default=32
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        "wiener" is the best fixed filter of these samples.
    eta : float, optional
        The step of learning; for RLS the factor of forgetting. If not given, RLS remembers
        30,000 samples, or 1,000 for each weight where that is more; or a twentieth, where fits of
        four sections leave clearly less of the primary, by more than two percent.

    Returns
    -------
    Filter

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import noise_filter
    >>> x = np.random.default_rng(0).standard_normal(2000)
    >>> type(noise_filter(x, x, 64)).__name__, type(noise_filter(x, x, 1000)).__name__
    ('RLS', 'BlockLMS')
    """
    x, d = signals.as_pair(reference, "reference", primary, "primary")
    taps = count()("taps", taps)
    weights = x.shape[1] * taps
    signals.require_memory({"taps": taps}, 8 * weights)
    if ALGORITHMS("algorithm", algorithm) == "auto":
        algorithm = "rls" if weights <= MAX_EXACT_WEIGHTS else "block"
    level = float(signals.squares(x).mean(axis=0).sum())
    if algorithm == "wiener":
        if eta is not None:
            raise ValueError(f"eta is {shown(eta)}; the Wiener filter has no step.")
        return WienerFilter.from_signals(x, d, taps)
    if algorithm == "rls":
        # With a small delta RLS would fit the signal during the first `taps` samples.
        delta: Any = taps * level if 0 < level < np.inf else "auto"
        if eta is not None:
            return RLS(taps, number(0.0, 1.0, above=True)("eta", eta), delta)
        # Samples to remember: about 2 s of speech, or so many that the weights add noise 33 dB
        # below a steady signal. A twentieth of them adds some 20 dB below, a percent or two.
        memory, fits = max(30_000, 1000 * weights), best_fits(x, d, taps)
        if fits and path_changes(fits) and fits[-1].left < 0.98 * fits[0].left:
            memory = memory // 20
        return RLS(taps, 1.0 - 1.0 / memory, delta)
    kind, step = STEPS[algorithm]
    if eta is not None:
        step = POSITIVE("eta", eta)
    elif kind is LMS and 0 < level < np.inf:
        step /= taps * level  # the step that NLMS takes
    new: Filter = kind(taps, eta=step)
    return new


def onset_lag(x: Signal, d: Signal) -> int | None:
    """The lag of d behind x by the first clear peak of the cross-correlation; None without one.

    All amplitudes are set to 1 (GCC-PHAT; Knapp and Carter, 1976). The first sample that counts is
    the first sound of x.
    """
    first = int(np.argmax(np.abs(x).max(axis=1) > 0.01 * np.abs(x).max(initial=0.0)))
    x, d = x[first : first + DELAY_SAMPLES], d[first : first + DELAY_SAMPLES]
    longest = min(2**14, len(d) // 4)  # a third of a second at 48 kHz, a second at 16 kHz
    if longest < 2 or not x.any() or not d.any():
        return None
    size = fft.next_fast_len(len(d) + longest)
    cross = fft.fft(d, size)[:, None] * fft.fft(x, size, axis=0).conj()
    floor = 1e-6 * np.abs(cross).max(axis=0) + 1e-300
    lags = np.abs(fft.ifft(cross / np.maximum(np.abs(cross), floor), axis=0)).sum(axis=1)
    near, beyond = np.split(np.roll(lags, longest), [2 * longest])
    # Where no delay is expected there is only chance.
    if not near.max() > 6.0 * np.sqrt(np.mean(beyond**2)):
        return None
    return int(np.argmax(near > 0.5 * near.max())) - longest


def reference_delay(x: Signal, d: Signal, taps: int) -> int:
    """Samples by which to delay x, negative where x lags behind d; 0 where that gains little.

    An eighth of the taps is left for what comes before the first clear peak. A delay counts where
    the best filter with so many taps explains clearly more of d then.
    """
    onset = onset_lag(x, d)
    if onset is None or 0 <= onset < taps // 2:
        return 0
    delay = onset - taps // 8
    x, d = x[:DELAY_SAMPLES], d[:DELAY_SAMPLES]
    fits = [best_fit(moved, d, taps) for moved in (x, signals.shifted(x, delay))]
    # In every quarter: the ends of a hum are clicks that make a peak, and gain in one place only.
    without, aligned = (
        np.array([signals.squares(part).mean() for part in np.array_split(d - fit.y, 4)])
        for fit in fits
    )
    return delay if (aligned + CLEAR_ERRORS * fits[1].missed < without).all() else 0


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
    the time, the other answers with fixed weights (Ochiai, Araseki and Ogihara, 1977). It gets the
    weights of the first where those leave clearly less of the microphone's signal, now and on
    average: while both ends talk they seldom do.

    Parameters
    ----------
    microphone : array-like of shape (N,)
        Near end and echo: d.
    far_end : array-like of shape (N,) or (N, loudspeakers)
        What was played: x.
    taps, filter : int, and Filter, optional
        Length of the echo in samples, by default 1024; a filter of yours works alone, learns from
        double talk too, and sees x without a delay if you give none.
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
    delay = (NONE | count(0))("delay", delay)
    if filter is not None:
        learning, delay = choose_filter(filter, taps, None), delay or 0
        y, e = learning.process(signals.shifted(x, delay), d)
        return TaskResult(e, learning, y, e, {"erle_db": gain_db(d, e)}, delay)
    taps = count()("taps", 1024 if taps is None else taps)
    signals.require_memory({"taps": taps}, 16 * x.shape[1] * taps)
    if delay is None:  # a part of the taps is left for what comes before the peak
        delay = max(0, (onset_lag(x, d) or 0) - 32 - taps // 16)
    x, kind = signals.shifted(x, delay), signals.kind_of(x, d)
    # The largest reasonable step: double talk may lead the learning filter astray without harm.
    learning = BlockLMS(taps, eta=1.0)
    trusted = WienerFilter(np.zeros((x.shape[1], taps)), dtype=kind)
    # The factors are those at which bench_cancelling keeps double talk out and follows changes.
    block, mean, y = max(512, learning.block or 1), np.zeros(3), np.empty(len(d), kind)
    for start in range(0, len(d), block):
        part = slice(start, start + block)
        _, e_learning = learning.process(x[part], d[part])
        y[part], e_trusted = trusted.process(x[part], d[part])
        now = np.array([signals.squares(v).sum() for v in (d[part], e_trusted, e_learning)])
        mean = 0.75 * mean + 0.25 * now
        microphone, left, left_by_learning = mean
        if now[2] < 0.65 * now[1] and left_by_learning < min(0.65 * left, microphone):
            trusted.weights = learning.weights
        elif left > 2.0 * microphone:  # the path has changed: better no filter than a wrong one
            trusted.weights = np.zeros_like(trusted.weights)
        elif left_by_learning > 2.0 * left:
            learning.weights = trusted.weights
    learning.weights, e = trusted.weights, d - y
    return TaskResult(e, learning, y, e, {"erle_db": gain_db(d, e)}, delay)
