"""What learners by Newton's method share: parameters, warnings, standard errors and tables."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaline.errors import RankDeficientWarning
from adaline.estimators._base import Learner, check_finite
from adaline.estimators.declarations import MadeWhenAsked, now_or_later
from adaline.parameters import COUNT, FLAG, LEVEL, NOT_NEGATIVE, POSITIVE, is_sparse
from adaline.results import Array, NewtonFit
from adaline.sums.objective import JOINT, Objective

if TYPE_CHECKING:
    from adaline.summaries import Summary

AFFORDABLE = 10**8  # rows times squared columns, up to which standard errors cost little


class NewtonLearner(Learner):
    """A learner whose `fit` minimises a penalised loss by `procedures.newton`."""

    alpha: Any
    fit_intercept: bool
    max_iter: int
    tol: float
    n_iter_: Any
    _streams = "newton"
    _information = MadeWhenAsked()
    _parameters = {
        "alpha": NOT_NEGATIVE,
        "fit_intercept": FLAG,
        "max_iter": COUNT,
        "tol": POSITIVE,
    }
    _title: str  # of the table
    _share: str  # the name of the share of the null deviance that a fit explains

    def _require_finite(self, loss: Objective) -> None:
        """Raise ValueError for NaN, infinities, and columns whose sums leave float64."""
        usable = np.isfinite(loss.rows.top).all()  # bounds on dense rows tell, which saves a pass
        if not usable or is_sparse(loss.rows.X):
            check_finite(loss.rows.X, self._names)
        if not usable:
            raise ValueError("sums over X leave the range of float64; rescale the columns.")

    def _remember_information(self, loss: Objective, fit: NewtonFit) -> None:
        """Store what `summary` needs of the rows, or copies of few rows to compute it from.

        It takes a tenth of the time of a small fit, and a third where classes are many.
        """
        rows, self._information = loss.rows, None
        if rows.n * loss.q**2 > AFFORDABLE or loss.K * loss.q > JOINT or fit.rank < fit.theta.size:
            return
        names = "X", "y", "omega", "offset"
        parts = [getattr(rows, name) for name in names]
        none = {name: part[:0] for name, part in zip(names, parts, strict=True)}
        bare = replace(loss, rows=replace(rows, stored=None, **none))

        def compute(*copies: Any) -> Any:
            from adaline.procedures.inference import information  # most fits make no table

            whole = replace(bare.rows, **dict(zip(names, copies, strict=True)))
            try:
                return information(replace(bare, rows=whole), fit.theta)
            except ValueError:  # no errors of single weights; `summary` of the rows says why
                return None

        self._information = now_or_later(compute, *parts)

    def _covariance(self) -> tuple[Array, Array]:
        """(K, p + 1, K, p + 1) of the weights, and the row it is about."""
        self._refuse_written("intervals are those of the likeliest weights")
        known = self._information
        if known is None or known.covariance is None or known.centre is None:
            raise ValueError(
                "this fit kept no covariance of its weights, which intervals need: its rows were "
                "read in blocks, or its columns are very many or dependent. Fit again, in memory "
                "and with fewer columns."
            )
        return known.covariance, known.centre

    def _tabulate(
        self,
        level: Any,
        loss: Objective | None,
        outputs: list[str],
        notes: list[str],
        bounds: tuple[Array, Array] | None = None,
    ) -> Summary:
        """The table of `summary`; loss is that of the training rows where these were given."""
        from adaline.procedures.inference import information, wald_summary

        fit, level = self.fit_, float(LEVEL("level", level))
        if loss is None:
            known = self._information
        else:
            known = information(loss, loss.rows.theta(fit.W, fit.b))
        if known is None:
            raise ValueError(
                "this fit was large, or its columns depend on each other, so it stored no standard "
                "errors; give summary(X=X, y=y) the training rows."
            )
        return wald_summary(
            self._title,
            fit.W,
            fit.b,
            known,
            known.facts(self._share),
            self._names(),
            outputs,
            intercept=self.fit_intercept,
            level=level,
            notes=(str(self.certificate_), *notes),
            bounds=bounds,
        )

    def _warn_unless_proven(self, fit: Any, frames: int) -> None:
        """Warn of weights that are not proven, and of columns that depend on others.

        frames lie between `fit` and whoever called it. Where weights grow without bound, curvature
        is lost by probabilities of 0 and 1 or means of 0, and columns need not depend on others.
        """
        if isinstance(fit, NewtonFit):
            if fit.rank < fit.theta.size and fit.outcome != "quasi":
                warnings.warn(
                    f"columns depend on others (rank {fit.rank} of {fit.theta.size}, the intercept "
                    "included) and there is no penalty: many weights have the same likelihood, and "
                    "these are one choice. Drop columns, or give alpha > 0.",
                    RankDeficientWarning,
                    stacklevel=3 + frames,
                )
                return
            if fit.outcome == "converged":
                return
        if fit.certificate.kind != "optimal":
            warnings.warn(
                f"{fit.stopped} {fit.certificate.statement} Give more steps (max_iter is "
                f"{self.max_iter}), or a larger alpha.",
                ConvergenceWarning,
                stacklevel=3 + frames,
            )
