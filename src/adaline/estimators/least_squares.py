"""Least squares by closed form: regression, and the minimum-squared-error classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.certificates.sides import separation
from adaline.estimators.base import WRITTEN, Classifier, as_delivered, unchanged_on_error
from adaline.estimators.closed_form import ClosedForm, LeastSquaresRegressor
from adaline.estimators.labels import check_labels, check_stream_classes, encode, labels_of_moments
from adaline.estimators.registry import SEEN
from adaline.parameters import FLAG, ParameterError, numbers
from adaline.procedures.krylov import GRAM_UP_TO
from adaline.procedures.least_squares import least_squares
from adaline.procedures.minimum_norm import least_squares_from_triangle
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows, check_finite
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

        self._check_moments("intervals are those of the least-squares weights")
        X, m = self._rows(X, reset=False), self.moments_
        mean = m.mean_and_squares(about_zero=False)[0][: m.p] * bool(self.fit_intercept)
        half_widths = new_values(
            self.fit_, X, n=m.weight, mean=mean, intercept=self.fit_intercept, level=level
        )
        v = self.predict(X)
        half_widths = half_widths[:, 0] if self._one_target else half_widths
        return v - half_widths, v + half_widths

    @unchanged_on_error
    def fit_moments(self, m: Moments | Triangle) -> Self:
        """Learn from Moments, or from a Triangle, which keeps more digits of hard data."""
        if not isinstance(m, Triangle):
            return super().fit_moments(m)
        self._check_parameters()
        self._set_size(m)
        self.moments_ = m
        fit = least_squares_from_triangle(m, intercept=self.fit_intercept)
        self._accept(fit, np.dtype(np.float64))
        return self


class LeastSquaresClassifier(Classifier, ClosedForm):
    """Minimum squared error: Ya = b for two classes, YA = B and argmax for K.

    Lectures: the MSE procedure, the linear machine.

    Two classes: w'x + b is brought as close as squared error can to +1 on `classes_[1]` and to -1
    on `classes_[0]`, or to the margins given for each sample. It always has a solution, which may
    or may not separate separable classes: `certificate_` says which. K classes: one discriminant
    each, 1 on its own samples and 0 on the others; the largest decides.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias.
    refine : bool, default=False
        Whether to correct the weights until float64 can hold no better, as `LeastSquares` does. By
        default they stop at seven proven digits, and large sparse rows are solved by products with
        them alone, to a gradient of 1e-8 of the first: no decision needs more.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    certificate_ : Certificate
        "separable" when every training sample is provably on its right side, else "undecided":
        squared error cannot prove that no hyperplane separates.
    moments_ : Moments, or None for very wide data, and for large sparse rows unless `refine`

    Examples
    --------
    >>> from adaline import LeastSquaresClassifier
    >>> X = [[6, 9], [5, 7], [5, 9], [0, 10]]
    >>> model = LeastSquaresClassifier().fit(X, [+1, +1, -1, -1])
    >>> model.intercept_.round(4), model.coef_.round(4)
    (array([3.219]), array([[ 0.1533, -0.438 ]]))
    >>> model.certificate_.kind
    'undecided'
    >>> model = model.fit(X, [+1, +1, -1, -1], margins=[1, 1, 1, 10])
    >>> model.certificate_.kind
    'separable'
    """

    _command = "least-squares-classifier"
    _streams = "machine"
    _exports = "sides"
    _stored = SEEN | {
        "classes_": "labels",
        "moments_": "Moments | None",
        "fit_": "ClosedFit",
        "_sides": "Certificate",
    }
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
        rows, codes = self._observe(X, y, sample_weight, margins, classes=None, reset=True)
        self.moments_ = self._moments_unless_wide(rows, GRAM_UP_TO if self.refine else 0)
        accuracy = "full" if self.refine else "sides"
        fit = least_squares(self.moments_, rows, intercept=self.fit_intercept, accuracy=accuracy)
        self._accept(fit, rows.X.dtype)
        self._sides = separation(*as_delivered(fit.W, fit.b, self._dtype), rows.X, codes)
        self._speak_up()
        return self

    @unchanged_on_error
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, margins: Any = None
    ) -> Self:
        """Learn from these rows too. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = self._begins_stream()
        known = check_stream_classes(classes, None if first else self.classes_)
        rows, _ = self._observe(X, y, sample_weight, margins, known, reset=first)
        return self._learn_stream(self._merge(rows, first), rows.X.dtype)

    @unchanged_on_error
    def forget(self, X: Any, y: Any, sample_weight: Any = None, margins: Any = None) -> Self:
        """Undo having seen these rows, which must be among those seen."""
        self._check_moments("forget would lose that: it solves anew from moments_")
        rows, _ = self._observe(X, y, sample_weight, margins, self.classes_, reset=False)
        return self._learn_stream(self._moments_without(rows), rows.X.dtype)

    @unchanged_on_error
    def fit_moments(self, m: Moments, classes: Any = None) -> Self:
        """Learn from moments with targets ±1 (two classes) or K columns of 0 and 1.

        `classes` are labels in the order of the targets; 0, 1, ... by default.
        """
        self._check_parameters()
        self._check_moments_given(m)
        labels = labels_of_moments(classes, 2 if m.targets == 1 else m.targets)
        self.classes_, self.n_features_in_ = labels, m.p
        return self._learn_stream(m, np.dtype(np.float64))

    @property
    def certificate_(self) -> Certificate:
        """Whether the hyperplane provably separates the training samples."""
        check_is_fitted(self, "fit_")
        return WRITTEN if self._is_written() else self._sides

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, margins: Any, classes: Any, *, reset: bool
    ) -> tuple[Rows, NDArray[np.int64]]:
        """Rows with the targets of Ya = b, and the codes of those of positive weight."""
        X = self._rows(X, reset=reset, finite=False)
        weights = self._weights(sample_weight, X)
        self.classes_, codes = encode(check_labels(y, X.shape[0]), classes, weights)
        b, K = check_margins(margins, len(codes)), len(self.classes_)
        if K == 2:
            T = np.where(codes == 1, b, -b)[:, None]
        else:
            T = np.where(codes[:, None] == np.arange(K), b[:, None], 0.0)
        present = slice(None) if weights is None else weights > 0
        return Rows.of(X, T, weights, checked=True), codes[present]

    def _learn_stream(self, m: Moments, dtype: Any) -> Self:
        self.moments_ = m
        self._accept(least_squares(m, intercept=self.fit_intercept), dtype)
        self._sides = Certificate(
            "undecided",
            "moments do not remember on which side each sample lies; separability is undecided.",
            {"digits": self.fit_.certificate.evidence.get("digits", 0.0)},
        )
        self._warn_of_rounding()
        return self


def check_margins(margins: Any, n: int) -> Array:
    """The margins b of Ya = b: positive and finite, one a sample; ones where none are given."""
    if margins is None:
        return np.ones(n)
    b = numbers("margins", margins, "positive numbers, one a sample")
    if b.shape != (n,):
        raise ParameterError(f"margins have shape {b.shape}; expected ({n},), one a sample.")
    check_finite(b[:, None], what="margins")
    if np.any(b <= 0):
        i = int(np.argmax(b <= 0))
        raise ParameterError(f"margins[{i}] is {b[i]}; margins must be positive.")
    return b
