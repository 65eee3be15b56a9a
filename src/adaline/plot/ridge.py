"""Ridge over all penalties: how coefficients shrink, and where the expected error is least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from adaline.evaluation.words import number
from adaline.plot import draw, inputs
from adaline.plot.animation import FRAME_INTERVAL, MAX_FRAMES, Animation, Show, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array

MAX_NAMED_CURVES = 7  # in the legend, one for each of the darker colours


@dataclass(eq=False, repr=False)
class RidgePathDisplay(Display):
    """Coefficients against the penalty, and the errors whose minimum chooses it.

    Attributes
    ----------
    alphas : ndarray of shape (L,)
    coef : ndarray of shape (L, p)
    gcv, loo : ndarray of shape (L,), loo may be None
        Generalised and exact leave-one-out mean squared error.
    best_gcv, best_loo : float, best_loo may be None
        Penalties of their minima on this grid.
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
        inputs.check_model(model, "path")
        path = model.path(alphas, X, y)
        alpha = float(np.atleast_1d(model.alpha_)[target])
        picture = cls.from_path(path, alpha=alpha, target=target)
        picture.names = tuple(inputs.column_names(model, X, len(path.names), names))
        return picture

    @classmethod
    def from_path(cls, path: Any, *, alpha: float | None = None, target: int = 0) -> Self:
        """The result of `Ridge.path`; `target` selects one of several."""
        coef, gcv, loo = path.coef, path.gcv, path.loo
        several = coef.ndim == 3
        j = inputs.check_index(target, coef.shape[1] if several else 1, "target")
        if several:
            coef, gcv, loo = coef[:, j], gcv[:, j], None if loo is None else loo[:, j]
        return cls(path.alphas, coef, gcv, loo, alpha, tuple(path.names))

    @property
    def best_gcv(self) -> float:
        """The penalty of the least generalised cross-validation error on this grid."""
        return float(self.alphas[np.nanargmin(self.gcv)])

    @property
    def best_loo(self) -> float | None:
        """The penalty of the least leave-one-out error on this grid."""
        return None if self.loo is None else float(self.alphas[np.nanargmin(self.loo)])

    @property
    def claim(self) -> str:
        if self.best_loo is None:
            return f"GCV is least near alpha = {number(self.best_gcv, 3)}"
        loo, gcv = number(self.best_loo, 3), number(self.best_gcv, 3)
        return f"Errors are least near alpha = {loo} (LOO), {gcv} (GCV)"

    def animate(self, *, frames: int = MAX_FRAMES, interval: int = FRAME_INTERVAL) -> Animation:
        """The penalty from its smallest value to its largest; `alphas` of the path may begin at 0.

        At most `frames` frames, sampled evenly, of `interval` milliseconds each.
        """
        order = np.argsort(self.alphas, kind="stable")
        order = order[choose_frames(len(order), frames)]
        kind, errors = ("GCV", self.gcv) if self.loo is None else ("leave-one-out", self.loo)
        claims = [
            f"alpha = {number(self.alphas[i], 3)}: |w| = "
            f"{number(np.linalg.norm(self.coef[i]), 3)}, {kind} error {number(errors[i], 3)}"
            for i in order
        ]

        def start(axes: list[draw.Axes]) -> Show:
            self._draw(*axes)
            lines = [ax.axvline(1.0, color=draw.INK, linewidth=1.2) for ax in axes]
            look: dict[str, Any] = {"color": draw.INK, "markersize": 4, "zorder": 5}
            dots = [ax.plot([], [], "o", **look)[0] for ax in axes]

            def show(k: int) -> None:
                i = order[k]
                for line in lines:
                    line.set_xdata([self.alphas[i]] * 2)
                dots[0].set_data(np.full(self.coef.shape[1], self.alphas[i]), self.coef[i])
                dots[1].set_data([self.alphas[i]], [errors[i]])

            return show

        return Animation(self, claims, start, interval)

    def _draw(self, left: draw.Axes, right: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef).max(axis=0), kind="stable")
        left.plot(
            self.alphas, self.coef[:, order[MAX_NAMED_CURVES:]], color="#999999", linewidth=0.7
        )
        for k, j in enumerate(order[:MAX_NAMED_CURVES].tolist()):
            look: dict[str, Any] = {"color": draw.colour(k), "linestyle": draw.line(k)}
            left.plot(self.alphas, self.coef[:, j], label=draw.label(self.names[j], 16), **look)
        draw.reference(left, 0.0)
        left.set(ylabel="coefficient", title="Coefficients shrink")
        curves = {"leave-one-out": (self.loo, self.best_loo), "GCV": (self.gcv, self.best_gcv)}
        for k, (words, (errors, best)) in enumerate(curves.items()):
            if errors is not None:
                look = {"color": draw.colour(k)}
                right.plot(self.alphas, errors, draw.line(k), label=words, **look)
                right.plot(best, np.nanmin(errors), draw.marker(k), markersize=8, **look)
        right.set(ylabel="mean squared error, estimated", title="Expected error has a minimum")
        for ax in (left, right):
            if self.alpha:
                draw.reference(ax, self.alpha, "alpha of the fit", along="v")
            ax.set_xscale("log" if self.alphas.min() > 0 else "symlog")
            ax.set_xlabel("penalty alpha")
            draw.legend(ax)
