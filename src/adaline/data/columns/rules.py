"""What a column becomes, and why it is left out: rules on its name, its first rows and its facts.

`look.study` asks `Rules` about every column, once `recognise` has decided how it is read.
docs/how-to/messy-tables.md is the same for users.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.data.columns.facts import Facts
from adaline.data.columns.inputs import (
    MISSING_LEVEL,
    OTHER_LEVEL,
    ByName,
    Input,
    calendar_of,
    missing_in,
    values_in,
)
from adaline.data.columns.options import ColumnOptions
from adaline.data.reading.dates import WEEKDAYS
from adaline.data.reading.notations import MISSING, several
from adaline.data.reading.source import Column, Source, without_marks
from adaline.errors import DataError

NO_VALUE = "has no value in any row"
ENOUGH_ROWS = 10  # from which on a pattern is no chance: 1, 2, 3, ... or a code that repeats
MANY_LEVELS = 20  # above which rare levels are merged
ROW_NAME = re.compile(
    r"(?i:|ids?|index|idx|rows?|row[ ._]?names?|row[ _]?number|no\.?|nr\.?|obs|observation"
    r"|case(no)?|key|record|#|level_0|unnamed: ?\d+(\.\d+)?"
    r"|(.*[ _.-])?(id|uuid|guid|rownum|rowid))|.*[a-z](Id|ID)"
)
SHORT_LEVELS = {"y": "yes", "n": "no", "t": "true", "f": "false"}


@dataclass(frozen=True)
class Verdict:
    """What a column becomes, or could become; why it is left out, or what is doubtful."""

    name: str
    entry: Input | None
    why: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Rules:
    """Decides on columns by the options, by the first rows and by facts about all rows."""

    options: ColumnOptions
    source: Source
    head: ByName
    facts: Mapping[str, Facts]

    @property
    def auto(self) -> bool:
        return self.options.missing == "auto"

    def keeps(self, name: str) -> bool:
        """Whether a column is used whatever it looks like: if it is named, or of an array."""
        return self.options.keeps(name) or self.source.is_matrix

    def of_inputs(self, read: Sequence[Verdict]) -> list[Verdict]:
        """Decide on all inputs; the last one that can be used is not left out."""
        verdicts = [self.of_input(verdict) for verdict in read]
        if all(verdict.why for verdict in verdicts):
            k = next((k for k, verdict in enumerate(verdicts) if verdict.entry is not None), None)
            if k is None:
                raise self.unusable(verdicts[0])
            note = f"{verdicts[k].why}; it is used all the same, as there is no other column"
            verdicts[k] = replace(verdicts[k], why="", note=note)
        return verdicts

    def of_input(self, read: Verdict) -> Verdict:
        """The input with what all rows say, or why it is left out."""
        name, entry, fact = read.name, read.entry, self.facts.get(read.name)
        if entry is None:
            verdict = read
        elif fact is not None and not fact.n and (self.auto or entry.levels is None):
            verdict = Verdict(name, None, NO_VALUE)
        elif entry.levels is None:
            verdict = self.of_numbers(read, entry, fact)
        else:
            verdict = self.of_text(read, entry)
        if verdict.entry is not None:
            return replace(verdict, why="") if self.keeps(name) else verdict
        has_values = fact is not None and fact.n > 0
        is_required = self.keeps(name) if verdict.why != NO_VALUE else self.source.is_matrix
        if is_required or not (self.auto or has_values):
            raise self.unusable(verdict)
        return verdict

    def of_numbers(self, read: Verdict, entry: Input, fact: Facts | None) -> Verdict:
        """Numbers or dates, and what stands for their gaps."""
        column, why, note = self.head[read.name], "", read.note
        if fact is not None and self.options.missing in ("mean", "auto"):
            if self.auto and fact.low == fact.high and not fact.gaps:
                why = f"is {fact.low:g} in every row"
            # Gaps of 5 % of the rows, and of five, are enough to give an indicator its weight.
            many = fact.gaps >= max(5, 0.05 * (fact.n + fact.gaps))
            entry = replace(entry, mean=fact.mean, gaps=self.auto and many)
        if fact is not None and entry.is_date:
            entry = replace(entry, parts=entry.parts or date_parts(fact))
        if column.kind == "number" and not self.source.is_matrix:
            why = why or counts_rows(column, read.name)
            code = suspicious_code(without_marks(column, self.options.na))
            doubt = f"{code:g} comes often and may mean a missing value" if code is not None else ""
            note = "; ".join(filter(None, (note, doubt)))
        return Verdict(read.name, entry, why, note)

    def of_text(self, read: Verdict, entry: Input) -> Verdict:
        """Text with its levels, of which rare ones are merged; gaps may be one."""
        options, least, fact = self.options, self.options.least_rows, self.facts[read.name]
        counts, spellings, note = merge_levels(fact.counts or {}, options.exact_levels)
        why = names_rows(read.name, fact, counts, options)
        if why and not entry.reading and not self.keeps(read.name):
            mixed = several(list(counts), options.na)
            why = f"holds {mixed}" if mixed else why
        if fact.counts is None or len(counts) > options.most_levels:
            return Verdict(read.name, None, why)
        rare = {level for level, n in counts.items() if n < least}
        if len(counts) <= MANY_LEVELS or len(rare) == len(counts):
            rare = set()
        extra = (*[OTHER_LEVEL] * bool(rare), *[MISSING_LEVEL] * (self.auto and fact.gaps > 0))
        levels = (*sorted(counts.keys() - rare - {*extra}), *extra)
        if self.auto and len(levels) < 2 and not why:
            why = f"is {levels[0]!r} in every row" + ", however it is spelled" * bool(spellings)
        merged = tuple(sorted(rare))
        entry = replace(entry, levels=levels, merged=merged, spellings=spellings)
        return Verdict(read.name, entry, why, note)

    def of_target(self, read: Verdict) -> Verdict:
        """How the target is read; no entry if it is taken as it is."""
        entry, options = read.entry, self.options
        if entry is None or (entry.levels is None and (entry.reading or entry.marks or options.na)):
            return replace(read, why="")
        if entry.levels is None:
            return Verdict(read.name, None)
        counts = self.facts[read.name].counts or {}
        _, spellings, note = merge_levels(counts, options.exact_levels)
        as_it_is = (self.source.typed and not options.na) or entry.reading == "text"
        if as_it_is and not spellings and not entry.reading:
            return Verdict(read.name, None)
        levels = () if as_it_is else self.head[read.name].levels
        gaps = [f"{g!r} is a class; na=[{g!r}] takes it as missing" for g in levels if g in MISSING]
        note = "; ".join(filter(None, (*gaps[:1], note)))
        return Verdict(read.name, replace(entry, reading="text", spellings=spellings), note=note)

    def unusable(self, verdict: Verdict) -> DataError:
        """A column that has to be used, and cannot."""
        why, most = verdict.why, self.options.most_levels
        advice: list[tuple[str, Any, str]] = [("ignore", [verdict.name], "leaves it out")]
        if verdict.name in self.facts and why != NO_VALUE:
            why = f"has more than {most} levels, which may be names or numbers of things"
            advice.append(("most_levels", 10 * most, "allows more levels"))
        what = f"the column {verdict.name!r} {why}"
        return DataError(f"{self.source.name}: {what}", *advice)


def is_named_like_rows(name: str) -> bool:
    """Whether a name is one that row numbers have.

    >>> [is_named_like_rows(n) for n in ("", "Unnamed: 0", "customer_id", "userId", "width")]
    [True, True, True, True, False]
    """
    return ROW_NAME.fullmatch(name.strip()) is not None


def counts_rows(column: Column, name: str) -> str:
    """Why numbers of the first rows are row numbers; "" if they are not."""
    values = column.values
    if missing_in(column) is not None:
        return ""
    with np.errstate(over="ignore", invalid="ignore"):
        if len(values) >= ENOUGH_ROWS and values[0] in (0, 1) and np.all(np.diff(values) == 1):
            return "counts the rows"
        if not is_named_like_rows(name) or np.any(values != np.floor(values)):
            return ""
    if len(np.unique(values)) == len(values):
        return "has a number of its own in every row"
    is_lossy = values.dtype.kind == "f" and np.any(np.abs(values) >= 2.0**53)
    return "has whole numbers beyond 2^53, of which the last digits are lost" if is_lossy else ""


def names_rows(name: str, fact: Facts, counts: Mapping[str, int], options: ColumnOptions) -> str:
    """Why text names the rows, or has too many or too rare levels; "" if it does not."""
    different, most, least = len(counts), options.most_levels, options.least_rows
    if fact.counts is None:
        return "has more than 20,000 different values"
    if fact.n and is_named_like_rows(name) and different == fact.n:
        return "has a text of its own in every row"
    if different > 0.8 * fact.n and fact.n >= ENOUGH_ROWS:
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
        if (
            abs(code) not in (99, 999, 9999, 99999, 999999)
            or not 2 <= len(others) <= len(values) - 2
        ):
            continue
        low, high = float(others.min()), float(others.max())
        if code < 0 <= low or min(abs(code - low), abs(code - high)) > max(high - low, 1.0):
            return code
    return None


def date_parts(dates: Facts) -> tuple[str, ...]:
    """Days; of 60 rows or more also months, if each has 3 days, and weekdays of daily data."""
    days, parts = np.array(sorted(dates.days)), ["days"]
    if dates.n < 60:
        return ("days",)
    months, weekdays = (np.unique(calendar_of(days, what)) for what in ("month", "weekday"))
    if len(days) >= 3 * len(months):
        parts += [f"month={month}" for month in months[1:]]
    # Two weeks, of which nearly every day is there.
    if len(days) >= 14 and dates.high - dates.low + 1 <= 3 * len(days):
        parts += [f"weekday={WEEKDAYS[day]}" for day in weekdays[1:]]
    return tuple(parts)


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
        if plain := " ".join(level.split()).casefold():  # blanks are a missing value or nothing
            meanings.setdefault(SHORT_LEVELS.get(plain, plain), []).append(level)
    spellings: dict[str, str] = {}
    for alike in meanings.values():
        # Of equally frequent ones a long form names the level: no rather than n.
        usual = max(alike, key=lambda level: (counts[level], len(level.strip())))
        usual = " ".join(usual.split())
        spellings |= {level: usual for level in alike if len(alike) > 1 and level != usual}
    merged = Counter[str]()
    for level, n in counts.items():
        merged[spellings.get(level, level)] += n
    pairs = tuple(sorted(spellings.items()))
    notes = [
        f"{level!r} ({counts[level]:,} of {merged[usual]:,} rows) is read as {usual!r}"
        for level, usual in pairs[:4]
    ]
    notes += ["..."] * (len(pairs) > 4)
    advice = "; exact_levels=True (--exact-levels) keeps them apart" if pairs else ""
    return dict(merged), pairs, "; ".join(notes) + advice
