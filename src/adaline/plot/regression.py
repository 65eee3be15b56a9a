"""Quality of a regression: residuals with quantiles and leverage, and predicted values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from adaline.evaluation.influence import influence
from adaline.evaluation.words import number, plural
from adaline.plot import draw, inputs
from adaline.plot.display import Display
from adaline.plot.draw import Array

FAR_DEVIATIONS = 3.0  # standard deviations beyond which a residual is counted in the claim
COOK_LEVELS = (0.5, 1.0)  # Cook and Weisberg's limits for a row that deserves a look
MAX_COLUMNS = 1000  # up to which the scatter of the fit is decomposed
NUMBERED_ROWS = 3  # rows of the largest Cook's distances whose numbers are shown
MIN_ROWS_FOR_MEDIANS = 50  # ten slices of five rows


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Residuals against fitted values, against normal quantiles, and against leverage.

    Attributes
    ----------
    model : str
    fitted, residuals : ndarray of shape (n,)
    leverage : ndarray of shape (n,)
        h = 1/N + (x - m)' S^-1 (x - m), m and S of the N rows of the fit where the model has them
        (`moments_`, at most 1000 columns), else of these rows. For rows of a penalised fit, S has
        the penalty on its diagonal (`adaline.evaluation.influence`).
    standardised : ndarray of shape (n,)
        Residuals over s sqrt(1 - h) for rows of the fit, and s sqrt(1 + h) for other rows.
    cook : ndarray of shape (n,), or None
        Cook's distances, for rows of the fit: how far leaving the row out moves all predictions.
    quantiles : ndarray of shape (n,)
        Normal quantiles to compare with the sorted `standardised`.
    of_the_fit : bool
        Whether these are the rows of the fit.
    parameters : float
        Degrees of freedom: weights and bias, fewer with a penalty.

    Examples
    --------
    >>> import numpy as np
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
    leverage: Array
    standardised: Array
    cook: Array | None
    quantiles: Array
    of_the_fit: bool
    parameters: float
    panels = 3
    size = (3.5, 3.3)

    @classmethod
    def from_estimator(
        cls,
        model: BaseEstimator,
        X: Any,
        y: Any,
        *,
        of_the_fit: bool | None = None,
        target: int = 0,
    ) -> Self:
        """Residuals of a fitted regressor.

        Parameters
        ----------
        model : fitted regressor
        X, y : array-like of shape (n, p) and (n,) or (n, k)
        of_the_fit : bool, optional
            Whether the model was fitted to these rows. By default yes if it has seen as many, or
            does not record how many.
        target : int
            Which target, where there are several.
        """
        R, truth, fitted = _predict(model, X, y, target)
        moments = getattr(model, "moments_", None)
        if of_the_fit is None:
            of_the_fit = moments is None or moments.rows == len(R)
        bias = bool(getattr(model, "fit_intercept", True))
        residuals, parameters, n = truth - fitted, float(R.shape[1] + bias), len(R)
        judged = influence(model, R, truth) if of_the_fit and np.ndim(y) == 1 else None
        if judged is not None and judged.exact:
            h, parameters = judged.leverage, judged.parameters
        elif hasattr(moments, "mean_x") and not of_the_fit and R.shape[1] <= MAX_COLUMNS:
            h = _leverage_of_new_rows(moments, R, bias)
        else:
            h = _leverage(R, bias)
        if of_the_fit:
            share = np.maximum(1.0 - h, 0.0)
            s = root_mean_square(residuals) * float(np.sqrt(n / max(n - parameters, 1)))
        else:  # new rows have the noise, and the error of the weights on top
            share = 1.0 + h
            s = root_mean_square(residuals / np.sqrt(share))
        deviation = s * np.sqrt(share)
        # A row of leverage one is fitted exactly: its residual is rounding.
        known = deviation > 1e-8 * s
        standardised = np.divide(residuals, deviation, out=np.zeros(n), where=known)
        cook = None
        if of_the_fit:
            odds = np.divide(h, 1.0 - h, out=np.zeros(n), where=known & (h < 1.0))
            cook = standardised**2 * odds / parameters
        quantiles = ndtri((np.arange(n) + 0.5) / n)
        name = type(model).__name__
        return cls(
            name, fitted, residuals, h, standardised, cook, quantiles, of_the_fit, parameters
        )

    @property
    def claim(self) -> str:
        far = int(np.sum(np.abs(self.standardised) > FAR_DEVIATIONS))
        rows = "row is" if far == 1 else "rows are"
        words = f"{self.model}: RMSE {number(root_mean_square(self.residuals), 3)} over "
        words += f"{plural(len(self.residuals), 'row')}; {far or 'no'} {rows} more than "
        words += f"{FAR_DEVIATIONS:.0f} standard deviations off"
        if self.cook is not None and self.cook.max() > COOK_LEVELS[-1]:
            words += f"; row {int(self.cook.argmax())} moves the fit (Cook's distance > 1)"
        return words

    def _draw(self, first: draw.Axes, second: draw.Axes, third: draw.Axes) -> None:
        draw.points(first, self.fitted, self.residuals)
        draw.reference(first, 0.0)
        if len(self.fitted) >= MIN_ROWS_FOR_MEDIANS:  # a bent line shows what the model lacks
            slices = np.array_split(np.argsort(self.fitted, kind="stable"), 10)
            medians = [[np.median(v[i]) for i in slices] for v in (self.fitted, self.residuals)]
            first.plot(*medians, color=draw.colour(1), label="medians", zorder=5)
        first.set(xlabel="fitted value", ylabel="residual", title="Residuals against fitted values")
        draw.points(second, self.quantiles, np.sort(self.standardised))
        ends = self.quantiles[[0, -1]]
        second.plot(ends, ends, ":", color=draw.INK, linewidth=0.9, label="normal")
        second.set(xlabel="normal quantile", ylabel="standardised residual, sorted")
        second.set_title("Quantiles: a line if normal")
        draw.points(third, self.leverage, self.standardised)
        draw.reference(third, 0.0)
        self._draw_cook(third)
        third.set(xlabel="leverage h", ylabel="standardised residual")
        third.locator_params(axis="x", nbins=5)
        third.set_title("Leverage: far right moves the fit")
        for ax in (first, second, third):
            draw.legend(ax)

    def _draw_cook(self, ax: draw.Axes) -> None:
        """Curves of equal Cook's distance, and the numbers of the rows beyond the first."""
        if self.cook is None or self.cook.max() < 0.2:  # no row comes near the curves
            return
        high = min(1.05 * float(self.leverage.max()), 0.999)
        h = np.linspace(max(1e-3 * high, 1e-9), high, 200)
        top = 1.15 * float(np.abs(self.standardised).max()) or 1.0
        for k, distance in enumerate(COOK_LEVELS):
            curve = np.sqrt(distance * self.parameters * (1.0 - h) / h)
            look = {"color": draw.colour(1), "linewidth": 0.9, "linestyle": draw.line(2 - k)}
            for sign, words in ((1, f"Cook's distance {distance:g}"), (-1, None)):
                ax.plot(h[curve <= top], sign * curve[curve <= top], label=words, **look)
        for i in np.argsort(-self.cook, kind="stable")[:NUMBERED_ROWS].tolist():
            if self.cook[i] > COOK_LEVELS[0]:
                at = float(self.leverage[i]), float(self.standardised[i])
                inwards = -1 if at[0] > 0.6 * self.leverage.max() else 1  # inside of the axes
                place: dict[str, Any] = {"ha": "right" if inwards < 0 else "left", "va": "center"}
                ax.annotate(str(i), at, (6 * inwards, 0), textcoords="offset points", **place)


@dataclass(eq=False, repr=False)
class PredictionDisplay(Display):
    """Predicted against true values.

    Attributes
    ----------
    model : str
    truth, predicted : ndarray of shape (n,)
    r2, rmse : float
        R² against the mean of these rows, and the root mean squared error.

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
    r2: float
    rmse: float
    size = (4.6, 3.8)

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any, *, target: int = 0) -> Self:
        """Predict these rows; `target` selects one of several."""
        _, truth, predicted = _predict(model, X, y, target)
        rmse = root_mean_square(truth - predicted)
        spread = root_mean_square(truth - truth.mean())
        r2 = 1.0 - (rmse / spread) ** 2 if spread else float("nan")
        return cls(type(model).__name__, truth, predicted, r2, rmse)

    @property
    def claim(self) -> str:
        explained = "" if np.isnan(self.r2) else f"R² = {self.r2:.3f}, "
        return f"{self.model}: {explained}RMSE {number(self.rmse, 3)}"

    def _draw(self, ax: draw.Axes) -> None:
        draw.points(ax, self.truth, self.predicted)
        ends = inputs.limits(np.concatenate([self.truth, self.predicted]))
        ax.plot(ends, ends, ":", color=draw.INK, linewidth=0.9, label="exact")
        ax.set(xlabel="true value", ylabel="predicted value", xlim=ends, ylim=ends)
        draw.legend(ax)


def _predict(model: BaseEstimator, X: Any, y: Any, target: int) -> tuple[Array, Array, Array]:
    """Rows, true and predicted values of one target."""
    inputs.check_model(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is a classifier; see ConfusionMatrixDisplay.")
    R = inputs.check_rows(X)
    inputs.check_length(len(R), y, "y")
    Y = np.asarray(y, dtype=np.float64).reshape(len(R), -1)
    j = inputs.check_index(target, Y.shape[1], "target")
    predicted = np.asarray(inputs.call(model, "predict", R), dtype=np.float64)
    return R, inputs.check_vector(Y[:, j], "y"), predicted.reshape(len(R), -1)[:, j]


def _leverage(R: Array, bias: bool) -> Array:
    """Diagonal of the hat matrix of these rows."""
    Z = R - R.mean(axis=0) if bias else R
    largest = np.abs(Z).max(axis=0)
    U, s, _ = np.linalg.svd(Z / np.where(largest > 0, largest, 1.0), full_matrices=False)
    kept = s > max(R.shape) * np.finfo(np.float64).eps * max(s[0], 1e-300)
    return np.asarray(np.sum(U[:, kept] ** 2, axis=1) + bias / len(R))


def _leverage_of_new_rows(moments: Any, R: Array, bias: bool) -> Array:
    """x' S^-1 x of rows that the moments have not seen."""
    with np.errstate(over="ignore", under="ignore"):
        mean, S = moments.mean_x, moments.scatter_xx
        if not bias:
            S = S + moments.weight * np.outer(mean, mean)
    if not np.isfinite(S).all():
        return _leverage(R, bias)
    unit = np.sqrt(np.diag(S))
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(S / unit / unit[:, None])
    kept = values > len(values) * np.finfo(np.float64).eps * max(values[-1], 1e-300)
    Z = (R - mean if bias else R) / unit
    inner = Z @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.asarray(np.sum(inner**2, axis=1) + bias / moments.weight)


def root_mean_square(values: Array) -> float:
    """sqrt(mean of squares), in any units: squares of 1e200 are not computed."""
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean((values / largest) ** 2))) if largest else 0.0
