"""Many files as one source: a piece says which file, and where its rows are in it.

Every file is opened once when the source is made, to learn its columns and where to cut it; with
`jobs` other processes or the workers of a cluster do that. Rows are read by whoever gets a piece.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from adaline.data.reading.libsvm import Extent, LibsvmSource
from adaline.data.reading.locations import size_of, stamp
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import MakeScratch, TextSource
from adaline.data.reading.source import Block, Kind, Piece, Source, reading
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor, mapreduce

_KEPT = 4  # files that a process keeps open
Open = Callable[[str, ReadingOptions], Source]


@dataclass(frozen=True)
class FilePiece(Piece):
    """A piece of one of many files: `own` is its number in that file."""

    path: str
    own: int


@dataclass(frozen=True)
class Opened:
    """What is known of a file when it has been opened; pieces is None where they are not known."""

    path: str
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: int | None
    notation: str
    size: int
    pieces: tuple[Piece, ...] | None
    fingerprint: str | None
    extent: Extent | None


@dataclass(frozen=True)
class Facts:
    """Open a file, and find out where to cut it where that is asked for or costs nothing."""

    open: Open
    options: ReadingOptions
    cut: bool
    fingerprint: bool = False

    def __call__(self, path: str) -> tuple[Opened, ...]:
        with reading(f"{path}: it cannot be read"):
            source = self.open(path, self.options)
            known = getattr(source, "pieces", None)
            is_libsvm = isinstance(source, LibsvmSource)
            # The pieces of LIBSVM text were found on the way to its largest index.
            cut = self.cut or known is not None or is_libsvm
            pieces = tuple(source.descriptors()) if cut else None
            mark = source.fingerprint if self.fingerprint else None
            kinds = () if is_libsvm else tuple(source.kinds)
            extent = source.extent if isinstance(source, LibsvmSource) else None
        size, notation = size_of(path), source.notation
        names, rows = () if is_libsvm else tuple(source.names), source.rows
        return (Opened(path, names, kinds, rows, notation, size, pieces, mark, extent),)


def _joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return a + b


class FilesSource(Source):
    """The rows of files that have the same columns, one file after the other.

    Parameters
    ----------
    name : str
        What the user gave: a folder, a pattern, or the first of a list.
    paths : sequence of str
    open_ : callable
        Opens one file; picklable.
    options : ReadingOptions
        How it opens them.
    jobs : int or Executor
        Who opens the files.
    """

    labels = ""
    text_columns: tuple[str, ...] = ()
    na: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        paths: Sequence[str],
        open_: Open,
        options: ReadingOptions,
        jobs: int | Executor = 1,
    ) -> None:
        self.name, self._open, self._options, self._jobs = name, open_, options, jobs
        facts = Facts(open_, options, jobs != 1)
        opened: tuple[Opened, ...] = mapreduce(facts, paths, _joined, jobs)
        self.files = list(opened)
        extents = [file.extent for file in self.files if file.extent is not None]
        if extents and options.features is None:  # all files together say how many features
            extent = sum(extents, Extent())
            self._options = replace(options, features=extent.names(name))
        first = self._source(paths[0])
        self.is_text = isinstance(first, TextSource)
        self.names, self.typed, self.is_matrix = first.names, first.typed, first.is_matrix
        self.notes, self.notation, self.settled = first.notes, first.notation, first.settled
        if any(file.notation != first.notation for file in self.files):
            self.notation = "mixed"  # fits none: an encoding reads the texts in its own
        self.kinds = first.kinds
        if not self.is_matrix:
            self.text_columns = self._texts(first)
            self.kinds = self._kinds(first.kinds)
        known = [file.rows for file in self.files if file.rows is not None]
        self.rows = sum(known) if len(known) == len(self.files) else None
        self.about = self.rows if self.rows is not None else self._estimate(first)

    def _texts(self, first: Source) -> tuple[str, ...]:
        """Columns that are text in some file, which makes them text in all; refuse what differs."""
        texts: dict[str, None] = {}
        usual = dict(zip(first.names, first.kinds, strict=True))
        for file in self.files:
            if set(file.names) != set(first.names):
                raise DataError(
                    f"{file.path} has the columns {list(file.names)[:8]}, and "
                    f"{self.files[0].path} has {list(first.names)[:8]}; all files need the same."
                )
            for name, kind in zip(file.names, file.kinds, strict=True):
                if kind == usual[name]:
                    continue
                if first.typed or {kind, usual[name]} != {"number", "text"}:
                    raise DataError(
                        f"{file.path}: the column {name!r} holds {kind}, and in "
                        f"{self.files[0].path} {usual[name]}; all files need the same."
                    )
                texts[name] = None
        return tuple(texts)

    def _kinds(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        text: Kind = "text"
        pairs = zip(self.names, kinds, strict=True)
        return tuple(text if name in self.text_columns else kind for name, kind in pairs)

    def _estimate(self, first: Source) -> int | None:
        """Rows of all files, about, by the bytes a row of the first piece."""
        piece = next(iter(first.descriptors()), None)
        rows = 0 if piece is None else first.read(piece).rows
        if piece is None or not rows:
            return None
        size = sum(file.size for file in self.files)
        return max(int(size * rows / max(piece.stop - piece.start, 1)), rows)

    def descriptors(self) -> Iterator[FilePiece]:
        """The pieces of every file in turn."""
        index = 0
        for file in self.files:
            pieces: Iterable[Piece] | None = file.pieces
            # Those of a text file are found by reading it.
            for piece in self._source(file.path).descriptors() if pieces is None else pieces:
                yield FilePiece(index, piece.start, piece.stop, file.path, piece.index)
                index += 1

    def _source(self, path: str) -> Source:
        """A file, opened as all are; a process keeps the last few of them."""
        names = tuple(self.names) if not self.is_matrix else ()
        with reading(f"{path}: it cannot be read"):
            source = _kept(self._open, path, stamp(path), self._options, names)
        return source.reread(self.text_columns, self.na).with_labels(self.labels)

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        assert isinstance(piece, FilePiece)
        own = Piece(piece.own, piece.start, piece.stop)
        return _placed(self._source(piece.path).read(own), piece.path)

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as its file is."""
        assert isinstance(piece, FilePiece)
        own = Piece(piece.own, piece.start, piece.stop)
        for block in self._source(piece.path).slices(own):
            yield _placed(block, piece.path)

    def head(self) -> Block:
        """The first rows of the first file."""
        return self._source(self.files[0].path).head()

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as gaps."""
        if self.typed or (tuple(na) == self.na and set(text) <= set(self.text_columns)):
            return self
        other = copy.copy(self)
        wanted = {*text, *self.text_columns}
        other.text_columns = tuple(name for name in self.names if name in wanted)
        other.na, other.kinds = tuple(na), other._kinds(self.kinds)
        return other

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels."""
        other = copy.copy(self)
        other.labels = name
        return other

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither, in the first rows of the first file."""
        return self._source(self.files[0].path).strays()

    def for_reading(self) -> FilesSource:
        """Without the list of files, which a piece names itself."""
        other = copy.copy(self)
        other.files, other._jobs = [], 1
        return other

    def keeping(self, scratch: MakeScratch) -> Source:
        """The same source, which puts what it parsed there, and finds it there again."""
        if not self.is_text or self._options.scratch is not None:
            return self
        other = copy.copy(self)
        other._options = replace(self._options, scratch=scratch())
        return other

    @property
    def fingerprint(self) -> str:
        """Of all files in their order, and of how they are read."""
        paths = [file.path for file in self.files]
        facts = Facts(self._open, replace(self._options, scratch=None), False, True)
        found = mapreduce(facts, paths, _joined, self._jobs)
        how = f"{self.names if self.is_matrix else self.text_columns} {self.na}"
        text = "\n".join([how, *(f"{one.path} {one.fingerprint}" for one in found)])
        return hashlib.sha256(text.encode()).hexdigest()


def _placed(block: Block, path: str) -> Block:
    """A block whose rows are told with their file."""
    other = copy.copy(block)
    object.__setattr__(other, "place", lambda i: f"{block.place(i)} of {path}")
    return other


@lru_cache(maxsize=_KEPT)
def _kept(
    open_: Open, path: str, _: Any, options: ReadingOptions, names: tuple[str, ...]
) -> Source:
    """An open file; its size and time are part of the key, so that a changed file is read anew."""
    source = open_(path, options)
    if names in ((), tuple(source.names)):
        return source
    return open_(path, replace(options, columns=names))
