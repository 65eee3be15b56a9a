"""What `study` collects of all rows, as sums that merge: levels of text, means, days of dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from adaline.data.columns.inputs import ByName, missing_in
from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.notations import LETTERS, candidates, is_gap
from adaline.data.reading.source import Block, Column, Piece, Source
from adaline.sums.mapreduce import Executor, branch, mapreduce

_Values = TypeVar("_Values", dict[str, int], frozenset[float])
MOST_VALUES = 20_000  # different values of a column that are kept; text with more has no levels


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
        days = None if self.days is None or b.days is None else _few(self.days | b.days)
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
            counts = _few(self.counts | more)
        readings = {}
        for notation in {**self.readings, **b.readings}:
            mine, other = self._reading(notation), b._reading(notation)
            if mine is not None and other is not None:
                readings[notation] = mine + other
        return Texts(counts, self.n + b.n, self.gaps + b.gaps, self.told + b.told, readings)

    def _reading(self, notation: str) -> Numbers | None:
        """What numbers are in a notation."""
        if not self.told:  # rows without a value fit every notation,
            return Numbers(0, 0.0, self.n + self.gaps)
        plain = notation.removesuffix(f" {LETTERS}")  # and numbers without letters one with them
        return self.readings.get(notation, self.readings.get(plain))


Facts = dict[str, Numbers | Texts]


def _few(values: _Values) -> _Values | None:
    return values if len(values) <= MOST_VALUES else None


def _add(a: Facts, b: Facts) -> Facts:
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
        return mapreduce(traveller, self.source.descriptors(), _add, jobs)

    def __call__(self, piece: Piece) -> Facts:
        return branch(self.of_block, _add, self.source.slices(piece))

    def of_block(self, block: Block) -> Facts:
        """What a block tells."""
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
    """Of a column of text."""
    counts = counts_of(column)
    n, told = sum(counts.values()), sum(n for one, n in counts.items() if not is_gap(one, na))
    readings = {
        notation: numbers_of(as_numbers(column, notation, na)[0], notation.startswith("date"))
        for notation in candidates(list(counts), na, forced=forced)
    }
    return Texts(_few(counts), n, len(column.values) - n, told, readings)


def numbers_of(column: Column, are_days: bool) -> Numbers:
    """Of a column of numbers, or of days."""
    missing = missing_in(column)
    values = column.values if missing is None else column.values[~missing]
    gaps = len(column.values) - len(values)
    if not len(values):
        return Numbers(0, 0.0, gaps)
    middle = float(values[0]) if np.isfinite(values[0]) else 0.0
    with np.errstate(invalid="ignore"):  # of infinities, which have no mean
        mean = middle + float(np.mean(values - middle, dtype=np.float64))
    days = frozenset(np.unique(np.floor(values)).tolist() if are_days else ())
    return Numbers(len(values), mean, gaps, float(values.min()), float(values.max()), _few(days))
