"""Lines of a text table to columns: by polars, by pyarrow, or by Python alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaline.data.reading.source import Column, Kind, is_failure
from adaline.data.reading.tables.engines import columns_of, has, is_polars
from adaline.data.reading.text._column_kinds import numbers_of_text
from adaline.data.reading.text.plain_python import MISSING, PlainTable


@dataclass(frozen=True)
class Layout:
    """How the fields of a line become columns.

    Attributes
    ----------
    engine : str
        "polars", "pyarrow" or "python".
    separator, decimal : str
    fields : tuple of str
        Names of all fields of a line.
    all_kinds : sequence of Kind
        What each field holds.
    places : sequence of int
        The fields that become columns.
    """

    engine: str
    separator: str
    decimal: str
    fields: tuple[str, ...]
    all_kinds: Sequence[Kind]
    places: Sequence[int]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [self.fields[j] for j in self.places]

    @property
    def kinds(self) -> list[Kind]:
        """What the columns hold."""
        return [self.all_kinds[j] for j in self.places]

    @property
    def as_text(self) -> Layout:
        """The same with text in all columns."""
        wanted = set(self.places)
        kinds: list[Kind] = ["text" if j in wanted else k for j, k in enumerate(self.all_kinds)]
        return replace(self, all_kinds=kinds)


def columns_of_lines(data: bytes, layout: Layout, na: Sequence[str]) -> tuple[Column, ...]:
    """The columns; those of numbers through text where marks such as "?" stand for gaps."""
    try:
        return _columns(_table(data, layout), layout.kinds)
    except MemoryError:
        raise
    except BaseException as error:
        if "number" not in layout.kinds or not is_failure(error):
            raise
        table = _table(data, layout.as_text)
        columns = list(_columns(table, layout.as_text.kinds))
        for j, kind in enumerate(layout.kinds):
            if kind == "number":
                series = table.to_series(j) if is_polars(table) else None
                found = numbers_of_text(series, columns[j], na, layout.decimal)
                if found is None:
                    raise
                columns[j] = found
        return tuple(columns)


def _columns(table: Any, kinds: Sequence[Kind]) -> tuple[Column, ...]:
    return table.columns if isinstance(table, PlainTable) else columns_of(table, kinds)


def _table(data: bytes, layout: Layout) -> Any:
    # Where commas are decimal, 1.234 may be a thousand: polars would take it for a number.
    strict = layout.decimal == "," and data.find(b".") >= 0
    if layout.engine == "python" or (strict and not has("pyarrow")):
        points = layout.decimal == "."
        width = len(layout.fields)
        return PlainTable(data, layout.separator, width, layout.places, layout.kinds, points)
    if layout.engine == "polars" and not strict:
        try:
            return _polars(data, layout)
        except Exception:
            if not has("pyarrow"):
                raise  # pyarrow takes numbers with spaces after them
    return _arrow(data, layout)


def _polars(data: bytes, layout: Layout) -> Any:
    import polars as pl

    types = [pl.Float64 if kind == "number" else pl.String for kind in layout.all_kinds]
    return (
        pl.read_csv(
            data,
            has_header=False,
            schema=dict(zip(layout.fields, types, strict=True)),
            columns=list(layout.places) if len(layout.places) < len(layout.fields) else None,
            separator=layout.separator,
            decimal_comma=layout.decimal == ",",
            # Looking for words costs a fifth of reading, and without an N there is none.
            null_values=MISSING if data.find(b"N") >= 0 or data.find(b"n") >= 0 else None,
        )
        .select(layout.names)
        .rechunk()
    )


def _arrow(data: bytes, layout: Layout) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = {
        name: pa.float64() if kind == "number" else pa.string()
        for name, kind in zip(layout.fields, layout.all_kinds, strict=True)
    }
    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            column_names=list(layout.fields), block_size=max(len(data), 1), use_threads=False
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.separator, newlines_in_values=True, ignore_empty_lines=True
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            null_values=MISSING,
            strings_can_be_null=True,
            include_columns=layout.names,
            decimal_point=layout.decimal,
        ),
    )
