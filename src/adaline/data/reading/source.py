"""What every reader gives: a source of row blocks, cut into pieces that say where rows are.

A piece is a pure description (rows or bytes from here to there), small and picklable, and
`read(piece)` a pure function of the file: the same piece is the same block in any process.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.locations import is_file, is_url, open_binary, size_of
from adaline.errors import DataError, MissingExtra
from adaline.parameters import is_sparse
from adaline.results import Result

Kind = Literal["number", "text", "date", "other"]

NUMBERS = 2**21  # in a block, about: 16 MB, which stays near and is worth a call
MOST_ROWS = 2**17
_FEWEST_ROWS = 4096  # of a slice: a merge of its sums costs as much as some hundred rows
_HEAD = 2**20  # bytes of a file's head that its fingerprint reads
_PLACES, _TASTE = 32, 4096  # and from as many places after it, so many bytes


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
        One a name; empty where the block is a matrix.
    matrix : ndarray or CSR of shape (rows, len(names)), or None
        All columns at once, where all are numbers.
    place : callable
        What to call row i of the block: "line 17", "row 3".
    """

    names: Sequence[str]
    columns: tuple[Column, ...]
    matrix: Any
    place: Callable[[int], str]

    def part(self, start: int, stop: int, step: int = 1) -> Block:
        """Some of the rows of a table, not copied."""
        return self._rows(slice(start, stop, step), lambda i: self.place(start + i * step))

    def column(self, j: int) -> Column:
        """A column, also of a matrix."""
        if self.matrix is None:
            return self.columns[j]
        values = self.matrix[:, j]
        dense = values.toarray().ravel() if is_sparse(values) else np.asarray(values)
        return Column("number", dense)

    def kept(self, keep: NDArray[np.bool_]) -> Block:
        """These rows, which keep their places."""
        where = np.flatnonzero(keep)
        return self._rows(keep, lambda i: self.place(int(where[i])))

    def _rows(self, some: Any, place: Callable[[int], str]) -> Block:
        gone = [None if c.missing is None else c.missing[some] for c in self.columns]
        pairs = zip(self.columns, gone, strict=True)
        columns = tuple(replace(c, values=c.values[some], missing=g) for c, g in pairs)
        matrix = None if self.matrix is None else self.matrix[some]
        return Block(self.names, columns, matrix, place)

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
    typed: bool = True  # whether the columns have types, rather than values that tell them
    notation: str = ""  # of columns of numbers: "number" or "number .,"; "" where they have types
    settled: bool = False  # whether the user says so

    def descriptors(self) -> Iterable[Piece]:
        """The pieces, in order."""
        raise NotImplementedError

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        raise NotImplementedError

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece in their order, in blocks that fit into little memory.

        The source alone decides where it is cut, so that sums over slices have the same bits in
        one process and on a cluster.
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
        """The same rows, with these columns as text and these texts as gaps.

        It matters where a file leaves types open; a table whose columns have types is the same.
        """
        return self

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels: a class may be called None or NA."""
        return self

    def with_columns(self, names: Sequence[str]) -> Source | None:
        """The same rows with these columns only; None where the source has to be opened again."""
        return None

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor gaps, in the first rows."""
        return {}

    def fits(self, notation: str) -> bool:
        """Whether columns of numbers are read in this notation without being reread as text."""
        plain = notation or "number"
        return self.notation in ("", plain) or (self.settled and plain == "number")

    def for_reading(self) -> Source:
        """All that `read` needs, and no list of pieces: what travels with every piece."""
        return self

    def keeping(self, scratch: Any) -> Source:
        """The same source, which may put what it parsed into temporary files."""
        return self

    def __iter__(self) -> Iterator[Block]:
        return map(self.read, self.descriptors())


def ranges(rows: int, size: int) -> list[Piece]:
    """Pieces of `size` rows, the last one shorter."""
    return [
        Piece(k, start, min(start + size, rows)) for k, start in enumerate(range(0, rows, size))
    ]


def slice_rows(columns: int, numbers: int = NUMBERS) -> int:
    """Rows of a slice with so many columns and about so many numbers: an odd multiple of 8.

    Were it a multiple of 512, the same row of all columns would share few places of the cache,
    which doubles the time of sums.

    >>> slice_rows(50), slice_rows(2000)
    (41944, 4104)
    """
    return max(numbers // max(columns, 1), _FEWEST_ROWS) // 16 * 16 + 8


def block_rows(columns: int, rows: int | None) -> int:
    """Rows of a block with so many columns, unless the caller says how many."""
    if rows is None:
        return int(np.clip(NUMBERS // max(columns, 1), 1024, MOST_ROWS))
    if rows < 1:
        raise ValueError(f"rows is {rows}; a block has 1 row or more.")
    return rows


def head_rows(columns: int) -> int:
    """Rows of the head of a table, which is looked at before it is read: about a megabyte."""
    return max(_HEAD // 8 // max(columns, 1), 1000)


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
    try:
        return list(names).index(name)
    except ValueError:
        alike = difflib.get_close_matches(str(name), [str(n) for n in names], 3, 0.5)
        hint = (
            f"did you mean {' or '.join(map(repr, alike))}?"
            if alike and len(names) > 1
            else _listed(names)
        )
        raise DataError(f"{source}: there is no {what} {name!r}; {hint}") from None


def chosen(columns: Sequence[str] | None, names: Sequence[str], source: str) -> list[int]:
    """The places of the columns that were asked for, all of them by default."""
    if columns is None:
        return list(range(len(names)))
    checked_names(columns, source)
    return [place_of(name, names, source) for name in columns]


def _listed(names: Sequence[str]) -> str:
    if not len(names):
        return "it has no columns."
    if len(names) == 1:
        return (
            f"it has one column, {names[0]!r}. If these are several, say what is between them: "
            "separator=';', for example."
        )
    first = ", ".join(repr(name) for name in list(names)[:8])
    return f"it has {first}{', ...' if len(names) > 8 else ''}."


def fingerprint_of_file(path: str, *facts: Any) -> str:
    """SHA-256 of a file's size, head, tail and some places between, and of how it is read."""
    digest = hashlib.sha256(repr(facts).encode())
    size = size_of(path)
    digest.update(size.to_bytes(8, "little"))
    with open_binary(path) as file:
        digest.update(file.read(_HEAD))
        for place in np.linspace(_HEAD, max(size - _TASTE, _HEAD), _PLACES).astype(int).tolist():
            file.seek(place)
            digest.update(file.read(_TASTE))
    return digest.hexdigest()


@contextmanager
def reading(what: str, advice: str = "it is damaged, or of another format") -> Iterator[None]:
    """Let whatever the libraries beneath raise be one DataError."""
    try:
        yield
    except (DataError, MissingExtra, MemoryError, OSError):
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:150] or type(error).__name__
        raise DataError(f"{what} ({why}); {advice}.") from error


def existing(path: str) -> str:
    """The path of a regular file that is there and not empty."""
    if is_url(path):
        if not is_file(path):
            raise DataError(f"{path}: there is no such file.")
        if size_of(path) == 0:
            raise DataError(f"{path}: the file is empty; it needs column names and rows.")
        return path
    if not os.path.exists(path):
        folder = os.path.dirname(path) or "."
        there = os.listdir(folder) if os.path.isdir(folder) else []
        alike = difflib.get_close_matches(os.path.basename(path), there, 1)
        hint = f"; did you mean {os.path.join(folder, alike[0])!r}?" if alike else "."
        raise DataError(f"{path}: there is no such file{hint}")
    if os.path.isdir(path):
        raise DataError(f"{path}: this is a directory; give one file.")
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe may wait for ever
        raise DataError(
            f"{path}: this is a pipe or device, which can be read once only; copy it to a file "
            "first, or give it as stdin."
        )
    if os.path.getsize(path) == 0:
        raise DataError(f"{path}: the file is empty; it needs column names and rows.")
    return path
