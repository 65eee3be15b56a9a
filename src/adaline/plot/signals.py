"""Pictures of filters: spectrograms, learning curves, impulse and frequency responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.signal import freqz, spectrogram
from sklearn.utils import check_scalar

from adaline.evaluation.words import number
from adaline.filters import learning_curve, misalignment
from adaline.plot import draw
from adaline.plot.animation import Animation, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array


@dataclass(eq=False, repr=False)
class SpectrogramDisplay(Display):
    """Power over time and frequency before and after filtering, in decibels, on one scale.

    Examples
    --------
    >>> from adaline.plot import SpectrogramDisplay
    >>> tone = np.sin(2 * np.pi * 0.125 * np.arange(4000))
    >>> picture = SpectrogramDisplay.from_signals(tone, 0.1 * tone)
    >>> float(picture.frequencies[picture.before[:, 0].argmax()]), round(picture.change, 6)
    (0.125, -20.0)
    """

    times: Array  #: Centres of the segments, in seconds where a rate is given, else in samples.
    frequencies: Array  #: Hz, or cycles per sample.
    before: Array  #: 10 log10 of the power density of Hann-windowed segments, (frequencies, times).
    after: Array
    change: float  #: Total power of `after` over that of `before`, in decibels.
    rate: float | None
    panels = 2
    size = (4.5, 3.4)

    @classmethod
    def from_signals(cls, before: Any, after: Any, *, rate: float | None = None) -> Self:
        """Two real signals of equal length, such as d and e of a canceller.

        They have `rate` samples per second and are cut into segments of 256 samples.
        """
        a, b = draw.check_signal(before, "before"), draw.check_signal(after, "after")
        if len(a) != len(b):
            raise ValueError(f"before has {len(a)} samples and after {len(b)}; give as many.")
        unit = check_rate(rate)
        size = min(256, len(a))
        hop = max(1, size // 4, (len(a) - size) // 400)  # columns of pixels of a picture
        cut: dict[str, Any] = {"nperseg": size, "noverlap": size - hop, "detrend": False}
        frequencies, times, power = spectrogram(np.stack([a, b]), unit, "hann", **cut)
        change = float(_decibels(np.sum(b**2)) - _decibels(np.sum(a**2)) if a.any() else np.nan)
        first, second = _decibels(power)
        return cls(times, frequencies, first, second, change, rate)

    @property
    def claim(self) -> str:
        if np.isnan(self.change):
            return "No power before and after"
        verb = "less" if self.change < 0 else "more"
        return f"{abs(self.change):.1f} dB {verb} power after than before"

    def _draw(self, *axes: draw.Axes) -> None:
        top = float(np.max(self.before[np.isfinite(self.before)], initial=-300.0))
        step = (self.times[1] - self.times[0]) / 2 if len(self.times) > 1 else 0.5
        span = np.array([self.times[0] - step, self.times[-1] + step])
        units = ("s", "Hz") if self.rate else ("samples", "cycles per sample")
        powers = {"Before": self.before, "After": self.after}
        for ax, (words, power) in zip(axes, powers.items(), strict=True):
            shown = np.maximum(power, top - 90.0)  # -inf has no colour
            look = {"cmap": "viridis", "vmin": top - 80.0, "vmax": top}
            image = draw.image(ax, span, self.frequencies, shown, **look)
            label = f"frequency, {units[1]}" if ax is axes[0] else None
            draw.describe(ax, f"time, {units[0]}", label, words)
        draw.colour_bar(image, "power, dB")


def check_rate(rate: float | None) -> float:
    """Samples per second; 1 where no rate is given."""
    if rate is None:
        return 1.0
    return float(check_scalar(rate, "rate", Real, min_val=0, include_boundaries="neither"))


def _decibels(power: Any) -> Array:
    """10 log10 of a power."""
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(power))


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """The mean squared error of the last samples against the samples seen.

    LMS converges for 0 < eta < 2/tr[R], and no linear filter has less error than Wiener's.

    Examples
    --------
    >>> from adaline.plot import LearningCurveDisplay
    >>> picture = LearningCurveDisplay.from_errors({"LMS": [2.0, 1.0, 0.0]}, window=2)
    >>> print(picture.claim)
    LMS ends at a mean squared error of 0.5
    """

    #: Means of the squared a priori error over the last `window` samples, for each learner.
    curves: dict[str, Array]
    window: int
    floor: float | None = None  #: The least error: that of the Wiener filter, or of least squares.
    bound: float | None = None  #: 2/tr[R].

    @classmethod
    def from_errors(
        cls,
        errors: Mapping[str, Any],
        *,
        window: int = 100,
        floor: float | None = None,
        bound: float | None = None,
    ) -> Self:
        """Curves of the errors of filters: the e of `y, e = filter.process(x, d)`, by name.

        `floor` is `WienerFilter.from_signals(x, d, taps).error` and `bound` 2/tr[R], as
        `filters.max_step(x, taps).mean_square` computes it.
        """
        if not isinstance(errors, Mapping) or not errors:
            raise TypeError('errors is expected to be a mapping such as {"LMS": e}, not empty.')
        checked = {name: draw.check_signal(e, f"errors[{name!r}]") for name, e in errors.items()}
        curves = {str(name): learning_curve(e, window) for name, e in checked.items()}
        return cls(curves, window, floor, bound)

    @property
    def claim(self) -> str:
        name, curve = min(self.curves.items(), key=lambda item: float(item[1][-1]))
        lowest = f" lowest of {len(self.curves)}," if len(self.curves) > 1 else ""
        words = f"{name} ends{lowest} at a mean squared error of {number(curve[-1], 3)}"
        if self.floor is not None:
            words += f"; the least is {number(self.floor, 3)}"
        if self.bound is not None:
            words += f". Bound on the rate: 2/tr[R] = {number(self.bound, 3)}"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        for k, (name, curve) in enumerate(self.curves.items()):
            at = choose_frames(len(curve), 800)  # more points cannot be distinguished
            draw.curve(ax, at + 1, curve[at], k, label=draw.label(name))
        if self.floor is not None and self.floor > 0:
            draw.reference(ax, self.floor, "least error (Wiener, least squares)")
        positive = all((curve > 0).any() for curve in self.curves.values())
        label = f"mean squared error, last {self.window}"
        draw.describe(ax, "samples seen", label, yscale="log" if positive else "linear")


@dataclass(eq=False, repr=False)
class ResponseDisplay(Display):
    """Impulse response of a filter, and its gain at each frequency in decibels.

    y(n) = w^H x(n), so that the impulse response is conj(w).

    Examples
    --------
    >>> from adaline.plot import ResponseDisplay
    >>> picture = ResponseDisplay.from_weights([0.5, 0.5], rate=8000.0)
    >>> print(picture.claim)
    filter: largest gain 0 dB at 0 Hz
    """

    impulse: NDArray[Any]
    frequencies: Array  #: In units of `rate`: cycles per sample, or Hz where a rate is given.
    gain: Array  #: 20 log10 |H|; -inf where nothing passes.
    truth: NDArray[Any] | None  #: The same of the system to be identified, where it is known.
    truth_gain: Array | None
    rate: float | None  #: Samples per second.
    name: str
    moment: str = ""  #: In a film, when this is, and limits of impulse response and gain.
    limits: tuple[Any, Any] = (None, None)
    panels = 2
    size = (4.4, 3.4)

    @classmethod
    def from_filter(cls, filter: Any, *, rate: float | None = None, truth: Any = None) -> Self:
        """The current weights of a filter of one reference."""
        if not hasattr(filter, "weights"):
            raise TypeError(f"{type(filter).__name__} has no weights; expected a filter.")
        name = type(filter).__name__
        return cls.from_weights(filter.weights, rate=rate, truth=truth, name=name)

    @classmethod
    def from_weights(
        cls, weights: Any, *, rate: float | None = None, truth: Any = None, name: str = "filter"
    ) -> Self:
        """Weights w (taps,) of y(n) = w^H x(n), at `rate` samples per second.

        `truth` is the impulse response of the system to be identified, where it is known.
        """
        h = draw.check_signal(weights, "weights").conj()
        system = None if truth is None else draw.check_signal(truth, "truth")
        curves = [v for v in (h, system) if v is not None]
        two_sided = any(map(np.iscomplexobj, curves))
        n = max(1024, *map(len, curves))  # any number that fills a screen
        options: Any = {"whole": two_sided, "fs": check_rate(rate)}
        (f, H), *other = (
            freqz(v, worN=n, include_nyquist=not two_sided, **options) for v in curves
        )
        gain = 2.0 * _decibels(np.abs(other[0][1])) if other else None
        return cls(h, f, 2.0 * _decibels(np.abs(H)), system, gain, rate, name)

    @property
    def claim(self) -> str:
        off, unit = "", "Hz" if self.rate else "cycles per sample"
        if self.truth is not None:
            off = "the true response is zero"
            if self.truth.any():
                share = 10 ** (misalignment(self.impulse, self.truth) / 20)
                off = f"{number(100 * share, 2)}% off the true response"
        if self.moment:
            return f"{self.name}, {self.moment}" + f": {off}" * bool(off)
        top = int(np.argmax(self.gain))
        at = f"{number(self.gain[top], 3)} dB at {number(self.frequencies[top], 4)} {unit}"
        words = "nothing passes" if np.isneginf(self.gain[top]) else f"largest gain {at}"
        return f"{self.name}: {words}" + f"; {off}" * bool(off)

    def animate(
        self,
        weights: Any,
        *,
        truth: Any = None,
        at: Any = None,
        frames: int = 60,
        interval: int = 250,
    ) -> Animation:
        """The impulse response and the gain as the filter learns.

        `weights` (records, taps) and `at` (records,) are `history` and `history_at` of a filter
        created with history=20, say; `truth` (taps,) or (records, taps) the system to be
        identified, by default that of the picture. At most `frames` frames of `interval` ms.
        """
        W = draw.check_signal(weights, "weights", 2)
        truth = self.truth if truth is None else truth
        T = None if truth is None else draw.check_signal(np.atleast_2d(truth), "truth", 2)
        times = np.arange(float(len(W))) if at is None else draw.check_signal(at, "at")
        if len(times) != len(W) or (T is not None and len(T) not in (1, len(W))):
            raise ValueError(
                f"weights have {len(W)} records, at has {len(times)} and truth "
                f"{0 if T is None else len(T)}; give as many, or one true system for all."
            )
        unit, pictures = "record" if at is None else "sample", []
        for k in choose_frames(len(W), frames):
            system = None if T is None else T[k % len(T)]
            picture = self.from_weights(W[k], rate=self.rate, truth=system, name=self.name)
            pictures.append(replace(picture, moment=f"{unit} {times[k]:g}"))
        gains = np.array([picture.gain for picture in pictures])
        values = np.concatenate([[0.0], W.real.ravel(), [] if T is None else T.real.ravel()])
        limits = draw.limits(values), draw.limits(np.maximum(gains, gains.max() - 60.0))
        return Animation([replace(picture, limits=limits) for picture in pictures], interval)

    def _draw(self, left: draw.Axes, right: draw.Axes) -> None:
        curves = (self.impulse, self.gain, self.name), (self.truth, self.truth_gain, "true system")
        for k, (h, gain, words) in enumerate(curves):
            if h is None or gain is None:
                continue
            style, look = "ox"[k], {"label": draw.label(words), "markersize": 5}
            if len(h) > 2 * draw.FEW_MARKS:
                style = draw.line(k)
            elif k == 0:
                left.vlines(np.arange(len(h)), 0.0, h.real, color=draw.colour(0))
            draw.curve(left, range(len(h)), h.real, k, style, **look)
            floor = np.max(gain[np.isfinite(gain)], initial=-300.0) - 100.0
            draw.curve(right, self.frequencies, np.maximum(gain, floor), k)
        draw.reference(left, 0.0)
        label = "impulse response" + " (real part)" * np.iscomplexobj(self.impulse)
        draw.describe(left, "delay, samples", label, "Impulse response", ylim=self.limits[0])
        unit = "Hz" if self.rate else "cycles per sample"
        draw.describe(right, f"frequency, {unit}", "gain, dB", "Gain", ylim=self.limits[1])
