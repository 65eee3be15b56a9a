"""The names of a text table's columns: in its first line, in a comment, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from adaline.data.reading.dialect import Dialect, rows_of

_NEARLY = 0.9  # of the rows
_YEARS = range(1800, 2101)
_MISSING = {"", "NA", "N/A", "null", "NULL", "None", "?"}


@dataclass(frozen=True)
class Header:
    """What the first line is.

    Attributes
    ----------
    names : tuple of str
        Of the columns, each once.
    is_data : bool
        Whether the first line is a row already.
    trailing : bool
        Whether every row ends with a separator, after which nothing comes.
    notes : tuple of str
        What is not as usual.
    width : int
        Fields of nearly all rows.
    """

    names: tuple[str, ...]
    is_data: bool = False
    trailing: bool = False
    notes: tuple[str, ...] = ()
    width: int = 0


def header_of(
    first: list[str], rows: list[list[str]], dialect: Dialect, wanted: bool | None
) -> Header:
    """The names, of the first line and the rows below; wanted says whether it has the names."""
    width = _width(rows, len(first))
    if wanted is None and (names := _names_in_comment(dialect, first, width)):
        return Header(_each_once(names)[0], True, notes=("column names in a comment",))
    if wanted is False or (wanted is None and _is_row(first, rows)):
        numbered = tuple(f"x{j}" for j in range(max(len(first), width)))
        told = f"no line of column names, so they are {_listed(numbered)}"
        return Header(numbered, True, notes=() if wanted is False else (told,))
    return _named(first, rows, width, said=wanted is True)


def _named(first: list[str], rows: list[list[str]], width: int, said: bool) -> Header:
    notes: list[str] = []
    if len(first) > width and not any(name.strip() for name in first[width:]):
        first = first[:width]  # a separator after the last name, and none after the rows
    if first and not said and _are_numbers(first):
        notes.append(f"the first line ({_listed(first)}) as column names")
    trailing = _ends_empty(rows, width) and (
        width == len(first) + 1 or (width == len(first) > 1 and not first[-1])
    )
    if trailing:
        first = first[: width - 1]
    elif width == len(first) + 1 and rows:
        first = ["rownames", *first]
        notes.append("one name less than columns, so the first is called 'rownames'")
    if all(len(name) > 2 and name[0] == name[-1] == "'" for name in first):
        first = [name[1:-1] for name in first]
    names, told = _each_once(first)
    return Header(names, trailing=trailing, notes=(*notes, *told), width=width)


def _width(rows: list[list[str]], otherwise: int) -> int:
    """How many fields nearly all rows have."""
    if not rows:
        return otherwise
    widths = [len(row) for row in rows]
    most = max(set(widths), key=widths.count)
    return most if widths.count(most) >= _NEARLY * len(rows) else otherwise


def _ends_empty(rows: list[list[str]], width: int) -> bool:
    return bool(rows) and width > 1 and all(not row[-1].strip() for row in rows)


def _is_row(first: list[str], rows: list[list[str]]) -> bool:
    """Whether the first line looks like those below it: numbers where they have numbers.

    Where it has text, that text must come again in its column; and names that count (0, 1, 2, or
    years) are names.
    """
    others = [row for row in rows if len(row) == len(first) and row != first]
    if not others or _is_counting(first):
        return False
    seen = 0
    for j, value in enumerate(first):
        if value in _MISSING:
            continue
        column = [row[j].strip() for row in others]
        there = [text for text in column if text not in _MISSING]
        numbers = sum(is_number(text) for text in there)
        if is_number(value):
            if not there or numbers < _NEARLY * len(there):
                return False
        elif value not in there:
            return False
        seen += 1
    return seen > 0 and bool(first[0])


def _is_counting(first: list[str]) -> bool:
    """Whether numbers are names: 0, 1, 2, ... as pandas writes them, or years."""
    numbers = [value for value in first if value]
    if len(numbers) < 2 or not all(value.isdecimal() for value in numbers):
        return False
    found = [int(value) for value in numbers]
    steps = {b - a for a, b in pairwise(found)}
    from_zero = found[0] == 0 and steps == {1}
    years = (
        len(found) > 2 and all(k in _YEARS for k in found) and len(steps) == 1 and 0 not in steps
    )
    return from_zero or years


def _are_numbers(first: list[str]) -> bool:
    there = [value for value in first if value]
    return bool(there) and all(is_number(value) for value in there)


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
    taken, found, told = set(names), [], []
    seen: set[str] = set()
    for j, name in enumerate(names):
        if name not in seen:
            seen.add(name)
            found.append(name)
            continue
        base, k = (name, 2) if name else ("column", j + 1)
        while f"{base}_{k}" in taken:
            k += 1
        new = f"{base}_{k}"
        told.append(f"a second column {name!r} is called {new!r}")
        taken.add(new)
        seen.add(new)
        found.append(new)
    if len(told) > 3:
        told = [*told[:2], f"{len(told) - 2} more names that come twice are numbered too"]
    return tuple(found), told


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def repeated(line: bytes, names: Sequence[str]) -> re.Pattern[bytes] | None:
    """What finds the line of names among rows; None where a row might look like it.

    A row may be the same as a single name, or as names that are numbers.

    >>> repeated(b"a,b", ["a", "b"]).sub(b"", b"1,2\\na,b\\n3,4\\n")
    b'1,2\\n3,4\\n'
    >>> repeated(b"0,1", ["0", "1"]) is None
    True
    """
    if len(names) < 2 or all(is_number(name) for name in names):
        return None
    return re.compile(rb"^" + re.escape(line) + rb"[ \t]*\r?\n", re.MULTILINE)


def without_names(data: bytes, line: bytes, pattern: re.Pattern[bytes] | None) -> bytes:
    """The rows of whole lines, without lines of names; the same object where there are none."""
    if pattern is None or data.find(line) < 0:  # many times as fast as the pattern
        return data
    return pattern.sub(b"", data)


def note_on(body: bytes, pattern: re.Pattern[bytes] | None, first: int) -> tuple[str, ...]:
    """Say where the names come again in the first rows, which begin at line `first`."""
    places = [] if pattern is None else [found.start() for found in pattern.finditer(body)]
    if not places:
        return ()
    line = first + body.count(b"\n", 0, places[0])
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return (f"the column names come again in line {line}{more}, which is left out",)
