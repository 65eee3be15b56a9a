"""Levels of text that may mean the same: 'Yes', 'yes ' and 'Y'."""

from __future__ import annotations

from collections.abc import Iterable

_SAME = {"y": "yes", "n": "no", "t": "true", "f": "false"}
_SHOWN = 4


def alike(levels: Iterable[str]) -> str:
    """A note on levels that differ only in case or blanks, or as Y and yes do; "" without any.

    >>> alike(["no", "Yes", "YES", "Y"])
    "'Y', 'YES', 'Yes' may mean the same, and each is a level of its own; write it alike if so"
    >>> alike(["m", "f", "n"])
    ''
    """
    meanings: dict[str, list[str]] = {}
    for level in levels:
        meanings.setdefault(" ".join(level.split()).casefold(), []).append(level)
    for short, long in _SAME.items():
        if short in meanings and long in meanings:
            meanings[long] += meanings.pop(short)
    several = [sorted(same) for same in meanings.values() if len(same) > 1]
    if not several:
        return ""
    told = "; ".join(_listed(same) for same in sorted(several)[:_SHOWN])
    told += "; ..." if len(several) > _SHOWN else ""
    return f"{told} may mean the same, and each is a level of its own; write it alike if so"


def _listed(same: list[str]) -> str:
    return ", ".join(map(repr, same[:_SHOWN])) + (", ..." if len(same) > _SHOWN else "")
