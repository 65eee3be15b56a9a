"""Base class of learners that minimise a penalised loss by `procedures.newton`.

Used by `logistic` and `glm`: parameters, warnings, standard errors and the table of `summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaline.errors import RankDeficientWarning, warn_caller
from adaline.estimators.base import Learner
from adaline.parameters import COUNT, FLAG, LEVEL, NOT_NEGATIVE, POSITIVE, is_sparse
from adaline.results import Array, NewtonFit
from adaline.sums.objective import JOINT, Objective
from adaline.sums.rows import check_finite

if TYPE_CHECKING:
    from adaline.summaries import Summary

# Rows times squared columns up to which `fit` computes standard errors: there they take about a
# tenth of its time, a third where classes are many.
AFFORDABLE_WORK = 10**8


class NewtonLearner(Learner):
    """A learner whose `fit` minimises a penalised loss by Newton's procedure."""

    alpha: Any
    fit_intercept: bool
    max_iter: int
    tol: float
    n_iter_: Any
    _information: Any  # of `procedures.inference`, or None
    _streams = "newton"
    _parameters = {"alpha": NOT_NEGATIVE, "fit_intercept": FLAG, "max_iter": COUNT, "tol": POSITIVE}
    _title: str  # of the table
    _share: str  # the name of the share of the null deviance that a fit explains

    def _require_finite(self, loss: Objective) -> None:
        """Raise ValueError for NaN, infinities, and columns whose sums leave float64."""
        usable = np.isfinite(loss.rows.top).all()  # bounds on dense rows tell, which saves a pass
        if not usable or is_sparse(loss.rows.X):
            check_finite(loss.rows.X, self._names)
        if not usable:
            raise ValueError("sums over X leave the range of float64; rescale the columns.")

    def _set_information(self, loss: Objective, fit: NewtonFit) -> None:
        """Compute what `summary` and intervals need of the rows, where that is affordable."""
        self._information = None
        affordable = loss.rows.n * loss.q**2 <= AFFORDABLE_WORK and loss.K * loss.q <= JOINT
        if affordable and fit.rank == fit.theta.size:
            from adaline.procedures.inference import information

            try:
                self._information = information(loss, fit.theta)
            except ValueError:  # no errors of single weights; `summary` of the rows says why
                return

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

        fit, level, known = self.fit_, float(LEVEL("level", level)), self._information
        if loss is not None:
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

    def _speak_up(self) -> None:
        """Warn of weights that are not proven, and of columns that depend on others.

        Where weights grow without bound, curvature is lost by probabilities of 0 and 1 or means of
        0, and columns need not depend on others.
        """
        fit = self.fit_
        if isinstance(fit, NewtonFit):
            if fit.rank < fit.theta.size and fit.outcome != "quasi":
                warn_caller(
                    f"columns depend on others (rank {fit.rank} of {fit.theta.size}, the intercept "
                    "included) and there is no penalty: many weights have the same likelihood, and "
                    "these are one choice. Drop columns, or give alpha > 0.",
                    RankDeficientWarning,
                )
                return
            if fit.outcome == "converged":
                return
        if fit.certificate.kind != "optimal":
            warn_caller(
                f"{fit.stopped} {fit.certificate.statement} Give more steps (max_iter is "
                f"{self.max_iter}), or a larger alpha.",
                ConvergenceWarning,
            )
