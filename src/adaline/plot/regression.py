"""Quality of a regression: residuals with quantiles and leverage, and predicted values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from adaline.evaluation.diagnostics import influence
from adaline.evaluation.trial import ask
from adaline.evaluation.words import number, plural
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Residuals against fitted values, against normal quantiles, and against leverage.

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
    #: h = 1/n + (x - m)' S^-1 (x - m) among these rows; S has the penalty of the fit on its
    #: diagonal (`adaline.evaluation.diagnostics`).
    leverage: Array
    #: Residuals over s sqrt(1 - h) for rows of the fit, and over s for other rows.
    standardised: Array
    cook: Array | None  #: Cook's distances, for rows of a fit by least squares or ridge regression.
    of_the_fit: bool  #: Whether these are the rows of the fit.
    parameters: float  #: Degrees of freedom: weights and bias, fewer with a penalty.
    panels = 3
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
        (n, k), cook = Y.shape, None
        if of_the_fit is None:
            moments = getattr(model, "moments_", None)
            of_the_fit = moments is None or moments.rows == n
        judged = influence(model, R, Y[:, 0]) if of_the_fit and np.ndim(y) == 1 else None
        if judged is None:
            h = _leverage(R, getattr(model, "fit_intercept", True))
            parameters = float(h.sum())
        else:
            h, cook, parameters = judged.leverage, judged.cook, judged.parameters
        e, h = (Y - fitted).ravel(), np.repeat(h, k)
        s = root_mean_square(e)
        if of_the_fit:
            s *= float(np.sqrt(n / max(n - parameters, 1)))
        deviation = s * np.sqrt(np.maximum(1.0 - h, 0.0)) if of_the_fit else np.full(n * k, s)
        # A row of leverage one is fitted exactly: its residual is rounding.
        standardised = np.divide(e, deviation, out=0.0 * e, where=deviation > 1e-8 * s)
        kind = type(model).__name__
        return cls(kind, fitted.ravel(), e, h, standardised, cook, of_the_fit, parameters)

    @property
    def claim(self) -> str:
        far = int(np.sum(np.abs(self.standardised) > 3))
        words = f"{self.model}: RMSE {number(root_mean_square(self.residuals), 3)} over "
        words += f"{plural(len(self.residuals), 'row')}; {far or 'no'} "
        words += f"{'row is' if far == 1 else 'rows are'} more than 3 standard deviations off"
        if self.cook is not None and self.cook.max() > 1.0:  # the usual limit
            words += f"; row {int(self.cook.argmax())} moves the fit (Cook's distance > 1)"
        return words

    def _draw(self, first: draw.Axes, second: draw.Axes, third: draw.Axes) -> None:
        draw.points(first, self.fitted, self.residuals)
        draw.reference(first, 0.0)
        if len(self.fitted) >= 50:  # five rows a slice: a bent line shows what the model lacks
            slices = np.array_split(np.argsort(self.fitted, kind="stable"), 10)
            x, y = ([np.median(v[i]) for i in slices] for v in (self.fitted, self.residuals))
            draw.curve(first, x, y, 1, "-", label="medians", zorder=5)
        draw.describe(first, "fitted value", "residual", "Residuals against fitted values")
        n = len(self.fitted)
        quantiles = ndtri((np.arange(n) + 0.5) / n)
        draw.points(second, quantiles, np.sort(self.standardised))
        draw.diagonal(second, quantiles[[0, -1]], "normal")
        words = "standardised residual, sorted", "Quantiles: a line if normal"
        draw.describe(second, "normal quantile", *words)
        draw.points(third, self.leverage, self.standardised)
        draw.reference(third, 0.0)
        if self.cook is not None and self.cook.max() >= 0.2:  # else no row comes near the curves
            self._draw_cook(third, int(self.cook.argmax()))
        third.locator_params(axis="x", nbins=5)
        words = "standardised residual", "Leverage: far right moves the fit"
        draw.describe(third, "leverage h", *words)

    def _draw_cook(self, ax: draw.Axes, worst: int) -> None:
        """Curves of equal Cook's distance, and the number of the row with the largest."""
        high = min(1.05 * float(self.leverage.max()), 0.999)
        h = np.linspace(max(1e-3 * high, 1e-9), high, 200)
        top = 1.15 * float(np.abs(self.standardised).max()) or 1.0
        for style, distance in (("-.", 0.5), ("--", 1.0)):
            curve = np.sqrt(distance * self.parameters * (1.0 - h) / h)
            inside, words = curve <= top, f"Cook's distance {distance:g}"
            draw.curve(ax, h[inside], curve[inside], 1, style, linewidth=0.9, label=words)
            draw.curve(ax, h[inside], -curve[inside], 1, style, linewidth=0.9)
        at = float(self.leverage[worst]), float(self.standardised[worst])
        ax.annotate(str(worst), at, (-6, 0), textcoords="offset points", ha="right", va="center")


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
        ends = inputs.limits(np.concatenate([self.truth, self.predicted]))
        draw.diagonal(ax, ends, "exact")
        draw.describe(ax, "true value", "predicted value", xlim=ends, ylim=ends)


def _predict(model: BaseEstimator, X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Rows, and true and predicted values (n, k)."""
    inputs.check_model(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is a classifier; see ConfusionMatrixDisplay.")
    R, Y = inputs.check_rows(X), inputs.check_rows(np.reshape(y, (len(y), -1)))
    inputs.check_consistent_length(R, Y)
    return R, Y, np.asarray(ask(model, "predict", R), dtype=np.float64).reshape(Y.shape)


def _leverage(R: Array, bias: bool) -> Array:
    """Diagonal of the hat matrix of these rows."""
    Z = R - R.mean(axis=0) if bias else R
    largest = np.abs(Z).max(axis=0)
    Z = Z / np.where(largest > 0, largest, 1.0)
    rounding = max(Z.shape) * np.finfo(np.float64).eps
    H = np.einsum("ij,ji->i", Z, np.linalg.pinv(Z, rcond=rounding))
    return np.asarray(H + bool(bias) / len(R))


def root_mean_square(values: Array) -> float:
    """sqrt(mean of squares), in any units: squares of 1e200 are not computed."""
    largest = float(np.abs(values).max()) or 1.0
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))
