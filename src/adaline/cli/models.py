"""Model files for commands, and what a model predicts for the rows of a file, block by block.

`predict` and `evaluate` read a model by `load_model`; `fit` measures held-out rows by `measure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.options import Reading, suggest
from adaline.cli.tables import open_table
from adaline.data import Block, Encoding, Source, describe
from adaline.data.sharing import column, labels
from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.trial import Answers, answers
from adaline.evaluation.words import name, number

Unknown = Literal["zeros", "refuse"]
_LISTED = 8  # columns that a sentence names


@dataclass(frozen=True, eq=False)
class Model:
    """An estimator, how columns become its numbers, and what its file says of both."""

    estimator: Any
    encoding: Encoding | None
    about: dict[str, Any]

    def metadata(self, key: str) -> str | None:
        """A text that `fit` has written beside the model, such as the target."""
        value = self.about["metadata"].get(key)
        return value if isinstance(value, str) else None

    @property
    def has_classes(self) -> bool:
        """Whether the model is a classifier."""
        return hasattr(self.estimator, "classes_")

    def open_table(self, data: str, reading: Reading | None, more: Sequence[str]) -> Source:
        """The rows of a file, with the columns that the model needs and some more."""
        exposure = self.metadata("exposure")
        only = None
        if self.encoding is not None:
            needed = [entry.name for entry in self.encoding.inputs]
            only = [*needed, *([exposure] if exposure else []), *more]
        source = open_table(data, reading, only=only)
        if exposure is not None and exposure not in source.names:
            raise ValueError(
                f"{source.name}: the model predicts counts for the exposure {exposure!r}, and "
                "there is no such column; add it, with 1 in every row for rates."
            )
        for wanted in [] if self.encoding is None else needed:
            if wanted not in source.names:
                raise ValueError(
                    f"{source.name}: the model needs the column {wanted!r}; "
                    f"{suggest(wanted, source.names)}"
                )
        return source

    def encoding_for(self, source: Source, unknown: Unknown) -> tuple[Encoding, list[str]]:
        """How the rows become numbers, and a sentence where words among numbers are gaps."""
        encoding = self.encoding
        if encoding is None:
            names = getattr(self.estimator, "feature_names_in_", None)
            if names is None:
                names = [n for n in source.names if n != self.metadata("target")]
            p = int(self.estimator.n_features_in_)
            if len(names) != p:
                raise ValueError(
                    f"{source.name}: there are {len(names)} columns, and the model was fitted on "
                    f"{p} without names; give a file of these columns only."
                )
            encoding = Encoding.learn(source, columns=[str(n) for n in names])
        encoding, strays = replace(encoding, unknown=unknown).forgiving(source)
        shown = {name: repr(texts[0]) for name, texts in strays.items()}
        text = "No numbers, and taken as missing: {}; --unknown refuse stops at them."
        return encoding, [text.format(_list_some(shown))] if strays else []


def read_model(path: str) -> tuple[Any, dict[str, Any]]:
    """What a model file holds, and what it says of itself."""
    if path == "-":
        raise UsageError("a model is read from a file; '-' is for data.")
    try:
        return adaline.load(path), describe(path)
    except ValueError as error:
        text = str(error)
        raise ValueError(f"{path}: {text[0].lower()}{text[1:]}") from error


def load_model(path: str) -> Model:
    """The model of a file, to predict with."""
    found, about = read_model(path)
    encoding = getattr(found, "encoding", None)
    estimator = found if encoding is None else found.model
    if not hasattr(estimator, "predict") or not hasattr(estimator, "n_features_in_"):
        raise UsageError(
            f"{path} holds a {about['name']}, which predicts no rows; see: adaline info {path}"
        )
    return Model(estimator, encoding, about)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for a block; rows left out for missing values have none."""

    block: Block
    kept: NDArray[np.bool_]
    X: Any = None  # of the rows kept; None where there are none
    answers: Answers = field(default_factory=lambda: Answers(np.empty(0)))
    exposures: Any = None  # of the rows kept


def predict_blocks(
    estimator: Any, encoding: Encoding, source: Source, exposure: str | None = None
) -> Iterator[Predictions]:
    """Predictions block by block; times the exposure where a column has one."""
    for block in source:
        keep, times = encoding.kept(block), None
        if exposure is not None:
            times, gone = _exposures(block, exposure, source.name)
            keep = ~gone if keep is None else keep & ~gone
        kept = np.ones(block.rows, dtype=bool) if keep is None else keep
        if not kept.any():
            yield Predictions(block, kept)
            continue
        X = encoding.encode(block, keep)
        answer = answers(estimator, X)
        if times is not None:
            times = times[kept]
            answer = replace(answer, predicted=answer.predicted * times)
        yield Predictions(block, kept, X, answer, times)


def _exposures(block: Block, exposure: str, where: str) -> Any:
    """Positive numbers, and which are missing."""
    values, gone = column(block, exposure)
    bad = np.ones(len(gone), bool)
    if values.dtype.kind != "O":
        values = values.astype(np.float64)
        bad = ~(np.isfinite(values) & (values > 0))
    if (bad & ~gone).any():
        i = int(np.argmax(bad & ~gone))
        raise ValueError(
            f"{where}: the exposure {exposure!r} is {values[i]} at {block.place(i)}; exposures are "
            "positive numbers."
        )
    return values, gone


@dataclass(eq=False)
class Measured:
    """The quality on rows, and some of the rows for a report."""

    quality: Quality
    X: Any = None
    y: Any = None
    left_out: int = 0
    unknown: dict[str, int] = field(default_factory=dict)  # values that no level was learned for


def measure(
    estimator: Any,
    encoding: Encoding,
    source: Source,
    target: str,
    *,
    every: int = 0,
    progress: Any = None,
    exposure: str | None = None,
) -> Measured:
    """Predictions against the target; every so many-th row is kept for a report, none with 0."""
    measured, done = Measured(quality_for(estimator)), 0
    X: list[Any] = []
    y: list[Any] = []
    for part in predict_blocks(estimator, encoding, source, exposure):
        values, gone = column(part.block, target)
        known = ~gone[part.kept]
        measured.left_out += part.block.rows - int(known.sum())
        count_unknown(measured.unknown, encoding.unknown_in(part.block))
        done += part.block.rows
        if progress is not None:
            progress(done)
        if not known.any():
            continue
        truth = _truth(values[part.kept][known], estimator, target)
        a = part.answers
        log_p, scores = (None if v is None else v[known] for v in (a.log_p, a.scores))
        measured.quality.add(truth, a.predicted[known], log_p, scores)
        if every:
            X.append(part.X[known][::every])
            y.append(truth[::every])
    if X and hasattr(X[0], "tocsr"):
        from scipy import sparse

        measured.X = sparse.vstack(X).tocsr()
    elif X:
        measured.X = np.concatenate(X)
    measured.y = np.concatenate(y) if y else None
    return measured


def _truth(values: NDArray[Any], estimator: Any, target: str) -> NDArray[Any]:
    """The target as the model knows it."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        if values.dtype.kind == "O":
            raise ValueError(
                f"the target {name(target)!r} holds text such as {name(values[0])!r}, and the "
                "model predicts numbers."
            )
        return values.astype(np.float64)
    found = labels(values)
    if (found.dtype.kind in "OU") != (classes.dtype.kind in "OU"):
        known = ", ".join(repr(name(label)) for label in classes.tolist()[:4])
        raise ValueError(
            f"the target {name(target)!r} holds {name(found[0])!r}, and the model knows the labels "
            f"{known}: text is no number."
        )
    return found


def count_unknown(counts: dict[str, int], block: Mapping[str, int]) -> None:
    """Add what a block has of values that the model does not know."""
    for key, count in block.items():
        counts[key] = counts.get(key, 0) + count


def describe_unknown(counts: Mapping[str, int]) -> list[str]:
    """A sentence where there are values that the model has never seen."""
    text = (
        "Values that the model has never seen: {}. They count as none of the levels that were "
        "learned; --unknown refuse stops at them."
    )
    shown = {key: number(count) for key, count in counts.items()}
    return [text.format(_list_some(shown))] if counts else []


def _list_some(shown: Mapping[str, str]) -> str:
    parts = [f"{text} in {name(key)!r}" for key, text in shown.items()]
    more = f"; and {len(parts) - _LISTED} more" if len(parts) > _LISTED else ""
    return "; ".join(parts[:_LISTED]) + more
