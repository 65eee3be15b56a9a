"""Passes over a source: what is summed, what is remembered between blocks, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import column_of, missing_in
from adaline.data.columns.encoding import Encoding
from adaline.data.fitting._returned import Part, check_returned
from adaline.data.reading.source import Block, Source
from adaline.data.storing.checkpoint import Checkpoint
from adaline.errors import DataError
from adaline.results import Array
from adaline.sums.losses import LARGEST_OFFSET, LogLink
from adaline.sums.mapreduce import Executor, Reduction, branch, mapreduce

Progress = Callable[[int, "int | None"], None]  # rows done, and all rows if that is known
_MOST_CLASSES = 1000


@dataclass(frozen=True)
class Reader:
    """A function of blocks as one of pieces, slice by slice; it can travel to another process."""

    source: Source | None
    function: Callable[[Block], Part]
    merge: Callable[[Part, Part], Part]

    def __call__(self, item: Any) -> Part:
        if isinstance(item, Block):
            return self.function(item)
        assert self.source is not None
        return branch(self.function, self.merge, self.source.slices(item))


@dataclass(frozen=True)
class Both:
    """The merge of two parts; it can travel to other processes."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, a: Part, b: Part) -> Part:
        return Part(a.rows + b.rows, self.merge(a.value, b.value))


@dataclass
class Passes:
    """A run over one source: passes already summed are remembered, the present one is saved."""

    source: Source
    jobs: int | Executor = 1
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    done: dict[str, Any] = field(default_factory=dict)
    present: Any = None

    def __post_init__(self) -> None:
        saved = self.checkpoint.load() if self.checkpoint else None
        if saved is not None:
            self.done, self.present = saved["done"], saved["present"]
            self._say_so()

    def _say_so(self) -> None:
        """Tell whoever watches that the run goes on where it was stopped."""
        said = getattr(self.progress, "resumed", None)
        if said is not None and self.checkpoint is not None:
            at = "in the middle of a pass" if self.present is not None else "between two passes"
            said(f"Going on from the checkpoint in {self.checkpoint.path.parent}, {at}.")

    def sums(
        self,
        name: str,
        function: Callable[[Block], Part],
        merge: Callable[[Any, Any], Any],
    ) -> Any:
        """The sum of a pass; from the checkpoint as far as it goes."""
        if name in self.done:
            return self.done[name]

        both = Both(merge)
        reduction: Reduction[Part] = Reduction(both)
        if self.present is not None and self.present["pass"] == name:
            reduction = Reduction(both, self.present["count"], list(self.present["waiting"]))
        told = sum(part.rows for part in reduction.waiting)

        def tell(part: Part) -> None:
            nonlocal told
            told += part.rows
            self.tell(told)

        def keep(now: Reduction[Part]) -> None:
            self.save({"pass": name, "count": now.count, "waiting": list(now.waiting)})

        again = self.source.again
        items: Iterable[Any] = self.source.descriptors() if again else self.source
        whole = mapreduce(
            Reader(self.source.for_reading() if again else None, function, both),
            items,
            both,
            self.jobs if again else 1,
            tell,
            reduction=reduction,
            after=keep if self.checkpoint else None,
            check=check_returned,
        )
        if whole.rows == 0:
            raise DataError(f"{self.source.name}: no rows are left to learn from.")
        self.keep(name, whole.value)
        return whole.value

    def keep(self, name: str, value: Any) -> None:
        """Remember the outcome of a pass."""
        self.done[name], self.present = value, None
        self.save(None, now=True)

    def save(self, present: Any, *, now: bool = False) -> None:
        """Write down where we are."""
        if self.checkpoint is not None:
            self.checkpoint.save({"done": self.done, "present": present}, now=now)

    def tell(self, rows: int) -> None:
        """Whoever looks on hears how many rows of this pass are done."""
        if self.progress is not None:
            self.progress(rows, self.source.rows)


class RowReader(Protocol):
    """Blocks to X, targets and weights: of tables, or of arrays that came with their targets."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns of X."""
        ...

    @property
    def target(self) -> str:
        """What to call the target."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        ...

    def weights(self, block: Any) -> Array:
        """Of the rows; empty where all count the same."""
        ...

    def numbers(self, block: Any, order: Any, check: bool = True) -> tuple[Any, Array]:
        """X and a target of numbers; without `check`, X may hold infinities and NaN."""
        ...

    def targets(self, block: Any, order: Any, loss: LogLink) -> tuple[Any, Array, Array]:
        """X, targets that the loss takes, and the logarithm of the exposure, empty without."""
        ...

    def labels(self, block: Any, order: Any) -> tuple[Any, tuple[Any, ...], NDArray[np.int64]]:
        """X, the labels in the block (sorted), and which of them each row has."""
        ...


@dataclass(frozen=True)
class Rows:
    """Blocks to X and the target column; encoding, target and exposure are those of the fit."""

    encoding: Encoding
    target: str
    exposure: str | None = None
    source: str = "the data"  # for messages

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns of X."""
        return self.encoding.names

    @property
    def weighted(self) -> bool:
        """Whether rows have weights: those of files count the same."""
        return False

    def weights(self, block: Block) -> Array:
        """Of the rows; empty where all count the same."""
        return np.empty(0)

    def numbers(self, block: Block, order: Any, check: bool = True) -> tuple[Any, Array]:
        """X and a target of numbers; without `check`, X may hold infinities and NaN."""
        keep, column = self._chosen(block)
        if column.kind != "number":
            raise DataError(
                f"the target {self.target!r} holds {column.kind}; a regressor needs numbers. Use "
                "a classifier, or another target."
            )
        y = _numbers(column, keep)
        self._refuse(
            ~np.isfinite(y), y, f"target {self.target!r}", block, keep, "leave that row out."
        )
        return self.encoding.encode(block, keep, order, check=check), y

    def targets(self, block: Block, order: Any, loss: LogLink) -> tuple[Any, Array, Array]:
        """X, targets that the loss takes, and the logarithm of the exposure, empty without."""
        X, y = self.numbers(block, order)
        keep, _ = self._chosen(block)
        said = f"{loss.told}; correct it or leave that row out."
        self._refuse(loss.bad(y), y, f"target {self.target!r}", block, keep, said)
        if self.exposure is None:
            return X, y, np.empty(0)
        column = column_of(block, self.exposure)
        if column.kind != "number":
            raise DataError(
                f"the exposure {self.exposure!r} holds {column.kind}; exposures are positive "
                "numbers."
            )
        exposure = _numbers(column, keep)
        with np.errstate(invalid="ignore", divide="ignore"):
            offset = np.log(exposure)
        said = "exposures are positive numbers; correct it or leave that row out."
        bad = ~(np.abs(offset) <= LARGEST_OFFSET)
        self._refuse(bad, exposure, f"exposure {self.exposure!r}", block, keep, said)
        return X, y, offset

    def labels(self, block: Block, order: Any) -> tuple[Any, tuple[Any, ...], NDArray[np.int64]]:
        """X, the labels in the block (sorted), and which of them each row has."""
        labels, codes, keep = self.codes(block)
        return self.encoding.encode(block, keep, order), labels, codes

    def codes(self, block: Block) -> tuple[tuple[Any, ...], NDArray[np.int64], Any]:
        """The labels in the block (sorted), which of them each row has, and the rows kept."""
        keep, column = self._chosen(block)
        values = column.values if keep is None else column.values[keep]
        if column.kind not in ("number", "text"):
            raise DataError(
                f"the target {self.target!r} holds {column.kind}; classes are numbers or text."
            )
        if column.kind == "text":
            places, codes = np.unique(values, return_inverse=True)
            return tuple(column.levels[k] for k in places), codes.astype(np.int64), keep
        return (*label_codes(np.asarray(values), self.target), keep)

    def _chosen(self, block: Block) -> tuple[Any, Any]:
        keep, column = self.encoding.kept(block, self.target), column_of(block, self.target)
        drop = self.encoding.missing in ("drop", "auto")
        for what, name in (("target", self.target), ("exposure", self.exposure)):
            gone = None if name is None else missing_in(column_of(block, name))
            if gone is None:
                continue
            if not drop:
                raise DataError(
                    f"{self.source}: the {what} {name!r} is missing at "
                    f"{block.place(int(np.argmax(gone)))} ({int(gone.sum())} in this block); "
                    "missing='drop' leaves those rows out."
                )
            keep = ~gone if keep is None else keep & ~gone
        return keep, column

    def _refuse(
        self, bad: Any, values: Array, what: str, block: Block, keep: Any, said: str
    ) -> None:
        """Say where the first bad value is, if there is one; bad and values are of rows kept."""
        if not bad.any():
            return
        i = int(np.argmax(bad))
        row = i if keep is None else int(np.flatnonzero(keep)[i])
        at = f"{values[i]:g} at {block.place(row)}"
        raise DataError(f"{self.source}: the {what} is {at}; {said}")


def _numbers(column: Any, keep: Any) -> Array:
    return np.asarray(column.values if keep is None else column.values[keep], dtype=np.float64)


def label_codes(values: NDArray[Any], target: str) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """Sorted labels and codes of numbers, whole ones as int."""
    if not len(values):
        return (), np.empty(0, dtype=np.int64)
    low, high = values.min(), values.max()
    if np.isfinite(low) and np.isfinite(high) and high - low < 4096 and low == np.floor(low):
        places = (values - low).astype(np.int64)
        if values.dtype.kind != "f" or np.array_equal(places + low, values):
            count = np.bincount(places)
            found = np.flatnonzero(count)
            codes = np.cumsum(count > 0)[places] - 1
            return tuple(int(low) + int(k) for k in few(found, target)), codes
    found, codes = np.unique(values, return_inverse=True)
    whole = np.isfinite(found).all() and np.array_equal(found, np.floor(found))
    labels = [int(v) if whole else float(v) for v in few(found, target)]
    return tuple(labels), codes.astype(np.int64)


def few(found: NDArray[Any], target: str) -> NDArray[Any]:
    if len(found) > _MOST_CLASSES:
        raise DataError(
            f"the target {target!r} has more than {_MOST_CLASSES} different values, which are no "
            "classes; use a regressor, or another target."
        )
    return found


def union(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sorted labels of both; they must be of one kind."""
    if a == b:
        return a
    try:
        return tuple(sorted({*a, *b}))
    except TypeError:
        raise DataError(
            f"the target has numbers and text, such as {a[0]!r} and {b[0]!r}."
        ) from None


def class_array(labels: tuple[Any, ...], target: str) -> NDArray[Any]:
    """Labels as an array; two at least."""
    if len(labels) < 2:
        raise DataError(
            f"the target {target!r} has one class, {list(labels)}; telling classes apart needs two."
        )
    return np.array(labels)
