"""Sheets of Excel files, read as a whole by calamine; a small file may not claim many cells."""

from __future__ import annotations

import functools
import re
import zipfile
from collections.abc import Iterable
from typing import Any

from adaline.data.reading.arrays import check_growth
from adaline.data.reading.dialect import SAMPLE_ROWS, Dialect, note_on_total, read_header
from adaline.data.reading.files import existing, reading
from adaline.data.reading.notations import MISSING
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Source, place_of, text_of
from adaline.data.reading.tables import from_values
from adaline.errors import DataError, MissingExtra, plural, refuse_beyond_memory

# calamine holds all cells between the first and the last, those that are empty too.
MANY_CELLS, ROOM_PER_CELL = 2**22, 16
GROWTH = 8  # bytes in memory for a byte of XML, about
STEP, OVERLAP = 2**22, 128  # bytes of XML that are searched at a time, and again
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,7})?([0-9]{1,12})["']""")
_ENTITY = re.compile(rb"""\br\s*=\s*(?:"[^"]{0,80}&|'[^']{0,80}&)""")


def sheet(path: str, options: ReadingOptions) -> Source:
    """The rows of a sheet: the first one, or that of a name."""
    advice = "it is cut short, damaged, protected by a password, or of another format"
    with reading(f"{existing(path)}: this is no whole Excel file", advice):
        _check(path)
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtra.of("io", f"{path}: reading Excel files", "python-calamine") from None

    book = CalamineWorkbook.from_path(path)
    names = list(book.sheet_names)
    if not names:
        raise DataError(f"{path}: it has no sheets.")
    title = names[0 if options.sheet is None else place_of(options.sheet, names, path, "sheet")]
    content = book.get_sheet_by_name(title)
    cells, start = content.to_python(skip_empty_area=True), content.start or (0, 0)
    notes = []
    if options.sheet is None and len(names) > 1:
        others = ", ".join(map(repr, names[1:4])) + (", ..." if len(names) > 4 else "")
        notes.append(f"the sheet {title!r}; others are {others}")
    if _fill_down(cells, content.merged_cell_ranges or (), start):
        notes.append("merged cells have their value in every row")
    rows = [(start[0] + 1 + k, row) for k, row in enumerate(cells) if any(v != "" for v in row)]
    rows = [(number, row) for number, row in rows if number > (options.skip_rows or 0)]
    titles, free = 0, options.header is None and options.skip_rows is None
    while free and titles < len(rows) - 1 and _is_title(rows[titles][1]):
        titles += 1
    if 0 < titles < len(rows) - 1:  # with titles only it is a single column
        notes.append(f"{plural(titles, 'row')} above the table left out")
        rows = rows[titles:]
    if not rows:
        raise DataError(f"{path}: the sheet {title!r} is empty; it needs column names and rows.")
    used = [j for j in range(len(rows[0][1])) if any(row[j] != "" for _, row in rows)]
    texts = [[text_of(row[j]).strip() for j in used] for _, row in rows]
    header = read_header(texts[0], texts[1 : 1 + SAMPLE_ROWS], Dialect(), options.header)
    notes += header.notes
    if not header.is_data:
        rows, texts = rows[1:], texts[1:]
    if not rows:
        raise DataError(f"{path}: there are column names and no rows; a fit needs rows.")
    total = "" if options.keep_total else note_on_total(header.names, texts, f"row {rows[-1][0]}")
    if total:
        notes, rows = [*notes, total], rows[:-1]
    values = [[_value(row[j]) for _, row in rows] for j in used[: len(header.names)]]
    source = from_values(path, header.names, values, options, [number for number, _ in rows])
    source.notes = tuple(notes)
    return source


def _fill_down(cells: list[list[Any]], merged: Iterable[Any], start: tuple[int, int]) -> bool:
    """Repeat the value of merged cells in every row of theirs; whether there were any."""
    filled, budget = 0, sum(map(len, cells))  # merged cells have no cell in common
    for (top, left), (bottom, _) in merged:
        i, j = top - start[0], left - start[1]
        budget -= min(bottom - top, len(cells))
        if budget < 0:
            break
        if not (0 <= i < len(cells) and 0 <= j < len(cells[i])) or cells[i][j] == "":
            continue
        for row in cells[i + 1 : bottom - start[0] + 1]:
            filled += row[j] == ""
            row[j] = cells[i][j]
    return filled > 0


def _is_title(row: list[Any]) -> bool:
    """One cell of text in a row that has room for more."""
    filled = [value for value in row if value != ""]
    return len(filled) == 1 and len(row) > 1 and isinstance(filled[0], str)


def _value(cell: Any) -> Any:
    """A cell; None for an empty one, for a mark of a missing value, and for #N/A."""
    return None if isinstance(cell, str) and (cell in MISSING or cell.startswith("#")) else cell


def _check(path: str) -> None:
    """Refuse what would unpack to much more than it is, before anything is unpacked.

    And cells so far apart that the room between them is much larger than the file.
    """
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        check_growth(members, path, "Save it as CSV if it is not.")
        unpacked = sum(member.file_size for member in members)
        refuse_beyond_memory(GROWTH * unpacked, f"{path}: its sheets", "Save them as CSV.")
        for member in members:
            if not member.filename.lower().endswith(".xml"):
                continue
            right, below, cells, tail = 0, 0, 0, b""
            with packed.open(member) as file:
                while part := file.read(STEP):
                    text = tail + part
                    if _ENTITY.search(text):
                        raise DataError(f"{path}: cells in {member.filename!r} have strange names.")
                    for letters, digits in _REFERENCE.findall(text):
                        below, cells = max(below, int(digits)), cells + 1
                        right = max(right, _column(letters))
                    tail = text[-OVERLAP:]
            if below * right > max(MANY_CELLS, ROOM_PER_CELL * cells):
                raise DataError(
                    f"{path}: {member.filename!r} has cells as far as row {below} and column "
                    f"{right}, and about {cells} in all; delete the empty rows and columns, or "
                    "save it as CSV."
                )


def _column(letters: bytes) -> int:
    """The number of a column: A is 1, Z 26, AA 27."""
    return functools.reduce(lambda place, letter: 26 * place + letter - 64, letters.upper(), 0)
