"""dask arrays, DataFrames and Series as blocks of rows: cut where Dask cut them, never gathered.

A block is a `Delayed` of (number, X, y, weights): computing it is a task with its lineage back to
the files, and each pass computes it anew. Whoever wants blocks to stay in the workers' memory calls
`persist` before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from adaline.distributed._branches import branches
from adaline.distributed._tasks import lazy_branch
from adaline.distributed.answers import like
from adaline.distributed.workers import Workers
from adaline.sums.mapreduce import Executor, mapreduce


def row_blocks(X: Any, y: Any = None, weights: Any = None) -> list[Any]:
    """A Delayed of (number, X, y, weights) for each block of rows of X."""
    from dask import delayed

    parts = _blocks_of("X", X)
    others = [
        [None] * len(parts) if other is None else _alike(name, other, X, len(parts))
        for name, other in (("y", y), ("sample_weight", weights))
    ]
    gather = delayed(gathered, pure=False, traverse=False)
    return [gather(k, *block) for k, block in enumerate(zip(parts, *others, strict=True))]


def gathered(k: int, X: Any, y: Any, weights: Any) -> tuple[int, Any, Any, Any]:
    """One block, whose parts must have as many rows each."""
    for name, other in (("y", y), ("sample_weight", weights)):
        if other is not None and len(other) != X.shape[0]:
            raise ValueError(
                f"block {k} of X has {X.shape[0]} rows, and that of {name} has {len(other)}; cut "
                f"{name} as X is cut, or take both from one DataFrame."
            )
    return k, X, y, weights


def _blocks_of(name: str, table: Any) -> list[Any]:
    """The blocks of rows of one collection."""
    if hasattr(table, "npartitions") and not hasattr(table, "chunks"):
        return list(table.to_delayed())
    if not hasattr(table, "chunks"):
        raise TypeError(
            f"{name} is a {type(table).__name__} of Dask; expected a dask array, DataFrame or "
            "Series."
        )
    if name == "X":
        width_of(table)
    if table.ndim == 2 and table.numblocks[1] > 1:
        table = table.rechunk({1: -1})
    return list(np.ravel(table.to_delayed()))


def _alike(name: str, other: Any, X: Any, count: int) -> list[Any]:
    """The blocks of y or weights, cut as X is."""
    known = getattr(X, "chunks", None)
    sizes = None if known is None or np.isnan(known[0]).any() else known[0]
    if not is_collection(other):
        if sizes is None:
            raise TypeError(
                f"X is of Dask and does not know how many rows its blocks have, and {name} is "
                f"not of Dask; take both from one DataFrame, or call X.compute_chunk_sizes()."
            )
        return _sliced(name, np.asarray(other), sizes)
    chunks = getattr(other, "chunks", None)
    if sizes is not None and chunks is not None and not np.isnan(chunks[0]).any():
        if sum(chunks[0]) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows, and {name} has {sum(chunks[0])}.")
        if tuple(chunks[0]) != tuple(sizes):
            other = other.rechunk({0: sizes})
    parts = _blocks_of(name, other)
    if len(parts) != count:
        raise ValueError(
            f"X has {count} blocks and {name} has {len(parts)}, and how many rows are in each is "
            "not known; take both from one DataFrame, or call compute_chunk_sizes() on both."
        )
    return parts


def _sliced(name: str, values: Any, sizes: Sequence[int]) -> list[Any]:
    if len(values) != sum(sizes):
        raise ValueError(f"X has {sum(sizes)} rows, and {name} has {len(values)}.")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def is_collection(value: Any) -> bool:
    """Whether a value is of Dask."""
    return hasattr(value, "__dask_graph__")


def width_of(X: Any) -> int:
    """Columns of X."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; expected (rows, features).")
    p = len(X.columns) if hasattr(X, "columns") else X.shape[1]
    if p != p:
        raise ValueError("X does not know how many columns it has; call X.compute_chunk_sizes().")
    return int(p)


def executor() -> Executor:
    """The cluster that is connected, or the scheduler of this machine that Dask would use."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return Local() if client is None else Workers(client)


class Local:
    """Dask's schedulers of this machine: threads, processes, or one after the other."""

    def parts(
        self,
        function: Callable[[Any], Any],
        descriptors: Iterator[Any],
        merge: Callable[[Any, Any], Any],
        start: int,
    ) -> Iterator[tuple[Any, int]]:
        """Merged branches in order, a few at a time."""
        import dask

        threads = os.cpu_count() or 1
        cut = branches(descriptors, start, lambda: threads)
        while some := list(islice(cut, threads)):
            found = dask.compute(*(lazy_branch(function, merge, branch) for branch in some))
            yield from zip(found, map(len, some), strict=True)


def reduced(of: Callable[..., Any], X: Any, y: Any = None, weights: Any = None) -> Any:
    """The sums of all blocks: `of(X, y, weights)` of each, merged with + in the usual tree."""
    blocks = row_blocks(X, y, weights)
    check = like(_of_one_row(of, X, y, weights))
    whole = mapreduce(_Of(of), blocks, _plus, executor(), check=check)
    if whole is None:
        raise ValueError("X has no rows in any of its blocks.")
    return whole


def _of_one_row(of: Callable[..., Any], X: Any, y: Any, weights: Any) -> Any:
    """What a block with one row of zeros gives: the shapes that all blocks must give."""
    shape = (1,) if getattr(y, "ndim", 1) == 1 else (1, y.shape[1])
    target = None if y is None else np.zeros(shape, dtype=np.int64)
    return of(np.zeros((1, width_of(X))), target, None if weights is None else np.ones(1))


class _Of:
    """A function of (X, y, weights) as one of blocks; None for a block without rows."""

    def __init__(self, of: Callable[..., Any]) -> None:
        self.of = of

    def __call__(self, block: tuple[int, Any, Any, Any]) -> Any:
        k, X, y, weights = block
        if not X.shape[0]:
            return None
        given = [part if part is None else plain(part) for part in (X, y, weights)]
        try:
            return self.of(*given)
        except (ValueError, TypeError) as error:
            raise type(error)(f"block {k}: {error}") from None


def plain(part: Any) -> Any:
    """An array or CSR of a block of a DataFrame or Series."""
    return part.to_numpy() if hasattr(part, "to_numpy") else part


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b
