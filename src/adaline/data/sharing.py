"""Rows of a source that are learned from, and rows that are held out; and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.dealing import held_out, share_out
from adaline.data.reading.source import Block, Source

_CLASSES = 30  # different values up to which a target holds classes to share out alike


class Share(Source):
    """The rows of a source that are held out, or all others."""

    def __init__(
        self, source: Source, seed: int, share: float, out: bool, by: str | None = None
    ) -> None:
        self.source, self.seed, self.share, self.out, self.by = source, seed, share, out, by
        self.name, self.names, self.kinds = source.name, source.names, source.kinds
        self.notes = source.notes
        every = source.rows or source.about
        self.about = None if every is None else int(every * (share if out else 1.0 - share))

    def descriptors(self) -> Iterable[Any]:
        """The pieces of the source."""
        return self.source.descriptors()

    def read(self, piece: Any) -> Block:
        """The rows of a piece that are ours."""
        block = self.source.read(piece)
        chosen = held_out(piece.index, block.rows, self.seed, self.share)
        if self.by is not None:
            chosen = _by_class(block, self.by, piece.index, self.seed, self.share, chosen)
        return _some(block, chosen if self.out else ~chosen)

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
            yield _some(block, chosen if self.out else ~chosen)
            at += block.rows

    def for_reading(self) -> Source:
        """The source without its list of pieces, shared out in the same way."""
        return Share(self.source.for_reading(), self.seed, self.share, self.out, self.by)

    @property
    def fingerprint(self) -> str:
        """Of the source and of how it is shared out."""
        return f"{self.source.fingerprint} {self.seed} {self.share!r} {self.out} {self.by}"


class Spread(Source):
    """Some blocks of a source, at most so many, spread over it."""

    def __init__(self, source: Source, most: int) -> None:
        self.source, self.most = source, most
        self.name, self.names, self.kinds = source.name, source.names, source.kinds
        self.notes = source.notes

    def descriptors(self) -> Iterable[Any]:
        """Some of the pieces of the source."""
        pieces = list(self.source.descriptors())
        if len(pieces) <= self.most:
            return pieces
        return [pieces[k * len(pieces) // self.most] for k in range(self.most)]

    def read(self, piece: Any) -> Block:
        """The rows of a piece."""
        return self.source.read(piece)

    def slices(self, piece: Any) -> Iterator[Block]:
        """The rows of a piece, cut as the source is."""
        return self.source.slices(piece)


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


def _some(block: Block, keep: NDArray[np.bool_]) -> Block:
    """These rows of a block, which keep their places."""
    where = np.flatnonzero(keep)
    columns = tuple(
        replace(c, values=c.values[keep], missing=None if c.missing is None else c.missing[keep])
        for c in block.columns
    )
    matrix = None if block.matrix is None else block.matrix[keep]
    return Block(block.names, columns, matrix, lambda i: block.place(int(where[i])))


def column(block: Block, wanted: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values of a column, text as str, and which are missing."""
    j = list(block.names).index(wanted)
    if block.matrix is not None:
        raw = block.matrix[:, j]
        values = raw.toarray().ravel() if hasattr(raw, "toarray") else np.asarray(raw)
        return values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    found = block.columns[j]
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
