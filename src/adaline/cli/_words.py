"""Names, numbers and shares as a terminal may show them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST = 60


def plain(text: Any, most: int = 2000) -> str:
    """A text without anything a terminal would obey: control characters are shown, not sent.

    >>> print(plain("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def name(text: Any) -> str:
    """A name of a column, label or file: plain, and not longer than a line bears."""
    return plain(text, LONGEST)


def number(value: Any, digits: int = 5) -> str:
    """Counts with thousands apart, other numbers to a few digits, a dash where there is none.

    >>> number(1234567), number(0.1 + 0.2), number(float("nan"))
    ('1,234,567', '0.3', '–')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.{digits}g}"
    return plain(value)


def percent(share: float) -> str:
    """A share with one digit behind the point.

    >>> percent(0.9876)
    '98.8 %'
    """
    return f"{100 * share:.1f} %"


def plural(count: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def size(count: float) -> str:
    """Bytes for people.

    >>> size(2048), size(3.5e9)
    ('2.0 kB', '3.5 GB')
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def with_names(text: str, names: Sequence[str]) -> str:
    """A sentence about x0, x1, ... with the names of the columns.

    >>> with_names("x1 is a combination of x0.", ["age", "size"])
    "'size' is a combination of 'age'."
    """

    def called(found: re.Match[str]) -> str:
        j = int(found[1])
        return repr(name(names[j])) if j < len(names) else found[0]

    return re.sub(r"(?<![\w=])x(\d+)\b", called, text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question where something looks alike, else the list of what there is."""
    there = list(known)
    folded = {k.lower(): k for k in there}
    alike = difflib.get_close_matches(word.lower(), folded, 3, 0.5)
    if alike:
        return f"did you mean {' or '.join(repr(folded[a]) for a in alike)}?"
    more = ", ..." if len(there) > 12 else ""
    return f"there are {', '.join(repr(k) for k in there[:12])}{more}."
