"""`adaline path`: ridge over a range of penalties."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.fitting import MEMORY
from adaline.cli.options import Columns, Data, Jobs, Whole
from adaline.cli.printing import Answer, Progress, pick
from adaline.cli.tables import study_table
from adaline.data import fit as fit_blocks
from adaline.evaluation.words import name, number

SHOWN = 8  # coefficients that the table shows beside the errors


def path(
    data: Data,
    /,
    *,
    points: Annotated[Whole, Parameter(validator=Number(gte=2, lte=1000))] = 21,
    jobs: Jobs = 1,
    columns: Columns = Columns(),
) -> int:
    """Ridge regression over a range of penalties, and which has the least cross-validated error.

    LOO is the exact leave-one-out mean squared error, for files that fit into memory; GCV its
    approximation from sums alone.

    Parameters
    ----------
    points
        Penalties in the table.
    """
    answer, model = Answer("path", columns.common), adaline.Ridge()
    table = study_table(data, columns, jobs=jobs)
    X: Any = None
    y: Any = None
    if table.numbers is not None and table.numbers <= MEMORY and jobs == 1:
        X, y = table.all_rows.X, table.all_rows.y
        model.fit(X, y)
    else:
        with Progress(answer.common, table.rows, "learning") as progress:
            given: dict[str, Any] = {"encoding": table.encoding, "jobs": jobs, "progress": progress}
            model = fit_blocks(model, table.source, table.target, **given)
    names, n = list(table.encoding.names), table.rows if X is None else len(y)
    first, *_, last = model.path().alphas.tolist()
    result = model.path(np.geomspace(first, last, points), X, y)
    minima = {"GCV" if X is None else "LOO": float(model.alpha_)}
    minima["evidence"] = float(model.evidence().best_alpha)
    best = ", ".join(f"{number(alpha, 4)} by {rule}" for rule, alpha in minima.items())
    answer.verdict(f"The best penalty for {name(table.target)}: {best}.")
    answer.warn(*table.doubts())
    table.describe(answer, n or 0)
    answer.say()
    errors = {"GCV": result.gcv} if result.loo is None else {"LOO": result.loo, "GCV": result.gcv}
    values = zip(result.alphas, result.dof, *errors.values(), *result.coef.T[:SHOWN], strict=True)
    cells = [[number(float(value), 4) for value in row] for row in values]
    answer.table(["alpha", "dof", *errors, *(name(n)[:20] for n in names[:SHOWN])], cells)
    if len(names) > SHOWN:
        text = f"The first {SHOWN} of {len(names)} coefficients; --json has them all."
        answer.say(text, "note")
    facts = {"target": table.target, "rows": n, "data": table.facts(), "names": names}
    facts["minima"] = {rule.lower(): alpha for rule, alpha in minima.items()}
    return answer.finish(**facts, **pick(result, "alphas dof gcv loo coef intercept"))
