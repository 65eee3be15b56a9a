"""CSV and other text tables, plain or packed: the first megabyte shows how they are written.

`blocks` opens them. A block is a range of bytes that ends with a line.
"""

from __future__ import annotations

import copy
import csv
import io
import os
import re
import shutil
import tempfile
import weakref
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from adaline.data.reading.columnar import arrow, column_of
from adaline.data.reading.dialect import Dialect, recognise_dialect
from adaline.data.reading.fields import Layout, is_number, kind_of, parse
from adaline.data.reading.header import (
    find_footnotes,
    find_repeated_names,
    note_on_repeated_names,
    note_on_total,
    read_header,
    without_names,
)
from adaline.data.reading.locations import existing
from adaline.data.reading.notations import MISSING, candidates, is_gap
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import TextSource, piece_bytes
from adaline.data.reading.source import Block, Column, Kind, Piece, chosen
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.errors import DataError

HEAD_BYTES, HEAD_ROWS = 2**20, 1000  # from which the columns' types are told
_QUOTED = re.compile(rb'"[^"]*"')


class TextTable(TextSource):
    """Rows of fields with a separator between them.

    A column is of numbers where nearly all values of the first rows are; then all must be, or be
    marks of missing values.
    """

    typed = False
    labels = ""
    dialect: Dialect

    def __init__(
        self,
        path: str,
        options: ReadingOptions,
        separator: str,
        blanks: bool = False,
        name: str = "",
    ):
        arrow("text tables", "cli")
        self.name = name or path
        # Windows-1252 is decoded block by block, any other encoding as the file is read.
        decoded = None if options.encoding in (None, "utf-8", "windows-1252") else options.encoding
        self.text = Text(existing(path), True, decoded, self.name)
        beginning = self.text.take(0, HEAD_BYTES)
        if not beginning:
            raise DataError(f"{self.name}: the file is empty; it needs column names and rows.")
        if b"\n" not in beginning and b"\r" in beginning:
            self.text.returns = True
            beginning = self.text.take(0, HEAD_BYTES)
        self._study(beginning, separator, options, blanks)
        self._choose(options.columns)
        self.chunk = piece_bytes(options.rows, beginning[self.begin :], CHUNK)

    def _study(self, beginning: bytes, usual: str, options: ReadingOptions, blanks: bool) -> None:
        """Find out how the text is written, and the names and kinds of all its columns."""
        complete = len(beginning) < HEAD_BYTES
        self.dialect, sample = recognise_dialect(beginning, complete, usual, blanks, options)
        self.notation = "number" if self.dialect.decimal == "." else "number .,"
        self.settled = options.decimal is not None
        lines = beginning if complete else beginning[: beginning.rfind(b"\n") + 1]
        self.text.check(lines, 0, utf8=not self.dialect.windows)
        start = len(BOM_UTF8) if beginning.startswith(BOM_UTF8) else 0
        for _ in range(self.dialect.skipped):
            start = beginning.find(b"\n", start) + 1
        end, self.first = self._first_line(beginning[start:])
        self.header = read_header(self.first, sample[1:], self.dialect, options.header)
        self.begin = start if self.header.is_data else start + end
        self.fields = self.header.names + ("",) * self.header.trailing
        width = len(self.fields)
        below = (
            find_footnotes(beginning[self.begin :], self.dialect.separator, width)
            if complete
            else None
        )
        self.end = None if below is None else self.begin + below.end
        self.names_line = self.dialect.plain(beginning[start : start + end - 1]).rstrip(b"\r")
        self.names_again = None
        if not self.header.is_data:
            self.names_again = find_repeated_names(self.names_line, self.first)
        body = self.dialect.plain(beginning[self.begin : self.end])
        notes = [*self.dialect.notes]
        if self.text.encoding is not None and options.encoding is None:
            notes.append(self.text.encoding.upper())
        if self.text.returns:
            notes.append("lines end with carriage returns")
        notes += self.header.notes
        line = self.text.line(self.begin)
        notes += note_on_repeated_names(body, self.names_again, line)
        notes += [] if below is None else [below.note()]
        body = without_names(body, self.names_line, self.names_again)
        rows = self._first_rows(body, complete)
        if complete and not options.keep_total:
            notes += self._leave_out_total(beginning, body)
        self.notes, decimal = tuple(notes), self.dialect.decimal
        columns = ([row[j] for row in rows if j < len(row)] for j in range(width))
        self.all_kinds = tuple(kind_of(column, decimal) for column in columns)

    def _first_line(self, beginning: bytes) -> tuple[int, list[str]]:
        """Where the first line ends, and the fields in it."""
        end, quotes = -1, 1
        while quotes % 2:
            end = beginning.find(b"\n", end + 1)
            if end < 0:
                raise DataError(
                    f"{self.name}: there is no line after the column names; a file needs rows."
                )
            quotes = beginning.count(b'"', 0, end)
        line = self.dialect.plain(beginning[:end]).decode().rstrip("\r")
        try:
            names = next(csv.reader([line], delimiter=self.dialect.separator), [""])
        except csv.Error as error:
            raise DataError(f"{self.name}: line 1 has no column names: {error}.") from None
        return end + 1, [name.strip() for name in names]

    def _first_rows(self, body: bytes, complete: bool) -> list[list[str]]:
        """The fields of the first rows."""
        lines = self._rows_in(body, errors="replace")
        try:
            rows = [row for row in islice(lines, HEAD_ROWS) if row]
        except csv.Error as error:
            line = self.text.line(self.begin) + lines.line_num
            raise DataError(f"{self.name}: near line {line} this is no CSV: {error}.") from None
        rows = rows if complete or len(rows) < 2 else rows[:-1]  # the last one may be cut
        if not rows:
            raise DataError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        return rows

    def _rows_in(self, data: bytes, errors: str = "strict", strict: bool = False) -> Any:
        text = io.StringIO(data.decode(errors=errors), newline="")
        return csv.reader(text, delimiter=self.dialect.separator, strict=strict)

    def _leave_out_total(self, beginning: bytes, body: bytes) -> list[str]:
        """End the table before a last row of totals, with a note."""
        last = beginning.rfind(b"\n", self.begin, len(beginning[: self.end].rstrip())) + 1
        with suppress(csv.Error):
            rows = [row for row in self._rows_in(body, "replace") if row]
            note = note_on_total(self.fields, rows, f"line {self.text.line(last)}")
            if note and beginning.count(b'"', last) % 2 == 0:
                self.end = last
                return [note]
        return []

    def _choose(self, columns: Sequence[str] | None) -> None:
        self.places = chosen(columns, self.header.names, self.name)
        self.names = tuple(self.fields[j] for j in self.places)
        self._set_kinds(self.all_kinds)

    def _set_kinds(self, kinds: tuple[Kind, ...], na: Sequence[str] = ()) -> None:
        self.all_kinds = kinds
        self.kinds = tuple(kinds[j] for j in self.places)
        how = self.dialect.separator, self.dialect.decimal, self.fields
        self.layout = Layout(*how, kinds, tuple(self.places), tuple(dict.fromkeys(na)))

    def with_columns(self, names: Sequence[str]) -> TextTable:
        """The same rows with these columns only."""
        other = copy.copy(self)
        other._choose(names)
        return other

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> TextTable:
        """The same rows, with these columns as text and these texts as missing values."""
        named = zip(self.fields, self.all_kinds, strict=True)
        other = copy.copy(self)
        other._set_kinds(tuple("text" if name in text else kind for name, kind in named), na)
        return self if other.layout == self.layout else other

    def with_labels(self, name: str) -> TextTable:
        """The same rows, with a column whose text is missing where it is empty only."""
        other = copy.copy(self)
        other.labels = name
        return other

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor missing, in the first rows."""
        return self.parsed(self.first_piece())[1]

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        table, strays = self.parsed(piece)
        if strays or not table.num_rows:
            raise self._complaint(piece, "its lines have different numbers of fields")
        named = zip(self.names, self.kinds, table.columns, strict=True)
        columns = tuple(self._column(*column) for column in named)
        return Block(self.names, columns, None, lambda i: self._line(piece, i))

    def _column(self, name: str, kind: Kind, values: Any) -> Column:
        column = column_of(values, kind, ("",) if name == self.labels else MISSING)
        return replace(column, notation="" if self.settled else self.notation)

    def _lines(self, piece: Piece) -> bytes:
        """The whole lines of a range of bytes, as Arrow and Python read them."""
        stop = piece.stop if self.end is None else min(piece.stop, self.end)
        data = self.text.take(piece.start, stop)
        self.text.check(data, piece.start, utf8=not self.dialect.windows)
        data = self.dialect.plain(data)
        return data if data.endswith(b"\n") else data + b"\n"

    def parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """The rows of a range of bytes as an Arrow table."""
        import pyarrow as pa

        data = without_names(self._lines(piece), self.names_line, self.names_again)
        plain = _QUOTED.sub(b"", data) if b'"' in data else data
        if b'"' in plain and data.count(b'"') % 2:
            raise self._complaint(piece, "a quote is open")
        if plain.count(b"\r") != plain.count(b"\r\n"):
            raise self._complaint(piece, "a carriage return is inside a line")
        try:
            table, strays = parse(data, self.layout)
        except pa.ArrowInvalid as error:
            raise self._complaint(piece, str(error)) from None
        if self.header.trailing:
            end = self.dialect.separator.encode()
            if data.count(end + b"\n") + data.count(end + b"\r\n") != table.num_rows:
                raise self._complaint(piece, "something comes after its last separator")
        return table, strays

    # Errors and places of rows: the lines of a piece again, one by one.

    def _numbered_rows(self, piece: Piece, strict: bool) -> Iterator[tuple[int, list[str]]]:
        """Rows and their lines, counted from 1 as editors do; no empty lines, no names again."""
        line = self.text.line(piece.start)
        first, reader = line, self._rows_in(self._lines(piece), strict=strict)
        for row in reader:
            empty = len(self.fields) > 1 and len(row) < 2 and not "".join(row).strip()
            names = self.names_again is not None and list(map(str.strip, row)) == self.first
            if not empty and not names:
                yield line, row
            line = first + reader.line_num

    def _line(self, piece: Piece, row: int) -> str:
        """What to call a row."""
        return f"line {next(islice(self._numbered_rows(piece, False), row, None))[0]}"

    def _complaint(self, piece: Piece, why: str) -> DataError:
        """The first line that is not as it should be, named."""
        try:
            for line, row in self._numbered_rows(piece, True):
                if wrong := self._wrong(row):
                    return DataError(f"{self.name}: line {line} has {wrong[0]}", *wrong[1:])
        except csv.Error as error:
            why = str(error)
        line = self.text.line(piece.start)
        return DataError(f"{self.name}: from line {line} on it cannot be read as CSV: {why[:200]}")

    def _wrong(self, row: list[str]) -> tuple[Any, ...]:
        """What is wrong with a row, after "has", and parameters that help; () where nothing is."""
        if (count := len(self.fields)) != len(row):
            has = "has" if self.header.is_data else "names"
            problem = f"{len(row)} fields, and the first line {has} {count} columns"
            if len(row) == self.header.width:
                return problem, ("skip_rows", 1, "skips that line if it has no column names")
            note = len(row) == 1 and len(row[0].split()) > 1  # words, such as a source
            return (f"{problem}; {'delete it if it is a note' if note else 'correct that line'}.",)
        if self.header.trailing and row[-1].strip():
            return (f"{row[-1][:40]!r} after the last column, where the first rows have nothing.",)
        for j in self.places:
            value, name = row[j][:40], self.fields[j]
            plain = self.all_kinds[j] != "number" or is_number(row[j], self.dialect.decimal)
            if plain or is_gap(row[j], self.layout.na):
                continue
            problem = f"{value!r} in column {name!r}, where nearly all are plain numbers"
            notation = next(iter(candidates([value])), "")
            if notation.startswith("number "):
                return problem, ("read", {name: notation}, "reads both")
            as_text = ("read", {name: "text"}, "takes the column as text")
            return f"{problem}; correct it", ("na", [value], "takes it as missing"), as_text
        return ()


def from_pipe(file: IO[bytes], separator: str, options: ReadingOptions) -> TextTable:
    """CSV text of a file object, put aside in a temporary file that goes with the table."""
    name = str(getattr(file, "name", "the pipe"))
    handle, path = tempfile.mkstemp(prefix="adaline-")
    try:
        with os.fdopen(handle, "wb") as aside:
            shutil.copyfileobj(file, aside, 2**20)
        if not os.path.getsize(path):
            raise DataError(f"{name}: nothing came; expected column names and rows.")
        table = TextTable(path, options, separator, name=name)
    except BaseException:
        os.unlink(path)
        raise
    weakref.finalize(table.text, Path(path).unlink, missing_ok=True)
    return table
