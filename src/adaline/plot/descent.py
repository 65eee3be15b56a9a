"""Where learning goes: the path of two weights over the surface of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display
from adaline.plot._moving_curves import GrowingPath
from adaline.plot.animation import INTERVAL, MOST_FRAMES, Animation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class WeightPathDisplay(Display):
    """The path of two weights over the error they are to make small.

    Lectures: gradient descent, LMS and the perceptron criterion. Steps of batch learning are
    orthogonal to the contours; those of single samples only on average.

    Attributes
    ----------
    model, error : str
        The learner, and the name of the error.
    path : ndarray of shape (m, 2)
        The two weights before the first step and after each (after each pass, in batch mode).
    losses : ndarray of shape (m,)
        The mean error over all samples along the path, other weights as they were at the end.
    x, y, surface : ndarray of shape (g,), (g,) and (g, g)
        The mean error over a grid of the two weights.
    names : tuple of two str
    held : int
        How many other weights are held at their last values on the surface.
    wrong : tuple of two ints, or None
        For a perceptron: rows not on their right side before the first step, and after the last.

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
    beside = 12

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, weights: Any = None, grid: int = 120, **start: Any
    ) -> Self:
        """Learn as `trace` does, and show two of the weights.

        Parameters
        ----------
        estimator : Perceptron, WidrowHoff, Adaline, SigmoidPerceptron or LogisticRegression
            Fitted or not; it is left as it was.
        X, y : array-like
            One target, or two classes.
        weights : two of "b", names or numbers of columns, optional
            Which to show. By default both columns, or the only column and the bias.
        grid : int, default=120
        **start
            What else `fit` takes, such as coef_init.
        """
        kind, error = type(estimator).__name__, getattr(estimator, "_error", None)
        if error is None:
            raise TypeError(
                f"{kind} has no error surface to show here; expected a learner that makes an error "
                "smaller step by step, such as WidrowHoff, Perceptron or LogisticRegression."
            )
        R = _given.rows(X)
        steps = adaline.trace(estimator, X, y, **start)
        theta, targets = _steps(steps, np.asarray(y), R)
        names = [*_given.column_names(None, X, R.shape[1]), "b"]
        pair = _pair(weights, names, bool(estimator.fit_intercept))
        alpha = _penalty(estimator) / len(R)

        def loss(both: Array) -> Array:
            full = np.tile(theta[-1], (len(both), 1))
            full[:, pair] = both
            V = R @ full[:, :-1].T + full[:, -1]
            mean = estimator._row_errors(targets[:, None], V).mean(axis=0)
            return np.asarray(mean + 0.5 * alpha * np.sum(full[:, :-1] ** 2, axis=1))

        path = theta[:, pair]
        a, b = (np.linspace(*_given.frame(path[:, i], 0.35), int(grid)) for i in (0, 1))
        surface = np.stack([loss(np.column_stack([a, np.full(len(a), value)])) for value in b])
        held = R.shape[1] - 2 + bool(estimator.fit_intercept)
        chosen = (names[pair[0]], names[pair[1]])
        wrong = None
        if error == "perceptron criterion":  # zero weights have zero criterion, and no row right
            ends = R @ theta[[0, -1], :-1].T + theta[[0, -1], -1]
            first, last = np.sum(targets[:, None] * ends <= 0, axis=0).tolist()
            wrong = first, last
        return cls(kind, error, path, loss(path), a, b, surface, chosen, held, wrong)

    @property
    def claim(self) -> str:
        steps, (first, last) = len(self.path) - 1, self.losses[[0, -1]]
        what = f"{self.error} {number(first, 3)} → {number(last, 3)}"
        if self.wrong is not None:
            what = f"rows not on their right side {self.wrong[0]} → {self.wrong[1]}"
        said = f"{self.model}: {what} in {_canvas.many(steps, 'step')}"
        if self.held:
            others = "1 other weight" if self.held == 1 else f"{self.held} other weights"
            said += f"; {others} at the last value"
        return said

    def animate(self, *, frames: int = MOST_FRAMES, interval: int = INTERVAL) -> Animation:
        """The path as it grows, step after step.

        Parameters
        ----------
        frames : int, default=60
            The most frames; of more steps, as many are taken at equal distances.
        interval : int, default=250
            Milliseconds of a frame.
        """
        return Animation(self, GrowingPath(self, frames), interval)

    def _draw_surface(self, ax: Axes) -> None:
        """The error over the two weights."""
        low, high = float(self.surface.min()), float(self.surface.max())
        # Levels grow with the square, as errors do: even spacing for a parabola.
        levels = low + (high - low) * np.linspace(0.04, 1.0, 13) ** 2
        if high > low:
            filled = ax.contourf(
                self.x, self.y, self.surface, np.append(low, levels), cmap="Greys", alpha=0.4
            )
            filled.set_rasterized(True)
            ax.contour(self.x, self.y, self.surface, levels, colors="#777777", linewidths=0.6)
            bar = ax.figure.colorbar(filled, ax=ax, format="%.3g")
            bar.set_label(self.error)
            bar.solids.set_rasterized(True)  # type: ignore[union-attr]

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        self._draw_surface(ax)
        many = len(self.path) > 200
        ax.plot(
            *self.path.T,
            "-" if many else ".-",
            color=_canvas.colour(0),
            linewidth=1.1,
            markersize=4,
            label="path",
            rasterized=len(self.path) > 2000,
        )
        ax.plot(*self.path[0], "o", color=_canvas.colour(2), markersize=7, label="start")
        ax.plot(*self.path[-1], "*", color=_canvas.colour(1), markersize=12, label="end")
        self._label(ax)

    def _label(self, ax: Axes) -> None:
        ax.set_xlabel(
            f"weight of {_canvas.plain(self.names[0])}" if self.names[0] != "b" else "bias b"
        )
        ax.set_ylabel(
            f"weight of {_canvas.plain(self.names[1])}" if self.names[1] != "b" else "bias b"
        )
        _canvas.legend(ax)


def _steps(steps: adaline.Trace, y: Any, R: Array) -> tuple[Array, Array]:
    """Weights and bias along the way (m, p + 1), and a target for each row of X."""
    if steps.W_after.shape[1] > 1 or steps.t.shape[1] > 1:
        raise ValueError(
            f"there are {steps.W_after.shape[1]} neurons; a path is shown for one: one target, or "
            "two classes."
        )
    after = np.column_stack([steps.W_after[:, 0], steps.b_after[:, 0]])
    if steps.unit == "step":  # of Newton's procedure: all samples at once
        return after, (y == np.unique(y)[-1]).astype(np.float64)
    if steps.unit == "pass":
        after = after[np.append(np.flatnonzero(np.diff(steps.passes)), len(steps) - 1)]
    first = np.append(steps.W_before[0, 0], steps.b_before[0, 0])
    targets = np.zeros(len(R))
    targets[steps.samples] = steps.t[:, 0]
    return np.vstack([first, after]), targets


def _penalty(estimator: Any) -> float:
    """alpha of a logistic regression, zero for others."""
    alpha = getattr(estimator, "alpha", 0.0)
    if isinstance(alpha, str):
        raise TypeError(f"alpha is {alpha!r}; the surface needs a number, such as model.alpha_.")
    return float(alpha)


def _pair(weights: Any, names: list[str], bias: bool) -> list[int]:
    """Two places in (w1, ..., wp, b)."""
    p = len(names) - 1
    if weights is None:
        if p > 2 or p + bias < 2:
            raise ValueError(
                f"there are {p} weights{' and a bias' if bias else ''}; name the two to show: "
                'weights=(first, second), columns or "b".'
            )
        return [0, 1]
    if isinstance(weights, str) or len(weights) != 2:
        raise ValueError(f'weights is {weights!r}; expected two columns, or a column and "b".')
    return list(_given.two_of(weights, names))
