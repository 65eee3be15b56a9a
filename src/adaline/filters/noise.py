"""The one choice of a filter for noise cancelling, and an estimate of what it achieved.

x is the reference of the noise and d = s + v the recording: s is the signal that is to stay and v
the noise, which a filter of x can explain. A filter answers e = d - y. Its noise is y - v.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._correlations import Method
from adaline.filters._settings import fits, one_of, positive, shown, whole
from adaline.filters._signals import Signal, line, lines, ratio_db, same_length, squares
from adaline.filters.affine_projection import AffineProjection
from adaline.filters.block_lms import BlockLMS
from adaline.filters.lms import LMS
from adaline.filters.nlms import NLMS
from adaline.filters.rls import RLS
from adaline.filters.wiener import WienerFilter

ALGORITHMS = ("auto", "rls", "block", "nlms", "affine", "lms")
MOST_WEIGHTS = 512  # of RLS; with more, its memory leaves the cache (bench_cancelling)
MEMORY = 30_000  # samples that RLS remembers at least: about 2 s of speech
MEMORY_PER_WEIGHT = 1000  # samples: RLS then adds noise 33 dB below a steady signal, or less
SHORT = 0.05  # of that memory, for a path that changes
# The steps of the first and of later passes: large ones to learn, small ones to stay. The signal
# itself disturbs learning, so that the steps are far below those for a system without noise.
STEPS = {"block": (0.1, 0.02), "nlms": (0.05, 0.005), "lms": (0.05, 0.005), "affine": (0.01, 0.001)}
_LATEST = 2**20  # samples that are judged: the last ones
_CLEARLY = 1.0  # dB by which the short memory must be better
_SECTIONS = (1, 4)  # a fixed path is estimated best from all samples, a changing one in sections
_SURE = 3.0  # times its expected error: how much noise must be there to tell its decibels


def noise_filter(
    taps: int = 32,
    algorithm: str = "auto",
    eta: float | None = None,
    *,
    channels: int = 1,
    level: float = 0.0,
    after: Filter | None = None,
    heard: tuple[Any, Any] | None = None,
) -> Filter:
    """The filter that `cancel` and the command `adaline filter` take, with their settings.

    The signal that is to stay disturbs learning, so the filter must average over many samples:
    RLS with a long memory up to 512 weights, else BlockLMS with a small step. Where a path changes,
    a long memory is late: with `heard`, a memory of a twentieth is tried too, and the one that
    reduces the noise more is taken (`noise_reduction`).

    Parameters
    ----------
    taps : int, default=32
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms"}, default="auto"
    eta : float, optional
        The step of learning; for RLS the factor of forgetting. If not given, RLS remembers
        30,000 samples, or 1,000 for each weight where that is more.
    channels : int, default=1
        How many references there are.
    level : float, default=0.0
        The mean power of the references, all channels together. With it RLS starts softly, and LMS
        needs it for its step. 0 is not known.
    after : Filter, optional
        The filter of a pass before, over the same samples: RLS goes on as it is, the others from
        their weights with a smaller step.
    heard : tuple of (reference, primary), optional
        Samples on which RLS is tried; of more than a million the last are taken.

    Returns
    -------
    Filter

    Examples
    --------
    >>> from adaline.filters import noise_filter
    >>> type(noise_filter(64)).__name__, type(noise_filter(1000)).__name__
    ('RLS', 'BlockLMS')
    """
    taps, channels = whole(taps, "taps", 1), whole(channels, "channels", 1)
    kind = one_of("algorithm", algorithm, ALGORITHMS)
    fits("taps", taps, 8 * taps)
    fits("channels", channels, 8 * channels * taps)
    level = positive("level", level, zero=True)
    eta = None if eta is None else positive("eta", eta)
    if after is not None and not isinstance(after, Filter):
        raise TypeError(f"after is {shown(after)}; expected the filter of a pass before, or None.")
    if heard is not None and not (isinstance(heard, tuple) and len(heard) == 2):
        raise TypeError(f"heard is {shown(heard)}; expected a tuple (reference, primary), or None.")
    if kind == "auto":
        kind = "rls" if channels * taps <= MOST_WEIGHTS else "block"
    if after is not None and (kind == "rls" or eta is not None):
        return after
    if kind == "rls":
        if eta is not None and eta > 1:
            raise ValueError(f"eta is {shown(eta)}; for RLS it is the share to keep, at most 1.")
        # With a small delta RLS would fit the signal during the first `taps` samples.
        delta: Any = taps * level or "auto"
        memory = max(MEMORY, MEMORY_PER_WEIGHT * channels * taps)
        usual = RLS(taps, 1.0 - 1.0 / memory if eta is None else eta, delta)
        if heard is None or eta is not None:
            return usual
        quick = RLS(taps, 1.0 - 1.0 / (SHORT * memory), delta)
        return _better(usual, quick, *heard)
    step = STEPS[kind][after is not None] if eta is None else eta
    if kind == "lms" and eta is None:
        if not level:
            raise ValueError(
                "LMS needs the level of the reference for its step; give level or eta."
            )
        step /= taps * level  # the step that NLMS takes
    weights = None if after is None else after.weights
    rules: dict[str, Any] = {
        "block": BlockLMS,
        "nlms": NLMS,
        "affine": AffineProjection,
        "lms": LMS,
    }
    made: Filter = rules[kind](taps, eta=step, weights=weights)
    return made


def _better(usual: Filter, quick: Filter, reference: Any, primary: Any) -> Filter:
    """Of two new filters the one that reduces the noise more, as new as before."""
    x, d = lines(reference, "reference")[-_LATEST:], line(primary, "primary")[-_LATEST:]
    same_length(x, "reference", d, "primary")
    gains = [noise_reduction(d, x, f.process(x, d)[1], f.taps).db for f in (usual, quick)]
    return (quick if gains[1] > gains[0] + _CLEARLY else usual).reset()


@dataclass(frozen=True, slots=True)
class NoiseReduction:
    """An estimate, without the clean signal, of what noise cancelling achieved.

    Attributes
    ----------
    db : float
        The power of the noise before over that after: the gain in signal-to-noise ratio, in dB.
        NaN where it cannot be told: too few samples, or no noise found.
    worse : bool
        Whether there is more noise after than before, beyond the error of the estimate.
    """

    db: float
    worse: bool

    def __str__(self) -> str:
        if self.worse:
            return "more noise was added than removed"
        if np.isnan(self.db):
            return "how much noise was removed cannot be told"
        return f"the noise fell by about {self.db:.0f} dB"


def noise_reduction(primary: Any, reference: Any, signal: Any, taps: int) -> NoiseReduction:
    """Estimate by how much noise cancelling reduced the noise, without the clean signal.

    The best fixed filter of these samples, y* (a Wiener filter), tells the noise: |y*|^2 is about
    the noise before, and |y - y*|^2 about that after, where y = primary - signal. What y* itself
    misses, taps/N of the rest, is allowed for. Both are found once from all samples and once in
    four sections, in case the path changes; the better answer counts.

    Parameters
    ----------
    primary : array-like of shape (N,)
        The signal with its noise.
    reference : array-like of shape (N,) or (N, sensors)
    signal : array-like of shape (N,)
        What the canceller answered. Give samples for which it had learned already. Of more than a
        million samples the last are taken.
    taps : int
        How far the noise may lag behind its reference.

    Returns
    -------
    NoiseReduction

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import NLMS, noise_reduction
    >>> rng = np.random.default_rng(0)
    >>> noise, voice = rng.standard_normal((2, 20_000))
    >>> d = voice + 0.1 * noise
    >>> print(noise_reduction(d, noise, NLMS(8).process(noise, d)[1], taps=8))
    more noise was added than removed
    """
    desired, noise = line(primary, "primary"), lines(reference, "reference")
    found, taps = line(signal, "signal"), whole(taps, "taps", 1)
    same_length(noise, "reference", desired, "primary")
    same_length(found, "signal", desired, "primary")
    x, d, e = (v[-_LATEST:] for v in (noise, desired, found))
    weights = x.shape[1] * taps
    sections = [k for k in _SECTIONS if len(d) // k >= 20 * weights]
    if not sections or (weights > MOST_WEIGHTS and x.shape[1] > 1):
        return NoiseReduction(np.nan, False)
    with np.errstate(all="ignore"):
        told = np.array([_before_after(x, d, e, taps, k) for k in sections])
    before, after, error = told.T
    if not np.isfinite(told).all():
        return NoiseReduction(np.nan, False)
    # Of one section alone, a change of the path looks like noise that the filter added.
    margin = 1.0 if len(sections) > 1 else _SURE
    worse = bool((after > before + margin * error).all() and (after > 0).all())
    gains = ratio_db(np.maximum(before, 0.0), after + error)
    sure = before > _SURE * error
    return NoiseReduction(float(gains[sure].max()) if sure.any() else np.nan, worse)


def _before_after(
    x: Signal, d: Signal, e: Signal, taps: int, sections: int
) -> tuple[float, float, float]:
    """Energy of the noise before and after, and the expected error of both."""
    before = after = error = 0.0
    method: Method = "prewindowed" if x.shape[1] * taps <= MOST_WEIGHTS else "autocorrelation"
    for part in np.array_split(np.arange(len(d)), sections):
        here = slice(part[0], part[-1] + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many best filters any will do
            best = WienerFilter.from_signals(x[here], d[here], taps, method=method)
        y, rest = best.process(x[here], d[here])
        missed = best.rank * squares(rest).sum() / max(len(part) - best.rank, 1)
        before += squares(y).sum() - missed
        after += squares(d[here] - e[here] - y).sum()
        error += missed
    return before, after, error
