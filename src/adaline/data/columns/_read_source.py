"""A source whose columns are read as an encoding says: text as numbers, marks as gaps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adaline.data.columns._applying import read_block
from adaline.data.columns.inputs import Input
from adaline.data.reading.source import Block, Kind, Piece, Source


class ReadSource(Source):
    """The rows of a source, some columns read another way."""

    def __init__(self, source: Source, entries: Sequence[Input], na: Sequence[str]) -> None:
        self.source, self.entries, self.na = source, tuple(entries), tuple(na)
        self.name, self.names, self.rows = source.name, source.names, source.rows
        self.again, self.notes, self.about = source.again, source.notes, source.about
        self.text: Any = getattr(source, "text", None)  # what says how large a file of text is
        kinds: dict[str, Kind] = dict(zip(source.names, source.kinds, strict=True))
        for entry in entries:
            if entry.name in kinds:
                kinds[entry.name] = "number" if entry.levels is None else "text"
        self.kinds = tuple(kinds[name] for name in source.names)

    def descriptors(self) -> Iterable[Piece]:
        """The pieces of the source."""
        return self.source.descriptors()

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        return read_block(self.entries, self.source.read(piece), self.na)

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as the source is."""
        return (read_block(self.entries, block, self.na) for block in self.source.slices(piece))

    def for_reading(self) -> Source:
        """The source without its list of pieces, read in the same way."""
        return ReadSource(self.source.for_reading(), self.entries, self.na)

    def head(self) -> Block:
        """The first rows."""
        return read_block(self.entries, self.source.head(), self.na)

    def __iter__(self) -> Iterator[Block]:
        return (read_block(self.entries, block, self.na) for block in self.source)

    @property
    def fingerprint(self) -> str:
        """Of the source and of how it is read."""
        how = repr(([entry.to_dict() for entry in self.entries], self.na))
        return hashlib.sha256(f"{self.source.fingerprint} {how}".encode()).hexdigest()
