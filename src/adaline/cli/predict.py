"""`adaline predict`: a model's predictions for the rows of a file."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.models import (
    Predictions,
    Unknown,
    describe_unknown,
    load_model,
    predict_blocks,
)
from adaline.cli.options import Chance, Common, Data, ModelFile, Reading
from adaline.cli.printing import Answer, Progress
from adaline.cli.tables import describe_notes, require_column, require_writable
from adaline.cli.writers import open_writer
from adaline.data import Encoding
from adaline.data.sharing import column
from adaline.evaluation.trial import answers
from adaline.evaluation.words import number, plural

MOST_EXPLAINED = 1000  # columns; more would make a table that nobody reads


def predict(
    model: ModelFile,
    data: Data,
    /,
    *,
    out: Annotated[str, Parameter(name=["--out", "-o"])] = "-",
    keep: list[str] | None = None,
    format: Literal["csv", "tsv", "ndjson", "parquet"] | None = None,
    interval: bool = False,
    level: Chance = 0.95,
    explain: bool = False,
    disarm: bool = False,
    unknown: Unknown = "zeros",
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Predict the rows of a file with a model that `adaline fit --out` wrote.

    One row for each row of the file, in the same order: the prediction, and probabilities of
    classes. Rows that the model leaves out for missing values have an empty prediction.

    Parameters
    ----------
    out
        Where to write: .csv, .tsv, .ndjson or .parquet, or - for stdout (CSV).
    keep
        A column of the data to copy beside the predictions; may be given more than once.
    format
        The format, where it does not follow from the name of the file.
    interval
        How far each prediction may be off, as columns low and high: of a new value (ridge,
        least-squares), of each probability (logistic) or of the mean count (poisson).
    level
        Share of the cases that the interval covers.
    explain
        What every column contributes: columns base, from SIZE, ... that add up to the prediction,
        or to the score that decides.
    disarm
        Put an apostrophe before text that begins with =, +, - or @: formulas to a spreadsheet.
    unknown
        What to do with text that the model has never seen: count it in a warning, or refuse it.
    """
    answer, keep = Answer("predict", common), keep or []
    require_writable(out, model, data)
    loaded = load_model(model)
    source = loaded.open_table(data, reading, keep)
    for wanted in keep:
        require_column(source, wanted, "--keep")
    encoding, doubts = loaded.encoding_for(source, unknown)
    source = encoding.prepare(source, as_written=True)
    exposure, estimator = loaded.metadata("exposure"), loaded.estimator
    settings = (level if interval else None, explain)
    # Asked of a row of zeros, so that what a model cannot say is refused before the work.
    zeros = np.zeros((1, estimator.n_features_in_))
    example = Predictions(None, np.ones(1, bool), zeros, answers(estimator, zeros))
    heads, explained = make_columns(estimator, encoding, example, *settings)
    names = [*keep, *heads]
    if len(set(names)) < len(names):
        raise UsageError("--keep names a column twice, or one with the name of a column written.")
    blank, strange, cells = 0, Counter[str](), list[Any]()
    to_json = answer.common.json and out == "-"
    with (
        nullcontext() if to_json else open_writer(out, names, format, disarm) as writer,
        Progress(answer.common, source.rows or source.about) as progress,
    ):
        for part in predict_blocks(estimator, encoding, source, exposure):
            as_text = writer is None or writer.is_text
            made = [_copy(part, wanted, as_text) for wanted in keep]
            values = dict.fromkeys(heads, np.empty(0))
            if part.X is not None:
                values = make_columns(estimator, encoding, part, *settings)[0]
            made += [_spread(part.kept, values[head]) for head in heads]
            if writer is None:
                cells += zip(*made, strict=True)
            else:
                writer.write(made)
            strange.update(encoding.unknown_in(part.block))
            blank += int((~part.kept).sum())
            progress(progress.rows + part.block.rows)
    doubts += describe_unknown(strange)
    if out == "-":
        for text in [] if answer.common.quiet else doubts:
            print(f"Warning: {text}", file=sys.stderr)
        return answer.finish(columns=names, rows=cells, count=len(cells)) if to_json else 0
    answer.verdict(f"Wrote {number(progress.rows)} predictions: {out}")
    for line in explained:
        answer.say(line)
    describe_notes(source, answer)
    if blank:
        doubts.append(f"{plural(blank, 'row', 'have')} missing values and no prediction.")
    if writer is not None and writer.formulas and not disarm:
        doubts.append(
            f"{number(writer.formulas)} cells of text begin with =, +, - or @, and a spreadsheet "
            "would run them as formulas; --disarm puts an apostrophe before them."
        )
    answer.warn(*doubts)
    notes = list(source.notes)
    return answer.finish(
        rows=progress.rows, without_prediction=blank, unknown=strange, notes=notes, out=out
    )


def make_columns(
    model: Any, encoding: Encoding, part: Predictions, level: float | None, explain: bool
) -> tuple[dict[str, Any], list[str]]:
    """Columns by name, of the rows that were kept, and sentences on how to read them."""
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    columns, notes = {"prediction": part.answers.predicted}, []
    if part.answers.log_p is not None:
        chances = np.exp(part.answers.log_p.T)
        columns |= {f"p({label})": p for label, p in zip(classes, chances, strict=True)}
    if level is not None:
        found = adaline.interval(model, part.X, level)
        times = 1.0 if part.exposures is None else part.exposures
        ends = {"low": found.low, "high": found.high}
        for k, label in enumerate(classes):
            columns |= {f"p({label}) {end}": values[:, k] for end, values in ends.items()}
        if not classes:
            columns |= {end: values * times for end, values in ends.items()}
        share = f"{level:.4g} of all cases, if the model fits."
        notes.append(f"low and high hold {found.of} in {share}")
    if explain:
        more, text = _contributions(model, encoding, part)
        columns, notes = columns | more, notes + text
    return columns, notes


def _contributions(
    model: Any, encoding: Encoding, part: Predictions
) -> tuple[dict[str, Any], list[str]]:
    names = [name for name, _ in encoding.groups()]
    if len(names) > MOST_EXPLAINED:
        raise UsageError(
            f"--explain would write {len(names):,} columns; it explains models of at most "
            f"{MOST_EXPLAINED:,}."
        )
    found = adaline.explain(model, part.X, encoding=encoding)
    is_scored = found.of != "the prediction"
    columns = {"score": found.score} if is_scored else {}
    columns |= {} if found.against is None else {"against": found.against}
    parts = zip(names, found.parts.T, strict=True)
    columns |= {"base": found.base} | {f"from {name}": values for name, values in parts}
    row = "an average row" if found.is_about_the_average else "a row of zeros"
    sum_of = "score" if is_scored else "prediction"
    notes = [f"base (the {sum_of} of {row}) and the columns after it add up to {sum_of}."]
    if found.against is not None:
        notes.append("score is that of the predicted class less that of the class in `against`.")
    elif hasattr(model, "classes_"):
        second, first = model.classes_[1], model.classes_[0]
        notes.append(f"A positive score speaks for {second}, a negative one for {first}.")
    elif is_scored:
        notes.append("score is the logarithm of the prediction (at exposure 1).")
    return columns, notes


def _copy(part: Predictions, wanted: str, as_text: bool) -> list[Any]:
    """A column of the data, None where a value is missing; in text 3 is not written as 3.0."""
    values, gone = column(part.block, wanted)
    return [
        None if g else int(v) if as_text and isinstance(v, float) and v.is_integer() else v
        for v, g in zip(values.tolist(), gone.tolist(), strict=True)
    ]


def _spread(kept: Any, values: Any) -> list[Any]:
    """Values at the rows that were kept, None at the others."""
    if kept.all():
        return list(values.tolist())
    cells: list[Any] = [None] * len(kept)
    for place, value in zip(np.flatnonzero(kept).tolist(), values.tolist(), strict=False):
        cells[place] = value
    return cells
