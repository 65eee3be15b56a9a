"""Pictures of single results of theory: Ho-Kashyap margins, eigenvalues of R, Cover's count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number, plural
from adaline.plot import draw, inputs
from adaline.plot.animation import FRAME_INTERVAL, MAX_FRAMES, Animation, Show, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array

MAX_SAMPLES = 60  # of a picture of margins; more cannot be distinguished


@dataclass(eq=False, repr=False)
class MarginsDisplay(Display):
    """Margins b, values Ya and errors e = Ya - b of each sample, as Ho-Kashyap's procedure goes.

    Where e is positive, b grows; a sample is on the correct side where its Ya is positive.

    Attributes
    ----------
    margins, values : ndarray of shape (m, n)
        b(k) and Ya(k), of each iteration and sample.
    iterations : ndarray of shape (m,)

    Examples
    --------
    >>> from adaline import HoKashyap, trace
    >>> from adaline.plot import MarginsDisplay
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1]
    >>> picture = MarginsDisplay.from_trace(trace(HoKashyap(), X, y))
    >>> print(picture.claim)
    Iteration 1: Ya is positive for all 4 samples, the least 0.5
    """

    margins: Array
    values: Array
    iterations: Any

    @classmethod
    def from_trace(cls, trace: Any) -> Self:
        """The result of `trace(HoKashyap(), X, y)`, for two classes and at most 60 samples."""
        if not (isinstance(trace, adaline.Trace) and trace.unit == "iteration"):
            raise TypeError(
                f"trace is a {type(trace).__name__}; expected the result of adaline.trace for "
                "HoKashyap."
            )
        K, b = trace.W_after.shape[1], trace.extra["b"]
        if K > 1:
            raise ValueError(f"trace has {K} neurons; margins are shown for two classes.")
        if b.shape[1] > MAX_SAMPLES:
            raise ValueError(
                f"trace has {b.shape[1]} samples; at most {MAX_SAMPLES} can be distinguished. "
                "Trace fewer rows."
            )
        return cls(b, b + trace.extra["e"], trace.passes)

    @property
    def claim(self) -> str:
        return self._claim_at(len(self.values) - 1)

    def animate(self, *, frames: int = MAX_FRAMES, interval: int = FRAME_INTERVAL) -> Animation:
        """Iteration after iteration.

        At most `frames` frames, sampled evenly, of `interval` milliseconds each.
        """
        steps = choose_frames(len(self.values), frames)

        def start(axes: list[draw.Axes]) -> Show:
            show = self._start(axes[0])
            return lambda k: show(int(steps[k]))

        return Animation(self, [self._claim_at(k) for k in steps.tolist()], start, interval)

    def _claim_at(self, k: int) -> str:
        right, n = int((self.values[k] > 0).sum()), self.values.shape[1]
        words = f"Iteration {self.iterations[k]}: Ya is positive for"
        if right < n:
            return f"{words} {right} of {plural(n, 'sample')}"
        return f"{words} all {plural(n, 'sample')}, the least {number(self.values[k].min(), 3)}"

    def _draw(self, ax: draw.Axes) -> None:
        self._start(ax)(len(self.values) - 1)

    def _start(self, ax: draw.Axes) -> Show:
        places = np.arange(self.values.shape[1])
        zeros = 0.0 * places
        lines = ax.vlines(places, zeros, zeros, color="#999999", linewidth=4, label="error e")
        look: dict[str, Any] = {"linestyle": "none", "zorder": 4}
        dots = ax.plot(zeros, "o", color=draw.colour(0), markersize=7, label="Ya", **look)[0]
        look |= {"markersize": 18, "markeredgewidth": 2.5, "label": "margin b"}
        bars = ax.plot(zeros, "_", color=draw.colour(1), **look)[0]
        draw.reference(ax, 0.0)
        low, high = inputs.limits(np.append([self.values, self.margins], 0.0), 0.06)
        ax.set(xlim=(-0.6, len(places) - 0.4), ylim=(low, high), xlabel="sample", ylabel="value")
        draw.legend(ax)

        def show(k: int) -> None:
            b, Ya = self.margins[k], self.values[k]
            lines.set_segments([np.array([[j, b[j]], [j, Ya[j]]]) for j in places])
            dots.set_ydata(Ya)
            bars.set_ydata(b)

        return show


@dataclass(eq=False, repr=False)
class EigenvalueDisplay(Display):
    """Eigenvalues of R = X'X/N, the largest first.

    With step eta, LMS reduces mode i by a factor e in 1/(eta lambda_i) samples: the slowest takes
    lambda_max/lambda_min times as long as the fastest.

    Attributes
    ----------
    eigenvalues : ndarray of shape (q,)
        Never below zero.
    spread : float
        lambda_max/lambda_min; infinite where R is singular to rounding.
    bound : float
        2/tr[R], the largest stable rate for single samples.
    scaled : ndarray of shape (q,), or None
        The same for columns divided by their root mean square, which scaling could reach.

    Examples
    --------
    >>> from adaline.plot import EigenvalueDisplay
    >>> picture = EigenvalueDisplay.from_data([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> picture.eigenvalues, round(picture.spread, 6), picture.bound
    (array([4.5, 1. , 0.5]), 9.0, 0.333...)
    """

    eigenvalues: Array
    spread: float
    bound: float
    scaled: Array | None = None

    @classmethod
    def from_data(cls, X: Any, *, fit_intercept: bool = True) -> Self:
        """R of rows; with a bias, an input that is always 1 counts."""
        R = inputs.check_rows(X)
        Z = np.column_stack([R, np.ones(len(R))]) if fit_intercept else R
        largest = np.abs(Z).max(axis=0)
        Y = Z / np.where(largest > 0, largest, 1.0)  # squares of huge units overflow
        rms = np.sqrt(np.mean(Y**2, axis=0))
        return cls._of(_eigenvalues(Z), _eigenvalues(Y / np.where(rms > 0, rms, 1.0)))

    @classmethod
    def from_signal(cls, x: Any, taps: int) -> Self:
        """R of a delay line of `taps` samples of a signal."""
        u = inputs.check_vector(x, "x")
        if inputs.check_count(taps, "taps") > len(u):
            raise ValueError(f"taps is {taps!r}; expected a whole number from 1 to {len(u)}.")
        return cls._of(_eigenvalues(np.lib.stride_tricks.sliding_window_view(u, int(taps))), None)

    @classmethod
    def _of(cls, values: Array, scaled: Array | None) -> Self:
        total = float(values.sum())
        if not np.isfinite(total):
            raise ValueError("the squares of X overflow float64; rescale the columns.")
        return cls(values, _spread(values), 2.0 / total if total else float("inf"), scaled)

    @property
    def claim(self) -> str:
        if np.isinf(self.spread):
            words = "Eigenvalue spread infinite"
        else:
            words = f"Eigenvalue spread {number(self.spread, 3)}: the slowest weights learn that "
            words += "many times slower"
        if self.scaled is not None and _spread(self.scaled) < self.spread / 2:
            words += f"; scaling columns would leave {number(_spread(self.scaled), 3)}"
        return words

    def _draw(self, ax: draw.Axes) -> None:
        positive = self.eigenvalues[self.eigenvalues > 0]
        floor = float(positive.min()) / 3 if len(positive) else 1.0  # zeros on a logarithmic axis
        curves = {"as they are": self.eigenvalues, "columns scaled": self.scaled}
        for k, (words, values) in enumerate(curves.items()):
            if values is not None:
                style = draw.line(k) + (draw.marker(k) if len(values) <= MAX_SAMPLES else "")
                at = np.arange(1, len(values) + 1)
                look: dict[str, Any] = {"color": draw.colour(k), "label": words, "markersize": 5}
                ax.plot(at, np.maximum(values, floor), style, **look)
        ax.set_yscale("log")
        ax.set(xlabel="number, the largest first", ylabel="eigenvalue of R")
        draw.legend(ax, title=f"2/tr[R] = {number(self.bound, 3)}")


def _eigenvalues(Z: Any) -> Array:
    """Eigenvalues of Z'Z/N through singular values, which keep twice the digits."""
    s = np.linalg.svd(Z, compute_uv=False)
    s = np.pad(s, (0, Z.shape[1] - len(s)))
    # Below the rounding error of the largest, a singular value cannot be told from zero.
    s[s <= max(Z.shape) * np.finfo(np.float64).eps * s[0]] = 0.0
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(s**2 / len(Z))


def _spread(values: Array) -> float:
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


@dataclass(eq=False, repr=False)
class CoverDisplay(Display):
    """F(N, d), the share of labellings of N points that are separable, against N/(d + 1).

    It falls from one to zero around N = 2(d + 1), and the more sharply the larger d (Cover 1965).

    Attributes
    ----------
    curves : dict of int to (ndarray, ndarray)
        For each d: numbers of points N, and F(N, d).
    bias : bool
    here : tuple of two ints, and float, or None
        N and d of a data set, and its F.

    Examples
    --------
    >>> from adaline.plot import CoverDisplay
    >>> picture = CoverDisplay.from_dimensions([2, 20], n=60)
    >>> picture.here
    (60, 2, 3.07...e-15)
    >>> dict(zip(*picture.curves[2]))[6]
    np.float64(0.5)
    """

    curves: dict[int, tuple[Any, Array]]
    bias: bool
    here: tuple[int, int, float] | None

    @classmethod
    def from_dimensions(
        cls, d: int | Sequence[int], *, n: int | None = None, bias: bool = True
    ) -> Self:
        """Curves of one or several numbers of inputs; `n` points mark a place on the first."""
        dimensions = [d] if isinstance(d, int | np.integer) else list(d)
        if not dimensions:
            raise ValueError("d is empty; give one or several numbers of inputs.")
        curves = {}
        for dimension in dimensions:
            D = adaline.cover(1, dimension, bias).parameters  # raises unless it is a whole number
            N = np.unique(np.linspace(1, max(4 * D, 4), 161).round().astype(np.int64))
            F = np.array([adaline.cover(int(k), int(dimension), bias).fraction for k in N])
            curves[int(dimension)] = (N, F)
        first, here = int(dimensions[0]), None
        if n is not None:
            here = (int(n), first, adaline.cover(int(n), first, bias).fraction)
        return cls(curves, bool(bias), here)

    @property
    def claim(self) -> str:
        if self.here is None:
            return "Half of all labellings are separable at two points per weight"
        n, d, share = self.here
        verdict = "says little" if share > 0.01 else "is no accident"
        percent = f"{100 * share:.2g} %" if share > 1e-12 else "practically none"
        return (
            f"Of all labellings of {n} points in {d} dimensions {percent} are separable: "
            f"being separable {verdict}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        for k, (d, (N, F)) in enumerate(self.curves.items()):
            look: dict[str, Any] = {"color": draw.colour(k), "linestyle": draw.line(k)}
            ax.plot(N / max(d + self.bias, 1), F, label=f"d = {d}", **look)
        draw.reference(ax, 2.0, along="v")
        draw.reference(ax, 0.5)
        if self.here is not None:
            n, d, share = self.here
            look = {"color": draw.colour(1), "markersize": 8, "label": f"N = {n}"}
            ax.plot(min(n / max(d + self.bias, 1), 4.0), share, "o", **look)
        ax.set_xlabel(f"points per weight, N/({'d + 1' if self.bias else 'd'})")
        ax.set(ylabel="share that is separable, F(N, d)", xlim=(0, 4.05), ylim=(-0.02, 1.04))
        draw.legend(ax)
