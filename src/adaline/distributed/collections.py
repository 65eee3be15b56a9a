"""dask arrays, DataFrames and Series as blocks of rows, and what models answer to them.

Rows stay cut where Dask cut them. A block is a `Delayed` of (number, X, y, weights): each pass
computes it again, unless the user called `persist`. `fit` of a learner, `Moments.of` and the like
sum over blocks; `predict` returns a dask array.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from adaline.distributed.branches import cut_branches, lazy_branch
from adaline.distributed.executor import Workers
from adaline.sums.mapreduce import Executor, mapreduce


def row_blocks(X: Any, y: Any = None, weights: Any = None) -> list[Any]:
    """A Delayed of (number, X, y, weights) for each block of rows of X."""
    from dask import delayed

    width_of(X)
    X = as_array(X)
    parts = split_rows("X", X, X)
    columns = [parts]
    for name, other in (("y", y), ("sample_weight", weights)):
        columns.append([None] * len(parts) if other is None else split_rows(name, other, X))
        if len(columns[-1]) != len(parts):
            raise ValueError(
                f"X has {len(parts)} blocks and {name} has {len(columns[-1])}, and how many rows "
                "are in each is not known; take both from one DataFrame, or call "
                "compute_chunk_sizes() on both."
            )
    gather = delayed(gather_block, pure=False, traverse=False)
    return [gather(k, *block) for k, block in enumerate(zip(*columns, strict=True))]


def split_rows(name: str, values: Any, X: Any) -> list[Any]:
    """The blocks of X, y or weights, cut as X is."""
    sizes, values = known_sizes(X), as_array(values)
    if not is_collection(values):
        if sizes is None:
            raise TypeError(
                f"X is of Dask and does not know how many rows its blocks have, and {name} is "
                "not of Dask; take both from one DataFrame, or call X.compute_chunk_sizes()."
            )
        import dask.array

        values = dask.array.from_array(np.asarray(values), chunks=-1)
    own = known_sizes(values)
    if sizes is not None and own is not None and own != sizes:
        if sum(own) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows, and {name} has {sum(own)}.")
        values = values.rechunk({0: sizes})
    return list(np.ravel(values.to_delayed()))


def as_array(values: Any) -> Any:
    """A DataFrame or Series as a dask array, and an array with all columns in each block."""
    values = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    wide = getattr(values, "ndim", 1) == 2 and is_collection(values) and values.numblocks[1] > 1
    return values.rechunk({1: -1}) if wide else values


def known_sizes(values: Any) -> tuple[int, ...] | None:
    """Rows of each block, or None where Dask does not know."""
    return None if np.isnan(values.chunks[0]).any() else tuple(values.chunks[0])


def gather_block(k: int, X: Any, y: Any, weights: Any) -> tuple[int, Any, Any, Any]:
    """One block, whose parts must have as many rows each."""
    for name, other in (("y", y), ("sample_weight", weights)):
        if other is not None and len(other) != X.shape[0]:
            raise ValueError(
                f"block {k} of X has {X.shape[0]} rows, and that of {name} has {len(other)}; cut "
                f"{name} as X is cut, or take both from one DataFrame."
            )
    return k, X, y, weights


def is_collection(value: Any) -> bool:
    """Whether a value is of Dask."""
    return hasattr(value, "__dask_graph__")


def width_of(X: Any) -> int:
    """Columns of X."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(f"X has {getattr(X, 'ndim', 'no')} dimensions; expected (rows, features).")
    p = len(X.columns) if hasattr(X, "columns") else X.shape[1]
    if p != p:
        raise ValueError("X does not know how many columns it has; call X.compute_chunk_sizes().")
    return int(p)


def default_executor() -> Executor:
    """The cluster that is connected, or the scheduler of this machine that Dask would use."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return LocalScheduler() if client is None else Workers(client)


class LocalScheduler:
    """Dask's schedulers of this machine: threads, processes, or one after the other."""

    def parts(
        self, function: Callable[..., Any], descriptors: Iterator[Any], merge: Any, start: int
    ) -> Iterator[tuple[Any, int]]:
        """Merged branches in order, a few at a time."""
        import dask

        threads = os.cpu_count() or 1
        branches = cut_branches(descriptors, start, lambda: threads)
        while some := list(islice(branches, threads)):
            sums = dask.compute(*(lazy_branch(function, merge, branch) for branch in some))
            yield from zip(sums, map(len, some), strict=True)


def sum_blocks(function: Callable[..., Any], X: Any, y: Any = None, weights: Any = None) -> Any:
    """The sum of function(X, y, weights) over all blocks with rows, in the usual tree."""
    blocks = row_blocks(X, y, weights)
    total = mapreduce(partial(apply_to_block, function), blocks, merge, default_executor())
    if total is None:
        raise ValueError("X has no rows in any of its blocks.")
    return total


def apply_to_block(function: Callable[..., Any], block: tuple[int, Any, Any, Any]) -> Any:
    """The function's sums of a block; None for a block without rows."""
    k, X, y, weights = block
    try:
        return function(X, y, weights) if X.shape[0] else None
    except (ValueError, TypeError) as error:
        raise type(error)(f"block {k}: {error}") from None


def merge(a: Any, b: Any) -> Any:
    """a + b, where None is the sum of no rows."""
    return b if a is None else a if b is None else a + b


def predict_lazily(model: Any, method: Callable[..., Any], X: Any, *args: Any, **kw: Any) -> Any:
    """What `method(model, X)` returns, as a dask array that is computed on demand."""
    example = np.asarray(method(model, example_row(X), *args, **kw))
    X = as_array(X)
    apply = partial(method_of_block, without_names(model), method.__name__, example[:0], args, kw)
    shape: dict[str, Any] = {"drop_axis": 1} if example.ndim == 1 else {}
    if example.ndim == 2:
        shape = {"chunks": (X.chunks[0], (example.shape[1],))}
    return X.map_blocks(apply, dtype=example.dtype, meta=example[:0], **shape)


def method_of_block(model: Any, method: str, empty: Any, args: Any, kw: Any, X: Any) -> Any:
    """A model's answers to the rows of one block."""
    return getattr(model, method)(X, *args, **kw) if X.shape[0] else empty


def example_row(X: Any) -> Any:
    """A row of zeros with the columns of X, which a model checks and answers with its shapes."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    zeros = np.zeros((1, width_of(X)), dtype=dtype)
    return type(X._meta)(zeros, columns=X.columns) if hasattr(X, "columns") else zeros


def without_names(model: Any) -> Any:
    """A copy that takes arrays: names are checked once, and blocks have none."""
    twin = copy.copy(model)
    vars(twin).pop("feature_names_in_", None)
    return twin


def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R^2 of a regressor, or the accuracy of a classifier, in one pass of sums."""
    if not is_collection(X):
        raise TypeError("y or sample_weight is of Dask, and X is not; give all three alike.")
    if model._scored_by not in ("R2", "accuracy"):
        raise TypeError(
            f"the score of {type(model).__name__} is {model._scored_by or 'not declared'}, which "
            "cannot be summed over rows of Dask; give X.compute()."
        )
    model.predict(example_row(X))  # raises where columns differ
    sums = sum_blocks(partial(score_block, without_names(model)), X, y, sample_weight)
    if not sums.weight > 0:
        raise ValueError("X has no rows to score.")
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = np.where(sums.errors > 0, 0.0, 1.0)
        return float(np.mean(np.where(sums.spread > 0, 1.0 - sums.errors / sums.spread, constant)))


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Weight of rows; of each target squared errors, squares about the mean, and the mean."""

    weight: float
    errors: Any
    spread: Any
    mean: Any

    def __add__(self, other: ScoreSums) -> ScoreSums:
        weight, apart = self.weight + other.weight, other.mean - self.mean
        share = other.weight / weight if weight else 0.0
        spread = self.spread + other.spread + apart**2 * (self.weight * share)
        return ScoreSums(weight, self.errors + other.errors, spread, self.mean + apart * share)


def score_block(model: Any, X: Any, y: Any, weights: Any) -> ScoreSums:
    """The sums of a block. An error of a classifier is 1, and the spread of its rows their weight,
    so that 1 - errors / spread is the accuracy.
    """
    V = np.asarray(model.predict(X)).reshape(X.shape[0], -1)
    Y = np.asarray(y).reshape(len(V), -1)
    if V.shape != Y.shape:
        raise ValueError(f"y has {Y.shape[1]} targets; predictions have {V.shape[1]}.")
    omega = np.ones(len(Y)) if weights is None else np.asarray(weights, dtype=np.float64)
    weight = float(omega.sum())
    if model._scored_by == "accuracy":
        return ScoreSums(weight, omega @ (V != Y), np.full(1, weight), np.zeros(1))
    mean = omega @ Y / weight if weight else np.zeros(Y.shape[1])
    return ScoreSums(weight, omega @ (Y - V) ** 2, omega @ (Y - mean) ** 2, mean)
