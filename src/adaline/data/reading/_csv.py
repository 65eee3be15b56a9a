"""CSV and TSV files, plain or gzipped: blocks are ranges of bytes that end with a line."""

from __future__ import annotations

import copy
import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading._engine import columns_of, engine, has, is_polars
from adaline.data.reading._text import CHUNK, Text
from adaline.data.reading._text_kinds import kind_of, not_a_number, numbers_of_text
from adaline.data.reading.notations import is_gap
from adaline.data.reading.source import (
    Block,
    Column,
    Kind,
    Piece,
    Source,
    checked_names,
    chosen,
    existing,
    fingerprint_of_file,
    is_failure,
)
from adaline.errors import DataError

MISSING = ["", "NA", "N/A", "null", "NULL", "None"]
_TASTE = 2**20  # bytes from which the columns' types are told,
_FIRST = 1000  # and rows
_QUOTED = re.compile(rb'"[^"]*"')
_EMPTY = re.compile(rb"^(?:[ \t]*\r?\n)+", re.MULTILINE)
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|infinity|nan)\s*")


class CsvSource(Source):
    """Comma- or tab-separated values with a line of column names.

    A column is of numbers where nearly all values of the first rows are; then all must be, or be
    marks of missing values.
    """

    typed = False
    na: tuple[str, ...] = ()

    def __init__(self, path: str, separator: str, columns: Sequence[str] | None, rows: int | None):
        self.name, self.separator = existing(path), separator
        self.engine = engine("CSV files")
        self.text = Text(path, quotes=True)
        taste = self.text.take(0, _TASTE)
        if not taste:
            raise DataError(f"{path}: the file is empty; it needs column names and rows.")
        self.text.check(taste if len(taste) < _TASTE else taste[: taste.rfind(b"\n") + 1], 0)
        self.bom = 3 if taste.startswith(b"\xef\xbb\xbf") else 0
        header = self._header(taste[self.bom :])
        self.begin, fields = self.bom + header[0], header[1]
        self.fields = checked_names(fields, path)
        self.places = chosen(columns, self.fields, path)
        kinds = self._kinds(taste[self.begin :])
        self.all_kinds: list[Kind] = kinds
        self.names = tuple(self.fields[j] for j in self.places)
        self.kinds = tuple(kinds[j] for j in self.places)
        self.chunk = CHUNK if rows is None else max(rows * self._width(taste), 64)

    def _header(self, taste: bytes) -> tuple[int, list[str]]:
        """Where the first line ends, and the names in it."""
        end, quotes = -1, 1
        while quotes % 2:
            end = taste.find(b"\n", end + 1)
            if end < 0:
                raise DataError(
                    f"{self.name}: there is no line after the column names; a file needs rows."
                )
            quotes = taste.count(b'"', 0, end)
        line = taste[:end].decode().rstrip("\r")
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
            kind_of((row[j] for row in found if j < len(row)), _is_number)
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

    def head(self) -> Block:
        """The first rows, about a megabyte."""
        return self.read(next(iter(self.text.pieces(self.begin, min(self.chunk, _TASTE)))))

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        return self.text.pieces(self.begin, self.chunk)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, self.separator, self.names, self.kinds)

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        return self.parse(self.text.take(piece.start, piece.stop), piece.start)

    def parse(self, data: bytes, start: int) -> Block:
        """The rows in whole lines of text, which begin at byte `start` of the file."""
        self.text.check(data, start)
        if not data.endswith(b"\n"):
            data += b"\n"
        raw = data
        try:
            columns = self._columns(data)
            if not self._is_even(data, len(columns[0].values)) and _EMPTY.search(data):
                data = _EMPTY.sub(b"", data)  # empty lines are no rows
                columns = self._columns(data)
        except MemoryError:
            raise
        except BaseException as error:
            if not is_failure(error):
                raise
            raise self._complaint(data, start, str(error)) from None
        if not self._is_even(data, len(columns[0].values)):
            raise self._complaint(data, start, "its lines have different numbers of fields")
        return Block(self.names, columns, None, lambda i: self._line(raw, start, i, raw is data))

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

    def _columns(self, data: bytes) -> tuple[Column, ...]:
        """The columns; those of numbers through text where marks such as "?" stand for gaps."""
        try:
            return columns_of(self._table(data), self.kinds)
        except MemoryError:
            raise
        except BaseException as error:
            if "number" not in self.kinds or not is_failure(error):
                raise
            table = self.reread(self.names)._table(data)
            columns = list(columns_of(table, ["text" for _ in self.names]))
            for j, kind in enumerate(self.kinds):
                if kind == "number":
                    series = table.to_series(j) if is_polars(table) else None
                    found = numbers_of_text(series, columns[j], self.na, "number")
                    if found is None:
                        raise
                    columns[j] = found
            return tuple(columns)

    def _table(self, data: bytes) -> Any:
        if self.engine == "polars":
            try:
                return self._polars(data)
            except Exception:
                if not has("pyarrow"):
                    raise  # which takes numbers with spaces after them
        return self._arrow(data)

    def _line(self, data: bytes, start: int, row: int, full: bool) -> str:
        """What to call a row: its line, counted from 1 as editors do."""
        first = self.text.line(start)
        if full and data.find(b'"') < 0:
            return f"line {first + row}"
        reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=self.separator)
        before = 0
        for fields in reader:
            if "".join(fields).strip() or len(fields) > 1:
                row -= 1
            if row < 0:
                break
            before = reader.line_num
        return f"line {first + before}"

    def _polars(self, data: bytes) -> Any:
        import polars as pl

        types = [pl.Float64 if kind == "number" else pl.String for kind in self.all_kinds]
        return (
            pl.read_csv(
                data,
                has_header=False,
                schema=dict(zip(self.fields, types, strict=True)),
                columns=self.places if len(self.places) < len(self.fields) else None,
                separator=self.separator,
                # Looking for words costs a fifth of reading, and without an N there is none.
                null_values=MISSING if data.find(b"N") >= 0 or data.find(b"n") >= 0 else None,
            )
            .select(self.names)
            .rechunk()
        )

    def _arrow(self, data: bytes) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        types = {
            name: pa.float64() if kind == "number" else pa.string()
            for name, kind in zip(self.fields, self.all_kinds, strict=True)
        }
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=list(self.fields), block_size=max(len(data), 1), use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator, newlines_in_values=True, ignore_empty_lines=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=MISSING,
                strings_can_be_null=True,
                include_columns=list(self.names),
            ),
        )

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
                if row and len(row) != len(self.fields):
                    return DataError(
                        f"{self.name}: line {line} has {len(row)} fields, and the first line names "
                        f"{len(self.fields)} columns; correct that line."
                    )
                for j, value in enumerate(row):
                    strange = not _is_number(value) and not is_gap(value, self.na)
                    if self.all_kinds[j] == "number" and strange:
                        return not_a_number(self.name, line, value, self.fields[j])
        except csv.Error as error:
            why = str(error)
        return DataError(f"{self.name}: from line {first} on it cannot be read as CSV: {why[:200]}")


def _is_number(value: str) -> bool:
    """Whether a field of a column of numbers may have this text."""
    return value in MISSING or _NUMBER.fullmatch(value.lower()) is not None


def _count(text: NDArray[np.uint8], letter: str) -> int:
    """How often a letter comes; in parts that stay in the cache."""
    parts = (text[i : i + 2**17] == ord(letter) for i in range(0, len(text), 2**17))
    return sum(int(np.count_nonzero(part)) for part in parts)
