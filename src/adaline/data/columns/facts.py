"""What a pass over all rows collects of columns, as sums that merge in any number of processes.

`look.study` and `Encoding.with_means` call `collect`; `recognise` and `rules` decide by facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from adaline.data.columns.inputs import ByName, Input, read_column, values_in
from adaline.data.reading.source import Block, Column, Piece, Source
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor, branch, mapreduce

MAX_LEVELS = 20_000  # of text, and days of dates: more are no categories, nor kept in memory


@dataclass(frozen=True)
class Facts:
    """What rows hold of a column.

    Of text the levels and their counts, None if they are too many; of numbers and dates (as days)
    mean and range; of dates the different days, the first 20,000.
    """

    n: int
    gaps: int
    counts: dict[str, int] | None = None
    mean: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    days: frozenset[float] = frozenset()
    misfit: DataError | None = None  # a value in another notation than that of the first rows

    def __add__(self, b: Facts) -> Facts:
        n, counts = self.n + b.n, None
        if self.counts is not None and b.counts is not None:
            counts = limited(Counter(self.counts) + Counter(b.counts))
        mean = self.mean + (b.mean - self.mean) * (b.n / n if n else 0.0)
        low, high = min(self.low, b.low), max(self.high, b.high)
        # The first ones of the first ones are the first of all, so the order of merging is free.
        days = frozenset(sorted(self.days | b.days)[:MAX_LEVELS])
        misfit = self.misfit or b.misfit
        return Facts(n, self.gaps + b.gaps, counts, mean, low, high, days, misfit)


def collect(
    source: Source, entries: Sequence[Input], na: Sequence[str], jobs: int | Executor = 1
) -> dict[str, Facts]:
    """Facts of all rows about columns as inputs read them: a pass, unless there are none."""
    if not entries:
        return {}
    work = partial(facts_of_piece, source.for_reading(), entries, na)
    return mapreduce(work, source.descriptors(), merge, jobs)


def facts_of_piece(
    source: Source, entries: Sequence[Input], na: Sequence[str], piece: Piece
) -> dict[str, Facts]:
    return branch(partial(facts_of_block, entries, na), merge, source.slices(piece))


def facts_of_block(entries: Sequence[Input], na: Sequence[str], block: Block) -> dict[str, Facts]:
    columns, facts = ByName(block), dict[str, Facts]()
    for entry in entries:
        try:
            column = read_column(entry, columns[entry.name], block, na)
            facts[entry.name] = facts_of(column, entry.is_date)
        except DataError as error:
            facts[entry.name] = Facts(0, 0, misfit=error)
    return facts


def merge(a: dict[str, Facts], b: dict[str, Facts]) -> dict[str, Facts]:
    return {name: fact + b[name] for name, fact in a.items()}


def facts_of(column: Column, is_date: bool = False) -> Facts:
    values = values_in(column)
    n, gaps = len(values), len(column.values) - len(values)
    if column.kind == "text":
        counts = np.bincount(values, minlength=len(column.levels)).tolist()
        pairs = zip(column.levels, counts, strict=True)  # levels may be those of a larger block
        return Facts(n, gaps, limited({level: k for level, k in pairs if k}))
    if not n:
        return Facts(0, gaps)
    # Differences from one of the values, so that large numbers close together keep their digits.
    middle = float(values[0]) if np.isfinite(values[0]) else 0.0
    with np.errstate(invalid="ignore"):  # of infinities, which have no mean
        mean = middle + float(np.mean(values - middle, dtype=np.float64))
    days = frozenset(np.unique(np.floor(values))[:MAX_LEVELS].tolist() if is_date else ())
    return Facts(n, gaps, None, mean, float(values.min()), float(values.max()), days)


def limited(counts: dict[str, int]) -> dict[str, int] | None:
    return counts if len(counts) <= MAX_LEVELS else None
