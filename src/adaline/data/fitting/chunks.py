"""`Chunks`: rows from arrays, files, process pools or Dask, summed block by block in passes.

A sum is a plain function of a `Chunk`, a block as numbers, whose results merge with `+` in the
tree of `mapreduce`: the same bits whoever computes them. Results are numbered in the order in which
they are asked for. A run that resumes asks again in the same order, and gets from the checkpoint
what was summed before. Called by the modules of this package; bits: tests/data/test_kills.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.source import Block, Source
from adaline.data.storing.checkpoint import Checkpoint
from adaline.data.storing.records import storable
from adaline.errors import DataError
from adaline.results import Array
from adaline.sums.mapreduce import Executor, Reduction, branch, mapreduce

Progress = Callable[[int, "int | None"], None]  # rows done, and all rows if that is known
MOST_CLASSES = 1000  # more different values are hardly labels


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
        """The weights, as moments take them."""
        return self.weights if len(self.weights) else None


class Reader(Protocol):
    """How blocks become chunks: of tables, of LIBSVM text, or of Dask."""

    names: Any  # of the columns of X
    target: Any  # the name of the target
    labels: Any  # all classes, sorted; None where targets are numbers, or not known yet

    def read(self, block: Any, order: Any) -> Chunk:
        """A block as numbers; rows without a weight or with gaps may be left out."""
        ...

    def count_labels(self, block: Any) -> Part:
        """The rows and `ClassWeights` of a block."""
        ...


@storable
@dataclass(frozen=True)
class Part:
    """The sum of a block, or of several, and their rows; a block without rows has None."""

    rows: int
    value: Any

    def __add__(self, other: Part) -> Part:
        if self.value is None or other.value is None:
            return Part(self.rows + other.rows, other.value if self.value is None else self.value)
        return Part(self.rows + other.rows, self.value + other.value)


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
class PieceSum:
    """The sum of a piece, slice by slice; it can travel to another process."""

    source: Source | None
    function: Callable[[Any], Part]

    def __call__(self, item: Any) -> Part:
        if isinstance(item, Block):  # of a source that can be read once only
            return self.function(item)
        assert self.source is not None
        total: Part = branch(self.function, operator.add, self.source.slices(item))
        return total


def apply_to_chunk(reader: Any, function: Any, args: Any, order: Any, block: Any) -> Part:
    """The function's result for a block."""
    chunk = reader.read(block, order)
    n = len(chunk.y)
    return Part(n, function(chunk, *args) if n else None)


@dataclass
class Chunks:
    """The blocks of a source as chunks, and what was summed over them so far.

    Attributes
    ----------
    source : Source
    reader : Reader
    jobs : int or Executor
    progress : callable, optional
    checkpoint : Checkpoint, optional
    done : list
        Results in their order: those of a checkpoint, then those of this run.
    present : dict, optional
        How far the pass that was interrupted has come.
    state : optional
        Of learners that do not start from sums alone: what they continue from.
    """

    source: Source
    reader: Any
    jobs: int | Executor = 1
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    done: list[Any] = field(default_factory=list)
    present: Any = None
    state: Any = None
    count: int = 0  # results asked for

    def __post_init__(self) -> None:
        saved = self.checkpoint.load() if self.checkpoint else None
        if saved is not None:
            self.done, self.present, self.state = saved["done"], saved["present"], saved["state"]
            report = getattr(self.progress, "resumed", None)
            if report is not None and self.checkpoint is not None:
                at = "between two passes" if self.present is None else "in the middle of a pass"
                report(f"Going on from the checkpoint in {self.checkpoint.path.parent}, {at}.")

    @property
    def labels(self) -> tuple[Any, ...]:
        """All classes."""
        return self.reader.labels  # type: ignore[no-any-return]

    def sum(self, function: Callable[..., Any], *args: Any, order: str = "C") -> Any:
        """function(chunk, *args) of all blocks, merged with +, in one pass."""
        work = partial(apply_to_chunk, self.reader, function, args, order)
        return self.once(lambda: self._sum(work))

    def once(self, compute: Callable[[], Any]) -> Any:
        """The next result: from the checkpoint, or computed and saved."""
        self.count += 1
        if self.count > len(self.done):
            value = compute()
            self.done.append(value)
            self.present = None
            self.save(now=True)
        return self.done[self.count - 1]

    def replace_results(self, kept: int, state: Any) -> None:
        """Save a state that continues after the first results, and forget the later ones."""
        del self.done[kept:]
        self.count, self.state = kept, state
        self.save(now=True)

    def find_labels(self, classes: Any = None) -> dict[Any, float]:
        """Let the reader know all classes, sorted; returns the weight of each.

        A pass counts them; rows that can be read only once have the given `classes`.
        """
        if self.source.again:
            weights = self.once(lambda: self._sum(self.reader.count_labels)).weights
        elif classes is not None:
            weights = dict.fromkeys(np.unique(np.asarray(classes)).tolist(), 1.0)
        else:
            raise DataError(
                f"{self.source.name} can be read once only, so its classes are not known "
                "beforehand; give classes=."
            )
        try:
            labels = tuple(sorted(weights))
        except TypeError:
            raise DataError(
                f"the target has numbers and text, such as {list(weights)[:2]}."
            ) from None
        require_classes(labels, self.reader.target)
        present = [label for label in labels if weights[label] > 0]
        if len(present) < 2:
            raise DataError(
                f"all rows of positive sample_weight are of one class, {present}; rows of weight "
                f"zero are left out, and telling classes of {self.reader.target!r} apart needs at "
                "least two."
            )
        self.set_labels(labels)
        return {label: weights[label] for label in labels}

    def set_labels(self, labels: Iterable[Any]) -> None:
        """Let the reader know all classes."""
        self.reader = replace(self.reader, labels=tuple(labels))

    def sum_of_pieces(self, pieces: Iterable[Any], function: Any, *args: Any) -> Part:
        """function(chunk, *args) of some pieces, which no checkpoint keeps."""
        work = partial(apply_to_chunk, self.reader, function, args, "C")
        one = PieceSum(self.source.for_reading(), work)
        total: Part = mapreduce(one, pieces, operator.add, self.jobs)
        return total

    def save(self, *, now: bool = False) -> None:
        """Write all that is known to the checkpoint, unless that was done a moment ago."""
        if self.checkpoint is not None:
            content = {"done": self.done, "present": self.present, "state": self.state}
            self.checkpoint.save(content, now=now)

    def tell(self, rows: int) -> None:
        """Report how many rows of this pass are done."""
        if self.progress is not None:
            self.progress(rows, self.source.rows)

    def _sum(self, work: Callable[[Any], Part]) -> Any:
        reduction: Reduction[Part] = Reduction(operator.add)
        if self.present is not None:
            reduction = Reduction(operator.add, self.present["count"], self.present["waiting"])
        rows = sum(part.rows for part in reduction.waiting)

        def report(part: Part) -> None:
            nonlocal rows
            rows += part.rows
            self.tell(rows)

        def keep(now: Reduction[Part]) -> None:
            self.present = {"count": now.count, "waiting": list(now.waiting)}
            self.save()

        again = self.source.again
        total = mapreduce(
            PieceSum(self.source.for_reading() if again else None, work),
            self.source.descriptors() if again else self.source,
            operator.add,
            self.jobs if again else 1,
            report,
            reduction=reduction,
            after=keep if self.checkpoint else None,
        )
        if total.rows == 0:
            raise DataError(f"{self.source.name}: no rows are left to learn from.")
        return total.value


def require_classes(labels: Any, target: str) -> None:
    """Two classes at least, and not too many."""
    if len(labels) < 2:
        raise DataError(
            f"the target {target!r} has one class, {list(labels)}; telling classes apart needs two."
        )
    if len(labels) > MOST_CLASSES:
        raise DataError(
            f"the target {target!r} has more than {MOST_CLASSES} different values, which are no "
            "classes; use a regressor, or another target."
        )


def count_labels(values: NDArray[Any], weights: Array, target: str) -> Part:
    """The `ClassWeights` of labels; whole numbers as int."""
    labels, codes = np.unique(values, return_inverse=True)
    if len(labels) > MOST_CLASSES:
        require_classes(labels, target)
    if labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)):
        labels = np.array([int(label) for label in labels.tolist()], dtype=object)
    sums = np.bincount(codes, weights if len(weights) else None, minlength=len(labels))
    pairs = dict(zip(labels.tolist(), map(float, sums), strict=True))
    n = len(values) if not len(weights) else int(np.count_nonzero(weights))
    return Part(n, ClassWeights(pairs) if pairs else None)


def encode_labels(values: NDArray[Any], labels: tuple[Any, ...]) -> NDArray[np.int64]:
    """The place of each value among the sorted labels; -1 where it is not among them."""
    if values.dtype.kind in "biuf" and not isinstance(labels[0], str):
        known = np.asarray(labels)
        codes = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[codes] == values, codes, -1).astype(np.int64)
    place = {label: k for k, label in enumerate(labels)}
    own, codes = np.unique(values, return_inverse=True)
    return np.array([place.get(label, -1) for label in own.tolist()], dtype=np.int64)[codes]
