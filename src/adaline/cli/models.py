"""Model files for commands, and what a model predicts for the rows of a file, block by block.

`predict` and `evaluate` read a model by `load_model`; `fit` measures held-out rows by `measure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.options import Reading, suggest
from adaline.cli.printing import list_some
from adaline.cli.tables import open_table
from adaline.data import Encoding, Source, describe
from adaline.data.sharing import column, labels
from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.trial import Answers, answers
from adaline.evaluation.words import name, number

Unknown = Literal["zeros", "refuse"]


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

    def open_table(self, data: str, reading: Reading | None, more: Sequence[str]) -> Source:
        """The rows of a file, with the columns that the model needs and some more."""
        exposure = self.metadata("exposure")
        needed = [] if self.encoding is None else [entry.name for entry in self.encoding.inputs]
        needed += [exposure] if exposure else []
        source = open_table(data, reading, [*needed, *more] if self.encoding else None)
        for wanted in needed:
            if wanted not in source.names:
                what = "the exposure" if wanted == exposure else "the column"
                raise ValueError(
                    f"{source.name}: the model needs {what} {wanted!r}; "
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
            if len(names) != (p := int(self.estimator.n_features_in_)):
                raise ValueError(
                    f"{source.name}: there are {len(names)} columns, and the model was fitted on "
                    f"{p} without names; give a file of these columns only."
                )
            encoding = Encoding.learn(source, columns=[str(n) for n in names])
        encoding, strays = replace(encoding, unknown=unknown).forgiving(source)
        shown = list_some([f"{texts[0]!r} in {name(key)!r}" for key, texts in strays.items()])
        text = f"No numbers, and taken as missing: {shown}; --unknown refuse stops at them."
        return encoding, [text] if strays else []


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

    block: Any
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
            times, missing = column(block, exposure)
            is_text = times.dtype.kind == "O"
            bad = ~missing & (is_text or ~((times > 0) & (times < np.inf)))
            if bad.any():
                i = int(np.argmax(bad))
                raise ValueError(
                    f"{source.name}: the exposure {exposure!r} is {times[i]} at {block.place(i)}; "
                    "exposures are positive numbers."
                )
            keep = ~missing if keep is None else keep & ~missing
        kept = np.ones(block.rows, dtype=bool) if keep is None else keep
        if not kept.any():
            yield Predictions(block, kept)
            continue
        X = encoding.encode(block, keep)
        answer = answers(estimator, X)
        if times is not None:
            times = times[kept].astype(np.float64)
            answer = replace(answer, predicted=answer.predicted * times)
        yield Predictions(block, kept, X, answer, times)


@dataclass(eq=False)
class Measured:
    """The quality on rows, and some of the rows for a report."""

    quality: Quality
    X: Any = None
    y: Any = None
    left_out: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # values that no level was learned for


def measure(
    estimator: Any,
    encoding: Encoding,
    source: Source,
    target: str,
    *,
    every: int = 0,
    progress: Any,
    exposure: str | None = None,
) -> Measured:
    """Predictions against the target; every so many-th row is kept for a report, none with 0."""
    measured, done = Measured(quality_for(estimator)), 0
    X: list[Any] = []
    y: list[Any] = []
    for part in predict_blocks(estimator, encoding, source, exposure):
        values, missing = column(part.block, target)
        known = ~missing[part.kept]
        measured.left_out += part.block.rows - int(known.sum())
        measured.unknown.update(encoding.unknown_in(part.block))
        done += part.block.rows
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
    found = labels(values)
    is_text = found.dtype.kind in "OU"
    if is_text != (classes is not None and classes.dtype.kind in "OU"):
        known = "numbers" if classes is None else f"labels such as {name(classes[0])!r}"
        raise ValueError(
            f"the target {name(target)!r} holds {'text ' * is_text}such as {name(found[0])!r}, and "
            f"the model predicts {known}: text is no number."
        )
    return values.astype(np.float64) if classes is None else found


def describe_unknown(counts: Mapping[str, int]) -> list[str]:
    """A sentence where there are values that the model has never seen."""
    shown = list_some([f"{number(count)} in {name(key)!r}" for key, count in counts.items()])
    text = f"Values that the model has never seen: {shown}. They count as none of the levels that "
    return [f"{text}were learned; --unknown refuse stops at them."] if counts else []
