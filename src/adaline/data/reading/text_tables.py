"""CSV and other text tables, plain or packed: the first megabyte shows how they are written.

`blocks` opens them. A block is a range of bytes that ends with a line. Arrow reads plain numbers
and the usual marks of missing values; if it finds anything else among numbers, their columns are
converted from text here.
"""

from __future__ import annotations

import csv
import re
import shutil
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import IO, Any

from adaline.data.reading.dialect import (
    SAMPLE_ROWS,
    Dialect,
    are_numbers,
    count_notes,
    note_on_total,
    read_header,
    recognise_dialect,
)
from adaline.data.reading.files import TemporaryPath, existing
from adaline.data.reading.notations import (
    CODE,
    GAPS,
    MISSING,
    NEARLY_ALL,
    PLAIN,
    ZEROS,
    candidates,
    is_gap,
    nearly_all,
)
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Block, Column, Kind, as_numbers, chosen
from adaline.data.reading.tables import arrow, column_of
from adaline.data.reading.text_files import HEAD_BYTES, Text, TextSource, is_windows
from adaline.errors import DataError

_LETTERS = {"windows-1252": "letters of Windows-1252"}
HEAD_ROWS = 1000  # from which the columns' kinds are recognised
# All spellings in which people write the marks of missing numbers, but nan, which is a number.
_MARKS = sorted(
    {f(gap) for gap in GAPS - {"nan"} for f in (str, str.upper, str.capitalize)} | set(MISSING)
)
_NUMBER = re.compile(rf"\s*{PLAIN}\s*")
_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*")  # 1.234 or 1.234,5
_LETTERED = re.compile(r"[A-Za-z]+[-/]?\d+")  # c118; one alone may be a unit, m2
_POINTED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234, perhaps a thousand and more
_SMALL, _HUNDREDS = re.compile(r"[-+]?\d{1,3}"), re.compile(r"[-+]?[1-9]\d\d")


@dataclass(frozen=True)
class Layout:
    """How lines become columns."""

    dialect: Dialect
    names_line: bytes  # which may come again among the rows; b"" where that is a row
    fields: tuple[str, ...]  # names of all fields of a line
    kinds: tuple[Kind, ...]  # what each of them holds; "other" is nothing in any row
    places: tuple[int, ...]  # the fields that become columns
    na: tuple[str, ...] = ()  # texts that stand for missing numbers beside the usual marks


class TextTable(TextSource):
    """Rows of fields with a separator between them.

    A column is of numbers where nearly all values of the first rows are; then all must be, or be
    marks of missing values.
    """

    labels = ""  # the column whose text is labels
    owner: TemporaryPath | None = None
    layout: Layout

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
        own = None if options.encoding == "utf-8" else options.encoding
        self.text = text = Text(existing(path), True, own, self.name)
        if not (head := text.head()):
            raise DataError(f"{self.name}: the file is empty; it needs column names and rows.")
        notes = list[str]()
        if options.encoding is None:
            if text.encoding is None and is_windows(head, len(head) < HEAD_BYTES):
                text.encoding = "windows-1252"
            notes += [_LETTERS.get(text.encoding, text.encoding.upper())] if text.encoding else []
        if b"\n" not in head and b"\r" in head:
            text.returns = True
            notes.append("lines end with carriage returns")
        head = text.head()
        self.set_size(options.rows, head)
        self._study(head, separator, options, blanks, notes)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.layout.fields[j] for j in self.layout.places)

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return tuple(self.layout.kinds[j] for j in self.layout.places)

    def _study(
        self, head: bytes, usual: str, options: ReadingOptions, free: bool, notes: list[str]
    ) -> None:
        """Find out how the text is written, and the names and kinds of all its columns."""
        complete = len(head) < HEAD_BYTES
        head = head if complete else head[: head.rfind(b"\n") + 1]
        self.text.check(head, 1)
        bom = len(BOM_UTF8) * head.startswith(BOM_UTF8)
        starts = [bom, *accumulate(len(line) + 1 for line in head.split(b"\n"))]  # of lines
        sample = head[bom : 2**17].decode(errors="replace")
        if len(head) > 2**17:  # the last line may be cut
            sample = sample[: sample.rfind("\n") + 1] or sample
        dialect = recognise_dialect(sample, usual, free, options)
        self.notation = "number" if dialect.decimal == "." else "number .,"
        self.settled = options.decimal is not None
        start, self.first_line = starts[dialect.skipped], dialect.skipped + 1
        numbered = self._numbered(dialect, dialect.plain(head[start:]), self.first_line)
        records = list(numbered if complete else islice(numbered, HEAD_ROWS + 2))
        if not complete and len(records) > 2:
            records.pop()  # it may be cut in a field of several lines
        if len(records) < 2:
            raise DataError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        filled = [row for _, row in records[:SAMPLE_ROWS] if len(row) > 1 or "".join(row).strip()]
        self.header = header = read_header(filled[0], filled[1:], dialect, options.header)
        fields, names_line = header.names + ("",) * header.trailing, b""
        notes = [*dialect.notes, *notes, *header.notes]
        if not header.is_data:
            (_, names), *records = records
            self.first_line = records[0][0]
            # A row may be the same as a single name, or as names that are numbers.
            if len(names) > 1 and not are_numbers(names):
                line = head[start : starts[self.first_line - 1] - 1]
                names_line = dialect.plain(line).rstrip(b"\r")
            if names_line and (again := [at for at, row in records if row == names]):
                more = f" and {len(again) - 1} more" if len(again) > 1 else ""
                notes.append(
                    f"the column names come again in line {again[0]}{more}, which is left out"
                )
                records = [(at, row) for at, row in records if row != names]
        self.begin = starts[self.first_line - 1]
        if complete:
            left_out, note = count_notes([row for _, row in records], len(fields))
            keep = len(records) - left_out
            notes += [note] * bool(note)
            full = [k for k in range(keep) if any(records[k][1])]
            if full and not options.keep_total:
                rows = [records[k][1] for k in full]
                note = note_on_total(fields, rows, f"line {records[full[-1]][0]}")
                keep, notes = (full[-1], [*notes, note]) if note else (keep, notes)
            if keep < len(records):
                self.end = starts[records[keep][0] - 1]
                records = records[:keep]
        self.notes = tuple(notes)
        rows = [row for _, row in records[:HEAD_ROWS] if row]
        columns = [[row[j] for row in rows if j < len(row)] for j in range(len(header.names))]
        kinds: list[Kind] = [kind_of(column, dialect.decimal) for column in columns]
        kinds += ["other"] * header.trailing
        places = chosen(options.columns, header.names, self.name)
        self.layout = Layout(dialect, names_line, fields, tuple(kinds), tuple(places))

    def _with(self, **changes: Any) -> Any:
        layout = replace(self.layout, **changes)
        return self if layout == self.layout else self.changed(layout=layout)

    def with_columns(self, names: Sequence[str]) -> Any:
        return self._with(places=tuple(chosen(names, self.header.names, self.name)))

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Any:
        named = zip(self.layout.fields, self.layout.kinds, strict=True)
        kinds = tuple("text" if name in text else kind for name, kind in named)
        return self._with(kinds=kinds, na=tuple(dict.fromkeys(na)))

    def with_labels(self, name: str) -> Any:
        return self.changed(labels=name)

    def strays(self) -> dict[str, tuple[str, ...]]:
        with suppress(DataError):
            self.batches(head=True)
            return {}  # or it would have been refused
        line, data = next(self.records(HEAD_BYTES))
        return self._parse(data, line)[1]

    def block(self, batch: Any, place: Callable[[int], str]) -> Block:
        columns = list[Column]()
        for name, kind, values in zip(self.names, self.kinds, batch.columns, strict=True):
            column = column_of(values, kind, ("",) if name == self.labels else MISSING)
            columns.append(replace(column, notation="" if self.settled else self.notation))
        return Block(self.names, tuple(columns), None, place)

    def parse(self, data: bytes, line: int) -> Any:
        table, strays = self._parse(data, line)
        for name, (value, *_) in strays.items():
            row = table[name].to_pylist().index(value)
            line = next(islice(self.lines(data, line), row, None))
            what = (
                f"{self.name}: line {line} has {value[:40]!r} in column {name!r}, where nearly all "
                "are plain numbers"
            )
            if next(iter(candidates([value])), "").startswith("number "):
                raise DataError(what, ("read", {name: candidates([value])[0]}, "reads both"))
            raise DataError(
                f"{what}; correct it",
                ("na", [value.strip()[:40]], "takes it as missing"),
                ("read", {name: "text"}, "takes the column as text"),
            )
        return table

    def _parse(self, data: bytes, line: int) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """The rows of whole lines as an Arrow table, and the strays; their columns are text."""
        import pyarrow as pa

        self.text.check(data, line)
        plain, names, uneven = self._plain(data), self.layout.names_line, list[Any]()
        if names and names in plain:  # faster than the pattern
            plain = re.sub(rb"(?m)^" + re.escape(names) + rb"[ \t]*\r?\n", b"", plain)
        try:
            if plain.count(b'"') % 2:
                raise pa.ArrowInvalid("a quote is open")
            try:
                return self._read_csv(plain, self.layout.kinds, uneven), {}
            except pa.ArrowInvalid:
                kinds = ["text" if kind == "number" else kind for kind in self.layout.kinds]
                table = self._read_csv(plain, kinds, uneven)
        except pa.ArrowInvalid as error:
            if uneven:
                row = next(islice(self.lines(data, line), uneven[0].number - 1, None))
                raise self._uneven(row, uneven[0]) from None
            raise DataError(
                f"{self.name}: from line {line} on it cannot be read as CSV: {str(error)[:200]}"
            ) from None
        strays = dict[str, tuple[str, ...]]()
        for k, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            if kind == "number":
                column, odd = self._numbers(table.column(k))
                if odd:
                    strays[name] = odd
                else:
                    numbers = pa.array(column.values, mask=column.missing)
                    table = table.set_column(k, name, numbers)
        return table, strays

    def _numbers(self, text: Any) -> tuple[Column, tuple[str, ...]]:
        """Numbers of texts, and those that are neither numbers nor missing."""
        marks = (".,", "_,") if self.layout.dialect.decimal == "," else ("",)
        column, na = column_of(text, "text", MISSING), self.layout.na
        readings = [as_numbers(column, f"number {mark}".strip(), na) for mark in marks]
        return next((one for one in readings if not one[1]), readings[-1])

    def _read_csv(self, plain: bytes, kinds: Sequence[str], uneven: Any) -> Any:
        """An Arrow table of the columns; ArrowInvalid, and `uneven` gets rows of other lengths."""
        import pyarrow as pa
        from pyarrow import csv

        layout = self.layout
        of_kind = {"number": pa.float64(), "text": pa.string(), "other": pa.null()}
        names = [str(j) for j in range(len(kinds))]
        wanted = [names[j] for j in layout.places]
        empty = [name for name, kind in zip(names, kinds, strict=True) if kind == "other"]
        table = csv.read_csv(
            pa.BufferReader(plain),
            csv.ReadOptions(column_names=names, block_size=max(len(plain), 1), use_threads=False),
            csv.ParseOptions(
                delimiter=layout.dialect.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # of one column they are missing values
                invalid_row_handler=lambda row: uneven.append(row) or "error",
            ),
            csv.ConvertOptions(
                column_types={names[j]: of_kind[kind] for j, kind in enumerate(kinds)},
                null_values=[*_MARKS, *layout.na],
                include_columns=[*wanted, *empty],
                decimal_point=layout.dialect.decimal,
            ),
        )
        return table.select(wanted).rename_columns(list(self.names))

    def _plain(self, data: bytes) -> bytes:
        """Whole lines as Arrow and Python read them."""
        data = self.layout.dialect.plain(data)
        return data if data.endswith(b"\n") else data + b"\n"

    def _numbered(
        self, dialect: Dialect, lines: bytes, line: int
    ) -> Iterator[tuple[int, list[str]]]:
        """Fields of plain lines, and the line in which each row begins, counted as editors do."""
        first, reader = line, dialect.reader(lines.decode(errors="replace"))
        try:
            for row in reader:
                yield line, row
                line = first + reader.line_num
        except csv.Error as error:
            raise DataError(f"{self.name}: line {line} cannot be read as CSV: {error}.") from None

    def lines(self, data: bytes, line: int) -> Iterator[int]:
        """The line of each row: no empty lines and no names again are rows."""
        layout = self.layout
        skipped = [[], *layout.dialect.reader(layout.names_line.decode())]
        many = len(layout.fields) > 1
        numbered = self._numbered(layout.dialect, self._plain(data), line)
        return (at for at, fields in numbered if not (many and fields in skipped))

    def _uneven(self, line: int, row: Any) -> DataError:
        """A row with too few or too many fields."""
        has = "has" if self.header.is_data else "names"
        problem = (
            f"{self.name}: line {line} has {row.actual_columns} fields, "
            f"and the first line {has} {row.expected_columns} columns"
        )
        if row.actual_columns == self.header.width:
            return DataError(problem, ("skip_rows", 1, "skips that line if it has no column names"))
        return DataError(f"{problem}; correct that line, or delete it if it is a note.")


def from_pipe(file: IO[bytes], separator: str, options: ReadingOptions) -> TextTable:
    """CSV text of a file object, put aside in a temporary file."""
    aside = TemporaryPath()
    with open(aside.path, "wb") as copy:
        shutil.copyfileobj(file, copy, 2**20)
    table = TextTable(aside.path, options, separator, name=str(getattr(file, "name", "the pipe")))
    table.owner = aside
    return table


def is_number(value: str, decimal: str) -> bool:
    """Whether a field of a column of numbers may have this text."""
    if decimal == ",":
        if _POINTS.fullmatch(value):
            return True
        if "." in value:
            return False
        value = value.replace(",", ".")
    return value in MISSING or _NUMBER.fullmatch(value) is not None


def kind_of(values: Sequence[str], decimal: str = ".") -> Kind:
    """Numbers where nearly all values are; a few others are mistakes, but codes are text.

    A column without any value is text, which an encoding reads as numbers if some come later. So
    are numbers that may have marks between thousands: their notation is for an encoding to tell.

    >>> [kind_of(v) for v in ([*"123456789", "?!"], ["12", "136A"], ["01234", "99999"], ["?"])]
    ['number', 'text', 'text', 'text']
    >>> [kind_of(v) for v in (["1.5", "1,234.5"], ["987", "1.234", "2.345", "9.876"])]
    ['text', 'text']
    """
    counts = Counter(value.strip() for value in values if not is_gap(value))
    numbers = {text for text in counts if is_number(text, decimal)}
    others = [text for text in counts if text not in numbers]
    if any(map(CODE.fullmatch, others)) or len(set(filter(_LETTERED.fullmatch, others))) > 1:
        return "text"
    native = ("", "number", "number .,") if decimal == "," else ("", "number")
    if others and nearly_all(counts)[0] not in native:
        return "text"  # such as 1,234.50 and 12.50-
    codes = any(map(ZEROS.fullmatch, numbers)) and all(map(str.isdigit, numbers))
    enough = sum(counts[text] for text in numbers) >= NEARLY_ALL * counts.total() > 0
    return "number" if enough and not codes and not _are_pointed(numbers, decimal) else "text"


def _are_pointed(numbers: Set[str], decimal: str) -> bool:
    """Whether numbers are 987 and 1.234, which are 987 and 1234, written in German.

    Three digits after every point there is, and up to three where there is none: few numbers with
    decimals look like this.
    """
    pointed = {text for text in numbers if "." in text}
    if decimal == "," or len(pointed) < 3 or not all(map(_POINTED.fullmatch, pointed)):
        return False
    others = numbers - pointed
    return any(map(_HUNDREDS.fullmatch, others)) and all(map(_SMALL.fullmatch, others))
