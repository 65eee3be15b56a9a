"""`fit_collection`: `fit(X, y)` of rows that Dask holds, by the same passes as over files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.fitting._closed_stream import gaussian, linear_machine, regress
from adaline.data.fitting._newton_stream import fit_in_passes
from adaline.data.fitting._passes import Passes, few
from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.source import Block, Source, by_row
from adaline.distributed.collections import (
    default_executor,
    example_row,
    is_collection,
    row_blocks,
    width_of,
)
from adaline.errors import DataError, strange
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import LogLink
from adaline.sums.mapreduce import mapreduce
from adaline.sums.rows import as_csr, check_finite

_CLOSED = {"moments": regress, "machine": linear_machine, "class_moments": gaussian}
_SUMS = ("moments", "machine", "class_moments", "newton")


@dataclass(frozen=True, eq=False)
class Gathered(Block):
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
        return Gathered(self.names, (), X, by_row(0), y, weights, k)

    def for_reading(self) -> Source:
        """No blocks: each task has its own."""
        return CollectionSource([], self.names)


@dataclass(frozen=True)
class CollectedRows:
    """Blocks to X, the target and weights; rows of weight zero are checked and left out."""

    names: Sequence[str]
    weighted: bool
    target: str = "y"

    def numbers(self, block: Any, order: Any, check: bool = True) -> tuple[Any, Array]:
        """X and a target of numbers; without `check`, X may hold infinities and NaN."""
        try:
            y = np.asarray(block.y, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"{_at(block)}: y holds no numbers; a regressor needs them.") from None
        if not np.isfinite(y).all():
            raise DataError(f"{_at(block)}: y has NaN or an infinity; leave such rows out.")
        kept = self._kept(block)
        return self._rows(block, check), y if kept is None else y[kept]

    def targets(self, block: Any, order: Any, loss: LogLink) -> tuple[Any, Array, Array]:
        """X, targets that the loss takes, and no offset."""
        X, y = self.numbers(block, order)
        if loss.bad(y).any():
            raise DataError(f"{_at(block)}: y is {y[loss.bad(y)][0]:g}; {loss.told}.")
        return X, y, np.empty(0)

    def labels(self, block: Any, order: Any) -> tuple[Any, tuple[Any, ...], NDArray[np.int64]]:
        """X, the labels in the block (sorted), and which of them each row has."""
        X = self._rows(block, True)
        if np.ndim(block.y) != 1:
            raise DataError(f"{_at(block)}: y has shape {np.shape(block.y)}; labels are (n,).")
        values = np.asarray(block.y)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise DataError(f"{_at(block)}: y has NaN or an infinity; labels have none.")
        try:
            found, codes = np.unique(values, return_inverse=True)
        except TypeError:
            raise DataError(f"{_at(block)}: y has missing or mixed labels.") from None
        kept = self._kept(block)  # a class whose rows weigh nothing is a class, as in memory
        codes = codes if kept is None else codes[kept]
        return X, tuple(few(found, self.target).tolist()), codes.astype(np.int64)

    def weights(self, block: Any) -> Array:
        """Weights of the rows that are kept; empty where all count the same."""
        if block.omega is None:
            return np.empty(0)
        omega = np.asarray(block.omega, dtype=np.float64)
        if omega.ndim != 1 or not np.isfinite(omega).all() or np.any(omega < 0):
            raise DataError(f"{_at(block)}: sample_weight must be (n,), finite and not negative.")
        return omega[omega > 0]

    def _rows(self, block: Any, check: bool) -> Any:
        """X of the rows that weigh something."""
        X = block.matrix
        if is_sparse(X):
            X = as_csr(X)
        else:
            try:
                X = np.asarray(X)
                X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
            except (TypeError, ValueError):
                raise DataError(f"{_at(block)}: X holds no numbers; encode text first.") from None
        if X.ndim != 2 or X.shape[1] != len(self.names):
            raise DataError(f"{_at(block)}: X has shape {X.shape}, not {len(self.names)} columns.")
        kept = self._kept(block)
        if check or kept is not None:  # rows that weigh nothing must be numbers too, as in memory
            try:
                check_finite(X, lambda: list(self.names))
            except ValueError as error:
                raise DataError(f"{_at(block)}: {error}") from None
        return X if kept is None else X[kept]

    def _kept(self, block: Any) -> NDArray[np.bool_] | None:
        """Which rows have a weight; None where all have."""
        if block.omega is None or len(self.weights(block)) == len(block.omega):
            return None
        return np.asarray(block.omega, dtype=np.float64) > 0


def _at(block: Any) -> str:
    return f"block {block.number}"


def fit_collection(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, **options: Any
) -> Any:
    """Learn from a dask array or DataFrame X, y and weights, with the same proof as from files."""
    way, name = model._streams, type(model).__name__
    _check(model, X, y, options)
    model._check_parameters()
    model._rows(example_row(X), reset=True)
    named = hasattr(model, "feature_names_in_")
    names = tuple(map(str, X.columns)) if named else FeatureNames(width_of(X))
    before = getattr(model, "feature_names_in_", None)
    source = CollectionSource(row_blocks(X, y, sample_weight), names)
    rows, run = CollectedRows(names, sample_weight is not None), Passes(source, default_executor())
    try:
        if way == "newton":
            if model._learns == "classes":
                _check_class_weights(run, rows)
            fit_in_passes(model, run, rows)
        else:
            _CLOSED[way](model, run, rows)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    if before is not None:
        model.feature_names_in_ = before
    _in_shape(model, X, y)
    return model


def _check(model: Any, X: Any, y: Any, options: Any) -> None:
    name = type(model).__name__
    if model._streams not in _SUMS:
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


def _check_class_weights(run: Passes, rows: CollectedRows) -> None:
    """Refuse weights under which a class has no row: one more pass, where there are weights."""
    if not rows.weighted:
        return
    weights = mapreduce(
        WeightOfClasses(run.source.for_reading(), rows),
        run.source.descriptors(),
        _added,
        run.jobs,
        check=_check_weights,
    )
    none = [label for label, weight in weights.items() if weight == 0.0]
    if none:
        raise DataError(
            f"only zero sample_weight for the class {none[0]!r}: its intercept would be minus "
            "infinity. Every class needs a row of positive weight; drop those rows."
        )


def _check_weights(answer: Any) -> None:
    """Weights by label, finite and not negative."""
    weights = list(answer.values()) if isinstance(answer, dict) else [None]
    if not all(isinstance(one, float) and np.isfinite(one) and one >= 0.0 for one in weights):
        raise strange("something else than the weights of classes")


@dataclass(frozen=True, eq=False)
class WeightOfClasses:
    """The weight of each class of a block."""

    source: Source
    rows: CollectedRows

    def __call__(self, piece: Any) -> dict[Any, float]:
        block = self.source.read(piece)
        _, labels, codes = self.rows.labels(block, "C")
        sums = np.bincount(codes, self.rows.weights(block), minlength=len(labels))
        return dict(zip(labels, sums.tolist(), strict=True))


def _added(a: dict[Any, float], b: dict[Any, float]) -> dict[Any, float]:
    return {label: a.get(label, 0.0) + b.get(label, 0.0) for label in {**a, **b}}


def _in_shape(model: Any, X: Any, y: Any) -> None:
    """Coefficients of a column of targets are a row, and those of float32 are float32."""
    dtype = np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    column = model._learns == "numbers" and getattr(y, "ndim", 1) == 2
    if column or dtype != np.float64:
        model._take_dtype(dtype, column)
