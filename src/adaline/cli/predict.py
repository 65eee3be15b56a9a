"""`adaline predict`: a model's answers for the rows of a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from adaline.cli.files.column_options import count_unknown, unknown_line
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import about_rows, column, known_column, not_the_data, opened
from adaline.cli.files.table_writers import Writer, writer_for
from adaline.cli.predicting.extra_columns import Contributions, Intervals, heads_of
from adaline.cli.predicting.predictions import Answers, answers, loaded
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Data, Out, Working
from adaline.cli.printing.progress import Progress
from adaline.evaluation.words import number, plural


def predict(
    model: str,
    data: Data,
    /,
    *,
    out: Annotated[str, Parameter(name=["--out", "-o"])] = "-",
    keep: Annotated[list[str] | None, Parameter(negative="")] = None,
    format: Literal["csv", "tsv", "ndjson", "parquet"] | None = None,
    interval: Annotated[bool, Parameter(negative="")] = False,
    level: float = 0.95,
    explain: Annotated[bool, Parameter(negative="")] = False,
    disarm: Annotated[bool, Parameter(negative="")] = False,
    unknown: Literal["zeros", "refuse"] = "zeros",
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """Predict the rows of a file with a model that `adaline fit --out` wrote.

    A row for each row that came, in the same order: the prediction, and for classes their
    probabilities where the model tells them. Rows that the model leaves out for missing values
    have an empty prediction.

    Parameters
    ----------
    model
        A model file.
    data
        A file as for fit, or - for stdin.
    out
        Where to write: .csv, .tsv, .ndjson or .parquet, or - for stdout (CSV).
    keep
        A column of the data to copy beside the predictions; may be given more than once.
    format
        How to write, where the name of the file does not tell.
    interval
        How far each prediction may be off, as columns low and high: of a new value (ridge,
        least-squares), of each probability (logistic) or of the mean count (poisson).
    level
        Share of the cases that the interval holds.
    explain
        What every column contributes to each prediction: columns base, from SIZE, from COLOUR, ...
        that add up to the prediction, or to the score that decides.
    disarm
        For spreadsheets: put an apostrophe before text in CSV and TSV that begins with =, +, - or
        @, which they would run as a formula. Numbers stay numbers.
    unknown
        What to do with text that the model has never seen: give it no indicator, counted and said,
        or refuse it.
    """
    printer = Out(common)
    not_the_data(out, model, data)
    found = loaded(model)
    source = opened(data, reading=reading, only=found.columns(*(keep or ())))
    for wanted in keep or ():
        known_column(source, wanted, "--keep")
    encoding, told = found.prepared_for(source, unknown)
    source = encoding.prepare(source, as_written=True)
    if printer.common.json and out == "-":
        format = "json"  # type: ignore[assignment]
    more = _more(found.model, encoding, interval, level, explain)
    names = [*(keep or ()), *_heads(found.model), *heads_of(more)]
    if len(set(names)) < len(names):
        raise Usage("--keep names a column twice, or one called like a column of answers.")
    rows = blank = 0
    strange: dict[str, int] = {}
    with (
        writer_for(out, format, names, disarm) as writer,
        Progress(printer, about_rows(source)) as progress,
    ):
        for part in answers(found.model, encoding, source, found.exposure):
            _write(writer, part, keep or [], len(_heads(found.model)) - 1, more)
            count_unknown(strange, encoding.unknown_in(part.block))
            rows, blank = rows + part.block.rows, blank + int((~part.kept).sum())
            progress(rows)
    doubts = [*told, unknown_line(strange)] if strange else told
    if out == "-" and not printer.common.quiet:
        for text in doubts:
            print(f"Warning: {text}", file=sys.stderr)
    if out != "-":
        printer.verdict(f"Wrote {number(rows)} predictions: {out}")
        for line in [line for one in more for line in one.words()]:
            printer.say(line)
        tell_notes(source, printer)
        printer.json(
            {
                "command": "predict",
                "rows": rows,
                "without_prediction": blank,
                "unknown": strange,
                "notes": list(source.notes),
                "out": out,
            }
        )
        for text in doubts:
            printer.warn(text)
        if blank:
            printer.warn(f"{plural(blank, 'row', 'have')} missing values and no prediction.")
        if writer.formulas and not disarm:
            printer.warn(
                f"{number(writer.formulas)} cells of text begin with =, +, - or @, and a "
                "spreadsheet would run them as formulas; --disarm puts an apostrophe before them."
            )
    return 0


def _more(model: Any, encoding: Any, interval: bool, level: float, explain: bool) -> list[Any]:
    """What is asked for beside the predictions; refused before anything is written."""
    more: list[Any] = [Intervals(model, level)] if interval else []
    return [*more, Contributions(model, encoding)] if explain else more


def _heads(model: Any) -> list[str]:
    heads = ["prediction"]
    if hasattr(model, "classes_") and hasattr(model, "predict_log_proba"):
        heads += [f"p({label})" for label in model.classes_.tolist()]
    return heads


def _write(
    writer: Writer, part: Answers, keep: list[str], chances: int, more: Sequence[Any]
) -> None:
    """A block of columns; None where there is no prediction."""
    columns: list[list[Any]] = []
    for wanted in keep:
        values, gone = column(part.block, wanted)
        told = _whole(values.tolist()) if writer.is_text else values.tolist()
        columns.append([None if g else v for v, g in zip(told, gone.tolist(), strict=True)])
    columns.append(_spread(part.kept, part.predicted.tolist()))
    for k in range(chances):
        p = [] if part.log_p is None else np.exp(part.log_p[:, k]).tolist()
        columns.append(_spread(part.kept, p))
    for one in more:
        found = one.columns(part) if part.X is not None else [np.empty(0)] * len(one.heads)
        columns += [_spread(part.kept, values.tolist()) for values in found]
    writer.write(columns)


def _whole(values: list[Any]) -> list[Any]:
    """Whole numbers without ".0": a CSV file does not tell 3 from 3.0, and people write 3."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]


def _spread(kept: Any, values: list[Any]) -> list[Any]:
    """Values at the rows that were kept, None at the others."""
    if len(values) == len(kept):
        return values
    out: list[Any] = [None] * len(kept)
    for place, value in zip(np.flatnonzero(kept).tolist(), values, strict=True):
        out[place] = value
    return out
