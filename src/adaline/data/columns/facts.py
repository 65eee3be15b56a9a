"""What `study` collects of all rows, as sums that merge, and the rules that it applies to that.

Facts are levels of text, means and days of dates. Rules say whether columns name the rows, how text
is read, and which levels are merged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.inputs import (
    MISSING_LEVEL,
    OTHER_LEVEL,
    ByName,
    Input,
    missing_in,
    months_of,
    weekdays_of,
)
from adaline.data.columns.options import ColumnOptions
from adaline.data.reading.dates import ORDERS, WEEKDAYS
from adaline.data.reading.notations import LETTERS, MONEY, candidates, is_gap, unit_of
from adaline.data.reading.source import Block, Column, Piece, Source, as_numbers, as_text
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor, branch, mapreduce

Values = TypeVar("Values", dict[str, int], frozenset[float])
MOST_VALUES = 20_000  # different values of a column that are kept; text with more has no levels
ENOUGH_ROWS = 10  # from which on 1, 2, 3, ... counts the rows and a code repeats, not by chance
NAMED_ROWS = 3  # from which on the name of a column is believed
DISTINCT_SHARE = 0.8  # of the rows with a text of their own: then the text names them
MANY_LEVELS = 20  # above which rare levels are merged
DATED_ROWS = 60  # from which on months and weekdays have indicators,
MONTH_DAYS, WEEKDAY_DAYS = 3, 14  # with so many different days for each month, and for weekdays
SHOWN_SPELLINGS = 4
CODES = (99.0, 999.0, 9999.0, 99999.0, 999999.0)  # and their negatives: often missing values
_ROW_NAME = re.compile(
    r"|ids?|index|idx|rows?|row[ ._]?names?|row[ _]?number|no\.?|nr\.?|obs|observation|case(no)?"
    r"|key|record|#|level_0|unnamed: ?\d+(\.\d+)?|(.*[ _.-])?(id|uuid|guid|rownum|rowid)"
)
_CAMEL_CASE_ID = re.compile(r".*[a-z](Id|ID)")
SHORT_LEVELS = {"y": "yes", "n": "no", "t": "true", "f": "false"}


@dataclass(frozen=True)
class Numbers:
    """Numbers or days of a column; `days` are the different ones, None if they are too many."""

    n: int
    mean: float
    gaps: int
    low: float = np.inf
    high: float = -np.inf
    days: frozenset[float] | None = frozenset()

    @property
    def range(self) -> tuple[float, float, float]:
        """What differs if the same texts are read in two notations."""
        return self.low, self.high, self.mean

    def __add__(self, b: Numbers) -> Numbers:
        n = self.n + b.n
        mean = self.mean + (b.mean - self.mean) * (b.n / n if n else 0.0)
        days = None if self.days is None or b.days is None else few(self.days | b.days)
        low, high = min(self.low, b.low), max(self.high, b.high)
        return Numbers(n, mean, self.gaps + b.gaps, low, high, days)


@dataclass(frozen=True)
class Texts:
    """Levels of a column with their counts (None if they are too many), and their notations.

    `told` counts the values that are no mark of a missing value; `readings` has the notations in
    which all of those can be read, and what numbers or dates they are then.
    """

    counts: dict[str, int] | None
    n: int
    gaps: int
    told: int
    readings: dict[str, Numbers]

    def __add__(self, b: Texts) -> Texts:
        counts = None
        if self.counts is not None and b.counts is not None:
            more = {level: n + self.counts.get(level, 0) for level, n in b.counts.items()}
            counts = few(self.counts | more)
        pairs = {n: (self.read(n), b.read(n)) for n in {**self.readings, **b.readings}}
        readings = {n: x + y for n, (x, y) in pairs.items() if x is not None and y is not None}
        return Texts(counts, self.n + b.n, self.gaps + b.gaps, self.told + b.told, readings)

    def read(self, notation: str) -> Numbers | None:
        """What numbers are in a notation; None where it does not read all of them."""
        if not self.told:  # rows without a value fit every notation,
            return Numbers(0, 0.0, self.n + self.gaps)
        plain = notation.removesuffix(f" {LETTERS}")  # and numbers without letters one with them
        return self.readings.get(notation, self.readings.get(plain))


Facts = dict[str, Numbers | Texts]


def few(values: Values) -> Values | None:
    return values if len(values) <= MOST_VALUES else None


def add_facts(a: Facts, b: Facts) -> Facts:
    return {name: fact + b[name] for name, fact in a.items()}  # type: ignore[operator]


@dataclass(frozen=True)
class FactsOf:
    """What columns of a piece of a source hold; it travels to the processes that read.

    `kinds` says how to read each column: "text", "number" or "date". `na` are texts that stand for
    missing values by column; `forced` are columns that the user calls numbers, codes included.
    """

    source: Source
    kinds: Mapping[str, str]
    na: Mapping[str, Sequence[str]]
    forced: Sequence[str] = ()

    def of_all(self, jobs: int | Executor = 1) -> Facts:
        """Of all rows: a pass, unless nothing is to be collected."""
        if not self.kinds:
            return {}
        traveller = replace(self, source=self.source.for_reading())
        return mapreduce(traveller, self.source.descriptors(), add_facts, jobs)

    def __call__(self, piece: Piece) -> Facts:
        return branch(self.of_block, add_facts, self.source.slices(piece))

    def of_block(self, block: Block) -> Facts:
        columns, facts = ByName(block), Facts()
        for name, kind in self.kinds.items():
            column, na = columns[name], self.na.get(name, ())
            if kind == "text":
                facts[name] = texts_of(as_text(column, na), na, name in self.forced)
            else:
                facts[name] = numbers_of(as_numbers(column, "", na)[0], kind == "date")
        return facts


def counts_of(column: Column) -> dict[str, int]:
    """How often each level of text comes; a part of a block keeps the levels of the whole block."""
    codes = column.values if column.missing is None else column.values[~column.missing]
    counts = np.bincount(codes, minlength=len(column.levels)).tolist()
    return {level: n for level, n in zip(column.levels, counts, strict=True) if n}


def texts_of(column: Column, na: Sequence[str], forced: bool) -> Texts:
    counts = counts_of(column)
    n, told = sum(counts.values()), sum(n for one, n in counts.items() if not is_gap(one, na))
    readings = {
        notation: numbers_of(as_numbers(column, notation, na)[0], notation.startswith("date"))
        for notation in candidates(list(counts), na, forced=forced)
    }
    return Texts(few(counts), n, len(column.values) - n, told, readings)


def values_in(column: Column) -> NDArray[Any]:
    missing = missing_in(column)
    return np.asarray(column.values if missing is None else column.values[~missing])


def numbers_of(column: Column, are_days: bool) -> Numbers:
    values = values_in(column)
    n, gaps = len(values), len(column.values) - len(values)
    if not n:
        return Numbers(0, 0.0, gaps)
    middle = float(values[0]) if np.isfinite(values[0]) else 0.0
    with np.errstate(invalid="ignore"):  # of infinities, which have no mean
        mean = middle + float(np.mean(values - middle, dtype=np.float64))
    days = frozenset(np.unique(np.floor(values)).tolist() if are_days else ())
    return Numbers(n, mean, gaps, float(values.min()), float(values.max()), few(days))


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
    n, full = len(values), missing_in(column) is None
    with np.errstate(over="ignore", invalid="ignore"):
        if n >= ENOUGH_ROWS and full and values[0] in (0, 1) and np.all(np.diff(values) == 1):
            return "counts the rows"
        if n < NAMED_ROWS or not full or not is_named_like_rows(name):
            return ""
        if not np.isfinite(values).all() or np.any(values != np.floor(values)):
            return ""
    if len(np.unique(values)) == n:
        return "has a number of its own in every row"
    is_lossy = "has whole numbers beyond 2^53, of which the last digits are lost"
    return is_lossy if are_rounded(values) else ""


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
    values = values_in(column)
    if len(values) < ENOUGH_ROWS or values.dtype.kind not in "iuf":
        return None
    for code in (float(values.min()), float(values.max())):
        others = values[values != code]
        if abs(code) not in CODES or not 2 <= len(others) <= len(values) - 2:
            continue
        low, high = float(others.min()), float(others.max())
        if code < 0 <= low or min(abs(code - low), abs(code - high)) > max(high - low, 1.0):
            return code
    return None


def unreadable(name: str, fact: Texts, how: str) -> DataError:
    """The first value that is not what the user calls its column."""
    levels = [level for level in fact.counts or () if not is_gap(level)]
    ways = {level: candidates([level], forced=True) for level in levels}
    odd = [level for level in levels if not any(way.startswith(how) for way in ways[level])]
    example = (odd or levels or ["no value"])[0][:40]
    return DataError(
        f"the column {name!r} has {example!r}, which cannot be read as {how!r} with the others; "
        "correct it, or leave it out",
        ("na", [example], "takes it as missing"),
    )


def too_many_levels(name: str, fact: Texts, most: int) -> DataError:
    some = ", ".join(map(repr, sorted(fact.counts or ())[:2]))
    return DataError(
        f"the column {name!r} has more than {most} levels ({some or 'some'}, ...), which may be "
        "names or numbers of things; make numbers of it",
        ("ignore", [name], "leaves it out"),
        ("most_levels", 10 * most, "allows more levels"),
    )


def best_number(readings: Mapping[str, Numbers], levels: Iterable[str]) -> tuple[str, str]:
    """The likeliest notation of numbers, and a note if it is a guess; "" if there is none."""
    first = next((notation for notation in readings if notation.startswith("number")), "")
    if not first:
        return "", ""
    if first.endswith(f" {LETTERS}"):
        return first, "k, M and bn were read as thousands, millions and billions"
    unit = unit_of(first)
    plain = f"number {unit}".strip()
    numbers, other = readings[first], readings.get(f"{plain} .,")
    if other is None or numbers.range == other.range:
        return first, ""
    if first == f"{plain} ,.":
        return first, "1,234 was read as a thousand and more, not as 1.234"
    # Three or more numbers such as 987 beside 1.234 end where thousands begin.
    whole = {level.strip().lstrip("+-") for level in levels} - {"999"}
    hundreds = sum(level.isdigit() and len(level) == 3 for level in whole)
    if first == plain and (unit in MONEY or (hundreds >= 3 and numbers.high < 1000)):
        return f"{plain} .,", "1.234 was read as a thousand and more, not as 1.234"
    if first == plain and numbers.high < 1000 and not np.isclose(1000 * numbers.mean, other.mean):
        advice = "not as a thousand and more (the notation 'number .,')"
        return first, f"1.234 was read as 1.234, {advice}"
    return first, ""


def best_date(readings: Mapping[str, Numbers], levels: Iterable[str]) -> tuple[str, str]:
    """The order of day and month; if both fit, the one that keeps the dates closer together."""
    dates = {order: readings[f"date {order}"] for order in ORDERS if f"date {order}" in readings}
    best = min(dates, key=lambda order: dates[order].high - dates[order].low)
    notes = []
    if len({numbers.range for numbers in dates.values()}) > 1:
        order = {"dmy": "day before month", "mdy": "month before day"}.get(best, ORDERS[best])
        notes.append(f"dates such as 01/02/2024 fit two orders and were read {order}")
    if any(not re.search(r"\d{4}", level) and not is_gap(level) for level in levels):
        notes.append("years of two digits were read as 1969 to 2068")
    return f"date {best}", "; ".join(notes)


def date_parts(dates: Numbers) -> tuple[str, ...]:
    """Days; of 60 rows or more also months, if each has 3 days, and weekdays of daily data."""
    if dates.n < DATED_ROWS:
        return ("days",)
    # So many days that they are not kept have every month and weekday.
    days = np.arange(366.0) if dates.days is None else np.array(sorted(dates.days))
    n = np.inf if dates.days is None else len(days)
    months, weekdays = np.unique(months_of(days)).tolist(), np.unique(weekdays_of(days)).tolist()
    parts = ["days"]
    if n >= MONTH_DAYS * len(months):
        parts += [f"month={month}" for month in months[1:]]
    if n >= WEEKDAY_DAYS and dates.high - dates.low + 1 <= 3 * n:  # nearly every day is there
        parts += [f"weekday={WEEKDAYS[day]}" for day in weekdays[1:]]
    return tuple(parts)


def text_input(name: str, counts: Mapping[str, int], gaps: bool, least_rows: int) -> Input:
    """Text with its levels; rare ones are merged, and gaps may be a level."""
    rare = {level for level, n in counts.items() if n < least_rows}
    if len(counts) <= MANY_LEVELS or len(rare) == len(counts):
        rare = set()
    extra = (*[OTHER_LEVEL] * bool(rare), *[MISSING_LEVEL] * gaps)
    levels = sorted(counts.keys() - rare - {*extra})
    return Input(name, (*levels, *extra), merged=tuple(sorted(rare)))


def merge_levels(
    counts: Mapping[str, int], exact: bool
) -> tuple[dict[str, int], tuple[tuple[str, str], ...], str]:
    """How often each level comes after merging, which spellings were merged, and a note on it.

    Levels are the same if they differ only in case or blanks, or as Y and yes do, unless `exact`.
    The most frequent spelling names them, without surrounding blanks.

    >>> counts, pairs, note = merge_levels({"no": 5, "Yes": 9, "YES ": 3}, False)
    >>> counts, pairs
    ({'no': 5, 'Yes': 12}, (('YES ', 'Yes'),))
    >>> note
    "'YES ' (3 of 12 rows) is read as 'Yes'; exact_levels=True (--exact-levels) keeps them apart"
    """
    meanings: dict[str, list[str]] = {}
    for level in [] if exact else sorted(counts):
        meanings.setdefault(" ".join(level.split()).casefold(), []).append(level)
    for short, long in SHORT_LEVELS.items():
        if short in meanings and long in meanings:
            meanings[long] += meanings.pop(short)
    meanings.pop("", None)  # blanks alone are a missing value or nothing
    same: dict[str, str] = {}
    for alike in meanings.values():
        usual = " ".join(max(alike, key=lambda level: counts[level]).split())
        same |= {level: usual for level in alike if len(alike) > 1 and level != usual}
    merged = Counter[str]()
    for level, n in counts.items():
        merged[same.get(level, level)] += n
    notes = [
        f"{level!r} ({counts[level]:,} of {merged[usual]:,} rows) is read as {usual!r}"
        for level, usual in sorted(same.items())[:SHOWN_SPELLINGS]
    ]
    notes += ["..."] * (len(same) > SHOWN_SPELLINGS)
    advice = "; exact_levels=True (--exact-levels) keeps them apart" if same else ""
    return dict(merged), tuple(sorted(same.items())), "; ".join(notes) + advice
