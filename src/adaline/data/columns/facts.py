"""What a study needs to know of all rows, as sums that merge: levels of text, means, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import ByName, missing_in
from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.magnitudes import LETTERS
from adaline.data.reading.notations import candidates, is_gap
from adaline.data.reading.source import Block, Column, Piece, Source
from adaline.sums.mapreduce import Executor, branch, mapreduce

MOST_VALUES = 20_000  # different values that are kept of a column; text with more has no levels


@dataclass(frozen=True)
class Numbers:
    """Numbers or dates of a column: how many, their mean and range, and how many are missing.

    `different` are the different days of dates and the values of the target; None if they are too
    many to keep.
    """

    n: int
    mean: float
    gaps: int
    low: float = np.inf
    high: float = -np.inf
    different: frozenset[float] | None = frozenset()

    @property
    def range(self) -> tuple[float, float, float]:
        """What differs if the same texts are read in two notations."""
        return self.low, self.high, self.mean

    def __add__(self, b: Numbers) -> Numbers:
        n = self.n + b.n
        different = None
        if self.different is not None and b.different is not None:
            different = self.different | b.different
        return Numbers(
            n,
            self.mean + (b.mean - self.mean) * (b.n / n if n else 0.0),
            self.gaps + b.gaps,
            min(self.low, b.low),
            max(self.high, b.high),
            different if different is not None and len(different) <= MOST_VALUES else None,
        )


@dataclass(frozen=True)
class Texts:
    """Levels of a column of text with their counts, and in which notations all can be read.

    Attributes
    ----------
    counts : dict or None
        None if the levels are too many to keep.
    n, gaps : int
        Values, and missing values.
    told : int
        Values that are no mark of a missing value.
    readings : dict
        Notation to what the numbers or dates are.
    """

    counts: dict[str, int] | None
    n: int
    gaps: int
    told: int
    readings: dict[str, Numbers]

    def __add__(self, b: Texts) -> Texts:
        counts = None
        if self.counts is not None and b.counts is not None:
            counts = self.counts | {k: n + self.counts.get(k, 0) for k, n in b.counts.items()}
            counts = counts if len(counts) <= MOST_VALUES else None
        told = self.told + b.told
        return Texts(counts, self.n + b.n, self.gaps + b.gaps, told, self._readings(b))

    def _readings(self, b: Texts) -> dict[str, Numbers]:
        """Notations of both; rows without a value fit every notation."""
        if not self.told or not b.told:
            known, blank = (self, b) if self.told else (b, self)
            nothing = Numbers(0, 0.0, blank.n + blank.gaps)
            return {notation: numbers + nothing for notation, numbers in known.readings.items()}
        both = {**self.readings, **b.readings}
        pairs = {n: (self._reading(n), b._reading(n)) for n in both}
        return {n: mine + other for n, (mine, other) in pairs.items() if mine and other}

    def _reading(self, notation: str) -> Numbers | None:
        """What numbers are in a notation; those without letters for thousands fit it, too."""
        plain = notation.removesuffix(f" {LETTERS}")
        return self.readings.get(notation, self.readings.get(plain))


Facts = dict[str, "Numbers | Texts"]


def add_facts(a: Facts, b: Facts) -> Facts:
    """Of the rows of both."""
    return {name: fact + b[name] for name, fact in a.items()}  # type: ignore[operator]


@dataclass(frozen=True)
class FactsOf:
    """What columns of a piece of a source hold; it travels to the processes that read.

    `kinds` says what to collect of each column: "text", "date", "number", or "target" for numbers
    of which the different ones matter. `na` are texts that stand for missing values by column, and
    `forced` columns that are numbers for the user, codes such as 01234 included.
    """

    source: Source
    kinds: Mapping[str, str]
    na: Mapping[str, tuple[str, ...]]
    forced: Sequence[str] = ()

    def __call__(self, piece: Piece) -> Facts:
        return branch(self.of_block, add_facts, self.source.slices(piece))

    def of_block(self, block: Block) -> Facts:
        """What a block tells."""
        columns = ByName(block)
        facts: Facts = {}
        for name, kind in self.kinds.items():
            column, na = columns[name], self.na.get(name, ())
            if kind == "text":
                facts[name] = texts_of(as_text(column, na), na, name in self.forced)
            else:
                facts[name] = numbers_of(as_numbers(column, "", na)[0], kind)
        return facts


def facts_of(collect: FactsOf, jobs: int | Executor = 1) -> Facts:
    """What all rows hold: a pass, unless nothing is to be collected."""
    if not collect.kinds:
        return {}
    travelling = replace(collect, source=collect.source.for_reading())
    return mapreduce(travelling, collect.source.descriptors(), add_facts, jobs)


def means_of(source: Source, names: Sequence[str], jobs: int | Executor = 1) -> dict[str, float]:
    """The means of columns of numbers that have a value."""
    facts = facts_of(FactsOf(source, dict.fromkeys(names, "number"), {}), jobs)
    return {name: one.mean for name, one in facts.items() if isinstance(one, Numbers) and one.n}


def counts_of(column: Column) -> dict[str, int]:
    """How often each level of text comes; a part of a block keeps the levels of the whole block."""
    codes = column.values if column.missing is None else column.values[~column.missing]
    counts = np.bincount(codes, minlength=len(column.levels)).tolist()
    return {level: n for level, n in zip(column.levels, counts, strict=True) if n}


def texts_of(column: Column, na: Sequence[str] = (), forced: bool = False) -> Texts:
    """Of a column of text."""
    counts = counts_of(column)
    n, told = sum(counts.values()), sum(n for one, n in counts.items() if not is_gap(one, na))
    readings = {
        notation: numbers_of(as_numbers(column, notation, na)[0], notation.partition(" ")[0])
        for notation in candidates(list(counts), na, forced=forced)
    }
    kept = counts if len(counts) <= MOST_VALUES else None
    return Texts(kept, n, len(column.values) - n, told, readings)


def numbers_of(column: Column, kind: str) -> Numbers:
    """Of a column of numbers, or of days."""
    missing = missing_in(column)
    values = column.values if missing is None else column.values[~missing]
    gaps = len(column.values) - len(values)
    if not len(values):
        return Numbers(0, 0.0, gaps)
    middle = float(values[0]) if np.isfinite(values[0]) else 0.0
    with np.errstate(invalid="ignore"):  # of infinities, which have no mean
        mean = middle + float(np.mean(values - middle, dtype=np.float64))
    different: frozenset[float] | None = frozenset()
    if kind != "number":
        unique: NDArray[Any] = np.unique(np.floor(values) if kind == "date" else values)
        different = frozenset(unique.tolist()) if len(unique) <= MOST_VALUES else None
    return Numbers(len(values), mean, gaps, float(values.min()), float(values.max()), different)
