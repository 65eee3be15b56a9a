"""What learners with a closed form share: moments, warnings, fit, partial_fit and forget."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural
from adaline.estimators._base import Learner, Regressor, check_finite
from adaline.estimators._refusals import GUARD
from adaline.estimators.declarations import SEEN
from adaline.procedures.krylov import DENSE_UP_TO as MOMENTS_UP_TO
from adaline.procedures.krylov import GRAM_UP_TO, is_large_and_sparse
from adaline.results import ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows

ILL_CONDITIONED = 1e10  # of 16 digits in the data, 10 are spent
UNFINISHED = 1e-6  # gradients, as shares of that at zero weights, that are warned of


class ClosedForm(Learner):
    """Sums over the rows, and what there is to say about the solution."""

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

    def _check_moments(self) -> None:
        if self.moments_ is None:
            raise ValueError(
                f"this fit saw {self.n_features_in_} columns, and fewer rows or sparse ones, and "
                "kept no moments to add to or take from; begin with partial_fit instead of fit."
            )

    def _moments_of(self, rows: Rows) -> Moments:
        """Moments of the rows; what is not finite in them names the row and column."""
        try:
            return Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)
        except ValueError:
            check_finite(rows.X, self._names)
            raise

    def _speak_up(self) -> None:
        """Warn of dependent columns and of answers that hang on the data's last digits."""
        evidence = self.fit_.certificate.evidence
        if evidence.get("gradient_share", 0.0) > UNFINISHED:
            warnings.warn(
                f"after {evidence['steps']} steps the gradient is still "
                f"{evidence['gradient_share']:.1e} of that at zero weights. Measure the columns in "
                "similar units (StandardScaler(with_mean=False)), or use Ridge with a larger "
                "alpha.",
                ConvergenceWarning,
                stacklevel=3 + GUARD,
            )
        if self.fit_.dependent:
            warnings.warn(self._dependence(), RankDeficientWarning, stacklevel=3 + GUARD)
        elif self.fit_.condition > ILL_CONDITIONED and self._is_whole():
            warnings.warn(
                f"the scaled condition number is {self.fit_.condition:.1e}: changing the data in "
                "their 16th digit changes the coefficients by as much as "
                f"{self.fit_.condition * 2.0**-53:.0e} of their size. Drop or combine columns that "
                "say nearly the same, centre powers, or use Ridge.",
                IllConditionedWarning,
                stacklevel=3 + GUARD,
            )
        else:
            self._speak_of_rounding(stacklevel=4)

    def _is_whole(self) -> bool:
        """Whether all columns of the fit, powers of a polynomial among them, are independent."""
        return bool(self.fit_.rank == self.fit_.W.shape[1])

    def _speak_of_rounding(self, stacklevel: int = 3) -> None:
        """Warn where rounding has left no digit, though columns are independent."""
        fit = self.fit_
        evidence, whole = fit.certificate.evidence, self._is_whole()
        if "drowned" in evidence or (whole and evidence.get("digits") == 0.0):
            names = self._names()
            lost = [names[j] for j in evidence.get("drowned", ())[:5]]
            of = f" of {', '.join(lost)}" if lost else ""
            warnings.warn(
                f"rounding has left no digit{of} certain, as after forgetting rows of far larger "
                "numbers, or where a row outweighs all others by far: the coefficients cannot be "
                "trusted. Fit anew from the rows that are left, or leave such rows out.",
                IllConditionedWarning,
                stacklevel=stacklevel + GUARD,
            )

    def _dependence(self) -> str:
        """A sentence that names the dependent columns."""
        names = self._names()
        parts = []
        for column, others in self.fit_.dependent[:3]:
            if others:
                listed = ", ".join(names[i] for i in others[:5]) + (", ..." if others[5:] else "")
                parts.append(f"{names[column]} is a combination of {listed}")
            else:
                parts.append(f"{names[column]} is constant")
        more = len(self.fit_.dependent) - 3
        return (
            "; ".join(parts)
            + (f"; and {plural(more, 'more column', 'depend')} on others" if more > 0 else "")
            + f". X has rank {self.fit_.rank} of {self.fit_.W.shape[1]}; of the many solutions, "
            "the one of least norm is given. Drop these columns to make the coefficients unique."
        )


class ClosedFormRegressor(Regressor, ClosedForm):
    """Learns from moments, and from the rows where they are at hand.

    A subclass says how in `_solve(m, rows)`; rows is None when only moments are known.
    """

    _stored = SEEN | {"_one_target": "truth", "moments_": "Moments | None", "fit_": "ClosedFit"}

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        raise NotImplementedError  # pragma: no cover

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like or CSR of shape (n, p)
        y : array-like of shape (n,) or (n, k)
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.
        """
        self._check_parameters()
        rows = self._observe(X, y, sample_weight, reset=True)
        self.moments_ = self._moments_unless_wide(rows)
        self._accept(self._solve(self.moments_, rows), rows.X.dtype)
        self._speak_up()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows too; any cutting of the data gives the same weights to rounding."""
        self._check_parameters()
        first = not hasattr(self, "moments_")
        if not first:
            self._check_moments()
            self._refuse_written("partial_fit would lose that: it solves anew from moments_")
        rows = self._observe(X, y, sample_weight, reset=first)
        part = self._moments_of(rows)
        self.moments_ = part if first else self.moments_ + part
        self._accept(self._solve(self.moments_, None), rows.X.dtype)
        self._speak_of_rounding()
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having seen these rows. They must be among those seen; the last cannot go.

        Rows are not kept, so that others of the same number may go unnoticed: more than were
        seen are refused, and such as would leave a negative sum of squares.
        """
        check_is_fitted(self, "moments_")
        self._check_moments()
        self._refuse_written("forget would lose that: it solves anew from moments_")
        rows = self._observe(X, y, sample_weight, reset=False)
        left = self.moments_ - self._moments_of(rows)
        if left.rows == 0:
            raise ValueError(
                "forgetting these rows would leave none; make a new estimator instead."
            )
        self.moments_ = left
        self._accept(self._solve(left, None), rows.X.dtype)
        self._speak_of_rounding()
        return self

    def fit_moments(self, m: Moments) -> Self:
        """Learn from moments alone, computed elsewhere or merged from parts."""
        self._check_parameters()
        if not isinstance(m, Moments):
            raise TypeError(f"m is {type(m).__name__}; expected Moments, see Moments.of(X, y).")
        self._check_size(m.p, m.targets, m.rows)
        self.moments_ = m
        self._accept(self._solve(m, None), np.dtype(np.float64))
        if "drowned" in self.fit_.certificate.evidence:  # streams correct what is ill-conditioned
            self._speak_of_rounding()
        return self

    def _refinement(self) -> tuple[Any, bool] | None:
        """The penalty on w^2, one for all columns or for each, and whether there is a bias: with
        them `data.fit` reads a stream again where moments leave few digits. None where it should
        not.
        """
        return None

    def _take_refined(self, fit: ClosedFit) -> None:
        """Accept weights that more passes over a stream made of those of `fit_moments`."""
        self._accept(fit, np.dtype(np.float64))

    def _check_size(self, p: int, targets: int, rows: int) -> None:
        if targets == 0:
            raise ValueError("m has no targets; use Moments.of(X, y) with y.")
        if rows == 0:
            raise ValueError("m is of no rows; there is nothing to learn from.")
        self.n_features_in_ = p
        self._one_target = targets == 1

    def _observe(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        X = self._rows(X, reset=reset, finite=False)
        if not reset:
            known = self._one_target, self.moments_.targets
        Y = self._targets(y, X, finite=False)
        if not reset and Y.shape[1] != known[1]:
            raise ValueError(f"y has {Y.shape[1]} targets; this estimator has seen {known[1]}.")
        return Rows.of(X, Y, self._weights(sample_weight, X), checked=True)
