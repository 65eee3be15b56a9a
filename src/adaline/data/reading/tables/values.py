"""Rows of Python values, as JSON and spreadsheets have them, to a table in memory."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.data.reading.source import Block, Piece
from adaline.data.reading.tables.engines import columns_of, engine
from adaline.data.reading.tables.in_memory import TableSource


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
            kind, found = _as_one_kind(column)
            series.append(pl.Series(name, found, dtype=types[kind], strict=False))
        return pl.DataFrame(series)
    import pyarrow as pa

    arrow = {bool: pa.bool_(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    arrow |= {datetime.date: pa.date32(), datetime.datetime: pa.timestamp("us")}
    arrays = []
    for column in values:
        kind, found = _as_one_kind(column)
        arrays.append(pa.array(found, arrow[kind]))
    return pa.Table.from_arrays(arrays, names=list(names))


def _as_one_kind(column: Sequence[Any]) -> tuple[type, list[Any]]:
    """The values as one type: numbers, dates or truth values; text where they are mixed.

    Lists and objects are bytes, which nothing reads further.
    """
    kinds = {_kind(value) for value in column if value is not None}
    if len(kinds) > 1 and kinds <= {datetime.date, datetime.datetime}:
        midnight = datetime.time()
        whole = [
            datetime.datetime.combine(v, midnight) if _kind(v) is datetime.date else v
            for v in column
        ]
        return datetime.datetime, whole
    if bytes in kinds:
        return bytes, [None if value is None else b"" for value in column]
    if len(kinds) > 1:
        return str, [None if value is None else as_text(value) for value in column]
    kind = kinds.pop() if kinds else float
    if kind is str:
        return kind, [None if value is None else str(value) for value in column]
    if kind is float:
        return kind, [None if value is None else _number(value) for value in column]
    return kind, list(column)


def _kind(value: Any) -> type:
    if isinstance(value, bool):
        return bool
    if isinstance(value, int | float):
        return float
    if isinstance(value, datetime.datetime):
        return datetime.datetime
    if isinstance(value, datetime.date):
        return datetime.date
    return str if isinstance(value, str | datetime.time | datetime.timedelta) else bytes


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 300 digits
        return np.inf if value > 0 else -np.inf


def as_text(value: Any) -> str:
    """A value as people write it: 3 and not 3.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)
