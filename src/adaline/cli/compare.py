"""`adaline compare`: all learners on the same rows, with intervals."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.files.column_options import Columns, looked_at, tell
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import known_column, opened, title
from adaline.cli.learning import learner_choice, learning
from adaline.cli.learning.folds import default_folds
from adaline.cli.learning.learning import Plan
from adaline.cli.learning.weights_and_costs import beside, row_weights, without
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Data, Drawing, Out, Whole
from adaline.evaluation.cross_validation import runs_of
from adaline.evaluation.words import file, name, plural


def compare(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(name=["--target", "-t"])],
    cv: Whole | None = None,
    group: str | None = None,
    by_time: str | None = None,
    weights: str | None = None,
    balanced: Annotated[bool, Parameter(negative="")] = False,
    time_limit: float = 60.0,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Drawing | None = None,
) -> int:
    """Which learner is best for a table, and whether the rows can tell.

    All learners that suit the target predict the same rows, each row by a fit without it. p is how
    likely chance alone would put a learner so far behind the best: above 0.05, these rows do not
    tell the two apart. Accuracies: exact McNemar test. Numbers: corrected t test of folds.

    Parameters
    ----------
    data
        A file as for fit, or - for stdin.
    target
        The column to learn.
    cv
        How many folds; 10 by default, 5 for large tables.
    group
        A column whose equal values stay together in a fold; not learned from.
    by_time
        A column of times: each span is predicted from what came before it.
    weights
        A column of weights of the rows; not learned from.
    balanced
        Let every class count the same in learning.
    time_limit
        Seconds for each learner; one that is seen to need more is left out, with a word.
    """
    out = Out(common)
    _check(cv, group, by_time, time_limit)
    wanted = {"--group": group, "--by-time": by_time, "--weights": weights}
    named = {option: column for option, column in wanted.items() if column is not None}
    said = columns or Columns()
    ignore, unused = without(said.ignore or (), by_time)
    source = opened(data, ignore, [target, *named.values()], reading)
    known_column(source, target)
    for option, column in named.items():
        known_column(source, column, option)
    left = {c for c in (group, weights, by_time if unused else None) if c is not None}
    seen = looked_at(source, target, said, beside=sorted(left))
    encoding, source = seen.encoding, seen.encoding.prepare(source)
    choice = learner_choice.chosen(None, source, target)
    plan = Plan(target, choice, out.common.seed, 0.0, said.missing)
    learning.fits_in_memory(source, encoding)
    X, y, gone = learning.gathered(source, encoding, target, choice.classes)
    if balanced and not choice.classes:
        raise Usage("--balanced is for classes, and the target holds numbers.")
    values = beside(source, encoding, target, named) if named else {}
    found = adaline.compare(
        X,
        y,
        _learners(y, plan, X.size if hasattr(X, "size") else 0),
        cv=cv or max(2, default_folds(len(y), X.shape[0] * X.shape[1])),
        groups=values.get("--group"),
        times=values.get("--by-time"),
        sample_weight=row_weights(y, values.get("--weights"), weights, balanced),
        seed=out.common.seed % 2**63,
        time_limit=time_limit,
    )
    out.say(
        f"Read {file(title(source))}: {plural(len(y), 'row')}, "
        f"{plural(X.shape[1], 'column')} of numbers."
    )
    tell_notes(source, out)
    tell(seen, out)
    if choice.classes and runs_of(y) is not None:
        out.say(
            "The rows are sorted by class: learners that go row by row took them in a random order "
            f"(--seed {out.common.seed})."
        )
    _tell(out, found, gone, data, target, len(y))
    return 0


def _check(cv: int | None, group: str | None, by_time: str | None, time_limit: float) -> None:
    """Refuse options that mean nothing, before the file is opened."""
    if cv is not None and cv < 2:
        raise Usage(f"--cv {cv}: expected how many folds, 2 or more.")
    if group is not None and by_time is not None:
        raise Usage("--group and --by-time: folds follow one of them; choose one.")
    if not time_limit > 0:
        raise Usage(f"--time-limit {time_limit}: expected seconds, more than 0.")


def _tell(out: Out, found: Any, gone: int, data: str, target: str, rows: int) -> None:
    """The learners side by side, for people or machines."""
    out.say()
    out.verdict(found.sentence)
    out.say()
    out.table(*found.cells())
    if gone:
        out.warn(f"{plural(gone, 'row')} without all that is needed: left out.")
    out.say()
    words = f"adaline fit {name(data)} --target {name(target)} --model NAME --out model.adaline"
    out.say(f"To keep one: {words}", "dim")
    out.json(
        {
            "command": "compare",
            "adaline": adaline.__version__,
            "target": target,
            "rows": rows,
            "way": found.way,
            "measure": found.measure,
            "test": found.test,
            "sentence": found.sentence,
            "learners": [asdict(row) for row in found.rows],
            "left_out": gone,
        }
    )


def _learners(y: Any, plan: Plan, numbers: int) -> dict[str, Any]:
    """All that suit the target, as `adaline fit` would make them."""
    wanted = {"classes"} if plan.choice.classes else {"numbers"}
    if not plan.choice.classes and np.all(y >= 0) and np.all(y == np.floor(y)):
        wanted.add("counts")
    found = {}
    for kind in sorted(learner_choice.learners(), key=lambda kind: str(kind._command)):
        if kind._learns in wanted:
            model = learner_choice.made(kind, (), plan.seed)
            found[kind._command] = learning.penalised(model, plan, (), numbers)
    return found
