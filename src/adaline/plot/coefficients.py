"""Coefficients with their intervals and over all penalties, and the effect of one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from adaline import Ridge
from adaline.evaluation.coefficients import Effect, coefficients, effect_of_column
from adaline.evaluation.trial import column_names
from adaline.evaluation.words import number, plain
from adaline.plot import draw, inputs
from adaline.plot.animation import MovingDisplay
from adaline.plot.display import Display
from adaline.plot.draw import Array
from adaline.plot.inputs import Names

MAX_BARS = 25  # coefficients, which fill a screen


@dataclass(eq=False, repr=False)
class CoefficientsDisplay(Display):
    """Coefficients, the largest on top, with intervals from `summary()` where there are any.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.plot import CoefficientsDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> y = X @ [2.0, 0.0] + np.sin(np.arange(50.0))
    >>> picture = CoefficientsDisplay.from_estimator(LeastSquares().fit(X, y))
    >>> print(picture.claim)
    LeastSquares: 1 of 2 coefficients differs from zero (95% interval)
    """

    model: str
    #: Of the coefficients; the intercept is left out, as it has other units.
    names: tuple[str, ...]
    coef: Array
    #: Ends of the intervals, of the posterior for `Ridge`; infinite where one has no end.
    low: Array | None
    high: Array | None
    #: Whether they are coefficients times the standard deviation of their column.
    per_deviation: bool

    def __post_init__(self) -> None:
        self.size = (5.2, 1.1 + 0.24 * max(min(len(self.coef), MAX_BARS), 3))

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any = None, *, names: Names = None) -> Self:
        """Coefficients of a fitted linear model of one output, the 25 largest.

        With rows X they are per standard deviation of their column, and can be compared.
        """
        w = np.atleast_2d(np.asarray(getattr(model, "coef_", []), dtype=np.float64))
        if len(w) != 1 or not w.size:
            raise TypeError(f"{type(model).__name__} has no coef_ of one target or two classes.")
        unit = np.ones(w.size) if X is None else inputs.check_rows(X).std(axis=0)
        known = column_names(model, X, names, w.size)
        rows = coefficients(model, known).rows[-w.size :]
        ends = [unit * [row.get(end, np.nan) for row in rows] for end in ("low", "high")]
        low, high = (None, None) if np.isnan(ends).any() else ends
        return cls(type(model).__name__, tuple(known), w[0] * unit, low, high, X is not None)

    @property
    def claim(self) -> str:
        p = len(self.coef)
        if self.low is None or self.high is None:
            largest = plain(self.names[int(np.argmax(np.abs(self.coef)))], 28)
            words = f"the largest of {p} coefficients is that of {largest}"
        else:
            sure = int(np.sum((self.low > 0) | (self.high < 0)))
            verb = "differs" if sure == 1 else "differ"
            words = f"{sure} of {p} coefficients {verb} from zero (95% interval)"
        most = f"; the {MAX_BARS} largest" if p > MAX_BARS else ""
        return f"{self.model}: {words}{most}"

    def _draw(self, ax: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef), kind="stable")[:MAX_BARS][::-1]
        at, w = np.arange(len(order)), self.coef[order]
        draw.reference(ax, 0.0, along="v")
        low = high = np.full(len(w), np.nan)
        if self.low is not None and self.high is not None:
            low, high = self.low[order], self.high[order]
        known, sure = np.isfinite(high - low), (low > 0) | (high < 0)
        groups = {"differs from zero": sure & known, "zero is inside": ~sure & known}
        for k, (words, i) in enumerate(groups.items()):
            look: dict[str, Any] = {"color": draw.colour(k), "markersize": 5, "capsize": 2}
            look["label"] = words if known.any() else None
            ax.errorbar(
                w[i], at[i], xerr=np.abs([w - low, high - w])[:, i], fmt=draw.marker(k), **look
            )
        draw.curve(ax, w[~known], at[~known], 0, "x", color=draw.INK)
        ax.set_yticks(at, [draw.label(self.names[j]) for j in order])
        words = "coefficient per sd" if self.per_deviation else "coefficient"
        draw.describe(ax, words, ylim=(-0.6, len(order) - 0.4))


@dataclass(eq=False, repr=False)
class EffectDisplay(Display):
    """The prediction as one column changes and the others stay at their averages.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.plot import EffectDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> model = LeastSquares().fit(X, X @ [2.0, 0.0] + 1.0)
    >>> picture = EffectDisplay.from_estimator(model, X, "age", names=["age", "dose"], target="pay")
    >>> picture.claim
    'From age -0.94 to 0.914, pay goes from -0.881 to 2.83'
    """

    effect: Effect  #: The curve, with its 95% interval where a theory has one.
    #: Values of the column, marked on the axis: where there are none, the curve extrapolates.
    seen: Array
    size = (4.6, 3.2)

    @classmethod
    def from_estimator(
        cls,
        model: BaseEstimator,
        X: Any,
        column: Any,
        *,
        names: Names = None,
        target: str | None = None,
    ) -> Self:
        """Predictions for an average row of X whose `column` (name or number) changes."""
        inputs.check_model(model, "predict_proba" if hasattr(model, "classes_") else "predict")
        R = inputs.check_rows(X)
        known = column_names(model, X, names, R.shape[1])
        j = inputs.column_number(column, known)
        effect = effect_of_column(model, coefficients(model, known), R, known, j, target)
        return cls.of(effect, R[:, j])

    @classmethod
    def of(cls, effect: Effect, values: Array) -> Self:
        """A curve that is known already, and the values of its column."""
        return cls(effect, values[:: max(1, len(values) // draw.FEW_MARKS)])

    @property
    def claim(self) -> str:
        return self.effect.sentence

    def _draw(self, ax: draw.Axes) -> None:
        e, times = self.effect, 100.0 if self.effect.share else 1.0
        single, two_values = len(e.of) == 1, len(e.x) == 2
        for k, name in enumerate(e.of):
            y, look = times * e.y[:, k], {"color": draw.colour(k)}
            draw.curve(ax, e.x, y, k, f"{draw.marker(k)}--" if two_values else None)
            if not single:
                ax.lines[-1].set_label(draw.label(name))
            if e.low is not None and e.high is not None:
                low, high = times * e.low[:, k], times * e.high[:, k]
                words: dict[str, Any] = look | {"label": "95% interval" if single else None}
                if two_values:
                    reach = np.maximum([y - low, high - y], 0.0)
                    ax.errorbar(e.x, y, yerr=reach, fmt="none", capsize=3, **words)
                else:
                    ax.fill_between(e.x, low, high, alpha=0.22, linewidth=0, **words)
        if two_values:
            ax.set_xticks(e.x)
            ax.set_xlim(inputs.limits(e.x, 0.35))
        inside = self.seen[(self.seen >= e.x[0]) & (self.seen <= e.x[-1])]
        marks = {"color": draw.INK, "alpha": 0.35, "markersize": 7, "zorder": 1}
        ax.plot(inside, 0 * inside, "|", transform=ax.get_xaxis_transform(), **marks)
        label = plain(e.of[0], 16 if e.share else 24)
        if e.share:
            label = f"probability of {label} (%)" if single else "probability (%)"
        draw.describe(ax, e.name, label)


@dataclass(eq=False, repr=False)
class RidgePathDisplay(MovingDisplay):
    """Coefficients against the penalty, and the errors whose minimum chooses it.

    Examples
    --------
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
    coef: Array  #: Coefficients at each penalty, (L, p).
    gcv: Array  #: Generalised and exact leave-one-out mean squared error.
    loo: Array | None
    alpha: float  #: The penalty of the fit.
    names: tuple[str, ...]
    now: int | None = None  #: In a film, the penalty that is marked.
    panels = 2
    size = (4.4, 3.6)

    @classmethod
    def from_estimator(
        cls, model: Ridge, X: Any = None, y: Any = None, *, alphas: Any = None, names: Names = None
    ) -> Self:
        """The path of a fitted `Ridge` of one target; training rows add leave-one-out errors."""
        inputs.check_model(model, "path")
        path = model.path(alphas, X, y)
        if path.coef.ndim > 2:
            raise ValueError(f"there are {path.coef.shape[1]} targets; a path is of one.")
        known = tuple(column_names(model, X, names, len(path.names)))
        return cls(path.alphas, path.coef, path.gcv, path.loo, float(model.alpha_), known)

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
        if self.now is not None:
            length = number(np.linalg.norm(self.coef[self.now]), 3)
            error, kind = (self.gcv, "GCV") if self.loo is None else (self.loo, "leave-one-out")
            words = f"alpha = {number(self.alphas[self.now], 3)}: |w| = {length}"
            return f"{words}, {kind} error {number(error[self.now], 3)}"
        if self.best_loo is None:
            return f"GCV is least near alpha = {number(self.best_gcv, 3)}"
        loo, gcv = number(self.best_loo, 3), number(self.best_gcv, 3)
        return f"Errors are least near alpha = {loo} (LOO), {gcv} (GCV)"

    def _moments(self) -> int:
        return len(self.alphas)

    def _until(self, k: int) -> Self:
        return replace(self, now=int(np.argsort(self.alphas, kind="stable")[k]))

    def _draw(self, left: draw.Axes, right: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef).max(axis=0), kind="stable")
        named = 7  # of the darker colours
        left.plot(self.alphas, self.coef[:, order[named:]], color="#999999", linewidth=0.7)
        for k, j in enumerate(order[:named].tolist()):
            words = draw.label(self.names[j], 16)
            draw.curve(left, self.alphas, self.coef[:, j], k, label=words)
        draw.reference(left, 0.0)
        curves = {"leave-one-out": (self.loo, self.best_loo), "GCV": (self.gcv, self.best_gcv)}
        for k, (words, (errors, best)) in enumerate(curves.items()):
            if errors is not None:
                draw.curve(right, self.alphas, errors, k, label=words)
                draw.curve(right, best, np.nanmin(errors), k, draw.marker(k), markersize=8)
        scale = "log" if self.alphas.min() > 0 else "symlog"
        labels = {left: "coefficient", right: "mean squared error, estimated"}
        titles = {left: "Coefficients shrink", right: "Expected error has a minimum"}
        for ax in (left, right):
            if self.alpha:
                draw.reference(ax, self.alpha, "alpha of the fit", along="v")
            draw.describe(ax, "penalty alpha", labels[ax], titles[ax], xscale=scale)
            if self.now is not None:
                ax.axvline(self.alphas[self.now], color=draw.INK, linewidth=1.2)
