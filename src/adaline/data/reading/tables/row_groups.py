"""Row groups of a Parquet file through pyarrow: whole, or a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from adaline.data.reading.source import Piece
from adaline.data.reading.tables.engines import has

_BUFFER = 2**14  # bytes of a column that are read at a time; without, all of its row group are


def whole_table(place: Any, names: Sequence[str], piece: Piece) -> Any:
    """The rows of a piece as one table; place is a path or an open file."""
    from pyarrow import parquet

    file = parquet.ParquetFile(place, pre_buffer=False)
    groups, first = _overlapping(file.metadata, piece)
    table = file.read_row_groups(groups, columns=list(names), use_threads=False)
    return table.slice(piece.start - first, piece.stop - piece.start)


def can_stream() -> bool:
    """Whether pyarrow is there, and reads columns bit by bit: 18 stops in the middle of some."""
    return has("pyarrow") and int(version("pyarrow").split(".")[0]) >= 19


def tables_of(place: Any, names: Sequence[str], parts: Sequence[Piece]) -> Iterator[Any]:
    """A table for each part of a piece; every row is decoded once, and few are in memory."""
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(place, pre_buffer=False, buffer_size=_BUFFER)
    groups, at = _overlapping(file.metadata, Piece(0, parts[0].start, parts[-1].stop))
    size = parts[0].stop - parts[0].start
    batches = file.iter_batches(size, groups, columns=list(names), use_threads=False)
    held: list[Any] = []  # batches from row `at` on
    rows = 0
    for part in parts:
        while at + rows < part.stop and (batch := next(batches, None)) is not None:
            held.append(batch)
            rows += batch.num_rows
        table = pa.Table.from_batches(held)
        yield table.slice(part.start - at, part.stop - part.start)
        held, at = table.slice(part.stop - at).to_batches(), part.stop
        rows = sum(batch.num_rows for batch in held)


def _overlapping(footer: Any, piece: Piece) -> tuple[list[int], int]:
    """The row groups that have rows of a piece, and the first row of the first of them."""
    counts = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
    ends = list(accumulate(counts))
    groups = [
        g
        for g, (rows, end) in enumerate(zip(counts, ends, strict=True))
        if end - rows < piece.stop and end > piece.start
    ]
    return groups, ends[groups[0]] - counts[groups[0]] if groups else 0
