"""Parquet and Arrow files: blocks are row groups, or record batches, as they are in the file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from adaline.data.reading.arrow_columns import arrow, columns_of, kinds_of
from adaline.data.reading.locations import is_url, open_binary, size_of
from adaline.data.reading.source import (
    Block,
    Piece,
    Source,
    block_rows,
    by_row,
    checked_names,
    chosen,
    existing,
    fingerprint_of_file,
    head_rows,
    ranges,
    reading,
    slice_rows,
)
from adaline.errors import DataError

_FEW_ROWS, _ROWS_A_BYTE = 2**27, 2**16  # a constant column packs well, but not better
_MANY = 2**25  # numbers, 256 MB, beyond which a row group is several pieces
_WHOLE = 2**23  # numbers, 64 MB, up to which a piece is read at once, which costs less
_STREAMED = 2**19  # numbers, 4 MB, of a larger piece that are decoded at a time
_BUFFER = 2**14  # bytes of a column that are read at a time; without, all of its row group are


class ArrowSource(Source):
    """A Parquet or Arrow IPC (Feather) file; its footer tells rows, names and types."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None, kind: str):
        self.name, self.kind = existing(path), kind
        arrow(f"{kind} files")
        with reading(
            f"{path}: this is no whole {kind} file", "it may be cut short or of another format"
        ):
            schema, counts = self._parquet_footer() if kind == "Parquet" else self._arrow_footer()
            names, kinds = schema.names, kinds_of(schema)
        self.ends, self.rows = np.cumsum(counts).tolist(), sum(counts)
        self._check_rows()
        checked_names(names, path)
        self.places = chosen(columns, names, path)
        self.names = tuple(names[j] for j in self.places)
        self.kinds = tuple(kinds[j] for j in self.places)
        if not self.rows:
            raise DataError(f"{path}: there are column names and no rows; a fit needs rows.")
        self.size = block_rows(len(self.names), rows)
        self.pieces = self._cut() if rows is None else ranges(self.rows, self.size)

    def _check_rows(self) -> None:
        """Refuse more rows than a file of this size can tell apart by far."""
        size = size_of(self.name)
        if not 0 <= (self.rows or 0) <= max(_FEW_ROWS, _ROWS_A_BYTE * size):
            raise DataError(
                f"{self.name}: its footer claims {self.rows} rows, and the file has {size} bytes; "
                "it is damaged."
            )

    def _parquet_footer(self) -> tuple[Any, list[int]]:
        """The columns, and the rows of each row group."""
        from pyarrow import parquet

        with open_binary(self.name) as file:
            footer = parquet.read_metadata(file)
        counts = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
        return footer.schema.to_arrow_schema(), counts

    def _arrow_footer(self) -> tuple[Any, list[int]]:
        """The columns, and the rows of each record batch, whose buffers must be long enough."""
        counts = []
        with self._arrow_file() as batches:
            for g in range(batches.num_record_batches):
                batch = batches.get_batch(g)
                batch.validate()
                counts.append(batch.num_rows)
            return batches.schema, counts

    @contextmanager
    def _arrow_file(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """The record batches of an Arrow file, with these columns."""
        import pyarrow as pa

        url = is_url(self.name)
        with (
            pa.PythonFile(open_binary(self.name), "r") if url else pa.memory_map(self.name) as file
        ):
            batches = pa.ipc.open_file(file)
            if names is not None and list(names) != batches.schema.names:
                some = [batches.schema.get_field_index(name) for name in names]
                options = pa.ipc.IpcReadOptions(included_fields=some)
                batches = pa.ipc.open_file(file, options=options)
            yield batches

    def for_reading(self) -> Source:
        """The file without its list of pieces."""
        other = copy.copy(self)
        other.pieces = []
        return other

    def _cut(self) -> list[Piece]:
        """Row groups, small ones together and huge ones in parts."""
        edges, most = [0], max(_MANY // max(len(self.names), 1), 1)
        for k, end in enumerate(self.ends):
            while end - edges[-1] > most:
                edges.append(edges[-1] + most)
            following = self.ends[k + 1] if k + 1 < len(self.ends) else end
            enough = following - edges[-1] > 2 * self.size or k + 1 == len(self.ends)
            if enough and end > edges[-1]:
                edges.append(end)
        return [Piece(k, i, j) for k, (i, j) in enumerate(pairwise(edges))]

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows that follow the row groups."""
        return self.pieces

    def head(self) -> Block:
        """The first rows."""
        return self.read(Piece(0, 0, min(self.rows or 0, head_rows(len(self.names)))))

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        cuts = [piece.stop for piece in self.pieces]
        return fingerprint_of_file(self.name, self.names, self.kinds, cuts)

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        with self._reading(piece):
            try:
                table = self._row_groups(piece) if self.kind == "Parquet" else self._batches(piece)
                return self._block(piece, table)
            except Exception:
                self._find_damage(piece)
                raise

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a range, a few at a time; a large row group is never in memory as a whole."""
        rows, p = piece.stop - piece.start, len(self.names)
        large = self.kind == "Parquet" and rows * p > _WHOLE
        size = slice_rows(p, _STREAMED) if large else slice_rows(p)
        if large:
            yield from self._streamed(piece, size)
            return
        block = self.read(piece)
        for start in range(0, block.rows, size):
            yield block.part(start, min(start + size, block.rows))

    @contextmanager
    def _reading(self, piece: Piece) -> Iterator[None]:
        """Tell where damage is."""
        where = f"{self.name}: {self._range(piece)}"
        with reading(f"{where} cannot be read", "the file is damaged"):
            try:
                yield
            except OSError as error:
                if error.errno is not None or is_url(self.name):
                    raise
                raise ValueError(str(error)) from error  # so pyarrow tells that a page is damaged

    def _row_groups(self, piece: Piece) -> Any:
        """The rows of a piece of a Parquet file, all at once."""
        from pyarrow import parquet

        with open_binary(self.name) as opened:
            file = parquet.ParquetFile(opened, pre_buffer=False)
            groups, first = self._overlapping(piece)
            table = file.read_row_groups(groups, columns=list(self.names), use_threads=False)
            return table.slice(piece.start - first, piece.stop - piece.start).select(self.names)

    def _batches(self, piece: Piece) -> Any:
        """The rows of a piece of an Arrow file."""
        import pyarrow as pa

        groups, first = self._overlapping(piece)
        with self._arrow_file(self.names) as file:
            whole = pa.Table.from_batches([file.get_batch(g) for g in groups])
            whole.validate(full=True)  # offsets of text lead to memory
            whole = whole.select(list(self.names))
            return whole.slice(piece.start - first, piece.stop - piece.start)

    def _streamed(self, piece: Piece, size: int) -> Iterator[Block]:
        """The rows of a large piece, every one decoded once and in order."""
        import pyarrow as pa
        from pyarrow import parquet

        with self._reading(piece), open_binary(self.name) as opened:
            file = parquet.ParquetFile(opened, pre_buffer=False, buffer_size=_BUFFER)
            groups, at = self._overlapping(piece)
            columns = list(self.names)
            batches = file.iter_batches(size, groups, columns=columns, use_threads=False)
            held: list[Any] = []  # batches from row `at` on
            rows = 0
            for start in range(piece.start, piece.stop, size):
                part = Piece(piece.index, start, min(start + size, piece.stop))
                while at + rows < part.stop and (batch := next(batches, None)) is not None:
                    held.append(batch)
                    rows += batch.num_rows
                table = pa.Table.from_batches(held).select(columns)
                yield self._block(part, table.slice(part.start - at, part.stop - part.start))
                held, at = table.slice(part.stop - at).to_batches(), part.stop
                rows = sum(batch.num_rows for batch in held)

    def _overlapping(self, piece: Piece) -> tuple[list[int], int]:
        """The row groups or batches that have rows of a piece, and the first row of the first."""
        starts = [0, *self.ends[:-1]]
        spans = enumerate(zip(starts, self.ends, strict=True))
        groups = [g for g, (i, j) in spans if i < piece.stop and j > piece.start]
        return groups, starts[groups[0]] if groups else 0

    def _block(self, piece: Piece, table: Any) -> Block:
        columns = columns_of(table, self.kinds)
        found = {len(column.values) for column in columns}
        if found - {piece.stop - piece.start}:
            where = f"{self.name}: {self._range(piece)}"
            raise DataError(f"{where} are {sorted(found)} in its columns; the file is damaged.")
        return Block(self.names, columns, None, self._place(piece.start))

    def _group(self, row: int) -> int:
        return int(np.searchsorted(self.ends, row, side="right"))

    def _range(self, piece: Piece) -> str:
        """The rows of a piece in words, and its row groups where there are several."""
        rows = f"rows {piece.start} to {piece.stop}"
        if self.kind != "Parquet" or len(self.ends) < 2:
            return rows
        first, last = self._group(piece.start), self._group(piece.stop - 1)
        groups = f"row group {first}" if first == last else f"row groups {first} to {last}"
        return f"{rows} ({groups})"

    def _find_damage(self, piece: Piece) -> None:
        """Read the row groups of a piece one by one, so that the error names the damaged one."""
        edges = [piece.start, *(e for e in self.ends if piece.start < e < piece.stop), piece.stop]
        if len(edges) > 2:
            for start, stop in pairwise(edges):
                self.read(Piece(piece.index, start, stop))

    def _place(self, start: int) -> Callable[[int], str]:
        """Rows counted from 0, and their row groups where there are several."""
        if self.kind != "Parquet" or len(self.ends) < 2:
            return by_row(start)
        return lambda i: f"row {start + i} (row group {self._group(start + i)})"
