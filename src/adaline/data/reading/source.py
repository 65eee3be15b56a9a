"""Sources of rows: what every reader returns, and what studies, fits and the command read.

A source has pieces, which say where rows are (rows, or bytes of text, from here to there). A piece
is small and picklable, and `read(piece)` is a pure function of the file, so that the same piece is
the same block in any process.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.errors import DataError
from adaline.parameters import is_sparse
from adaline.results import Result

Kind = Literal["number", "text", "date", "other"]

BLOCK_NUMBERS = 2**21  # in a block, about: 16 MB stay in the cache's reach and are worth a call
MAX_BLOCK_ROWS = 2**17
MIN_SLICE_ROWS = 4096  # merging the sums of a slice costs as much as some hundred rows
HEAD_NUMBERS = 2**17  # in the head of a table: about a megabyte


@dataclass(frozen=True)
class Piece:
    """Where the rows of a block are: start and stop in rows, or in bytes for text files."""

    index: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Column(Result):
    """A column of a block.

    Attributes
    ----------
    kind : {"number", "text", "date", "other"}
    values : ndarray
        Numbers as they are in the file; for text, the place of each value among the levels; for
        dates, days since 1970-01-01 with the time of day as a fraction.
    levels : tuple of str
        The different values of text, sorted.
    missing : ndarray of bool, or None
        Which values are missing; None where none is.
    notation : str
        In which notation numbers were read; "" where they were numbers already.
    """

    kind: Kind
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    missing: NDArray[np.bool_] | None = None
    notation: str = ""


@dataclass(frozen=True, eq=False)
class Block(Result):
    """Consecutive rows of a source.

    Attributes
    ----------
    names : tuple of str
    columns : tuple of Column
        One for each name; empty where the block is a matrix.
    matrix : ndarray or CSR of shape (rows, len(names)), or None
        All columns at once, where all are numbers.
    place : callable
        What to call row i of the block: "line 17", "row 3".
    """

    names: Sequence[str]
    columns: tuple[Column, ...]
    matrix: Any
    place: Callable[[int], str]

    def column(self, j: int) -> Column:
        """A column, also of a matrix."""
        if self.matrix is None:
            return self.columns[j]
        values = self.matrix[:, j]
        return Column("number", values.toarray().ravel() if is_sparse(values) else values)

    def kept(self, keep: NDArray[np.bool_]) -> Block:
        """These rows, which keep their places."""
        rows = np.flatnonzero(keep)
        columns = []
        for c in self.columns:
            missing = None if c.missing is None else c.missing[keep]
            columns.append(replace(c, values=c.values[keep], missing=missing))
        matrix = None if self.matrix is None else self.matrix[keep]
        return Block(self.names, tuple(columns), matrix, lambda i: self.place(int(rows[i])))

    @property
    def rows(self) -> int:
        """Number of rows."""
        if self.matrix is not None:
            return int(self.matrix.shape[0])
        return len(self.columns[0].values) if self.columns else 0


class Source(Result):
    """Row blocks of a file or table, which can be read again and in any order.

    Attributes
    ----------
    names : sequence of str
        Of the columns.
    kinds : sequence of Kind
        What the columns hold.
    rows : int or None
        Number of rows, where it is known without reading them all.
    name : str
        What to call the source in sentences: a file's path.
    notes : tuple of str
        What was found out about how a file is written, where that is not as usual: its separator,
        its encoding, that it has no line of column names. In a few words each.
    """

    name: str = "the table"
    names: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    rows: int | None = None
    notes: tuple[str, ...] = ()
    again: bool = True  # whether it can be read more than once
    held_here: bool = False  # whether this process has all rows in memory
    is_matrix: bool = False  # whether all columns are numbers without a table around them
    about: int | None = None  # rows, estimated where they are not known
    typed: bool = True  # whether the columns have types; text has none
    notation: str = ""  # of columns of numbers: "number" or "number .,"; "" where they have types
    settled: bool = False  # whether the notation is the user's choice

    def descriptors(self) -> Iterable[Piece]:
        """The pieces, in order."""
        raise NotImplementedError

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        raise NotImplementedError

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece in their order, in blocks that fit into little memory.

        The source alone decides where, so that sums have the same bits on a cluster.
        """
        yield self.read(piece)

    @property
    def fingerprint(self) -> str:
        """Changes when the content does: what a checkpoint compares."""
        raise NotImplementedError

    def head(self) -> Block:
        """Some of the first rows, to look at: all of a small source."""
        return self.read(next(iter(self.descriptors())))

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows; where a file leaves types open, these columns are text, and `na` gaps."""
        return self

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels: a class may be called None or NA."""
        return self

    def with_columns(self, names: Sequence[str]) -> Source | None:
        """The same rows with these columns only; None where the source has to be opened again."""
        return None

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor missing, in the first rows."""
        return {}

    def fits(self, notation: str) -> bool:
        """Whether columns of numbers are read in this notation without being reread as text."""
        plain = notation or "number"
        return self.notation in ("", plain) or (self.settled and plain == "number")

    def for_reading(self) -> Source:
        """All that `read` needs, and no list of pieces: what travels with every piece."""
        return self

    def keeping(self, scratch: Any, *, many: bool = False) -> Source:
        """The same source, which may put what it parsed into temporary files; one of `many`."""
        return self

    def __iter__(self) -> Iterator[Block]:
        return map(self.read, self.descriptors())


class RowSource(Source):
    """A source whose pieces are ranges of rows: of a table, a matrix, or a file with a footer."""

    places: Sequence[int]  # of the columns in the table

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        kinds: Sequence[Kind],
        count: int,
        columns: Sequence[str] | None,
        rows: int | None,
    ) -> None:
        names = checked_names(names, name)
        self.name, self.rows = name, count
        if not count:
            raise DataError(f"{name}: there are no rows; a fit needs rows.")
        self.names, self.kinds, self.places = names, tuple(kinds), range(len(names))
        if columns is not None:
            self._select(columns)
        usual = min(max(BLOCK_NUMBERS // max(len(self.names), 1), 1024), MAX_BLOCK_ROWS)
        self.size = usual if rows is None else rows

    def _select(self, columns: Sequence[str]) -> None:
        some = chosen(columns, self.names, self.name)
        self.names = tuple(self.names[j] for j in some)
        self.kinds = tuple(self.kinds[j] for j in some)
        self.places = [self.places[j] for j in some]

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same rows with these columns only."""
        other = copy.copy(self)
        other._select(names)
        return other

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows."""
        return ranges(self.rows or 0, self.size)

    def head(self) -> Block:
        """The first rows."""
        rows = max(HEAD_NUMBERS // max(len(self.names), 1), 1000)
        return self.read(Piece(0, 0, min(self.rows or 0, rows)))

    @property
    def fingerprint(self) -> str:
        """Of rows spread over the table."""
        digest = hashlib.sha256(f"{self.rows} {self.size} {self.names} {self.kinds}".encode())
        for piece in ranges(self.rows or 0, max((self.rows or 0) // 64, 1)):
            block = self.read(Piece(0, piece.start, min(piece.start + 16, piece.stop)))
            digest.update(pickle.dumps((block.columns, block.matrix)))
        return digest.hexdigest()


class Derived(Source):
    """The blocks of another source, each changed by `of`: shares, encodings, conditions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        for fact in ("name", "names", "kinds", "rows", "notes", "again", "about"):
            setattr(self, fact, getattr(source, fact))

    def of(self, block: Block) -> Block:
        """What becomes of a block."""
        return block

    def descriptors(self) -> Iterable[Piece]:
        """The pieces of the source."""
        return self.source.descriptors()

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        return self.of(self.source.read(piece))

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as the source is."""
        return map(self.of, self.source.slices(piece))

    def over(self, source: Source) -> Source:
        """The same change of another source."""
        other = copy.copy(self)
        other.source = source
        return other

    def for_reading(self) -> Source:
        """The source without its list of pieces, read in the same way."""
        return self.over(self.source.for_reading())

    def keeping(self, scratch: Any, *, many: bool = False) -> Source:
        """The same rows of a source that may put what it parsed into temporary files."""
        return self.over(self.source.keeping(scratch, many=many))

    def head(self) -> Block:
        """The first rows."""
        return self.of(self.source.head())

    def __iter__(self) -> Iterator[Block]:
        return super().__iter__() if self.again else map(self.of, self.source)


def ranges(rows: int, size: int) -> list[Piece]:
    """Pieces of `size` rows, the last one shorter."""
    return [Piece(k, i, min(i + size, rows)) for k, i in enumerate(range(0, rows, size))]


def slice_rows(columns: int, numbers: int = BLOCK_NUMBERS) -> int:
    """Rows of a slice with so many columns and about so many numbers: an odd multiple of 8.

    Were it a multiple of 512, the same row of all columns would share few places of the cache,
    which doubles the time of sums.

    >>> slice_rows(50), slice_rows(2000)
    (41944, 4104)
    """
    return max(numbers // max(columns, 1), MIN_SLICE_ROWS) // 16 * 16 + 8


def by_row(start: int) -> Callable[[int], str]:
    """Rows counted from 0, as tables do."""
    return lambda i: f"row {start + i}"


def checked_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Names, each once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"{source}: the column name {name!r} comes twice; rename one of the two columns."
            )
        seen.add(name)
    return tuple(names)


def place_of(name: str, names: Sequence[str], source: str, what: str = "column") -> int:
    """Where a column is; an error offers names that look alike."""
    names = list(names)
    if name in names:
        return names.index(name)
    alike = difflib.get_close_matches(str(name), [str(n) for n in names], 3, 0.5)
    hint = "it has no columns."
    if alike and len(names) > 1:
        hint = f"did you mean {' or '.join(map(repr, alike))}?"
    elif len(names) == 1:
        hint = (
            f"it has one column, {names[0]!r}. If these are several, say what is between them: "
            "separator=';', for example."
        )
    elif names:
        hint = f"it has {', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}."
    raise DataError(f"{source}: there is no {what} {name!r}; {hint}")


def chosen(columns: Sequence[str] | None, names: Sequence[str], source: str) -> list[int]:
    """The places of the columns that were asked for, all of them by default."""
    if columns is None:
        return list(range(len(names)))
    return [place_of(name, names, source) for name in checked_names(columns, source)]
