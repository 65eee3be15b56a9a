"""Many files as one source: a piece says which file, and where its rows are in it.

Every file is opened once when the source is made, to learn its columns and where to cut it; with
`jobs` other processes or the workers of a cluster do that. Rows are read by whoever gets a piece.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adaline.data.reading.locations import size_of, stamp
from adaline.data.reading.source import Block, Kind, Piece, Source, reading
from adaline.errors import DataError, strange
from adaline.mapreduce import Executor, mapreduce

_KEPT = 4  # files that a process keeps open
Open = Callable[..., Source]  # (path, columns=) -> the source of one file


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


@dataclass(frozen=True)
class Facts:
    """Open a file, and find out where to cut it where that is asked for or costs nothing."""

    open: Open
    cut: bool
    fingerprint: bool = False

    def __call__(self, path: str) -> tuple[Opened, ...]:
        source = self.open(path)
        known = getattr(source, "pieces", None)
        pieces = tuple(source.descriptors()) if self.cut or known is not None else None
        mark = source.fingerprint if self.fingerprint else None
        names, kinds = tuple(source.names), tuple(source.kinds)
        size = size_of(path)
        return (Opened(path, names, kinds, source.rows, source.notation, size, pieces, mark),)


def _check_opened(answer: Any) -> None:
    """Facts about files, in which pieces of rows follow each other."""
    if type(answer) is not tuple or not all(type(one) is Opened for one in answer):
        raise strange("something else than facts about files")
    for one in answer:
        counts = (one.size, 0 if one.rows is None else one.rows)
        if not all(isinstance(count, int) and count >= 0 for count in counts):
            raise strange(f"{counts} as the size and rows of {one.path!r}")
        if len(one.names) != len(one.kinds):
            raise strange(f"names and kinds of other columns of {one.path!r}")
        if not all(
            type(piece) is Piece and piece.start <= piece.stop for piece in one.pieces or ()
        ):
            raise strange(f"something else than pieces of {one.path!r}")


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
    jobs : int or Executor
        Who opens the files.
    """

    def __init__(
        self, name: str, paths: Sequence[str], open_: Open, jobs: int | Executor = 1
    ) -> None:
        self.name, self._open, self._jobs = name, open_, jobs
        found: tuple[Opened, ...] = mapreduce(
            Facts(open_, jobs != 1), paths, _joined, jobs, check=_check_opened
        )
        self.files = list(found)
        first = open_(paths[0])
        self.labels = ""
        self.names, self.typed, self.is_matrix = first.names, first.typed, first.is_matrix
        self.notes, self.notation, self.settled = first.notes, first.notation, first.settled
        if any(file.notation != first.notation for file in self.files):
            self.notation = "mixed"  # fits none: an encoding reads the texts in its own
        self.text_columns, self.na = self._texts(first), ()  # type: tuple[str, ...], tuple[str, ...]
        self.kinds = self._kinds(first.kinds)
        known = [file.rows for file in self.files if file.rows is not None]
        self.rows = sum(known) if len(known) == len(self.files) else None
        self.about = self.rows if self.rows is not None else self._estimate(first)

    def _texts(self, first: Source) -> tuple[str, ...]:
        """Columns that are text in some file, which makes them text in all; refuse what differs."""
        texts: dict[str, None] = {}
        here = dict(zip(first.names, first.kinds, strict=True))
        for file in self.files:
            if set(file.names) != set(first.names):
                raise DataError(
                    f"{file.path} has the columns {list(file.names)[:8]}, and "
                    f"{self.files[0].path} has {list(first.names)[:8]}; all files need the same."
                )
            for name, kind in zip(file.names, file.kinds, strict=True):
                if kind == here[name]:
                    continue
                if first.typed or {kind, here[name]} != {"number", "text"}:
                    raise DataError(
                        f"{file.path}: the column {name!r} holds {kind}, and in "
                        f"{self.files[0].path} {here[name]}; all files need the same."
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
        for k, file in enumerate(self.files):
            pieces: Iterable[Piece] | None = file.pieces
            for piece in self._cut(k) if pieces is None else pieces:
                yield FilePiece(index, piece.start, piece.stop, file.path, piece.index)
                index += 1

    def _cut(self, k: int) -> Iterator[Piece]:
        """Pieces of a text file, which are found by reading it."""
        return iter(self._source(self.files[k].path).descriptors())

    def _source(self, path: str) -> Source:
        """A file, opened as all are; a process keeps the last few of them."""
        with reading(f"{path}: it cannot be read"):
            source = _kept(self._open, path, stamp(path), tuple(self.names))
        return source.reread(self.text_columns, self.na).with_labels(self.labels)

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        source, own, path = self._of(piece)
        return _placed(source.read(own), path)

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as its file is."""
        source, own, path = self._of(piece)
        for block in source.slices(own):
            yield _placed(block, path)

    def _of(self, piece: Piece) -> tuple[Source, Piece, str]:
        """The file of a piece, opened, and the piece in it."""
        assert isinstance(piece, FilePiece)
        own = Piece(piece.own, piece.start, piece.stop)
        return self._source(piece.path), own, piece.path

    def head(self) -> Block:
        """The first rows of the first file."""
        return self._source(self.files[0].path).head()

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as gaps."""
        if self.typed or (not na and set(text) <= set(self.text_columns)):
            return self
        other = copy.copy(self)
        wanted = [name for name in self.names if name in {*text, *self.text_columns}]
        other.text_columns, other.na = tuple(wanted), tuple(na)
        other.kinds = other._kinds(self.kinds)
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

    @property
    def fingerprint(self) -> str:
        """Of all files in their order, and of how they are read."""
        paths = [file.path for file in self.files]
        facts = Facts(self._open, False, True)
        found = mapreduce(facts, paths, _joined, self._jobs, check=_check_opened)
        how = f"{self.text_columns} {self.na}"
        text = "\n".join([how, *(f"{one.path} {one.fingerprint}" for one in found)])
        return hashlib.sha256(text.encode()).hexdigest()


def _placed(block: Block, path: str) -> Block:
    """A block whose rows are told with their file."""
    names, columns, matrix = block.names, block.columns, block.matrix
    return Block(names, columns, matrix, lambda i: f"{block.place(i)} of {path}")


@lru_cache(maxsize=_KEPT)
def _kept(open_: Open, path: str, _: Any, names: tuple[str, ...]) -> Source:
    """An open file; its size and time are part of the key, so that a changed file is read anew."""
    source = open_(path)
    return source if tuple(source.names) == names else open_(path, names)
