"""`Chunks`: rows from arrays, files, process pools or Dask, summed block by block in passes.

A `Reader` makes chunks, which are numbers, of blocks of tables, of LIBSVM text and of Dask, in
whatever process that is.

A sum is a plain function of a `Chunk`, a block as numbers, whose results merge with `+` in the
tree of `mapreduce`: the same bits whoever computes them. Results are numbered in the order in which
they are asked for. A run that resumes asks again in the same order, and gets from the checkpoint
what was summed before. Called by the modules of this package; bits: tests/data/test_checkpoint.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import column_of, missing_in
from adaline.data.reading.source import Block, Source
from adaline.data.storing.checkpoint import Checkpoint
from adaline.errors import DataError
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import LARGEST_OFFSET
from adaline.sums.mapreduce import Executor, Reduction, branch, mapreduce
from adaline.sums.rows import NONE, as_csr

MOST_CLASSES = 1000  # more different values are hardly labels
Progress = Callable[[int, "int | None"], None]  # rows done, and all rows if that is known


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows of a block as numbers."""

    X: Any  # (n, p), dense or CSR
    y: NDArray[Any]  # (n,), numbers or codes of classes
    weights: Array | None  # (n,); None: every row weighs 1
    offset: Array  # (n,), logarithms of exposures, or (0,)

    def taking(self, rows: Any) -> Chunk:
        weights = None if self.weights is None else self.weights[rows]
        offset = self.offset[rows] if len(self.offset) else self.offset
        return Chunk(self.X[rows], self.y[rows], weights, offset)


Part = tuple[int, Any]  # the rows of a block, or of several, and their sum; None without rows


def merge(a: Part, b: Part) -> Part:
    """The part of both; weights of classes are added class by class."""
    rows, (one, other) = a[0] + b[0], (a[1], b[1])
    if one is None or other is None:
        return rows, other if one is None else one
    if isinstance(one, dict):
        return rows, {k: one.get(k, 0.0) + other.get(k, 0.0) for k in {**one, **other}}
    return rows, one + other


@dataclass(frozen=True)
class Reader:
    """How blocks become chunks.

    Without an encoding blocks have `features` and `labels` apart, and may have `weights`: those of
    LIBSVM text with millions of columns, and of Dask.
    """

    names: Any  # of the columns of X
    target: str
    source: str  # what messages call it
    encoding: Encoding | None = None
    exposure: str | None = None  # a column
    loss: Any = None  # which numbers it takes as targets
    labels: tuple[Any, ...] | None = None  # all classes, sorted, once they are known

    def read(self, block: Any) -> Chunk:
        """A block as numbers; rows without a weight are checked and left out."""
        keep, y, levels = self.targets(block)
        what = f"target {self.target!r}"
        if self.labels is None:
            try:
                y = np.asarray(y if levels is None else "text", dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(
                    f"{self.source}: the {what} holds text; a regressor needs numbers. Use a "
                    "classifier, or another column."
                ) from None
            self._refuse(~np.isfinite(y), y, what, block, keep, "leave that row out.")
            if self.loss is not None:
                advice = f"{self.loss.told}; correct it or leave that row out."
                self._refuse(self.loss.bad(y), y, what, block, keep, advice)
        else:
            codes = encode_labels(y if levels is None else levels, self.labels)
            values = y if levels is None else levels.take(y)
            y = codes if levels is None else codes[y]
            advice = f"it is not among the classes {str(list(self.labels))[:80]}."
            self._refuse(y < 0, values, what, block, keep, advice)
        by = self.encoding
        X = self._features(block) if by is None else by.encode(block, keep)
        omega = getattr(block, "weights", None)
        chunk = Chunk(X, y, omega, self._offsets(block, keep))
        return chunk if omega is None or omega.all() else chunk.taking(omega > 0)

    def targets(self, block: Any) -> tuple[NDArray[np.bool_] | None, NDArray[Any], Any]:
        """Which rows are kept (None: all), and their targets; of text their places among levels."""
        if self.encoding is None:
            y = np.asarray(block.labels)
            if y.dtype == object and len({type(value) for value in y.tolist()}) > 1:
                where = block.place(0)
                raise DataError(f"{self.source}: y has missing or mixed labels near {where}.")
            if y.dtype.kind == "f":
                advice = "labels are finite numbers. Leave that row out."
                self._refuse(~np.isfinite(y), y, "label", block, None, advice)
            return None, y, None
        keep: Any = self.encoding.kept(block, self.target)
        for what, name in (("target", self.target), ("exposure", self.exposure)):
            gone = None if name is None else missing_in(column_of(block, name))
            if gone is not None and self.encoding.missing not in ("drop", "auto"):
                raise DataError(
                    f"{self.source}: the {what} {name!r} is missing at "
                    f"{block.place(int(np.argmax(gone)))} ({int(gone.sum())} in this block)",
                    ("missing", "drop", "leaves those rows out"),
                )
            keep = keep if gone is None else ~gone if keep is None else keep & ~gone
        column = column_of(block, self.target)
        if column.kind not in ("number", "text"):
            raise DataError(
                f"{self.source}: the target {self.target!r} holds {column.kind}; expected numbers, "
                "or classes, which are numbers or text."
            )
        values = np.asarray(column.values if keep is None else column.values[keep])
        levels = np.array(column.levels, dtype=object) if column.kind == "text" else None
        return keep, values, levels

    def count_labels(self, block: Any) -> Part:
        """The rows of a block, and the weight of each class, which may be zero."""
        _, values, levels = self.targets(block)
        omega = getattr(block, "weights", None)
        labels, codes = np.unique(values, return_inverse=True)
        self._refuse_many(labels)
        sums = np.bincount(codes, omega, minlength=len(labels))
        if levels is not None:
            labels = levels.take(labels)
        elif labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)):
            labels = np.array([int(label) for label in labels.tolist()], dtype=object)
        weights = dict(zip(labels.tolist(), map(float, sums), strict=True))
        n = len(values) if omega is None else int(np.count_nonzero(omega))
        return n, weights or None

    def with_labels(self, weights: Mapping[Any, float]) -> Self:
        """The same with all classes, which have these weights: two at least, and not too many."""
        self._refuse_many(weights)
        what = f"the target {self.target!r} has"
        try:
            labels = tuple(sorted(weights))
        except TypeError:
            raise DataError(f"{what} numbers and text, such as {list(weights)[:2]}.") from None
        present = [label for label in labels if weights[label] > 0]
        if len(present) < 2:
            raise DataError(
                f"{what} one class, {present}, in the rows of positive weight; telling classes "
                "apart needs two."
            )
        return replace(self, labels=labels)

    def _refuse_many(self, labels: Any) -> None:
        if len(labels) > MOST_CLASSES:
            raise DataError(
                f"the target {self.target!r} has more than {MOST_CLASSES} different values, which "
                "are no classes; use a regressor, or another target."
            )

    def _features(self, block: Any) -> Any:
        """All columns, as float64, float32 or CSR; millions of them need no encoding."""
        X = as_csr(block.features) if is_sparse(block.features) else np.asarray(block.features)
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        values: Any = X.data if is_sparse(X) else X
        if not np.isfinite(values).all():
            entries = sparse.coo_array(X)
            k = int(np.argmin(np.isfinite(entries.data)))
            row, column = entries.row[k], entries.col[k]
            raise DataError(
                f"{self.source}: {block.place(row)} has {entries.data[k]} in the column "
                f"{self.names[column]!r}; correct it or leave that row out."
            )
        return X

    def _offsets(self, block: Block, keep: Any) -> Array:
        """Logarithms of the exposures of these rows, or (0,)."""
        if self.exposure is None:
            return NONE
        column, what = column_of(block, self.exposure), f"exposure {self.exposure!r}"
        if column.kind != "number":
            raise DataError(f"{self.source}: the {what} holds {column.kind}; expected numbers.")
        times = np.asarray(column.values if keep is None else column.values[keep], dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            offset = np.log(times)
        advice = "exposures are positive numbers; correct it or leave that row out."
        self._refuse(~(np.abs(offset) <= LARGEST_OFFSET), times, what, block, keep, advice)
        return offset

    def _refuse(self, bad: Any, values: Any, what: str, block: Any, keep: Any, advice: str) -> None:
        if not bad.any():
            return
        i = int(np.argwhere(bad)[0][0])
        row = i if keep is None else int(np.flatnonzero(keep)[i])
        value = np.asarray(values[i]).tolist()
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        raise DataError(f"{self.source}: the {what} is {shown} at {block.place(row)}; {advice}")


def encode_labels(values: NDArray[Any], labels: tuple[Any, ...]) -> NDArray[np.int64]:
    """The place of each value among the labels; -1 where it is not among them."""
    place = {label: k for k, label in enumerate(labels)}
    own, codes = np.unique(values, return_inverse=True)
    return np.array([place.get(label, -1) for label in own.tolist()], dtype=np.int64)[codes]


def sum_piece(source: Source, function: Callable[[Any], Part], item: Any) -> Part:
    """The sum of a piece, slice by slice, or of a block that Dask has computed."""
    if isinstance(item, Block):
        return function(item)
    return branch(function, merge, source.slices(item))


def apply_to_chunk(reader: Reader, function: Any, args: Any, block: Any) -> Part:
    chunk = reader.read(block)
    n = len(chunk.y)
    return n, function(chunk, *args) if n else None


@dataclass
class Chunks:
    """The blocks of a source as chunks, and what was summed over them so far."""

    source: Source
    reader: Any
    jobs: int | Executor = 1
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    done: list[Any] = field(default_factory=list)  # results: of a checkpoint, then of this run
    present: Any = None  # how far the pass that was interrupted has come
    state: Any = None  # what learners continue from that do not start from sums alone
    count: int = 0  # results asked for

    def __post_init__(self) -> None:
        saved = self.checkpoint.load() if self.checkpoint else None
        if saved is not None and self.checkpoint:
            self.done, self.present, self.state = saved
            if report := getattr(self.progress, "resumed", None):
                at = "between two passes" if self.present is None else "in the middle of a pass"
                report(f"Going on from the checkpoint in {self.checkpoint.path.parent}, {at}.")

    @property
    def labels(self) -> tuple[Any, ...]:
        return self.reader.labels  # type: ignore[no-any-return]

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """function(chunk, *args) of all blocks, merged with +, in one pass."""
        return self._next(partial(apply_to_chunk, self.reader, function, args))

    def find_labels(self) -> dict[Any, float]:
        """Let the reader know all classes, sorted, in a pass; returns the weight of each."""
        weights = self._next(self.reader.count_labels)
        self.reader = self.reader.with_labels(weights)
        return {label: weights[label] for label in self.labels}

    def set_labels(self, labels: Iterable[Any]) -> None:
        self.reader = replace(self.reader, labels=tuple(labels))

    def require_finite(self, *sums: Array) -> None:
        if not all(np.isfinite(part).all() for part in sums):
            raise DataError(
                f"{self.source.name}: sums over the rows leave the range of float64; rescale the "
                "columns."
            )

    def continue_with(self, count: int, state: Any) -> None:
        """Save a state that continues after the first `count` results; forget the later ones."""
        del self.done[count:]
        self.count, self.state = count, state
        self.save(now=True)

    def save(self, *, now: bool = False) -> None:
        """Write all that is known to the checkpoint, unless that was done a moment ago."""
        if self.checkpoint is not None:
            self.checkpoint.save((self.done, self.present, self.state), now=now)

    def tell(self, rows: int) -> None:
        if self.progress is not None:
            self.progress(rows, self.source.rows)

    def _next(self, work: Callable[[Any], Part]) -> Any:
        """The next result: from the checkpoint, or summed in a pass and saved."""
        self.count += 1
        if self.count > len(self.done):
            self.done.append(self._sum(work))
            self.present = None
            self.save(now=True)
        return self.done[self.count - 1]

    def _sum(self, work: Callable[[Any], Part]) -> Any:
        def after(now: Reduction[Part]) -> None:
            self.tell(sum(rows for rows, _ in now.waiting))
            self.present = now.count, list(now.waiting)
            self.save()

        rows, total = mapreduce(
            partial(sum_piece, self.source.for_reading(), work),
            self.source.descriptors(),
            merge,
            self.jobs,
            reduction=Reduction(merge, *(self.present or (0, []))),
            after=after,
        )
        if rows == 0:
            raise DataError(f"{self.source.name}: no rows are left to learn from.")
        return total
