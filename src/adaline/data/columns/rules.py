"""Rules about columns: whether they name the rows, how text is read, which levels are merged.

`study` applies them to what it knows of all rows (`facts`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.facts import Numbers, Texts
from adaline.data.columns.inputs import (
    MISSING_LEVEL,
    OTHER_LEVEL,
    Input,
    missing_in,
    months_of,
    weekdays_of,
)
from adaline.data.columns.options import ColumnOptions
from adaline.data.reading.dates import ORDERS, WEEKDAYS
from adaline.data.reading.notations import LETTERS, MONEY, UNITS, candidates, is_gap
from adaline.data.reading.source import Column
from adaline.errors import DataError

ENOUGH_ROWS = 10  # from which on 1, 2, 3, ... counts the rows and a code repeats, not by chance
NAMED_ROWS = 3  # from which on the name of a column is believed
DISTINCT_SHARE = 0.8  # of the rows with a text of their own: then the text names them
MANY_LEVELS = 20  # above which rare levels are merged
DATED_ROWS = 60  # from which on months and weekdays have indicators,
MONTH_DAYS, WEEKDAY_DAYS = 3, 14  # with so many different days for each month, and for weekdays
SHOWN_SPELLINGS = 4
_CODES = (99.0, 999.0, 9999.0, 99999.0, 999999.0)  # and their negatives: often a missing value
_ROW_NAME = re.compile(
    r"|ids?|index|idx|rows?|row[ ._]?names?|row[ _]?number|no\.?|nr\.?|obs|observation|case(no)?"
    r"|key|record|#|level_0|unnamed: ?\d+(\.\d+)?|(.*[ _.-])?(id|uuid|guid|rownum|rowid)"
)
_CAMEL_CASE_ID = re.compile(r".*[a-z](Id|ID)")
_SHORT_LEVELS = {"y": "yes", "n": "no", "t": "true", "f": "false"}


def is_named_like_rows(name: str) -> bool:
    """Whether a name is one that numbers of rows have.

    >>> [is_named_like_rows(n) for n in ("", "Unnamed: 0", "customer_id", "userId", "width")]
    [True, True, True, True, False]
    """
    plain = name.strip()
    return bool(_ROW_NAME.fullmatch(plain.lower()) or _CAMEL_CASE_ID.fullmatch(plain))


def counts_rows(column: Column, name: str) -> str:
    """Why numbers of the first rows are numbers of rows; "" if they are not."""
    values = np.asarray(column.values)
    n = len(values)
    if n >= ENOUGH_ROWS and values[0] in (0, 1) and column.missing is None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.all(values[1:] - values[:-1] == 1):
                return "counts the rows"
    if n < NAMED_ROWS or not is_named_like_rows(name) or missing_in(column) is not None:
        return ""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(values).all() and np.all(values == np.floor(values))
    if whole and len(np.unique(values)) == n:
        return "has a number of its own in every row"
    if whole and are_rounded(values):
        return "has whole numbers beyond 2^53, of which the last digits are lost"
    return ""


def are_rounded(values: NDArray[np.generic]) -> bool:
    """Whether floats hold numbers so large that different whole numbers became the same."""
    return values.dtype.kind == "f" and bool(np.any(np.abs(values) >= 2.0**53))


def names_rows(name: str, fact: Texts, counts: Mapping[str, int], options: ColumnOptions) -> str:
    """Why text names the rows, or has too many or too rare levels; "" if it does not."""
    different, most, least = len(counts), options.most_levels, options.least_rows
    if fact.counts is None:
        return "has more than 20,000 different values"
    if fact.n and is_named_like_rows(name) and different == fact.n >= NAMED_ROWS:
        return "has a text of its own in every row"
    if different > DISTINCT_SHARE * fact.n and fact.n >= ENOUGH_ROWS:
        return f"has {different:,} different values in {fact.n + fact.gaps:,} rows"
    if different > most:
        return f"has {different:,} different values, more than {most:,}"
    if different > MANY_LEVELS and max(counts.values()) < least:
        # Indicators of them would only know the same few rows again.
        return f"has {different:,} different values, none of them in {least} rows or more"
    return ""


def suspicious_code(column: Column) -> float | None:
    """A number such as -999 that may stand for a missing value: extreme, repeated and far off.

    A negative one is far off if no other number is negative.
    """
    gone = missing_in(column)
    values = np.asarray(column.values if gone is None else column.values[~gone])
    if len(values) < ENOUGH_ROWS or values.dtype.kind not in "iuf":
        return None
    for code in (float(values.min()), float(values.max())):
        others = values[values != code]
        if abs(code) not in _CODES or not 2 <= len(others) <= len(values) - 2:
            continue
        low, high = float(others.min()), float(others.max())
        if code < 0 <= low or min(abs(code - low), abs(code - high)) > max(high - low, 1.0):
            return code
    return None


def unreadable(name: str, fact: Texts, how: str) -> DataError:
    """Which value is not what the user calls it."""

    def is_readable(level: str) -> bool:
        return any(notation.startswith(how) for notation in candidates([level], forced=True))

    kind = how.partition(" ")[0]
    levels = [level for level in fact.counts or () if not is_gap(level)]
    if not levels:
        return DataError(f"the column {name!r} has no value that could be read as a {kind}.")
    example = min(levels, key=is_readable)  # the first that is not readable, if there is one
    more = "and others are written in other ways; " * is_readable(example)
    example = example[:40]
    as_what = f"as {how!r}" if " " in how else f"as a {kind}"
    return DataError(
        f"the column {name!r} has {example!r}, which cannot be read {as_what}; {more}correct it, "
        "or leave it out",
        ("na", [example], "takes it as missing"),
    )


def too_many_levels(name: str, fact: Texts, most: int) -> DataError:
    """A column of text that cannot be a column of levels."""
    some = sorted(fact.counts)[:2] if fact.counts else []
    shown = f" ({some[0]!r}, {some[1]!r}, ...)" if len(some) == 2 else ""
    return DataError(
        f"the column {name!r} has more than {most} levels{shown}, which may be names or numbers of "
        "things; make numbers of it",
        ("ignore", [name], "leaves it out"),
        ("most_levels", 10 * most, "allows more levels"),
    )


def best_number(
    readings: Mapping[str, Numbers], counts: Mapping[str, int] | None
) -> tuple[str, str] | None:
    """The likeliest notation of numbers, and a note if it is a guess; None if there is none."""
    first = next((notation for notation in readings if notation.startswith("number")), None)
    if first is None:
        return None
    if first.endswith(f" {LETTERS}"):
        return first, "k, M and bn were read as thousands, millions and billions"
    unit = next((part for part in first.split(" ")[1:2] if part in UNITS), "")
    plain = f"number {unit}".strip()
    numbers, other = readings[first], readings.get(f"{plain} .,")
    if other is None or numbers.range == other.range:
        return first, ""
    if first == f"{plain} ,.":
        return first, "1,234 was read as a thousand and more, not as 1.234"
    # Three or more numbers such as 987 beside 1.234 end where thousands begin.
    whole = {level.strip().lstrip("+-") for level in counts or ()} - {"999"}
    hundreds = sum(level.isdigit() and len(level) == 3 for level in whole)
    if first == plain and (unit in MONEY or (hundreds >= 3 and numbers.high < 1000)):
        return f"{plain} .,", "1.234 was read as a thousand and more, not as 1.234"
    if first == plain and numbers.high < 1000 and not np.isclose(1000 * numbers.mean, other.mean):
        advice = "not as a thousand and more (the notation 'number .,')"
        return first, f"1.234 was read as 1.234, {advice}"
    return first, ""


def best_date(readings: Mapping[str, Numbers], counts: Mapping[str, int] | None) -> tuple[str, str]:
    """The order of day and month; if both fit, the one that keeps the dates closer together."""
    dates = {order: readings[f"date {order}"] for order in ORDERS if f"date {order}" in readings}
    best = min(dates, key=lambda order: dates[order].high - dates[order].low)
    notes = []
    if len({numbers.range for numbers in dates.values()}) > 1:
        order = {"dmy": "day before month", "mdy": "month before day"}.get(best, ORDERS[best])
        notes.append(f"dates such as 01/02/2024 fit two orders and were read {order}")
    if any(not re.search(r"\d{4}", level) and not is_gap(level) for level in counts or ()):
        notes.append("years of two digits were read as 1969 to 2068")
    return f"date {best}", "; ".join(notes)


def date_parts(dates: Numbers) -> tuple[str, ...]:
    """Days; of 60 rows or more also months, if each has 3 days, and weekdays of daily data."""
    if dates.n < DATED_ROWS:
        return ("days",)
    many = dates.days is None  # so many days have every month and weekday
    days = np.arange(366.0) if many else np.array(sorted(dates.days or ()))
    n = np.inf if many else len(days)
    months, weekdays = np.unique(months_of(days)).tolist(), np.unique(weekdays_of(days)).tolist()
    parts = ["days"]
    if n >= MONTH_DAYS * len(months):
        parts += [f"month={month}" for month in months[1:]]
    if n >= WEEKDAY_DAYS and dates.high - dates.low + 1 <= 3 * n:  # nearly every day is there
        parts += [f"weekday={WEEKDAYS[day]}" for day in weekdays[1:]]
    return tuple(parts)


def text_input(name: str, counts: Mapping[str, int], gaps: bool, least_rows: int) -> Input:
    """Text with its levels; rare ones are merged, and gaps may be a level."""
    levels = sorted(counts)
    many = len(levels) > MANY_LEVELS
    merged = tuple(level for level in levels if many and counts[level] < least_rows)
    if len(merged) == len(levels):
        merged = ()
    extra = (*[OTHER_LEVEL] * bool(merged), *[MISSING_LEVEL] * gaps)
    kept = (level for level in levels if level not in {*merged, *extra})
    return Input(name, (*kept, *extra), merged=merged)


def merge_spellings(
    counts: Mapping[str, int], exact: bool
) -> tuple[dict[str, int], tuple[tuple[str, str], ...], str]:
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
    for short, long in _SHORT_LEVELS.items():
        if short in meanings and long in meanings:
            meanings[long] += meanings.pop(short)
    meanings.pop("", None)  # blanks alone are a missing value or nothing
    same: dict[str, str] = {}
    for alike in meanings.values():
        usual = " ".join(max(alike, key=lambda level: counts[level]).split())
        same |= {level: usual for level in alike if len(alike) > 1 and level != usual}
    merged: dict[str, int] = {}
    for level, n in counts.items():
        merged[same.get(level, level)] = merged.get(same.get(level, level), 0) + n
    pairs = tuple(sorted(same.items()))
    notes = [
        f"{level!r} ({counts[level]:,} of {merged[usual]:,} rows) is read as {usual!r}"
        for level, usual in pairs[:SHOWN_SPELLINGS]
    ]
    notes += ["..."] * (len(pairs) > SHOWN_SPELLINGS)
    advice = "; exact_levels=True (--exact-levels) keeps them apart" if pairs else ""
    return merged, pairs, "; ".join(notes) + advice
