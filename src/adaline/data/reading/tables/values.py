"""Rows of Python values, as JSON and spreadsheets have them, to a table in memory."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from adaline.data.reading.source import Block, Piece
from adaline.data.reading.tables.engines import columns_of, engine
from adaline.data.reading.tables.in_memory import TableSource
from adaline.data.reading.tables.mixed import as_one_kind, strays_in


class FileTable(TableSource):
    """A table that was read from a file as a whole.

    Attributes
    ----------
    numbers : sequence of int
        What to call the rows: their numbers in the file.
    """

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
        super().__init__(_table(names, values), columns, rows)
        odd = {name: strays_in(column) for name, column in zip(names, values, strict=True)}
        self.odd = {name: texts for name, texts in odd.items() if texts}

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        part = self.table.slice(piece.start, piece.stop - piece.start)
        found = columns_of(part, self.kinds)
        return Block(self.names, found, None, lambda i: f"row {self.numbers[piece.start + i]}")


def _table(names: Sequence[str], values: Sequence[Sequence[Any]]) -> Any:
    """A polars or pyarrow table of columns."""
    if engine("tables") == "polars":
        import polars as pl

        types = {bool: pl.Boolean, float: pl.Float64, str: pl.String, bytes: pl.Binary}
        types |= {datetime.date: pl.Date, datetime.datetime: pl.Datetime}
        series = []
        for name, column in zip(names, values, strict=True):
            kind, found = as_one_kind(column)
            series.append(pl.Series(name, found, dtype=types[kind], strict=False))
        return pl.DataFrame(series)
    import pyarrow as pa

    arrow = {bool: pa.bool_(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    arrow |= {datetime.date: pa.date32(), datetime.datetime: pa.timestamp("us")}
    arrays = []
    for column in values:
        kind, found = as_one_kind(column)
        arrays.append(pa.array(found, arrow[kind]))
    return pa.Table.from_arrays(arrays, names=list(names))
