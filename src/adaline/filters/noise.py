"""What noise cancelling achieved, estimated without the clean signal. Called by `cancelling`.

x (N, C) references of the noise    d = s + v recording    e = d - y result
y* output of the best fixed filter of these samples    y - v the noise that is left

s is the signal that is to stay and v the noise, which a filter of x can explain. A fit also
explains a little of a signal that has nothing to do with x, by chance; that is allowed for.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from adaline.filters.signals import Signal, as_line, as_pair, ratio_db, require_same_length, squares
from adaline.filters.wiener import Method, WienerFilter
from adaline.parameters import count
from adaline.results import Result

MAX_EXACT_WEIGHTS = 512  # more make RLS's matrix leave the cache, and exact fits slow
JUDGED_SAMPLES = 2**20  # the last samples of a long recording: more do not sharpen the estimate
CLEAR_ERRORS = 3.0  # standard errors by which a power must exceed the expected one
SAMPLES_PER_WEIGHT = 20  # of a fit: fewer explain too much by chance
LONGER = 4  # times the taps, in which noise counts that comes later than the taps


@dataclass(frozen=True, slots=True)
class NoiseReduction(Result):
    """What noise cancelling achieved, estimated without the clean signal.

    The noise is all that goes with the reference: if the reference is the voice, it is the voice.
    """

    #: The power of the noise before over that after, in dB: a careful estimate, which a filter of
    #: too few taps does not raise. NaN if it is unknown (too few samples, no noise), or worse.
    db: float
    worse: bool  #: Whether there is more noise after than before, beyond the error of the estimate.
    #: The shares of the power of the recording and of the result, from 0 to 1, that go with the
    #: reference: what the best fixed filter of four times the taps explains. NaN if unknown.
    coherence_before: float = np.nan
    coherence_after: float = np.nan
    more_taps: bool = False  #: Whether most of the noise that is left lies beyond the taps.

    def __str__(self) -> str:
        if self.worse:
            return "more noise was added than removed"
        by = "an unknown factor" if np.isnan(self.db) else f"at least {np.floor(self.db):.0f} dB"
        return (
            f"{_percent(self.coherence_before)} of the recording's power is coherent with the "
            f"reference, and {_percent(self.coherence_after)} of the result's; that part fell by "
            f"{by}"
        )

    def advice(self, taps: int) -> str:
        """What to do about noise that was added, or that lies beyond the taps; "" if neither."""
        if self.worse:
            return (
                "More noise was added than removed: the filter followed the signal that is to "
                "stay, or the path of the noise changed faster than it learns. Leave the filter "
                "out, or take fewer taps, or another eta or forgetting."
            )
        text = (
            f"{_percent(self.coherence_after)} of the result's power is still coherent with the "
            f"reference: the noise lasts longer than {taps} taps reach. Take more taps, such as "
            f"{LONGER * taps}."
        )
        return text if self.more_taps else ""


def _percent(share: float) -> str:
    if np.isnan(share):
        return "an unknown share"
    return f"{100 * share:.1f}%" if share >= 0.001 or not share else "less than 0.1%"


def noise_reduction(
    primary: Any, reference: Any, signal: Any, taps: int, *, start: int = 0
) -> NoiseReduction:
    """Estimate by how much noise cancelling reduced the noise, without the clean signal.

    The best fixed filter of these samples, y* (a Wiener filter), estimates the noise within its
    taps: |y*|^2 before, and |y - y*|^2 after, where y = primary - signal. What y* itself misses,
    taps/N of the rest, is allowed for. y* is made of all samples, or in four sections, if that
    explains clearly more: then the path changes. Noise that comes later than the taps, what a
    filter of four times the taps explains of d - y*, is in both.

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
    x, d = as_pair(reference, "reference", primary, "primary")
    e, taps = as_line(signal, "signal"), count()("taps", taps)
    require_same_length(e, "signal", d, "primary")
    start = max(0, count(0, len(d) - 1)("start", start) - max(0, len(d) - JUDGED_SAMPLES))
    x, d, e = (v[-JUDGED_SAMPLES:] for v in (x, d, e))
    later = max(start, taps - 1)
    with np.errstate(all="ignore"):
        fits = best_fits(x, d, taps)
        error = np.array([fit.missed for fit in fits])
        before = np.array([squares(fit.y[later:]).mean() for fit in fits]) - error
        after = np.array([squares((d - e - fit.y)[later:]).mean() for fit in fits])
    if not fits or not np.isfinite(before + after).all():
        return NoiseReduction(np.nan, False)
    k = len(fits) - 1 if path_changes(fits) else 0
    # By one fit alone, a change of the path looks like noise that the filter added.
    margin = (1.0 if len(fits) > 1 else CLEAR_ERRORS) * error
    worse = bool(((after > before + margin) & (after > 0))[k:].all())
    shares = (
        explained_share(x[start:], d[start:], taps),
        explained_share(x[start:], e[start:], taps),
    )
    late = best_fit(x, d - fits[k].y, long_taps(x, taps))
    explained = late.explained(d - fits[k].y)
    beyond, clear = max(explained, 0.0), explained - CLEAR_ERRORS * late.missed
    left = float(after[k] + error[k])
    # Twice, as a reference that drifts has fewer degrees of freedom than samples.
    doubt = 2.0 * CLEAR_ERRORS * late.missed
    db = float(ratio_db(max(before[k], 0.0) + beyond, left + beyond + doubt))
    sure = before[k] > CLEAR_ERRORS * error[k] or clear > 0
    # Less than a thousandth of the power is not worth a longer filter.
    more = clear > max(left, 0.001 * float(squares(d).mean())) and shares[1] > 0.001
    return NoiseReduction(db if sure and db > 0 and not worse else np.nan, worse, *shares, more)


class BestFit(NamedTuple):
    """y* of the best fixed filter, or of one in each section; powers of what it leaves, misses."""

    y: Signal
    left: float
    missed: float

    def explained(self, d: Signal) -> float:
        """The power of d that y* explains, but for what chance does."""
        return float(squares(d).mean()) - self.left - self.missed


def best_fits(x: Signal, d: Signal, taps: int) -> list[BestFit]:
    """Of all samples, and of four sections, if there are 20 samples or more for each weight."""
    weights = x.shape[1] * taps
    if weights > MAX_EXACT_WEIGHTS and x.shape[1] > 1:
        return []
    return [best_fit(x, d, taps, k) for k in (1, 4) if len(d) // k >= SAMPLES_PER_WEIGHT * weights]


def path_changes(fits: list[BestFit]) -> bool:
    """Whether sections explain clearly more than their additional weights do by chance."""
    return fits[0].left - fits[-1].left > CLEAR_ERRORS * fits[-1].missed


def long_taps(x: Signal, taps: int) -> int:
    """Four times the taps, or as many as the samples suffice for."""
    weights, channels = len(x) // SAMPLES_PER_WEIGHT, int(x.shape[1])
    most = weights if channels == 1 else min(weights, MAX_EXACT_WEIGHTS)
    return max(taps, min(LONGER * taps, most // channels))


def explained_share(x: Signal, s: Signal, taps: int) -> float:
    """The share of the power of s that a long filter of x explains; NaN if unknown."""
    power, taps = float(squares(s).mean()), long_taps(x, taps)
    if not power > 0 or len(x) < 2 * taps:
        return np.nan
    return max(best_fit(x, s, taps).explained(s) / power, 0.0)


def best_fit(x: Signal, d: Signal, taps: int, sections: int = 1) -> BestFit:
    """The Wiener filters of sections; of rows that see no zeros, or of many weights an estimate."""
    few = x.shape[1] * taps <= MAX_EXACT_WEIGHTS and len(d) >= taps
    y, left, missed = np.zeros_like(d), 0.0, 0.0
    for part in np.array_split(np.arange(len(d)), sections):
        first, stop = max(part[0] - taps + 1, 0), part[-1] + 1  # with the samples before it
        u, v = x[first:stop], d[first:stop]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many best filters any will do
            method: Method = "covariance" if few else "autocorrelation"
            best = WienerFilter.from_signals(u, v, taps, method)
        output, rest = best.process(u, v)
        y[part] = output[part[0] - first :]
        rest = rest[taps - 1 :]
        energy, share = float(squares(rest).sum()), best.rank / len(rest)
        left += energy / len(d)
        # Of a signal that has nothing to do with x, a fit explains rank/N by chance.
        missed += energy * share / max(1.0 - share, 1e-3) / len(d)
    return BestFit(y, left, missed)
