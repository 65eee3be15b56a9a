"""`adaline compare`: all learners on the same rows, with intervals."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.fitting import usual_folds
from adaline.cli.learners import choose_learner, iterate_learners, make_learner
from adaline.cli.options import Columns, Common, Data, Folds, Reading, Seconds, Target
from adaline.cli.printing import Answer, pick
from adaline.cli.tables import study_table
from adaline.data.tables import row_weights
from adaline.evaluation.cross_validation import runs_of
from adaline.evaluation.words import name, plural


def compare(
    data: Data,
    /,
    *,
    target: Target,
    cv: Folds | None = None,
    group: str | None = None,
    by_time: str | None = None,
    weights: str | None = None,
    balanced: bool = False,
    time_limit: Seconds = 60.0,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Which learner is best for a table, and whether the rows can tell.

    All learners that suit the target predict the same rows, each row by a fit without it. p is how
    likely chance alone would put a learner so far behind the best: above 0.05, these rows do not
    tell the two apart. Accuracies: exact McNemar test. Numbers: corrected t test of folds.

    Parameters
    ----------
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
    answer, seed = Answer("compare", common), (common or Common()).seed
    if group is not None and by_time is not None:
        raise UsageError("--group and --by-time: folds follow one of them; choose one.")
    named = {"--group": group, "--by-time": by_time, "--weights": weights}
    table = study_table(data, target, columns, reading, named=named)
    choice = choose_learner(None, table.source, target)
    X, y, left_out = table.gather(choice.classes)
    if balanced and not choice.classes:
        raise UsageError("--balanced is for classes, and the target holds numbers.")
    beside = table.named_columns()
    suitable = {"classes"} if choice.classes else {"numbers"}
    if not choice.classes and np.all(y >= 0) and np.all(y == np.floor(y)):
        suitable.add("counts")
    kinds = sorted(iterate_learners(), key=lambda kind: str(kind._command))
    found = adaline.compare(
        X,
        y,
        {k._command: make_learner(k, (), seed, X.size) for k in kinds if k._learns in suitable},
        cv=cv or usual_folds(len(y), X.shape[0] * X.shape[1]),
        groups=beside.get("--group"),
        times=beside.get("--by-time"),
        sample_weight=row_weights(y, beside.get("--weights"), weights, balanced),
        seed=seed % 2**63,
        time_limit=time_limit,
    )
    table.describe(answer, len(y))
    if choice.classes and runs_of(y) is not None:
        answer.say(
            "The rows are sorted by class: learners that go row by row took them in a random order "
            f"(--seed {seed})."
        )
    answer.say()
    answer.verdict(found.sentence)
    answer.say()
    answer.table(*found.cells())
    if left_out:
        answer.warn(f"{plural(left_out, 'row')} without all that is needed: left out.")
    answer.say()
    words = f"adaline fit {name(data)} --target {name(target)} --model NAME --out model.adaline"
    answer.say(f"To keep one: {words}", "note")
    return answer.finish(
        adaline=adaline.__version__,
        target=target,
        rows=len(y),
        **pick(found, "way measure test sentence"),
        learners=[asdict(row) for row in found.rows],
        left_out=left_out,
    )
