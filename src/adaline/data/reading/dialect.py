"""How a text table is written: lines above it, separator, decimal mark, names, what is below it.

`TextTable` asks with the first lines. A hypothesis is a line at which the table may begin and a
separator; its score is the share of rows that have the same number of fields. The usual separator,
which the file's name promises, wins wherever no other scores higher; what is unusual is in `notes`.
tests/data/test_dialects.py has a table for each rule, and the corpus holds 1,000 of other people.
"""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile
from typing import Any

from adaline.data.reading.notations import MISSING, NEARLY_ALL, candidates, is_gap, read
from adaline.data.reading.options import ReadingOptions
from adaline.errors import DataError, plural

SAMPLE_ROWS = 100
MAX_TITLES = 10  # lines of text that may stand above a table
EVEN = 0.9  # of the rows have as many fields as most
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|", " ": "blanks"}
_QUOTED_OR_BLANKS = re.compile(rb'"[^"\n]*"|[ \t]+')
_EDGES = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?', re.IGNORECASE)  # of spreadsheets
_QUOTED_NAMES = re.compile(r'"[^"]*"([ \t]+"[^"]*")+[ \t]*\r?')
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")
_COMMAS, _POINTS = (  # 1,234 and 1.234: perhaps a thousand and more
    re.compile(rf"\s*[-+]?[1-9]\d{{0,2}}({mark}\d{{3}})+\s*") for mark in (",", r"\.")
)
_YEARS = range(1800, 2101)
_MISSING = {*MISSING, "?"}
_NOTE = re.compile(r"(foot)?(sources?|notes?|quellen?|anmerkung(en)?|fuentes?|notas?)\s*:", re.I)
_NOTE_MARK = re.compile(r"\*|†|©|\(c\)|\d\)|\[\d\]", re.I)
MAX_NOTES = 50  # lines; more are something else
MIN_ROWS_OF_TOTAL = 5  # above it
_TOTAL = re.compile(r"\b(total|totals|sum|summe|gesamt|insgesamt|totale|somme|suma)\b", re.I)
Rows = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    """How the lines of a table are read; the default is the usual."""

    separator: str = ","  # between fields: one letter, or " " for any number of blanks
    decimal: str = "."
    skipped: int = 0  # lines before the table: comments, empty lines, a line such as sep=;
    comment: str = ""  # the last of these lines that begins with #: it may hold the names
    notes: tuple[str, ...] = ()  # what is not as usual

    @property
    def delimiter(self) -> str:
        """What separates the fields of `plain` lines."""
        return "\t" if self.separator == " " else self.separator

    def plain(self, data: bytes) -> bytes:
        """The same lines with one letter between fields."""
        if self.separator != " ":
            return data
        return _QUOTED_OR_BLANKS.sub(
            lambda match: match[0] if match[0].startswith(b'"') else b"\t", _EDGES.sub(b"", data)
        )

    def reader(self, text: str, strict: bool = False) -> Any:
        """The fields of plain lines; only a newline ends a line."""
        return csv.reader(io.StringIO(text, newline="\n"), delimiter=self.delimiter, strict=strict)

    def rows(self, lines: Sequence[str]) -> Rows:
        """The fields of the first lines that are not empty, none if they cannot be read."""
        reader = self.reader(self.plain("\n".join(lines).encode()).decode())
        try:
            rows: Rows = list(islice(reader, SAMPLE_ROWS))
        except csv.Error:
            return []
        return [row for row in rows if len(row) > 1 or (row and row[0].strip())]


def recognise_dialect(sample: str, usual: str, free: bool, options: ReadingOptions) -> Dialect:
    """The dialect of a file that begins so.

    usual : the separator that the name of the file promises.
    free : whether blanks may separate text, as they do in .txt and .dat.
    """
    lines, skip, likely = sample.split("\n"), options.skip_rows or 0, usual
    if skip and skip >= len(lines) - 1:
        raise DataError(f"skip_rows={skip}: no table begins after so many lines.")
    start, comments = skip, list[int]()
    while start < len(lines) - 1:
        if start == 0 and (match := _SEPARATOR_LINE.fullmatch(lines[0])):
            likely = match[1]
        elif lines[start].startswith("#"):
            comments.append(start)
        elif lines[start].strip():
            break
        start += 1

    def separator(at: int) -> str:
        return options.separator or _separator(likely, lines[at:], free)

    skipped, comment = start, lines[comments[-1]].rstrip("\r") if comments else ""
    dialect = Dialect(separator(start))
    titled = options.header is None and options.skip_rows is None and not comments
    if titled and not _is_table(dialect.rows(lines[start:])):
        full = [k for k in range(start + 1, len(lines)) if lines[k].strip()]
        for at in full[:MAX_TITLES]:
            other = Dialect(separator(at))
            names, *_ = rows = other.rows(lines[at:]) or [[]]
            if _is_table(rows) and not any(map(is_number, names)):
                if all(_is_title(row, len(names)) for row in other.rows(lines[start:at])):
                    skipped, dialect = at, other
                break
    if comment and _names_columns(dialect, comment, dialect.rows(lines[start:])):
        skipped, comment = comments[-1], ""
    rows = dialect.rows(lines[skipped:])
    decimal = options.decimal or _decimal(dialect.separator, rows[1:])
    notes = [f"the table begins after {plural(skipped, 'line')}"] * (skipped > 0)
    if options.separator is None and dialect.separator != usual:
        name = SEPARATORS.get(dialect.separator, repr(dialect.separator))
        notes.append(f"separated by {name}")
    if options.decimal is None and decimal == ",":
        notes.append("a comma in decimal numbers")
    return Dialect(dialect.separator, decimal, skipped, comment, tuple(notes))


def is_number(text: str) -> bool:
    """Whether text is a number, with a point or a comma."""
    try:
        float(text.replace(",", ".", 1))
    except ValueError:
        return False
    return "_" not in text


def _is_number_or_gap(text: str) -> bool:
    return text.strip() in ("", "NA") or is_number(text)


def _known(row: list[str]) -> list[str]:
    return [field for field in row if field.strip()]


def _separator(usual: str, lines: Sequence[str], free: bool) -> str:
    """The separator whose rows are most even; the one that is usual if others are no better."""
    marks = (usual, *(mark for mark in SEPARATORS if mark != " "))
    scores = [_evenness(Dialect(mark).rows(lines)) for mark in marks]
    score, best = max(scores), marks[scores.index(max(scores))]
    if score == 1.0 and best == "," and ";" in lines[0]:
        # "1;2,5" is two numbers, if that holds in every row, and no names are there to decide.
        rows = Dialect(";").rows(lines)
        if _evenness(rows) == 1.0 and all(_is_number_or_gap(v) for row in rows for v in row):
            return ";"
    rows = [] if score else Dialect(" ").rows(lines)
    if _evenness(rows) < EVEN:
        return best
    # Words with blanks between them are no table, unless the file's name promises one.
    in_name_only = usual == "\t" and not any("\t" in line for line in lines)
    fields = [field for row in rows[1:] for field in row]
    numbers = bool(fields) and all("," not in v and _is_number_or_gap(v) for v in fields)
    free = free or in_name_only or _QUOTED_NAMES.fullmatch(lines[0]) is not None
    return " " if free or numbers else best


def _evenness(rows: Rows) -> float:
    """The share of rows with as many fields as most, if the first row fits; 0 for one column."""
    if len(rows) < 2:
        return float(bool(rows) and len(rows[0]) > 1)
    ((most, count),) = Counter(map(len, rows[1:])).most_common(1)
    first = rows[0]
    # The first row has a name for each field, or one less (R); empty names may follow.
    if most < 2 or len(first) < most - 1 or _known(first[most:]):
        return 0.0
    return count / (len(rows) - 1) * (1.0 if len(first) >= most else EVEN)


def _is_table(rows: Rows) -> bool:
    """Whether rows of several fields begin here, the first with a name for most of them."""
    if len(rows) < 2 or max(map(len, rows)) == 1:
        return True  # too little to decide, or a single column
    return _evenness(rows) >= EVEN and len(_known(rows[0])) > 1


def _is_title(row: list[str], width: int) -> bool:
    """One text at the left; of two columns, the second may have no name, and R names no first."""
    alone = len(row) == 1 or width > 2
    return alone and len(_known(row)) == 1 and bool(row[0].strip()) and not is_number(row[0])


def _names_columns(dialect: Dialect, comment: str, rows: Rows) -> bool:
    """Whether a first line with # is the names, "#id,size", and no comment above them.

    It has as many fields as the rows, and the line after it is a row: no text above numbers.
    """
    names = dialect.rows([comment])
    if dialect.separator == " " or not rows or not names or not len(names[0]) == len(rows[0]) > 1:
        return False
    columns = zip(*(row for row in rows if len(row) == len(rows[0])), strict=True)
    return not any(
        not _is_number_or_gap(first) and below and all(map(_is_number_or_gap, below))
        for first, *below in columns
    )


def _decimal(separator: str, rows: Rows) -> str:
    """A comma where numbers have one, points if any are thousands, and commas are no thousands."""
    fields = [field for row in rows for field in row]
    commas = [field for field in fields if _COMMA_NUMBER.fullmatch(field)]
    points = [field for field in fields if _POINT_NUMBER.fullmatch(field)]
    if separator == "," or not commas or not all(map(_POINTS.fullmatch, points)):
        return "."
    thousands = separator != ";" and all(map(_COMMAS.fullmatch, commas))
    return "." if thousands else ","


@dataclass(frozen=True)
class Header:
    """What the first line is."""

    names: tuple[str, ...]  # of the columns, each once
    is_data: bool = False  # whether the first line is a row already
    trailing: bool = False  # whether every row ends with a separator, after which nothing comes
    notes: tuple[str, ...] = ()  # what is not as usual
    width: int = 0  # fields of nearly all rows


def read_header(
    first: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect, wanted: bool | None
) -> Header:
    """The names, from the first line and the rows below; `wanted` is whether it has the names."""
    first = [name.strip() for name in first]
    widths = [len(row) for row in rows] or [len(first)]
    width = max(set(widths), key=widths.count)
    width = width if widths.count(width) >= NEARLY_ALL * len(widths) else len(first)
    if wanted is None and dialect.comment and are_numbers(first):  # as numpy.savetxt writes
        names = next(iter(dialect.rows([dialect.comment.lstrip("# ")])), [])
        if len(names) == width and not are_numbers(names):
            return Header(_each_once(names)[0], True, notes=("column names in a comment",))
    if wanted is False or (wanted is None and _is_row(first, rows)):
        numbered = tuple(f"x{j}" for j in range(max(len(first), width)))
        note = f"no line of column names, so they are {_listed(numbered)}"
        return Header(numbered, True, notes=() if wanted is False else (note,))
    notes = []
    if len(first) > width and not any(first[width:]):
        first = first[:width]  # a separator after the last name, and none after the rows
    if wanted is None and are_numbers(first):
        notes.append(f"the first line ({_listed(first)}) as column names")
    empty = bool(rows) and width > 1 and all(not row[-1].strip() for row in rows)
    one_less = width == len(first) + 1
    trailing = empty and (one_less or (width == len(first) > 1 and not first[-1]))
    if trailing:
        first = first[: width - 1]
    elif one_less and rows:
        first = ["rownames", *first]
        notes.append("one name less than columns, so the first is called 'rownames'")
    if all(len(name) > 2 and name[0] == name[-1] == "'" for name in first):
        first = [name[1:-1] for name in first]
    unique, more = _each_once(first)
    return Header(unique, trailing=trailing, notes=(*notes, *more), width=width)


def _is_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line looks like those below it: numbers where they have numbers.

    Where it has text, that text must come again in its column; and names that count (0, 1, 2, or
    years) are names.
    """
    others = [row for row in rows if len(row) == len(first) and row != first]
    if not others or _is_counting(first) or not first[0] or set(first) <= _MISSING:
        return False
    for j, value in enumerate(first):
        texts = [text for row in others if (text := row[j].strip()) not in _MISSING]
        if is_number(value):
            alike = sum(map(is_number, texts)) >= NEARLY_ALL * len(texts) > 0
        else:
            alike = value in _MISSING or value in texts
        if not alike:
            return False
    return True


def _is_counting(first: Sequence[str]) -> bool:
    """Whether numbers are names: 0, 1, 2, ... as pandas writes them, or years."""
    values = [value for value in first if value]
    if len(values) < 2 or not all(value.isdecimal() for value in values):
        return False
    numbers = [int(value) for value in values]
    steps = {b - a for a, b in pairwise(numbers)}
    years = len(numbers) > 2 and all(k in _YEARS for k in numbers)
    return (numbers[0] == 0 and steps == {1}) or (years and len(steps) == 1 and steps != {0})


def are_numbers(first: Sequence[str]) -> bool:
    """Whether all names that are not empty are numbers."""
    values = [value for value in first if value]
    return bool(values) and all(map(is_number, values))


def _each_once(names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names, each once: the second `a` is `a_2`, and what has no name is called by its place."""
    taken, seen, notes = set(names), dict[str, None](), []
    for j, name in enumerate(names):
        new = name
        base, k = (name, 2) if name else ("column", j + 1)
        while name in seen and (new := f"{base}_{k}") in taken:
            k += 1
        if new != name:
            notes.append(f"a second column {name!r} is called {new!r}")
        taken.add(new)
        seen[new] = None
    if len(notes) > 3:
        notes = [*notes[:2], f"{len(notes) - 2} more names that come twice are numbered too"]
    return tuple(seen), notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def count_notes(rows: Sequence[Sequence[str]], width: int) -> tuple[int, str]:
    """How many of the last rows are notes or empty, and what to say of them; 0 if none is a note.

    A line that begins as notes do is a note. Below an empty line, so are several words in one
    field, or in another number of fields than the table has; one word may be a row with gaps.

    >>> count_notes([["1", "2"], ["3", "4"], [], ["Source: our own, 2020"]], 2)
    (2, "a note below the table was left out: 'Source: our own, 2020'")
    >>> count_notes([["1", "2"], ["3"]], 2)
    (0, '')
    """
    stripped = [[field.strip() for field in row] for row in rows if width > 1]
    tail = [*takewhile(lambda fields: _may_be_a_note(fields, width), reversed(stripped))][::-1]
    sure = (k for k, fields in enumerate(tail) if _begins_notes(fields))
    tail = tail[next(sure, len(tail)) :]
    notes = [" ".join(filter(None, fields)) for fields in tail if any(fields)]
    # Lines below no row at all are rows.
    if not 0 < len(notes) <= MAX_NOTES or len(tail) == len(rows):
        return 0, ""
    are = "a note" if len(notes) == 1 else f"{len(notes)} lines of notes"
    was = "was" if len(notes) == 1 else "were"
    return len(tail), f"{are} below the table {was} left out: {textwrap.shorten(notes[0], 40)!r}"


def _may_be_a_note(fields: Sequence[str], width: int) -> bool:
    words = any(map(str.isalpha, "".join(fields[:1]))) and len(fields[0].split()) > 1
    alone = len(fields) != width or not any(fields[1:])
    return not any(fields) or bool(_NOTE.match(fields[0])) or (words and alone)


def _begins_notes(fields: Sequence[str]) -> bool:
    """Whether a line that may be a note is one, or empty, whatever is above it."""
    marked = any(fields) and not any(fields[1:]) and _NOTE_MARK.match(fields[0])
    return not any(fields) or bool(_NOTE.match(fields[0]) or marked)


def note_on_total(names: Sequence[str], rows: Sequence[Sequence[str]], place: str) -> str:
    """Says that the last row is a total, which is left out; "" where it is none.

    A sum, and a word such as "Total" or nothing in a column that is full above: not by chance.

    >>> rows = [["a", "1"], ["b", "2"], ["a", "3"], ["b", "4"], ["a", "5"], ["", "15"]]
    >>> note_on_total(["shop", "sales"], rows, "line 7")  # doctest: +ELLIPSIS
    "line 7 is a total (the sum of all rows above in 'sales') and was left out; keep_total=True ..."
    """
    if len(rows) <= MIN_ROWS_OF_TOTAL or any(len(row) != len(rows[0]) for row in rows):
        return ""
    last, columns = rows[-1], list(zip(*rows, strict=True))
    empty = any(is_gap(c[-1]) and not any(map(is_gap, c[:-1])) for c in columns)
    if not empty and not any(map(_TOTAL.search, last)):
        return ""
    for name, cells in zip(names, columns, strict=False):
        notations = [] if is_gap(cells[-1]) else candidates(cells)
        for one in (read(cells, n) for n in notations if n.startswith("number")):
            *others, last_value = one.values[~one.gone].tolist()
            error = abs(last_value - sum(others))
            is_sum = abs(last_value) > max(map(abs, others), default=math.inf)
            if len(others) >= MIN_ROWS_OF_TOTAL and is_sum and error <= 1e-3 * abs(last_value):
                return (  # cells are rounded
                    f"{place} is a total (the sum of all rows above in {name!r}) and was left out; "
                    "keep_total=True (--keep-total) keeps it"
                )
    return ""
