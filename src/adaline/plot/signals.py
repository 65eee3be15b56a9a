"""Pictures of signals: spectrograms before and after a filter, and how fast learning goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number
from adaline.filters import learning_curve
from adaline.plot import draw, inputs
from adaline.plot.animation import choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array

MAX_SEGMENTS = 400  # columns of pixels of a spectrogram: longer signals are sampled in larger hops
MAX_CURVE_POINTS = 800  # of a curve; more cannot be distinguished


@dataclass(eq=False, repr=False)
class SpectrogramDisplay(Display):
    """Power over time and frequency before and after filtering, in decibels, on one scale.

    Attributes
    ----------
    times, frequencies : ndarray of shape (m,) and (f,)
        Centres of the segments, in seconds where a rate is given, else in samples; and Hz or
        cycles per sample.
    before, after : ndarray of shape (f, m)
        10 log10 of the power density of Hann-windowed segments.
    change : float
        Total power of `after` over that of `before`, in decibels.
    rate : float or None

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.plot import SpectrogramDisplay
    >>> tone = np.sin(2 * np.pi * 0.125 * np.arange(4000))
    >>> picture = SpectrogramDisplay.from_signals(tone, 0.1 * tone)
    >>> float(picture.frequencies[picture.before[:, 0].argmax()]), round(picture.change, 6)
    (0.125, -20.0)
    """

    times: Array
    frequencies: Array
    before: Array
    after: Array
    change: float
    rate: float | None
    panels = 2
    size = (4.5, 3.4)

    @classmethod
    def from_signals(
        cls, before: Any, after: Any, *, rate: float | None = None, segment: int = 256
    ) -> Self:
        """Two real signals of equal length, such as d and e of a canceller.

        Parameters
        ----------
        before, after : array-like of shape (n,)
        rate : float, optional
            Samples per second.
        segment : int, default=256
            Samples of a segment; shorter signals are one segment.
        """
        a, b = inputs.check_vector(before, "before"), inputs.check_vector(after, "after")
        if len(a) != len(b):
            raise ValueError(f"before has {len(a)} samples and after {len(b)}; give as many.")
        unit = inputs.check_rate(rate)
        size = min(inputs.check_count(segment, "segment", least=2), len(a))
        hop = max(1, size // 4, (len(a) - size) // MAX_SEGMENTS)
        starts = np.arange(0, len(a) - size + 1, hop)
        total = [float(np.sum(signal**2)) for signal in (a, b)]
        with np.errstate(divide="ignore"):
            change = float(10 * np.log10(total[1] / total[0])) if total[0] else float("nan")
        powers = [_power_density(signal, starts, size) for signal in (a, b)]
        times = np.asarray((starts + size / 2) / unit, dtype=np.float64)
        frequencies = np.asarray(np.fft.rfftfreq(size) * unit, dtype=np.float64)
        return cls(times, frequencies, powers[0], powers[1], change, rate)

    @property
    def claim(self) -> str:
        if np.isnan(self.change):
            return "There was nothing before"
        if np.isneginf(self.change):
            return "Nothing is left"
        if abs(self.change) < 0.05:
            return "As much power after as before"
        verb = "less" if self.change < 0 else "more"
        return f"{abs(self.change):.1f} dB {verb} power after than before"

    def _draw(self, *axes: draw.Axes) -> None:
        finite = self.before[np.isfinite(self.before)]
        top = float(finite.max()) if finite.size else 0.0
        step = (self.times[1] - self.times[0]) / 2 if len(self.times) > 1 else 0.5
        span = np.array([self.times[0] - step, self.times[-1] + step])
        powers = {"Before": self.before, "After": self.after}
        for ax, (words, power) in zip(axes, powers.items(), strict=True):
            shown = np.maximum(power, top - 90.0)  # -inf has no colour
            look = {"cmap": "viridis", "vmin": top - 80.0, "vmax": top}
            image = draw.image(ax, span, self.frequencies, shown, **look)
            ax.set(xlabel="time, s" if self.rate else "time, samples", title=words)
        axes[0].set_ylabel("frequency, Hz" if self.rate else "frequency, cycles per sample")
        draw.colour_bar(image, "power, dB", list(axes))


def _power_density(signal: Array, starts: Any, size: int) -> Array:
    """10 log10 |FFT|^2 of Hann-windowed segments, (frequencies, segments)."""
    window = np.hanning(size + 1)[:size] if size > 1 else np.ones(1)  # periodic
    segments = np.stack([signal[i : i + size] for i in starts]) * window
    power = np.abs(np.fft.rfft(segments, axis=1)) ** 2 / np.sum(window**2)
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(power)).T


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """The mean squared error of the last samples against the samples seen.

    LMS converges for 0 < eta < 2/tr[R], and no linear filter has less error than Wiener's.

    Attributes
    ----------
    curves : dict of str to ndarray of shape (m,)
        Means of the squared a priori error over the last `window` samples, for each learner.
    window : int
    floor : float or None
        The least error: that of the Wiener filter, or of least squares.
    eta, bound : float or None
        The rate, where it is constant, and 2/tr[R].

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import WidrowHoff
    >>> from adaline.plot import LearningCurveDisplay
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> y = X @ [1.0, -1.0] + 0.1 * X[:, 0] * X[:, 1]
    >>> lms = WidrowHoff(eta=0.05)
    >>> picture = LearningCurveDisplay.from_estimator(lms, X, y)
    >>> len(picture.curves["WidrowHoff"]), 0.6 < picture.bound < 0.7
    (1200, True)
    """

    curves: dict[str, Array]
    window: int
    floor: float | None = None
    eta: float | None = None
    bound: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, window: int | None = None) -> Self:
        """Learn as `trace` does, one sample at a time, and follow the error.

        Parameters
        ----------
        estimator : WidrowHoff or Adaline
            It is not changed. Other learners minimise other errors.
        X, y : array-like
        window : int, optional
            Samples to average over; by default all of X, one pass.
        """
        kind = type(estimator).__name__
        error = getattr(estimator, "_error", None)
        if error != "mean squared error" or estimator.mode == "batch":
            raise TypeError(
                f"{kind} does not learn squared errors sample by sample; expected WidrowHoff or "
                "Adaline with mode='online'. For batch learning see WeightPathDisplay."
            )
        R = inputs.check_rows(X)
        steps = adaline.trace(estimator, X, y)
        errors = steps.t - steps.v
        rms = errors[:, 0] if errors.shape[1] == 1 else np.sqrt(np.mean(errors**2, axis=1))
        targets = np.zeros((len(R), steps.t.shape[1]))
        targets[steps.samples] = steps.t
        best = adaline.LeastSquares(fit_intercept=estimator.fit_intercept).fit(R, targets)
        floor = float(np.mean((targets - best.predict(R)) ** 2))
        bound = float(adaline.stable_rate(R, estimator.fit_intercept).one_sample)
        eta = getattr(estimator.eta, "eta", estimator.eta)
        constant = float(eta) if isinstance(eta, int | float | np.number) else None
        window = len(R) if window is None else inputs.check_count(window, "window")
        return cls({kind: learning_curve(rms, window)}, window, floor, constant, bound)

    @classmethod
    def from_errors(
        cls,
        errors: Mapping[str, Any],
        *,
        window: int = 100,
        floor: float | None = None,
        eta: float | None = None,
        bound: float | None = None,
    ) -> Self:
        """Curves of the errors of filters.

        Parameters
        ----------
        errors : mapping of str to array-like of shape (n,)
            The e of `y, e = filter.process(x, d)` for each name, real or complex.
        window : int, default=100
        floor : float, optional
            `WienerFilter.from_signals(x, d, taps).error`.
        eta, bound : float, optional
            The rate, and 2/tr[R], as `filters.max_step(x, taps).mean_square` computes it.
        """
        if not isinstance(errors, Mapping) or not errors:
            raise TypeError('errors is expected to be a mapping such as {"LMS": e}, not empty.')
        window = inputs.check_count(window, "window")
        curves = {
            str(name): learning_curve(inputs.check_vector(e, f"errors[{name!r}]"), window)
            for name, e in errors.items()
        }
        return cls(curves, window, floor, eta, bound)

    @property
    def claim(self) -> str:
        last = {name: float(curve[-1]) for name, curve in self.curves.items()}
        name, value = min(last.items(), key=lambda item: item[1])
        lowest = f" lowest of {len(last)}," if len(last) > 1 else ""
        words = f"{name} ends{lowest} at a mean squared error of {number(value, 3)}"
        if self.floor is not None:
            words += f"; the least is {number(self.floor, 3)}"
        if self.bound is not None:
            rate = "the rate" if self.eta is None else f"the rate {number(self.eta, 3)}"
            words += f". Bound on {rate}: 2/tr[R] = {number(self.bound, 3)}"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        for k, (name, curve) in enumerate(self.curves.items()):
            at = choose_frames(len(curve), MAX_CURVE_POINTS)
            look = {"color": draw.colour(k), "linestyle": draw.line(k)}
            ax.plot(at + 1, curve[at], label=draw.label(name), **look)
        if self.floor is not None and self.floor > 0:
            draw.reference(ax, self.floor, "least error (Wiener, least squares)")
        if all((curve > 0).any() for curve in self.curves.values()):
            ax.set_yscale("log")
        ax.set(xlabel="samples seen", ylabel=f"mean squared error, last {self.window}")
        draw.legend(ax)
