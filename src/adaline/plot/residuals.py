"""What a regression leaves over: residuals, their quantiles, leverage; predictions and truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri

from adaline.evaluation.influence import influence
from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR = 3.0  # standard deviations from which on a residual is pointed at
_COOK = (0.5, 1.0)
_WIDE = 1000  # columns up to which S is decomposed
_NUMBERED = 3  # rows whose numbers are written beside them


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Three looks at residuals: against the fitted values, against the normal, and by leverage.

    Attributes
    ----------
    model : str
    fitted, residuals : ndarray of shape (n,)
    leverage : ndarray of shape (n,)
        h = 1/N + (x - m)' S^-1 (x - m), m and S of the N rows of the fit where the model keeps
        them (`moments_`, at most 1000 columns), else of these rows. For rows of a penalised fit,
        S has the penalty on its diagonal (`adaline.evaluation.influence`).
    standardised : ndarray of shape (n,)
        Residuals over s sqrt(1 - h) for rows of the fit, and s sqrt(1 + h) for other rows.
    cook : ndarray of shape (n,), or None
        Cook's distances, for rows of the fit: how far leaving the row out moves all predictions.
    quantiles : ndarray of shape (n,)
        Normal quantiles that the sorted `standardised` are held against.
    of_the_fit : bool
        Whether these are taken as the rows of the fit.
    parameters : float
        Weights and bias; less where a penalty holds them.

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
        cls, model: Any, X: Any, y: Any, *, of_the_fit: bool | None = None, target: int = 0
    ) -> Self:
        """Residuals of a fitted regressor.

        Parameters
        ----------
        model : fitted regressor
        X, y : array-like of shape (n, p) and (n,) or (n, k)
        of_the_fit : bool, optional
            Whether the model was fitted on these very rows. By default yes if it says that it has
            seen as many, or does not say.
        target : int
            Which target, where there are several.
        """
        R, truth, fitted = _predicted(model, X, y, target)
        m = getattr(model, "moments_", None)
        same = of_the_fit if of_the_fit is not None else m is None or m.rows == len(R)
        bias = bool(getattr(model, "fit_intercept", True))
        known = hasattr(m, "mean_x") and not same and R.shape[1] <= _WIDE
        residuals, q, n = truth - fitted, float(R.shape[1] + bias), len(R)
        judged = influence(model, R, truth) if same and np.ndim(y) == 1 else None
        if judged is not None and judged.exact:
            h, q = judged.leverage, judged.parameters
        else:
            h = _leverage_of(m, R, bias) if known else _leverage(R, bias)
        share = np.maximum(1.0 - h, 0.0) if same else 1.0 + h
        if same:
            s = root_mean_square(residuals) * float(np.sqrt(n / max(n - q, 1)))
        else:  # new rows have the noise, and the error of the weights on top
            s = root_mean_square(residuals / np.sqrt(share))
        spread = s * np.sqrt(share)
        # A row of leverage one is met exactly: its residual is rounding.
        sure = spread > 1e-8 * s
        standard = np.divide(residuals, spread, out=np.zeros(n), where=sure)
        cook = None
        if same:
            out = np.divide(h, 1.0 - h, out=np.zeros(n), where=sure & (h < 1.0))
            cook = standard**2 * out / q
        quantiles = ndtri((np.arange(n) + 0.5) / n)
        name = type(model).__name__
        return cls(name, fitted, residuals, h, standard, cook, quantiles, same, q)

    @property
    def claim(self) -> str:
        n, far = len(self.residuals), int(np.sum(np.abs(self.standardised) > _FAR))
        spread = root_mean_square(self.residuals)
        said = f"{self.model} misses {_canvas.many(n)} by {number(spread, 3)} (root mean square)"
        rows = "row is" if far == 1 else "rows are"
        said += f"; {far or 'no'} {rows} more than {_FAR:.0f} standard deviations off"
        if self.cook is not None and self.cook.max() > 1.0:
            said += f"; row {int(self.cook.argmax())} moves the fit (Cook's distance > 1)"
        return said

    def _draw(self, axes: list[Axes]) -> None:
        first, second, third = axes
        _canvas.points(first, self.fitted, self.residuals, 0)
        _trend(first, self.fitted, self.residuals)
        _canvas.level(first, 0.0)
        first.set(xlabel="fitted value", ylabel="residual")
        first.set_title("Residuals against fitted values")
        _canvas.legend(first)
        _canvas.points(second, self.quantiles, np.sort(self.standardised), 0)
        ends = self.quantiles[[0, -1]]
        second.plot(ends, ends, ":", color=_canvas.INK, linewidth=0.9, label="normal")
        second.set(xlabel="normal quantile", ylabel="standardised residual, sorted")
        second.set_title("Quantiles: a line if normal")
        _canvas.legend(second, loc="upper left")
        _canvas.points(third, self.leverage, self.standardised, 0)
        _canvas.level(third, 0.0)
        self._cooks_lines(third)
        third.set(xlabel="leverage h", ylabel="standardised residual")
        third.locator_params(axis="x", nbins=5)
        third.set_title("Leverage: far right moves the fit")
        self._row_numbers(third)
        _canvas.legend(third)

    def _row_numbers(self, ax: Axes) -> None:
        """The numbers of the rows that move the fit most."""
        if self.cook is None:
            return
        for i in np.argsort(-self.cook, kind="stable")[:_NUMBERED].tolist():
            if self.cook[i] > _COOK[0]:
                at = float(self.leverage[i]), float(self.standardised[i])
                # Inwards, so that no number leaves the axes.
                right = at[0] > 0.6 * self.leverage.max()
                place: dict[str, Any] = {"ha": "right" if right else "left", "va": "center"}
                shift = (-6 if right else 6, 0)
                ax.annotate(str(i), at, shift, textcoords="offset points", zorder=6, **place)

    def _cooks_lines(self, ax: Axes) -> None:
        """Where Cook's distance is one half and one, as far as the axes go."""
        if self.cook is None or self.cook.max() < 0.2:
            return
        high = min(1.05 * float(self.leverage.max()), 0.999)
        h = np.linspace(max(1e-3 * high, 1e-9), high, 200)
        top = 1.15 * float(np.abs(self.standardised).max()) or 1.0
        for k, distance in enumerate(_COOK):
            line = np.sqrt(distance * self.parameters * (1.0 - h) / h)
            inside = line <= top
            look: dict[str, Any] = {"color": _canvas.colour(1), "linewidth": 0.9}
            look["linestyle"] = _canvas.LINES[2 - k]
            ax.plot(h[inside], line[inside], label=f"Cook's distance {distance:g}", **look)
            ax.plot(h[inside], -line[inside], **look)


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
    def from_estimator(cls, model: Any, X: Any, y: Any, *, target: int = 0) -> Self:
        """Predict these rows; `target` chooses one of several."""
        _, truth, predicted = _predicted(model, X, y, target)
        rmse = root_mean_square(truth - predicted)
        spread = root_mean_square(truth - truth.mean())
        r2 = 1.0 - (rmse / spread) ** 2 if spread else float("nan")
        return cls(type(model).__name__, truth, predicted, r2, rmse)

    @property
    def claim(self) -> str:
        explained = "" if np.isnan(self.r2) else f"R² = {self.r2:.3f}, "
        return f"{self.model}: {explained}off by {number(self.rmse, 3)} (root mean square)"

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        _canvas.points(ax, self.truth, self.predicted, 0)
        low, high = _given.frame(np.concatenate([self.truth, self.predicted]))
        ax.plot([low, high], [low, high], ":", color=_canvas.INK, linewidth=0.9, label="exact")
        ax.set(xlabel="true value", ylabel="predicted value", xlim=(low, high), ylim=(low, high))
        _canvas.legend(ax, loc="upper left")


def _predicted(model: Any, X: Any, y: Any, target: int) -> tuple[Array, Array, Array]:
    """Rows, truth and prediction of one target."""
    _given.fitted(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} is a classifier; see ConfusionMatrixDisplay.")
    R = _given.rows(X)
    _given.width(model, R)
    _given.same_length(len(R), y, "y")
    Y = np.asarray(y, dtype=np.float64).reshape(len(R), -1)
    if not 0 <= target < Y.shape[1]:
        raise ValueError(f"target is {target}; there are {Y.shape[1]}, counted from 0.")
    predicted = np.asarray(_given.ask(model, "predict", R), dtype=np.float64).reshape(len(R), -1)
    return R, _given.numbers(Y[:, target], "y"), predicted[:, target]


def _leverage(R: Array, bias: bool) -> Array:
    """Diagonal of the hat matrix of these rows."""
    Z = R - R.mean(axis=0) if bias else R
    largest = np.abs(Z).max(axis=0)
    U, s, _ = np.linalg.svd(Z / np.where(largest > 0, largest, 1.0), full_matrices=False)
    kept = s > max(R.shape) * np.finfo(np.float64).eps * max(s[0], 1e-300)
    return np.asarray(np.sum(U[:, kept] ** 2, axis=1) + bias / len(R))


def _leverage_of(m: Any, R: Array, bias: bool) -> Array:
    """x' S^-1 x of rows that the moments have not seen."""
    with np.errstate(over="ignore", under="ignore"):
        mean, S = m.mean_x, m.scatter_xx
    if not np.isfinite(S).all():
        return _leverage(R, bias)
    Z = R - mean if bias else R
    if not bias:
        S = S + m.weight * np.outer(mean, mean)
    unit = np.sqrt(np.diag(S))
    unit = np.where(unit > 0, unit, 1.0)
    values, axes = np.linalg.eigh(S / unit / unit[:, None])
    kept = values > len(values) * np.finfo(np.float64).eps * max(values[-1], 1e-300)
    inner = (Z / unit) @ (axes[:, kept] / np.sqrt(values[kept]))
    return np.asarray(np.sum(inner**2, axis=1) + (1.0 / m.weight if bias else 0.0))


def root_mean_square(values: Array) -> float:
    """sqrt(mean of squares), whatever the units: squares of 1e200 are not formed."""
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean((values / largest) ** 2))) if largest else 0.0


def _trend(ax: Axes, x: Array, y: Array) -> None:
    """Medians in ten slices of equally many rows: bent where the model should be."""
    if len(x) < 50:
        return
    slices = np.array_split(np.argsort(x, kind="stable"), 10)
    at = [[float(np.median(v[some])) for some in slices] for v in (x, y)]
    ax.plot(*at, color=_canvas.colour(1), label="medians", zorder=5)
