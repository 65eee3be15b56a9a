"""Thousands, millions and billions written as letters: 930k, 1.2M, 3.4 bn, 1,2 Mio.

A letter after a number may be a unit as well: 12m is twelve metres, 12 K a temperature, and 136B a
code. So the letters of a column are taken for thousands and so on only where no doubt is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LETTERS = "kMB"  # the word for them in a notation
POWERS = {
    **dict.fromkeys(("k", "K"), 3),
    **dict.fromkeys(("M", "mn", "mln", "Mio", "Mio.", "mio", "million"), 6),
    **dict.fromkeys(("B", "bn", "Bn", "Mrd", "Mrd.", "mrd", "billion"), 9),
}
PATTERN = "|".join(map(re.escape, sorted(POWERS, key=len, reverse=True)))
_WRITTEN = re.compile(rf"[^\d(+−-]*[(+−-]?[^\d]{{0,4}}([\d.,' ]*\d)\s*({PATTERN})\b[^\d]*")
_DECIMAL = re.compile(r"\d[.,]\d{1,2}$|\d\.\d{4,}$|^0?[.,]\d")  # 1,234 and 1.234 may be whole


def has_letters(text: str) -> bool:
    """Whether a text is digits with one of the letters.

    >>> has_letters("$1.2M"), has_letters("12m"), has_letters("1200")
    (True, False, False)
    """
    return _WRITTEN.fullmatch(text.strip()) is not None


def are_clear(levels: Sequence[str]) -> bool:
    """Whether letters in a column of numbers can only stand for thousands, millions and billions.

    One of them follows decimals, which codes do not have, or all values have one, and not only
    capitals, which may be units and codes.

    >>> are_clear(["950", "1.2k", "3M"]), are_clear(["45k", "50k"]), are_clear(["1.2 Mio", "3 Mrd"])
    (True, True, True)
    >>> are_clear(["12", "12k"]), are_clear(["4K", "8K"]), are_clear(["1.2m", "3m"])
    (False, False, False)
    """
    ended = (level.strip() for level in levels)
    found = [m for text in ended if not text[-1:].isdigit() and (m := _WRITTEN.fullmatch(text))]
    if any(_DECIMAL.search(match[1]) for match in found):
        return True
    capitals = all(len(match[2]) == 1 and match[2].isupper() for match in found)
    return bool(found) and len(found) == len(levels) and not capitals
