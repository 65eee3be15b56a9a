"""`adaline trace`: every step of learning, as the lecture's table."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.learners import find_learner, iterate_learners, make_learner
from adaline.cli.options import (
    Columns,
    Common,
    Count,
    Data,
    OptionalFile,
    Reading,
    Settings,
    Target,
    suggest,
)
from adaline.cli.printing import Answer
from adaline.cli.tables import require_writable, study_table
from adaline.cli.writers import open_writer
from adaline.evaluation.words import name, number

SCREEN = 24  # lines of the table that a terminal shows
MOST_STEPS = 200_000  # lines of the table that are kept in memory


def trace(
    data: Data,
    /,
    *,
    target: Target,
    model: Annotated[str, Parameter(name=["--model", "-m"])] = "perceptron",
    passes: Count = 100,
    rows: Count | None = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    out: OptionalFile = None,
    set_: Settings = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Every step of learning, as the lecture's table; for small files.

    Parameters
    ----------
    model
        perceptron, widrow-hoff, adaline, sigmoid, kernel-perceptron, ho-kashyap or logistic.
    passes
        Over the rows (or iterations), at most.
    rows
        Lines of the table to print, the first and the last ones: 24 on a terminal, else all.
    all_
        Print all lines.
    out
        Where to write the table, all of it: .csv, .tsv, .ndjson or .parquet.
    set_
        A setting of the learner as name=value, such as eta=1 or mode=batch.
    """
    answer = Answer("trace", common)
    kind = find_learner(model)
    if kind._traces is None:
        others = [other._command for other in iterate_learners() if other._traces]
        similar = suggest(kind._command, others)
        raise UsageError(f"--model {model!r} does not learn in steps; {similar}")
    require_writable(out, data)
    table = study_table(data, target, columns, reading)
    by_sample = kind._traces in ("samples", "duals")
    rows_read = table.rows or 1
    if rows_read * (passes if by_sample else 1) > MOST_STEPS:
        raise UsageError(
            f"{number(rows_read)} rows and up to {passes} passes make a table of more than "
            f"{MOST_STEPS:,} lines; take fewer rows, or --passes {MOST_STEPS // rows_read}."
        )
    X, y, _ = table.gather(kind._learns == "classes")
    settings = list(set_ or ())
    if not any(setting.startswith("max_iter=") for setting in settings):
        settings.append(f"max_iter={passes}")
    with warnings.catch_warnings():  # what stopped learning is the table's last line
        warnings.simplefilter("ignore")
        found = adaline.trace(make_learner(kind, settings, answer.common.seed), X, y)
    table.describe(answer)
    steps = found.columns()
    if out is not None:
        with open_writer(out, list(steps)) as writer:
            writer.write([np.asarray(column).tolist() for column in steps.values()])
    names = ", ".join(name(n) for n in table.encoding.names[:8])
    answer.say(f"w1, w2, ... are the weights of {names}.")
    most = 0 if all_ else rows if rows is not None else SCREEN if sys.stdout.isatty() else 0
    head, *lines = str(found).splitlines()
    lines, ending = lines[: len(found)], lines[len(found) :]
    if 0 < most < len(lines):
        gap = f"... {len(lines) - most:,} rows more: --all, or --out FILE ..."
        lines[(most + 1) // 2 : len(lines) - most // 2] = [gap]
    for line in [head, *lines]:
        answer.say(line, "row")
    answer.verdict("\n".join(ending) or found.fit.stopped)
    return answer.finish(
        model=kind._command,
        names=list(table.encoding.names),
        data=table.facts(),
        steps=len(found),
        stopped=found.fit.stopped,
        columns=steps,
        coef=found.fit.W,
        intercept=found.fit.b,
    )
