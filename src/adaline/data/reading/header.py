"""What is no row of a table: names, names that come again, notes below it, and totals."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.dialect import Dialect, rows_of
from adaline.data.reading.notations import MISSING, NEARLY_ALL, candidates, is_gap, read

_YEARS = range(1800, 2101)
_MISSING = {*MISSING, "?"}
MAX_NOTES = 50  # lines below a table
SHOWN_LETTERS = 40  # of a note
_NOTE = re.compile(r"(foot)?(sources?|notes?|quellen?|anmerkung(en)?|fuentes?|notas?)\s*:", re.I)
_NOTE_MARK = re.compile(r"\*|†|©|\(c\)|\d\)|\[\d\]", re.I)
MIN_ROWS_OF_TOTAL = 5  # above it
SUM_ROUNDING = 1e-3  # of a sum of cells that are rounded
_TOTAL = re.compile(r"\b(total|totals|sum|summe|gesamt|insgesamt|totale|somme|suma)\b", re.I)


@dataclass(frozen=True)
class Header:
    """What the first line is."""

    names: tuple[str, ...]  # of the columns, each once
    is_data: bool = False  # whether the first line is a row already
    trailing: bool = False  # whether every row ends with a separator, after which nothing comes
    notes: tuple[str, ...] = ()  # what is not as usual
    width: int = 0  # fields of nearly all rows


def read_header(
    first: list[str], rows: list[list[str]], dialect: Dialect, wanted: bool | None
) -> Header:
    """The names, from the first line and the rows below; `wanted` is whether it has the names."""
    widths = [len(row) for row in rows] or [len(first)]
    width = max(set(widths), key=widths.count)
    width = width if widths.count(width) >= NEARLY_ALL * len(widths) else len(first)
    if wanted is None and (commented := _names_in_comment(dialect, first, width)):
        return Header(_each_once(commented)[0], True, notes=("column names in a comment",))
    if wanted is False or (wanted is None and _is_row(first, rows)):
        numbered = tuple(f"x{j}" for j in range(max(len(first), width)))
        note = f"no line of column names, so they are {_listed(numbered)}"
        return Header(numbered, True, notes=() if wanted is False else (note,))
    notes = []
    if len(first) > width and not any(name.strip() for name in first[width:]):
        first = first[:width]  # a separator after the last name, and none after the rows
    if wanted is None and _are_numbers(first):
        notes.append(f"the first line ({_listed(first)}) as column names")
    empty = bool(rows) and width > 1 and all(not row[-1].strip() for row in rows)
    unnamed = width == len(first) + 1 or (width == len(first) > 1 and not first[-1])
    trailing = empty and unnamed
    if trailing:
        first = first[: width - 1]
    elif width == len(first) + 1 and rows:
        first = ["rownames", *first]
        notes.append("one name less than columns, so the first is called 'rownames'")
    if all(len(name) > 2 and name[0] == name[-1] == "'" for name in first):
        first = [name[1:-1] for name in first]
    names, more = _each_once(first)
    return Header(names, trailing=trailing, notes=(*notes, *more), width=width)


def _is_row(first: list[str], rows: list[list[str]]) -> bool:
    """Whether the first line looks like those below it: numbers where they have numbers.

    Where it has text, that text must come again in its column; and names that count (0, 1, 2, or
    years) are names.
    """
    others = [row for row in rows if len(row) == len(first) and row != first]
    if not others or _is_counting(first) or not first[0] or set(first) <= _MISSING:
        return False
    for j, value in enumerate(first):
        texts = [text for row in others if (text := row[j].strip()) not in _MISSING]
        if value in _MISSING:
            continue
        if not is_number(value):
            if value not in texts:
                return False
        elif not texts or sum(map(is_number, texts)) < NEARLY_ALL * len(texts):
            return False
    return True


def _is_counting(first: list[str]) -> bool:
    """Whether numbers are names: 0, 1, 2, ... as pandas writes them, or years."""
    values = [value for value in first if value]
    if len(values) < 2 or not all(value.isdecimal() for value in values):
        return False
    numbers = [int(value) for value in values]
    steps = {b - a for a, b in pairwise(numbers)}
    years = len(numbers) > 2 and all(k in _YEARS for k in numbers) and len(steps - {0}) == 1
    return (numbers[0] == 0 and steps == {1}) or (years and 0 not in steps)


def _are_numbers(first: list[str]) -> bool:
    values = [value for value in first if value]
    return bool(values) and all(map(is_number, values))


def is_number(text: str) -> bool:
    """Whether text is a number, with a point or a comma."""
    try:
        float(text.replace(",", ".", 1))
    except ValueError:
        return False
    return "_" not in text


def _names_in_comment(dialect: Dialect, first: list[str], width: int) -> list[str]:
    """The names, where a comment has them as numpy.savetxt writes them above its numbers."""
    if not dialect.comment or not _are_numbers(first):
        return []
    names = next(iter(rows_of(dialect.comment.lstrip("# "), dialect)), [])
    return names if len(names) == width and not _are_numbers(names) else []


def _each_once(names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names, each once: the second `a` is `a_2`, and what has no name is called by its place."""
    taken, seen, unique, notes = set(names), set[str](), [], []
    for j, name in enumerate(names):
        new = name
        base, k = (name, 2) if name else ("column", j + 1)
        if name in seen:
            while (new := f"{base}_{k}") in taken:
                k += 1
            notes.append(f"a second column {name!r} is called {new!r}")
            taken.add(new)
        seen.add(new)
        unique.append(new)
    if len(notes) > 3:
        notes = [*notes[:2], f"{len(notes) - 2} more names that come twice are numbered too"]
    return tuple(unique), notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


# Names that come again, as in files put after each other.


def find_repeated_names(line: bytes, names: Sequence[str]) -> re.Pattern[bytes] | None:
    """What finds the line of names among rows; None where a row might look like it.

    A row may be the same as a single name, or as names that are numbers.

    >>> find_repeated_names(b"a,b", ["a", "b"]).sub(b"", b"1,2\\na,b\\n3,4\\n")
    b'1,2\\n3,4\\n'
    >>> find_repeated_names(b"0,1", ["0", "1"]) is None
    True
    """
    if len(names) < 2 or all(map(is_number, names)):
        return None
    return re.compile(rb"^" + re.escape(line) + rb"[ \t]*\r?\n", re.MULTILINE)


def without_names(data: bytes, line: bytes, pattern: re.Pattern[bytes] | None) -> bytes:
    """The rows of whole lines, without lines of names; the same object where there are none."""
    if pattern is None or data.find(line) < 0:  # many times as fast as the pattern
        return data
    return pattern.sub(b"", data)


def note_on_repeated_names(
    body: bytes, pattern: re.Pattern[bytes] | None, first: int
) -> tuple[str, ...]:
    """Say where the names come again in the first rows, which begin at line `first`."""
    places = [] if pattern is None else [match.start() for match in pattern.finditer(body)]
    if not places:
        return ()
    line = first + body.count(b"\n", 0, places[0])
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return (f"the column names come again in line {line}{more}, which is left out",)


# Notes below a table: its source, or what an asterisk means.


@dataclass(frozen=True)
class Footnotes:
    """Where the table ends, in bytes from the first row; how many lines of notes; the first."""

    end: int
    lines: int
    first: str

    def note(self) -> str:
        """For people."""
        short = self.first[:SHOWN_LETTERS] + "..." * (len(self.first) > SHOWN_LETTERS)
        are = "a note" if self.lines == 1 else f"{self.lines} lines of notes"
        return f"{are} below the table {'was' if self.lines == 1 else 'were'} left out: {short!r}"


def find_footnotes(body: bytes, separator: str, width: int) -> Footnotes | None:
    """The notes at the end of a table of so many columns; None where there are none.

    A line that begins as notes do is a note. Below an empty line, so are words in one field, or in
    another number of fields than the table has.

    >>> find_footnotes(b"1,2\\n3,4\\n\\nSource: our own, 2020\\n", ",", 2)
    Footnotes(end=8, lines=1, first='Source: our own, 2020')
    >>> find_footnotes(b"1,2\\n3\\n", ",", 2) is None
    True
    """
    if width < 2 or separator == " ":
        return None
    lines = body.removesuffix(b"\n").split(b"\n")
    notes: list[str] = []
    pending: list[str] = []  # lines that are notes if an empty one is above them
    at = kept = len(lines)
    while at > 0 and len(notes) + len(pending) <= MAX_NOTES:
        at -= 1
        text = lines[at].decode(errors="replace").strip()
        fields = _fields(text, separator) if text.strip(separator + " ") else []
        if fields is None or (fields and _is_row_or_unknown(fields, width)):
            break
        if fields:
            pending.insert(0, ", ".join(filter(None, fields)))
        if not fields or _is_surely_a_note(fields):
            notes, pending, kept = [*pending, *notes], [], at
    if not notes or len(notes) > MAX_NOTES:
        return None
    return Footnotes(sum(len(line) + 1 for line in lines[:kept]), len(notes), notes[0])


def _fields(text: str, separator: str) -> list[str] | None:
    """None where a quote is open: the line is part of a longer field."""
    try:
        row = next(csv.reader([text], delimiter=separator))
    except csv.Error:
        return None
    return None if text.count('"') % 2 else [field.strip() for field in row]


def _is_row_or_unknown(fields: list[str], width: int) -> bool:
    first = fields[0]
    words = len(fields) != width and len(first.split()) > 1
    is_text = any(map(str.isalpha, first)) and (words or not any(fields[1:]))
    return _NOTE.match(first) is None and not is_text


def _is_surely_a_note(fields: list[str]) -> bool:
    """Though there is no empty line above it."""
    marked = _NOTE_MARK.match(fields[0]) and not any(fields[1:])
    return bool(_NOTE.match(fields[0]) or marked)


# A last row that is no row: the totals of a spreadsheet.


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
        values = [read(cells, n) for n in notations if n.startswith("number")]
        if any(is_sum(one.values, one.gone) for one in values):
            return (
                f"{place} is a total (the sum of all rows above in {name!r}) and was left out; "
                "keep_total=True (--keep-total) keeps it"
            )
    return ""


def is_sum(values: NDArray[Any], gone: NDArray[np.bool_] | None = None) -> bool:
    """Whether the last number is the sum of those before it, and larger than each."""
    known = values.astype(np.float64) if gone is None else values[~gone].astype(np.float64)
    if len(known) <= MIN_ROWS_OF_TOTAL or (gone is not None and gone[-1]):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        others, last = known[:-1], abs(known[-1])
        error = abs(known[-1] - others.sum())
        return bool(last > np.abs(others).max() and error <= SUM_ROUNDING * last)
