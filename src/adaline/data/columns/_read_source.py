"""A source whose columns are read as an encoding says: text as numbers, marks as gaps."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from adaline.data.columns._applying import read_block
from adaline.data.columns.inputs import Input
from adaline.data.reading.derived import Derived
from adaline.data.reading.source import Block, Kind, Source


class ReadSource(Derived):
    """The rows of a source, some columns read another way."""

    def __init__(self, source: Source, entries: Sequence[Input], na: Sequence[str]) -> None:
        super().__init__(source)
        self.entries, self.na = tuple(entries), tuple(na)
        read: dict[str, Kind] = {e.name: "number" if e.levels is None else "text" for e in entries}
        pairs = zip(source.names, source.kinds, strict=True)
        self.kinds = tuple(read.get(name, kind) for name, kind in pairs)

    def of(self, block: Block) -> Block:
        """A block with its columns read as the inputs say."""
        return read_block(self.entries, block, self.na)

    @property
    def fingerprint(self) -> str:
        """Of the source and of how it is read."""
        how = repr(([entry.to_dict() for entry in self.entries], self.na))
        return hashlib.sha256(f"{self.source.fingerprint} {how}".encode()).hexdigest()
