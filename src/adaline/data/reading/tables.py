"""Tables of Arrow: in memory, in Parquet and Arrow files, from other libraries, from Python values.

Tables of any library arrive through the Arrow C stream; sheets and JSON files, which are read as a
whole, come here as columns of Python values. Blocks of Parquet files follow their row groups.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import accumulate, pairwise
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.files import (
    existing,
    is_url,
    open_binary,
    reading,
    stamp,
)
from adaline.data.reading.notations import CODE, MAX_STRAYS, read
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import put_in_file
from adaline.data.reading.source import (
    Block,
    Column,
    Kind,
    Piece,
    RowSource,
    by_row,
    checked_names,
    slice_rows,
    text_of,
)
from adaline.errors import DataError, MissingExtra

# A constant column packs well, but a file of b bytes has at most max(2^27, 2^16 b) rows.
MIN_CLAIM, MAX_ROWS_PER_BYTE = 2**27, 2**16
COLUMN_BUFFER = 2**14  # bytes of a column that are read at a time; without, all of its row group
_PER_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}
_TIMES = datetime.date, datetime.time, datetime.timedelta
_PLAIN = (str, int, float, np.generic, Decimal, type(None), *_TIMES)
NUMBERS_PER_STRAY = 9  # so many numbers for each text that is none


def arrow(what: str, extra: str = "io") -> Any:
    """pyarrow, or a sentence that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra.of(extra, f"reading {what}", "pyarrow") from None
    return pyarrow


def kind_of_type(dtype: Any) -> Kind:
    """What values of an Arrow type are; durations and times of day are numbers of days."""
    from pyarrow import types as t

    if t.is_dictionary(dtype):
        return kind_of_type(dtype.value_type)
    numbers = t.is_floating, t.is_integer, t.is_decimal, t.is_null, t.is_duration, t.is_time
    if any(is_kind(dtype) for is_kind in numbers):
        return "number"
    texts = t.is_string, t.is_large_string, t.is_string_view, t.is_boolean
    if any(is_kind(dtype) for is_kind in texts):
        return "text"
    return "date" if t.is_temporal(dtype) else "other"


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
    scale, dtype = 1.0, array.type
    if pa.types.is_temporal(dtype):  # to days since 1970-01-01, or of a duration
        scale = _PER_DAY[getattr(dtype, "unit", "ms")] if not pa.types.is_date32(dtype) else 1.0
        array = array.cast(pa.int32() if dtype.bit_width == 32 else pa.int64())
    elif not (pa.types.is_floating(dtype) or pa.types.is_integer(dtype)):
        array = array.cast(pa.float64())
    values = (array.fill_null(0) if gone is not None else array).to_numpy(zero_copy_only=False)
    return Column(kind, values / scale if array.type != dtype else values, missing=gone)


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


class TableSource(RowSource):
    """An Arrow table in memory, or in a memory-mapped Arrow file.

    `odd` are the few texts in columns that are numbers otherwise, and text therefore; `numbers`
    those of the rows in the sheet or JSON file that was read as a whole.
    """

    def __init__(
        self,
        table: Any,
        options: ReadingOptions,
        name: str = "the table",
        odd: Mapping[str, tuple[str, ...]] | None = None,
        numbers: Sequence[int] | None = None,
        load: Callable[[str], Any] | None = None,
    ) -> None:
        kinds, count = [kind_of_type(field.type) for field in table.schema], table.num_rows
        super().__init__(name, table.column_names, kinds, count, options, table, load)
        self.odd, self.numbers = odd or {}, numbers

    def strays(self) -> dict[str, tuple[str, ...]]:
        return {n: texts for n, texts in self.odd.items() if texts and n in self.names}

    def read(self, piece: Piece) -> Block:
        start, numbers = piece.start, self.numbers
        place = by_row(start) if numbers is None else lambda i: f"row {numbers[start + i]}"
        part = self.content.slice(start, piece.stop - start).select(list(self.names))
        if self.load is not None:
            with reading(f"{self.name}: rows from {start} on cannot be read"):
                part.validate(full=True)  # offsets of text lead to memory
        return block_of(part, self.kinds, place)


def open_arrow(path: str, options: ReadingOptions) -> TableSource:
    """An Arrow IPC (Feather) file; one that is compressed is unpacked as a whole."""
    arrow("Arrow files")
    with reading(f"{existing(path)}: this is no whole Arrow file", "it is cut short or damaged"):
        table = _load_arrow(path)
    _refuse_claims(path, table.num_rows)
    return TableSource(table, options, path, load=_load_arrow)


def _load_arrow(path: str) -> Any:
    import pyarrow as pa

    file = pa.PythonFile(open_binary(path), "r") if is_url(path) else pa.memory_map(path)
    table = pa.ipc.open_file(file).read_all()
    table.validate()  # its buffers are long enough for its rows
    return table


def _refuse_claims(path: str, rows: int) -> None:
    size = stamp(path)[0]
    if not 0 <= rows <= max(MIN_CLAIM, MAX_ROWS_PER_BYTE * size):
        raise DataError(
            f"{path}: its footer claims {rows} rows, and the file has {size} bytes; it is damaged."
        )


class ParquetSource(RowSource):
    """A Parquet file, whose pieces are row groups; its footer has rows, names and types."""

    def __init__(self, path: str, options: ReadingOptions):
        arrow("Parquet files")
        from pyarrow import parquet

        what, advice = (
            f"{existing(path)}: this is no whole Parquet file",
            "it is cut short or damaged",
        )
        with reading(what, advice), open_binary(path) as opened:
            footer = parquet.read_metadata(opened)
            schema = footer.schema.to_arrow_schema()
        counts = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
        _refuse_claims(path, sum(counts))
        kinds = [kind_of_type(field.type) for field in schema]
        super().__init__(path, schema.names, kinds, sum(counts), options)
        self.ends = list(accumulate(counts))

    def descriptors(self) -> Iterable[Piece]:
        """Row groups, small ones together."""
        edges = [0]
        for end, following in pairwise([*self.ends, math.inf]):
            if end > edges[-1] and following - edges[-1] > 2 * self.size:
                edges.append(end)
        return [Piece(k, i, j) for k, (i, j) in enumerate(pairwise(edges))]

    def head(self) -> Block:
        batch = next(self._batches(Piece(0, 0, self.ends[-1]), self.head_rows))
        return block_of(batch, self.kinds, by_row(0))

    def read(self, piece: Piece) -> Block:
        import pyarrow as pa

        table = pa.Table.from_batches(self._batches(piece, piece.stop - piece.start))
        return block_of(table, self.kinds, by_row(piece.start))

    def slices(self, piece: Piece) -> Iterator[Block]:
        # A large row group is never in memory as a whole.
        start = piece.start
        for batch in self._batches(piece, slice_rows(len(self.names))):
            yield block_of(batch, self.kinds, by_row(start))
            start += batch.num_rows

    def _batches(self, piece: Piece, size: int) -> Iterator[Any]:
        """Record batches of at most so many rows."""
        from pyarrow import parquet

        groups = [g for g, end in enumerate(self.ends) if piece.start < end <= piece.stop]
        at, names = piece.start, list(self.names)
        what = f"{self.name}: rows {piece.start} to {piece.stop} cannot be read"
        with reading(what, "the file is damaged"), open_binary(self.name) as opened:
            file = parquet.ParquetFile(opened, pre_buffer=False, buffer_size=COLUMN_BUFFER)
            for batch in file.iter_batches(size, groups, columns=names, use_threads=False):
                yield batch.select(names)
                at += batch.num_rows
            if at < piece.stop:
                raise ValueError(f"the last one is row {at - 1}")


def from_table(table: Any, options: ReadingOptions, name: str = "the table") -> TableSource:
    """Anything with columns that has an Arrow C stream, a pandas DataFrame, or an Arrow dataset."""
    pa = arrow("tables")
    try:
        if hasattr(table, "isetitem"):  # of pandas, whose index is no column
            values = [_of_pandas(table.iloc[:, j]) for j in range(table.shape[1])]
            return from_values(name, [str(column) for column in table.columns], values, options)
        # A dataset of Arrow has to_table; tables and record batches are one already.
        table = table.to_table() if hasattr(table, "to_table") else pa.table(table)
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{name} has a column that cannot be read ({error}); make numbers, texts or dates of "
            "it, or leave it out."
        ) from error
    return TableSource(table, options, name)


def from_values(
    name: str,
    names: Sequence[str],
    values: Sequence[Any],
    options: ReadingOptions,
    numbers: Sequence[int] | None = None,
) -> TableSource:
    """Columns of Python values, or Arrow arrays; `numbers` are those of the rows in their file."""
    pa = arrow("tables")
    names = checked_names(names, name)
    arrays = [c if isinstance(c, pa.Array) else arrow_column(c) for c in values]
    table = pa.Table.from_arrays(arrays, names=list(names))
    pairs = zip(names, values, arrays, strict=True)
    odd = {n: strays_among(c) for n, c, array in pairs if c is not array}
    return TableSource(table, options, name, odd, numbers)


def from_batches(batches: Iterator[Any], options: ReadingOptions, name: str) -> TableSource:
    """Record batches that come once, put in a temporary file."""
    import pyarrow as pa

    streams = [batches]

    def take() -> Iterator[Any]:
        if not streams:
            raise DataError(f"{name}: its rows find no room in {gettempdir()}; set TMPDIR.")
        return streams.pop()

    if not (rows := put_in_file(take, name)):
        raise DataError(f"{name}: there are no rows; a fit needs rows.")
    return TableSource(pa.Table.from_batches(rows), options, name)


# Python values.


def _of_pandas(column: Any) -> Any:
    """An Arrow array of a pandas Series, or Python values where it holds objects."""
    import pyarrow as pa

    if str(column.dtype) != "object":
        return pa.Array.from_pandas(column)
    missing = column.isna().tolist()
    return [None if m else v for v, m in zip(column.tolist(), missing, strict=True)]


def arrow_column(values: Sequence[Any]) -> Any:
    """An Arrow array of values of one kind; of several kinds, it is of text."""
    import pyarrow as pa

    if any(isinstance(value, datetime.datetime) for value in values):  # Arrow would cut times off
        values = [_moment(value) if isinstance(value, datetime.date) else value for value in values]
    with suppress(pa.ArrowException, OverflowError):
        return pa.array(values)
    if not any(isinstance(value, str | bool) for value in values):
        with suppress(TypeError, OverflowError):  # decimals, and whole numbers beyond 64 bits
            return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if not all(isinstance(value, _PLAIN) for value in values):  # lists among numbers, or objects
        return pa.array([None if v is None else b"" for v in values], pa.binary())
    return pa.array([None if v is None else text_of(v) for v in values], pa.string())


def _moment(value: Any) -> Any:
    is_day = not isinstance(value, datetime.datetime)
    return datetime.datetime(*value.timetuple()[:3]) if is_day else value


def strays_among(values: Sequence[Any]) -> tuple[str, ...]:
    """The few texts in a column of which nearly all values are numbers; () where they are more."""
    texts = Counter(value.strip() for value in values if isinstance(value, str))
    odd = read(list(texts), "number", most=len(texts)).strange
    numbers = sum(isinstance(value, int | float) for value in values)
    few = len(odd) <= MAX_STRAYS and sum(texts[t] for t in odd) <= numbers / NUMBERS_PER_STRAY
    return odd if few and not any(map(CODE.fullmatch, odd)) else ()
