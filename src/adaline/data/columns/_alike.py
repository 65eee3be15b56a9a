"""One spelling for levels of text that differ only in case or blanks: 'West' and ' west'."""

from __future__ import annotations

Pairs = tuple[tuple[str, str], ...]  # a spelling, and the level that it is read as
_SAME = {"y": "yes", "n": "no", "t": "true", "f": "false"}
_SHOWN = 4


def merge_spellings(counts: dict[str, int], exact: bool) -> tuple[dict[str, int], Pairs, str]:
    """How often each level comes after merging, which spellings were merged, and a note on it.

    Levels are the same if they differ only in case or blanks, or as Y and yes do, unless `exact`.
    The most frequent spelling names them, without surrounding blanks.

    >>> counts, pairs, note = merge_spellings({"no": 5, "Yes": 9, "YES ": 3}, False)
    >>> counts, pairs
    ({'no': 5, 'Yes': 12}, (('YES ', 'Yes'),))
    >>> note
    "'YES ' (3 of 12 rows) is read as 'Yes'; exact_levels=True (--exact-levels) keeps them apart"
    """
    meanings: dict[str, list[str]] = {}
    for level in [] if exact else sorted(counts):
        meanings.setdefault(" ".join(level.split()).casefold(), []).append(level)
    for short, long in _SAME.items():
        if short in meanings and long in meanings:
            meanings[long] += meanings.pop(short)
    meanings.pop("", None)  # blanks alone are a missing value or nothing
    same = {}
    for alike in meanings.values():
        usual = " ".join(max(alike, key=lambda level: counts[level]).split())
        same.update({level: usual for level in alike if len(alike) > 1 and level != usual})
    merged: dict[str, int] = {}
    for level, n in counts.items():
        merged[same.get(level, level)] = merged.get(same.get(level, level), 0) + n
    told = [
        f"{level!r} ({counts[level]:,} of {merged[usual]:,} rows) is read as {usual!r}"
        for level, usual in sorted(same.items())
    ]
    listed = "; ".join(told[:_SHOWN]) + "; ..." * (len(told) > _SHOWN)
    note = f"{listed}; exact_levels=True (--exact-levels) keeps them apart" if same else ""
    return merged, tuple(sorted(same.items())), note
