"""Rows of a source that are learned from, and rows that are held out; and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.dealing import held_out, share_out
from adaline.data.reading.derived import Derived
from adaline.data.reading.source import Block, Source

_CLASSES = 30  # different values up to which a target holds classes to share out alike


class Share(Derived):
    """The rows of a source that are held out, or all others."""

    def __init__(
        self, source: Source, seed: int, share: float, out: bool, by: str | None = None
    ) -> None:
        super().__init__(source)
        self.seed, self.share, self.out, self.by, self.rows = seed, share, out, by, None
        every = source.rows or source.about
        self.about = None if every is None else int(every * (share if out else 1.0 - share))

    def read(self, piece: Any) -> Block:
        """The rows of a piece that are ours."""
        block = self.source.read(piece)
        chosen = held_out(piece.index, block.rows, self.seed, self.share)
        if self.by is not None:
            chosen = _by_class(block, self.by, piece.index, self.seed, self.share, chosen)
        return block.kept(chosen if self.out else ~chosen)

    def slices(self, piece: Any) -> Iterator[Block]:
        """Our rows of each slice, the same as of the whole piece: every row is decided by itself,
        but for the shares of classes.
        """
        if self.by is not None:
            yield self.read(piece)
            return
        at = 0
        for block in self.source.slices(piece):
            chosen = held_out(piece.index, at + block.rows, self.seed, self.share)[at:]
            yield block.kept(chosen if self.out else ~chosen)
            at += block.rows

    def head(self) -> Block:
        """Those of the first piece."""
        return self.read(next(iter(self.descriptors())))

    @property
    def fingerprint(self) -> str:
        """Of the source and of how it is shared out."""
        return f"{self.source.fingerprint} {self.seed} {self.share!r} {self.out} {self.by}"


class Spread(Derived):
    """Some blocks of a source, at most so many, spread over it."""

    def __init__(self, source: Source, most: int) -> None:
        super().__init__(source)
        self.most, self.rows = most, None

    def descriptors(self) -> Iterable[Any]:
        """Some of the pieces of the source."""
        pieces = list(self.source.descriptors())
        if len(pieces) <= self.most:
            return pieces
        return [pieces[k * len(pieces) // self.most] for k in range(self.most)]


def _by_class(
    block: Block, target: str, piece: int, seed: int, share: float, otherwise: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Rows to hold out so that each class keeps its share; as they are where there are no classes.

    Few rows of a class are then neither all held out nor all learned from, but by bad luck.
    """
    values, gone = column(block, target)
    kinds, codes = np.unique(
        values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True
    )
    if not block.rows or len(kinds) > _CLASSES or gone.any():
        return otherwise
    places = np.arange(block.rows) + (piece << 32)
    return share_out(codes, share, places=places, seed=seed % 2**63)


def column(block: Block, wanted: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values of a column, text as str, and which are missing."""
    found = block.column(list(block.names).index(wanted))
    gone = np.zeros(block.rows, bool) if found.missing is None else found.missing.copy()
    values = np.asarray(found.values)
    if found.kind == "text":
        levels = np.array(found.levels or ("",), dtype=object)
        return levels[values], gone
    if values.dtype.kind == "f":
        gone |= np.isnan(values)
    return values, gone


def labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as models know them: text, or whole numbers as int."""
    if values.dtype.kind == "O":
        return values.astype(str) if len(values) else np.empty(0, dtype="U1")
    if values.dtype.kind != "f" or not len(values) or not np.abs(values).max() < 2**53:
        return values
    return values.astype(np.int64) if np.array_equal(values, np.floor(values)) else values
