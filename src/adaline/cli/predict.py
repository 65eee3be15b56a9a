"""`adaline predict`: a model's predictions for the rows of a file.

`open_writer` writes tables as CSV, TSV, NDJSON or Parquet; a file appears complete or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

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
from adaline.cli.options import Chance, Data, ModelFile, Reading, require_writable, suggest
from adaline.cli.printing import Answer, Progress, strict
from adaline.cli.tables import describe_notes
from adaline.data import Encoding
from adaline.data.outputs import open_output
from adaline.data.sharing import column
from adaline.evaluation.trial import answers
from adaline.evaluation.words import number, plain, plural

if TYPE_CHECKING:
    from adaline.evaluation.trial import BaseEstimator

_FORMATS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson"}
_FORMATS |= {"parquet": "parquet", "pq": "parquet"}
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how formulas of spreadsheets begin


def predict(
    model: ModelFile,
    data: Data,
    /,
    *,
    out: Annotated[str, Parameter(name=["--out", "-o"])] = "-",
    keep: tuple[str, ...] = (),
    interval: bool = False,
    level: Chance = 0.95,
    explain: bool = False,
    disarm: bool = False,
    unknown: Unknown = "zeros",
    reading: Reading = Reading(),
) -> int:
    """Predict the rows of a file with a model that `adaline fit --out` wrote.

    Writes one row for each row of the file, in the same order: the prediction, and probabilities of
    classes. Rows that the model skips for missing values have an empty prediction.

    Parameters
    ----------
    out
        The file to write: .csv, .tsv, .ndjson or .parquet, or - for stdout (CSV).
    keep
        A column of the data to copy beside the predictions; may be given more than once.
    interval
        Add intervals, as columns low and high: of a new value (ridge, least-squares), of each
        probability (logistic) or of the mean count (poisson).
    level
        The probability that an interval covers the value.
    explain
        Add the contribution of every column: base, from SIZE, ... add up to the prediction, or to
        the score that decides.
    disarm
        Put an apostrophe before text that begins with =, +, - or @: formulas to a spreadsheet.
    unknown
        What to do with unknown categories: count them in a warning, or refuse them.
    """
    answer = Answer("predict", reading.common)
    require_writable(out, model, data)
    loaded = load_model(model)
    source = loaded.open_table(data, reading, keep, "--keep")
    encoding, doubts = loaded.encoding_for(source, unknown)
    source, estimator = encoding.prepare(source, as_written=True), loaded.estimator
    # Asked of a row of zeros, so that what a model cannot say is refused before the work.
    zeros = np.zeros((1, estimator.n_features_in_))
    example = Predictions(None, np.ones(1, bool), zeros, answers(estimator, zeros))
    columns_of = partial(make_columns, estimator, encoding, level if interval else None, explain)
    heads = list(columns_of(example))
    names = [*keep, *heads]
    if len(set(names)) < len(names):
        raise UsageError("--keep names a column twice, or one with the name of a column written.")
    blank, strange, cells = 0, Counter[str](), list[Any]()
    to_json = answer.common.json and out == "-"
    with (
        nullcontext() if to_json else open_writer(out, names, disarm) as writer,
        Progress(answer.common, source.rows) as progress,
    ):
        for part in predict_blocks(estimator, encoding, source, loaded.metadata("exposure")):
            as_text = writer is None or writer.format != "parquet"
            values = columns_of(part)
            columns = [_copy(part, wanted, as_text) for wanted in keep]
            columns += [_spread(part.used, values.get(head)) for head in heads]
            if writer is None:
                cells += zip(*columns, strict=True)
            else:
                writer.write(columns)
            strange.update(encoding.unknown_in(part.block))
            blank += int((~part.used).sum())
            progress(progress.rows + part.block.rows)
    doubts += describe_unknown(strange)
    if out == "-":
        for text in [] if answer.common.quiet else doubts:
            print(f"Warning: {text}", file=sys.stderr)
        return answer.finish(columns=names, rows=cells, count=len(cells)) if to_json else 0
    answer.verdict(f"Wrote {number(progress.rows)} predictions: {out}")
    if blank:
        doubts.append(f"{plural(blank, 'row', 'have')} missing values and no prediction.")
    if writer is not None and writer.formulas and not disarm:
        doubts.append(
            f"{number(writer.formulas)} cells of text begin with =, +, - or @, and a spreadsheet "
            "would run them as formulas; --disarm puts an apostrophe before them."
        )
    answer.warn(*doubts)
    describe_notes(source, answer)
    facts: dict[str, Any] = {"unknown": strange, "notes": list(source.notes), "out": out}
    return answer.finish(rows=progress.rows, without_prediction=blank, **facts)


def make_columns(
    model: BaseEstimator, encoding: Encoding, level: float | None, explain: bool, part: Predictions
) -> dict[str, Any]:
    """Columns by name, of the rows with a prediction; with intervals if there is a level."""
    if part.answers is None:
        return {}
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    columns = {"prediction": part.answers.predicted}
    if part.answers.log_p is not None:
        chances = np.exp(part.answers.log_p.T)
        columns |= {f"p({label})": p for label, p in zip(classes, chances, strict=True)}
    if level is not None:
        interval = adaline.interval(model, part.X, level)
        ends = {"low": interval.low, "high": interval.high}
        for k, label in enumerate(classes):
            columns |= {f"p({label}) {end}": values[:, k] for end, values in ends.items()}
        if not classes:
            columns |= {end: values * part.exposures for end, values in ends.items()}
    if explain:
        why = adaline.explain(model, part.X, encoding=encoding)
        columns |= {"score": why.score} if why.of != "the prediction" else {}
        columns |= {"against": why.against} if why.against is not None else {}
        parts = zip(why.names, why.parts.T, strict=True)
        columns |= {"base": why.base} | {f"from {name}": values for name, values in parts}
    return columns


def _copy(part: Predictions, wanted: str, as_text: bool) -> list[Any]:
    """A column of the data, None if a value is missing; in text 3 is not written as 3.0."""
    values, gone = column(part.block, wanted)
    return [
        None if g else int(v) if as_text and isinstance(v, float) and v.is_integer() else v
        for v, g in zip(values.tolist(), gone.tolist(), strict=True)
    ]


def _spread(used: Any, values: Any) -> list[Any]:
    """Values at the rows that are used, None at the others."""
    every = np.full(len(used), None, dtype=object)
    every[used] = [] if values is None else values.tolist()
    return every.tolist()


@contextmanager
def open_writer(path: str, names: Sequence[str], disarm: bool = False) -> Iterator[TableWriter]:
    """Write a table to a file of this name, or to stdout for "-"; nothing on an error."""
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    format = "csv" if path == "-" else _FORMATS.get(ending)
    if format is None:
        raise UsageError(f"--out {path!r}: unknown ending; {suggest(ending, _FORMATS)}")
    with nullcontext(open_stdout()) if path == "-" else open_output(path) as output:
        text: Any = output
        if path != "-" and format != "parquet":
            text = io.TextIOWrapper(output, encoding="utf-8", newline="")
        writer = TableWriter(text, names, format, disarm)
        yield writer
        writer.close()
        if text is not output:
            text.detach()


class TableWriter:
    """Blocks of columns into an open file; None is a missing value.

    Text in CSV and TSV that a spreadsheet would run as a formula is counted in `formulas`, and gets
    an apostrophe before it with `disarm`. A terminal is shown control characters, not sent them.
    """

    def __init__(self, file: Any, names: Sequence[str], format: str, disarm: bool) -> None:
        self.names, self.format, self.disarm, self.formulas = list(names), format, disarm, 0
        self._file, self._parquet = file, cast(Any, None)
        self._on_terminal = format != "parquet" and file.isatty()
        separator = "\t" if format == "tsv" else ","
        self._csv: Any = csv.writer(file, delimiter=separator, lineterminator="\n")
        if format in ("csv", "tsv"):
            self._csv.writerow(map(self._make_harmless, self.names))

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write the next rows, given as a list for each column."""
        if self.format == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.table(dict(zip(self.names, map(pa.array, columns), strict=True)))
            if self._parquet is None:  # the first rows decide the types
                self._parquet = pq.ParquetWriter(self._file, table.schema)
            self._parquet.write_table(table.cast(self._parquet.schema))
        elif self.format == "ndjson":
            for row in zip(*columns, strict=True):
                cells = strict(dict(zip(self.names, row, strict=True)))
                self._file.write(f"{json.dumps(cells, allow_nan=False)}\n")
        else:
            rows = zip(*columns, strict=True)
            self._csv.writerows(map(self._make_harmless, row) for row in rows)

    def close(self) -> None:
        """Write what comes after the last rows."""
        if self._parquet is not None:
            self._parquet.close()
        self._file.flush()

    def _make_harmless(self, value: Any) -> Any:
        """A cell whose text is no formula and no control sequence; numbers stay as they are."""
        if not isinstance(value, str):
            return value
        if value.startswith(_FORMULAS) and not _is_number(value):
            self.formulas += 1
            value = f"'{value}" if self.disarm else value
        return plain(value, most=len(value) * 10) if self._on_terminal else value


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False


def open_stdout() -> Any:
    """stdout, in UTF-8 unless it is a terminal: a pipe gets the bytes that --out writes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
    return sys.stdout
