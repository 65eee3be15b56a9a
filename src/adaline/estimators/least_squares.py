"""Least squares from sums over rows: regression, and the minimum-squared-error classifier.

The base classes serve `ridge`, `polynomial` and `gaussian`, too. Sums over parts of the data merge
with + and -, so that streams and data read in blocks end in the weights of all rows, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline import parameters
from adaline.certificates.margins import separation
from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural, warn_caller
from adaline.estimators.base import (
    Classifier,
    Learner,
    Regressor,
    require_order,
    unchanged_on_error,
)
from adaline.estimators.registry import WEIGHTS
from adaline.estimators.streams import check_stream_classes
from adaline.parameters import FLAG, LEVEL, ParameterError, count, numbers, shown
from adaline.procedures.inference import new_values, t_summary
from adaline.procedures.krylov import DENSE_UP_TO as MOMENTS_UP_TO
from adaline.procedures.krylov import GRAM_UP_TO, is_large_and_sparse
from adaline.procedures.least_squares import least_squares
from adaline.procedures.minimum_norm import least_squares_from_triangle
from adaline.results import Array, Certificate, ClosedFit
from adaline.summaries import Summary
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from adaline.sums.triangle import Triangle


class MomentLearner(Learner):
    """Streams of sums: `_sums` checks rows and sums over them, `_learn` solves for the weights."""

    moments_: Any

    _sums: Callable[..., tuple[Any, Any]]  # sums over rows, and the dtype of X
    _learn: Callable[..., Self]

    @unchanged_on_error
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having seen these rows. They must be among those seen; the last cannot go."""
        classes = getattr(self, "classes_", None)
        return self._stream(X, y, sample_weight, classes, forget=True)

    def _warn_of_rounding(self) -> None:
        """Warn where rounding has left no digit of what a stream has learned."""

    def _check_moments(self, what: str) -> None:
        check_is_fitted(self, "moments_")
        if self.moments_ is None:
            reason = "it saw many columns, and fewer rows or sparse ones"
            raise ValueError(f"fit kept no moments: {reason}; begin with partial_fit instead.")
        self._refuse_written(what)

    def _stream(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, forget: bool = False
    ) -> Self:
        self._check_parameters()
        first = not (forget or hasattr(self, "moments_"))
        if not first:
            self._check_moments("a stream would lose that: it solves anew from moments_")
        m, dtype = self._sums(X, y, sample_weight, classes, reset=first)
        if not first:
            m = self.moments_ - m if forget else self.moments_ + m
        if not np.any(m.rows):
            raise ValueError("forgetting these rows would leave none; make a new estimator.")
        self._learn(m, dtype)
        self._warn_of_rounding()
        return self


class MomentClassifier(Classifier, MomentLearner):
    """A classifier from sums over the rows of each class."""

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too. The first call names all `classes` that will ever come."""
        known = getattr(self, "classes_", None)
        return self._stream(X, y, sample_weight, check_stream_classes(classes, known))

    def _take_moments(self, m: Any, K: int, classes: Any) -> Self:
        """Learn from moments of K classes; their labels are 0, 1, ... by default."""
        labels = np.arange(K) if classes is None else parameters.array("classes", classes)
        labels = require_order(labels, "classes")
        if labels.shape != (K,) or len(np.unique(labels)) < K or K < 2:
            raise ParameterError(f"classes are {shown(classes)}; expected {K} different labels.")
        self.classes_, self.n_features_in_ = labels, m.p
        return self._learn(m, np.dtype(np.float64))


class ClosedForm(MomentLearner):
    """Squared errors: a subclass defines `_solve(m, rows)`; rows is None in streams."""

    fit_: ClosedFit
    moments_: Any  # Moments, or None; a Triangle after LeastSquares().fit_moments(triangle)

    _observe: Callable[..., Rows]  # rows with their targets, checked
    _solve: Callable[[Any, Any], ClosedFit]  # from moments, or None, and rows, or None

    def _sums(self, X: Any, y: Any, omega: Any, classes: Any, *, reset: bool) -> tuple[Any, Any]:
        rows = self._observe(X, y, omega, classes, reset=reset)
        return Moments.of_rows(rows), rows.X.dtype

    def _learn(self, m: Moments, dtype: Any) -> Self:
        self.moments_ = m
        self._accept(self._solve(m, None), dtype)
        return self

    def _learn_rows(self, rows: Rows, gram_up_to: int = GRAM_UP_TO) -> None:
        """Learn with the rows at hand; without moments where a p x p matrix would be too large."""
        small = rows.n > rows.p or rows.p <= MOMENTS_UP_TO
        dense = small and not (rows.sparse and is_large_and_sparse(rows.X, gram_up_to))
        self.moments_ = Moments.of_rows(rows) if dense else None
        self._accept(self._solve(self.moments_, rows), rows.X.dtype)

    def _speak_up(self) -> None:
        fit, evidence = self.fit_, self.fit_.certificate.evidence
        # Of the gradient at zero weights: any small number.
        if evidence.get("gradient_share", 0.0) > 1e-6:
            share = f"{evidence['gradient_share']:.1e} of that at zero weights"
            what = f"after {evidence['steps']} steps the gradient is still {share}"
            warn_caller(f"{what}. Scale the columns, or use Ridge.", ConvergenceWarning)
        if fit.dependent:
            warn_caller(describe_dependence(fit, self._names()), RankDeficientWarning)
        elif fit.condition > 1e10 and fit.rank == fit.W.shape[1]:  # of 16 digits, 10 are spent
            moved = f"{fit.condition * 2.0**-53:.0e} of their size"
            warn_caller(
                f"the scaled condition number is {fit.condition:.1e}: changing the data in their "
                f"16th digit changes the coefficients by as much as {moved}. Drop or combine "
                "columns that say nearly the same, centre powers, or use Ridge.",
                IllConditionedWarning,
            )
        else:
            self._warn_of_rounding()

    def _warn_of_rounding(self) -> None:
        fit, evidence = self.fit_, self.fit_.certificate.evidence
        full_rank = fit.rank == fit.W.shape[1]
        if "drowned" in evidence or (full_rank and evidence.get("digits") == 0.0):
            names = self._names()
            lost = [names[j] for j in evidence.get("drowned", ())[:5]]
            what = f"rounding has left no digit{' of ' * bool(lost)}{', '.join(lost)} certain"
            advice = "Fit anew without rows that outweigh all others."
            warn_caller(f"{what}. {advice}", IllConditionedWarning)


class ClosedFormRegressor(Regressor, ClosedForm):
    """A subclass is its docstring, its parameters and `_solve(m, rows)`."""

    _stored = WEIGHTS | {"_one_target": "bool", "moments_": "Moments | None", "fit_": "ClosedFit"}

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, y (n,) or (n, k), weights (n,)."""
        self._check_parameters()
        self._learn_rows(self._observe(X, y, sample_weight, reset=True))
        self._speak_up()
        return self

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows too; any cutting of the data gives the same weights to rounding."""
        return self._stream(X, y, sample_weight)

    @unchanged_on_error
    def fit_moments(self, m: Any) -> Self:
        """Learn from moments alone, computed elsewhere or merged from parts."""
        self._check_parameters()
        require_moments(m)
        self.n_features_in_, self._one_target = m.p, m.targets == 1
        self._learn(m, np.dtype(np.float64))
        if "drowned" in self.fit_.certificate.evidence:  # streams correct what is ill-conditioned
            self._warn_of_rounding()
        return self

    def _observe(self, X: Any, y: Any, omega: Any, classes: Any = None, *, reset: bool) -> Rows:
        X = self._rows(X, reset=reset)
        Y = self._targets(y, X)
        if not reset and Y.shape[1] != self.moments_.targets:
            seen = self.moments_.targets
            raise ValueError(f"y has {Y.shape[1]} targets; this estimator has seen {seen}.")
        return Rows.of(X, Y, self._weights(omega, X), checked=True)

    def _refinement(self) -> tuple[Any, bool] | None:
        """The penalty on w^2, of all columns or of each, and whether there is a bias; or None.

        `data.fit` reads a stream again where moments leave few digits.
        """
        return None

    def _take_refined(self, fit: ClosedFit) -> None:
        self._accept(fit, np.float64)


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
        "separable" when every training sample is provably on the correct side, else "undecided".
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
        self._speak_up()
        W, b = self._exported_weights()
        self._sides = separation(W, b, rows.X, codes.astype(np.int64))
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

    @property
    def certificate_(self) -> Certificate:
        """On which sides the rows lie; `fit_.certificate` is about the digits of the weights."""
        self._check_fitted()
        return self.fit_.certificate if self._is_written() else self._sides


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


def require_moments(m: Any) -> None:
    if not isinstance(m, Moments):
        raise TypeError(f"m is {type(m).__name__}; expected Moments, see Moments.of(X, y).")
    if m.targets == 0 or m.rows == 0:
        raise ValueError("m has no targets or no rows; use Moments.of(X, y) with y.")
    if not (np.isfinite(m.mean).all() and np.isfinite(m.scatter[: m.p]).all()):
        raise ValueError("m has sums that are NaN or infinite; nothing can be learned from them.")


def describe_dependence(fit: ClosedFit, names: list[str], most: int = 3) -> str:
    parts = []
    for column, others in fit.dependent[:most]:
        listed = ", ".join(names[i] for i in others[:5]) + ", ..." * (len(others) > 5)
        what = f"a combination of {listed}" if others else "constant"
        parts.append(f"{names[column]} is {what}")
    if len(fit.dependent) > most:
        parts.append(f"and {plural(len(fit.dependent) - most, 'more column', 'depend')} on others")
    return (
        f"{'; '.join(parts)}. X has rank {fit.rank} of {fit.W.shape[1]}; of the many solutions, "
        "the one of least norm is given. Drop these columns to make the coefficients unique."
    )
