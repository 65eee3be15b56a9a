"""Least squares by closed form: regression, and the minimum-squared-error classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from adaline.certificates.margins import separation
from adaline.estimators.base import as_delivered, unchanged_on_error
from adaline.estimators.closed_form import (
    ClosedForm,
    ClosedFormRegressor,
    MomentClassifier,
    require_moments,
)
from adaline.estimators.registry import WEIGHTS
from adaline.parameters import FLAG, LEVEL, ParameterError, count, numbers
from adaline.procedures.inference import new_values, t_summary
from adaline.procedures.krylov import GRAM_UP_TO
from adaline.procedures.least_squares import least_squares
from adaline.procedures.minimum_norm import least_squares_from_triangle
from adaline.results import Array, Certificate, ClosedFit
from adaline.summaries import Summary
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from adaline.sums.triangle import Triangle


class LeastSquares(ClosedFormRegressor):
    """Linear least squares, to the last digit: w = (X'X)^-1 X'y, with a proof of the digits.

    Lectures: linear regression, the linear least-squares filter, the pseudoinverse. Full-rank data
    in memory have the exact solution of the float64 problem, rounded. Dependent columns, or more
    columns than rows, give the minimum-norm (pseudoinverse) solution. Large sparse rows are solved
    by products alone, to a gradient of 1e-8 of the first, and prove no digit.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b.
    refine : bool, default=True
        Correct the weights by residuals in twice the working precision. False is up to twice as
        fast and keeps the digits that centred sums hold.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,) and float, or (k, p) and (k,)
    certificate_ : Certificate
        The proven number of digits, or "unproven".
    rank_, condition_ : int and float
        Independent columns, and an estimate of the condition number of columns of equal length.
    moments_ : Moments or Triangle
        All that streaming needs to know of the rows seen.
    fit_ : ClosedFit
        The same in the lectures' shapes, and why the procedure stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> x = np.arange(21.0)
    >>> X = np.column_stack([x**k for k in range(1, 6)])  # Wampler's polynomial
    >>> model = LeastSquares().fit(X, 1 + X.sum(axis=1))
    >>> model.coef_, float(model.intercept_), model.certificate_.kind
    (array([1., 1., 1., 1., 1.]), 1.0, 'exact')
    """

    _command = "least-squares"
    _streams = "moments"
    _exports = "values"
    _intervals = "values"
    _stored = ClosedFormRegressor._stored | {"moments_": "Moments | Triangle | None"}
    _parameters = {"fit_intercept": FLAG, "refine": FLAG}

    def __init__(self, fit_intercept: bool = True, refine: bool = True):
        self.fit_intercept = fit_intercept
        self.refine = refine

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        accuracy = "full" if self.refine else "moments"
        return least_squares(m, rows, intercept=self.fit_intercept, accuracy=accuracy)

    def _refinement(self) -> tuple[float, bool] | None:
        return (0.0, bool(self.fit_intercept)) if self.refine else None

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        """Of a new y at each row: v -+ t s sqrt(1 + 1/n + (x - m)' S^-1 (x - m))."""
        self._check_moments("intervals are those of the least-squares weights")
        X, m, bias = self._rows(X, reset=False), self.moments_, bool(self.fit_intercept)
        mean = m.mean_and_squares(about_zero=False)[0][: m.p] * bias
        half = new_values(self.fit_, X, n=m.weight, mean=mean, intercept=bias, level=level)
        v, half = self.predict(X), half[:, 0] if self._one_target else half
        return v - half, v + half

    rank_ = property(lambda self: self.fit_.rank, doc="Independent columns of X.")
    condition_ = property(lambda self: self.fit_.condition, doc="Of the scaled columns.")

    def summary(self, level: float = 0.95, target: int = 0) -> Summary:
        """Coefficients with standard errors, t, p and intervals; R², F, condition, AIC and VIF.

        Intervals are of this level, and about one target of several. Sample weights count rows. AIC
        and BIC are statsmodels'; R counts the variance as a parameter, too.
        """
        self._check_moments("standard errors are those of the least-squares weights")
        m = self.moments_
        LEVEL("level", level)
        count(0, m.targets - 1)("target", target)
        mean, scatter = m.mean_and_squares(about_zero=not self.fit_intercept)
        chosen = [*range(m.p), m.p + target]
        options: Any = {"names": self._names(), "intercept": self.fit_intercept, "target": target}
        sums = {"n": m.weight, "rows": m.rows, "mean": mean[chosen], "scatter": scatter[chosen]}
        return t_summary(self.fit_, **sums, level=float(level), **options)

    @unchanged_on_error
    def fit_moments(self, m: Moments | Triangle) -> Self:
        """Learn from Moments, or from a Triangle, which keeps more digits of hard data."""
        if not isinstance(m, Triangle):
            return super().fit_moments(m)
        self._check_parameters()
        self.n_features_in_, self._one_target, self.moments_ = m.p, m.targets == 1, m
        self._accept(least_squares_from_triangle(m, intercept=self.fit_intercept), np.float64)
        return self


class LeastSquaresClassifier(MomentClassifier, ClosedForm):
    """Minimum squared error: Ya = b for two classes, YA = B and argmax for K.

    Lectures: the MSE procedure, the linear machine. Two classes: w'x + b is brought as close as
    squared error can to +1 on `classes_[1]` and to -1 on `classes_[0]`, or to the margins given for
    each sample. K classes: one discriminant each, 1 on its own samples and 0 on the others.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias.
    refine : bool, default=False
        Correct the weights as `LeastSquares` does. By default they stop at seven proven digits,
        large sparse rows at a gradient of 1e-8 of the first: no decision needs more.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
    classes_ : ndarray of shape (K,)
    certificate_ : Certificate
        "separable" when every training sample is provably on its right side, else "undecided".
    moments_ : Moments, or None for very wide data, and for large sparse rows unless `refine`

    Examples
    --------
    >>> from adaline import LeastSquaresClassifier
    >>> X = [[6, 9], [5, 7], [5, 9], [0, 10]]
    >>> model = LeastSquaresClassifier().fit(X, [+1, +1, -1, -1])
    >>> model.intercept_.round(4), model.coef_.round(4), model.certificate_.kind
    (array([3.219]), array([[ 0.1533, -0.438 ]]), 'undecided')
    >>> model.fit(X, [+1, +1, -1, -1], margins=[1, 1, 1, 10]).certificate_.kind
    'separable'
    """

    _command = "least-squares-classifier"
    _streams = "machine"
    _exports = "sides"
    _stored = WEIGHTS | {"classes_": "labels", "moments_": "Moments | None"}
    _stored |= {"fit_": "ClosedFit", "_sides": "Certificate"}
    _parameters = {"fit_intercept": FLAG, "refine": FLAG}

    def __init__(self, fit_intercept: bool = True, refine: bool = False):
        self.fit_intercept = fit_intercept
        self.refine = refine

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None, margins: Any = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, any labels y (n,).

        margins (n,) are positive values that w'x + b should reach on the right side; 1 by default.
        """
        self._check_parameters()
        rows = self._observe(X, y, sample_weight, reset=True, margins=margins)
        self._learn_rows(rows, GRAM_UP_TO if self.refine else 0)
        codes = rows.Y.argmax(axis=1) if len(self.classes_) > 2 else rows.Y[:, 0] > 0
        W, b = as_delivered(self.fit_.W, self.fit_.b, self._dtype)
        self._sides = separation(W, b, rows.X, codes.astype(np.int64))
        self._speak_up()
        return self

    @unchanged_on_error
    def fit_moments(self, m: Moments, classes: Any = None) -> Self:
        """Learn from moments with targets ±1 (two classes) or K columns of 0 and 1.

        `classes` are labels in the order of the targets; 0, 1, ... by default.
        """
        self._check_parameters()
        require_moments(m)
        return self._take_moments(m, 2 if m.targets == 1 else m.targets, classes)

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        accuracy = "full" if self.refine else "sides"
        return least_squares(m, rows, intercept=self.fit_intercept, accuracy=accuracy)

    def _observe(
        self, X: Any, y: Any, omega: Any, classes: Any = None, *, reset: bool, margins: Any = None
    ) -> Rows:
        X, self.classes_, codes, weights = self._labelled_rows(X, y, omega, classes, reset=reset)
        b, K = check_margins(margins, len(codes)), len(self.classes_)
        if K == 2:
            T = np.where(codes == 1, b, -b)[:, None]
        else:
            T = np.where(codes[:, None] == np.arange(K), b[:, None], 0.0)
        return Rows.of(X, T, weights, checked=True)

    def _learn(self, m: Moments, dtype: Any) -> Self:
        super()._learn(m, dtype)
        what = "moments do not remember on which side each sample lies; separability is undecided."
        digits = self.fit_.certificate.evidence.get("digits", 0.0)
        self._sides = Certificate("undecided", what, {"digits": digits})
        return self

    _evidence = property(lambda self: self._sides)


def check_margins(margins: Any, n: int) -> Array:
    """The margins b of Ya = b: positive and finite, one a sample; ones where none are given."""
    if margins is None:
        return np.ones(n)
    b = numbers("margins", margins, "positive numbers, one a sample")
    if b.shape != (n,):
        raise ParameterError(f"margins have shape {b.shape}; expected ({n},), one a sample.")
    bad = np.flatnonzero(~((b > 0) & (b < np.inf)))
    if len(bad):
        raise ParameterError(f"margins[{bad[0]}] is {b[bad[0]]}; margins are finite and positive.")
    return b
