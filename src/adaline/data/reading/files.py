"""Several sources as one, one after the other: many files, or a list of tables or arrays.

Every file is opened once when the source is made, to learn its columns and where to cut it; with
`jobs` other processes or the workers of a cluster do that. A piece brings its file's source along,
so that whoever gets a piece can read it.
"""

from __future__ import annotations

import copy
import hashlib
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adaline.data.reading.libsvm import LibsvmSource, merge_extents
from adaline.data.reading.locations import reading, size_of
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Block, Piece, Source
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor, mapreduce


@dataclass(frozen=True)
class SourcePiece(Piece):
    """A piece of one of several sources."""

    source: Source = field(repr=False)
    own: Piece
    where: str = ""  # what follows the place of a row: its file


class JoinedSource(Source):
    """The rows of sources that have the same columns; `paths` are their files, if any."""

    def __init__(self, name: str, parts: Sequence[Source], paths: Sequence[str] = ()) -> None:
        self.name, self.paths = name, paths
        first = parts[0]
        for fact in ("names", "typed", "is_matrix", "held_here", "notes", "notation", "settled"):
            setattr(self, fact, getattr(first, fact))
        if any(part.notation != first.notation for part in parts):
            self.notation = "mixed"  # fits none: an encoding reads the texts in its own
        if not isinstance(first, LibsvmSource):
            parts = _with_the_same_columns(parts, paths)
        self.parts, self.kinds = parts, parts[0].kinds
        known = [part.rows for part in parts if part.rows is not None]
        if len(known) == len(parts):
            self.rows = self.about = sum(known)
        else:  # text, by the bytes a row of the first piece
            piece = next(iter(parts[0].descriptors()))
            width = (piece.stop - piece.start) / max(parts[0].read(piece).rows, 1)
            self.about = int(sum(map(size_of, paths)) / max(width, 1))

    def _over(self, parts: Sequence[Source]) -> JoinedSource:
        other = copy.copy(self)
        other.parts, other.kinds = parts, parts[0].kinds
        return other

    def descriptors(self) -> Iterator[SourcePiece]:
        """The pieces of every part in turn."""
        index = 0
        for k, part in enumerate(self.parts):
            source, where = part.for_reading(), f" of {self.paths[k]}" if self.paths else ""
            for own in part.descriptors():
                yield SourcePiece(index, own.start, own.stop, source, own, where)
                index += 1

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        assert isinstance(piece, SourcePiece)
        return _placed(piece.source.read(piece.own), piece.where)

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as its part is."""
        assert isinstance(piece, SourcePiece)
        return (_placed(block, piece.where) for block in piece.source.slices(piece.own))

    def head(self) -> Block:
        """The first rows of the first part."""
        return self.parts[0].head()

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as missing values."""
        return self._over([part.reread(text, na) for part in self.parts])

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels."""
        return self._over([part.with_labels(name) for part in self.parts])

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither, in the first rows of the first part."""
        return self.parts[0].strays()

    def for_reading(self) -> Source:
        """Without the list of parts, which a piece brings along."""
        other = copy.copy(self)
        other.parts = []
        return other

    def keeping(self, scratch: Any, *, many: bool = True) -> Source:
        """The same source, which puts what it parsed there, and finds it there again."""
        return self._over([part.keeping(scratch, many=True) for part in self.parts])

    @property
    def fingerprint(self) -> str:
        """Of all parts in their order."""
        marks = "\n".join(part.fingerprint for part in self.parts)
        return hashlib.sha256(f"{self.paths} {self.names} {marks}".encode()).hexdigest()


def open_files(
    name: str,
    paths: Sequence[str],
    open_file: Callable[[str, ReadingOptions], Source],
    options: ReadingOptions,
    jobs: int | Executor = 1,
) -> JoinedSource:
    """Many files of one format as one source."""
    find = partial(_opened, open_file=open_file, options=options, cut=jobs != 1)
    add: Callable[[Any, Any], Any] = operator.add  # of tuples
    parts: tuple[Source, ...] = mapreduce(find, paths, add, jobs)
    if isinstance(parts[0], LibsvmSource):  # all files together say how many features there are
        parts = merge_extents(parts, name)
    return JoinedSource(name, parts, tuple(paths))


def _opened(
    path: str,
    open_file: Callable[[str, ReadingOptions], Source],
    options: ReadingOptions,
    cut: bool,
) -> tuple[Source, ...]:
    with reading(f"{path}: it cannot be read"):
        source = open_file(path, options)
        if cut:  # the pieces of text are found by reading it, and noted
            tuple(source.descriptors())
        return (source,)


def _with_the_same_columns(parts: Sequence[Source], paths: Sequence[str]) -> list[Source]:
    """Refuse other columns; those that are text in some file are text in all."""
    names = [paths[k] if paths else f"block {k}" for k in range(len(parts))]
    what = "files" if paths else "blocks"
    first, texts = parts[0], []
    usual = dict(zip(first.names, first.kinds, strict=True))
    for part, name in zip(parts, names, strict=True):
        if set(part.names) != set(first.names):
            raise DataError(
                f"{name} has the columns {list(part.names)[:8]}, and {names[0]} has "
                f"{list(first.names)[:8]}; all {what} need the same."
            )
        for column, kind in zip(part.names, part.kinds, strict=True):
            if kind == usual[column] or not paths:
                continue
            if first.typed or {kind, usual[column]} != {"number", "text"}:
                raise DataError(
                    f"{name}: the column {column!r} holds {kind}, and in {names[0]} "
                    f"{usual[column]}; all {what} need the same."
                )
            texts.append(column)
    aligned = []
    for part in parts:
        if list(part.names) != list(first.names):
            part = part.with_columns(first.names) or part
        aligned.append(part.reread(texts) if texts else part)
    return aligned


def _placed(block: Block, where: str) -> Block:
    """A block whose rows are named with their file."""
    if not where:
        return block
    other = copy.copy(block)
    object.__setattr__(other, "place", lambda i: f"{block.place(i)}{where}")
    return other
