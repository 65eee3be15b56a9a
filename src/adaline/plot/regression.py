"""Pictures of a regression: residuals, predicted values, coefficients, effects, a ridge path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from adaline import Ridge
from adaline.evaluation.coefficients import Effect, coefficients, effect_of_column
from adaline.evaluation.influence import influence
from adaline.evaluation.trial import ask, column_names
from adaline.evaluation.words import number, plain, plural
from adaline.plot import draw
from adaline.plot.animation import MovingDisplay
from adaline.plot.display import Display
from adaline.plot.draw import Array, Names

MAX_BARS = 25  # coefficients, which fill a screen


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Residuals against fitted values, against normal quantiles, and against leverage.

    Leverage and Cook's distance are those of `adaline.evaluation.influence`: for rows of a fit by
    least squares or ridge regression. There are two panels for other rows and models.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.plot import ResidualsDisplay
    >>> x, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 8.0])
    >>> picture = ResidualsDisplay.from_estimator(LeastSquares().fit(x, y), x, y)
    >>> picture.leverage.round(3)
    array([0.524, 0.295, 0.181, 0.181, 0.295, 0.524])
    >>> int(np.argmax(picture.cook))
    5
    """

    model: str
    fitted: Array
    residuals: Array
    #: Residuals over s sqrt(1 - h) where leverages h are known, else over s.
    standardised: Array
    leverage: Array | None = None
    cook: Array | None = None
    parameters: float = 0.0  #: Degrees of freedom: weights and bias, fewer with a penalty.
    size = (3.5, 3.3)

    @classmethod
    def from_estimator(
        cls, model: BaseEstimator, X: Any, y: Any, *, of_the_fit: bool | None = None
    ) -> Self:
        """Residuals of a fitted regressor, of several targets all together.

        `of_the_fit` says whether the model was fitted to these rows, by default yes if it has seen
        as many, or does not record how many.
        """
        R, Y, fitted = _predict(model, X, y)
        e, n = (Y - fitted).ravel(), len(Y)
        if of_the_fit is None:
            moments = getattr(model, "moments_", None)
            of_the_fit = moments is None or moments.rows == n
        judged = influence(model, R, Y[:, 0]) if of_the_fit and np.ndim(y) == 1 else None
        kind, s = type(model).__name__, root_mean_square(e)
        if judged is None:
            return cls(kind, fitted.ravel(), e, e / (s or 1.0))
        h, q = judged.leverage, judged.parameters
        deviation = s * np.sqrt(n / max(n - q, 1.0) * np.maximum(1.0 - h, 0.0))
        # A row of leverage one is fitted exactly: its residual is rounding.
        standardised = np.divide(e, deviation, out=np.zeros(n), where=deviation > 1e-8 * s)
        return cls(kind, fitted.ravel(), e, standardised, h, judged.cook, q)

    def __post_init__(self) -> None:
        self.panels = 2 if self.leverage is None else 3

    @property
    def claim(self) -> str:
        far = int(np.sum(np.abs(self.standardised) > 3))
        words = f"{self.model}: RMSE {number(root_mean_square(self.residuals), 3)} over "
        words += f"{plural(len(self.residuals), 'row')}; {far or 'no'} "
        words += f"{'row is' if far == 1 else 'rows are'} more than 3 standard deviations off"
        if self.cook is not None and self.cook.max() > 1.0:  # the usual limit
            words += f"; row {int(self.cook.argmax())} moves the fit (Cook's distance > 1)"
        return words

    def _draw(self, first: draw.Axes, second: draw.Axes, *third: draw.Axes) -> None:
        draw.points(first, self.fitted, self.residuals)
        draw.reference(first, 0.0)
        if len(self.fitted) >= 50:  # five rows a slice: a bent line shows what the model lacks
            slices = np.array_split(np.argsort(self.fitted, kind="stable"), 10)
            x, y = ([np.median(v[i]) for i in slices] for v in (self.fitted, self.residuals))
            draw.curve(first, x, y, 1, "-", label="medians", zorder=5)
        draw.describe(first, "fitted value", "residual", "Residuals against fitted values")
        n = len(self.fitted)
        draw.points(second, ndtri((np.arange(n) + 0.5) / n), np.sort(self.standardised))
        draw.reference(second, None, "normal")
        title = "Quantiles: a line if normal"
        draw.describe(second, "normal quantile", "standardised residual, sorted", title)
        if self.leverage is None or self.cook is None:
            return
        draw.points(third[0], self.leverage, self.standardised)
        draw.reference(third[0], 0.0)
        worst, high = int(self.cook.argmax()), min(1.05 * float(self.leverage.max()), 0.999)
        if self.cook[worst] >= 0.2:  # else no row comes near the curves
            h = np.linspace(max(1e-3 * high, 1e-9), high, 200)
            top = 1.15 * float(np.abs(self.standardised).max())
            for style, distance in (("-.", 0.5), ("--", 1.0)):
                reach = np.sqrt(distance * self.parameters * (1.0 - h) / h)
                curves = np.outer(np.where(reach > top, np.nan, reach), [1.0, -1.0])
                lines = third[0].plot(h, curves, style, linewidth=0.9, color=draw.colour(1))
                lines[0].set_label(f"Cook's distance {distance:g}")
            at = float(self.leverage[worst]), float(self.standardised[worst])
            third[0].annotate(str(worst), at, (-6, 0), textcoords="offset points", ha="right")
        third[0].locator_params(axis="x", nbins=5)
        title = "Leverage: far right moves the fit"
        draw.describe(third[0], "leverage h", "standardised residual", title)


@dataclass(eq=False, repr=False)
class PredictionDisplay(Display):
    """Predicted against true values.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.plot import PredictionDisplay
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> PredictionDisplay.from_estimator(LeastSquares().fit(X, y), X, y).r2
    1.0
    """

    model: str
    truth: Array
    predicted: Array
    r2: float  #: R² against the means of these rows, and the root mean squared error.
    rmse: float
    size = (4.6, 3.8)

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any) -> Self:
        """Predict these rows, several targets all together."""
        _, Y, predicted = _predict(model, X, y)
        rmse, spread = root_mean_square(Y - predicted), root_mean_square(Y - Y.mean(axis=0))
        r2 = 1.0 - (rmse / spread) ** 2 if spread else float("nan")
        return cls(type(model).__name__, Y.ravel(), predicted.ravel(), r2, rmse)

    @property
    def claim(self) -> str:
        explained = "" if np.isnan(self.r2) else f"R² = {self.r2:.3f}, "
        return f"{self.model}: {explained}RMSE {number(self.rmse, 3)}"

    def _draw(self, ax: draw.Axes) -> None:
        draw.points(ax, self.truth, self.predicted)
        draw.reference(ax, None, "exact")
        ends = draw.limits(np.concatenate([self.truth, self.predicted]))
        draw.describe(ax, "true value", "predicted value", xlim=ends, ylim=ends)


def _predict(model: BaseEstimator, X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Rows, and true and predicted values (n, k)."""
    draw.check_model(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is a classifier; see ConfusionMatrixDisplay.")
    R, Y = draw.check_rows(X), draw.check_rows(np.reshape(y, (len(y), -1)))
    draw.check_consistent_length(R, Y)
    return R, Y, np.asarray(ask(model, "predict", R), dtype=np.float64).reshape(Y.shape)


def root_mean_square(values: Array) -> float:
    """sqrt(mean of squares), in any units: squares of 1e200 are not computed."""
    return float(np.hypot.reduce(values.ravel())) / float(np.sqrt(values.size))


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
        unit = np.ones(w.size) if X is None else draw.check_rows(X).std(axis=0)
        known = column_names(model, X, names, w.size)
        rows = coefficients(model, known).rows[-w.size :]
        ends = [unit * [row.get(end, np.nan) for row in rows] for end in ("low", "high")]
        low, high = (None, None) if np.isnan(ends).any() else ends
        return cls(type(model).__name__, tuple(known), w[0] * unit, low, high, X is not None)

    @property
    def claim(self) -> str:
        p, largest = len(self.coef), self.names[int(np.argmax(np.abs(self.coef)))]
        words = f"the largest of {p} coefficients is that of {plain(largest, 28)}"
        if self.low is not None and self.high is not None:
            sure = int(np.sum((self.low > 0) | (self.high < 0)))
            verb = "differs" if sure == 1 else "differ"
            words = f"{sure} of {p} coefficients {verb} from zero (95% interval)"
        return f"{self.model}: {words}" + f"; the {MAX_BARS} largest" * (p > MAX_BARS)

    def _draw(self, ax: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef), kind="stable")[:MAX_BARS][::-1]
        at, w = np.arange(len(order)), self.coef[order]
        draw.reference(ax, 0.0, along="v")
        if self.low is None or self.high is None:
            draw.curve(ax, w, at, 0, "x", color=draw.INK)
        else:
            low, high = self.low[order], self.high[order]
            sure, reach = (low > 0) | (high < 0), np.abs([w - low, high - w])
            groups = {"differs from zero": sure, "zero is inside": ~sure}
            for k, (words, i) in enumerate(groups.items()):
                look: dict[str, Any] = {"color": draw.colour(k), "markersize": 5, "capsize": 2}
                ax.errorbar(w[i], at[i], xerr=reach[:, i], fmt=draw.marker(k), label=words, **look)
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
        cls, model: BaseEstimator, X: Any, column: Any, *, names: Names = None, target: Any = None
    ) -> Self:
        """Predictions for an average row of X whose `column` (name or number) changes."""
        draw.check_model(model, "predict_proba" if hasattr(model, "classes_") else "predict")
        R = draw.check_rows(X)
        known = column_names(model, X, names, R.shape[1])
        if column not in [*known, *range(len(known))]:
            raise ValueError(f"there is no column {column!r}; the first are {known[:10]}.")
        j = known.index(column) if column in known else int(column)
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
        single, style = len(e.of) == 1, "o--" if len(e.x) == 2 else None
        for k, name in enumerate(e.of):
            words = None if single else draw.label(name)
            draw.curve(ax, e.x, times * e.y[:, k], k, style, label=words)
            if e.low is not None and e.high is not None:
                look: dict[str, Any] = {"color": draw.colour(k), "alpha": 0.22, "linewidth": 0}
                look["label"] = "95% interval" if single else None
                ax.fill_between(e.x, times * e.low[:, k], times * e.high[:, k], **look)
        if len(e.x) == 2:
            ax.set_xticks(e.x)
        inside = self.seen[(self.seen >= e.x[0]) & (self.seen <= e.x[-1])]
        marks = {"color": draw.INK, "alpha": 0.35, "markersize": 7, "zorder": 1}
        ax.plot(inside, 0 * inside, "|", transform=ax.get_xaxis_transform(), **marks)
        label = plain(e.of[0], 24)
        if e.share:
            label = f"probability of {plain(label, 16)} (%)" if single else "probability (%)"
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
        draw.check_model(model, "path")
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
            length, alpha = np.linalg.norm(self.coef[self.now]), self.alphas[self.now]
            error, kind = (self.gcv, "GCV") if self.loo is None else (self.loo, "leave-one-out")
            words = f"alpha = {number(alpha, 3)}: |w| = {number(length, 3)}"
            return f"{words}, {kind} error {number(error[self.now], 3)}"
        loo = f"{number(self.best_loo, 3)} (LOO), " * (self.loo is not None)
        return f"Errors are least near alpha = {loo}{number(self.best_gcv, 3)} (GCV)"

    def _moments(self) -> int:
        return len(self.alphas)

    def _until(self, k: int) -> Self:
        return replace(self, now=int(np.argsort(self.alphas, kind="stable")[k]))

    def _draw(self, left: draw.Axes, right: draw.Axes) -> None:
        order = np.argsort(-np.abs(self.coef).max(axis=0), kind="stable")
        named = 7  # of the darker colours
        left.plot(self.alphas, self.coef[:, order[named:]], color="#999999", linewidth=0.7)
        for k, j in enumerate(order[:named].tolist()):
            draw.curve(left, self.alphas, self.coef[:, j], k, label=draw.label(self.names[j], 16))
        draw.reference(left, 0.0)
        curves = {"leave-one-out": (self.loo, self.best_loo), "GCV": (self.gcv, self.best_gcv)}
        for k, (words, (errors, best)) in enumerate(curves.items()):
            if errors is not None:
                draw.curve(right, self.alphas, errors, k, label=words)
                draw.curve(right, best, np.nanmin(errors), k, draw.marker(k), markersize=8)
        scale = "log" if self.alphas.min() > 0 else "symlog"
        for ax in (left, right):
            if self.alpha:
                draw.reference(ax, self.alpha, "alpha of the fit", along="v")
            if self.now is not None:
                ax.axvline(self.alphas[self.now], color=draw.INK, linewidth=1.2)
        draw.describe(left, "penalty alpha", "coefficient", "Coefficients shrink", xscale=scale)
        title = "Expected error has a minimum"
        draw.describe(right, "penalty alpha", "mean squared error", title, xscale=scale)
