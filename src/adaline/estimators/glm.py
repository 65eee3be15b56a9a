"""Regression of positive numbers and counts: a loss with a log link × Newton × exponential output.

A learner is a subclass with a docstring, six names and a loss of `sums.losses`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import warn_caller
from adaline.estimators.base import Regressor, lazy_for_dask, unchanged_on_error
from adaline.estimators.newton import NewtonLearner
from adaline.estimators.registry import SEEN, Effect, Scatter
from adaline.parameters import ParameterError, numbers
from adaline.procedures.newton import newton
from adaline.results import Array, NewtonFit
from adaline.summaries import Summary
from adaline.sums.losses import LARGEST_OFFSET, Gamma, Poisson
from adaline.sums.objective import Objective
from adaline.sums.rows import as_rows


class LogLinkRegression(NewtonLearner, Regressor):
    """What regressions of a mean exp(w'x + b + offset) share; `_loss` is what they minimise.

    A subclass is its docstring, its names and its loss: see `PoissonRegression`.
    """

    _exports = "exponential"
    _scored_by = "D2"
    _scatter: Scatter | None = None  # a subclass says how targets scatter, and what a column does
    _effect: Effect | None = None
    _takes_exposure = True
    _intervals = "means"
    _stored = SEEN | {
        "_one_target": "truth",
        "_information": "Information | None",
        "n_iter_": "count",
        "fit_": "NewtonFit",
    }
    _share = "D²"

    def __init__(
        self, alpha: float = 1.0, fit_intercept: bool = True, max_iter: int = 100, tol: float = 1e-8
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.target_tags.positive_only = True
        return tags

    @unchanged_on_error
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, targets y (n,).

        Parameters
        ----------
        X, y : array-like or CSR of shape (n, p), and (n,)
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.
        offset, exposure : array-like of shape (n,), optional
            Numbers added to w'x + b, or times, areas, people that the mean is proportional to:
            offset = log(exposure). Give one of them.
        """
        self._check_parameters()
        X = self._rows(X, reset=True, finite=False)
        loss = self._objective(X, y, sample_weight, offset, exposure)
        self._require_finite(loss)
        fit = newton(loss, self.max_iter, self.tol)
        self._one_target = True
        self.n_iter_ = max(fit.steps, 1)
        self._set_information(loss, fit)
        self._accept(fit, X.dtype)
        if fit.outcome == "interrupted":
            raise KeyboardInterrupt
        self._speak_up()
        return self

    @lazy_for_dask
    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> Array:
        """The mean exp(w'x + b + offset) of each row; exposure is 1 where none is given.

        It is infinite where it is beyond the range of X's dtype.
        """
        v = self._values(X)[:, 0]
        more = check_offset(offset, exposure, len(v))
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(v + more if len(more) else v), dtype=v.dtype)

    @lazy_for_dask
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """D^2, the share of the deviance of a constant rate that the predictions explain."""
        mean = np.asarray(self.predict(X, offset, exposure), dtype=np.float64)
        targets = self._check_targets(y, len(mean))
        omega = self._weights(sample_weight, mean[:, None])
        omega = np.ones(len(mean)) if omega is None else omega
        more = check_offset(offset, exposure, len(mean))
        base = np.exp(more) if len(more) else np.ones(len(mean))
        base = base * ((omega @ targets) / (omega @ base))
        deviance = self._loss.deviance
        of_model, of_rate = (float(omega @ deviance(targets, mu)) for mu in (mean, base))
        if of_rate <= 0:  # equal targets; the model's deviance is rounding, or more
            return float(of_model <= 1e-10 * float(omega.sum()))
        return 1.0 - of_model / of_rate

    def summary(
        self,
        level: float = 0.95,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> Summary:
        """Standard errors, z, p, intervals, deviance, AIC and BIC.

        Errors come from the inverse curvature of the penalised loss. After a fit of many rows
        times features squared (n p^2 > 10^8), which does not compute them, give the training rows
        again.
        """
        check_is_fitted(self, "fit_")
        self._refuse_written("standard errors are those of the likeliest weights")
        if getattr(self.fit_, "outcome", "") in ("separated", "quasi"):
            raise ValueError(
                f"{self.fit_.stopped} Such weights have no standard errors; give a larger alpha."
            )
        loss = None
        if X is not None:
            loss = self._objective(self._rows(X, reset=False), y, sample_weight, offset, exposure)
        note = (
            f"Standard errors include the penalty (alpha = {float(self.alpha):.6g}); it pulls "
            "coefficients towards zero."
        )
        return self._tabulate(level, loss, [""], [note] * (float(self.alpha) > 0))

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        from adaline.procedures.inference import errors_of_values

        C, centre = self._covariance()
        X = self._rows(X, reset=False)
        v = self._values(X)[:, 0]
        half = ndtri((1 + level) / 2) * errors_of_values(X, C[0, :, 0], centre)
        with np.errstate(over="ignore"):
            return np.exp(v - half), np.exp(v + half)

    def _objective(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> Objective:
        targets = self._check_targets(y, X.shape[0])
        more = check_offset(offset, exposure, X.shape[0])
        X, _, omega = as_rows(X, None, self._weights(sample_weight, X), checked=True)
        if not np.any(targets * omega if len(omega) else targets):
            raise ValueError(
                f"every {self._loss.unit} in y is zero; the mean would be zero, and log(0) is no "
                f"intercept. Give rows with {self._loss.unit}s."
            )
        penalty, intercept = float(self.alpha), bool(self.fit_intercept)
        return Objective.of(self._loss, X, targets, omega, penalty, intercept, offset=more)

    def _check_targets(self, y: Any, n: int) -> Array:
        """Targets as float64 (n,) that the loss takes."""
        loss = self._loss
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give "
                f"{loss.unit}s."
            )
        targets = numbers("y", y)
        if targets.shape == (n, 1):
            advice = "A column-vector y was passed when a 1d array was expected; use y.ravel()."
            warn_caller(advice, DataConversionWarning)
            targets = targets.ravel()
        if targets.shape != (n,):
            raise ParameterError(
                f"X has {n} rows and y has shape {targets.shape}; expected ({n},), one "
                f"{loss.unit} a row."
            )
        bad = np.flatnonzero(loss.bad(targets))
        if len(bad):
            raise ParameterError(
                f"y is {targets[bad[0]]} in row {bad[0]}; {loss.told}, and finite (some value(s) "
                f"of y are out of the valid range of a {loss.name} loss)."
            )
        return targets

    def _take_newton(self, fit: NewtonFit, p: int) -> None:
        """Accept weights that `data.fit` found in passes over a source of p columns."""
        self.n_features_in_, self._one_target, self._information = p, True, None
        self.n_iter_ = max(fit.steps, 1)
        self._accept(fit, np.dtype(np.float64))
        self._speak_up()


class PoissonRegression(LogLinkRegression):
    """Poisson regression by Newton's procedure: counts y of mean exp(w'x + b + offset).

    Minimises sum_i (mu_i - y_i log mu_i) + alpha/2 |w|^2; the intercept is not penalised.
    scikit-learn's PoissonRegressor divides the sum by the number of rows: its alpha is ours by n.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        The penalty; 0 is maximum likelihood.
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Steps, at most.
    tol : float, default=1e-8
        As in `LogisticRegression`: how far weights may be from the minimum, in standard errors.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,), and float
    n_iter_ : int
    certificate_ : Certificate
        "optimal" with a proven bound on the distance to the minimum, else "unproven".
    fit_ : Fit

    Examples
    --------
    Failures in years of service, twice as many where x = 1:

    >>> from adaline import PoissonRegression
    >>> X, y, years = [[0.0], [0.0], [1.0], [1.0]], [3, 1, 4, 4], [2.0, 2.0, 2.0, 2.0]
    >>> model = PoissonRegression(alpha=0).fit(X, y, exposure=years)
    >>> model.coef_.round(6), model.predict([[1.0]], exposure=[10.0]).round(6)
    (array([0.693147]), array([20.]))
    >>> model.certificate_.kind
    'optimal'
    """

    _learns = "counts"
    _scatter = "counts"
    _effect = "rate"
    _command = "poisson"
    _title = "Poisson regression"
    _loss = Poisson()


class GammaRegression(LogLinkRegression):
    """Gamma regression by Newton's procedure: positive y of mean mu = exp(w'x + b + offset).

    For amounts whose scatter grows with their mean: costs, durations, sizes of claims. Minimises
    sum_i (y_i / mu_i + log mu_i) + alpha/2 |w|^2; the intercept is not penalised. scikit-learn's
    GammaRegressor divides the sum by the number of rows: its alpha is ours by n.

    Parameters and attributes are those of `PoissonRegression`.

    Notes
    -----
    The variance is phi mu^2. `summary` estimates the dispersion phi from the residuals (Pearson),
    and standard errors are multiplied by its root; the weights do not depend on it.

    Examples
    --------
    Repairs cost twice as much where x = 1:

    >>> from adaline import GammaRegression
    >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [80.0, 120.0, 150.0, 250.0]
    >>> model = GammaRegression(alpha=0).fit(X, y)
    >>> model.coef_.round(6), model.predict([[1.0]]).round(6)
    (array([0.693147]), array([200.]))
    >>> model.certificate_.kind
    'optimal'
    """

    _learns = "positive"
    _scatter = "relative"
    _effect = "mean"
    _command = "gamma"
    _title = "Gamma regression"
    _loss = Gamma()


def check_offset(offset: Any, exposure: Any, n: int) -> Array:
    """The offset as float64 (n,), from whichever of the two was given; empty without."""
    if offset is None and exposure is None:
        return np.empty(0)
    if offset is not None and exposure is not None:
        raise ParameterError(
            "offset and exposure were both given; offset is log(exposure): give one."
        )
    name, given = ("offset", offset) if exposure is None else ("exposure", exposure)
    values = numbers(name, given)
    if values.shape != (n,):
        raise ParameterError(f"{name} has shape {values.shape}; expected ({n},), a number a row.")
    if name == "exposure":
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(values > 0, np.log(values), np.nan)
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST_OFFSET))
    if len(bad):
        wanted = "positive numbers" if name == "exposure" else f"numbers up to {LARGEST_OFFSET:g}"
        raise ParameterError(
            f"{name} is {np.asarray(given)[bad[0]]} in row {bad[0]}; expected {wanted}."
        )
    return values
