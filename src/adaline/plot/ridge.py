"""Ridge over all penalties: how coefficients shrink, and where the expected error is least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display
from adaline.plot._moving_curves import MovingPenalty
from adaline.plot.animation import INTERVAL, MOST_FRAMES, Animation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 7  # curves that the legend names, those that reach farthest first


@dataclass(eq=False, repr=False)
class RidgePathDisplay(Display):
    """Coefficients against the penalty, and the errors whose minimum chooses it.

    Lecture: ridge regression.

    Attributes
    ----------
    alphas : ndarray of shape (L,)
    coef : ndarray of shape (L, p)
    gcv, loo : ndarray of shape (L,), loo may be None
        Generalised and exact leave-one-out mean squared error.
    best_gcv, best_loo : float, best_loo may be None
        Penalties of the smallest of them on this grid.
    alpha : float or None
        The penalty of the fit.
    names : tuple of str

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import Ridge
    >>> from adaline.plot import RidgePathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 3))
    >>> y = X @ [1.0, 0.5, 0.0] + rng.standard_normal(40)
    >>> picture = RidgePathDisplay.from_estimator(Ridge().fit(X, y), X, y)
    >>> picture.coef.shape, picture.loo.min() < picture.loo[-1]
    ((50, 3), np.True_)
    """

    alphas: Array
    coef: Array
    gcv: Array
    loo: Array | None
    best_gcv: float
    best_loo: float | None
    alpha: float | None
    names: tuple[str, ...]
    panels = 2
    size = (4.4, 3.6)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        alphas: Any = None,
        target: int = 0,
        names: Sequence[Any] | None = None,
    ) -> Self:
        """The path of a fitted `Ridge`; its training rows add the leave-one-out errors."""
        _given.fitted(model, "path")
        path = model.path(alphas, X, y)
        known = np.atleast_1d(model.alpha_)
        picture = cls.from_path(path, target=target)
        picture.alpha = float(known[target])
        picture.names = tuple(_given.column_names(model, X, len(path.names), names))
        return picture

    @classmethod
    def from_path(cls, path: Any, *, alpha: float | None = None, target: int = 0) -> Self:
        """A `RidgePath`, as `Ridge.path` gives it; `target` chooses one of several."""
        coef, gcv, loo = path.coef, path.gcv, path.loo
        if coef.ndim == 3:
            if not 0 <= target < coef.shape[1]:
                raise ValueError(f"target is {target}; there are {coef.shape[1]}, from 0.")
            coef, gcv = coef[:, target], gcv[:, target]
            loo = None if loo is None else loo[:, target]
        elif target != 0:
            raise ValueError(f"target is {target}; there is one, number 0.")
        found = [None if e is None else float(path.alphas[np.nanargmin(e)]) for e in (gcv, loo)]
        assert found[0] is not None
        return cls(path.alphas, coef, gcv, loo, found[0], found[1], alpha, tuple(path.names))

    @property
    def claim(self) -> str:
        if self.best_loo is None:
            return f"GCV is least near alpha = {number(self.best_gcv, 3)}"
        loo, gcv = number(self.best_loo, 3), number(self.best_gcv, 3)
        return f"Errors are least near alpha = {loo} (LOO), {gcv} (GCV)"

    def animate(self, *, frames: int = MOST_FRAMES, interval: int = INTERVAL) -> Animation:
        """The penalty from its smallest value to its largest; `alphas` of the path may begin at 0.

        Parameters
        ----------
        frames : int, default=60
            The most frames; of more penalties, as many are taken at equal distances.
        interval : int, default=250
            Milliseconds of a frame.
        """
        return Animation(self, MovingPenalty(self, frames), interval)

    def _draw(self, axes: list[Axes]) -> None:
        left, right = axes
        reach = np.abs(self.coef).max(axis=0)
        order = np.argsort(-reach, kind="stable")
        for place, j in enumerate(order[:_NAMED].tolist()):
            left.plot(
                self.alphas,
                self.coef[:, j],
                color=_canvas.colour(place),
                linestyle=_canvas.LINES[place % len(_canvas.LINES)],
                label=_canvas.plain(self.names[j], 16),
            )
        if len(order) > _NAMED:
            from matplotlib.collections import LineCollection

            others = [np.column_stack([self.alphas, self.coef[:, j]]) for j in order[_NAMED:]]
            faint: dict[str, Any] = {"colors": "#999999", "linewidths": 0.7, "zorder": 1}
            left.add_collection(LineCollection(others, rasterized=len(others) > 20, **faint))
        _canvas.level(left, 0.0)
        left.set_ylabel("coefficient")
        left.set_title("Coefficients shrink")
        right.plot(self.alphas, self.gcv, "--", color=_canvas.colour(1), label="GCV")
        right.plot(self.best_gcv, np.nanmin(self.gcv), "^", color=_canvas.colour(1), markersize=8)
        if self.loo is not None and self.best_loo is not None:
            right.plot(self.alphas, self.loo, "-", color=_canvas.colour(0), label="leave-one-out")
            right.plot(
                self.best_loo, np.nanmin(self.loo), "o", color=_canvas.colour(0), markersize=8
            )
        right.set_ylabel("mean squared error, estimated")
        right.set_title("Expected error has a minimum")
        for ax in axes:
            if self.alpha:
                _canvas.level(ax, self.alpha, "alpha of the fit", along="v")
            ax.set_xscale("log" if self.alphas.min() > 0 else "symlog")
            ax.set_xlabel("penalty alpha")
            _canvas.legend(ax)
