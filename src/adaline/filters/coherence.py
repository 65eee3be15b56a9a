"""What a signal shares with a reference at any lag, without the filter that made it: for `noise`.

x (N, C) references    s (N,) a signal    segments of T samples, windowed, half overlapping

For each frequency H = S_xx^-1 S_xs is fitted over the K segments; |H X|^2 is the coherent power
(Bendat and Piersol, Random Data, chapter 9), which a filter of up to about T/2 taps could remove.
A fit of C numbers to K segments also explains a little of a signal that has nothing to do with x.
That is subtracted, segment by segment: loud segments count as what they are.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from adaline.filters.correlations import Method
from adaline.filters.signals import Signal, squares
from adaline.filters.wiener import WienerFilter
from adaline.results import Array

LONGEST_SEGMENT = 16_384  # samples: a third of a second at 48 kHz
SEGMENTS = 8  # at least, not counting the overlap: fewer say little
NEIGHBOURS = 1.9  # by so much leakage between frequencies raises the variance of their sum (Hann)
ONE_IN_1000 = 3.09  # quantile of the normal distribution
FAINT = 1e-9  # of the strongest frequency of x: below are rounding and leakage
LONGEST_DELAY = 16_384  # samples: a third of a second at 48 kHz, a second at 16 kHz
HEARD = 2**17  # samples from which a delay is estimated, from the first sound of x on
CLEAR = 6.0  # times the level of chance: how high a peak must be to count
MOST_WEIGHTS = (
    512  # of RLS, whose memory then leaves the cache (bench_cancelling), and of exact fits
)
WORTH = 3.0  # times what the weights explain by chance: how much a delay must gain


@dataclass(frozen=True, slots=True)
class CoherentPower:
    """The mean power of a signal, the coherent part of it, and the standard error of that part.

    `surely` is below the coherent part, but for one signal in a thousand.
    """

    power: float
    coherent: float
    error: float
    surely: float

    @property
    def share(self) -> float:
        """Coherent part of the power, from 0 to 1; NaN for silence."""
        return min(max(self.coherent / self.power, 0.0), 1.0) if self.power > 0 else np.nan


def segment(samples: int) -> int:
    """T for so many samples: a power of two."""
    return int(min(LONGEST_SEGMENT, 1 << max(samples // SEGMENTS, 1).bit_length() - 1))


def coherent_power(x: Signal, s: Signal) -> CoherentPower:
    """How much of the power of s goes with the references x (N, C), at lags up to about T/2."""
    power, T = float(np.mean(squares(s))), segment(len(s))
    if not x.any():
        return CoherentPower(power, 0.0, 0.0, 0.0)
    if T < 16 or not 0 < power < np.inf:
        return CoherentPower(power, np.nan, np.inf, np.nan)
    window = np.hanning(T + 1)[:T]
    unit = np.abs(x).max(axis=0)
    X = _segments(x / np.where(unit > 0, unit, 1.0), window)  # (K, T, C)
    S = _segments(s[:, None] / np.abs(s).max(), window)
    R = np.einsum("ktc,ktb->tcb", X.conj(), X)
    strength = np.trace(R, axis1=1, axis2=2).real
    heard = strength > FAINT * strength.max()
    everything = float(squares(S).sum())
    X, S = X[:, heard], S[:, heard, 0]
    P = np.linalg.pinv(R[heard], rcond=1e-10, hermitian=True)
    H = np.einsum("tcb,ktb,kt->tc", P, X.conj(), S, optimize=True)
    explained = np.einsum("ktc,tc->kt", X, H)
    leverage = np.minimum(np.einsum("ktc,tcb,ktb->kt", X, P, X.conj(), optimize=True).real, 0.95)
    # E|S - HX|^2 = (1 - leverage) |noise|^2, and a fit of noise explains leverage |noise|^2.
    chance = (leverage / (1.0 - leverage) * squares(S - explained)).sum(axis=0)
    unit_power, mean = power / everything, float(chance.sum())
    error = float(np.sqrt(NEIGHBOURS * np.sum(chance**2) / x.shape[1]))
    coherent = float(squares(explained).sum()) - mean
    # Chance has a gamma distribution; of a tone it is exponential (Wilson and Hilferty, 1931).
    spread = error / mean if mean > 0 else 0.0
    highest = mean * (1 - spread**2 / 9 + ONE_IN_1000 * spread / 3) ** 3
    return CoherentPower(
        power,
        coherent * unit_power,
        error * unit_power,
        (coherent - (highest - mean)) * unit_power,
    )


def _segments(signals: Signal, window: Array) -> Signal:
    """Spectra (K, T, C) of the segments; of real signals the positive frequencies."""
    T = len(window)
    cut = np.lib.stride_tricks.sliding_window_view(signals, T, axis=0)[:: T // 2]
    transform = np.fft.fft if np.iscomplexobj(signals) else np.fft.rfft
    return np.asarray(np.moveaxis(transform(cut * window, axis=-1), 1, 2))


def peaks(x: Signal, d: Signal, longest: int = LONGEST_DELAY) -> tuple[Array, int]:
    """Cross-correlation of d with x by lag, negative lags at the end, and the longest lag in it.

    All amplitudes are set to 1 (GCC-PHAT; Knapp and Carter, 1976). It begins where x does.
    """
    first = int(np.argmax(np.abs(x).max(axis=1) > 0.01 * np.abs(x).max(initial=0.0)))
    played, heard = x[first : first + HEARD], d[first : first + HEARD]
    most = min(longest, len(heard) // 4)
    if most < 2 or not played.any() or not heard.any():
        return np.zeros(1), 0
    size = 1 << (len(heard) + most).bit_length()
    spectrum = np.fft.fft(heard.astype(np.complex128), size)
    lags = np.zeros(size)
    for channel in played.T:
        cross = spectrum * np.conj(np.fft.fft(channel.astype(np.complex128), size))
        strength = np.abs(cross)
        lags += np.abs(np.fft.ifft(cross / np.maximum(strength, 1e-6 * strength.max() + 1e-300)))
    return lags, most


def shifted(x: Signal, samples: int) -> Signal:
    """x that many samples later, or earlier where negative, with zeros, and as long as before."""
    silence = np.zeros((min(abs(samples), len(x)), x.shape[1]), x.dtype)
    if samples < 0:
        return np.concatenate([x[-samples:], silence])
    return np.concatenate([silence, x])[: len(x)]


def reference_delay(x: Signal, d: Signal, taps: int) -> int:
    """Samples by which to delay x, negative where x lags behind d; 0 where that gains little.

    The first clear peak of the cross-correlation; an eighth of the taps is left for what comes
    before it. It counts where the best filter with so many taps explains clearly more of d then.
    """
    lags, most = peaks(x, d)
    if not most:
        return 0
    near = np.concatenate([lags[-most:], lags[:most]])
    chance = np.sqrt(np.mean(lags[most:-most] ** 2))
    if not near.max() > CLEAR * chance:
        return 0
    onset = int(np.argmax(near > 0.5 * near.max())) - most
    if 0 <= onset < taps // 2:
        return 0
    delay = onset - taps // 8
    x, d = x[:HEARD], d[:HEARD]
    left = []
    for k in (0, delay):
        best = best_fixed(shifted(x, k), d, taps)
        left.append(best.process(shifted(x, k), d)[1])
    chance = chance_share(shifted(x, delay), left[0], taps)  # a hum fits a voice at any delay
    without, aligned = (
        np.array([squares(part).sum() for part in np.array_split(e, 4)]) for e in left
    )
    # In every quarter: the ends of a hum are clicks that make a peak, and gain in one place only.
    return delay if (aligned + WORTH * chance * without < without).all() else 0


def best_fixed(x: Signal, d: Signal, taps: int) -> WienerFilter:
    """The Wiener filter of rows that see no zeros; of many weights a faster estimate of it."""
    few = x.shape[1] * taps <= MOST_WEIGHTS and len(d) >= taps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many best filters any will do
        method: Method = "covariance" if few else "autocorrelation"
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
