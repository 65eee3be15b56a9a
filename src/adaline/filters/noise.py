"""The one choice of a filter for noise cancelling, and an estimate of what it achieved.

x is the reference of the noise and d = s + v the recording: s is the signal that is to stay and v
the noise, which a filter of x can explain. A filter answers e = d - y. Its noise is y - v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.filters.affine_projection import AffineProjection
from adaline.filters.block_lms import BlockLMS
from adaline.filters.coherence import (
    MOST_WEIGHTS,
    best_fixed,
    chance_share,
    coherent_power,
    segment,
)
from adaline.filters.filter import Filter
from adaline.filters.lms import LMS
from adaline.filters.nlms import NLMS
from adaline.filters.rls import RLS
from adaline.filters.signals import (
    Signal,
    line,
    lines,
    ratio_db,
    require_memory,
    require_same_length,
    squares,
)
from adaline.filters.wiener import WienerFilter
from adaline.parameters import NOT_NEGATIVE, POSITIVE, count, shown, words
from adaline.results import Result

ALGORITHMS = ("auto", "rls", "block", "nlms", "affine", "lms", "wiener")
MEMORY = 30_000  # samples that RLS remembers at least: about 2 s of speech
MEMORY_PER_WEIGHT = 1000  # samples: RLS then adds noise 33 dB below a steady signal, or less
SHORT = 0.05  # of that memory, for a path that changes
# The steps of the first and of later passes: large ones to learn, small ones to stay. The signal
# itself disturbs learning, so that the steps are far below those for a system without noise.
STEPS = {"block": (0.1, 0.02), "nlms": (0.05, 0.005), "lms": (0.05, 0.005), "affine": (0.01, 0.001)}
JUDGED_SAMPLES = 2**20  # samples that are judged: the last ones
CLEARLY_BETTER = 1.0  # dB by which the short memory must be better
SECTIONS = (1, 4)  # a fixed path is estimated best from all samples, a changing one in sections
SURE = 3.0  # times its expected error: how much noise must be there to tell its decibels
AUDIBLE = 0.001  # of the power: less noise is not worth a longer filter


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
    a long memory is late: with `heard`, a memory of a twentieth is tried too, and the one whose
    output is closer to the noise is taken: to that of the best fixed filter of all samples or,
    where the path changes, of each quarter of them.

    Parameters
    ----------
    taps : int, default=32
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms", "wiener"}, default="auto"
        "wiener" is the best fixed filter of the samples `heard`: for a recording that is finished,
        and a path that does not change.
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
        Samples on which RLS is tried; of more than a million the last are taken. "wiener" learns
        from all of them.
    passes : int, default=2
        How often the samples are gone through: the trial is judged by its last pass, in which RLS
        has forgotten its soft start.

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
    passes = count()("passes", passes)
    kind = words(*ALGORITHMS)("algorithm", algorithm)
    require_memory({"taps": taps, "channels": channels}, 8 * channels * taps)
    level = NOT_NEGATIVE("level", level)
    eta = None if eta is None else POSITIVE("eta", eta)
    if after is not None and not isinstance(after, Filter):
        raise TypeError(f"after is {shown(after)}; expected the filter of a pass before, or None.")
    if heard is not None and not (isinstance(heard, tuple) and len(heard) == 2):
        raise TypeError(f"heard is {shown(heard)}; expected a tuple (reference, primary), or None.")
    if kind == "auto":
        kind = "rls" if channels * taps <= MOST_WEIGHTS else "block"
    if after is not None and (kind in ("rls", "wiener") or eta is not None):
        return after
    if kind == "wiener":
        if heard is None or eta is not None:
            raise ValueError("algorithm='wiener' needs heard, the samples to learn from, not eta.")
        return WienerFilter.from_signals(*heard, taps)
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
        return _better(usual, quick, *heard, passes)
    step = STEPS[kind][after is not None] if eta is None else eta
    if kind == "lms" and eta is None:
        if not level:
            raise ValueError("LMS needs the level of the reference for its step, or eta.")
        step /= taps * level  # the step that NLMS takes
    kinds: dict[str, Any] = dict(block=BlockLMS, nlms=NLMS, affine=AffineProjection, lms=LMS)
    made: Filter = kinds[kind](taps, eta=step, weights=None if after is None else after.weights)
    return made


def _better(usual: Filter, quick: Filter, reference: Any, primary: Any, passes: int) -> Filter:
    """Of two new filters the one that reduces the noise more, as new as before."""
    x = lines(reference, "reference")[-JUDGED_SAMPLES:]
    d = line(primary, "primary")[-JUDGED_SAMPLES:]
    require_same_length(x, "reference", d, "primary")
    fits = _best_fits(x, d, usual.taps)
    if not fits:
        return usual
    noise, left = _steady_or_changing(fits).y, []
    for filter in (usual, quick):
        for _ in range(min(passes, 2)):
            y, _ = filter.process(x, d)
        left.append(squares(y - noise)[usual.taps :].sum())
    return (quick if ratio_db(*left) > CLEARLY_BETTER else usual).reset()


@dataclass(frozen=True, slots=True)
class NoiseReduction(Result):
    """What noise cancelling achieved, estimated without the clean signal.

    The noise is all that goes with the reference: if the reference is the voice, it is the voice.

    Attributes
    ----------
    db : float
        The power of the noise before over that after, in dB: a careful estimate, which a filter of
        too few taps does not raise. NaN where it cannot be told (too few samples, no noise found),
        and where it is worse.
    worse : bool
        Whether there is more noise after than before, beyond the error of the estimate.
    coherence_before, coherence_after : float
        The shares of the power of the recording and of the result, from 0 to 1, that are coherent
        with the reference. NaN where it cannot be told.
    more_taps : bool
        Whether most of the noise that is left lies beyond the taps.
    """

    db: float
    worse: bool
    coherence_before: float = np.nan
    coherence_after: float = np.nan
    more_taps: bool = False

    def __str__(self) -> str:
        if self.worse:
            return "more noise was added than removed"
        if np.isnan(self.db):
            reduction = "by how much that part fell cannot be estimated"
        else:
            reduction = f"that part fell by at least {np.floor(self.db):.0f} dB"
        if np.isnan(self.coherence_before + self.coherence_after):
            return f"some of the power may be coherent with the reference; {reduction}"
        return (
            f"{_percent(self.coherence_before)} of the recording's power is coherent with the "
            f"reference, and {_percent(self.coherence_after)} of the result's; {reduction}"
        )

    def advice(self, taps: int) -> str:
        """The sentence for `more_taps`."""
        return (
            f"{_percent(self.coherence_after)} of the result's power is still coherent with the "
            f"reference: the noise lasts longer than {taps} taps reach. Take more taps, such as "
            f"{4 * taps}."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.001 or not share else "less than 0.1%"


def noise_reduction(
    primary: Any, reference: Any, signal: Any, taps: int, *, start: int = 0
) -> NoiseReduction:
    """Estimate by how much noise cancelling reduced the noise, without the clean signal.

    The best fixed filter of these samples, y* (a Wiener filter), tells the noise within its taps:
    |y*|^2 before, and |y - y*|^2 after, where y = primary - signal. What y* itself misses, taps/N
    of the rest, is allowed for. y* is found from all samples, or in four sections, if that explains
    clearly more: then the path changes. Noise that comes later than the taps is in both, before and
    after: it is what in d - y* is still coherent with the reference, with two standard errors added
    to what is left.

    Parameters
    ----------
    primary : array-like of shape (N,)
        The signal with its noise.
    reference : array-like of shape (N,) or (N, sensors)
    signal : array-like of shape (N,)
        What the canceller answered. Of more than a million samples the last are taken.
    taps : int
        Of the canceller.
    start : int, default=0
        The sample from which the canceller had learned: from there on it is judged.

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
    answer, taps = line(signal, "signal"), count()("taps", taps)
    require_same_length(noise, "reference", desired, "primary")
    require_same_length(answer, "signal", desired, "primary")
    start = count(0, len(desired) - 1)("start", start) - max(0, len(desired) - JUDGED_SAMPLES)
    x, d, e = (v[-JUDGED_SAMPLES:] for v in (noise, desired, answer))
    judged = slice(max(start, 0), None)
    with np.errstate(all="ignore"):
        shares = (
            coherent_power(x[judged], d[judged]).share,
            coherent_power(x[judged], e[judged]).share,
        )
        fits = _best_fits(x, d, taps) if segment(len(d)) >= 2 * taps else []
        judged = slice(max(start, taps - 1), None)
        told = [_before_after(fit, d[judged], e[judged], judged) for fit in fits]
    if not told or not np.isfinite(told).all():
        return NoiseReduction(np.nan, False, *shares)
    # Of one section alone, a change of the path looks like noise that the filter added.
    margin = 1.0 if len(told) > 1 else SURE
    best = _steady_or_changing(fits)
    k = fits.index(best)
    worse = all(after > before + margin * error and after > 0 for before, after, error in told[k:])
    before, after, error = told[k]
    late = coherent_power(x[taps - 1 :], (d - best.y)[taps - 1 :])
    beyond = max(late.coherent, 0.0)
    db = float(ratio_db(max(before, 0.0) + beyond, after + error + beyond + 2 * late.error))
    sure = before > SURE * error or late.surely > 0
    more = late.surely > max(after + error, AUDIBLE * late.power) and shares[1] > AUDIBLE
    return NoiseReduction(db if sure and db > 0 and not worse else np.nan, worse, *shares, more)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """y of the best fixed filter or of one in each section; powers of what it leaves, misses."""

    y: Signal
    left: float
    missed: float


def _best_fits(x: Signal, d: Signal, taps: int) -> list[_Fit]:
    """Of all samples, and of sections, as far as there are samples enough for the weights."""
    weights = x.shape[1] * taps
    if weights > MOST_WEIGHTS and x.shape[1] > 1:
        return []
    return [_best_fit(x, d, taps, k) for k in SECTIONS if len(d) // k >= 20 * weights]


def _best_fit(x: Signal, d: Signal, taps: int, sections: int) -> _Fit:
    y, left, missed = np.zeros_like(d, shape=len(d)), 0.0, 0.0
    for part in np.array_split(np.arange(len(d)), sections):
        first, stop = max(part[0] - taps + 1, 0), part[-1] + 1  # with the samples before it
        best = best_fixed(x[first:stop], d[first:stop], taps)
        output, rest = best.process(x[first:stop], d[first:stop])
        y[part] = output[part[0] - first :]
        rest = rest[taps - 1 :]
        energy, chance = float(squares(rest).sum()), best.rank / len(rest)
        if x.shape[1] * taps <= MOST_WEIGHTS:
            chance = max(chance, chance_share(x[first:stop], rest, taps))
        left += energy / len(d)
        missed += energy * chance / max(1.0 - best.rank / len(rest), 1e-3) / len(d)
    return _Fit(y, left, missed)


def _steady_or_changing(fits: list[_Fit]) -> _Fit:
    """Sections count where they explain clearly more than their additional weights do by chance."""
    changing = fits[0].left - fits[-1].left > SURE * fits[-1].missed
    return fits[-1] if changing else fits[0]


def _before_after(fit: _Fit, d: Signal, e: Signal, judged: slice) -> tuple[float, float, float]:
    """Power of the noise within the taps before and after, and the expected error of both."""
    y = fit.y[judged]
    before, after = squares(y).mean() - fit.missed, squares(d - e - y).mean()
    return float(before), float(after), fit.missed
