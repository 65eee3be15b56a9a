"""Base classes of learners with a closed form, which need sums over the rows alone.

Used by `least_squares`, `polynomial`, `ridge` and `gaussian`. Sums over parts of the data merge
with + and -, so that streams and data read in blocks end in the weights of all rows, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural, warn_caller
from adaline.estimators.base import Classifier, Learner, Regressor, unchanged_on_error
from adaline.estimators.labels import check_stream_classes, labels_of_moments
from adaline.estimators.registry import WEIGHTS
from adaline.procedures.krylov import DENSE_UP_TO as MOMENTS_UP_TO
from adaline.procedures.krylov import GRAM_UP_TO, is_large_and_sparse
from adaline.results import ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows

ILL_CONDITION = 1e10  # condition number that is warned of: of 16 digits in the data, 10 are spent
GRADIENT_SHARE = 1e-6  # of the gradient at zero weights, that is warned of (any small number)


class MomentLearner(Learner):
    """Streams of sums: `_sums` checks rows and sums over them, `_learn` solves for the weights."""

    moments_: Any

    _sums: Callable[..., tuple[Any, Any]]  # sums over rows, and the dtype of X
    _learn: Callable[..., Self]

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

    @unchanged_on_error
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having seen these rows, which must be among those seen, to rounding."""
        classes = getattr(self, "classes_", None)
        return self._stream(X, y, sample_weight, classes, forget=True)

    def _take_moments(self, m: Any, K: int, classes: Any) -> Self:
        """Learn from moments of K classes; their labels are 0, 1, ... by default."""
        self.classes_, self.n_features_in_ = labels_of_moments(classes, K), m.p
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
        if evidence.get("gradient_share", 0.0) > GRADIENT_SHARE:
            share = f"{evidence['gradient_share']:.1e} of that at zero weights"
            what = f"after {evidence['steps']} steps the gradient is still {share}"
            warn_caller(f"{what}. Scale the columns, or use Ridge.", ConvergenceWarning)
        if fit.dependent:
            warn_caller(describe_dependence(fit, self._names()), RankDeficientWarning)
        elif fit.condition > ILL_CONDITION and fit.rank == fit.W.shape[1]:
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
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having seen these rows. They must be among those seen; the last cannot go."""
        return self._stream(X, y, sample_weight, forget=True)

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
        self._accept(fit, np.dtype(np.float64))


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
