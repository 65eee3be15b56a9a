"""Logistic loss, gradient and curvature of blocks, and where Newton's steps begin.

A sample spread over the source gives units, fixed for all passes, and a start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.fitting._passes import Part, Rows, union
from adaline.data.reading.source import Block, Piece, Source
from adaline.data.storing.checkpoint import storable
from adaline.errors import DataError
from adaline.losses.logistic import Logistic, logistic_loss
from adaline.objective import Objective
from adaline.procedures.newton.curvature import whole
from adaline.procedures.newton.newton import newton
from adaline.results import Array
from adaline.tiles import is_sparse

_SAMPLE, _MOST = 65536, 2**24  # rows of a sample, at least; and numbers, at most
_SHARE = 16  # every so many-th row, where that is more
_SPREAD = 8  # every so many-th block is looked into, and four at least
_NONE = np.empty(0)


@storable
@dataclass(frozen=True, eq=False)
class Sums:
    """Loss, gradient and curvature of rows, without the penalty.

    M is a bound from below on the curvature of more than two classes (see `certificates`), least
    the smallest lead of a row's own class, and strange are labels that nobody knew of.
    """

    f: float
    g: Array
    H: Array
    M: Array
    least: float
    top: Array
    blocks: int
    longest: int  # rows of a block
    rows: int
    strange: tuple[Any, ...] = ()

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.f + other.f,
            self.g + other.g,
            self.H + other.H,
            self.M + other.M,
            min(self.least, other.least),
            np.maximum(self.top, other.top),
            self.blocks + other.blocks,
            max(self.longest, other.longest),
            self.rows + other.rows,
            union(self.strange, other.strange),
        )


@storable
@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin, in which units, and the labels met so far."""

    theta: Array
    scale: Array
    shift: Array
    labels: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class SumsOf:
    """Sums at theta of a block, in fixed units."""

    rows: Rows
    start: Start
    theta: Array
    intercept: bool
    top: Array  # bounds on |z|, where an earlier pass has found them

    def __call__(self, block: Block) -> Part:
        X, labels, codes = self.rows.labels(block, "F")
        known, (K, q) = self.start.labels, self.theta.shape
        size = q if K == 1 else K * q
        strange = tuple(label for label in labels if label not in known)
        if strange or not len(codes):
            none = np.zeros((size, size))
            M = np.zeros((0 if K == 1 else q, q))
            g, top = np.zeros((K, q)), np.zeros(q)
            return Part(len(codes), Sums(0.0, g, none, M, np.inf, top, 1, 0, 0, strange))
        table = np.array([known.index(label) for label in labels], dtype=np.int64)
        loss = _loss(X, table[codes], self.start, K, self.intercept)
        root = loss.room()
        here = loss.at(self.theta, root)
        H = loss.gram(root) if K == 1 else whole(loss, root)
        M = H[:0] if K == 1 else loss.gram(np.sqrt(root.min(axis=1)))
        top = self.top if len(self.top) else _top(X, self.start)
        n = len(codes)
        return Part(n, Sums(here.f, here.g, H, M, here.least, top, 1, n, n))


def _loss(X: Any, codes: NDArray[np.int64], start: Start, K: int, intercept: bool) -> Objective:
    """The loss of a block, no penalty; bounds on rows are those of the whole source."""
    target = 2.0 * codes - 1.0 if K == 1 else codes
    none = np.zeros(len(start.scale) + 1)
    units = start.scale, start.shift, none, none, none
    return Objective(Logistic(), X, target, _NONE, _NONE, K, intercept, *units)


def _top(X: Any, start: Start) -> Array:
    """Bounds on |z|, and 1 for the bias."""
    low, high = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    ends = np.array([low, high], dtype=np.float64) * start.scale - start.shift
    return np.append(np.abs(ends).max(axis=0) * 1.01, 1.0)


def begin(source: Source, rows: Rows, model: Any, known: tuple[Any, ...]) -> Start:
    """Units from rows spread over the source, and the minimum of their loss."""
    X, labels, codes, share = _sample(source, rows)
    every = union(labels, known)
    codes = np.array([every.index(label) for label in labels], dtype=np.int64)[codes]
    K = max(len(every), 2)
    alpha = float(model.alpha) * share
    loss = logistic_loss(X, codes, K, _NONE, alpha, bool(model.fit_intercept))
    if not np.isfinite(loss.length).all():
        raise DataError("sums over a column leave the range of float64; rescale it.")
    theta = np.zeros((loss.K, X.shape[1] + 1))
    if len(np.unique(codes)) == K:
        found = newton(loss, 30, 1e-5, np.zeros_like(theta))
        if found.outcome not in ("separated", "quasi"):
            theta = found.theta
    return Start(theta, loss.scale, loss.shift, every)


def _sample(source: Source, rows: Rows) -> tuple[Any, tuple[Any, ...], NDArray[np.int64], float]:
    """Rows from blocks spread over the source, and which share of all rows they are."""
    pieces: list[Piece] = list(source.descriptors())
    some = max(4, len(pieces) // _SPREAD)
    places = np.unique(np.linspace(0, len(pieces) - 1, some).astype(int))
    parts: list[Any] = []
    labels: tuple[Any, ...] = ()
    seen = kept = 0
    for k in places.tolist():
        X, found, codes = rows.labels(source.read(pieces[k]), "C")
        n, p = X.shape
        about = n * len(pieces)
        wanted = min(max(_SAMPLE, about // _SHARE), max(_MOST // (p + 1), 1024))
        every = max(1, n * len(places) // wanted)
        parts.append((X[::every], found, codes[::every]))
        labels, seen, kept = union(labels, found), seen + n, kept + len(codes[::every])
    if not kept:
        raise DataError(f"{source.name}: no rows are left to learn from.")
    codes = np.concatenate(
        [
            np.array([labels.index(label) for label in found], dtype=np.int64)[codes]
            for _, found, codes in parts
        ]
    )
    stack: Any = sparse.vstack if is_sparse(parts[0][0]) else np.concatenate
    whole_rows = source.rows or seen * len(pieces) / len(places)
    together = stack([X for X, _, _ in parts])
    return (together.tocsr() if is_sparse(together) else together), labels, codes, kept / whole_rows
