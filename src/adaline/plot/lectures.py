"""Pictures of single results of theory: descent, Ho-Kashyap margins, eigenvalues, Cover's count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_scalar

import adaline
from adaline.evaluation.trial import column_names
from adaline.evaluation.words import number, plural
from adaline.plot import draw
from adaline.plot.animation import MovingDisplay
from adaline.plot.display import Display
from adaline.plot.draw import Array


@dataclass(eq=False, repr=False)
class WeightPathDisplay(MovingDisplay):
    """The path of two weights over the error that learning reduces.

    Steps of batch learning are orthogonal to the contours; those of single samples only on average.

    Examples
    --------
    >>> from adaline import WidrowHoff
    >>> from adaline.plot import WeightPathDisplay
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> picture = WeightPathDisplay.from_estimator(WidrowHoff(eta=0.1), X, X[:, 0] + 1)
    >>> picture.path[0], picture.losses[-1] < 1e-3
    (array([0., 0.]), np.True_)
    """

    model: str
    error: str  #: The name of the error.
    #: The two weights before the first step and after each (each pass, in batch mode), (m, 2).
    path: Array
    #: The mean error over all samples along the path, other weights at their final values.
    losses: Array
    x: Array  #: The mean error over a grid of the two weights.
    y: Array
    surface: Array
    names: tuple[str, str]
    held: bool  #: Whether there is a bias beside them, held at its final value.
    wrong: Array | None  #: For a perceptron: how many rows are misclassified along the path.
    size = (5.6, 4.2)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, grid: int = 120, **start: Any
    ) -> Self:
        """Learn as `trace` does one target or two classes, and show both weights.

        Those of two columns, or of one column and the bias. The estimator is not changed; `start`
        are further arguments of `fit`, such as coef_init.
        """
        kind, error = type(estimator).__name__, getattr(estimator, "_error", None)
        alpha = getattr(estimator, "alpha", 0.0)
        if error is None or isinstance(alpha, str):
            raise TypeError(
                f"{kind} has no error surface; expected a learner that reduces an error step by "
                "step, such as WidrowHoff, Perceptron or LogisticRegression with a numeric alpha."
            )
        R = draw.check_rows(X)
        p, bias = R.shape[1], bool(estimator.fit_intercept)
        if p > 2 or p + bias < 2:
            raise ValueError(f"there are {p} weights{' and a bias' * bias}; a path is of two.")
        steps = adaline.trace(estimator, X, y, **start)
        theta, _, _ = draw.weights_along(steps)
        if steps.unit == "step":  # of Newton's method: all samples at once
            targets = (np.asarray(y) == np.unique(y)[-1]).astype(np.float64)
        else:
            targets = np.zeros(len(R))
            targets[steps.samples] = steps.t[:, 0]

        def loss(two: Array) -> Array:
            full = np.tile(theta[-1], (len(two), 1))
            full[:, :2] = two
            V = R @ full[:, :-1].T + full[:, -1]
            mean = estimator._row_errors(targets[:, None], V).mean(axis=0)
            return np.asarray(mean + 0.5 * alpha / len(R) * np.sum(full[:, :-1] ** 2, axis=1))

        path, wrong = theta[:, :2], None
        a, b = (np.linspace(*draw.limits(path[:, i], 0.35), int(grid)) for i in (0, 1))
        surface = loss(draw.grid_points(a, b)).reshape(len(b), len(a))
        # The perceptron criterion is zero for zero weights, though no row is right.
        if error == "perceptron criterion":
            V = R @ theta[:, :-1].T + theta[:, -1]
            wrong = np.sum(targets[:, None] * V <= 0, axis=0)
        first, second, *_ = [*column_names(None, X, None, p), "b"]
        held = p == 2 and bias
        return cls(kind, error, path, loss(path), a, b, surface, (first, second), held, wrong)

    @property
    def claim(self) -> str:
        words = f"{self.error} {number(self.losses[0], 3)} → {number(self.losses[-1], 3)}"
        if self.wrong is not None:
            words = f"misclassified rows {self.wrong[0]} → {self.wrong[-1]}"
        words = f"{self.model}: {words} in {plural(len(self.path) - 1, 'step')}"
        return words + "; the bias at its final value" * self.held

    def _moments(self) -> int:
        return len(self.path)

    def _until(self, k: int) -> Self:
        wrong = None if self.wrong is None else self.wrong[: k + 1]
        return replace(self, path=self.path[: k + 1], losses=self.losses[: k + 1], wrong=wrong)

    def _draw(self, ax: draw.Axes) -> None:
        low, high = float(self.surface.min()), float(self.surface.max())
        if high > low:
            # Levels grow with the square, as errors do: even spacing for a parabola.
            levels = low + (high - low) * np.linspace(0.04, 1.0, 13) ** 2
            grid = self.x, self.y, self.surface
            filled = ax.contourf(*grid, np.append(low, levels), cmap="Greys", alpha=0.4)
            filled.set_rasterized(True)
            ax.contour(*grid, levels, colors="#777777", linewidths=0.6)
            draw.colour_bar(filled, self.error, format="%.3g")
        steps = len(self.path)
        look: dict[str, Any] = {"label": "path", "linewidth": 1.1, "markersize": 4}
        look["rasterized"] = steps > 4 * draw.MANY_POINTS
        x, y = self.path.T
        draw.curve(ax, x, y, 0, "-" if steps > 2 * draw.FEW_MARKS else ".-", **look)
        draw.curve(ax, x[:1], y[:1], 2, "o", markersize=7, label="start")
        draw.curve(ax, x[-1:], y[-1:], 1, "*", markersize=12, label="now")
        labels = ["bias b" if k == "b" else f"weight of {k}" for k in self.names]
        draw.describe(ax, *labels, xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])


@dataclass(eq=False, repr=False)
class MarginsDisplay(MovingDisplay):
    """Margins b, values Ya and errors e = Ya - b of each sample, as Ho-Kashyap's procedure goes.

    Where e is positive, b grows; a sample is on the correct side where its Ya is positive.

    Examples
    --------
    >>> from adaline import HoKashyap, trace
    >>> from adaline.plot import MarginsDisplay
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1]
    >>> picture = MarginsDisplay.from_trace(trace(HoKashyap(), X, y))
    >>> print(picture.claim)
    Iteration 1: Ya is positive for all 4 samples, the least 0.5
    """

    margins: Array  #: b(k) and Ya(k), of each iteration and sample.
    values: Array
    iterations: Any
    limits: tuple[float, float]  #: Of the axis, for all iterations.

    @classmethod
    def from_trace(cls, trace: adaline.Trace) -> Self:
        """The result of `trace(HoKashyap(), X, y)`, for two classes and at most 100 samples."""
        if not (isinstance(trace, adaline.Trace) and trace.unit == "iteration"):
            raise TypeError("expected the result of adaline.trace for HoKashyap.")
        b, K = trace.extra["b"], trace.W_after.shape[1]
        if K > 1 or b.shape[1] > draw.FEW_MARKS:
            raise ValueError(
                f"trace has {plural(K, 'neuron')} and {b.shape[1]} samples; margins are shown for "
                f"two classes and at most {draw.FEW_MARKS} samples."
            )
        values = b + trace.extra["e"]
        return cls(b, values, trace.passes, draw.limits(np.append([values, b], 0.0), 0.06))

    @property
    def claim(self) -> str:
        Ya = self.values[-1]
        right, n = int((Ya > 0).sum()), plural(len(Ya), "sample")
        which = (
            f"{right} of {n}" if right < len(Ya) else f"all {n}, the least {number(Ya.min(), 3)}"
        )
        return f"Iteration {self.iterations[-1]}: Ya is positive for {which}"

    def _moments(self) -> int:
        return len(self.values)

    def _until(self, k: int) -> Self:
        b, Ya, iterations = (v[: k + 1] for v in (self.margins, self.values, self.iterations))
        return replace(self, margins=b, values=Ya, iterations=iterations)

    def _draw(self, ax: draw.Axes) -> None:
        b, Ya, places = self.margins[-1], self.values[-1], np.arange(self.values.shape[1])
        ax.vlines(places, b, Ya, color="#999999", linewidth=4, label="error e")
        draw.curve(ax, places, Ya, 0, "o", markersize=7, label="Ya", zorder=4)
        look: dict[str, Any] = {"markersize": 18, "markeredgewidth": 2.5, "zorder": 4}
        draw.curve(ax, places, b, 1, "_", label="margin b", **look)
        draw.reference(ax, 0.0)
        draw.describe(ax, "sample", "value", xlim=(-0.6, len(places) - 0.4), ylim=self.limits)


@dataclass(eq=False, repr=False)
class EigenvalueDisplay(Display):
    """Eigenvalues of R = X'X/N, the largest first.

    With step eta, LMS reduces mode i by a factor e in 1/(eta lambda_i) samples: the slowest takes
    lambda_max/lambda_min times as long as the fastest.

    Examples
    --------
    >>> from adaline.plot import EigenvalueDisplay
    >>> picture = EigenvalueDisplay.from_data([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> picture.eigenvalues, round(picture.spread, 6), picture.bound
    (array([4.5, 1. , 0.5]), 9.0, 0.333...)
    """

    eigenvalues: Array  #: Never below zero.

    @classmethod
    def from_data(cls, X: Any, *, fit_intercept: bool = True) -> Self:
        """R of rows; with a bias, an input that is always 1 counts."""
        R = draw.check_rows(X)
        return cls(_eigenvalues(np.column_stack([R, np.ones(len(R))]) if fit_intercept else R))

    @classmethod
    def from_signal(cls, x: Any, taps: int) -> Self:
        """R of a delay line of `taps` samples of a signal."""
        u = draw.check_signal(x, "x")
        taps = check_scalar(taps, "taps", Integral, min_val=1, max_val=len(u))
        return cls(_eigenvalues(np.lib.stride_tricks.sliding_window_view(u, taps)))

    @property
    def spread(self) -> float:
        """lambda_max/lambda_min; infinite where R is singular to rounding."""
        largest, least = self.eigenvalues[[0, -1]].tolist()
        return largest / least if least > 0 else float("inf")

    @property
    def bound(self) -> float:
        """2/tr[R], the largest stable rate for single samples."""
        total = float(self.eigenvalues.sum())
        return 2.0 / total if total else float("inf")

    @property
    def claim(self) -> str:
        if np.isinf(self.spread):
            return "Eigenvalue spread infinite"
        spread = number(self.spread, 3)
        return f"Eigenvalue spread {spread}: the slowest weights learn that many times slower"

    def _draw(self, ax: draw.Axes) -> None:
        values = self.eigenvalues
        floor = float(values[values > 0].min(initial=3.0)) / 3  # zeros on a logarithmic axis
        style = "-" + draw.marker(0) * (len(values) <= draw.FEW_MARKS)
        draw.curve(ax, range(1, len(values) + 1), np.maximum(values, floor), 0, style)
        title = f"eigenvalue of R; 2/tr[R] = {number(self.bound, 3)}"
        draw.describe(ax, "number, the largest first", title, yscale="log")


def _eigenvalues(Z: Any) -> Array:
    """Eigenvalues of Z'Z/N through singular values, which keep twice the digits."""
    s = np.linalg.svd(Z, compute_uv=False)
    s = np.pad(s, (0, Z.shape[1] - len(s)))
    # Below the rounding error of the largest, a singular value cannot be told from zero.
    s[s <= max(Z.shape) * np.finfo(np.float64).eps * s[0]] = 0.0
    with np.errstate(over="ignore", under="ignore"):
        values = np.asarray(s**2 / len(Z))
    if not np.isfinite(values).all():
        raise ValueError("the squares of X overflow float64; rescale the columns.")
    return values


@dataclass(eq=False, repr=False)
class CoverDisplay(Display):
    """F(N, d), the share of labellings of N points that are separable, against N/(d + 1).

    It falls from one to zero around N = 2(d + 1), and the more sharply the larger d (Cover 1965).

    Examples
    --------
    >>> from adaline.plot import CoverDisplay
    >>> picture = CoverDisplay.from_dimensions([2, 20], n=60)
    >>> picture.here
    (60, 2, 3.07...e-15)
    >>> dict(zip(*picture.curves[2]))[6]
    np.float64(0.5)
    """

    curves: dict[int, tuple[Any, Array]]  #: For each d: numbers of points N, and F(N, d).
    here: tuple[int, int, float] | None  #: N and d of a data set, and its F.

    @classmethod
    def from_dimensions(cls, d: int | Sequence[int], *, n: int | None = None) -> Self:
        """Curves of one or several numbers of inputs; `n` points mark a place on the first."""
        curves, here = {}, None
        for one in map(int, np.atleast_1d(d)):
            N = np.unique(np.linspace(1, 4 * (one + 1), 161).round().astype(np.int64))
            curves[one] = N, np.array([adaline.cover(int(k), one).fraction for k in N])
        if n is not None:
            first = next(iter(curves))
            here = (int(n), first, adaline.cover(int(n), first).fraction)
        return cls(curves, here)

    @property
    def claim(self) -> str:
        if self.here is None:
            return "Half of all labellings are separable at two points per weight"
        n, d, share = self.here
        verdict = "says little" if share > 0.01 else "is no accident"
        percent = f"{100 * share:.2g}%" if share > 1e-12 else "practically none"
        return (
            f"Of all labellings of {n} points in {d} dimensions {percent} are separable: "
            f"being separable {verdict}"
        )

    def _draw(self, ax: draw.Axes) -> None:
        for k, (d, (N, F)) in enumerate(self.curves.items()):
            draw.curve(ax, N / (d + 1), F, k, label=f"d = {d}")
        draw.reference(ax, 2.0, along="v")
        draw.reference(ax, 0.5)
        if self.here is not None:
            n, d, share = self.here
            at = min(n / (d + 1), 4.0)
            draw.curve(ax, at, share, 1, "o", markersize=8, label=f"N = {n}")
        limits: dict[str, Any] = {"xlim": (0, 4.05), "ylim": (-0.02, 1.04)}
        label = "share that is separable, F(N, d)"
        draw.describe(ax, "points per weight, N/(d + 1)", label, **limits)
