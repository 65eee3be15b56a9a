"""`adaline trace`: every step of learning, as the lecture's table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.files.column_options import Columns, facts, looked_at, tell
from adaline.cli.files.file_options import Reading
from adaline.cli.files.sources import about_rows, known_column, not_the_data, opened
from adaline.cli.files.table_writers import writer_for
from adaline.cli.learning import learner_choice
from adaline.cli.learning.learning import gathered
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Data, Drawing, Out, Whole
from adaline.cli.printing.words import did_you_mean
from adaline.evaluation.words import name, number

_SCREEN = 24  # rows of the table that a terminal shows
_STEPS = 200_000  # rows of the table that are kept at most


def trace(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(name=["--target", "-t"])],
    model: Annotated[str, Parameter(name=["--model", "-m"])] = "perceptron",
    passes: Whole = 100,
    rows: Whole | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    out: Annotated[str | None, Parameter(name=["--out", "-o"])] = None,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Drawing | None = None,
) -> int:
    """Every step of learning, as the lecture's table; for small files.

    Parameters
    ----------
    data
        A file as for fit, or - for stdin.
    target
        The column to learn.
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
    printer = Out(common)
    kind = learner_choice.spelled(model)
    if kind._traces is None:
        others = [other._command for other in learner_choice.learners() if other._traces]
        words = did_you_mean(kind._command, others)
        raise Usage(f"--model {model!r} does not learn in steps; {words}")
    not_the_data(out, data)
    if passes < 1 or (rows is not None and rows < 0):
        raise Usage("--passes is 1 or more, and --rows 0 or more.")
    said = columns or Columns()
    source = opened(data, said.ignore or (), keep=[target], reading=reading)
    known_column(source, target)
    seen = looked_at(source, target, said)
    encoding, source = seen.encoding, seen.encoding.prepare(source)
    _check_size(about_rows(source) or 0, passes, kind._traces in ("samples", "duals"))
    X, y, _ = gathered(source, encoding, target, kind._learns == "classes")
    given = [*(set_ or ())]
    if not any(s.startswith("max_iter=") for s in given):
        given.append(f"max_iter={passes}")
    found = _traced(learner_choice.made(kind, given, printer.common.seed), X, y)
    tell(seen, printer)
    columns = found.columns()
    if out is not None:
        _write(out, columns)
    printer.say(f"w1, w2, ... are the weights of {', '.join(name(n) for n in encoding.names[:8])}.")
    _tell(printer, found, _lines(rows, all_))
    printer.json(
        {
            "command": "trace",
            "model": kind._command,
            "names": list(encoding.names),
            "data": facts(seen),
            "steps": len(found),
            "stopped": found.fit.stopped,
            "columns": columns,
            "coef": found.fit.W,
            "intercept": found.fit.b,
        }
    )
    return 0


def _check_size(rows: int, passes: int, by_sample: bool) -> None:
    lines = rows * passes if by_sample else rows
    if lines > _STEPS:
        most = _STEPS // max(rows, 1)
        advice = f"take fewer rows, or --passes {most}" if most else "take fewer rows"
        raise Usage(
            f"about {number(rows)} rows and up to {passes} passes make a table of more than "
            f"{_STEPS:,} lines; {advice}."
        )


def _traced(estimator: Any, X: Any, y: Any) -> Any:
    import warnings

    with warnings.catch_warnings():  # what stopped learning is the table's last line
        warnings.simplefilter("ignore")
        return adaline.trace(estimator, X, y)


def _lines(rows: int | None, everything: bool) -> int:
    """Lines to print at most; 0 is all."""
    if everything:
        return 0
    return rows if rows is not None else _SCREEN if sys.stdout.isatty() else 0


def _write(path: str, columns: Any) -> None:
    """The whole table into a file."""
    values = [np.asarray(column).tolist() for column in columns.values()]
    with writer_for(path, None, list(columns)) as writer:
        writer.write(values)


def _tell(out: Out, found: Any, most: int) -> None:
    """The table, its middle left out where it is long; then why learning ended."""
    lines = str(found).splitlines()
    head, body, end = lines[0], lines[1 : 1 + len(found)], lines[1 + len(found) :]
    if out.at_length:
        for line in [head, *_few(body, most)]:
            out.say(line)
    out.verdict("\n".join(end) if end else found.fit.stopped)


def _few(lines: Sequence[str], most: int) -> list[str]:
    if not most or len(lines) <= most:
        return list(lines)
    first, last = (most + 1) // 2, most // 2
    gap = f"... {len(lines) - most:,} rows more: --all, or --out FILE ..."
    return [*lines[:first], gap, *(lines[-last:] if last else [])]
