"""Model files for commands, and what a model predicts for the rows of a file, block by block.

`predict` and `evaluate` read a model by `load_model`; `fit` measures held-out rows by `measure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.options import Reading, suggest
from adaline.cli.printing import Progress, list_some
from adaline.cli.tables import open_table, require_column
from adaline.data import Encoding, Source, describe
from adaline.data.sharing import column, labels
from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.trial import Answers, answers
from adaline.evaluation.words import listed, name, number

if TYPE_CHECKING:
    from adaline.evaluation.trial import BaseEstimator

Unknown = Literal["zeros", "refuse"]


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds: an estimator, how columns become its numbers, and facts of both."""

    estimator: Any
    encoding: Encoding | None
    about: dict[str, Any]

    def metadata(self, key: str) -> str | None:
        """A text that `fit` has written beside the model, such as the target."""
        value = self.about["metadata"].get(key)
        return value if isinstance(value, str) else None

    def open_table(
        self, data: str, reading: Reading, more: Sequence[str], option: str = "--target"
    ) -> Source:
        """The rows of a file, with the columns that the model needs and those of an option."""
        needed = [] if self.encoding is None else [entry.name for entry in self.encoding.inputs]
        needed += [exposure] if (exposure := self.metadata("exposure")) else []

        def choose(source: Source) -> Container[str]:
            if missing := [one for one in needed if one not in source.names]:
                lead = f"{source.name}: the model needs the columns {listed(missing, quoted=True)}"
                raise ValueError(f"{lead}; for {missing[0]!r}: {suggest(missing[0], source.names)}")
            for one in more:
                require_column(source, one, option)
            return {*needed, *more} if self.encoding else source.names

        return open_table(data, reading, choose)

    def encoding_for(self, source: Source, unknown: Unknown) -> tuple[Encoding, list[str]]:
        """How the rows become numbers, and a sentence if words among numbers are gaps."""
        encoding = self.encoding
        if encoding is None:
            plain = [column for column in source.names if column != self.metadata("target")]
            names = list(map(str, getattr(self.estimator, "feature_names_in_", plain)))
            if len(names) != (p := self.estimator.n_features_in_):
                raise ValueError(f"{source.name} has {len(names)} columns, and the model {p}.")
            encoding = Encoding.learn(source, columns=names)
        encoding, strays = replace(encoding, unknown=unknown).forgiving(source)
        shown = list_some([f"{texts[0]!r} in {name(key)!r}" for key, texts in strays.items()])
        text = f"text among numbers was treated as missing: {shown}; see --unknown refuse."
        return encoding, [text] if strays else []


def load_model(path: str, to_predict: bool = True) -> Model:
    """What a model file holds; refused if it predicts nothing."""
    if path == "-":
        raise UsageError("a model is read from a file; '-' is for data.")
    try:
        loaded, about = adaline.load(path), describe(path)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error)[:1].lower()}{str(error)[1:]}") from error
    encoding = getattr(loaded, "encoding", None)
    estimator = loaded if encoding is None else loaded.model
    if to_predict and not (hasattr(estimator, "predict") and hasattr(estimator, "n_features_in_")):
        raise UsageError(f"{path} holds a {about['name']}, which predicts nothing.")
    return Model(estimator, encoding, about)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for a block; rows that the model skips for missing values have none."""

    block: Any
    used: NDArray[np.bool_]  # which rows have a prediction
    X: Any  # of these rows
    answers: Answers | None  # None if there are none
    exposures: Any = 1.0


def predict_blocks(
    estimator: Any, encoding: Encoding, source: Source, exposure: str | None = None
) -> Iterator[Predictions]:
    """Predictions block by block; times the exposure if a column has one."""
    for block in source:
        used, times = encoding.kept(block), np.ones(block.rows)
        used = np.ones(block.rows, dtype=bool) if used is None else used
        if exposure is not None:
            times, missing = column(block, exposure)
            if times.dtype.kind == "O" or not (times[~missing] > 0).all():
                raise ValueError(f"{source.name}: {exposure!r} is an exposure, a positive number.")
            used = used & ~missing
        if not used.any():
            yield Predictions(block, used, None, None)
            continue
        X, times = encoding.encode(block, used), times[used]
        answer = answers(estimator, X)
        if exposure is not None:
            answer = replace(answer, predicted=answer.predicted * times)
        yield Predictions(block, used, X, answer, times)


@dataclass(eq=False)
class Measured:
    """The quality on rows, and some of the rows for a report."""

    quality: Quality
    X: Any = None
    y: Any = None
    left_out: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # values that no level was learned for


def measure(
    model: BaseEstimator,
    encoding: Encoding,
    source: Source,
    target: str,
    progress: Progress,
    exposure: str | None = None,
    every: int = 0,
) -> Measured:
    """Predictions against the target; X and y have every so many-th row, none with 0."""
    measured, X, y = Measured(quality_for(model)), list[Any](), list[Any]()
    for part in predict_blocks(model, encoding, source, exposure):
        values, missing = column(part.block, target)
        known = ~missing[part.used]
        measured.left_out += part.block.rows - int(known.sum())
        measured.unknown.update(encoding.unknown_in(part.block))
        progress(progress.rows + part.block.rows)
        if part.answers is None or not known.any():
            continue
        truth, a = _truth(values[part.used][known], model, target), part.answers
        log_p, scores = (None if v is None else v[known] for v in (a.log_p, a.scores))
        measured.quality.add(truth, a.predicted[known], log_p, scores)
        if every:
            X.append(part.X[known][::every])
            y.append(truth[::every])
    if X:
        rows = sparse.vstack(X).tocsr() if sparse.issparse(X[0]) else np.concatenate(X)
        measured.X, measured.y = rows, np.concatenate(y)
    return measured


def _truth(values: NDArray[Any], model: BaseEstimator, target: str) -> NDArray[Any]:
    """The target as the model knows it."""
    classes, truth = getattr(model, "classes_", None), labels(values)
    is_text = truth.dtype.kind in "OU"
    if is_text != (classes is not None and classes.dtype.kind in "OU"):
        raise ValueError(
            f"the target {name(target)!r} has values such as {name(truth[0])!r}, and the model "
            f"predicts {'numbers' if classes is None else name(classes[0])}: text is no number."
        )
    return values.astype(np.float64) if classes is None else truth


def describe_unknown(counts: Mapping[str, int]) -> list[str]:
    """A sentence if there are values that the model has never seen."""
    shown = list_some([f"{number(count)} in {name(key)!r}" for key, count in counts.items()])
    text = f"unknown categories: {shown}. They have no indicator; see --unknown refuse."
    return [text] if counts else []
