"""Blocks of what Python already holds: tables, Arrow streams, and iterables of blocks.

Tables of any library arrive through the Arrow C stream; `FileTable` holds what was read from a
sheet or JSON file as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from adaline.data.reading.arrays import matrix_source
from adaline.data.reading.arrow_columns import arrow, columns_of, kinds_of
from adaline.data.reading.checks import shown
from adaline.data.reading.mixed import arrow_table, strays_in, without_mixed
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import (
    Block,
    Kind,
    Piece,
    Source,
    block_rows,
    by_row,
    checked_names,
    chosen,
    head_rows,
    ranges,
)
from adaline.data.reading.text_tables import TextTable
from adaline.errors import DataError


class TableSource(Source):
    """A data frame or Arrow table in memory; `odd` are the few texts in columns of numbers."""

    held_here = True

    def __init__(self, table: Any, columns: Sequence[str] | None, rows: int | None):
        table, self.odd = as_table(table, self.name)
        names = checked_names([str(name) for name in table.column_names], self.name)
        self.places = chosen(columns, names, self.name)
        self.table, self.names = table.select(self.places), tuple(names[j] for j in self.places)
        self.kinds, self.rows = kinds_of(self.table.schema), int(table.num_rows)
        if not self.rows:
            raise DataError(f"{self.name}: there are no rows; a fit needs rows.")
        self.size = block_rows(len(self.names), rows)

    def strays(self) -> dict[str, tuple[str, ...]]:
        """The few texts in columns of numbers, which are columns of text therefore."""
        return {name: texts for name, texts in self.odd.items() if name in self.names}

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows."""
        return ranges(self.rows or 0, self.size)

    def head(self) -> Block:
        """The first rows."""
        return self.read(Piece(0, 0, min(self.rows or 0, head_rows(len(self.names)))))

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        part = self.table.slice(piece.start, piece.stop - piece.start)
        return Block(self.names, columns_of(part, self.kinds), None, by_row(piece.start))

    @property
    def fingerprint(self) -> str:
        """Of rows spread over the table."""
        digest = hashlib.sha256(f"{self.rows} {self.size} {self.names} {self.kinds}".encode())
        for piece in ranges(self.rows or 0, max((self.rows or 0) // 64, 1)):
            block = self.read(Piece(0, piece.start, min(piece.start + 16, piece.stop)))
            for column in block.columns:
                digest.update(np.ascontiguousarray(column.values).tobytes())
                digest.update(repr(column.levels).encode())
        return digest.hexdigest()


class FileTable(TableSource):
    """A table that was read from a file as a whole; `numbers` are those of its rows in the file."""

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        values: Sequence[Sequence[Any]],
        numbers: Sequence[int],
        columns: Sequence[str] | None,
        rows: int | None,
    ):
        self.name, self.numbers = path, numbers
        arrow("tables")
        super().__init__(arrow_table(names, values), columns, rows)
        odd = {name: strays_in(column) for name, column in zip(names, values, strict=True)}
        self.odd = {name: texts for name, texts in odd.items() if texts}

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        block = super().read(piece)
        return Block(
            self.names, block.columns, None, lambda i: f"row {self.numbers[piece.start + i]}"
        )


class Once(Source):
    """Blocks that come once: from a generator, an Arrow stream or a pipe."""

    again = False

    def __init__(self, parts: Iterator[Block], name: str, kinds: Sequence[Kind] | None = None):
        first = next(parts, None)
        if first is None or not first.rows:
            raise DataError(f"{name}: there are no rows; a fit needs rows.")
        self.name, self.names = name, first.names
        self._parts, self._first, self._begun = parts, first, False
        self.is_matrix = first.matrix is not None
        number: Kind = "number"
        own = tuple(column.kind for column in first.columns)
        self.kinds = kinds or own or (number,) * len(first.names)

    def descriptors(self) -> Iterable[Piece]:
        """Nothing that could be read again."""
        raise DataError(
            f"{self.name} can be read once only, and this needs it again or in parts; save it to a "
            "file first."
        )

    def head(self) -> Block:
        """The first block, which is kept until the rows are read."""
        if self._begun:
            raise DataError(f"{self.name} has been read already; it can be read once only.")
        return self._first

    def __iter__(self) -> Iterator[Block]:
        yield self.head()
        self._begun = True
        yield from self._parts

    @property
    def fingerprint(self) -> str:
        """There is none: nothing can be compared with what has gone."""
        raise DataError(f"{self.name} can be read once only; checkpoints need a file.")


class BlockList(Source):
    """A list of tables or arrays, a block each."""

    held_here = True

    def __init__(self, parts: Sequence[Any], columns: Sequence[str] | None):
        self.parts = [_one(part, columns) for part in parts]
        if not self.parts:
            raise DataError("the list of blocks is empty; give at least one.")
        self.names, self.kinds = self.parts[0].names, self.parts[0].kinds
        for k, part in enumerate(self.parts):
            if tuple(part.names) != tuple(self.names):
                raise DataError(
                    f"block {k} has the columns {list(part.names)[:8]}, and the first block "
                    f"{list(self.names)[:8]}; all blocks need the same columns."
                )
        self.rows = sum(part.rows or 0 for part in self.parts)
        self.is_matrix = all(part.is_matrix for part in self.parts)

    def descriptors(self) -> Iterable[Piece]:
        """Which block."""
        return [Piece(k, k, k + 1) for k in range(len(self.parts))]

    def read(self, piece: Piece) -> Block:
        """A block."""
        part = self.parts[piece.start]
        return part.read(Piece(0, 0, part.rows or 0))

    @property
    def fingerprint(self) -> str:
        """Of all blocks."""
        whole = " ".join(part.fingerprint for part in self.parts)
        return hashlib.sha256(whole.encode()).hexdigest()


def as_table(table: Any, name: str) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """An Arrow table of anything with columns, and the few texts in its columns of numbers."""
    pa = arrow("tables")
    odd: dict[str, tuple[str, ...]] = {}
    table = table.collect() if type(table).__name__ == "LazyFrame" else table
    if type(table).__module__.partition(".")[0] == "pandas":
        checked_names([str(column) for column in table.columns], name)
        table, odd = without_mixed(table)
    try:
        if isinstance(table, pa.RecordBatch):
            return pa.Table.from_batches([table]), odd
        if hasattr(table, "to_table") and hasattr(table, "schema"):  # a dataset of Arrow
            return table.to_table(), odd
        if hasattr(table, "isetitem"):  # of pandas, whose index is no column
            return pa.Table.from_pandas(table, preserve_index=False), odd
        return pa.table(table), odd
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException) as error:
        raise DataError(
            f"{name} has a column that cannot be read ({error}); make numbers, texts or dates of "
            "it, or leave it out."
        ) from error


def from_reader(stream: Any) -> Source:
    """Batches of an Arrow stream, which come once."""
    name = "the Arrow stream"
    pa = arrow(name)
    names = checked_names(list(stream.schema.names), name)
    kinds = kinds_of(stream.schema)

    def parts() -> Iterator[Block]:
        start = 0
        for batch in stream:
            if batch.num_rows:
                table = pa.Table.from_batches([batch])
                yield Block(names, columns_of(table, kinds), None, by_row(start))
            start += batch.num_rows

    return Once(parts(), name, kinds)


def from_iterable(parts: Iterable[Any], columns: Sequence[str] | None) -> Source:
    """A list of blocks, or a generator of them, which come once."""
    if isinstance(parts, (list, tuple)):
        return BlockList(parts, columns)
    sources = (_one(part, columns) for part in parts)
    blocks = (source.read(Piece(0, 0, source.rows or 0)) for source in sources)
    return Once(blocks, "the stream of blocks")


def from_file_object(file: IO[bytes], separator: str, options: ReadingOptions) -> Source:
    """CSV text from a pipe, which comes once."""
    name = str(getattr(file, "name", "the pipe"))
    reader = TextTable(name, options, separator, pipe=file)
    found = Once(reader.parts(), reader.name, reader.kinds)
    found.notes, found.notation, found.settled = reader.notes, reader.notation, reader.settled
    return found


def _one(part: Any, columns: Sequence[str] | None) -> Source:
    """A block given as a table, or as an array."""
    if isinstance(part, np.ndarray) or hasattr(part, "tocsr"):
        matrix = part if hasattr(part, "tocsr") else np.atleast_2d(part)
        return matrix_source(matrix, columns, max(matrix.shape[0], 1), "a block")
    if not (hasattr(part, "columns") or hasattr(part, "__arrow_c_stream__")):
        raise TypeError(
            f"a block is {shown(part)}, a {type(part).__name__}; expected a table or an array. For "
            "rows of numbers give numpy.array(rows)."
        )
    source = TableSource(part, columns, None)
    source.size = max(source.rows or 0, 1)
    return source
