"""Parquet and Arrow files: blocks are row groups, or record batches, as they are in the file."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from adaline.data.reading.bytes.locations import is_url, open_binary, size_of
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
    is_failure,
    ranges,
    reading,
    slice_rows,
)
from adaline.data.reading.tables.engines import arrow_kind, columns_of, engine, has, polars_kind
from adaline.data.reading.tables.row_groups import can_stream, tables_of, whole_table
from adaline.errors import DataError, MissingExtra

_FEW_ROWS, _ROWS_A_BYTE = 2**27, 2**16  # a constant column packs well, but not better
_MANY = 2**25  # numbers, 256 MB, beyond which a row group is several pieces
_WHOLE = 2**23  # numbers, 64 MB, up to which a piece is read at once, which costs less
_MAPPED, _SCANS = 2**22, 8  # numbers of a piece that are read at a time; times, at most
_STREAMED = 2**19  # numbers, 4 MB, of a larger piece that are decoded at a time


class ArrowSource(Source):
    """A Parquet or Arrow IPC (Feather) file; its footer tells rows, names and types."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None, kind: str):
        self.name, self.kind, self.engine = existing(path), kind, engine(f"{kind} files")
        self._scanned: tuple[Any, Any] = (None, None)
        if is_url(path):
            if not has("pyarrow"):
                raise MissingExtra.of("arrow", f"{path}: reading {kind} files from URLs", "pyarrow")
            self.engine = "pyarrow"
        advice = "it may be cut short or of another format"
        with reading(f"{path}: this is no whole {kind} file", advice):
            names, kinds, self.rows, ends = self._footer()
        self._check_rows()
        self.ends = ends if kind == "Parquet" and len(ends) > 1 else []
        checked_names(names, path)
        self.places = chosen(columns, names, path)
        self.names = tuple(names[j] for j in self.places)
        self.kinds = tuple(kinds[j] for j in self.places)
        if not self.rows:
            raise DataError(f"{path}: there are column names and no rows; a fit needs rows.")
        self.size = block_rows(len(self.names), rows)
        self.pieces = self._cut(ends) if rows is None and ends else ranges(self.rows, self.size)

    def _check_rows(self) -> None:
        """Refuse more rows than a file of this size can tell apart by far."""
        size = size_of(self.name)
        if not 0 <= (self.rows or 0) <= max(_FEW_ROWS, _ROWS_A_BYTE * size):
            raise DataError(
                f"{self.name}: its footer claims {self.rows} rows, and the file has {size} bytes; "
                "it is damaged."
            )

    def _footer(self) -> tuple[list[str], list[Any], int, list[int]]:
        """Names, kinds, rows, and where row groups or record batches end (if it is known)."""
        if has("pyarrow"):
            import pyarrow as pa
            from pyarrow import parquet

            if self.kind == "Parquet":
                with open_binary(self.name) as file:
                    footer = parquet.read_metadata(file)
                counts = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
                schema = footer.schema.to_arrow_schema()
            else:
                with self._mapped(pa) as file:
                    batches = pa.ipc.open_file(file)
                    counts = [_rows(batches, g) for g in range(batches.num_record_batches)]
                    schema = batches.schema
            kinds = [arrow_kind(field.type) for field in schema]
            return list(schema.names), kinds, sum(counts), np.cumsum(counts).tolist()
        import polars as pl

        lazy = self._scan()
        found = lazy.collect_schema()
        rows = int(lazy.select(pl.len()).collect().item())
        return list(found.names()), [polars_kind(t) for t in found.dtypes()], rows, []

    def _mapped(self, pa: Any) -> Any:
        """The bytes of an Arrow file."""
        if is_url(self.name):
            return pa.PythonFile(open_binary(self.name), "r")
        return pa.memory_map(self.name)

    def for_reading(self) -> Source:
        """The file without its list of pieces."""
        other = copy.copy(self)
        other.pieces = []
        return other

    def _cut(self, ends: list[int]) -> list[Piece]:
        """Row groups, small ones together and huge ones in parts."""
        edges, most = [0], max(_MANY // max(len(self.names), 1), 1)
        for k, end in enumerate(ends):
            while end - edges[-1] > most:
                edges.append(edges[-1] + most)
            following = ends[k + 1] if k + 1 < len(ends) else end
            enough = following - edges[-1] > 2 * self.size or k + 1 == len(ends)
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
                return self._block(piece, self._table(piece))
            except BaseException as error:
                if is_failure(error):
                    self._find_damage(piece)
                raise

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a range, a few at a time; a large row group is never in memory as a whole.

        But where pyarrow is missing or old: then it is, and is cut in the same places, so that the
        bits do not depend on what is installed.
        """
        rows, p = piece.stop - piece.start, len(self.names)
        large = self.kind == "Parquet" and rows * p > _WHOLE
        size = slice_rows(p, _STREAMED) if large else slice_rows(p)
        if large and can_stream():
            yield from self._streamed(piece, size)
            return
        block = self.read(piece)
        for start in range(0, block.rows, size):
            yield block.part(start, min(start + size, block.rows))

    def _streamed(self, piece: Piece, size: int) -> Iterator[Block]:
        """The rows of a large row group, decoded once and in order."""
        starts = range(piece.start, piece.stop, size)
        parts = [Piece(piece.index, start, min(start + size, piece.stop)) for start in starts]
        with self._reading(piece):
            tables = tables_of(self._opened(), self.names, parts)
            for part, table in zip(parts, tables, strict=True):
                yield self._block(part, table)

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

    def _block(self, piece: Piece, table: Any) -> Block:
        columns = columns_of(table, self.kinds)
        found = {len(column.values) for column in columns}
        if found - {piece.stop - piece.start}:
            where = f"{self.name}: {self._range(piece)}"
            raise DataError(f"{where} are {sorted(found)} in its columns; the file is damaged.")
        return Block(self.names, columns, None, self._place(piece.start))

    def _range(self, piece: Piece) -> str:
        """The rows of a piece in words, and its row groups where there are several."""
        rows = f"rows {piece.start} to {piece.stop}"
        if not self.ends:
            return rows
        ends = np.array(self.ends)
        first = int(np.searchsorted(ends, piece.start, side="right"))
        last = int(np.searchsorted(ends, piece.stop - 1, side="right"))
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
        if not self.ends:
            return by_row(start)
        ends = np.array(self.ends)

        def place(i: int) -> str:
            group = int(np.searchsorted(ends, start + i, side="right"))
            return f"row {start + i} (row group {group})"

        return place

    def _table(self, piece: Piece) -> Any:
        if self.engine == "polars":
            try:
                return self._polars(piece)
            except Exception as error:
                if "allocate memory" not in str(error) or not has("pyarrow"):
                    raise
                self.engine = "pyarrow"  # the file is too large to be mapped here; read it
        return self._arrow(piece)

    def __getstate__(self) -> dict[str, Any]:
        """Without what polars knows of the footer: another process reads it again."""
        return self.__dict__ | {"_scanned": (None, None)}

    def _scan(self) -> Any:
        """The file as polars sees it, its footer read once: to read it costs as much as many rows.

        A file that was changed meanwhile has another footer.
        """
        import polars as pl

        found = os.stat(self.name)
        stamp = found.st_size, found.st_mtime_ns, found.st_ino
        if self._scanned[0] != stamp:
            parquet = self.kind == "Parquet"
            lazy = pl.scan_parquet(self.name, glob=False) if parquet else pl.scan_ipc(self.name)
            lazy.collect_schema()
            self._scanned = stamp, lazy
        return self._scanned[1]

    def _polars(self, piece: Piece) -> Any:
        """Some columns at a time, so that little of the file is mapped beside them."""
        import polars as pl

        rows = piece.stop - piece.start
        width = max(_MAPPED // max(rows, 1), -(-len(self.names) // _SCANS))
        some = [self.names[j : j + width] for j in range(0, len(self.names), width)]
        found = [self._scan().select(names).slice(piece.start, rows).collect() for names in some]
        if len({part.height for part in found}) > 1:
            raise ValueError("its columns differ in length")
        return pl.concat(found, how="horizontal").rechunk()

    def _arrow(self, piece: Piece) -> Any:
        """Through pyarrow."""
        if self.kind == "Parquet":
            return whole_table(self._opened(), self.names, piece)
        import pyarrow as pa

        with self._mapped(pa) as file:
            whole = pa.ipc.open_file(file).read_all().select(list(self.names))
            whole.validate(full=True)  # offsets of text lead to memory
            return whole.slice(piece.start, piece.stop - piece.start)

    def _opened(self) -> Any:
        """What pyarrow opens: a path, or the open file of a URL."""
        return open_binary(self.name) if is_url(self.name) else self.name


def _rows(batches: Any, g: int) -> int:
    """Rows of a record batch, whose buffers are as long as they must be."""
    batch = batches.get_batch(g)
    batch.validate()
    return int(batch.num_rows)
