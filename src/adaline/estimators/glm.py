"""Generalised linear models: a loss × Newton × its output.

`NewtonLearner` is the base of LogisticRegression, too. A regression of positive numbers or counts
with a log link is a subclass with a docstring, six names and a loss of `sums.losses`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, column_or_1d

from adaline.errors import RankDeficientWarning, warn_caller
from adaline.estimators.base import Learner, Regressor, lazy_for_dask, unchanged_on_error
from adaline.estimators.registry import WEIGHTS, Effect, Scatter
from adaline.parameters import COUNT, FLAG, LEVEL, NOT_NEGATIVE, POSITIVE, ParameterError, numbers
from adaline.procedures.inference import errors_of_values, information, wald_summary
from adaline.procedures.newton import newton
from adaline.results import Array, NewtonFit
from adaline.summaries import Summary
from adaline.sums.losses import LARGEST_OFFSET, Gamma, Poisson
from adaline.sums.objective import JOINT, Objective
from adaline.sums.rows import as_rows


class NewtonLearner(Learner):
    """A learner whose `fit` minimises a penalised loss by Newton's procedure."""

    alpha: Any
    fit_intercept: bool
    max_iter: int
    tol: float
    _information: Any  # of `procedures.inference`, or None
    _streams = "newton"
    _parameters = {"alpha": NOT_NEGATIVE, "fit_intercept": FLAG, "max_iter": COUNT, "tol": POSITIVE}
    _title: str  # of the table
    _share: str  # the name of the share of the null deviance that a fit explains

    def _end(self, fit: NewtonFit, dtype: Any, loss: Objective | None = None) -> Self:
        """Deliver a fit; of the rows of its loss keep what `summary` and intervals need."""
        self._information = None
        # Up to 10^8 products standard errors take about a tenth of the time of the fit, a third
        # where classes are many; beyond, `summary` asks for the rows.
        if loss is not None and loss.rows.n * loss.q**2 <= 10**8 and loss.K * loss.q <= JOINT:
            # Where single weights have no errors, `summary` of the rows says why.
            with suppress(ValueError):
                if fit.rank == fit.theta.size:
                    self._information = information(loss, fit.theta)
        fit = self._accept(fit, dtype)
        if fit.outcome == "interrupted":
            raise KeyboardInterrupt
        self._warn_about(fit)
        return self

    @property
    def _steps(self) -> int:
        return max(getattr(self.fit_, "steps", 1), 1)

    def _covariance(self) -> tuple[Array, Array]:
        """(K, p + 1, K, p + 1) of the weights, and the row it is about."""
        self._refuse_written("intervals are those of the likeliest weights")
        known = self._information
        if known is None or known.covariance is None or known.centre is None:
            what = "its rows were read in blocks, or its columns are very many or dependent"
            raise ValueError(f"this fit kept no covariance: {what}. Fit again, in memory.")
        return known.covariance, known.centre

    def _tabulate(
        self, level: float, loss: Any, outputs: list[str], notes: list[str], bounds: Any = None
    ) -> Summary:
        """The table of `summary`; loss is that of the training rows where these were given."""
        fit, known = self.fit_, self._information
        if loss is not None:
            known = information(loss, loss.rows.theta(fit.W, fit.b))
        if known is None:
            what = "this fit was large, or its columns dependent, and stored no standard errors"
            raise ValueError(f"{what}; give summary(X=X, y=y) the training rows.")
        options: Any = {"intercept": self.fit_intercept, "level": level, "bounds": bounds}
        options["notes"] = (str(self.certificate_), *notes)
        table = fit.W, fit.b, known, known.facts(self._share), self._names(), outputs
        return wald_summary(self._title, *table, **options)

    def _require_likeliest(self, level: Any) -> float:
        check_is_fitted(self, "fit_")
        self._refuse_written("standard errors are those of the likeliest weights")
        return float(LEVEL("level", level))

    def _warn_about(self, fit: NewtonFit) -> None:
        # Where weights grow without bound ("quasi"), probabilities of 0 and 1 lose the curvature.
        if fit.rank < fit.theta.size and fit.outcome != "quasi":
            rank = f"rank {fit.rank} of {fit.theta.size}, the intercept included"
            what = f"columns depend on others ({rank}): many weights have this likelihood"
            warn_caller(f"{what}. Drop columns, or give alpha > 0.", RankDeficientWarning)
        elif fit.outcome != "converged" and fit.certificate.kind != "optimal":
            what, advice = fit.certificate.statement, "Give a larger max_iter, or a larger alpha."
            warn_caller(f"{fit.stopped} {what} {advice}", ConvergenceWarning)


class LogLinkRegression(NewtonLearner, Regressor):
    """What regressions of a mean exp(w'x + b + offset) share: see `PoissonRegression`."""

    _exports = "exponential"
    _scored_by = "D2"
    _scatter: Scatter | None = None  # a subclass says how targets scatter, and what a column does
    _effect: Effect | None = None
    _takes_exposure = True
    _intervals = "means"
    _one_target = True
    _stored = WEIGHTS | {"_information": "Information | None", "fit_": "NewtonFit"}
    _share = "D²"

    def __init__(
        self, alpha: float = 1.0, fit_intercept: bool = True, max_iter: int = 100, tol: float = 1e-8
    ) -> None:
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.max_iter, self.tol = max_iter, tol

    n_iter_ = property(lambda self: self._steps, doc="Steps of Newton's procedure.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.target_tags.positive_only = True
        return tags

    @unchanged_on_error
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, targets y (n,), weights (n,).

        offset (n,) is added to w'x + b; or exposure (n,), such as times or people, that the mean is
        proportional to: offset = log(exposure). Give one of them.
        """
        self._check_parameters()
        X = self._rows(X, reset=True)
        loss = self._objective(X, y, sample_weight, offset, exposure)
        return self._end(newton(loss, self.max_iter, self.tol), X.dtype, loss)

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
        targets, more = self._check_targets(y, len(mean)), check_offset(offset, exposure, len(mean))
        omega = self._weights(sample_weight, mean)
        omega = np.ones(len(mean)) if omega is None else omega
        base = np.exp(more) if len(more) else np.ones(len(mean))
        base = base * ((omega @ targets) / (omega @ base))
        of_model, of_rate = (float(omega @ self._loss.deviance(targets, m)) for m in (mean, base))
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

        Errors come from the inverse curvature of the penalised loss. After a fit with n p^2 > 10^8,
        which does not compute them, give the training rows again.
        """
        level, loss = self._require_likeliest(level), None
        if getattr(self.fit_, "outcome", "") in ("separated", "quasi"):
            advice = "Such weights have no standard errors; give a larger alpha."
            raise ValueError(f"{self.fit_.stopped} {advice}")
        if X is not None:
            loss = self._objective(self._rows(X, reset=False), y, sample_weight, offset, exposure)
        penalty = f"Standard errors include the penalty (alpha = {float(self.alpha):.6g})"
        notes = [f"{penalty}; it pulls coefficients towards zero."] * (float(self.alpha) > 0)
        return self._tabulate(level, loss, [""], notes)

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
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
            raise ValueError(f"every {self._loss.unit} in y is zero; log(0) is no intercept.")
        penalty, intercept = float(self.alpha), bool(self.fit_intercept)
        return Objective.of(self._loss, X, targets, omega, penalty, intercept, offset=more)

    def _check_targets(self, y: Any, n: int) -> Array:
        loss = self._loss
        if y is None:
            raise ParameterError(
                f"requires y to be passed, but the target y is None: {loss.unit}s."
            )
        targets: Array = column_or_1d(numbers("y", y), warn=True)
        if len(targets) != n:
            raise ParameterError(f"X has {n} rows and y has shape {np.shape(y)}; expected ({n},).")
        bad = np.flatnonzero(loss.bad(targets))
        if len(bad):
            what = f"y is {targets[bad[0]]} in row {bad[0]}; {loss.told}, and finite"
            raise ParameterError(f"{what} (out of the valid range of a {loss.name} loss).")
        return targets

    def _take_newton(self, fit: NewtonFit, p: int) -> None:
        self.n_features_in_ = p
        self._end(fit, np.float64)


class PoissonRegression(LogLinkRegression):
    """Poisson regression by Newton's procedure: counts y of mean exp(w'x + b + offset).

    Minimises sum_i (mu_i - y_i log mu_i) + alpha/2 |w|^2; the intercept is not penalised.
    scikit-learn's PoissonRegressor divides the sum by the number of rows: its alpha is ours / n.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        The penalty; 0 is maximum likelihood.
    fit_intercept, max_iter, tol
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,), and float
    certificate_, fit_, n_iter_
        "optimal" with a proven bound on the distance to the minimum, else "unproven"; the lectures'
        shapes; steps.

    Examples
    --------
    Failures in years of service, twice as many where x = 1:

    >>> from adaline import PoissonRegression
    >>> X, y, years = [[0.0], [0.0], [1.0], [1.0]], [3, 1, 4, 4], [2.0, 2.0, 2.0, 2.0]
    >>> model = PoissonRegression(alpha=0).fit(X, y, exposure=years)
    >>> model.coef_.round(6), model.predict([[1.0]], exposure=[10.0]).round(6)
    (array([0.693147]), array([20.]))
    """

    _learns = "counts"
    _scatter = "counts"
    _effect = "rate"
    _command = "poisson"
    _title = "Poisson regression"
    _loss = Poisson()


class GammaRegression(LogLinkRegression):
    """Gamma regression by Newton's procedure: positive y of mean mu = exp(w'x + b + offset).

    For amounts whose scatter grows with their mean, as of costs and durations. Minimises
    sum_i (y_i / mu_i + log mu_i) + alpha/2 |w|^2. Parameters and attributes are those of
    `PoissonRegression`. `summary` estimates the dispersion phi of the variance phi mu^2 from the
    residuals (Pearson), and multiplies standard errors by its root.

    Examples
    --------
    Repairs cost twice as much where x = 1:

    >>> from adaline import GammaRegression
    >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [80.0, 120.0, 150.0, 250.0]
    >>> model = GammaRegression(alpha=0).fit(X, y)
    >>> model.coef_.round(6), model.predict([[1.0]]).round(6)
    (array([0.693147]), array([200.]))
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
        raise ParameterError("offset and exposure were both given; offset is log(exposure).")
    name = "offset" if exposure is None else "exposure"
    values = numbers(name, offset if exposure is None else exposure)
    if values.shape != (n,):
        raise ParameterError(f"{name} has shape {values.shape}; expected ({n},), a number a row.")
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = values if exposure is None else np.log(values)
    bad = np.flatnonzero(~(np.abs(logs) <= LARGEST_OFFSET))
    if len(bad):
        what = "a number" if exposure is None else "a positive number whose logarithm is"
        ends = f"between {-LARGEST_OFFSET:g} and {LARGEST_OFFSET:g}"
        raise ParameterError(f"{name} is {values[bad[0]]} in row {bad[0]}; expected {what} {ends}.")
    return logs
