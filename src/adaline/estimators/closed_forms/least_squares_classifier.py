"""The minimum-squared-error procedure and the linear machine: Ya = b, and YA = B."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.certificates.sides import separation
from adaline.certificates.statements import delivered
from adaline.estimators._base import Classifier
from adaline.estimators._delivered import WRITTEN, as_delivered
from adaline.estimators._labels import announced, encode, labels_of_moments, labels_of_rows
from adaline.estimators.closed_forms.closed_form import ClosedForm
from adaline.estimators.closed_forms.margins import checked_margins
from adaline.estimators.declarations import SEEN, MadeWhenAsked, now_or_later
from adaline.parameters import FLAG
from adaline.procedures.krylov import GRAM_UP_TO
from adaline.procedures.least_squares import least_squares
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows


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
        default they stop at seven proven digits, which sums over the rows nearly always give, and
        large sparse rows are solved by products with them alone, to a gradient of 1e-8 of the
        first, which is many times as fast: no decision needs more.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    certificate_ : Certificate
        "separable" when every training sample is provably on its right side, else "undecided":
        squared error cannot prove that no hyperplane separates. It is made when first asked for,
        of a copy of the rows that a fit of up to 4 MB keeps until then.
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
        "_certificate": "Certificate",
    }
    _certificate = MadeWhenAsked()
    _parameters = {"fit_intercept": FLAG, "refine": FLAG}

    def __init__(self, fit_intercept: bool = True, refine: bool = False):
        self.fit_intercept = fit_intercept
        self.refine = refine

    def fit(self, X: Any, y: Any, sample_weight: Any = None, margins: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like or CSR of shape (n, p)
        y : array-like of shape (n,)
            Any labels.
        sample_weight : array-like of shape (n,), optional
        margins : array-like of shape (n,), optional
            Positive values b that w'x + b should reach on the right side; 1 by default.
        """
        self._check_parameters()
        rows, codes = self._observe(X, y, sample_weight, margins, classes=None, reset=True)
        self.moments_ = self._moments_unless_wide(rows, GRAM_UP_TO if self.refine else 0)
        accuracy = "full" if self.refine else "sides"
        fit = least_squares(self.moments_, rows, intercept=self.fit_intercept, accuracy=accuracy)
        self._accept(fit, rows.X.dtype)
        sides = partial(separation, *as_delivered(fit.W, fit.b, self._dtype))
        self._certificate = now_or_later(sides, rows.X, codes)
        self._speak_up()
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        margins: Any = None,
    ) -> Self:
        """Learn from these rows too. The first call names all `classes` that will ever come."""
        self._check_parameters()
        first = not hasattr(self, "moments_")
        if not first:
            self._check_moments()
            self._refuse_written("partial_fit would lose that: it solves anew from moments_")
        known = announced(classes, None if first else self.classes_)
        rows, _ = self._observe(X, y, sample_weight, margins, known, reset=first)
        part = self._moments_of(rows)
        self._learn_moments(part if first else self.moments_ + part, rows.X.dtype)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None, margins: Any = None) -> Self:
        """Undo having seen these rows, which must be among those seen."""
        check_is_fitted(self, "moments_")
        self._check_moments()
        self._refuse_written("forget would lose that: it solves anew from moments_")
        rows, _ = self._observe(X, y, sample_weight, margins, self.classes_, reset=False)
        left = self.moments_ - self._moments_of(rows)
        if left.rows == 0:
            raise ValueError("forgetting these rows would leave none; make a new estimator.")
        self._learn_moments(left, rows.X.dtype)
        return self

    def fit_moments(self, m: Moments, classes: Any = None) -> Self:
        """Learn from moments with targets ±1 (two classes) or K columns of 0 and 1.

        Parameters
        ----------
        m : Moments
        classes : array-like, optional
            Labels in the order of the targets; 0, 1, ... by default.
        """
        self._check_parameters()
        if not isinstance(m, Moments):
            raise TypeError(
                f"m is {type(m).__name__}; expected Moments, see Moments.of(X, targets)."
            )
        if m.targets == 0 or m.rows == 0:
            raise ValueError("m has no targets or no rows; use Moments.of(X, targets).")
        labels = labels_of_moments(classes, 2 if m.targets == 1 else m.targets)
        self.classes_, self.n_features_in_ = labels, m.p
        self._learn_moments(m, np.dtype(np.float64))
        return self

    @property
    def certificate_(self) -> Certificate:
        """Whether the hyperplane provably separates the training samples."""
        check_is_fitted(self, "fit_")
        return WRITTEN if self._is_written() else self._certificate

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, margins: Any, classes: Any, *, reset: bool
    ) -> tuple[Rows, NDArray[np.int64]]:
        X = self._rows(X, reset=reset, finite=False)
        weights = self._weights(sample_weight, X)
        self.classes_, codes = encode(labels_of_rows(y, X), classes, weights)
        T = targets(codes, len(self.classes_), checked_margins(margins, len(codes)))
        present = slice(None) if weights is None else weights > 0
        return Rows.of(X, T, weights, checked=True), codes[present]

    def _learn_moments(self, m: Moments, dtype: Any) -> None:
        self.moments_ = m
        self._accept(least_squares(m, intercept=self.fit_intercept), dtype)
        self._certificate = Certificate(
            "undecided",
            "moments do not remember on which side each sample lies; separability is undecided.",
            {"digits": self.fit_.certificate.evidence.get("digits", 0.0)},
        )
        self._speak_of_rounding(stacklevel=4)

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        """Deliver what was learned from sums as rows of this dtype would."""
        self._accept(self.fit_, dtype)

    def _accept(self, fit: ClosedFit, dtype: Any) -> None:
        self._deliver(delivered(fit, dtype), dtype)


def targets(codes: NDArray[np.int64], K: int, margins: Array) -> Array:
    """±margin for two classes (n, 1); for K, the margin in the column of the class (n, K)."""
    if K == 2:
        return np.where(codes == 1, margins, -margins)[:, None]
    B = np.zeros((len(codes), K))
    B[np.arange(len(codes)), codes] = margins
    return B
