"""CSV and other text tables, plain or packed: how they are written is told by their first lines.

`blocks` opens them. A block is a range of bytes that ends with a line; what Arrow made of the last
one is remembered, so that a file of one block is parsed once, and `fit` and the command keep those
of larger files in temporary Arrow files (`scratch`).
"""

from __future__ import annotations

import copy
import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import IO, Any

from adaline.data.reading.arrow_columns import text_column, typed_column
from adaline.data.reading.column_kinds import kind_of, not_a_number
from adaline.data.reading.dialect import Dialect, recognised
from adaline.data.reading.fields import MISSING, Layout, arrow_csv, parse
from adaline.data.reading.footnotes import footnotes
from adaline.data.reading.header import header_of, note_on, repeated, without_names
from adaline.data.reading.notations import is_gap
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import TextSource
from adaline.data.reading.source import (
    Block,
    Column,
    Kind,
    Piece,
    chosen,
    existing,
    fingerprint_of_file,
)
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.data.reading.totals import note_on_total
from adaline.errors import DataError

_TASTE = 2**20  # bytes from which the columns' types are told,
_FIRST = 1000  # and rows
_QUOTED = re.compile(rb'"[^"]*"')
_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*")  # 1.234 or 1.234,5
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|infinity|nan)\s*")


class TextTable(TextSource):
    """Rows of fields with a separator between them.

    A column is of numbers where nearly all values of the first rows are; then all must be, or be
    marks of missing values.
    """

    typed = False
    labels = ""

    def __init__(
        self,
        path: str,
        options: ReadingOptions,
        separator: str,
        blanks: bool = False,
        pipe: IO[bytes] | None = None,
    ):
        super().__init__()
        arrow_csv()
        self.scratch = options.scratch
        self.name = path if pipe is not None else existing(path)
        self.again = pipe is None
        # Windows-1252 is decoded block by block, any other encoding as the file is read.
        streamed = None if options.encoding in (None, "utf-8", "windows-1252") else options.encoding
        self.text = Text(self.name, True, streamed, pipe)
        taste = self._tasted()
        self._begin(taste, separator, options, blanks)
        self._choose(options.columns)
        body = taste[self.begin :]
        width = max(len(body) // max(body.count(b"\n"), 1), 1)
        self.chunk = CHUNK if options.rows is None else max(options.rows * width, 64)

    def _tasted(self) -> bytes:
        """The first bytes, with newlines between lines."""
        taste = self.text.take(0, _TASTE)
        if not taste:
            nothing = "the file is empty; it needs" if self.again else "nothing came; expected"
            raise DataError(f"{self.name}: {nothing} column names and rows.")
        if b"\n" not in taste and b"\r" in taste:
            self.text.end_lines_with_returns()
            taste = self.text.take(0, _TASTE)
        return taste

    def _begin(self, taste: bytes, usual: str, options: ReadingOptions, blanks: bool) -> None:
        """Find out how the text is written, and the names and kinds of all its columns."""
        whole = len(taste) < _TASTE
        self.dialect, sample = recognised(taste, whole, usual, blanks, options)
        self.notation = "number" if self.dialect.decimal == "." else "number .,"
        self.settled = options.decimal is not None
        self.text.check(
            taste if whole else taste[: taste.rfind(b"\n") + 1], 0, utf8=not self.dialect.windows
        )
        start = len(BOM_UTF8) if taste.startswith(BOM_UTF8) else 0
        for _ in range(self.dialect.skipped):
            start = taste.find(b"\n", start) + 1
        end, first = self._header(taste[start:])
        self.header = header_of(first, sample[1:], self.dialect, options.header)
        self.begin = start if self.header.is_data else start + end
        self.fields = self.header.names + ("",) * self.header.trailing
        separator = self.dialect.separator
        below = footnotes(taste[self.begin :], separator, len(self.fields)) if whole else None
        self.end = None if below is None else self.begin + below.end
        self.first = first
        self.names_line = self.dialect.plain(taste[start : start + end - 1]).rstrip(b"\r")
        self.names_again = None if self.header.is_data else repeated(self.names_line, first)
        body = self.dialect.plain(taste[self.begin : self.end])
        notes = [*self.dialect.notes]
        if self.text.encoding is not None and options.encoding is None:
            notes.append(self.text.encoding.upper())
        if self.text.returns:
            notes.append("lines end with carriage returns")
        notes += self.header.notes
        notes += note_on(body, self.names_again, self.text.line(self.begin))
        notes += [] if below is None else [below.told()]
        body = without_names(body, self.names_line, self.names_again)
        rows = self._first_rows(body, whole)
        if whole and not options.keep_total:
            notes += self._leave_out_total(taste, body)
        self.all_kinds = tuple(
            kind_of([row[j] for row in rows if j < len(row)], self._is_number, self.dialect.decimal)
            for j in range(len(self.fields))
        )
        self.notes = tuple(notes)

    def _header(self, taste: bytes) -> tuple[int, list[str]]:
        """Where the first line ends, and the fields in it."""
        end, quotes = -1, 1
        while quotes % 2:
            end = taste.find(b"\n", end + 1)
            if end < 0:
                raise DataError(
                    f"{self.name}: there is no line after the column names; a file needs rows."
                )
            quotes = taste.count(b'"', 0, end)
        line = self.dialect.plain(taste[:end]).decode().rstrip("\r")
        try:
            names = next(csv.reader([line], delimiter=self.dialect.separator), [""])
        except csv.Error as error:
            raise DataError(f"{self.name}: line 1 has no column names: {error}.") from None
        return end + 1, [name.strip() for name in names]

    def _first_rows(self, body: bytes, whole: bool) -> list[list[str]]:
        """The fields of the first rows."""
        lines = self._rows_in(body, errors="replace")
        try:
            rows = [row for row in islice(lines, _FIRST) if row]
        except csv.Error as error:
            at = self.text.line(self.begin) + lines.line_num
            raise DataError(f"{self.name}: near line {at} this is no CSV: {error}.") from None
        if not whole and len(rows) > 1:
            rows.pop()  # it may be cut
        if not rows:
            raise DataError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        return rows

    def _rows_in(self, data: bytes, errors: str = "strict", strict: bool = False) -> Any:
        text = io.StringIO(data.decode(errors=errors), newline="")
        return csv.reader(text, delimiter=self.dialect.separator, strict=strict)

    def _leave_out_total(self, taste: bytes, body: bytes) -> list[str]:
        """End the table before a last row of totals, and say so."""
        end = len(taste) if self.end is None else self.end
        last = taste.rfind(b"\n", self.begin, len(taste[:end].rstrip())) + 1
        with suppress(csv.Error):
            rows = [row for row in self._rows_in(body, "replace") if row]
            note = note_on_total(self.fields, rows, f"line {self.text.line(last)}")
            if note and taste.count(b'"', last) % 2 == 0:
                self.end = last
                return [note]
        return []

    def _choose(self, columns: Sequence[str] | None) -> None:
        self.places = chosen(columns, self.header.names, self.name)
        self.names = tuple(self.fields[j] for j in self.places)
        self._set_kinds(self.all_kinds)

    def with_columns(self, names: Sequence[str]) -> TextTable:
        """The same rows with these columns only."""
        other = copy.copy(self)
        other._choose(names)
        return other

    def _set_kinds(self, kinds: tuple[Kind, ...], na: Sequence[str] = ()) -> None:
        self.all_kinds = kinds
        self.kinds = tuple(kinds[j] for j in self.places)
        separator, decimal = self.dialect.separator, self.dialect.decimal
        self.layout = Layout(
            separator, decimal, self.fields, kinds, tuple(self.places), tuple(dict.fromkeys(na))
        )

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> TextTable:
        """The same rows, with these columns as text and these texts as gaps."""
        wanted = set(text)
        named = zip(self.fields, self.all_kinds, strict=True)
        other = copy.copy(self)
        other._set_kinds(tuple("text" if name in wanted else kind for name, kind in named), na)
        return self if other.layout == self.layout else other

    def with_labels(self, name: str) -> TextTable:
        """The same rows, with a column whose text is missing where it is empty only."""
        other = copy.copy(self)
        other.labels = name
        return other

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor gaps, in the first rows."""
        found: dict[str, tuple[str, ...]] = self._parsed(self._first_piece())[1]
        return found

    def _first_piece(self) -> Piece:
        return next(iter(self._pieces(min(self.chunk, _TASTE))))

    def head(self) -> Block:
        """The first rows, about a megabyte."""
        return self.read(self._first_piece())

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        plain = self.dialect == Dialect(self.dialect.separator) and not self.header.notes
        unusual = () if plain else (self.dialect, self.header, self.text.encoding)
        return fingerprint_of_file(
            self.name, self.chunk, self.dialect.separator, self.names, self.kinds, *unusual
        )

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        table, strays = self._parsed(piece)
        # What comes once is remembered until its block has gone.
        data = None if self.again else self._lines(piece)
        if strays or not table.num_rows:
            raise self._complaint(piece, "its lines have different numbers of fields")
        columns = tuple(
            self._column(name, kind, table.column(k))
            for k, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True))
        )
        return Block(self.names, columns, None, lambda i: self._line(piece, i, data))

    def parts(self) -> Iterator[Block]:
        """The blocks, as they come."""
        return map(self.read, self.descriptors())

    def _column(self, name: str, kind: Kind, values: Any) -> Column:
        notation = "" if self.settled else self.notation
        if kind == "number":
            return replace(typed_column(values, kind), notation=notation)
        missing = ("",) if name == self.labels else MISSING
        return replace(text_column(values, missing), notation=notation)

    def _lines(self, piece: Piece) -> bytes:
        """The whole lines of a range of bytes, as Arrow and Python read them."""
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start, utf8=not self.dialect.windows)
        data = self.dialect.plain(data if self.end is None else data[: self.end - piece.start])
        return data if data.endswith(b"\n") else data + b"\n"

    def _parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        import pyarrow as pa

        lines = self._lines(piece)
        data = without_names(lines, self.names_line, self.names_again)
        quoted = data.find(b'"') >= 0
        plain = _QUOTED.sub(b"", data) if quoted else data
        if plain.find(b'"') >= 0 and data.count(b'"') % 2:
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

    def _line(self, piece: Piece, row: int, data: bytes | None = None) -> str:
        """What to call a row: its line, counted from 1 as editors do."""
        first, before = self.text.line(piece.start), 0
        reader = self._rows_in(self._lines(piece) if data is None else data)
        for fields in reader:
            row -= self._holds_row(fields)
            if row < 0:
                break
            before = reader.line_num
        return f"line {first + before}"

    def _holds_row(self, fields: list[str]) -> bool:
        """Whether the fields of a line are a row: neither an empty line nor the names again."""
        if not "".join(fields).strip() and len(fields) < 2:
            return len(self.fields) == 1
        return self.names_again is None or list(map(str.strip, fields)) != self.first

    def _is_number(self, value: str) -> bool:
        """Whether a field of a column of numbers may have this text."""
        if self.dialect.decimal == ",":
            if _POINTS.fullmatch(value):
                return True
            if "." in value:
                return False
            value = value.replace(",", ".")
        return value in MISSING or _NUMBER.fullmatch(value.lower()) is not None

    def _complaint(self, piece: Piece, why: str) -> DataError:
        """The first line that is not as it should be, named."""
        first, before = self.text.line(piece.start), 0
        reader = self._rows_in(self._lines(piece), strict=True)
        try:
            for row in reader:
                line = first + before
                before = reader.line_num
                if not self._holds_row(row):
                    continue
                if sentence := self._wrong(row):
                    return DataError(f"{self.name}: line {line} {sentence}")
                for j in self.places:
                    strange = not self._is_number(row[j]) and not is_gap(row[j], self.layout.na)
                    if self.all_kinds[j] == "number" and strange:
                        return not_a_number(self.name, line, row[j], self.fields[j])
        except csv.Error as error:
            why = str(error)
        return DataError(f"{self.name}: from line {first} on it cannot be read as CSV: {why[:200]}")

    def _wrong(self, row: list[str]) -> str:
        """What is wrong with a line that has too few or too many fields; "" where nothing is."""
        if len(row) != len(self.fields):
            has = "has" if self.header.is_data else "names"
            note = len(row) == 1 and len(row[0].split()) > 1  # words, such as a source
            todo = "delete it if it is a note" if note else "correct that line"
            if self.header.width > len(self.fields) and len(row) == self.header.width:
                todo = (
                    "skip the first line if it has no column names: skip_rows=1 "
                    "(--skip-rows 1 on the command line)"
                )
            return (
                f"has {len(row)} fields, and the first line {has} {len(self.fields)} "
                f"columns; {todo}."
            )
        if self.header.trailing and row[-1].strip():
            return (
                f"has {row[-1][:40]!r} after the last column, where the first rows have nothing; "
                "correct that line."
            )
        return ""

    def _pieces(self, size: int) -> Iterable[Piece]:
        for piece in self.text.pieces(self.begin, size):
            if self.end is not None and piece.start >= self.end:
                return
            yield piece
