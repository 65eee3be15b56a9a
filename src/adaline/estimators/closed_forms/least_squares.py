"""Linear regression: squared error × closed form × linear output."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from adaline.estimators.closed_forms.regressor import LeastSquaresRegressor
from adaline.parameters import FLAG
from adaline.procedures.least_squares import least_squares
from adaline.procedures.minimum_norm import least_squares_from_triangle
from adaline.results import ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from adaline.sums.triangle import Triangle


class LeastSquares(LeastSquaresRegressor):
    """Linear least squares, to the last digit: w = (X'X)^-1 X'y, with a proof of the digits.

    Lectures: linear regression, the linear least-squares filter, the pseudoinverse.

    For full-rank data in memory the coefficients are the exact solution of the float64 problem,
    rounded; `certificate_` proves how far. Dependent columns, or more columns than rows, give the
    minimum-norm (pseudoinverse) solution, and a warning names the dependent columns. Large sparse
    rows are solved by products alone, to a gradient of 1e-8 of the first, and prove no digit.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b.
    refine : bool, default=True
        Correct the weights by residuals in twice the working precision. False is up to twice
        as fast and keeps the digits that centred sums hold; `certificate_` says how many.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    certificate_ : Certificate
        The proven number of digits, or "unproven".
    rank_ : int
        Independent columns of X, after centring where there is a bias.
    condition_ : float
        Condition number of the columns scaled to equal length, an estimate.
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
    >>> model.coef_, float(model.intercept_)
    (array([1., 1., 1., 1., 1.]), 1.0)
    >>> model.certificate_.kind
    'exact'
    """

    _command = "least-squares"
    _streams = "moments"
    _exports = "values"
    _intervals = "values"
    _stored = LeastSquaresRegressor._stored | {"moments_": "Moments | Triangle | None"}
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
        from adaline.procedures.standard_errors import new_values

        self._check_moments()
        self._refuse_written("intervals are those of the least-squares weights")
        X, m = self._rows(X, reset=False), self.moments_
        mean = m.mean_and_squares(about_zero=False)[0][: m.p] * bool(self.fit_intercept)
        wide = new_values(
            self.fit_, X, n=m.weight, mean=mean, intercept=self.fit_intercept, level=level
        )
        v = self.predict(X)
        wide = wide[:, 0] if self._one_target else wide
        return v - wide, v + wide

    def fit_moments(self, m: Moments | Triangle) -> Self:
        """Learn from Moments, or from a Triangle, which keeps more digits of hard data."""
        if not isinstance(m, Triangle):
            return super().fit_moments(m)
        self._check_parameters()
        self._check_size(m.p, m.targets, m.rows)
        self.moments_ = m
        fit = least_squares_from_triangle(m, intercept=self.fit_intercept)
        self._accept(fit, np.dtype(np.float64))
        return self
