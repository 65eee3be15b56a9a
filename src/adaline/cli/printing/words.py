"""What only the command says: sizes of files, names in sentences, and "did you mean"."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from adaline.evaluation.words import name


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


def did_you_mean(word: str, known: Iterable[str], most: int = 12) -> str:
    """A question where something looks alike, else the list of what there is."""
    there = list(known)
    folded = {k.lower(): k for k in there}
    alike = difflib.get_close_matches(word.lower(), folded, 3, 0.5)
    if alike:
        return f"did you mean {' or '.join(repr(folded[a]) for a in alike)}?"
    more = ", ..." if len(there) > most else ""
    return f"there are {', '.join(repr(k) for k in there[:most])}{more}."
