"""Rules that decide on a column: whether it tells anything, how its text is read, what is merged.

`study` applies them to what it has learned of all rows (`facts`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import missing_in
from adaline.data.columns.facts import Numbers, Texts
from adaline.data.columns.inputs import MISSING_LEVEL, OTHER_LEVEL, Input
from adaline.data.reading.dates import ORDERS, WEEKDAYS
from adaline.data.reading.magnitudes import LETTERS
from adaline.data.reading.notations import MONEY, UNITS, candidates, is_gap, words
from adaline.data.reading.source import Column
from adaline.errors import DataError

COUNTED = 10  # rows from which on a column 1, 2, 3, ... counts the rows, whatever its name
_NAMED = 3  # rows from which on the name of a column counts
_DIFFERENT = 0.8  # share of the rows with a value of their own that makes names of a text
_ROW_NAMES = frozenset(
    (
        *("", "id", "ids", "index", "idx", "row", "rows", "rowname", "rownames", "row.names"),
        *("row names", "row_names", "rownumber", "row_number", "row number", "rowid", "no", "no."),
        *("nr", "nr.", "obs", "observation", "case", "caseno", "key", "uuid", "guid", "record"),
        *("#", "level_0"),
    )
)
_ROW_NAME = re.compile(r"unnamed: ?\d+(\.\d+)?|(.*[ _.-])?(id|uuid|guid|rownum|rowid)")
_CAMEL = re.compile(r".*[a-z](Id|ID)")
_CODES = (99.0, 999.0, 9999.0, 99999.0, 999999.0)


def is_named_like_rows(name: str) -> bool:
    """Whether a name is one that numbers of rows have.

    >>> [is_named_like_rows(n) for n in ("", "Unnamed: 0", "customer_id", "userId", "width")]
    [True, True, True, True, False]
    """
    plain = name.strip().lower()
    return (
        plain in _ROW_NAMES
        or _ROW_NAME.fullmatch(plain) is not None
        or _CAMEL.fullmatch(name.strip()) is not None
    )


def counts_rows(column: Column, name: str) -> str | None:
    """Why numbers of the first rows are numbers of rows; None where they are not."""
    values = np.asarray(column.values)
    n = len(values)
    if n >= COUNTED and values[0] in (0, 1) and column.missing is None:
        with np.errstate(over="ignore", invalid="ignore"):
            steps = values[1:] - values[:-1]
        if bool(np.all(steps == 1)):
            return "counts the rows"
    if n < _NAMED or not is_named_like_rows(name) or missing_in(column) is not None:
        return None
    if _are_whole(values) and len(np.unique(values)) == n:
        return "has a number of its own in every row"
    if _are_whole(values) and are_rounded(values):
        return "has whole numbers beyond 2^53, of which the last digits are lost"
    return None


def are_rounded(values: NDArray[np.generic]) -> bool:
    """Whether floats hold numbers so large that different whole numbers became the same."""
    return values.dtype.kind == "f" and bool(np.any(np.abs(values) >= 2.0**53))


def _are_whole(values: NDArray[np.generic]) -> bool:
    if values.dtype.kind in "iu":
        return True
    if values.dtype.kind != "f":
        return False
    return bool(np.isfinite(values).all() and np.all(values == np.floor(values)))


def names_rows(found: Texts, name: str, most: int) -> str | None:
    """Why text is names of rows, or too many levels; None where it is neither."""
    rows = found.n + found.gaps
    if found.counts is None:
        return "has more than 20,000 different values"
    different = len(found.counts)
    if found.n and is_named_like_rows(name) and different == found.n >= _NAMED:
        return "has a text of its own in every row"
    if different > _DIFFERENT * found.n and found.n >= COUNTED:
        return f"has {different:,} different values in {rows:,} rows"
    if different > most:
        return f"has {different:,} different values, more than {most:,}"
    return None


def tells_nothing(found: Numbers) -> str | None:
    """Why numbers of all rows tell nothing; None where they do."""
    if not found.n:
        return "has no value in any row"
    if found.low == found.high and not found.gaps:
        return f"is {found.low:g} in every row"
    return None


def suspicious_code(column: Column) -> float | None:
    """A number such as -999 that may stand for a missing value: extreme, repeated and far off.

    A negative one is far off where no other number is negative.
    """
    gone = missing_in(column)
    values = np.asarray(column.values if gone is None else column.values[~gone])
    if len(values) < COUNTED or values.dtype.kind not in "iuf":
        return None
    for code in (float(values.min()), float(values.max())):
        if abs(code) not in _CODES:
            continue
        others = values[values != code]
        if len(others) < 2 or len(values) - len(others) < 2:
            continue
        low, high = float(others.min()), float(others.max())
        alone = code < 0 <= low
        if alone or min(abs(code - low), abs(code - high)) > max(high - low, 1.0):
            return code
    return None


_MANY_LEVELS = 20  # levels, above which rare ones are merged
_MANY_GAPS, _SOME_GAPS = 0.05, 5  # share of the rows, and rows, for an indicator of gaps
_DATED_ROWS = 60  # rows for indicators of months and weekdays,
_DAYS_A_MONTH, _DAILY_DAYS = 3, 14  # different days for each month, and for weekdays
_HUNDREDS = 3  # different numbers such as 987 that make a thousand and more of 1.234
_FULL_YEAR = re.compile(r"\d{4}")
_DAILY = 3  # days of the calendar for each day that comes, at most, in daily data


@dataclass(frozen=True)
class Reading:
    """The notation of a column, what its values are, and a note where it was a guess."""

    notation: str
    found: Numbers
    note: str = ""


def recognised(texts: Texts, typed: bool, wanted: str, name: str) -> Reading | None:
    """How text is to be read as numbers or dates; None where it is text.

    A table that has types calls its own text text, unless a notation or a mark of a missing value
    shows why its numbers could not be numbers.
    """
    readings = texts.readings
    if wanted:
        readings = {k: v for k, v in readings.items() if k == wanted or k.startswith(f"{wanted} ")}
        if not readings:
            raise unreadable(texts, wanted, name)
    elif typed and "number" in readings and texts.n == texts.told:
        return None
    if not readings:
        return None
    best = _best_number(readings, texts.counts) or _best_date(readings, texts.counts)
    marks = texts.n > texts.told
    if not wanted and marks and best.found.low == best.found.high:
        return None  # "?" and "1" are two levels rather than a number with gaps
    return best


def unreadable(texts: Texts, wanted: str, name: str) -> DataError:
    """Say which value is not what the user calls it."""
    levels = list(texts.counts or ())
    kind = wanted.partition(" ")[0]
    told = [level for level in levels if not is_gap(level)]
    strange = [
        level
        for level in told
        if not any(c.startswith(wanted) for c in candidates([level], forced=True))
    ]
    example = strange[0] if strange else told[0] if told else None
    if example is None:
        return DataError(f"the column {name!r} has no value that could be read as a {kind}.")
    how = f"as {wanted!r}" if " " in wanted else f"as a {kind}"
    more = "and others are written in other ways; " if not strange else ""
    return DataError(
        f"the column {name!r} has {example[:40]!r}, which cannot be read {how}; {more}correct it, "
        f"or say that it stands for a missing value (na=[{example[:40]!r}]; --na on the command "
        "line)."
    )


def _best_number(readings: dict[str, Numbers], counts: Mapping[str, int] | None) -> Reading | None:
    """The likeliest notation of numbers; thousands where a comma has three digits after it."""
    numbers = [notation for notation in readings if notation.startswith("number")]
    if not numbers:
        return None
    first, found = numbers[0], readings[numbers[0]]
    head = " ".join(part for part in first.split(" ")[:2] if part == "number" or part in UNITS)
    money = head.partition(" ")[2] in MONEY
    if first.endswith(f" {LETTERS}"):
        return Reading(first, found, "k, M and bn were read as thousands, millions and billions")
    other = readings.get(f"{head} .,")
    if other is None or _is_same(found, other):
        return Reading(first, found)
    if first == head:
        if money or _has_hundreds(counts, found):  # 1.234 €: three decimals of money are rare
            note = "1.234 was read as a thousand and more, not as 1.234"
            return Reading(f"{head} .,", other, note)
        beside = found.high < 1000 and not np.isclose(1000 * found.mean, other.mean)
        note = "1.234 was read as 1.234, not as a thousand and more (the notation 'number .,')"
        return Reading(first, found, note if beside else "")
    if first == f"{head} ,.":
        return Reading(first, found, "1,234 was read as a thousand and more, not as 1.234")
    return Reading(first, found)


def _has_hundreds(counts: Mapping[str, int] | None, found: Numbers) -> bool:
    """Whether numbers without a point stand beside 1.234 and end where thousands begin."""
    if counts is None or found.high >= 1000:
        return False
    whole = {level.strip().lstrip("+-") for level in counts} - {"999"}
    return sum(level.isdigit() and len(level) == 3 for level in whole) >= _HUNDREDS


def _best_date(readings: dict[str, Numbers], counts: Mapping[str, int] | None) -> Reading:
    """The order of day and month; where both fit, the one that keeps the dates closer together."""
    fits = [order for order in ORDERS if f"date {order}" in readings]
    found = {order: readings[f"date {order}"] for order in fits}
    best = min(fits, key=lambda order: found[order].high - found[order].low)
    note = ""
    if len(fits) > 1 and not _is_same(found[fits[0]], found[fits[1]]):
        told = {"dmy": "day before month", "mdy": "month before day"}.get(best, ORDERS[best])
        note = f"dates such as 01/02/2024 fit two orders and were read {told}"
    if any(not _FULL_YEAR.search(level) and not is_gap(level) for level in counts or ()):
        note += "; " * bool(note) + "years of two digits were read as 1969 to 2068"
    return Reading(f"date {best}", found[best], note)


def _is_same(a: Numbers, b: Numbers) -> bool:
    return (a.low, a.high, a.mean) == (b.low, b.high, b.mean)


def number_input(
    name: str, found: Numbers | None, missing: str, reading: str = "", *, only_days: bool = False
) -> Input:
    """A number or date, with what stands for its gaps."""
    entry = Input(name, None, None, reading)
    if reading.partition(" ")[0] == "date":
        assert found is not None
        entry = replace(entry, parts=("days",) if only_days else date_parts(found))
    if missing not in ("mean", "auto"):
        return entry
    assert found is not None
    if not found.n:
        raise DataError(f"every value of the column {name!r} is missing; drop it.")
    many = found.gaps >= max(_SOME_GAPS, _MANY_GAPS * (found.n + found.gaps))
    return replace(entry, mean=found.mean, gaps=missing == "auto" and many)


def date_parts(found: Numbers) -> tuple[str, ...]:
    """Days; of 60 rows or more also months, where each has 3 days, and weekdays of daily data."""
    parts = ["days"]
    if found.n < _DATED_ROWS:
        return tuple(parts)
    months = [k + 1 for k, count in enumerate(found.months) if count]
    different = np.inf if found.days is None else len(found.days)
    if different >= _DAYS_A_MONTH * len(months):
        parts += [f"month={month}" for month in months[1:]]
    weekdays = [WEEKDAYS[k] for k, count in enumerate(found.weekdays) if count]
    span = found.high - found.low + 1
    if different >= _DAILY_DAYS and span <= _DAILY * different:
        parts += [f"weekday={day}" for day in weekdays[1:]]
    return tuple(parts)


def all_rare(found: Texts, rare: int) -> str | None:
    """Why many levels tell nothing, as none has rows enough; None where one has."""
    counts = found.counts or {}
    if len(counts) <= _MANY_LEVELS or max(counts.values()) >= rare:
        return None
    return f"has {len(counts):,} different values, none of them in {rare} rows or more"


def text_input(name: str, found: Texts, missing: str, rare: int, reading: str = "") -> Input:
    """Text with its levels; rare ones are merged, and gaps are a level where missing="auto"."""
    assert found.counts is not None
    levels, merged = sorted(found.counts), []
    if len(levels) > _MANY_LEVELS:
        merged = [level for level in levels if found.counts[level] < rare]
    kept = [level for level in levels if level not in set(merged)]
    if merged and not kept:
        merged, kept = [], levels
    extra = [OTHER_LEVEL] if merged else []
    extra += [MISSING_LEVEL] if missing == "auto" and found.gaps else []
    kept = [level for level in kept if level not in extra] + extra
    return Input(name, tuple(kept), None, reading, False, tuple(merged))


def told(entry: Input) -> str:
    """How a column is used, in words."""
    if entry.is_date:
        parts = [part.partition("=")[0] for part in entry.parts]
        more = [word for word in ("month", "weekday") if word in parts]
        text = words(entry.reading) + ": days" + "".join(f", {word}s" for word in more)
    elif entry.levels is not None:
        count = len(entry.levels)
        text = f"text, {count} level{'s' * (count != 1)}"
        if entry.merged:
            text += f", {len(entry.merged)} rare ones merged"
    else:
        text = words(entry.reading or "number")
    return text + (", gaps marked" if entry.gaps else "")


Pairs = tuple[tuple[str, str], ...]  # a spelling, and the level that it is read as
_SAME = {"y": "yes", "n": "no", "t": "true", "f": "false"}
_LISTED = 4


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
    listed = "; ".join(told[:_LISTED]) + "; ..." * (len(told) > _LISTED)
    note = f"{listed}; exact_levels=True (--exact-levels) keeps them apart" if same else ""
    return merged, tuple(sorted(same.items())), note
