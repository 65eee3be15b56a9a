"""What noise cancelling achieved, estimated without the clean signal. Called by `cancelling`.

x (N, C) references of the noise    d = s + v recording    e = d - y result    T segment length
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
from adaline.results import Array, Result

MAX_EXACT_WEIGHTS = 512  # more make RLS's matrix leave the cache, and exact fits slow
JUDGED_SAMPLES = 2**20  # the last samples of a long recording: more do not sharpen the estimate
SAMPLES_PER_WEIGHT = 20  # at least, or a best fit would explain too much by chance
CLEAR_ERRORS = 3.0  # standard errors by which a power must exceed the expected one
AUDIBLE_SHARE = 0.001  # of the power: less noise is not worth a longer filter
LONGEST_SEGMENT = 2**14  # samples: a third of a second at 48 kHz
FEWEST_SEGMENTS = 8  # not counting the overlap: fewer say little
LEAKAGE_VARIANCE = 1.9  # factor by which leakage of a Hann window raises the variance of sums
FAINT_FREQUENCY = 1e-9  # of the strongest frequency of x: below are rounding and leakage


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
        reduction = f"that part fell by at least {np.floor(self.db):.0f} dB"
        if np.isnan(self.db):
            reduction = "by how much that part fell cannot be estimated"
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

    The best fixed filter of these samples, y* (a Wiener filter), estimates the noise within its
    taps: |y*|^2 before, and |y - y*|^2 after, where y = primary - signal. What y* itself misses,
    taps/N of the rest, is allowed for. y* is made of all samples, or in four sections, if that
    explains clearly more: then the path changes. Noise that comes later than the taps, what in
    d - y* is still coherent with the reference, is in both; two standard errors are added to it.

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
    start = count(0, len(d) - 1)("start", start) - max(0, len(d) - JUDGED_SAMPLES)
    x, d, e = (v[-JUDGED_SAMPLES:] for v in (x, d, e))
    judged = slice(max(start, 0), None)
    with np.errstate(all="ignore"):
        shares = (
            coherent_power(x[judged], d[judged]).share,
            coherent_power(x[judged], e[judged]).share,
        )
        fits = best_fits(x, d, taps) if segment_length(len(d)) >= 2 * taps else []
        judged = slice(max(start, taps - 1), None)
        error = np.array([fit.missed for fit in fits])
        before = np.array([squares(fit.y[judged]).mean() for fit in fits]) - error
        after = np.array([squares((d - e - fit.y)[judged]).mean() for fit in fits])
    if not fits or not np.isfinite(before + after).all():
        return NoiseReduction(np.nan, False, *shares)
    k = len(fits) - 1 if path_changes(fits) else 0
    # By one fit alone, a change of the path looks like noise that the filter added.
    margin = (1.0 if len(fits) > 1 else CLEAR_ERRORS) * error
    worse = bool(((after > before + margin) & (after > 0))[k:].all())
    late = coherent_power(x[taps - 1 :], (d - fits[k].y)[taps - 1 :])
    beyond, left = max(late.coherent, 0.0), float(after[k] + error[k])
    db = float(ratio_db(max(before[k], 0.0) + beyond, left + beyond + 2 * late.error))
    sure = before[k] > CLEAR_ERRORS * error[k] or late.lower > 0
    more = late.lower > max(left, AUDIBLE_SHARE * late.power) and shares[1] > AUDIBLE_SHARE
    return NoiseReduction(db if sure and db > 0 and not worse else np.nan, worse, *shares, more)


class BestFit(NamedTuple):
    """y* of the best fixed filter, or of one in each section; powers of what it leaves, misses."""

    y: Signal
    left: float
    missed: float


def best_fits(x: Signal, d: Signal, taps: int) -> list[BestFit]:
    """Of all samples, and of four sections, as far as there are samples enough."""
    weights = x.shape[1] * taps
    if weights > MAX_EXACT_WEIGHTS and x.shape[1] > 1:
        return []
    return [_best_fit(x, d, taps, k) for k in (1, 4) if len(d) // k >= SAMPLES_PER_WEIGHT * weights]


def path_changes(fits: list[BestFit]) -> bool:
    """Whether sections explain clearly more than their additional weights do by chance."""
    return fits[0].left - fits[-1].left > CLEAR_ERRORS * fits[-1].missed


def _best_fit(x: Signal, d: Signal, taps: int, sections: int) -> BestFit:
    y, left, missed = np.zeros_like(d), 0.0, 0.0
    for part in np.array_split(np.arange(len(d)), sections):
        first, stop = max(part[0] - taps + 1, 0), part[-1] + 1  # with the samples before it
        best = best_fixed(x[first:stop], d[first:stop], taps)
        output, rest = best.process(x[first:stop], d[first:stop])
        y[part] = output[part[0] - first :]
        rest = rest[taps - 1 :]
        energy, share = float(squares(rest).sum()), best.rank / len(rest)
        chance = share
        if x.shape[1] * taps <= MAX_EXACT_WEIGHTS:
            chance = max(chance, chance_share(x[first:stop], rest, taps))
        left += energy / len(d)
        missed += energy * chance / max(1.0 - share, 1e-3) / len(d)
    return BestFit(y, left, missed)


def best_fixed(x: Signal, d: Signal, taps: int) -> WienerFilter:
    """The Wiener filter of rows that see no zeros; of many weights a faster estimate of it."""
    few = x.shape[1] * taps <= MAX_EXACT_WEIGHTS and len(d) >= taps
    method: Method = "covariance" if few else "autocorrelation"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many best filters any will do
        return WienerFilter.from_signals(x, d, taps, method=method)


def chance_share(x: Signal, rest: Signal, taps: int) -> float:
    """Share of the energy of rest that so many taps of x explain by chance, if they are unrelated.

    The mean over phases of |P s|^2, where P projects on the delayed x: taps/N for white signals.
    Where x has its power at few frequencies, as a random walk has, the rest there counts.
    """
    size = 1 << (len(x) + taps).bit_length()
    X = np.fft.fft(x / max(np.abs(x).max(), 1e-300), size, axis=0).T  # (C, frequencies)
    strength = squares(np.fft.fft(rest, size))
    lag = np.subtract.outer(np.arange(taps), np.arange(taps))
    sums = np.fft.ifft(X[:, None] * X[None].conj())  # (C, C, lags): of x_a(n) conj x_b(n - lag)
    blocks = sums[:, :, lag.T].transpose(0, 2, 1, 3).reshape(len(X) * taps, -1)
    P = np.linalg.pinv(blocks, rcond=1e-12, hermitian=True).reshape(len(X), taps, len(X), taps)
    share = 0.0
    for a in range(len(X)):
        for b in range(len(X)):
            diagonals = np.zeros(size, complex)
            np.add.at(diagonals, lag % size, P[a, :, b, :])
            weights = X[a].conj() * np.fft.fft(diagonals).conj() * X[b]
            share += float(np.sum(weights.real * strength))
    return share / (size * len(rest) * max(float(squares(rest).sum()), 1e-300))


class CoherentPower(NamedTuple):
    """The mean power of a signal, the coherent part of it, and the standard error of that part.

    `lower` is below the coherent part, but for one signal in a thousand.
    """

    power: float
    coherent: float
    error: float
    lower: float

    @property
    def share(self) -> float:
        """Coherent part of the power, from 0 to 1; NaN for silence."""
        return min(max(self.coherent / self.power, 0.0), 1.0) if self.power > 0 else np.nan


def segment_length(samples: int) -> int:
    """T for so many samples: a power of two."""
    return int(min(LONGEST_SEGMENT, 1 << max(samples // FEWEST_SEGMENTS, 1).bit_length() - 1))


def coherent_power(x: Signal, s: Signal) -> CoherentPower:
    """How much of the power of s goes with the references x (N, C), at lags up to about T/2.

    For each frequency H = S_xx^-1 S_xs is fitted over the K segments, windowed and half
    overlapping; |H X|^2 is the coherent power (Bendat and Piersol, Random Data, chapter 9). What
    chance explains is subtracted segment by segment: loud segments count as what they are.
    """
    power, T = float(np.mean(squares(s))), segment_length(len(s))
    if not x.any():
        return CoherentPower(power, 0.0, 0.0, 0.0)
    if T < 16 or not 0 < power < np.inf:
        return CoherentPower(power, np.nan, np.inf, np.nan)
    window, unit = np.hanning(T + 1)[:T], np.abs(x).max(axis=0)
    X = _segments(x / np.where(unit > 0, unit, 1.0), window)  # (K, T, C)
    S = _segments(s[:, None] / np.abs(s).max(), window)
    R = np.einsum("ktc,ktb->tcb", X.conj(), X)
    strength = np.trace(R, axis1=1, axis2=2).real
    strong = strength > FAINT_FREQUENCY * strength.max()
    unit_power = power / float(squares(S).sum())
    X, S = X[:, strong], S[:, strong, 0]
    P = np.linalg.pinv(R[strong], rcond=1e-10, hermitian=True)
    H = np.einsum("tcb,ktb,kt->tc", P, X.conj(), S, optimize=True)
    explained = np.einsum("ktc,tc->kt", X, H)
    leverage = np.minimum(np.einsum("ktc,tcb,ktb->kt", X, P, X.conj(), optimize=True).real, 0.95)
    # E|S - HX|^2 = (1 - leverage) |noise|^2, and a fit of noise explains leverage |noise|^2.
    chance = (leverage / (1.0 - leverage) * squares(S - explained)).sum(axis=0)
    mean = float(chance.sum())
    error = float(np.sqrt(LEAKAGE_VARIANCE * np.sum(chance**2) / x.shape[1]))
    total = float(squares(explained).sum())
    # Chance has a gamma distribution; of a tone it is exponential. Wilson and Hilferty (1931)
    # give its quantile from that of the normal distribution, 3.09 for one in a thousand.
    spread = error / mean if mean > 0 else 0.0
    highest = mean * (1 - spread**2 / 9 + 3.09 * spread / 3) ** 3
    parts = total - mean, error, total - highest
    return CoherentPower(power, *(unit_power * part for part in parts))


def _segments(signals: Signal, window: Array) -> Signal:
    """Spectra (K, T, C) of the segments; of real signals the positive frequencies."""
    T = len(window)
    cut = np.lib.stride_tricks.sliding_window_view(signals, T, axis=0)[:: T // 2]
    transform = np.fft.fft if np.iscomplexobj(signals) else np.fft.rfft
    return np.asarray(np.moveaxis(transform(cut * window, axis=-1), 1, 2))
