"""`fit_collection`: `fit(X, y)` of rows that Dask holds, by the same passes as over files.

Estimators call it through `adaline._names.handed_down` where X is of Dask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.fitting.chunks import Chunk, Chunks, Part, count_labels, encode_labels
from adaline.data.fitting.closed import CLOSED_FORMS
from adaline.data.fitting.newton import minimise
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.source import Block, Source, by_row
from adaline.distributed.collections import (
    default_executor,
    example_row,
    is_collection,
    row_blocks,
    width_of,
)
from adaline.errors import DataError
from adaline.parameters import is_sparse
from adaline.sums.rows import as_csr, check_finite

NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class RowBlock(Block):
    """A block with its targets and weights beside it."""

    y: Any
    omega: Any
    number: int


class CollectionSource(Source):
    """Blocks of rows that Dask computes."""

    name = "the rows"

    def __init__(self, blocks: list[Any], names: Sequence[str]) -> None:
        self.blocks, self.names = blocks, names

    def descriptors(self) -> Iterable[Any]:
        """A Delayed for each block."""
        return self.blocks

    def read(self, piece: Any) -> Block:
        """The block that a Delayed came to."""
        k, X, y, weights = piece
        for name, part in (("X", X), ("y", y), ("sample_weight", weights)):
            if np.iscomplexobj(part):
                raise DataError(
                    f"block {k}: Complex data not supported: {name} is complex; give real numbers."
                )
        return RowBlock(self.names, (), X, by_row(0), y, weights, k)

    def for_reading(self) -> Source:
        """No blocks: each task has its own."""
        return CollectionSource([], self.names)


@dataclass(frozen=True)
class CollectionReader:
    """Blocks to X, the target and weights; rows of weight zero are checked and left out."""

    names: Sequence[str]
    loss: Any
    target: str = "y"
    labels: tuple[Any, ...] | None = None

    def read(self, block: Any, order: Any) -> Chunk:
        """Rows that weigh something."""
        omega, X = read_weights(block), self._features(block)
        keep = omega > 0 if len(omega) else slice(None)
        if self.labels is not None:
            y = encode_labels(read_labels(block), self.labels)[keep]
            return Chunk(X[keep], y, omega[keep] if len(omega) else NONE, NONE)
        try:
            y = np.asarray(block.y, dtype=np.float64)
        except (TypeError, ValueError):
            raise refuse(block, "y holds no numbers; a regressor needs them.") from None
        if not np.isfinite(y).all():
            raise refuse(block, "y has NaN or an infinity; leave such rows out.")
        y = y[keep]
        if self.loss is not None and self.loss.bad(y).any():
            raise refuse(block, f"y is {y[self.loss.bad(y)][0]:g}; {self.loss.told}.")
        return Chunk(X[keep], y, omega[keep] if len(omega) else NONE, NONE)

    def count_labels(self, block: Any) -> Part:
        """A class whose rows weigh nothing is a class, as in memory."""
        return count_labels(read_labels(block), read_weights(block), self.target)

    def _features(self, block: Any) -> Any:
        X = block.matrix
        if is_sparse(X):
            X = as_csr(X)
        else:
            try:
                X = np.asarray(X)
                X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
            except (TypeError, ValueError):
                raise refuse(block, "X holds no numbers; encode text first.") from None
        if X.ndim != 2 or X.shape[1] != len(self.names):
            raise refuse(block, f"X has shape {X.shape}, not {len(self.names)} columns.")
        try:
            check_finite(X, lambda: list(self.names))
        except ValueError as error:
            raise refuse(block, str(error)) from None
        return X


def read_labels(block: Any) -> Any:
    """Labels of all rows, which have no gaps."""
    values = np.asarray(block.y)
    if values.ndim != 1:
        raise refuse(block, f"y has shape {values.shape}; labels are (n,).")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise refuse(block, "y has NaN or an infinity; labels have none.")
    if values.dtype == object and len({type(value) for value in values.tolist()}) > 1:
        raise refuse(block, "y has missing or mixed labels.")
    return values


def read_weights(block: Any) -> Any:
    """Weights of all rows; (0,) where all count the same."""
    if block.omega is None:
        return NONE
    omega = np.asarray(block.omega, dtype=np.float64)
    if omega.ndim != 1 or not np.isfinite(omega).all() or np.any(omega < 0):
        raise refuse(block, "sample_weight must be (n,), finite and not negative.")
    return omega


def refuse(block: Any, why: str) -> DataError:
    """An error that names the block."""
    return DataError(f"block {block.number}: {why}")


def fit_collection(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, **options: Any
) -> Any:
    """Learn from a dask array or DataFrame X, y and weights, with the same proof as from files."""
    way, name = model._streams, type(model).__name__
    if way not in (*CLOSED_FORMS, "newton"):
        raise TypeError(
            f"{name} needs its rows in their order or all at once, and X is of Dask; learners that "
            f"sum over blocks can: LeastSquares, Ridge, LeastSquaresClassifier, "
            "GaussianClassifier, LogisticRegression and PoissonRegression. X.compute() brings rows "
            "into memory."
        )
    if not is_collection(X):
        raise TypeError("y or sample_weight is of Dask, and X is not; give all three alike.")
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"{option} is not known for rows of Dask; leave it out.")
    model._check_parameters()
    model._rows(example_row(X), reset=True)
    before = getattr(model, "feature_names_in_", None)
    names = FeatureNames(width_of(X)) if before is None else tuple(map(str, X.columns))
    source = CollectionSource(row_blocks(X, y, sample_weight), names)
    chunks = Chunks(source, CollectionReader(names, model._loss), default_executor())
    try:
        CLOSED_FORMS.get(way, minimise)(model, chunks)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    if before is not None:
        model.feature_names_in_ = before
    # Coefficients of a column of targets are a row, and those of float32 are float32.
    dtype = np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    column = model._learns == "numbers" and getattr(y, "ndim", 1) == 2
    if column or dtype != np.float64:
        model._take_dtype(dtype, column)
    return model
