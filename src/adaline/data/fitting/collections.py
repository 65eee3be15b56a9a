"""`fit_collection`: `fit(X, y)` of rows that Dask holds, by the same passes as over files.

Estimators call it through `adaline._names.handed_down` where X is of Dask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.data.fitting.chunks import Chunks, Reader
from adaline.data.fitting.closed import CLOSED_FORMS
from adaline.data.fitting.newton import minimise
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.source import Block, Source
from adaline.distributed.collections import (
    default_executor,
    example_row,
    is_collection,
    row_blocks,
    width_of,
)
from adaline.errors import DataError

if TYPE_CHECKING:
    from adaline.estimators.base import Learner


@dataclass(frozen=True, eq=False)
class RowBlock(Block):
    """A block with its targets and weights beside it."""

    features: Any
    labels: Any
    weights: Any


class CollectionSource(Source):
    """Blocks of rows that Dask computes."""

    name = "the rows"

    def __init__(self, blocks: list[Any], names: Sequence[str]) -> None:
        self.blocks, self.names = blocks, names

    def descriptors(self) -> Iterable[Any]:
        return self.blocks

    def read(self, piece: Any) -> Block:
        k, X, y, weights = piece
        if any(map(np.iscomplexobj, (X, y, weights))):
            raise DataError(f"block {k}: Complex data not supported; give real numbers.")
        if getattr(X, "ndim", 0) != 2 or X.shape[1] != len(self.names):
            raise DataError(f"block {k}: X has shape {X.shape}, not {len(self.names)} columns.")
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            if weights.ndim != 1 or not np.all((weights >= 0) & (weights < np.inf)):
                raise DataError(f"block {k}: sample_weight must be finite and not negative.")
        return RowBlock(self.names, (), X, lambda i: f"row {i} of block {k}", X, y, weights)

    def for_reading(self) -> Source:
        """No blocks: each task has its own."""
        return CollectionSource([], self.names)


def fit_collection(
    model: Learner, X: Any, y: Any = None, sample_weight: Any = None, **options: Any
) -> Any:
    """Learn from a dask array or DataFrame X, y and weights, with the same proof as from files."""
    way, name = model._streams, type(model).__name__
    if way not in (*CLOSED_FORMS, "newton"):
        raise TypeError(
            f"{name} needs its rows in their order or all at once, and X is of Dask; learners that "
            "sum over blocks can: LeastSquares, Ridge, LeastSquaresClassifier, "
            "GaussianClassifier, LogisticRegression and PoissonRegression. X.compute() brings rows "
            "into memory."
        )
    if not is_collection(X):
        raise TypeError("y or sample_weight is of Dask, and X is not; give all three alike.")
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if given := [option for option, value in options.items() if value is not None]:
        raise ValueError(f"{given[0]} is not known for rows of Dask; leave it out.")
    column = getattr(y, "ndim", 1) == 2
    if column and model._learns == "classes":
        raise ValueError(f"y has shape {y.shape}; labels are (n,).")
    model._check_parameters()
    model._rows(example_row(X), reset=True)
    named = getattr(model, "feature_names_in_", None)
    names = FeatureNames(width_of(X)) if named is None else tuple(map(str, X.columns))
    source = CollectionSource(row_blocks(X, y, sample_weight), names)
    reader = Reader(names, "y", source.name, loss=model._loss)
    try:
        CLOSED_FORMS.get(way, minimise)(model, Chunks(source, reader, default_executor()))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    if named is not None:
        model.feature_names_in_ = named
    # Coefficients of a column of targets are a row, and those of float32 are float32.
    dtype = np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    if column or dtype != np.float64:
        model._take_dtype(dtype, column)
    return model
