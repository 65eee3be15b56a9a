"""Quality by cross-validation in the command: which folds, and what to do where there are none."""

from __future__ import annotations

from typing import Any

from adaline.cli.learning.learning import Learned, Plan
from adaline.cli.predicting.predictions import Measured
from adaline.cli.printing.errors import sentence
from adaline.cli.printing.printer import Out
from adaline.cli.printing.progress import Progress
from adaline.evaluation.cross_validation import CrossValidated, measured
from adaline.evaluation.folds import Folds, folds, hold_out
from adaline.evaluation.words import HOLD_OUT

FEW = 500  # rows below which every row is predicted once, instead of a fifth held out
_FOLDS = 10
_MANY = 200_000  # numbers from which five folds are enough


def default_folds(rows: int, numbers: int) -> int:
    """How many folds for so many rows and numbers: as many as are quick."""
    return min(_FOLDS if numbers <= _MANY else _FOLDS // 2, rows)


def chosen(found: Learned, plan: Plan) -> Folds:
    """The folds of the rows learned from."""
    if plan.apart:
        return hold_out(found.y, seed=plan.seed % 2**63)
    return folds(
        found.y,
        plan.cv,
        groups=found.beside.get("--group"),
        times=found.beside.get("--by-time"),
        seed=plan.seed % 2**63,
    )


def cross_validated(
    found: Learned, plan: Plan, out: Out, must: bool
) -> tuple[Measured, CrossValidated] | None:
    """Each row predicted by a fit without it; None where that fails and nobody has asked for it."""
    estimator = found.model
    try:
        parts = chosen(found, plan)
        with Progress(out, len(found.y)) as progress:
            result = measured(
                estimator,
                estimator,
                found.X,
                found.y,
                parts,
                found.omega,
                lambda done, count: progress(len(found.y) * done // count),
                plan.seed % 2**63,
            )
    except ValueError as error:
        if must:
            raise
        found.said.append(
            f"the rows are too few to predict some from the others: {sentence(str(error))}"
        )
        return None
    return Measured(result.quality, found.X, found.y, found.left_out), result


def rows_text(result: CrossValidated) -> str:
    """What was done, for the line about the rows."""
    if result.way == HOLD_OUT:
        return f", {result.quality.n:,} of them held out to measure the quality"
    count = len(result.per_fold)
    if result.way.startswith("leave-one-out"):
        return ", each predicted by a model without it"
    if "time" in result.way:
        return f", {result.quality.n:,} of them predicted from earlier ones"
    return f", each predicted by one of {count} models that have not seen it"


def facts_of(result: CrossValidated | None) -> dict[str, Any]:
    """For `judged`."""
    return {} if result is None else {"way": result.way, "folds": result.spread}
