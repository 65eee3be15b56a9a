"""CSV and other text tables, plain or packed: blocks are ranges of bytes that end with a line."""

from __future__ import annotations

import copy
import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.bytes.chunks import CHUNK, Text
from adaline.data.reading.notations import is_gap
from adaline.data.reading.source import (
    Block,
    Column,
    Kind,
    Piece,
    Source,
    chosen,
    existing,
    fingerprint_of_file,
    is_failure,
)
from adaline.data.reading.tables.engines import csv_engine
from adaline.data.reading.text._column_kinds import kind_of, not_a_number
from adaline.data.reading.text._csv_columns import Layout, columns_of_lines
from adaline.data.reading.text.dialect import Dialect, recognised
from adaline.data.reading.text.footnotes import footnotes
from adaline.data.reading.text.header import header_of
from adaline.data.reading.text.options import FileOptions
from adaline.data.reading.text.plain_python import MISSING, PlainTable
from adaline.data.reading.text.repeated_names import note_on, repeated, without_names
from adaline.data.reading.text.totals import note_on_total
from adaline.errors import DataError

_TASTE = 2**20  # bytes from which the columns' types are told,
_FIRST = 1000  # and rows
_DOS_END = b"\x1a\r\n"  # DOS marked the end of a text file by a byte of its own
_QUOTED = re.compile(rb'"[^"]*"')
_EMPTY = re.compile(rb"^(?:[ \t]*\r?\n)+", re.MULTILINE)
_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*")  # 1.234 or 1.234,5
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|infinity|nan)\s*")


class CsvSource(Source):
    """Rows of fields with a separator between them; how they are written is told by the first.

    A column is of numbers where nearly all values of the first rows are; then all must be, or be
    marks of missing values.
    """

    typed = False
    na: tuple[str, ...] = ()
    labels = ""

    def __init__(
        self,
        path: str,
        columns: Sequence[str] | None,
        rows: int | None,
        options: FileOptions,
        separator: str,
        blanks: bool = False,
    ):
        self.name = existing(path)
        self.engine = csv_engine()
        self._begin(Text(path, True, streamed(options.encoding)), separator, options, blanks)
        self._choose(columns, rows)

    def _begin(self, text: Text, separator: str, options: FileOptions, blanks: bool) -> None:
        """Find out how the text is written, and the names and kinds of all its columns."""
        self.text = text
        taste = self._tasted()
        whole = len(taste) < _TASTE
        self.dialect, sample = recognised(taste, whole, separator, blanks, options)
        text.quote, self.separator = self.dialect.quote.encode(), self.dialect.separator
        self.notation = "number" if self.dialect.decimal == "." else "number .,"
        self.settled = options.decimal is not None
        full = taste if whole else taste[: taste.rfind(b"\n") + 1]
        text.check(full, 0, utf8=not self.dialect.windows)
        start = self._skipped(taste)
        end, first = self._header(taste[start:])
        self.header = header_of(first, sample[1:], self.dialect, options.header)
        self.begin = start if self.header.is_data else start + end
        self.fields = self.header.names + ("",) * self.header.trailing
        below = footnotes(taste[self.begin :], self.separator, len(self.fields)) if whole else None
        self.end = None if below is None else self.begin + below.end
        body = self.dialect.plain(taste[self.begin : self.end])
        self.names_line = self.dialect.plain(taste[start : start + end - 1]).rstrip(b"\r")
        self.names_again = None if self.header.is_data else repeated(self.names_line, first)
        self.first = first
        again = note_on(body, self.names_again, text.line(self.begin))
        body = without_names(body, self.names_line, self.names_again)
        self.all_kinds: list[Kind] = self._kinds(body)
        self.taste = taste
        self.notes = (*self.dialect.notes, *_facts(text, options), *self.header.notes, *again)
        self.notes += () if below is None else (below.told(),)
        if whole and not options.keep_total:
            self._leave_out_total(taste, body)

    def _leave_out_total(self, taste: bytes, body: bytes) -> None:
        """End the table before a last row of totals."""
        end = len(taste) if self.end is None else self.end
        last = taste.rfind(b"\n", self.begin, len(taste[:end].rstrip())) + 1
        lines = io.StringIO(body.decode(errors="replace"), newline="")
        with suppress(csv.Error):
            rows = [row for row in csv.reader(lines, delimiter=self.separator) if row]
            note = note_on_total(self.fields, rows, f"line {self.text.line(last)}")
            if note and taste.count(self.text.quote, last) % 2 == 0:
                self.end, self.notes = last, (*self.notes, note)

    def _choose(self, columns: Sequence[str] | None, rows: int | None) -> None:
        """Take some of the columns."""
        self.places = chosen(columns, self.header.names, self.name)
        self.names = tuple(self.fields[j] for j in self.places)
        self.kinds = tuple(self.all_kinds[j] for j in self.places)
        self.chunk = CHUNK if rows is None else max(rows * self._width(self.taste), 64)
        del self.taste

    def _tasted(self) -> bytes:
        """The first bytes, with newlines between lines."""
        taste = self.text.take(0, _TASTE)
        if not taste:
            raise DataError(f"{self.name}: the file is empty; it needs column names and rows.")
        if b"\n" not in taste and b"\r" in taste:
            self.text.end_lines_with_returns()
            taste = self.text.take(0, _TASTE)
        if b"\x1a" in taste[-3:]:
            return taste.rstrip(_DOS_END) + b"\n"
        return taste

    def _skipped(self, taste: bytes) -> int:
        """Where the table begins: after a byte order mark and the lines before it."""
        at = len(BOM_UTF8) if taste.startswith(BOM_UTF8) else 0
        for _ in range(self.dialect.skipped):
            at = taste.find(b"\n", at) + 1
        return at

    def _header(self, taste: bytes) -> tuple[int, list[str]]:
        """Where the first line ends, and the fields in it."""
        end, quotes, quote = -1, 1, self.text.quote
        while quotes % 2:
            end = taste.find(b"\n", end + 1)
            if end < 0:
                raise DataError(
                    f"{self.name}: there is no line after the column names; a file needs rows."
                )
            quotes = taste.count(quote, 0, end)
        line = self.dialect.plain(taste[:end]).decode().rstrip("\r")
        try:
            names = next(csv.reader([line], delimiter=self.separator), [""])
        except csv.Error as error:
            raise DataError(f"{self.name}: line 1 has no column names: {error}.") from None
        return end + 1, [name.strip() for name in names]

    def _width(self, taste: bytes) -> int:
        body = taste[self.begin :]
        return max(len(body) // max(body.count(b"\n"), 1), 1)

    def _kinds(self, body: bytes) -> list[Kind]:
        """Numbers where nearly all values of the first rows are; a few others are mistakes."""
        text = io.StringIO(body.decode(errors="replace"), newline="")
        lines = csv.reader(text, delimiter=self.separator)
        try:
            found = [row for row in islice(lines, _FIRST) if row]
        except csv.Error as error:
            at = self.text.line(self.begin) + lines.line_num
            raise DataError(f"{self.name}: near line {at} this is no CSV: {error}.") from None
        if len(body) + self.begin >= _TASTE and len(found) > 1:
            found.pop()  # it may be cut
        if not found:
            raise DataError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        return [
            kind_of(
                [row[j] for row in found if j < len(row)], self._is_number, self.dialect.decimal
            )
            for j in range(len(self.fields))
        ]

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> CsvSource:
        """The same rows, with these columns as text and these texts as gaps."""
        kinds = {j for j, name in enumerate(self.fields) if name in set(text)}
        if not na and all(self.all_kinds[j] == "text" for j in kinds):
            return self
        other = copy.copy(self)
        other.na = tuple(na)
        other.all_kinds = ["text" if j in kinds else k for j, k in enumerate(self.all_kinds)]
        other.kinds = tuple(other.all_kinds[j] for j in self.places)
        return other

    def with_labels(self, name: str) -> CsvSource:
        """The same rows, with a column whose text is missing where it is empty only."""
        other = copy.copy(self)
        other.labels = name
        return other

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor gaps, in the first rows."""
        try:
            self.head()
            return {}
        except DataError:
            numbers = [
                n for n, kind in zip(self.names, self.kinds, strict=True) if kind == "number"
            ]
            head = self.reread(numbers, self.na).head()
        found = {}
        for name in numbers:
            levels = head.columns[self.names.index(name)].levels
            odd = [v for v in levels if not self._is_number(v) and not is_gap(v, self.na)]
            if odd:
                found[name] = tuple(odd)
        return found

    def head(self) -> Block:
        """The first rows, about a megabyte."""
        return self.read(next(iter(self._pieces(min(self.chunk, _TASTE)))))

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        return self._pieces(self.chunk)

    def _pieces(self, size: int) -> Iterable[Piece]:
        pieces = self.text.pieces(self.begin, size)
        end = self.end
        return pieces if end is None else takewhile(lambda piece: piece.start < end, pieces)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        plain = self.dialect == Dialect(self.separator) and not self.header.notes
        unusual = () if plain else (self.dialect, self.header, self.text.encoding)
        return fingerprint_of_file(
            self.name, self.chunk, self.separator, self.names, self.kinds, *unusual
        )

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        return self.parse(self.text.take(piece.start, piece.stop), piece.start)

    def parse(self, data: bytes, start: int) -> Block:
        """The rows in whole lines of text, which begin at byte `start` of the file."""
        self.text.check(data, start, utf8=not self.dialect.windows)
        data = self.dialect.plain(data if self.end is None else data[: self.end - start])
        if b"\x1a" in data[-3:]:
            data = data.rstrip(_DOS_END)
        if not data.endswith(b"\n"):
            data += b"\n"
        raw, layout = data, self._layout()
        data = without_names(data, self.names_line, self.names_again)
        try:
            columns = columns_of_lines(data, layout, self.na)
            if not self._is_even(data, len(columns[0].values)) and _EMPTY.search(data):
                data = _EMPTY.sub(b"", data)  # empty lines are no rows
                columns = columns_of_lines(data, layout, self.na)
        except MemoryError:
            raise
        except BaseException as error:
            if not is_failure(error):
                raise
            raise self._complaint(raw, start, str(error)) from None
        if not self._is_even(data, len(columns[0].values)):
            raise self._complaint(raw, start, "its lines have different numbers of fields")
        if self.header.trailing and not self._ends_empty(data, len(columns[0].values)):
            raise self._complaint(raw, start, "something comes after its last separator")
        columns = tuple(
            self._labels(data, j)
            if name == self.labels and c.kind == "text" and c.missing is not None
            else c
            for j, name, c in zip(self.places, self.names, columns, strict=True)
        )
        notation = "" if self.settled else self.notation
        columns = tuple(replace(c, notation=notation) for c in columns)
        return Block(self.names, columns, None, lambda i: self._line(raw, start, i, raw is data))

    def _labels(self, data: bytes, j: int) -> Column:
        """The column of labels; what reads the others takes NA for missing everywhere."""
        width = len(self.fields)
        return PlainTable(data, self.separator, width, [j], ["text"], True, ("",)).columns[0]

    def _layout(self) -> Layout:
        decimal = self.dialect.decimal
        return Layout(
            self.engine, self.separator, decimal, self.fields, self.all_kinds, self.places
        )

    def _ends_empty(self, data: bytes, rows: int) -> bool:
        """Whether every row ends with a separator."""
        end = self.separator.encode()
        return data.count(end + b"\n") + data.count(end + b"\r\n") == rows

    def _is_even(self, data: bytes, rows: int) -> bool:
        """Whether there are as many separators as so many rows must have."""
        quoted = data.find(b'"') >= 0
        plain = np.frombuffer(_QUOTED.sub(b"", data) if quoted else data, np.uint8)
        if data.find(b"\r") >= 0:  # at the end of a line only
            places = np.flatnonzero(plain[:-1] == ord("\r"))
            if np.any(plain[places + 1] != ord("\n")):
                return False
        if len(self.fields) == 1:
            return _count(plain, "\n") == rows
        return _count(plain, self.separator) == rows * (len(self.fields) - 1)

    def _line(self, data: bytes, start: int, row: int, full: bool) -> str:
        """What to call a row: its line, counted from 1 as editors do."""
        first = self.text.line(start)
        if full and data.find(b'"') < 0:
            return f"line {first + row}"
        reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=self.separator)
        before = 0
        for fields in reader:
            if self._holds_row(fields):
                row -= 1
            if row < 0:
                break
            before = reader.line_num
        return f"line {first + before}"

    def _holds_row(self, fields: list[str]) -> bool:
        """Whether the fields of a line are a row: neither an empty line nor the names again."""
        if not "".join(fields).strip() and len(fields) < 2:
            return False
        return self.names_again is None or list(map(str.strip, fields)) != self.first

    def _is_number(self, value: str) -> bool:
        if self.dialect.decimal == ",":
            if _POINTS.fullmatch(value):
                return True
            return "." not in value and _is_number(value.replace(",", "."))
        return _is_number(value)

    def _complaint(self, data: bytes, start: int, why: str) -> DataError:
        """The first line that is not as it should be, named."""
        first = self.text.line(start)
        reader = csv.reader(
            io.StringIO(data.decode(), newline=""), delimiter=self.separator, strict=True
        )
        before = 0
        try:
            for row in reader:
                line = first + before
                before = reader.line_num
                if not self._holds_row(row):
                    continue
                if len(row) != len(self.fields):
                    has = "has" if self.header.is_data else "names"
                    note = len(row) == 1 and len(row[0].split()) > 1  # words, such as a source
                    todo = "delete it if it is a note" if note else "correct that line"
                    return DataError(
                        f"{self.name}: line {line} has {len(row)} fields, and the first line {has} "
                        f"{len(self.fields)} columns; {todo}."
                    )
                if self.header.trailing and row[-1].strip():
                    return DataError(
                        f"{self.name}: line {line} has {row[-1][:40]!r} after the last column, "
                        "where the first rows have nothing; correct that line."
                    )
                for j, value in enumerate(row):
                    strange = not self._is_number(value) and not is_gap(value, self.na)
                    if self.all_kinds[j] == "number" and strange:
                        return not_a_number(self.name, line, value, self.fields[j])
        except csv.Error as error:
            why = str(error)
        return DataError(f"{self.name}: from line {first} on it cannot be read as CSV: {why[:200]}")


def streamed(encoding: str | None) -> str | None:
    """The encoding that is transcoded as the file is read: any but those of single blocks."""
    return None if encoding in (None, "utf-8", "windows-1252") else encoding


def _facts(text: Text, options: FileOptions) -> list[str]:
    """What is not as usual in the bytes."""
    told = []
    if text.encoding is not None and options.encoding is None:
        told.append(text.encoding.upper())
    if text.returns:
        told.append("lines end with carriage returns")
    return told


def _is_number(value: str) -> bool:
    """Whether a field of a column of numbers may have this text."""
    return value in MISSING or _NUMBER.fullmatch(value.lower()) is not None


def _count(text: NDArray[np.uint8], letter: str) -> int:
    """How often a letter comes; in parts that stay in the cache."""
    parts = (text[i : i + 2**17] == ord(letter) for i in range(0, len(text), 2**17))
    return sum(int(np.count_nonzero(part)) for part in parts)
