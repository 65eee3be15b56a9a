"""Where learning goes: the path of two weights over the surface of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number, plural
from adaline.plot import draw, inputs
from adaline.plot.animation import FRAME_INTERVAL, MAX_FRAMES, Animation, Show, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array

MAX_PATH_MARKERS = 200  # steps up to which each has a marker
MAX_VECTOR_STEPS = 2000  # beyond this, the path becomes pixels


@dataclass(eq=False, repr=False)
class WeightPathDisplay(Display):
    """The path of two weights over the error that learning reduces.

    Steps of batch learning are orthogonal to the contours; those of single samples only on average.

    Attributes
    ----------
    model, error : str
        The learner, and the name of the error.
    path : ndarray of shape (m, 2)
        The two weights before the first step and after each (after each pass, in batch mode).
    losses : ndarray of shape (m,)
        The mean error over all samples along the path, other weights at their final values.
    x, y, surface : ndarray of shape (g,), (g,) and (g, g)
        The mean error over a grid of the two weights.
    names : tuple of two str
    held : int
        How many other weights are held at their final values.
    wrong : tuple of two ints, or None
        For a perceptron: misclassified rows before the first step, and after the last.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import WidrowHoff
    >>> from adaline.plot import WeightPathDisplay
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> picture = WeightPathDisplay.from_estimator(WidrowHoff(eta=0.1), X, X[:, 0] + 1)
    >>> picture.path[0], picture.losses[-1] < 1e-3
    (array([0., 0.]), np.True_)
    """

    model: str
    error: str
    path: Array
    losses: Array
    x: Array
    y: Array
    surface: Array
    names: tuple[str, str]
    held: int
    wrong: tuple[int, int] | None
    size = (5.6, 4.2)
    reserved = 12

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, weights: Any = None, grid: int = 120, **start: Any
    ) -> Self:
        """Learn as `trace` does, and show two of the weights.

        Parameters
        ----------
        estimator : Perceptron, WidrowHoff, Adaline, SigmoidPerceptron or LogisticRegression
            Fitted or not; it is not changed.
        X, y : array-like
            One target, or two classes.
        weights : two of "b", names or numbers of columns, optional
            Which to show. By default both columns, or the only column and the bias.
        grid : int, default=120
        **start
            Further arguments of `fit`, such as coef_init.
        """
        kind, error = type(estimator).__name__, getattr(estimator, "_error", None)
        if error is None:
            raise TypeError(
                f"{kind} has no error surface; expected a learner that reduces an error step by "
                "step, such as WidrowHoff, Perceptron or LogisticRegression."
            )
        alpha = getattr(estimator, "alpha", 0.0)
        if isinstance(alpha, str):
            raise TypeError(f"alpha is {alpha!r}; expected a number, such as model.alpha_.")
        R = inputs.check_rows(X)
        steps = adaline.trace(estimator, X, y, **start)
        theta, targets = _weights_and_targets(steps, np.asarray(y), R)
        names = [*inputs.column_names(None, X, R.shape[1]), "b"]
        pair = _choose_weights(weights, names, bool(estimator.fit_intercept))

        def loss(two: Array) -> Array:
            full = np.tile(theta[-1], (len(two), 1))
            full[:, pair] = two
            V = R @ full[:, :-1].T + full[:, -1]
            mean = estimator._row_errors(targets[:, None], V).mean(axis=0)
            return np.asarray(mean + 0.5 * alpha / len(R) * np.sum(full[:, :-1] ** 2, axis=1))

        path = theta[:, pair]
        a, b = (np.linspace(*inputs.limits(path[:, i], 0.35), int(grid)) for i in (0, 1))
        surface = np.stack([loss(np.column_stack([a, np.full(len(a), value)])) for value in b])
        wrong = None
        if (
            error == "perceptron criterion"
        ):  # which is zero for zero weights, though no row is right
            ends = R @ theta[[0, -1], :-1].T + theta[[0, -1], -1]
            first, last = np.sum(targets[:, None] * ends <= 0, axis=0).tolist()
            wrong = first, last
        held = R.shape[1] - 2 + bool(estimator.fit_intercept)
        shown = names[pair[0]], names[pair[1]]
        return cls(kind, error, path, loss(path), a, b, surface, shown, held, wrong)

    @property
    def claim(self) -> str:
        steps, (first, last) = len(self.path) - 1, self.losses[[0, -1]]
        words = f"{self.error} {number(first, 3)} → {number(last, 3)}"
        if self.wrong is not None:
            words = f"misclassified rows {self.wrong[0]} → {self.wrong[1]}"
        words = f"{self.model}: {words} in {plural(steps, 'step')}"
        if self.held:
            words += f"; {plural(self.held, 'other weight')} at the final value"
        return words

    def animate(self, *, frames: int = MAX_FRAMES, interval: int = FRAME_INTERVAL) -> Animation:
        """The path as it grows, step after step.

        At most `frames` frames, sampled evenly, of `interval` milliseconds each.
        """
        steps = choose_frames(len(self.path), frames).tolist()
        claims = [
            f"{self.model}, step {k} of {len(self.path) - 1}: weights "
            f"({number(self.path[k, 0], 3)}, {number(self.path[k, 1], 3)}), {self.error} "
            f"{number(self.losses[k], 3)}"
            for k in steps
        ]

        def start(axes: list[draw.Axes]) -> Show:
            (ax,) = axes
            self._draw_surface(ax)
            look: dict[str, Any] = {"color": draw.colour(0), "linewidth": 1.1, "markersize": 4}
            path = ax.plot([], [], ".-", label="path", **look)[0]
            ax.plot(*self.path[0], "o", color=draw.colour(2), markersize=7, label="start")
            now = ax.plot([], [], "*", color=draw.colour(1), markersize=12, label="now")[0]
            self._label(ax)

            def show(k: int) -> None:
                done = self.path[: steps[k] + 1]
                path.set_data(*done.T)
                now.set_data(*done[-1:].T)

            return show

        return Animation(self, claims, start, interval)

    def _draw(self, ax: draw.Axes) -> None:
        self._draw_surface(ax)
        style = "-" if len(self.path) > MAX_PATH_MARKERS else ".-"
        look: dict[str, Any] = {"color": draw.colour(0), "linewidth": 1.1, "markersize": 4}
        pixels = len(self.path) > MAX_VECTOR_STEPS
        ax.plot(*self.path.T, style, label="path", rasterized=pixels, **look)
        ax.plot(*self.path[0], "o", color=draw.colour(2), markersize=7, label="start")
        ax.plot(*self.path[-1], "*", color=draw.colour(1), markersize=12, label="end")
        self._label(ax)

    def _draw_surface(self, ax: draw.Axes) -> None:
        """Contours of the error over the two weights."""
        low, high = float(self.surface.min()), float(self.surface.max())
        if not high > low:
            return
        # Levels grow with the square, as errors do: even spacing for a parabola.
        levels = low + (high - low) * np.linspace(0.04, 1.0, 13) ** 2
        grid = self.x, self.y, self.surface
        filled = ax.contourf(*grid, np.append(low, levels), cmap="Greys", alpha=0.4)
        filled.set_rasterized(True)
        ax.contour(*grid, levels, colors="#777777", linewidths=0.6)
        draw.colour_bar(filled, self.error, format="%.3g")

    def _label(self, ax: draw.Axes) -> None:
        labels = ["bias b" if k == "b" else f"weight of {draw.label(k)}" for k in self.names]
        ax.set(xlabel=labels[0], ylabel=labels[1])
        draw.legend(ax)


def _weights_and_targets(steps: adaline.Trace, y: Any, R: Array) -> tuple[Array, Array]:
    """Weights and bias along the way (m, p + 1), and a target for each row of X."""
    if steps.W_after.shape[1] > 1 or steps.t.shape[1] > 1:
        raise ValueError(
            f"there are {steps.W_after.shape[1]} neurons; a path is shown for one: one target, or "
            "two classes."
        )
    after = np.column_stack([steps.W_after[:, 0], steps.b_after[:, 0]])
    if steps.unit == "step":  # of Newton's method: all samples at once
        return after, (y == np.unique(y)[-1]).astype(np.float64)
    if steps.unit == "pass":
        after = after[np.append(np.flatnonzero(np.diff(steps.passes)), len(steps) - 1)]
    first = np.append(steps.W_before[0, 0], steps.b_before[0, 0])
    targets = np.zeros(len(R))
    targets[steps.samples] = steps.t[:, 0]
    return np.vstack([first, after]), targets


def _choose_weights(weights: Any, names: list[str], bias: bool) -> list[int]:
    """Two indices into (w1, ..., wp, b)."""
    p = len(names) - 1
    if weights is None and (p > 2 or p + bias < 2):
        raise ValueError(
            f"there are {p} weights{' and a bias' if bias else ''}; name the two to show: "
            'weights=(first, second), columns or "b".'
        )
    return [0, 1] if weights is None else inputs.two_columns(weights, names)
