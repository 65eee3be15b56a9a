"""`adaline path`: ridge over a range of penalties."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.files.column_options import Columns, doubts, facts, looked_at, tell
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import about_rows, known_column, opened, title
from adaline.cli.learning import learning
from adaline.cli.learning.learner_choice import Choice
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Data, Out, Whole, Working
from adaline.evaluation.words import file, name, number, plural

_WIDE = 8  # coefficients that the table shows beside the errors


def path(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(name=["--target", "-t"])],
    points: Whole = 21,
    jobs: Annotated[Whole, Parameter(name=["--jobs", "-j"])] = 1,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """Ridge regression over a range of penalties, and where the cross-validated error is least.

    LOO is the exact leave-one-out error, for files that fit in memory; GCV its approximation from
    sums alone.

    Parameters
    ----------
    data
        A file as for fit, or - for stdin.
    target
        The column to learn, of numbers.
    points
        Penalties in the table.
    jobs
        Processes that read and sum a large file.
    """
    out = Out(common)
    if not 2 <= points <= 1000:
        raise Usage(f"--points {points}: expected 2 to 1000.")
    said = columns or Columns()
    source = opened(data, said.ignore or (), keep=[target], reading=reading)
    known_column(source, target)
    seen = looked_at(source, target, said, jobs=jobs)
    encoding, source = seen.encoding, seen.encoding.prepare(source)
    about = about_rows(source)
    small = about is not None and about * len(encoding.names) <= learning.MEMORY and jobs == 1
    choice = Choice(adaline.Ridge, "the path is ridge's")
    plan = learning.Plan(target, choice, 0, 0.0, said.missing, jobs, in_memory=small)
    found = learning.learned(adaline.Ridge(), source, encoding, plan, out, about)
    model = found.model
    grid = _grid(model, points)
    rows = (found.X, found.y) if small else (None, None)
    table = model.path(grid, *rows)
    minima = _minima(model, found)
    n = "" if found.rows is None else f"{plural(found.rows, 'row')}, "
    out.say(f"Read {file(title(source))}: {n}{plural(len(encoding.names), 'column')} of numbers.")
    tell_notes(source, out)
    tell(seen, out)
    out.say()
    best = ", ".join(f"{rule} {number(a, 4)}" for rule, a in minima.items())
    out.verdict(f"The penalty of least error for {name(target)}: {best}.")
    out.say()
    _tell(out, table, list(encoding.names))
    for text in [*doubts(seen), *found.said]:
        out.warn(text)
    out.json(
        {
            "command": "path",
            "target": target,
            "rows": found.rows,
            "data": facts(seen),
            "minima": {rule.lower(): alpha for rule, alpha in minima.items()},
            "alphas": table.alphas,
            "dof": table.dof,
            "gcv": table.gcv,
            "loo": table.loo,
            "names": list(encoding.names),
            "coef": table.coef,
            "intercept": table.intercept,
        }
    )
    return 0


def _grid(model: Any, points: int) -> Any:
    """Penalties over the range that the rules search."""
    whole = model.path().alphas
    return np.geomspace(whole[0], whole[-1], points)


def _minima(model: Any, found: Any) -> dict[str, float]:
    """The penalty that each rule chooses, exactly and not on the grid."""
    minima = {}
    if found.X is not None:
        minima["LOO"] = float(model.alpha_)
        other = adaline.Ridge("gcv").fit(found.X, found.y)
        if (other.column_scale_ is None) == (model.column_scale_ is None):  # else in other units
            minima["GCV"] = float(other.alpha_)
    else:
        minima["GCV"] = float(model.alpha_)
    minima["evidence"] = float(model.evidence().best_alpha)
    return minima


def _tell(out: Out, table: Any, names: list[str]) -> None:
    some = names[:_WIDE]
    errors = ["GCV"] if table.loo is None else ["LOO", "GCV"]
    columns = {"GCV": table.gcv, "LOO": table.loo}
    marks = {
        e: int(np.nanargmin(np.where(np.isfinite(columns[e]), columns[e], np.inf))) for e in errors
    }
    head = ["alpha", "dof", *errors, *(name(n)[:20] for n in some), ""]
    rows = []
    for i, alpha in enumerate(table.alphas.tolist()):
        least = " ".join(f"least {e}" for e in errors if marks[e] == i)
        cells = [number(alpha, 3), number(float(table.dof[i]), 4)]
        cells += [number(float(columns[e][i]), 5) for e in errors]
        cells += [*(number(float(v), 3) for v in table.coef[i][:_WIDE]), least]
        rows.append(cells)
    out.table(head, rows)
    if len(names) > len(some):
        out.say(f"The first {len(some)} of {len(names)} coefficients; --json has them all.", "dim")
