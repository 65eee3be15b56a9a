"""A loss of `adaline.losses` over the blocks of a source: its sums, and where steps begin.

A sample spread over the source gives units, fixed for all passes, and a start.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.fitting._passes import Both, Passes, Reader, RowReader, class_array, union
from adaline.data.fitting._returned import Part, check_returned
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.errors import DataError
from adaline.losses.logistic import Logistic
from adaline.losses.poisson import Poisson
from adaline.mapreduce import mapreduce
from adaline.objective import Loss, Objective
from adaline.procedures.newton.newton import newton
from adaline.procedures.newton.pass_sums import Sums
from adaline.results import Array
from adaline.tiles import is_sparse

_SAMPLE, _MOST = 65536, 2**24  # rows of a sample, at least; and numbers, at most
_SHARE = 16  # every so many-th row, where that is more
_SPREAD = 8  # every so many-th block is looked into, four at least,
_LOOKED_INTO = 512  # and so many at most
_GIVEN = 5 * 2**18  # numbers, 10 MB, that a piece gives to the sample, about: what a worker holds
_NONE = np.empty(0)

Read = tuple[Any, tuple[Any, ...], NDArray[Any], Array]  # X, labels, codes or counts, offset


class Targets(Protocol):
    """How a criterion reads its targets."""

    loss: Loss

    def read(self, rows: RowReader, block: Block, order: Any) -> Read:
        """X, the labels in the block, the target of each row, and the offset (n,) or (0,)."""
        ...

    def outputs(self, labels: tuple[Any, ...]) -> int:
        """K."""
        ...

    def coded(
        self, target: NDArray[Any], found: tuple[Any, ...], known: tuple[Any, ...]
    ) -> NDArray[Any]:
        """The target of rows with the labels `found` as the loss wants it, of all labels known."""
        ...

    def suffice(self, target: NDArray[Any], labels: tuple[Any, ...]) -> bool:
        """Whether a sample with this coded target has a minimum of its own to look for."""
        ...

    def refuse(self, sums: Sums, labels: tuple[Any, ...], target: str) -> None:
        """Raise DataError where all rows together have nothing to learn from."""
        ...


class Classes:
    """Labels, for the logistic loss."""

    loss: Loss = Logistic()

    def read(self, rows: RowReader, block: Block, order: Any) -> Read:
        X, labels, codes = rows.labels(block, order)
        return X, labels, codes, _NONE

    def outputs(self, labels: tuple[Any, ...]) -> int:
        return 1 if len(labels) <= 2 else len(labels)

    def coded(
        self, target: NDArray[Any], found: tuple[Any, ...], known: tuple[Any, ...]
    ) -> NDArray[Any]:
        codes = np.array([known.index(label) for label in found], dtype=np.int64)[target]
        return np.asarray(2.0 * codes - 1.0 if len(known) <= 2 else codes)

    def suffice(self, target: NDArray[Any], labels: tuple[Any, ...]) -> bool:
        return len(np.unique(target)) == max(len(labels), 2)

    def refuse(self, sums: Sums, labels: tuple[Any, ...], target: str) -> None:
        class_array(labels, target)


class Counts:
    """Numbers that are not negative, for the Poisson loss."""

    loss: Loss = Poisson()

    def read(self, rows: RowReader, block: Block, order: Any) -> Read:
        X, counts, offset = rows.counts(block, order)
        return X, (), counts, offset

    def outputs(self, labels: tuple[Any, ...]) -> int:
        return 1

    def coded(
        self, target: NDArray[Any], found: tuple[Any, ...], known: tuple[Any, ...]
    ) -> NDArray[Any]:
        return target

    def suffice(self, target: NDArray[Any], labels: tuple[Any, ...]) -> bool:
        return bool(np.any(target))

    def refuse(self, sums: Sums, labels: tuple[Any, ...], target: str) -> None:
        if sums.total == 0.0:
            raise DataError(
                f"every count in the target {target!r} is zero; the mean would be zero, and log(0) "
                "is no intercept. Give rows with counts."
            )


storable(Sums)


@storable
@dataclass(frozen=True, eq=False)
class Found:
    """Sums over blocks, and labels in them that nobody knew of."""

    sums: Sums
    strange: tuple[Any, ...] = ()

    def __add__(self, other: Found) -> Found:
        return Found(self.sums + other.sums, union(self.strange, other.strange))


@storable
@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin, in which units, and the labels met so far; plain is a start of no weights."""

    theta: Array
    plain: Array
    scale: Array
    shift: Array
    labels: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class SumsOf:
    """Sums at theta of a block, in fixed units."""

    targets: Targets
    rows: RowReader
    start: Start
    theta: Array
    intercept: bool
    top: Array  # bounds on |z|, where an earlier pass has found them

    def __call__(self, block: Block) -> Part:
        X, labels, target, offset = self.targets.read(self.rows, block, "F")
        known = self.start.labels
        strange = tuple(label for label in labels if label not in known)
        if strange or not len(target):
            return Part(len(target), Found(Sums.nothing(*self.theta.shape), strange))
        target = self.targets.coded(target, labels, known)
        units = units_of(self.targets, self.start, self.intercept)
        omega = self.rows.weights(block)
        loss = replace(units, X=X, target=target, omega=omega, offset=offset)
        top = self.top if len(self.top) else _top(X, self.start)
        return Part(len(target), Found(Sums.of(loss, self.theta, top)))


def units_of(targets: Targets, start: Start, intercept: bool) -> Objective:
    """The loss in the units of the start, of no rows, without a penalty."""
    p, K = len(start.scale), len(start.theta)
    none = np.zeros(p + 1)
    units = intercept, start.scale, start.shift, none, none, none
    return Objective(targets.loss, np.empty((0, p)), _NONE, _NONE, _NONE, K, *units)


def _top(X: Any, start: Start) -> Array:
    """Bounds on |z|, and 1 for the bias."""
    low, high = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    ends = np.array([low, high], dtype=np.float64) * start.scale - start.shift
    return np.append(np.abs(ends).max(axis=0) * 1.01, 1.0)


def begin(
    passes: Passes, rows: RowReader, targets: Targets, model: Any, known: tuple[Any, ...]
) -> Start:
    """Units from rows spread over the source, and the minimum of their loss."""
    parts, share = _sample(passes, rows, targets)
    every = known
    for part in parts:
        every = union(every, part.labels)
    stack: Any = sparse.vstack if is_sparse(parts[0].X) else np.concatenate
    X = stack([part.X for part in parts])
    X = X.tocsr() if is_sparse(X) else X
    target = np.concatenate([targets.coded(part.target, part.labels, every) for part in parts])
    offset = np.concatenate([part.offset for part in parts])
    omega = np.concatenate([part.omega for part in parts])
    alpha, intercept = float(model.alpha) * share, bool(model.fit_intercept)
    rest = target, omega, alpha, intercept
    loss = Objective.of(targets.loss, X, *rest, K=targets.outputs(every), offset=offset)
    if not np.isfinite(loss.length).all():
        raise DataError("sums over a column leave the range of float64; rescale it.")
    theta = plain = targets.loss.start(loss)
    if targets.suffice(target, every):
        found = newton(loss, 30, 1e-5, plain)
        if found.outcome not in ("separated", "quasi"):
            theta = found.theta
    return Start(theta, plain, loss.scale, loss.shift, every)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Some rows of a block, and how many it has."""

    X: Any
    labels: tuple[Any, ...]
    target: NDArray[Any]
    offset: Array
    omega: Array
    rows: int


@dataclass(frozen=True, eq=False)
class SampleOf:
    """Every so many-th row of a block, where so many pieces of so many are looked into."""

    targets: Targets
    rows: RowReader
    looked_into: int
    pieces: int
    piece_rows: int | None  # on average, about; None where nobody knows: then a piece is a block

    def __call__(self, block: Block) -> Part:
        n, p = block.rows, len(self.rows.names)
        of_piece = n if self.piece_rows is None else self.piece_rows
        k = max(1, of_piece * self.looked_into // _wanted(of_piece * self.pieces, p))
        step = k if block.columns else 1  # of a table: other rows need not become numbers
        block, k = block.part(0, n, step) if block.columns else block, k // step
        X, found, target, offset = self.targets.read(self.rows, block, "C")
        omega = self.rows.weights(block)
        some = X if k == 1 else X[::k].copy()  # a view would keep all of X
        sampled = Sampled(some, found, target[::k], offset[::k], omega[::k], step * X.shape[0])
        return Part(len(sampled.target), (sampled,))


def _wanted(rows: int, p: int) -> int:
    """How many rows a sample of so many should have."""
    return min(max(_SAMPLE, rows // _SHARE), max(_MOST // (p + 1), 1024))


def _sample(passes: Passes, rows: RowReader, targets: Targets) -> tuple[list[Sampled], float]:
    """Rows from blocks spread over the source, and which share of all rows they are."""
    source = passes.source
    pieces: list[Any] = list(source.descriptors())
    about, p = source.rows or source.about, len(rows.names)
    average = None if about is None else -(-about // len(pieces))
    some = min(max(4, len(pieces) // _SPREAD), _LOOKED_INTO)
    if about is not None:
        some = max(some, _wanted(about, p) * (p + 1) // _GIVEN + 1)
    spread = np.unique(np.linspace(0, len(pieces) - 1, some).astype(int)).tolist()
    both = Both(operator.add)
    for places in (spread, range(len(pieces))):  # all, where the rows are in none of those
        function = SampleOf(targets, rows, len(places), len(pieces), average)
        whole = mapreduce(
            Reader(source.for_reading(), function, both),
            [pieces[k] for k in places],
            both,
            passes.jobs,
            check=check_returned,
        )
        if whole.rows:
            break
    else:
        raise DataError(f"{source.name}: no rows are left to learn from.")
    parts: list[Sampled] = list(whole.value)
    seen = sum(part.rows for part in parts)
    whole_rows = source.rows or seen * len(pieces) / len(places)
    return parts, whole.rows / whole_rows
