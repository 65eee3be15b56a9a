"""Base classes of learners with a closed form: moments, warnings, fit, partial_fit and forget.

Used by `least_squares`, `polynomial` and `ridge`. Moments of parts of the data merge with + and -,
so that streams and data read in blocks end in the weights of all rows, to rounding.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural, warn_caller
from adaline.estimators.base import Learner, Regressor, unchanged_on_error
from adaline.estimators.registry import SEEN
from adaline.parameters import LEVEL, count
from adaline.procedures.krylov import DENSE_UP_TO as MOMENTS_UP_TO
from adaline.procedures.krylov import GRAM_UP_TO, is_large_and_sparse
from adaline.procedures.standard_errors import inference
from adaline.results import ClosedFit
from adaline.summaries import Summary
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows, check_finite

ILL_CONDITION = 1e10  # condition number that is warned of: of 16 digits in the data, 10 are spent
GRADIENT_SHARE = 1e-6  # of the gradient at zero weights, that is warned of (any small number)


class ClosedForm(Learner):
    """Sums over the rows, and warnings about the solution."""

    fit_: ClosedFit
    moments_: Any  # Moments, or None; a Triangle after LeastSquares().fit_moments(triangle)

    def _moments_unless_wide(self, rows: Rows, gram_up_to: int = GRAM_UP_TO) -> Moments | None:
        """Moments, or None where columns outnumber the rows so far that p x p is too many."""
        small = rows.n > rows.p or rows.p <= MOMENTS_UP_TO
        if small and not is_large_and_sparse(rows.X, gram_up_to):
            return self._moments_of(rows)
        check_finite(rows.X, self._names)
        check_finite(rows.Y, what="y")
        return None

    def _moments_of(self, rows: Rows) -> Moments:
        """Moments of the rows; an error names the row and column that is not finite."""
        try:
            return Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)
        except ValueError:
            check_finite(rows.X, self._names)
            raise

    def _check_moments(self, what: str) -> None:
        """Raise where there are no moments of the weights as they are, which `what` needs."""
        check_is_fitted(self, "moments_")
        if self.moments_ is None:
            raise ValueError(
                f"this fit saw {self.n_features_in_} columns, and fewer rows or sparse ones, and "
                "kept no moments to add to or take from; begin with partial_fit instead of fit."
            )
        self._refuse_written(what)

    def _merge(self, rows: Rows, first: bool) -> Moments:
        part = self._moments_of(rows)
        return part if first else self.moments_ + part

    def _begins_stream(self) -> bool:
        if not hasattr(self, "moments_"):
            return True
        self._check_moments("partial_fit would lose that: it solves anew from moments_")
        return False

    def _moments_without(self, rows: Rows) -> Moments:
        left: Moments = self.moments_ - self._moments_of(rows)
        if left.rows == 0:
            raise ValueError("forgetting these rows would leave none; make a new estimator.")
        return left

    def _check_moments_given(self, m: Any) -> None:
        if not isinstance(m, Moments):
            raise TypeError(f"m is {type(m).__name__}; expected Moments, see Moments.of(X, y).")
        if m.targets == 0 or m.rows == 0:
            raise ValueError("m has no targets or no rows; use Moments.of(X, y) with y.")

    def _speak_up(self) -> None:
        """Warn of dependent columns, and of results that depend on the last digits of the data."""
        fit, evidence = self.fit_, self.fit_.certificate.evidence
        if evidence.get("gradient_share", 0.0) > GRADIENT_SHARE:
            warn_caller(
                f"after {evidence['steps']} steps the gradient is still "
                f"{evidence['gradient_share']:.1e} of that at zero weights. Measure the columns in "
                "similar units (StandardScaler(with_mean=False)), or use Ridge with a larger "
                "alpha.",
                ConvergenceWarning,
            )
        if fit.dependent:
            warn_caller(self._describe_dependence(), RankDeficientWarning)
        elif fit.condition > ILL_CONDITION and fit.rank == fit.W.shape[1]:
            warn_caller(
                f"the scaled condition number is {fit.condition:.1e}: changing the data in "
                "their 16th digit changes the coefficients by as much as "
                f"{fit.condition * 2.0**-53:.0e} of their size. Drop or combine columns that "
                "say nearly the same, centre powers, or use Ridge.",
                IllConditionedWarning,
            )
        else:
            self._warn_of_rounding()

    def _warn_of_rounding(self) -> None:
        """Warn where rounding has left no digit, though columns are independent."""
        fit, evidence = self.fit_, self.fit_.certificate.evidence
        full_rank = fit.rank == fit.W.shape[1]
        if "drowned" in evidence or (full_rank and evidence.get("digits") == 0.0):
            names = self._names()
            lost = [names[j] for j in evidence.get("drowned", ())[:5]]
            warn_caller(
                f"rounding has left no digit{' of ' * bool(lost)}{', '.join(lost)} certain, as "
                "after forgetting rows of far larger numbers, or where a row outweighs all others "
                "by far: the coefficients cannot be trusted. Fit anew from the rows that are left, "
                "or leave such rows out.",
                IllConditionedWarning,
            )

    def _describe_dependence(self) -> str:
        names, parts, most = self._names(), [], 3
        for column, others in self.fit_.dependent[:most]:
            listed = ", ".join(names[i] for i in others[:5]) + ", ..." * (len(others) > 5)
            what = f"a combination of {listed}" if others else "constant"
            parts.append(f"{names[column]} is {what}")
        rest = len(self.fit_.dependent) - most
        if rest > 0:
            parts.append(f"and {plural(rest, 'more column', 'depend')} on others")
        return (
            f"{'; '.join(parts)}. X has rank {self.fit_.rank} of {self.fit_.W.shape[1]}; of the "
            "many solutions, the one of least norm is given. Drop these columns to make the "
            "coefficients unique."
        )


class ClosedFormRegressor(Regressor, ClosedForm):
    """A subclass defines `_solve(m, rows)`; rows is None when only moments are known."""

    _stored = SEEN | {"_one_target": "truth", "moments_": "Moments | None", "fit_": "ClosedFit"}

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        raise NotImplementedError  # pragma: no cover

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, y (n,) or (n, k), weights (n,)."""
        self._check_parameters()
        rows = self._observe(X, y, sample_weight, reset=True)
        self.moments_ = self._moments_unless_wide(rows)
        self._accept(self._solve(self.moments_, rows), rows.X.dtype)
        self._speak_up()
        return self

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows too; any cutting of the data gives the same weights to rounding."""
        self._check_parameters()
        first = self._begins_stream()
        rows = self._observe(X, y, sample_weight, reset=first)
        return self._learn_stream(self._merge(rows, first), rows.X.dtype)

    @unchanged_on_error
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having seen these rows. They must be among those seen; the last cannot go.

        Rows are not kept, so that others of the same number may go unnoticed: more than were
        seen are refused, and such as would leave a negative sum of squares.
        """
        self._check_moments("forget would lose that: it solves anew from moments_")
        rows = self._observe(X, y, sample_weight, reset=False)
        return self._learn_stream(self._moments_without(rows), rows.X.dtype)

    @unchanged_on_error
    def fit_moments(self, m: Any) -> Self:
        """Learn from moments alone, computed elsewhere or merged from parts."""
        self._check_parameters()
        self._check_moments_given(m)
        self._set_size(m)
        self.moments_ = m
        self._accept(self._solve(m, None), np.dtype(np.float64))
        if "drowned" in self.fit_.certificate.evidence:  # streams correct what is ill-conditioned
            self._warn_of_rounding()
        return self

    def _learn_stream(self, m: Moments, dtype: Any) -> Self:
        self.moments_ = m
        self._accept(self._solve(m, None), dtype)
        self._warn_of_rounding()
        return self

    def _refinement(self) -> tuple[Any, bool] | None:
        """The penalty on w^2, one for all columns or for each, and whether there is a bias.

        `data.fit` uses them to read a stream again where moments leave few digits; None where it
        should not. `_take_refined` accepts the weights that these passes make.
        """
        return None

    def _take_refined(self, fit: ClosedFit) -> None:
        self._accept(fit, np.dtype(np.float64))

    def _set_size(self, m: Any) -> None:
        self.n_features_in_, self._one_target = m.p, m.targets == 1

    def _observe(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        X = self._rows(X, reset=reset, finite=False)
        Y = self._targets(y, X, finite=False)
        if not reset and Y.shape[1] != self.moments_.targets:
            raise ValueError(
                f"y has {Y.shape[1]} targets; this estimator has seen {self.moments_.targets}."
            )
        return Rows.of(X, Y, self._weights(sample_weight, X), checked=True)


class LeastSquaresRegressor(ClosedFormRegressor):
    """Least squares on columns, or on monomials of them, and its classical statistics."""

    fit_intercept: bool

    @property
    def rank_(self) -> int:
        """Independent columns of X."""
        check_is_fitted(self, "fit_")
        return self.fit_.rank

    @property
    def condition_(self) -> float:
        """Condition number of the scaled columns."""
        check_is_fitted(self, "fit_")
        return self.fit_.condition

    def summary(self, level: float = 0.95, target: int = 0) -> Summary:
        """Coefficients with standard errors, t, p and intervals; R², F, condition, AIC and VIF.

        Sample weights count rows: a row of weight 2 is two observations. The log-likelihood is
        -n/2 (ln(2 pi SSE / n) + 1); AIC and BIC are -2 of it and 2, or ln n, for each coefficient,
        the bias included: statsmodels' definitions. R counts the variance as well, so that its AIC
        is 2 more and its BIC ln n.

        Parameters
        ----------
        level : float
            Confidence level of the intervals.
        target : int
            Which target, where there are several.
        """
        self._check_moments("standard errors are those of the least-squares weights")
        m = self.moments_
        LEVEL("level", level)
        count(0, m.targets - 1)("target", target)
        mean, scatter = m.mean_and_squares(about_zero=not self.fit_intercept)
        chosen = [*range(m.p), m.p + target]
        return inference(
            self.fit_,
            n=m.weight,
            rows=m.rows,
            mean=mean[chosen],
            scatter=scatter[chosen],
            names=self._names(),
            intercept=self.fit_intercept,
            level=float(level),
            target=target,
        )
