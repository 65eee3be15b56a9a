"""The line of column names where it comes again among the rows: files put after each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adaline.data.reading.text.header import is_number


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
