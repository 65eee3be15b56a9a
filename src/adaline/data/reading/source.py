"""Sources of rows: what every reader returns, and what studies, fits and the command read.

A source has pieces, which say where rows are (from row to row). A piece
is small and picklable, and `read(piece)` is a pure function of the file, so that the same piece is
the same block in any process.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.files import fingerprint_of_file
from adaline.data.reading.notations import read
from adaline.data.reading.options import ReadingOptions
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
    """Where the rows of a block are."""

    index: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Column(Result):
    """A column of a block."""

    kind: Kind
    # Numbers as they are in the file; for text, the place of each value among the levels; for
    # dates, days since 1970-01-01 with the time of day as a fraction.
    values: NDArray[Any]
    levels: tuple[str, ...] = ()  # the different values of text, sorted
    missing: NDArray[np.bool_] | None = None  # which values are; None where none is
    notation: str = ""  # in which numbers were read; "" where they were numbers already


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
        rows, columns = np.flatnonzero(keep), []
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
    held_here: bool = False  # whether only this process has the rows
    is_matrix: bool = False  # whether all columns are numbers without a table around them
    notation: str = ""  # of columns of numbers: "number" or "number .,"; "" where they have types
    settled: bool = False  # whether the notation is the user's choice

    @property
    def typed(self) -> bool:
        """Whether the columns have types; those of text tables have none."""
        return not self.notation

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

    def over(self, change: Callable[[Source], Source]) -> Source:
        """The same view of changed sources; of a file or table, which is no view, itself."""
        return self

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows; where a file leaves types open, these columns are text, and `na` gaps."""
        return self.over(lambda source: source.reread(text, na))

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels: a class may be called None or NA."""
        return self.over(lambda source: source.with_labels(name))

    def keeping(self, scratch: Any) -> Source:
        """The same source, which may put what it parsed into temporary files."""
        return self.over(lambda source: source.keeping(scratch))

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

    def changed(self, **attributes: Any) -> Any:
        """A copy with other attributes."""
        other = copy.copy(self)
        vars(other).update(attributes)
        return other

    def __iter__(self) -> Iterator[Block]:
        return map(self.read, self.descriptors())


class RowSource(Source):
    """A source whose pieces are ranges of rows: of a table, a matrix, or a file with a footer.

    `content` is the table or matrix in memory; `load` maps that of a file again in another process.
    """

    places: Sequence[int]  # of the columns in the table

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        kinds: Sequence[Kind],
        count: int,
        options: ReadingOptions,
        content: Any = None,
        load: Callable[[str], Any] | None = None,
    ) -> None:
        self.name, self.rows, self.kinds = name, count, tuple(kinds)
        self.names, self.places = checked_names(names, name), range(len(kinds))
        if not count:
            raise DataError(f"{name}: there are no rows; a fit needs rows.")
        if options.columns is not None:
            self._select(options.columns)
        usual = min(max(BLOCK_NUMBERS // max(len(self.names), 1), 1024), MAX_BLOCK_ROWS)
        self.size, self.content, self.load = options.rows or usual, content, load
        self.held_here = content is not None and load is None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ if self.load is None else {**self.__dict__, "content": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.load is not None:
            self.content = self.load(self.name)

    def _select(self, columns: Sequence[str]) -> None:
        some = chosen(columns, self.names, self.name)
        self.names = tuple(self.names[j] for j in some)
        self.kinds = tuple(self.kinds[j] for j in some)
        self.places = [self.places[j] for j in some]

    def with_columns(self, names: Sequence[str]) -> Source:
        other = copy.copy(self)
        other._select(names)
        return other

    def descriptors(self) -> Iterable[Piece]:
        return ranges(self.rows or 0, self.size)

    @property
    def head_rows(self) -> int:
        return max(HEAD_NUMBERS // max(len(self.names), 1), 1000)

    def head(self) -> Block:
        return self.read(Piece(0, 0, min(self.rows or 0, self.head_rows)))

    @property
    def fingerprint(self) -> str:
        if not self.held_here:
            return fingerprint_of_file(self.name, self.size, self.names, self.kinds)
        digest = hashlib.sha256(f"{self.rows} {self.size} {self.names} {self.kinds}".encode())
        for piece in ranges(self.rows or 0, max((self.rows or 0) // 64, 1)):
            block = self.read(Piece(0, piece.start, min(piece.start + 16, piece.stop)))
            digest.update(pickle.dumps((block.columns, block.matrix)))
        return digest.hexdigest()


class Derived(Source):
    """The blocks of another source, each changed by `of`: shares, encodings, conditions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        for fact in ("name", "names", "kinds", "rows", "notes"):
            setattr(self, fact, getattr(source, fact))

    def of(self, block: Block) -> Block:
        """What becomes of a block."""
        return block

    def descriptors(self) -> Iterable[Piece]:
        return self.source.descriptors()

    def read(self, piece: Piece) -> Block:
        return self.of(self.source.read(piece))

    def slices(self, piece: Piece) -> Iterator[Block]:
        return map(self.of, self.source.slices(piece))

    def over(self, change: Callable[[Source], Source]) -> Any:
        return self.changed(source=change(self.source))

    def for_reading(self) -> Any:
        return self.over(lambda source: source.for_reading())

    def head(self) -> Block:
        return self.of(self.source.head())


def ranges(rows: int, size: int) -> list[Piece]:
    """Pieces of `size` rows, the last one shorter."""
    return [Piece(k, i, min(i + size, rows)) for k, i in enumerate(range(0, rows, size))]


def slice_rows(columns: int) -> int:
    """Rows of a slice with so many columns: an odd multiple of 8.

    Were it a multiple of 512, the same row of all columns would share few places of the cache,
    which doubles the time of sums.

    >>> slice_rows(50), slice_rows(2000)
    (41944, 4104)
    """
    return max(BLOCK_NUMBERS // max(columns, 1), MIN_SLICE_ROWS) // 16 * 16 + 8


def by_row(start: int) -> Callable[[int], str]:
    """Rows counted from 0, as tables do."""
    return lambda i: f"row {start + i}"


def checked_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Names, each once."""
    twice = next((name for name, k in Counter(names).items() if k > 1), None)
    if twice is not None:
        raise DataError(
            f"{source}: the column name {twice!r} comes twice; rename one of the two columns."
        )
    return tuple(names)


def place_of(name: str, names: Sequence[str], source: str, what: str = "column") -> int:
    """Where a column is; an error offers names that look alike."""
    if name in names:
        return list(names).index(name)
    alike = difflib.get_close_matches(str(name), list(map(str, names)), 3, 0.5)
    hint = f"it has {', '.join(map(repr, names[:8]))}{', ...' if len(names) > 8 else ''}."
    if len(names) == 1:
        hint = f"it has one column, {names[0]!r}. If these are several, give separator=';', or so."
    elif alike:
        hint = f"did you mean {' or '.join(map(repr, alike))}?"
    raise DataError(f"{source}: there is no {what} {name!r}; {hint}")


def chosen(columns: Sequence[str] | None, names: Sequence[str], source: str) -> list[int]:
    """The places of the columns that were asked for, all of them by default."""
    if columns is None:
        return list(range(len(names)))
    return [place_of(name, names, source) for name in checked_names(columns, source)]


# A column read another way.


def as_numbers(column: Column, reading: str, na: Sequence[str]) -> tuple[Column, tuple[str, ...]]:
    """Numbers, or days of dates, and texts that the notation cannot read; numbers stay."""
    if column.kind == "number":
        return without_marks(column, na), ()
    if column.kind == "date":
        return replace(column, kind="number", notation=reading), ()
    if column.kind != "text":
        return column, ()
    codes = column.values
    levels = read(column.levels or ("",), reading or "number", na)  # without levels all are missing
    missing = _either(column.missing, levels.gone[codes])
    values = levels.values[codes]
    if missing is not None:
        values[missing] = 0.0
    strange = levels.strange
    if strange:  # those that a row has: a part of a block keeps the levels of the whole block
        rows = codes if column.missing is None else codes[~column.missing]
        used = {column.levels[k] for k in np.unique(rows).tolist()}
        strange = tuple(level for level in strange if level in used)
    return Column("number", values, (), missing, reading), strange


def as_text(column: Column, na: Sequence[str]) -> Column:
    """Text; whole numbers are written without a decimal point."""
    if column.kind == "other":
        return column
    if column.kind != "text":
        numbers, codes = np.unique(column.values, return_inverse=True)
        texts = np.array([text_of(value) for value in numbers.tolist()], dtype=object)
        levels, rank = np.unique(texts, return_inverse=True)
        nan = np.isnan(column.values) if numbers.dtype.kind == "f" else np.zeros(1, bool)
        places = rank.astype(np.int32)[codes.ravel()]
        missing = _either(column.missing, nan)
        column = Column("text", places, tuple(levels.tolist()), missing)
    marks = [k for k, level in enumerate(column.levels) if level.strip() in na]
    return replace(column, missing=_either(column.missing, np.isin(column.values, marks)))


def text_of(value: Any) -> str:
    """A value as people write it: 3 and not 3.0."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63
    return str(int(value) if is_whole else value)


def without_marks(column: Column, na: Sequence[str]) -> Column:
    """Numbers, those that the user calls missing taken away."""
    marks = list[float]()
    for text in na:
        with suppress(ValueError):
            marks.append(float(text))
    gone = np.isin(column.values, marks)
    if not gone.any():
        return column
    values = np.where(gone, 0, column.values)  # an infinity that is called missing is none
    return replace(column, values=values, missing=_either(column.missing, gone))


def _either(missing: Any, more: NDArray[np.bool_]) -> Any:
    if not more.any():
        return missing
    return more if missing is None else missing | more
