"""Coefficients with their intervals, and the effect of one column on the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.effects import Effect, effect_of_column
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array

MAX_TICKS = 150  # values of the column marked on the axis of an effect


@dataclass(eq=False, repr=False)
class CoefficientsDisplay(Display):
    """Coefficients, the largest on top, with intervals from `summary()` where there are any.

    Attributes
    ----------
    model : str
    names : tuple of str
        The intercept is left out: it has other units.
    coef : ndarray of shape (p,)
    low, high : ndarray of shape (p,), or None
        Ends of the intervals, of the posterior for `Ridge`; infinite where one has no end.
    level : float
        Confidence level.
    per_deviation : bool
        Whether they are coefficients times the standard deviation of their column.
    max_rows : int
        How many are drawn, the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.plot import CoefficientsDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> y = X @ [2.0, 0.0] + np.sin(np.arange(50.0))
    >>> picture = CoefficientsDisplay.from_estimator(LeastSquares().fit(X, y))
    >>> print(picture.claim)
    LeastSquares: 1 of 2 coefficients differs from zero (95 % interval)
    """

    model: str
    names: tuple[str, ...]
    coef: Array
    low: Array | None
    high: Array | None
    level: float
    per_deviation: bool
    max_rows: int

    def __post_init__(self) -> None:
        self.size = (5.2, 1.1 + 0.24 * max(min(len(self.coef), self.max_rows), 3))

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        names: Sequence[Any] | None = None,
        level: float = 0.95,
        output: int = 0,
        max_rows: int = 25,
        **summary: Any,
    ) -> Self:
        """Coefficients of a fitted linear model.

        Parameters
        ----------
        model : fitted linear model
        X : array-like of shape (n, p), optional
            Rows for the standard deviations of the columns: coefficients are then given per
            standard deviation, and can be compared.
        names : sequence of str, optional
        level : float, default=0.95
        output : int
            Which target or class, where there are several; these have no intervals.
        max_rows : int, default=25
            How many to draw, the largest.
        **summary
            Further arguments of `summary`, such as intervals="profile".
        """
        if getattr(model, "coef_", None) is None:
            raise TypeError(f"{type(model).__name__} has no coef_; it is not fitted or not linear.")
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
        W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        w = W[inputs.check_index(output, len(W), "output")]
        ends = _intervals(model, len(w), level, summary) if len(W) == 1 else None
        unit = np.ones(len(w)) if X is None else inputs.check_rows(X).std(axis=0)
        low, high = (None, None) if ends is None else (ends[0] * unit, ends[1] * unit)
        known = tuple(inputs.column_names(model, X, len(w), names))
        kind = type(model).__name__
        return cls(kind, known, w * unit, low, high, level, X is not None, int(max_rows))

    @property
    def claim(self) -> str:
        p = len(self.coef)
        if self.low is None or self.high is None:
            largest = draw.shorten(self.names[int(np.argmax(np.abs(self.coef)))])
            words = f"{self.model}: the largest of {p} coefficients is that of {largest}"
        else:
            sure = int(np.sum((self.low > 0) | (self.high < 0)))
            verb = "differs" if sure == 1 else "differ"
            words = f"{self.model}: {sure} of {p} coefficients {verb} from zero "
            words += f"({100 * self.level:g} % interval)"
        return words + (f"; the {self.max_rows} largest" if p > self.max_rows else "")

    def _draw(self, ax: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef), kind="stable")[: self.max_rows][::-1]
        at, w = np.arange(len(order)), self.coef[order]
        draw.reference(ax, 0.0, along="v")
        if self.low is None or self.high is None:
            ax.hlines(at, np.minimum(w, 0.0), np.maximum(w, 0.0), color=draw.colour(0))
            ax.plot(w, at, draw.marker(0), color=draw.colour(0), markersize=5)
        else:
            low, high = self.low[order], self.high[order]
            finite = np.isfinite(low) & np.isfinite(high)
            sure = (low > 0) | (high < 0)
            groups = {"differs from zero": sure, "zero is inside": ~sure}
            for k, (words, group) in enumerate(groups.items()):
                i = group & finite
                look: dict[str, Any] = {"color": draw.colour(k), "markersize": 5, "capsize": 2}
                reach = np.abs([w - low, high - w])[:, i]
                ax.errorbar(w[i], at[i], xerr=reach, fmt=draw.marker(k), label=words, **look)
            ax.plot(w[~finite], at[~finite], "x", color=draw.INK)
        ax.set_yticks(at, [draw.label(self.names[j]) for j in order])
        ax.set_ylim(-0.6, len(order) - 0.4)
        ax.set_xlabel("coefficient per sd" if self.per_deviation else "coefficient")
        draw.legend(ax)


def _intervals(
    model: Any, p: int, level: float, options: dict[str, Any]
) -> tuple[Array, Array] | None:
    """Ends of the intervals without the intercept's, or None where there are none."""
    if not hasattr(model, "summary"):
        return None
    try:
        columns = model.summary(level=level, **options).columns
    except ValueError:
        if options:
            raise
        return None  # a large or rank-deficient fit, or a stream, has no standard errors
    ends = [
        np.asarray(values, dtype=np.float64)[-p:]
        for end in ("low", "high")
        for name, values in columns.items()
        if name.startswith(end) and len(values) >= p
    ]
    if len(ends) != 2:
        return None
    low, high = ends
    return None if np.isnan(low).any() or np.isnan(high).any() else (low, high)


@dataclass(eq=False, repr=False)
class EffectDisplay(Display):
    """The prediction as one column changes and the others stay at their averages.

    Attributes
    ----------
    effect : Effect
        The curve, with its 95 % interval where a theory has one.
    seen : ndarray of shape (m,)
        Values of the column, marked on the axis: where there are none, the curve extrapolates.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.plot import EffectDisplay
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> model = LeastSquares().fit(X, X @ [2.0, 0.0] + 1.0)
    >>> picture = EffectDisplay.from_estimator(model, X, "age", names=["age", "dose"], target="pay")
    >>> picture.claim
    'From age -0.94 to 0.914, pay goes from -0.881 to 2.83'
    """

    effect: Effect
    seen: Array
    size = (4.6, 3.2)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        column: Any,
        *,
        names: Sequence[Any] | None = None,
        target: str | None = None,
    ) -> Self:
        """Predictions for an average row of X whose `column` (name or number) changes."""
        inputs.check_model(model, "predict_proba" if hasattr(model, "classes_") else "predict")
        R = inputs.check_rows(X)
        known = inputs.column_names(model, X, R.shape[1], names)
        j = inputs.column_number(column, known)
        effect = effect_of_column(model, coefficients(model, known), R, known, j, target)
        return cls.of(effect, R[:, j])

    @classmethod
    def of(cls, effect: Effect, values: Array) -> Self:
        """A curve that is known already, and the values of its column."""
        return cls(effect, values[:: max(1, len(values) // MAX_TICKS)])

    @property
    def claim(self) -> str:
        return self.effect.sentence

    def _draw(self, ax: draw.Axes) -> None:
        e, single = self.effect, len(self.effect.of) == 1
        for k, name in enumerate(e.of):
            self._draw_curve(ax, k, None if single else draw.label(name))
        low, high = e.x[0], e.x[-1]
        inside = self.seen[(self.seen >= low) & (self.seen <= high)]
        look: dict[str, Any] = {"color": draw.INK, "alpha": 0.35, "markersize": 7, "zorder": 1}
        ax.plot(inside, 0 * inside, "|", transform=ax.get_xaxis_transform(), **look)
        if len(e.x) == 2:
            ax.set_xticks(e.x)
            ax.set_xlim(inputs.limits(e.x, 0.35))
        draw.label_axes(ax, e.name)
        if e.share:
            ax.set_ylabel(f"probability{f' of {draw.label(e.of[0], 16)}' if single else ''} (%)")
        else:
            ax.set_ylabel(draw.label(e.of[0], 24))
        draw.legend(ax)

    def _draw_curve(self, ax: draw.Axes, k: int, words: str | None) -> None:
        """One curve and its interval; two values are two points."""
        e, times = self.effect, 100.0 if self.effect.share else 1.0
        y = times * e.y[:, k]
        low, high = (None if v is None else times * v[:, k] for v in (e.low, e.high))
        interval = "95 % interval" if words is None else None
        look: dict[str, Any] = {"color": draw.colour(k)}
        if len(e.x) > 2:
            ax.plot(e.x, y, linestyle=draw.line(k), label=words, **look)
            if low is not None and high is not None:
                ax.fill_between(e.x, low, high, label=interval, alpha=0.22, linewidth=0, **look)
        else:
            reach = None
            if low is not None and high is not None:
                reach = np.maximum([y - low, high - y], 0.0)
                words = words or interval
            look |= {"capsize": 3, "markersize": 6, "linewidth": 1.2}
            ax.errorbar(e.x, y, yerr=reach, fmt=f"{draw.marker(k)}--", label=words, **look)
