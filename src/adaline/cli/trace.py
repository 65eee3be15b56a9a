"""`adaline trace`: every step of learning, as the lecture's table."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.learners import find_learner, list_learners, make_learner
from adaline.cli.options import Columns, Count, Data, OptionalFile, Settings, require_writable
from adaline.cli.predict import open_writer
from adaline.cli.printing import Answer
from adaline.cli.tables import study_table
from adaline.evaluation.words import listed

SCREEN = 24  # lines of the table that a terminal shows


def trace(
    data: Data,
    /,
    *,
    model: Annotated[str, Parameter(name=["--model", "-m"])] = "perceptron",
    passes: Count = 100,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    out: OptionalFile = None,
    set_: Settings = None,
    columns: Columns = Columns(),
) -> int:
    """Print every step of learning as a table, for small files.

    Parameters
    ----------
    model
        perceptron, widrow-hoff, adaline, sigmoid, kernel-perceptron, ho-kashyap or logistic.
    passes
        Over the rows (or iterations), at most.
    all_
        Print all lines on a terminal, which shows the first and last ones otherwise.
    out
        Write the table to this file: .csv, .tsv, .ndjson or .parquet.
    set_
        A parameter of the learner as name=value, such as eta=1 or mode=batch.
    """
    answer, kind = Answer("trace", columns.common), find_learner(model)
    if kind._traces is None:
        others = [other._command for other in list_learners() if other._traces]
        raise UsageError(f"--model {model!r} does not learn in steps; {', '.join(others)} do.")
    require_writable(out, data)
    table = study_table(data, columns)
    rows, settings = table.all_rows, [f"max_iter={passes}", *(set_ or ())]
    with warnings.catch_warnings():  # what stopped learning is the table's last line
        warnings.simplefilter("ignore")
        steps = adaline.trace(make_learner(kind, settings, answer.common.seed), rows.X, rows.y)
    cells = steps.columns()
    if out is not None:
        with open_writer(out, list(cells)) as writer:
            writer.write([np.asarray(column).tolist() for column in cells.values()])
    table.describe(answer)
    answer.say(f"w1, w2, ... are the weights of {listed(table.encoding.names, 8)}.")
    lines = str(steps).splitlines()
    head, lines, ending = lines[:1], lines[1 : len(steps) + 1], lines[len(steps) + 1 :]
    if not all_ and sys.stdout.isatty() and len(lines) > SCREEN:
        gap = f"... {len(lines) - SCREEN:,} rows more: --all, or --out FILE ..."
        lines[SCREEN // 2 : len(lines) - SCREEN // 2] = [gap]
    for line in [*head, *lines]:
        answer.say(line, "row")
    answer.verdict("\n".join(ending) or steps.fit.stopped)
    facts = {"model": kind._command, "names": list(table.encoding.names), "data": table.facts()}
    facts |= {"steps": len(steps), "stopped": steps.fit.stopped, "columns": cells}
    return answer.finish(**facts, coef=steps.fit.W, intercept=steps.fit.b)
