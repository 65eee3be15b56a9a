"""`adaline compare`: all learners on the same rows, with intervals."""

from __future__ import annotations

from dataclasses import asdict

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.fitting import usual_folds
from adaline.cli.options import Columns, Common, Data, Evaluation, Target
from adaline.cli.printing import Answer, pick
from adaline.cli.tables import study_table
from adaline.evaluation.compare import kind_of_target
from adaline.evaluation.cross_validation import runs_in
from adaline.evaluation.words import name, plural


def compare(
    data: Data,
    /,
    *,
    target: Target = None,
    evaluation: Evaluation | None = None,
    columns: Columns | None = None,
    common: Common | None = None,
) -> int:
    """Compare all learners that suit a table, on the same folds.

    p is the p-value of the difference from the best learner: above 0.05, the difference is not
    significant. Accuracies are compared by McNemar's exact test, numbers by a corrected t test. The
    number of folds is 10 by default, 5 for large tables.
    """
    answer, by = Answer("compare", common), evaluation or Evaluation()
    table, seed = study_table(data, target, columns, by.named), answer.common.seed
    rows = table.all_rows
    X, y = rows.X, rows.y
    is_classes = kind_of_target(y) == "classes"
    if by.balanced and not is_classes:
        raise UsageError("--balanced is for classes, and the target is numeric.")
    groups, times, omega = by.columns_of(rows)
    folds = {"cv": by.cv or usual_folds(len(y), X.shape[0] * X.shape[1]), "seed": seed % 2**63}
    found = adaline.compare(X, y, groups=groups, times=times, sample_weight=omega, **folds)
    answer.verdict(found.sentence)
    if rows.left_out:
        answer.warn(f"{plural(rows.left_out, 'row')} with missing values skipped.")
    answer.say()
    answer.table(*found.cells())
    answer.say()
    table.describe(answer, len(y))
    if is_classes and runs_in(y):
        answer.say(f"Rows sorted by class: online learners took them shuffled (--seed {seed}).")
    words = f"adaline fit {name(data)} --target {name(target)} --model NAME --out model.adaline"
    answer.say(f"To save one: {words}", "note")
    facts = pick(found, "way measure test sentence") | {"rows": len(y), "left_out": rows.left_out}
    facts |= {"adaline": adaline.__version__, "target": target}
    return answer.finish(**facts, learners=[asdict(row) for row in found.rows])
