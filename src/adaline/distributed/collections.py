"""dask arrays, DataFrames and Series as blocks of rows, and what models answer to them.

Rows stay cut where Dask cut them. A block is a `Delayed` of (number, X, y, weights): each pass
computes it again, unless the user called `persist`. `fit` of a learner, `Moments.of` and the like
sum over blocks; `predict` returns a dask array.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.distributed.clusters import Workers
from adaline.sums.mapreduce import Executor, mapreduce

if TYPE_CHECKING:
    from adaline.estimators.base import Learner


def row_blocks(X: Any, y: Any = None, weights: Any = None) -> list[Any]:
    """A Delayed of (number, X, y, weights) for each block of rows of X."""
    from dask import delayed

    width_of(X)
    X = as_array(X)
    columns: list[Any] = [np.ravel(X.to_delayed())]
    for name, part in (("y", y), ("sample_weight", weights)):
        cut = None if part is None else np.ravel(cut_alike(name, part, X).to_delayed())
        columns.append([None] * X.numblocks[0] if cut is None else cut)
    gather = delayed(gather_block, pure=False, traverse=False)
    return [gather(k, *block) for k, block in enumerate(zip(*columns, strict=True))]


def cut_alike(name: str, values: Any, X: Any) -> Any:
    """y or weights as a dask array that is cut as X is."""
    values = as_array(values)
    if not np.isnan([*X.chunks[0], *values.chunks[0]]).any():
        if len(values) != len(X):
            raise ValueError(f"X has {len(X)} rows, and {name} has {len(values)}.")
        return values.rechunk({0: X.chunks[0]})
    if values.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"X has {X.numblocks[0]} blocks and {name} has {values.numblocks[0]}, and how many "
            "rows are in each is not known; take both from one DataFrame, or call "
            "compute_chunk_sizes() on both."
        )
    return values


def as_array(values: Any) -> Any:
    from dask import array

    values = array.asarray(values)
    wide = values.ndim == 2 and values.numblocks[1] > 1
    return values.rechunk({1: -1}) if wide else values


def gather_block(k: int, X: Any, y: Any, weights: Any) -> tuple[int, Any, Any, Any]:
    for name, other in (("y", y), ("sample_weight", weights)):
        if other is not None and len(other) != X.shape[0]:
            raise ValueError(
                f"block {k} of X has {X.shape[0]} rows, and that of {name} has {len(other)}; cut "
                f"{name} as X is cut, or take both from one DataFrame."
            )
    return k, X, y, weights


def is_collection(value: Any) -> bool:
    return hasattr(value, "__dask_graph__")


def width_of(X: Any) -> int:
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
    """Dask's schedulers of this machine, which compute a few blocks at a time."""

    def parts(
        self, function: Callable[..., Any], descriptors: Iterator[Any], merge: Any, start: int
    ) -> Iterator[tuple[Any, int]]:
        """Parts in order; this process sums, by the threads of BLAS."""
        import dask

        while some := list(islice(descriptors, os.cpu_count() or 1)):
            for block in dask.compute(*some):
                yield function(block), 1


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
    return b if a is None else a if b is None else a + b


def predict_lazily(
    model: Learner, method: Callable[..., Any], X: Any, *args: Any, **kw: Any
) -> Any:
    """What `method(model, X)` returns, as a dask array that is computed on demand."""
    example = np.asarray(method(model, example_row(X), *args, **kw))
    X, twin = as_array(X), copy.copy(model)
    twin.__dict__.pop("feature_names_in_", None)  # names were checked above, and blocks have none

    def answer(rows: Any) -> Any:
        return method(twin, rows, *args, **kw) if rows.shape[0] else example[:0]

    shape: dict[str, Any] = {"drop_axis": 1} if example.ndim == 1 else {}
    if example.ndim == 2:
        shape = {"chunks": (X.chunks[0], (example.shape[1],))}
    return X.map_blocks(answer, dtype=example.dtype, meta=example[:0], **shape)


def example_row(X: Any) -> Any:
    """A row of zeros with the columns of X, which a model checks and answers with its shapes."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    zeros = np.zeros((1, width_of(X)), dtype=dtype)
    return type(X._meta)(zeros, columns=X.columns) if hasattr(X, "columns") else zeros


def score(model: Learner, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R^2 of a regressor, or the accuracy of a classifier, of predictions in this process."""
    import dask

    if not is_collection(X):
        raise TypeError("y or sample_weight is of Dask, and X is not; give all three alike.")
    if model._scored_by not in ("R2", "accuracy"):
        raise TypeError(
            f"the score of {type(model).__name__} is {model._scored_by or 'not declared'}, which "
            "cannot be summed over rows of Dask; give X.compute()."
        )
    V = predict_lazily(model, type(model).predict, X)
    parts = V, *(None if part is None else as_array(part) for part in (y, sample_weight))
    predicted, y, omega = dask.compute(*parts)
    if not len(y):
        raise ValueError("X has no rows to score.")
    if model._scored_by == "accuracy":
        return float(np.average(y == predicted, weights=omega))
    errors = np.average((y - predicted) ** 2, axis=0, weights=omega)
    spread = np.average((y - np.average(y, axis=0, weights=omega)) ** 2, axis=0, weights=omega)
    with np.errstate(divide="ignore", invalid="ignore"):
        constant = np.where(errors > 0, 0.0, 1.0)
        return float(np.mean(np.where(spread > 0, 1.0 - errors / spread, constant)))
