"""Arrow tables in memory, and Parquet and Arrow files, whose blocks follow their row groups."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.locations import (
    existing,
    fingerprint_of_file,
    is_url,
    open_binary,
    reading,
    size_of,
)
from adaline.data.reading.source import (
    Block,
    Column,
    Kind,
    Piece,
    RowSource,
    Source,
    by_row,
    ranges,
    slice_rows,
)
from adaline.errors import DataError, MissingExtra
from adaline.results import Array

# A constant column packs well, but a file of b bytes has at most max(2^27, 2^16 b) rows.
MIN_CLAIM, MAX_ROWS_PER_BYTE = 2**27, 2**16
MAX_PIECE_NUMBERS = 2**25  # 256 MB, beyond which a row group is several pieces
COLUMN_BUFFER = 2**14  # bytes of a column that are read at a time; without, all of its row group
DAY_PARTS = {"us": 86_400e6, "ns": 86_400e9}


def arrow(what: str, extra: str = "io") -> Any:
    """pyarrow, or a sentence that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra.of(extra, f"reading {what}", "pyarrow") from None
    return pyarrow


def kind_of_type(dtype: Any) -> Kind:
    """What values of an Arrow type are; durations and times of day are numbers of days."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return kind_of_type(dtype.value_type)
    if types.is_floating(dtype) or types.is_integer(dtype) or types.is_decimal(dtype):
        return "number"
    if types.is_null(dtype) or types.is_duration(dtype) or types.is_time(dtype):
        return "number"
    text = types.is_string(dtype) or types.is_large_string(dtype) or types.is_boolean(dtype)
    if text or types.is_string_view(dtype):
        return "text"
    return "date" if types.is_temporal(dtype) else "other"


def block_of(table: Any, kinds: Sequence[Kind], place: Callable[[int], str]) -> Block:
    """The rows of an Arrow table or record batch."""
    pairs = zip(table.columns, kinds, strict=True)
    columns = tuple(column_of(c, kind) for c, kind in pairs)
    return Block(tuple(table.schema.names), columns, None, place)


def column_of(array: Any, kind: Kind, missing: Sequence[str] = ()) -> Column:
    """A column of an Arrow array, its missing values 0; these texts are missing, too."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if kind == "text":
        return _text(array, missing)
    gone = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind == "other":
        return Column(kind, np.zeros(len(array), dtype=np.int8), missing=gone)
    if pa.types.is_temporal(array.type):
        return Column(kind, _days(array), missing=gone)
    if not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        array = array.cast(pa.float64())
    array = array.fill_null(0) if gone is not None else array
    return Column(kind, array.to_numpy(zero_copy_only=False), missing=gone)


def _text(array: Any, missing: Sequence[str]) -> Column:
    """Levels of text in their order; nulls are missing."""
    import pyarrow as pa
    from pyarrow import compute

    coded = array if pa.types.is_string(array.type) else array.cast(pa.string())
    coded = coded.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted((k for k in range(len(texts)) if texts[k] not in missing), key=texts.__getitem__)
    rank: NDArray[np.int32] = np.full(len(texts) + 1, -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    codes = rank[compute.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False)]
    gone = codes < 0
    levels = tuple(texts[k] for k in order)
    return Column("text", np.maximum(codes, 0), levels, gone if gone.any() else None)


def _days(array: Any) -> Array:
    """Days since 1970-01-01, the time of day as a fraction; days of durations and times."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date32(kind):
        days = array.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(days, dtype=np.float64)
    if pa.types.is_date64(kind):
        array = array.cast(pa.timestamp("ms"))
    if pa.types.is_time(kind):
        array, unit = array.cast(pa.time64("ns")), "ns"
    elif pa.types.is_duration(kind):
        array, unit = array.cast(pa.duration("us"), safe=False), "us"
    else:
        zone = getattr(kind, "tz", None)
        array, unit = array.cast(pa.timestamp("us", zone), safe=False), "us"
    numbers = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return np.asarray(numbers / DAY_PARTS[unit])


class TableSource(RowSource):
    """An Arrow table in memory.

    `odd` are the few texts in columns that are numbers otherwise, and text therefore; `numbers`
    those of the rows in the sheet or JSON file that was read as a whole.
    """

    held_here = True

    def __init__(
        self,
        table: Any,
        columns: Sequence[str] | None,
        rows: int | None,
        name: str = "the table",
        odd: Mapping[str, tuple[str, ...]] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> None:
        kinds = [kind_of_type(field.type) for field in table.schema]
        super().__init__(name, table.column_names, kinds, table.num_rows, columns, rows)
        self.table, self.numbers = table, numbers
        self.odd = {n: texts for n, texts in (odd or {}).items() if texts}

    def strays(self) -> dict[str, tuple[str, ...]]:
        """The few texts in columns of numbers."""
        return {n: texts for n, texts in self.odd.items() if n in self.names}

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        start, numbers = piece.start, self.numbers
        place = by_row(start) if numbers is None else lambda i: f"row {numbers[start + i]}"
        part = self.table.slice(start, piece.stop - start).select(list(self.names))
        return block_of(part, self.kinds, place)


class ArrowSource(RowSource):
    """A Parquet or Arrow IPC (Feather) file; its footer has rows, names and types."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None, kind: str):
        self.name, self.kind = existing(path), kind
        arrow(f"{kind} files")
        with reading(f"{path}: this is no whole {kind} file", "it is cut short or damaged"):
            schema, counts = self._footer()
        count, size = sum(counts), size_of(path)
        if not 0 <= count <= max(MIN_CLAIM, MAX_ROWS_PER_BYTE * size):
            raise DataError(
                f"{path}: its footer claims {count} rows, and the file has {size} bytes; it is "
                "damaged."
            )
        kinds = [kind_of_type(field.type) for field in schema]
        super().__init__(path, schema.names, kinds, count, columns, rows)
        self.ends = np.cumsum(counts).tolist()
        self.pieces = self._cut() if rows is None else ranges(count, self.size)

    def _footer(self) -> tuple[Any, list[int]]:
        """The columns, and the rows of each row group or record batch."""
        from pyarrow import parquet

        if self.kind == "Parquet":
            with open_binary(self.name) as opened:
                footer = parquet.read_metadata(opened)
            counts = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
            return footer.schema.to_arrow_schema(), counts
        with self._ipc() as file:
            batches = [file.get_batch(g) for g in range(file.num_record_batches)]
            for batch in batches:
                batch.validate()  # its buffers are long enough for its rows
            return file.schema, [batch.num_rows for batch in batches]

    @contextmanager
    def _ipc(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """An Arrow file, with these columns."""
        import pyarrow as pa

        url = is_url(self.name)
        mapped = pa.PythonFile(open_binary(self.name), "r") if url else pa.memory_map(self.name)
        with mapped:
            file = pa.ipc.open_file(mapped)
            if names is not None and list(names) != file.schema.names:
                fields = [file.schema.get_field_index(name) for name in names]
                options = pa.ipc.IpcReadOptions(included_fields=fields)
                file = pa.ipc.open_file(mapped, options=options)
            yield file

    def _cut(self) -> list[Piece]:
        """Row groups, small ones together and huge ones in parts."""
        edges, most = [0], max(MAX_PIECE_NUMBERS // max(len(self.names), 1), 1)
        for end, following in pairwise([*self.ends, None]):
            while end - edges[-1] > most:
                edges.append(edges[-1] + most)
            if end > edges[-1] and (following is None or following - edges[-1] > 2 * self.size):
                edges.append(end)
        return [Piece(k, i, j) for k, (i, j) in enumerate(pairwise(edges))]

    def for_reading(self) -> Source:
        """The file without its list of pieces."""
        other = copy.copy(self)
        other.pieces = []
        return other

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows that follow the row groups."""
        return self.pieces

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        cuts = [piece.stop for piece in self.pieces]
        return fingerprint_of_file(self.name, self.names, self.kinds, cuts)

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        import pyarrow as pa

        table = pa.Table.from_batches(self._batches(piece, piece.stop - piece.start))
        return block_of(table, self.kinds, self._place(piece.start))

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a range, a few at a time; a large row group is never in memory as a whole."""
        start = piece.start
        for batch in self._batches(piece, slice_rows(len(self.names))):
            yield block_of(batch, self.kinds, self._place(start))
            start += batch.num_rows

    def _batches(self, piece: Piece, size: int) -> Iterator[Any]:
        """Record batches of at most so many rows; damage is reported with its row group."""
        starts = [0, *self.ends[:-1]]
        for g, (first, end) in enumerate(zip(starts, self.ends, strict=True)):
            start, stop = max(piece.start, first), min(piece.stop, end)
            if start >= stop:
                continue
            rows = f"rows {start} to {stop}{self._group(start)}"
            with reading(f"{self.name}: {rows} cannot be read", "the file is damaged"):
                at = first
                for batch in self._group_batches(g, size):
                    if at >= stop:
                        break
                    low, high = max(start - at, 0), min(stop - at, batch.num_rows)
                    at += batch.num_rows
                    for row in range(low, high, size):
                        yield batch.slice(row, min(size, high - row))
                if at < stop:
                    raise ValueError(f"there are {at - first} of {end - first}")

    def _group_batches(self, group: int, size: int) -> Iterator[Any]:
        from pyarrow import parquet

        names = list(self.names)
        if self.kind == "Parquet":
            with open_binary(self.name) as opened:
                file = parquet.ParquetFile(opened, pre_buffer=False, buffer_size=COLUMN_BUFFER)
                batches = file.iter_batches(size, [group], columns=names, use_threads=False)
                for batch in batches:
                    yield batch.select(names)
            return
        with self._ipc(self.names) as file:
            batch = file.get_batch(group)
            batch.validate(full=True)  # offsets of text lead to memory
            yield batch.select(names)

    def _group(self, row: int) -> str:
        """The row group of a row in words, where there are several."""
        if self.kind != "Parquet" or len(self.ends) < 2:
            return ""
        return f" (row group {np.searchsorted(self.ends, row, side='right')})"

    def _place(self, start: int) -> Callable[[int], str]:
        return lambda i: f"row {start + i}{self._group(start + i)}"
