"""`adaline predict`: a model's predictions for the rows of a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli.answer import Answer
from adaline.cli.errors import UsageError
from adaline.cli.models import (
    Predictions,
    Unknown,
    count_unknown,
    describe_unknown,
    load_model,
    predict_blocks,
)
from adaline.cli.options import Data, Reading, Working
from adaline.cli.progress import Progress
from adaline.cli.tables import describe_notes, require_column, require_writable
from adaline.cli.writers import open_writer
from adaline.data import Encoding
from adaline.data.sharing import column
from adaline.evaluation.words import number, plural

MOST_EXPLAINED = 1000  # columns; more would make a table that nobody reads


def predict(
    model: str,
    data: Data,
    /,
    *,
    out: Annotated[str, Parameter(name=["--out", "-o"])] = "-",
    keep: list[str] | None = None,
    format: Literal["csv", "tsv", "ndjson", "parquet"] | None = None,
    interval: bool = False,
    level: float = 0.95,
    explain: bool = False,
    disarm: bool = False,
    unknown: Unknown = "zeros",
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """Predict the rows of a file with a model that `adaline fit --out` wrote.

    One row for each row of the file, in the same order: the prediction, and for classes their
    probabilities where the model has them. Rows that the model leaves out for missing values have
    an empty prediction.

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
        The format, where it does not follow from the name of the file.
    interval
        How far each prediction may be off, as columns low and high: of a new value (ridge,
        least-squares), of each probability (logistic) or of the mean count (poisson).
    level
        Share of the cases that the interval covers.
    explain
        What every column contributes to each prediction: columns base, from SIZE, from COLOUR, ...
        that add up to the prediction, or to the score that decides.
    disarm
        For spreadsheets: put an apostrophe before text in CSV and TSV that begins with =, +, - or
        @, which they would run as a formula. Numbers stay numbers.
    unknown
        What to do with text that the model has never seen: give it no indicator and count it in a
        warning, or refuse it.
    """
    answer, keep = Answer("predict", common), keep or []
    require_writable(out, model, data)
    loaded = load_model(model)
    source = loaded.open_table(data, reading, keep)
    for wanted in keep:
        require_column(source, wanted, "--keep")
    encoding, doubts = loaded.encoding_for(source, unknown)
    source = encoding.prepare(source, as_written=True)
    if answer.common.json and out == "-":
        format = "json"  # type: ignore[assignment]
    columns: list[Any] = [Estimates(loaded.estimator)]
    columns += [Intervals(loaded.estimator, level)] if interval else []
    columns += [Contributions(loaded.estimator, encoding)] if explain else []
    names = [*keep, *(head for one in columns for head in one.heads)]
    if len(set(names)) < len(names):
        raise UsageError("--keep names a column twice, or one with the name of a column written.")
    rows = blank = 0
    strange: dict[str, int] = {}
    with (
        open_writer(out, format, names, disarm) as writer,
        Progress(answer.common, source.rows or source.about) as progress,
    ):
        for part in predict_blocks(loaded.estimator, encoding, source, loaded.metadata("exposure")):
            copied = [_copy(part, wanted, writer.is_text) for wanted in keep]
            made = [values for one in columns for values in one.columns(part)]
            writer.write([*copied, *(_spread(part.kept, values) for values in made)])
            count_unknown(strange, encoding.unknown_in(part.block))
            rows, blank = rows + part.block.rows, blank + int((~part.kept).sum())
            progress(rows)
    doubts += describe_unknown(strange)
    if out == "-":
        for text in [] if answer.common.quiet else doubts:
            print(f"Warning: {text}", file=sys.stderr)
        return 0
    answer.verdict(f"Wrote {number(rows)} predictions: {out}")
    for line in [line for one in columns for line in one.explained()]:
        answer.say(line)
    describe_notes(source, answer)
    if blank:
        doubts.append(f"{plural(blank, 'row', 'have')} missing values and no prediction.")
    if writer.formulas and not disarm:
        doubts.append(
            f"{number(writer.formulas)} cells of text begin with =, +, - or @, and a spreadsheet "
            "would run them as formulas; --disarm puts an apostrophe before them."
        )
    answer.warn(doubts)
    return answer.finish(
        rows=rows,
        without_prediction=blank,
        unknown=strange,
        notes=list(source.notes),
        out=out,
    )


@dataclass(frozen=True)
class Estimates:
    """The prediction, and the probabilities of classes."""

    model: Any

    @property
    def heads(self) -> list[str]:
        """Names of the columns."""
        has = hasattr(self.model, "classes_") and hasattr(self.model, "predict_log_proba")
        return ["prediction", *(f"p({c})" for c in (self.model.classes_.tolist() if has else []))]

    def columns(self, part: Predictions) -> list[Any]:
        """The values of the rows that were kept."""
        log_p = part.answers.log_p
        k = len(self.heads) - 1
        chances = np.empty((k, 0)) if log_p is None else np.exp(log_p.T)
        return [part.answers.predicted, *chances[:k]]

    def explained(self) -> list[str]:
        """Nothing: the names of the columns say it."""
        return []


class Intervals:
    """`predict --interval`: low and high of a new value, a mean count, or each probability."""

    def __init__(self, model: Any, level: float) -> None:
        if not 0 < level < 1:
            raise UsageError(f"--level {level}: expected a share such as 0.95, between 0 and 1.")
        self.model, self.level = model, level
        # Asked of a row of zeros, so that a model without intervals is refused before the work.
        self.example = adaline.interval(model, np.zeros((1, model.n_features_in_)), level)
        labels = model.classes_.tolist() if hasattr(model, "classes_") else []
        heads = [f"p({label}) {end}" for label in labels for end in ("low", "high")]
        self.heads = heads or ["low", "high"]

    def columns(self, part: Predictions) -> list[Any]:
        """The values of the rows that were kept."""
        if part.X is None:
            return [np.empty(0)] * len(self.heads)
        found = adaline.interval(self.model, part.X, self.level)
        ends = np.stack([found.low, found.high], axis=-1).reshape(len(found.low), -1)
        times = 1.0 if part.exposures is None else np.reshape(part.exposures, (-1, 1))
        return list((ends * times).T)

    def explained(self) -> list[str]:
        """How to read the columns."""
        share = f"{self.level:.4g} of all cases, if the model fits."
        return [f"low and high hold {self.example.of} in {share}"]


class Contributions:
    """`predict --explain`: what every column adds to the score of a row."""

    def __init__(self, model: Any, encoding: Encoding) -> None:
        self.model, self.encoding = model, encoding
        names = [name for name, _ in encoding.groups()]
        if len(names) > MOST_EXPLAINED:
            raise UsageError(
                f"--explain would write {len(names):,} columns; it explains models of at most "
                f"{MOST_EXPLAINED:,}."
            )
        zeros = np.zeros((1, model.n_features_in_))
        self.example = adaline.explain(model, zeros, encoding=encoding)
        self.is_scored = self.example.of != "the prediction"
        self.heads = ["score"] * self.is_scored + ["against"] * (self.example.against is not None)
        self.heads += ["base", *(f"from {name}" for name in names)]

    def columns(self, part: Predictions) -> list[Any]:
        """The values of the rows that were kept."""
        if part.X is None:
            return [np.empty(0)] * len(self.heads)
        found = adaline.explain(self.model, part.X, encoding=self.encoding)
        first = [found.score] * self.is_scored
        first += [] if found.against is None else [found.against]
        return [*first, found.base, *found.parts.T]

    def explained(self) -> list[str]:
        """How to read the columns."""
        row = "an average row" if self.example.is_about_the_average else "a row of zeros"
        sum_of = "score" if self.is_scored else "prediction"
        text = f"base (the {sum_of} of {row}) and the columns after it add up to {sum_of}."
        classes = getattr(self.model, "classes_", None)
        if self.example.against is not None:
            more = "score is that of the predicted class less that of the class in `against`."
        elif classes is not None:
            more = f"A positive score speaks for {classes[1]}, a negative one for {classes[0]}."
        else:
            more = "score is the logarithm of the prediction (at exposure 1)."
        return [text, more] if self.is_scored else [text]


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
