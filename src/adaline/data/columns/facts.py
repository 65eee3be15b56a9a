"""What an encoding has to know of all rows, as sums that merge: levels of text, means, dates."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import ByName, missing_in
from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.magnitudes import LETTERS
from adaline.data.reading.notations import candidates, is_gap
from adaline.data.reading.source import Block, Column, Piece, Source
from adaline.sums.mapreduce import branch

_KEPT = 20_000  # levels of a column that are counted; more are no levels


@dataclass(frozen=True)
class Numbers:
    """Numbers or dates of a column: how many, their mean and range, and how many are missing.

    Dates have counts of their months (12) and weekdays (7), and the different days, None where
    they are too many to keep.
    """

    n: int
    mean: float
    gaps: int
    low: float = np.inf
    high: float = -np.inf
    months: tuple[int, ...] = ()
    weekdays: tuple[int, ...] = ()
    days: frozenset[int] | None = frozenset()

    def __add__(self, b: Numbers) -> Numbers:
        n = self.n + b.n
        return Numbers(
            n,
            self.mean + (b.mean - self.mean) * (b.n / n if n else 0.0),
            self.gaps + b.gaps,
            min(self.low, b.low),
            max(self.high, b.high),
            _added(self.months, b.months),
            _added(self.weekdays, b.weekdays),
            _both(self.days, b.days),
        )


@dataclass(frozen=True)
class Texts:
    """Levels of a column of text with their counts, and in which notations all can be read.

    Attributes
    ----------
    counts : dict or None
        None where the levels are too many to keep.
    gaps : int
        Missing values.
    told : int
        Values that are there and no mark of a missing value.
    readings : dict
        Notation to what the numbers or dates are.
    """

    counts: dict[str, int] | None
    n: int
    gaps: int
    told: int
    readings: dict[str, Numbers]

    def __add__(self, b: Texts) -> Texts:
        return Texts(
            _counted(self.counts, b.counts),
            self.n + b.n,
            self.gaps + b.gaps,
            self.told + b.told,
            self._readings(b),
        )

    def _readings(self, b: Texts) -> dict[str, Numbers]:
        """Notations of both; rows without a value fit every notation."""
        if not self.told or not b.told:
            kept, other = (b, self) if not self.told else (self, b)
            nothing = Numbers(0, 0.0, other.n + other.gaps)
            return {notation: found + nothing for notation, found in kept.readings.items()}
        both = {**self.readings, **b.readings}
        found = {
            notation: (_reading(self.readings, notation), _reading(b.readings, notation))
            for notation in both
        }
        return {n: mine + other for n, (mine, other) in found.items() if mine and other}


@dataclass(frozen=True)
class Facts:
    """Of every column that matters, over all rows."""

    texts: dict[str, Texts]
    numbers: dict[str, Numbers]

    def __add__(self, b: Facts) -> Facts:
        return Facts(
            {name: found + b.texts[name] for name, found in self.texts.items()},
            {name: found + b.numbers[name] for name, found in self.numbers.items()},
        )


@dataclass(frozen=True)
class Wanted:
    """Which columns to look at, and how: text, numbers and dates by name.

    `forced` are columns that the user calls numbers, codes such as 01234 included; `marks` are
    texts that stand for a missing value in some columns, and `na` in all.
    """

    text: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def na_of(self, name: str) -> tuple[str, ...]:
        """Texts that stand for a missing value in a column."""
        return (*self.na, *self.marks.get(name, ()))


def facts_of(piece: Piece, source: Source, wanted: Wanted) -> Facts:
    """What a piece of a source tells."""
    of_block = functools.partial(facts_of_block, wanted=wanted)
    add: Callable[[Facts, Facts], Facts] = operator.add
    return branch(of_block, add, source.slices(piece))


def facts_of_block(block: Block, wanted: Wanted) -> Facts:
    """What a block tells."""
    texts, numbers, columns = {}, {}, ByName(block)
    for name in wanted.text:
        na = wanted.na_of(name)
        texts[name] = texts_of(as_text(columns[name], na), na, name in wanted.forced)
    for name in (*wanted.numbers, *wanted.dates):
        column, _ = as_numbers(columns[name], "", wanted.na_of(name))
        numbers[name] = numbers_of(column, name in wanted.dates)
    return Facts(texts, numbers)


def _reading(readings: dict[str, Numbers], notation: str) -> Numbers | None:
    """What numbers are in a notation; those without letters are the same with them."""
    return readings.get(notation, readings.get(notation.removesuffix(f" {LETTERS}")))


def texts_of(column: Column, na: Sequence[str] = (), forced: bool = False) -> Texts:
    """Of a column of text: what its rows have, which may be less than all levels."""
    codes = column.values if column.missing is None else column.values[~column.missing]
    count = np.bincount(codes, minlength=len(column.levels))
    there = [level for level, n in zip(column.levels, count.tolist(), strict=True) if n]
    told = sum(
        int(n) for level, n in zip(column.levels, count, strict=True) if not is_gap(level, na)
    )
    readings = {}
    for notation in candidates(there, na, forced=forced):
        found, _ = as_numbers(column, notation, na)
        readings[notation] = numbers_of(found, notation.startswith("date"))
    counts = {level: int(n) for level, n in zip(column.levels, count, strict=True) if n}
    kept = counts if len(counts) <= _KEPT else None
    return Texts(kept, len(codes), len(column.values) - len(codes), told, readings)


def numbers_of(column: Column, dates: bool = False) -> Numbers:
    """Of a column of numbers, or of days."""
    gone = missing_in(column)
    there = column.values if gone is None else column.values[~gone]
    gaps = len(column.values) - len(there)
    if not len(there):
        return Numbers(0, 0.0, gaps)
    middle = float(there[0]) if np.isfinite(there[0]) else 0.0
    with np.errstate(invalid="ignore"):  # of infinities, which have no mean
        mean = middle + float(np.mean(there - middle, dtype=np.float64))
    range_ = float(there.min()), float(there.max())
    if not dates:
        return Numbers(len(there), mean, gaps, *range_)
    days = np.floor(there).astype(np.int64)
    different = np.unique(days)
    return Numbers(
        len(there),
        mean,
        gaps,
        *range_,
        tuple(np.bincount(months_of(days) - 1, minlength=12).tolist()),
        tuple(np.bincount((days + 3) % 7, minlength=7).tolist()),
        frozenset(different.tolist()) if len(different) <= _KEPT else None,
    )


def months_of(days: NDArray[Any]) -> NDArray[np.int64]:
    """The month, 1 to 12, of days since 1970-01-01."""
    whole = np.floor(days).astype(np.int64).astype("datetime64[D]")
    return np.asarray(whole.astype("datetime64[M]").astype(np.int64) % 12 + 1)


def _added(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True)) if a and b else a or b


def _both(a: frozenset[int] | None, b: frozenset[int] | None) -> frozenset[int] | None:
    both = None if a is None or b is None else a | b
    return both if both is not None and len(both) <= _KEPT else None


def _counted(a: dict[str, int] | None, b: dict[str, int] | None) -> dict[str, int] | None:
    if a is None or b is None:
        return None
    both = a | {level: n + a.get(level, 0) for level, n in b.items()}
    return both if len(both) <= _KEPT else None
