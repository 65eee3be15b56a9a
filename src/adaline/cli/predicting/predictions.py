"""A model and its columns, asked block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import adaline
from adaline.cli.files.column_options import count_unknown, strays_line
from adaline.cli.files.sources import column, labels
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.words import did_you_mean
from adaline.data import Block, Encoding, Source, describe
from adaline.evaluation import answers as said_by
from adaline.evaluation.quality import Quality, quality_for
from adaline.evaluation.words import name


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model, how columns become its numbers, and what the file says beside."""

    model: Any
    encoding: Encoding | None
    metadata: dict[str, Any]
    about: dict[str, Any]

    @property
    def target(self) -> str | None:
        """The column that was learned, where the file tells."""
        found = self.metadata.get("target")
        return found if isinstance(found, str) else None

    @property
    def exposure(self) -> str | None:
        """The column that the predictions are proportional to, where the file names one."""
        found = self.metadata.get("exposure")
        return found if isinstance(found, str) else None

    @property
    def tells_text(self) -> bool:
        """Whether the predictions are words."""
        classes = getattr(self.model, "classes_", None)
        return classes is not None and classes.dtype.kind in "OU"

    def columns(self, *more: str) -> list[str] | None:
        """The columns that the model needs, and some more; None where it does not know them."""
        if self.encoding is None:
            return None
        beside = [] if self.exposure is None else [self.exposure]
        return [*(entry.name for entry in self.encoding.inputs), *beside, *more]

    def prepared_for(
        self, source: Source, unknown: Literal["zeros", "refuse"]
    ) -> tuple[Encoding, list[str]]:
        """The encoding, and the words among numbers that it takes as missing where zeros."""
        encoding, odd = replace(self.prepared(source), unknown=unknown).forgiving(source)
        return encoding, [strays_line(odd)] if odd else []

    def prepared(self, source: Source) -> Encoding:
        """The encoding of the file, or one of the model's columns for a model without."""
        if self.exposure is not None and self.exposure not in source.names:
            raise ValueError(
                f"{source.name}: the model predicts counts for the exposure {self.exposure!r}, and "
                "there is no such column; add it, with 1 in every row for rates."
            )
        if self.encoding is not None:
            for entry in self.encoding.inputs:
                if entry.name not in source.names:
                    raise ValueError(
                        f"{source.name}: the model needs the column {entry.name!r}; "
                        f"{did_you_mean(entry.name, source.names)}"
                    )
            return self.encoding
        names = getattr(self.model, "feature_names_in_", None)
        p = int(self.model.n_features_in_)
        if names is None:
            wanted = [n for n in source.names if n != self.target]
            if len(wanted) != p:
                raise ValueError(
                    f"{source.name}: there are {len(wanted)} columns, and the model was fitted on "
                    f"{p} without names; give a file of these columns only."
                )
            names = wanted
        return Encoding.learn(source, columns=[str(n) for n in names])


def loaded(path: str) -> Loaded:
    """A model file for predicting."""
    found, about = read(path)
    encoding = getattr(found, "encoding", None)
    model = found if encoding is None else found.model
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise Usage(
            f"{path} holds a {about['name']}, which predicts no rows; see: adaline info {path}"
        )
    return Loaded(model, encoding, about["metadata"], about)


def read(path: str) -> tuple[Any, dict[str, Any]]:
    """What a model file holds, and what it says of itself."""
    if path == "-":
        raise Usage("a model is read from a file; '-' is for data.")
    try:
        return adaline.load(path), describe(path)
    except ValueError as error:
        text = str(error)
        raise ValueError(f"{path}: {text[0].lower()}{text[1:]}") from error


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions for a block; rows left out for missing values have none."""

    block: Block
    kept: NDArray[np.bool_]
    X: Any
    predicted: NDArray[Any]
    log_p: Any
    scores: Any = None
    times: Any = None  # exposures of the rows kept


def answers(
    model: Any, encoding: Encoding, source: Source, exposure: str | None = None
) -> Iterator[Answers]:
    """What the model says, block by block; times the exposure where a column has one."""
    for block in source:
        keep, times = encoding.kept(block), None
        if exposure is not None:
            times, gone = _exposures(block, exposure, source.name)
            keep = ~gone if keep is None else keep & ~gone
        kept = np.ones(block.rows, dtype=bool) if keep is None else keep
        if not kept.any():
            yield Answers(block, kept, None, np.empty(0), None)
            continue
        X = encoding.encode(block, keep)
        said = said_by.answers(model, X)
        times = None if times is None else times[kept]
        predicted = said.predicted if times is None else said.predicted * times
        yield Answers(block, kept, X, predicted, said.log_p, said.scores, times)


def _exposures(block: Block, exposure: str, where: str) -> Any:
    """Positive numbers, and which are missing."""
    values, gone = column(block, exposure)
    bad = np.ones(len(gone), bool)
    if values.dtype.kind != "O":
        values = values.astype(np.float64)
        bad = ~(np.isfinite(values) & (values > 0))
    bad &= ~gone
    if bad.any():
        i = int(np.argmax(bad))
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


def measured(
    model: Any,
    encoding: Encoding,
    source: Source,
    target: str,
    *,
    every: int = 0,
    progress: Any = None,
    exposure: str | None = None,
) -> Measured:
    """Predictions against the target; every so many-th row is kept for a report, none with 0."""
    found = Measured(quality_for(model))
    kept_X: list[Any] = []
    kept_y: list[Any] = []
    done = 0
    for a in answers(model, encoding, source, exposure):
        values, gone = column(a.block, target)
        there = ~gone[a.kept]
        found.left_out += a.block.rows - int(there.sum())
        count_unknown(found.unknown, encoding.unknown_in(a.block))
        done += a.block.rows
        if progress is not None:
            progress(done)
        if not there.any():
            continue
        truth = _truth(values[a.kept][there], model, target)
        log_p, scores = (None if v is None else v[there] for v in (a.log_p, a.scores))
        found.quality.add(truth, a.predicted[there], log_p, scores)
        if every:
            kept_X.append(a.X[there][::every])
            kept_y.append(truth[::every])
    if kept_X:
        sparse = hasattr(kept_X[0], "tocsr")
        found.X = _stacked(kept_X) if sparse else np.concatenate(kept_X)
        found.y = np.concatenate(kept_y)
    return found


def _stacked(parts: list[Any]) -> Any:
    from scipy import sparse

    return sparse.vstack(parts).tocsr()


def _truth(values: NDArray[Any], model: Any, target: str) -> NDArray[Any]:
    """The target as the model knows it."""
    if not hasattr(model, "classes_"):
        if values.dtype.kind == "O":
            raise ValueError(
                f"the target {name(target)!r} holds text such as {name(values[0])!r}, and the "
                "model predicts numbers."
            )
        return values.astype(np.float64)
    found = labels(values)
    text, known = found.dtype.kind in "OU", model.classes_.dtype.kind in "OU"
    if text != known:
        raise ValueError(
            f"the target {name(target)!r} holds {name(found[0])!r}, and the model knows the labels "
            f"{', '.join(repr(name(c)) for c in model.classes_.tolist()[:4])}: text is no number."
        )
    return found
