"""`Chunks`: rows from arrays, files, process pools or Dask, summed block by block in passes.

A `Reader` makes chunks, which are numbers, of blocks of tables, of LIBSVM text and of Dask, in
whatever process that is.

A sum is a plain function of a `Chunk`, a block as numbers, whose results merge with `+` in the
tree of `mapreduce`: the same bits whoever computes them. Results are numbered in the order in which
they are asked for. A run that resumes asks again in the same order, and gets from the checkpoint
what was summed before. Called by the modules of this package; bits: tests/data/test_checkpoint.py.
"""

from __future__ import annotations

import operator
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
from adaline.data.storing.records import storable
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
    """Rows of a block: X (n, p), y (n,) numbers or codes of classes, and weights and offsets.

    Weights and offsets (logarithms of exposures) are (n,), or (0,) where there are none.
    """

    X: Any
    y: NDArray[Any]
    weights: Array
    offset: Array

    @property
    def weights_or_none(self) -> Array | None:
        return self.weights if len(self.weights) else None

    def taking(self, rows: Any) -> Chunk:
        weights, offset = (a[rows] if len(a) else a for a in (self.weights, self.offset))
        return Chunk(self.X[rows], self.y[rows], weights, offset)


@storable
@dataclass(frozen=True)
class Part:
    """The sum of a block, or of several, and their rows; a block without rows has None."""

    rows: int
    value: Any

    def __add__(self, other: Part) -> Part:
        values = [part.value for part in (self, other) if part.value is not None]
        total = operator.add(*values) if len(values) == 2 else (values or [None])[0]
        return Part(self.rows + other.rows, total)


@storable
@dataclass(frozen=True)
class ClassWeights:
    """The weight of the rows of each class."""

    weights: dict[Any, float]

    def __add__(self, other: ClassWeights) -> ClassWeights:
        both = dict(self.weights)
        for label, weight in other.weights.items():
            both[label] = both.get(label, 0.0) + weight
        return ClassWeights(both)


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
        omega = weights_in(block)
        chunk = Chunk(X, y, omega, self._offsets(block, keep))
        return chunk.taking(omega > 0) if len(omega) and not omega.all() else chunk

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
        """The rows and `ClassWeights` of a block: a class whose rows weigh nothing is a class."""
        _, values, levels = self.targets(block)
        omega = weights_in(block)
        labels, codes = np.unique(values, return_inverse=True)
        if len(labels) > MOST_CLASSES:
            self.with_labels(dict.fromkeys(labels.tolist(), 1.0))
        sums = np.bincount(codes, omega if len(omega) else None, minlength=len(labels))
        if levels is not None:
            labels = levels.take(labels)
        elif labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)):
            labels = np.array([int(label) for label in labels.tolist()], dtype=object)
        pairs = dict(zip(labels.tolist(), map(float, sums), strict=True))
        n = int(np.count_nonzero(omega)) if len(omega) else len(values)
        return Part(n, ClassWeights(pairs) if pairs else None)

    def with_labels(self, weights: Mapping[Any, float]) -> Self:
        """The same with all classes, which have these weights: two at least, and not too many."""
        what = f"the target {self.target!r} has"
        if len(weights) > MOST_CLASSES:
            raise DataError(
                f"{what} more than {MOST_CLASSES} different values, which are no classes; use a "
                "regressor, or another target."
            )
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


def weights_in(block: Any) -> Array:
    """Weights of the rows of a block, or (0,)."""
    omega = getattr(block, "weights", None)
    return NONE if omega is None else np.asarray(omega, dtype=np.float64)


def encode_labels(values: NDArray[Any], labels: tuple[Any, ...]) -> NDArray[np.int64]:
    """The place of each value among the sorted labels; -1 where it is not among them."""
    if values.dtype.kind in "biuf" and not isinstance(labels[0], str):
        known = np.asarray(labels)
        codes = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[codes] == values, codes, -1).astype(np.int64)
    place = {label: k for k, label in enumerate(labels)}
    own, codes = np.unique(values, return_inverse=True)
    return np.array([place.get(label, -1) for label in own.tolist()], dtype=np.int64)[codes]


@dataclass(frozen=True)
class PieceSum:
    """The sum of a piece, slice by slice; it can travel to another process."""

    source: Source
    function: Callable[[Any], Part]

    def __call__(self, item: Any) -> Part:
        if isinstance(item, Block):  # of a source that can be read once only
            return self.function(item)
        total: Part = branch(self.function, operator.add, self.source.slices(item))
        return total


def apply_to_chunk(reader: Reader, function: Any, args: Any, block: Any) -> Part:
    chunk = reader.read(block)
    n = len(chunk.y)
    return Part(n, function(chunk, *args) if n else None)


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
        if not self.source.again:
            raise DataError(
                f"{self.source.name} can be read once only, and a pass must find its classes; save "
                "it to a file first. Learners of rows in their order take classes=."
            )
        weights = self._next(self.reader.count_labels).weights
        self.reader = self.reader.with_labels(weights)
        return {label: weights[label] for label in self.labels}

    def set_labels(self, labels: Iterable[Any]) -> None:
        self.reader = replace(self.reader, labels=tuple(labels))

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
        reduction = Reduction(operator.add, *(self.present or (0, [])))

        def after(now: Reduction[Part]) -> None:
            self.tell(sum(part.rows for part in now.waiting))
            self.present = now.count, list(now.waiting)
            self.save()

        again = self.source.again
        total = mapreduce(
            PieceSum(self.source.for_reading(), work),
            self.source.descriptors() if again else self.source,
            operator.add,
            self.jobs if again else 1,
            reduction=reduction,
            after=after,
        )
        if total.rows == 0:
            raise DataError(f"{self.source.name}: no rows are left to learn from.")
        return total.value
