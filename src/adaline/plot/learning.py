"""How fast learning goes: the error against samples, and the rate against its bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN = 800  # points of a curve beyond which more cannot be seen


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """The mean squared error of the last samples against the samples seen.

    Lectures: the LMS algorithm, 0 < eta < 2/tr[R], and the Wiener filter, below whose error no
    linear filter settles.

    Attributes
    ----------
    curves : dict of str to ndarray of shape (m,)
        Means of the squared a priori error over the last `window` samples, of each learner.
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
            It is left as it was. Other learners make other errors small.
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
        R = _given.rows(X)
        steps: Any = adaline.trace(estimator, X, y)
        squares = np.mean((steps.t - steps.v) ** 2, axis=1)
        targets = np.zeros((len(R), steps.t.shape[1]))
        targets[steps.samples] = steps.t
        window = _window(window, len(R))
        best = adaline.LeastSquares(fit_intercept=estimator.fit_intercept).fit(R, targets)
        floor = float(np.mean((targets - best.predict(R)) ** 2))
        bound = float(adaline.stable_rate(R, estimator.fit_intercept).one_sample)
        eta = getattr(estimator.eta, "eta", estimator.eta)
        constant = float(eta) if isinstance(eta, int | float | np.number) else None
        return cls({kind: _running(squares, window)}, window, floor, constant, bound)

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
        """Curves of errors that filters gave.

        Parameters
        ----------
        errors : mapping of str to array-like of shape (n,)
            The e of `y, e = filter.process(x, d)` for each name, real or complex.
        window : int, default=100
        floor : float, optional
            `WienerFilter.from_signals(x, d, taps).error`.
        eta, bound : float, optional
            The rate, and 2/tr[R], as `filters.max_step(x, taps).mean_square` gives it.
        """
        if not isinstance(errors, Mapping) or not errors:
            raise TypeError('errors is expected to be a mapping such as {"LMS": e}, not empty.')
        window = _window(window, 1)
        curves = {
            str(name): _running(np.abs(_given.signal(e, f"errors[{name!r}]")) ** 2, window)
            for name, e in errors.items()
        }
        return cls(curves, window, floor, eta, bound)

    @property
    def claim(self) -> str:
        last = {name: float(curve[-1]) for name, curve in self.curves.items()}
        name, value = min(last.items(), key=lambda item: item[1])
        lowest = f" lowest of {len(last)}," if len(last) > 1 else ""
        said = f"{name} ends{lowest} at a mean squared error of {number(value, 3)}"
        if self.floor is not None:
            said += f"; the least is {number(self.floor, 3)}"
        if self.bound is not None:
            rate = "the rate" if self.eta is None else f"the rate {number(self.eta, 3)}"
            said += f". Bound on {rate}: 2/tr[R] = {number(self.bound, 3)}"
        return said

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        for k, (name, curve) in enumerate(self.curves.items()):
            at = np.unique(np.linspace(0, len(curve) - 1, _DRAWN).astype(np.int64))
            ax.plot(
                at + 1,
                curve[at],
                color=_canvas.colour(k),
                label=_canvas.plain(name),
                linestyle=_canvas.LINES[k % len(_canvas.LINES)],
            )
        if self.floor is not None and self.floor > 0:
            _canvas.level(ax, self.floor, "least error (Wiener, least squares)")
        if all((curve > 0).any() for curve in self.curves.values()):
            ax.set_yscale("log")
        ax.set_xlabel("samples seen")
        ax.set_ylabel(f"mean squared error, last {self.window}")
        _canvas.legend(ax)


def _window(window: Any, default: int) -> int:
    if window is None:
        return max(default, 1)
    if isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 1:
        raise ValueError(f"window is {window!r}; expected a whole number of samples, 1 or more.")
    return int(window)


def _running(squares: Array, window: int) -> Array:
    """Means over the last `window` values, or as many as there are, by additions only."""
    n = len(squares)
    if window >= n:
        return np.asarray(np.cumsum(squares) / np.arange(1, n + 1))
    padded = np.concatenate([np.zeros(window - 1), squares])
    # Sums of windows as sums of blocks of two, four, ...: nothing is subtracted.
    total, block, length, done = np.zeros(n), padded, 1, 0
    while length <= window:
        if window & length:
            start = window - 1 - done - (length - 1)
            total += block[start : start + n]
            done += length
        if 2 * length <= window:
            block = block[:-length] + block[length:]
        length *= 2
    return np.asarray(total / np.minimum(np.arange(1, n + 1), window))
