"""`adaline audit`: whether coefficients that any program printed are what they should be."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.options import Columns, Data, require_writable, suggest
from adaline.cli.printing import Answer
from adaline.cli.tables import study_table
from adaline.data import blocks
from adaline.data.outputs import write_atomically
from adaline.data.sharing import column
from adaline.evaluation.words import file, name

INTERCEPTS = ("(intercept)", "intercept", "const", "_cons", "bias", "b")


def audit(
    coefficients: str,
    data: Data,
    /,
    *,
    criterion: Literal["least-squares", "logistic", "poisson", "separation"],
    alpha: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
    weights: str | None = None,
    report: str | None = None,
    columns: Columns = Columns(),
) -> int:
    """Whether coefficients that R, SAS, Stata or Python printed are what they should be.

    Their distance from the exact minimiser is proven, coefficient by coefficient. Where the classes
    are separable, the coefficients that should be infinite are named.

    Parameters
    ----------
    coefficients
        A table whose first column has names and whose second column numbers; (Intercept), const or
        _cons is the intercept. A level of a column of text is column=level, or as R writes it.
    criterion
        What the coefficients are said to minimise.
    alpha
        The penalty alpha/2 |w|² of the summed loss, 1/C in scikit-learn; alpha |w|² for squares.
    weights
        A column of weights of the rows.
    report
        Where to write the answer as a page, such as audit.html.
    """
    answer = Answer("audit", columns.common)
    require_writable(report, data, coefficients)
    printed = read_coefficients(coefficients)
    table = study_table(data, columns, {"--weights": weights})
    rows, names = table.all_rows, table.encoding.names
    places = {simplify(one): place for place, one in enumerate(names)}
    extra = [label for label in printed if simplify(label) not in places]
    intercept = sum(printed.pop(label) for label in extra if label.lower() in INTERCEPTS)
    if unknown := [name(label) for label in extra if label in printed]:
        advice = suggest(unknown[0], names)
        raise UsageError(f"{coefficients}: no column is {unknown[0]!r}; {advice}")
    used = [places[simplify(label)] for label in printed]
    result = adaline.audit(
        coef=list(printed.values()),
        intercept=intercept,
        criterion=criterion,
        alpha=alpha,
        X=rows.X[:, used],
        y=rows.y,
        sample_weight=None if weights is None else rows.weights(weights),
        names=[names[place] for place in used],
    )
    first, _, more = str(result).partition("\n")
    answer.verdict(first)
    answer.say(f"{more}\n")
    table.describe(answer, len(rows.y))
    if left_out := [one for place, one in enumerate(names) if place not in used]:
        answer.say(f"Not in the model: {', '.join(map(name, left_out))}.", "note")
    if report is not None:
        head = "<!doctype html><meta charset=utf-8><title>Audit</title><h1>Audit</h1>"
        write_atomically(report, f"{head}{result.to_html()}".encode())
        answer.say(f"Wrote the report: {report}")
    return answer.finish(int(result.verdict != "proven"), **json.loads(result.to_json()))


def read_coefficients(path: str) -> dict[str, float]:
    """Names and numbers of a table with two columns, further columns ignored."""
    if path.endswith((".pkl", ".pickle", ".joblib")):
        raise UsageError(f"{file(path)}: a pickle runs code, so it is not read; write a table.")
    source, printed = blocks(path), dict[str, float]()
    if len(source.names) < 2:
        raise UsageError(f"{file(path)}: expected a column of names and one of numbers.")
    for block in source:
        (labels, _), (numbers, missing) = (column(block, one) for one in source.names[:2])
        if numbers.dtype.kind == "O" or missing.any():
            raise UsageError(f"{file(path)}: the second column should hold numbers only.")
        printed |= dict(zip(map(str, labels), map(float, numbers), strict=True))
    return printed


def simplify(label: str) -> str:
    """A name as it is compared: R writes the level b of the column a as ab, we as a=b."""
    return label.replace("=", "").replace(" ", "").lower()
