"""`adaline path`: ridge over a range of penalties."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.fit import FitOptions
from adaline.cli.fitting import MEMORY, Plan, learn
from adaline.cli.learners import Choice
from adaline.cli.options import Columns, Common, Data, Jobs, Reading, Target, Whole
from adaline.cli.printing import Answer, pick
from adaline.cli.tables import study_table
from adaline.evaluation.words import name, number

SHOWN = 8  # coefficients that the table shows beside the errors


def path(
    data: Data,
    /,
    *,
    target: Target,
    points: Annotated[Whole, Parameter(validator=Number(gte=2, lte=1000))] = 21,
    jobs: Jobs = 1,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Ridge regression over a range of penalties, and where the cross-validated error is least.

    LOO is the exact leave-one-out error, for files that fit in memory; GCV its approximation from
    sums alone.

    Parameters
    ----------
    target
        The column to learn, of numbers.
    points
        Penalties in the table.
    """
    answer = Answer("path", common)
    table = study_table(data, target, columns, reading, jobs=jobs)
    in_memory = table.numbers is not None and table.numbers <= MEMORY and jobs == 1
    choice = Choice(adaline.Ridge, "the path is ridge's")
    plan, options = Plan(choice, in_memory, jobs=jobs), FitOptions(target=target, jobs=jobs)
    learned = learn(adaline.Ridge(), table, plan, options, answer.common)
    model, names = learned.model, list(table.encoding.names)
    first, *_, last = model.path().alphas.tolist()
    rows = (learned.X, learned.y) if in_memory else (None, None)
    found = model.path(np.geomspace(first, last, points), *rows)
    minima = _find_minima(model, learned)
    table.describe(answer, learned.rows or 0)
    answer.say()
    best = ", ".join(f"{rule} {number(alpha, 4)}" for rule, alpha in minima.items())
    answer.verdict(f"The penalty of least error for {name(target)}: {best}.")
    answer.say()
    errors = {"GCV": found.gcv} if found.loo is None else {"LOO": found.loo, "GCV": found.gcv}
    least = {rule: int(np.nanargmin(np.nan_to_num(e, nan=np.inf))) for rule, e in errors.items()}
    cells = [
        [
            number(alpha, 3),
            number(float(found.dof[i]), 4),
            *(number(float(error[i]), 5) for error in errors.values()),
            *(number(float(v), 3) for v in found.coef[i][:SHOWN]),
            " ".join(f"least {rule}" for rule in errors if least[rule] == i),
        ]
        for i, alpha in enumerate(found.alphas.tolist())
    ]
    answer.table(["alpha", "dof", *errors, *(name(n)[:20] for n in names[:SHOWN]), ""], cells)
    if len(names) > SHOWN:
        text = f"The first {SHOWN} of {len(names)} coefficients; --json has them all."
        answer.say(text, "note")
    answer.warn(*table.doubts(), *learned.messages)
    return answer.finish(
        target=target,
        rows=learned.rows,
        data=table.facts(),
        minima={rule.lower(): alpha for rule, alpha in minima.items()},
        names=names,
        **pick(found, "alphas dof gcv loo coef intercept"),
    )


def _find_minima(model: Any, learned: Any) -> dict[str, float]:
    """The penalty that each rule chooses, exactly and not on the grid."""
    minima = {"GCV" if learned.X is None else "LOO": float(model.alpha_)}
    if learned.X is not None:
        other = adaline.Ridge("gcv").fit(learned.X, learned.y)
        if (other.column_scale_ is None) == (model.column_scale_ is None):  # else in other units
            minima["GCV"] = float(other.alpha_)
    return minima | {"evidence": float(model.evidence().best_alpha)}
