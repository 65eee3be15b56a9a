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
from dataclasses import dataclass, replace
from itertools import islice
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
        if not (beginning := text.head()):
            raise DataError(f"{self.name}: the file is empty; it needs column names and rows.")
        notes = list[str]()
        if options.encoding is None:
            if text.encoding is None and is_windows(beginning, len(beginning) < HEAD_BYTES):
                text.encoding = "windows-1252"
            notes += [_LETTERS.get(text.encoding, text.encoding.upper())] if text.encoding else []
        text.returns = b"\n" not in beginning and b"\r" in beginning
        self.notes = (*notes, *["lines end with carriage returns"] * text.returns)
        beginning = text.head()
        self._study(beginning, separator, options, blanks)
        self.set_size(options.rows, beginning)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.layout.fields[j] for j in self.layout.places)

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return tuple(self.layout.kinds[j] for j in self.layout.places)

    def _study(self, beginning: bytes, usual: str, options: ReadingOptions, free: bool) -> None:
        """Find out how the text is written, and the names and kinds of all its columns."""
        complete = len(beginning) < HEAD_BYTES
        lines = beginning if complete else beginning[: beginning.rfind(b"\n") + 1]
        self.text.check(lines, 1)
        start = len(BOM_UTF8) if lines.startswith(BOM_UTF8) else 0
        sample = lines[start : 2**17].decode(errors="replace")
        if len(lines) > 2**17:  # the last line may be cut
            sample = sample[: sample.rfind("\n") + 1] or sample
        dialect = recognise_dialect(sample, usual, free, options)
        self.notation = "number" if dialect.decimal == "." else "number .,"
        self.settled = options.decimal is not None
        start = _after_lines(lines, start, dialect.skipped)
        line = 1 + lines.count(b"\n", 0, start)
        numbered = self._numbered(dialect, dialect.plain(lines[start:]), line)
        records = list(numbered if complete else islice(numbered, HEAD_ROWS + 2))
        if not complete and len(records) > 2:
            records.pop()  # it may be cut in a field of several lines
        if len(records) < 2:
            raise DataError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        filled = [row for _, row in records[:SAMPLE_ROWS] if len(row) > 1 or "".join(row).strip()]
        self.header = header = read_header(filled[0], filled[1:], dialect, options.header)
        fields, self.begin, names_line = header.names + ("",) * header.trailing, start, b""
        notes = [*dialect.notes, *self.notes, *header.notes]
        if not header.is_data:
            self.begin = _after_lines(lines, start, records[1][0] - line)
            (_, names), *records = records
            # A row may be the same as a single name, or as names that are numbers.
            if len(names) > 1 and not are_numbers(names):
                names_line = dialect.plain(lines[start : self.begin - 1]).rstrip(b"\r")
            if names_line and (again := [at for at, row in records if row == names]):
                more = f" and {len(again) - 1} more" if len(again) > 1 else ""
                notes.append(
                    f"the column names come again in line {again[0]}{more}, which is left out"
                )
                records = [(at, row) for at, row in records if row != names]
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
                self.end = _after_lines(lines, start, records[keep][0] - line)
                records = records[:keep]
        self.notes = tuple(notes)
        self.first_line = 1 + lines.count(b"\n", 0, self.begin)
        rows = [row for _, row in records[:HEAD_ROWS] if row]
        columns = [[row[j] for row in rows if j < len(row)] for j in range(len(header.names))]
        kinds: list[Kind] = [kind_of(column, dialect.decimal) for column in columns]
        kinds += ["other"] * header.trailing
        places = chosen(options.columns, header.names, self.name)
        self.layout = Layout(dialect, names_line, fields, tuple(kinds), tuple(places))

    def _with(self, **changes: Any) -> TextTable:
        layout = replace(self.layout, **changes)
        table: TextTable = self if layout == self.layout else self.changed(layout=layout)
        return table

    def with_columns(self, names: Sequence[str]) -> TextTable:
        return self._with(places=tuple(chosen(names, self.header.names, self.name)))

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> TextTable:
        named = zip(self.layout.fields, self.layout.kinds, strict=True)
        kinds = tuple("text" if name in text else kind for name, kind in named)
        return self._with(kinds=kinds, na=tuple(dict.fromkeys(na)))

    def with_labels(self, name: str) -> TextTable:
        table: TextTable = self.changed(labels=name)
        return table

    def strays(self) -> dict[str, tuple[str, ...]]:
        written = self._written(self.batches(head=True)[0])
        return {n: odd for n, column in written if (odd := self._numbers(column)[1])}

    def _written(self, rows: Any) -> list[tuple[str, Any]]:
        """Columns of numbers that are still text, as some of them are none."""
        named = zip(rows.schema.names, self.kinds, rows.columns, strict=True)
        return [
            (n, column) for n, kind, column in named if kind == "number" and column.type == "string"
        ]

    def _numbers(self, text: Any) -> tuple[Column, tuple[str, ...]]:
        """Numbers of texts, and those that are neither numbers nor missing."""
        marks = (".,", "_,") if self.layout.dialect.decimal == "," else ("",)
        column, na = column_of(text, "text", MISSING), self.layout.na
        readings = [as_numbers(column, f"number {mark}".strip(), na) for mark in marks]
        return next((one for one in readings if not one[1]), readings[-1])

    def refuse_strays(self, batch: Any, place: Callable[[int], str]) -> None:
        for name, column in self._written(batch):
            value = self._numbers(column)[1][0]
            where = place(column.to_pylist().index(value))
            raise self._misfit(f"{where} has {value[:40]!r} in column {name!r}", name, value)

    def block(self, batch: Any, place: Callable[[int], str]) -> Block:
        self.refuse_strays(batch, place)
        named = zip(self.names, self.kinds, batch.columns, strict=True)
        columns = tuple(self._column(*column) for column in named)
        return Block(self.names, columns, None, place)

    def _misfit(self, what: str, name: str, value: str) -> DataError:
        """A value that is no plain number: in another notation, or a word."""
        what = f"{self.name}: {what}, where nearly all are plain numbers"
        notation = next(iter(candidates([value])), "")
        if notation.startswith("number "):
            return DataError(what, ("read", {name: notation}, "reads both"))
        as_text = ("read", {name: "text"}, "takes the column as text")
        missing = ("na", [value.strip()[:40]], "takes it as missing")
        return DataError(f"{what}; correct it", missing, as_text)

    def _column(self, name: str, kind: Kind, values: Any) -> Column:
        column = column_of(values, kind, ("",) if name == self.labels else MISSING)
        return replace(column, notation="" if self.settled else self.notation)

    def parse(self, data: bytes, line: int) -> Any:
        """The rows of whole lines as an Arrow table; columns with strays are text."""
        import pyarrow as pa

        self.text.check(data, line)
        plain, names, uneven = self._plain(data), self.layout.names_line, list[Any]()
        if names and names in plain:  # faster than the pattern
            plain = re.sub(rb"(?m)^" + re.escape(names) + rb"[ \t]*\r?\n", b"", plain)
        try:
            if plain.count(b'"') % 2:
                raise pa.ArrowInvalid("a quote is open")
            try:
                return parse(plain, self.layout, self.layout.kinds, uneven.append)
            except pa.ArrowInvalid:
                kinds = ["text" if kind == "number" else kind for kind in self.layout.kinds]
                table = parse(plain, self.layout, kinds, uneven.append)
        except pa.ArrowInvalid as error:
            if uneven:
                at = next(islice(self.lines(data, line), uneven[0].number - 1, None))
                raise self._uneven(at, uneven[0]) from None
            raise DataError(
                f"{self.name}: from line {line} on it cannot be read as CSV: {str(error)[:200]}"
            ) from None
        for name, text in self._written(table):
            column, odd = self._numbers(text)
            numbers = pa.array(column.values, mask=column.missing)
            k = table.column_names.index(name)
            table = table if odd else table.set_column(k, name, numbers)
        return table

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


def _after_lines(data: bytes, start: int, lines: int) -> int:
    """Where so many lines after a place end."""
    for _ in range(lines):
        start = data.find(b"\n", start) + 1
    return start


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


def parse(data: bytes, layout: Layout, kinds: Sequence[str], uneven: Any) -> Any:
    """An Arrow table of the columns; ArrowInvalid, and `uneven` gets rows of other lengths."""
    import pyarrow as pa
    from pyarrow import csv

    of_kind = {"number": pa.float64(), "text": pa.string(), "other": pa.null()}
    names = [str(j) for j in range(len(kinds))]
    wanted = [names[j] for j in layout.places]
    empty = [name for name, kind in zip(names, kinds, strict=True) if kind == "other"]
    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=names, block_size=max(len(data), 1), use_threads=False),
        csv.ParseOptions(
            delimiter=layout.dialect.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(names) > 1,  # of one column, an empty line is a missing value
            invalid_row_handler=lambda row: uneven(row) or "error",
        ),
        csv.ConvertOptions(
            column_types={names[j]: of_kind[kind] for j, kind in enumerate(kinds)},
            null_values=[*_MARKS, *layout.na],
            include_columns=[*wanted, *empty],
            decimal_point=layout.dialect.decimal,
        ),
    )
    return table.select(wanted).rename_columns([layout.fields[j] for j in layout.places])
