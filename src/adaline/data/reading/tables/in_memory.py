"""Blocks of what Python already holds: tables, Arrow streams, and iterables of blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from adaline.data.reading.arrays.numpy_files import MatrixSource
from adaline.data.reading.checks import shown
from adaline.data.reading.source import (
    Block,
    Piece,
    Source,
    block_rows,
    by_row,
    checked_names,
    chosen,
    head_rows,
    ranges,
)
from adaline.data.reading.tables.engines import columns_of, engine, kinds_of
from adaline.data.reading.tables.mixed import without_mixed
from adaline.data.reading.text.options import FileOptions
from adaline.data.reading.text.pipe import PipedCsv
from adaline.errors import DataError
from adaline.tiles import as_csr


class TableSource(Source):
    """A data frame or Arrow table in memory; `odd` are the few texts in columns of numbers."""

    held_here = True

    def __init__(self, table: Any, columns: Sequence[str] | None, rows: int | None):
        self.odd: dict[str, tuple[str, ...]] = {}
        if type(table).__module__.partition(".")[0] == "pandas":
            checked_names([str(name) for name in table.columns], self.name)
            table, self.odd = without_mixed(table)
        try:
            table = as_table(table)
        except (TypeError, ValueError, NotImplementedError) as error:  # of polars and pyarrow
            raise DataError(
                f"{self.name} has a column that cannot be read ({error}); make numbers, texts or "
                "dates of it, or leave it out."
            ) from error
        names = checked_names([str(name) for name in _names(table)], self.name)
        self.places = chosen(columns, names, self.name)
        if columns is not None:
            table = table.select([names[j] for j in self.places])
        self.table, self.names = table, tuple(names[j] for j in self.places)
        self.kinds, self.rows = kinds_of(table), int(table.shape[0])
        if not self.rows:
            raise DataError(f"{self.name}: there are no rows; a fit needs rows.")
        self.size = block_rows(len(self.names), rows)

    def strays(self) -> dict[str, tuple[str, ...]]:
        """The few texts in columns of numbers, which are columns of text therefore."""
        return {name: texts for name, texts in self.odd.items() if name in self.names}

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows."""
        assert self.rows is not None
        return ranges(self.rows, self.size)

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


class Once(Source):
    """Blocks that come once: from a generator, an Arrow stream or a pipe."""

    again = False

    def __init__(self, parts: Iterator[Block], first: Block, name: str, kinds: Sequence[Any]):
        self.name, self.names, self.kinds = name, first.names, kinds
        self._parts, self._first = parts, first
        self._begun, self.is_matrix = False, first.matrix is not None

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
        if self._begun:
            raise DataError(f"{self.name} has been read already; it can be read once only.")
        self._begun = True
        yield self._first
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


def as_table(table: Any) -> Any:
    """A polars DataFrame or pyarrow Table of anything with columns."""
    module = type(table).__module__.partition(".")[0]
    if module == "polars":
        return table.collect() if hasattr(table, "collect") else table
    if module == "pyarrow" and hasattr(table, "schema") and hasattr(table, "slice"):
        return table if hasattr(table, "combine_chunks") else table.to_table()
    if engine("tables") == "polars":
        import polars as pl

        if hasattr(table, "__arrow_c_stream__"):
            return pl.DataFrame(table)
        return pl.from_pandas(table)
    import pyarrow as pa

    return pa.table(table) if hasattr(table, "__arrow_c_stream__") else pa.Table.from_pandas(table)


def from_reader(stream: Any) -> Source:
    """Batches of an Arrow stream, which come once."""
    name = "the Arrow stream"
    engine(name)
    import pyarrow as pa

    reader = (
        stream if hasattr(stream, "read_next_batch") else pa.RecordBatchReader.from_stream(stream)
    )
    names = checked_names(list(reader.schema.names), name)

    def parts() -> Iterator[Block]:
        start = 0
        for batch in reader:
            if batch.num_rows:
                table = pa.Table.from_batches([batch])
                yield Block(names, columns_of(table, kinds_of(table)), None, by_row(start))
            start += batch.num_rows

    return _once(parts(), name, lambda _: kinds_of(pa.Table.from_batches([], reader.schema)))


def from_iterable(parts: Iterable[Any], columns: Sequence[str] | None) -> Source:
    """A list of blocks, or a generator of them, which come once."""
    if isinstance(parts, (list, tuple)):
        return BlockList(parts, columns)
    kinds: list[Any] = []

    def made() -> Iterator[Block]:
        for part in parts:
            source = _one(part, columns)
            kinds[:] = kinds or source.kinds
            yield source.read(Piece(0, 0, source.rows or 0))

    return _once(made(), "the stream of blocks", lambda _: tuple(kinds))


def from_file_object(file: IO[bytes], separator: str, options: FileOptions) -> Source:
    """CSV text from a pipe, which comes once."""
    reader = PipedCsv(file, separator, str(getattr(file, "name", "the pipe")), options)
    found = _once(reader.parts(), reader.name, lambda _: reader.kinds)
    found.notes, found.notation, found.settled = reader.notes, reader.notation, reader.settled
    return found


def _once(parts: Iterator[Block], name: str, kinds: Any) -> Source:
    first = next(parts, None)
    if first is None or not first.rows:
        raise DataError(f"{name}: there are no rows; a fit needs rows.")
    return Once(parts, first, name, kinds(first))


def _one(part: Any, columns: Sequence[str] | None) -> Source:
    """A block given as a table, or as an array."""
    if isinstance(part, np.ndarray) or hasattr(part, "tocsr"):
        matrix = as_csr(part) if hasattr(part, "tocsr") else np.atleast_2d(part)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"a block has shape {matrix.shape} and dtype {matrix.dtype}; expected numbers in "
                "(rows, columns)."
            )
        names = [f"x{j}" for j in range(matrix.shape[1])]
        return MatrixSource(matrix, names, columns, max(matrix.shape[0], 1))
    if not (hasattr(part, "columns") or hasattr(part, "__arrow_c_stream__")):
        raise TypeError(
            f"a block is {shown(part)}, a {type(part).__name__}; expected a table or an array. For "
            "rows of numbers give numpy.array(rows)."
        )
    table = as_table(part)
    return TableSource(table, columns, max(int(table.shape[0]), 1))


def _names(table: Any) -> list[str]:
    return list(table.columns) if hasattr(table, "get_columns") else list(table.column_names)
