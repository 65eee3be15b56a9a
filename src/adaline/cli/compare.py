"""`adaline compare`: all learners on the same rows, with intervals."""

from __future__ import annotations

from dataclasses import asdict

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.fitting import usual_folds
from adaline.cli.options import Columns, Data, Evaluation
from adaline.cli.printing import Answer, pick
from adaline.cli.tables import study_table
from adaline.evaluation.compare import kind_of_target
from adaline.evaluation.cross_validation import runs_in
from adaline.evaluation.words import name, plural


def compare(
    data: Data, /, *, columns: Columns = Columns(), evaluation: Evaluation = Evaluation()
) -> int:
    """Compare all learners that suit a table, on the same folds.

    p is the p-value of the difference from the best learner: above 0.05, the difference is not
    significant. Accuracies are compared by McNemar's exact test, numbers by a corrected t test. The
    number of folds is 10 by default, 5 for large tables.
    """
    answer, seed = Answer("compare", columns.common), columns.common.seed
    table = study_table(data, columns, evaluation.named)
    rows, target = table.all_rows, table.target
    X, y = rows.X, rows.y
    is_classes = kind_of_target(y) == "classes"
    if evaluation.balanced and not is_classes:
        raise UsageError("--balanced is for classes, and the target is numeric.")
    groups, times, omega = evaluation.columns_of(rows)
    folds = {"cv": evaluation.cv or usual_folds(len(y), X.shape[0] * X.shape[1]), "seed": seed}
    result = adaline.compare(X, y, groups=groups, times=times, sample_weight=omega, **folds)
    answer.verdict(result.sentence)
    if rows.left_out:
        answer.warn(f"{plural(rows.left_out, 'row')} with missing values skipped.")
    answer.say()
    answer.table(*result.cells())
    answer.say()
    table.describe(answer, len(y))
    if is_classes and runs_in(y):
        answer.say(f"Rows sorted by class: online learners took them shuffled (--seed {seed}).")
    words = f"adaline fit {name(data)} --target {name(target)} --model NAME --out model.adaline"
    answer.say(f"To save one: {words}", "note")
    facts = pick(result, "way measure test sentence") | {"rows": len(y), "left_out": rows.left_out}
    facts |= {"adaline": adaline.__version__, "target": target}
    return answer.finish(**facts, learners=[asdict(row) for row in result.rows])
