"""`adaline path`: ridge over a range of penalties."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.fitting import MEMORY
from adaline.cli.options import Columns, Common, Data, Jobs, Reading, Target, Whole
from adaline.cli.printing import Answer, Progress, pick
from adaline.cli.tables import study_table
from adaline.data import fit as fit_blocks
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
    X: Any = None
    y: Any = None
    model = adaline.Ridge()
    if in_memory:
        X, y, _ = table.gather(classes=False)
        model.fit(X, y)
    else:
        with Progress(answer.common, table.rows, doing="learning") as progress:
            rows = (table.source, target)
            model = fit_blocks(model, *rows, encoding=table.encoding, jobs=jobs, progress=progress)
    names, n = list(table.encoding.names), table.rows if X is None else len(y)
    first, *_, last = model.path().alphas.tolist()
    found = model.path(np.geomspace(first, last, points), X, y)
    minima = {"GCV" if X is None else "LOO": float(model.alpha_)}
    if X is not None:
        other = adaline.Ridge("gcv").fit(X, y)
        if (other.column_scale_ is None) == (model.column_scale_ is None):  # else in other units
            minima["GCV"] = float(other.alpha_)
    minima["evidence"] = float(model.evidence().best_alpha)
    table.describe(answer, n or 0)
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
    answer.warn(*table.doubts())
    return answer.finish(
        target=target,
        rows=n,
        data=table.facts(),
        minima={rule.lower(): alpha for rule, alpha in minima.items()},
        names=names,
        **pick(found, "alphas dof gcv loo coef intercept"),
    )
