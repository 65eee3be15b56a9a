"""Notes below a table: its source, or what an asterisk means."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

_MOST = 50  # lines of notes
_NAMED = re.compile(r"(foot)?(sources?|notes?|quellen?|anmerkung(en)?|fuentes?|notas?)\s*:", re.I)
_MARKED = re.compile(r"\*|†|©|\(c\)|\d\)|\[\d\]", re.I)
_SHOWN = 40  # characters of the first note that are told


@dataclass(frozen=True)
class Footnotes:
    """Where the table ends, in bytes from the first row; how many lines of notes; the first."""

    end: int
    lines: int
    first: str

    def told(self) -> str:
        """For people."""
        short = self.first[:_SHOWN] + "..." * (len(self.first) > _SHOWN)
        if self.lines == 1:
            return f"a note below the table was left out: {short!r}"
        return f"{self.lines} lines of notes below the table were left out: {short!r}"


def footnotes(body: bytes, separator: str, width: int) -> Footnotes | None:
    """The notes at the end of a table of so many columns; None where there are none.

    A line that begins as notes do is a note. Below an empty line, so are words in one field, or in
    another number of fields than the table has.

    >>> footnotes(b"1,2\\n3,4\\n\\nSource: our own, 2020\\n", ",", 2)
    Footnotes(end=8, lines=1, first='Source: our own, 2020')
    >>> footnotes(b"1,2\\n3\\n", ",", 2) is None
    True
    """
    if width < 2 or separator == " ":
        return None
    lines = body.removesuffix(b"\n").split(b"\n")
    found: list[str] = []
    pending: list[str] = []  # lines that are notes if an empty one is above them
    at = kept = len(lines)
    while at > 0 and len(found) + len(pending) <= _MOST:
        at -= 1
        text = lines[at].decode(errors="replace").strip()
        if not text.strip(separator + " "):
            found, pending, kept = [*pending, *found], [], at
            continue
        fields = _fields(text, separator)
        if fields is None or _is_row(fields, width):
            break
        pending.insert(0, _shown(fields))
        if _is_surely_a_note(fields):
            found, pending, kept = [*pending, *found], [], at
    if not found or len(found) > _MOST:
        return None
    return Footnotes(sum(len(line) + 1 for line in lines[:kept]), len(found), found[0])


def _fields(text: str, separator: str) -> list[str] | None:
    """None where a quote is open: the line is part of a longer field."""
    if text.count('"') % 2:
        return None
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=separator))]
    except csv.Error:
        return None


def _is_row(fields: list[str], width: int) -> bool:
    """Whether fields are a row, or nothing that is known: no note at any rate."""
    first = fields[0]
    if _NAMED.match(first):
        return False
    alone = not any(fields[1:])
    words = len(fields) != width and len(first.split()) > 1
    return not any(map(str.isalpha, first)) or not (alone or words)


def _is_surely_a_note(fields: list[str]) -> bool:
    """Though there is no empty line above it."""
    named, marked = _NAMED.match(fields[0]), _MARKED.match(fields[0])
    return named is not None or (marked is not None and not any(fields[1:]))


def _shown(fields: list[str]) -> str:
    return ", ".join(field for field in fields if field)
