"""Rows to learn from and rows held out: a hash of the seed and of each row's place decides.

So every row is decided by itself, in any order and any process, and the same file gives the same
rows. `table` and the command share a source out; `evaluation` has the folds of rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.inputs import column_of, missing_in
from adaline.data.reading.source import Block, Derived, Source

MOST_CLASSES = 30  # different values up to which a target holds classes to share out alike
# The constants of Vigna's splitmix64.
_GOLDEN, _A, _B = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class Share(Derived):
    """The rows of a source that are held out (`out`), or all others.

    `by` is the column of classes that keep their shares, piece by piece; otherwise each row is
    decided by itself.
    """

    def __init__(
        self, source: Source, seed: int, share: float, out: bool, by: str | None = None
    ) -> None:
        super().__init__(source)
        self.seed, self.share, self.out, self.by, self.rows = seed, share, out, by, None

    def read(self, piece: Any) -> Block:
        return self._ours(self.source.read(piece), piece.index)

    def slices(self, piece: Any) -> Iterator[Block]:
        """Our rows of each slice, the same as of the whole piece; shares of classes need it all."""
        start = 0
        for block in self.source.slices(piece) if self.by is None else [self.source.read(piece)]:
            yield self._ours(block, piece.index, start)
            start += block.rows

    def _ours(self, block: Block, piece: int, start: int = 0) -> Block:
        drawn = held_out(piece, start + block.rows, self.seed, self.share)[start:]
        if self.by is not None and block.rows:
            target = column_of(block, self.by)  # text as the places of its levels, in their order
            if missing_in(target) is None and len(np.unique(target.values)) <= MOST_CLASSES:
                places = np.arange(block.rows) + (piece << 32)
                drawn = share_out(target.values, self.share, places=places, seed=self.seed)
        return block.kept(drawn if self.out else ~drawn)

    def head(self) -> Block:
        return self.read(next(iter(self.descriptors())))

    @property
    def fingerprint(self) -> str:
        return f"{self.source.fingerprint} {self.seed} {self.share!r} {self.out} {self.by}"


class Spread(Derived):
    """Some pieces of a source, at most so many, spread over it."""

    def __init__(self, source: Source, most: int) -> None:
        super().__init__(source)
        self.most, self.rows = most, None

    def descriptors(self) -> Iterable[Any]:
        pieces = list(self.source.descriptors())
        n = min(len(pieces), self.most)
        return [pieces[k * len(pieces) // n] for k in range(n)]


def held_out(piece: int, rows: int, seed: int, share: float) -> NDArray[np.bool_]:
    """Which rows of a piece are held out, each by itself.

    >>> held_out(0, 10_000, seed=0, share=0.2).mean().round(2)
    np.float64(0.2)
    """
    start = _mix(_mix(np.uint64(seed % 2**64)) ^ np.uint64(piece))
    return np.asarray((_mix(start, np.arange(rows)) >> np.uint64(11)) * 2.0**-53 < share)


def share_out(y: Any, share: float, *, places: Any = None, seed: int = 0) -> NDArray[np.bool_]:
    """Which rows to hold out such that each class keeps its share, but for one row.

    Examples
    --------
    >>> y = ["rare"] * 10 + ["common"] * 90
    >>> out = share_out(y, 0.2)
    >>> int(out[:10].sum()), int(out[10:].sum())
    (2, 18)
    """
    classes = np.unique(y, return_inverse=True)[1]
    n = len(classes)
    drawn = _mix(_mix(np.uint64(seed % 2**64)), np.arange(n) if places is None else places)
    counts = np.floor(np.arange(n + 1) * share + 0.5)  # held out of the first 0, 1, ... in order
    out = np.zeros(n, dtype=bool)
    out[np.lexsort((drawn, classes))] = counts[1:] > counts[:-1]
    return out


def _mix(x: Any, places: Any = 0) -> Any:
    """Vigna's splitmix64 of x + places: every bit of it moves half of the bits of the answer."""
    with np.errstate(over="ignore"):
        x = x + np.asarray(places).astype(np.uint64) + _GOLDEN
        x = (x ^ (x >> np.uint64(30))) * _A
        x = (x ^ (x >> np.uint64(27))) * _B
        return x ^ (x >> np.uint64(31))


def column(block: Block, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values of a column, text as str, and which are missing."""
    own = column_of(block, name)
    values, missing = np.asarray(own.values), missing_in(own)
    if own.kind == "text":
        values = np.array(own.levels or ("",), dtype=object)[values]
    return values, np.zeros(block.rows, dtype=bool) if missing is None else missing


def labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as models have them: text, or whole numbers as int."""
    if values.dtype.kind == "O":
        return values.astype(str) if len(values) else np.empty(0, dtype="U1")
    if values.dtype.kind != "f" or not len(values) or not np.abs(values).max() < 2**53:
        return values
    return values.astype(np.int64) if np.array_equal(values, np.floor(values)) else values
