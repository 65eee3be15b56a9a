"""Which procedure fits a logistic regression, by its alpha and its rows.

Newton's procedure is the rule. Firth's penalty, the dual procedure (for wide sparse rows) and the
question whether a maximum of the likelihood exists load where they are needed.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adaline._threads import one_blas_thread
from adaline.errors import RankDeficientWarning, plural
from adaline.estimators._progress import FRAMES, Audience
from adaline.estimators.declarations import now_or_later
from adaline.procedures.inference import Information, affordable, information
from adaline.procedures.newton import newton
from adaline.procedures.steps import finished
from adaline.results import Array, Fit, NewtonFit
from adaline.sums.objective import Objective, logistic_objective
from adaline.tiles import check_finite, is_sparse

_SMALL = 2**16  # numbers in X, too few for threads
_OF_ROWS = "X", "y", "omega", "offset"  # what an objective has for each row


def objective_of(model: Any, X: Any, codes: Any, omega: Array) -> Objective:
    """The logistic loss of these rows, with the penalty that the model has used."""
    K, alpha = len(model.classes_), model.alpha_
    loss = logistic_objective(X, codes, K, omega, alpha, model.fit_intercept)
    units = model.column_scale_
    return loss if units is None else loss.with_penalty(alpha, units)


def learned(model: Any, X: Any, codes: Any, omega: Array, hear: Audience) -> Fit:
    """The weights; sets alpha_, n_iter_ and what `summary` needs. `hear` is told of each step."""
    # To set and reset the threads of BLAS for each small matrix would take as long as its factor.
    small = X.shape[0] * X.shape[1] <= _SMALL
    with one_blas_thread(1) if small else nullcontext():
        return _learned(model, X, codes, omega, hear)


def _learned(model: Any, X: Any, codes: Any, omega: Array, hear: Audience) -> Fit:
    model.alpha_ = 0.0 if isinstance(model.alpha, str) else float(model.alpha)
    model._information = model.column_scale_ = None
    if is_sparse(X):
        check_finite(X, model._names)
    loss = objective_of(model, X, codes, omega)
    if not np.isfinite(loss.rows.top).all():  # its sums tell, which saves a pass
        check_finite(X, model._names)
        raise ValueError("sums over X leave the range of float64; rescale the columns.")
    if model.alpha == "auto":
        from adaline.procedures.penalty_search import newton_auto

        steps = newton_auto.steps(loss, model.max_iter, model.tol)
        fit, (model.alpha_, model.column_scale_) = finished(steps, hear)
        loss = loss.with_penalty(model.alpha_, model.column_scale_)
    elif model.alpha == "firth":
        from adaline.procedures.firth import firth

        fit = finished(firth.steps(loss, model.max_iter, model.tol), hear)
    else:
        fit = finished(newton.steps(loss, model.max_iter, model.tol), hear)
    if model.alpha_ == 0 and model.alpha != "firth" and not hear.asked:
        fit = _existing(model, fit, X, codes, omega)
    model.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
    if affordable(loss) and fit.rank == fit.theta.size:
        model._information = information_now_or_later(loss, fit.theta)
    return fit


def information_now_or_later(loss: Objective, theta: Array) -> Any:
    """What `summary` needs of the rows at theta (K, p + 1), made when someone asks.

    It takes a tenth of the time of a small fit, and a third where classes are many.
    """
    rows = {name: getattr(loss.rows, name) for name in _OF_ROWS}
    bare = replace(loss.rows, stored=None, **{name: part[:0] for name, part in rows.items()})

    loss_without_rows = replace(loss, rows=bare)

    def make(*copies: Any) -> Information | None:
        try:
            whole = replace(bare, **dict(zip(_OF_ROWS, copies, strict=True)))
            return information(replace(loss_without_rows, rows=whole), theta)
        except ValueError:  # single coefficients have no errors; `summary` of the rows tells why
            return None

    return now_or_later(make, *rows.values())


def _existing(model: Any, fit: NewtonFit, X: Any, codes: Any, omega: Array) -> NewtonFit:
    """The fit, if there is a maximum of the likelihood at all; SeparableError where not."""
    if fit.certificate.kind == "optimal" or fit.outcome == "interrupted":
        return fit
    from adaline.estimators.newton._separable import refusal, verdict

    found = verdict(X, codes, model.classes_, omega, model.fit_intercept)
    if error := refusal(found, fit, model._names()):
        raise error
    if fit.outcome in ("separated", "quasi"):
        said = "the classes overlap, so a maximum exists, but so far out that rounding hides it"
        return replace(fit, stopped=f"{said} ({plural(fit.steps, 'step')}).")
    return fit


def warn_of(model: Any, frames: int = FRAMES) -> None:
    """Warn of weights that are not proven, and of columns that depend on others.

    frames lie between `fit` and whoever called it. Where weights grow without bound, curvature is
    lost by probabilities of 0 and 1 or means of 0, and columns need not depend on each other.
    """
    # fit_ of a learner of streams would compare it with coef_, which nobody can have written yet.
    fit = getattr(model, "_known", None) or model.fit_
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
            f"{model.max_iter}), or a larger alpha.",
            ConvergenceWarning,
            stacklevel=3 + frames,
        )


def check_weights(classes: NDArray[Any], codes: NDArray[np.int64], omega: Array) -> None:
    """Every class needs a row that counts."""
    if not len(omega):
        return
    weight = np.bincount(codes, omega, minlength=len(classes))
    if np.any(weight == 0):
        raise ValueError(
            f"only zero sample_weight for the class {classes[weight == 0].tolist()[0]!r}: its "
            "intercept would be minus infinity. Every class needs a row of positive weight, and "
            "telling classes apart needs at least two classes; drop those rows."
        )
