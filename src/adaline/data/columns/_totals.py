"""A last row that may be a total, where nothing else says so: for a warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaline.data.columns.column_facts import Facts
from adaline.data.columns.inputs import Input
from adaline.data.columns.of_blocks import ByName, missing_in
from adaline.data.reading.column_readings import as_numbers
from adaline.data.reading.source import Block, Column
from adaline.data.reading.text.totals import is_sum

TOTAL = "the last row has the sum of all rows above it: a total is no row, so delete it"


def with_total(
    head: Block, facts: Facts, entries: Sequence[Input], na: Sequence[str]
) -> str | None:
    """The first column of numbers whose last row is the sum of the others; None without any.

    The first rows must be all rows.
    """
    rows = [one.n + one.gaps for one in facts.numbers.values()]
    rows += [one.n + one.gaps for one in facts.texts.values()]
    if not rows or rows[0] != head.rows:
        return None
    columns = ByName(head)
    for entry in entries:
        if entry.levels is None and not entry.is_date:
            column, strange = as_numbers(columns[entry.name], entry.reading, (*na, *entry.marks))
            if not strange and column.kind == "number" and _ends_with_sum(column):
                return entry.name
    return None


def _ends_with_sum(column: Column) -> bool:
    """Whether the last number is the sum of those before it, and larger than each."""
    gone = missing_in(column)
    values = np.asarray(column.values, dtype=np.float64)
    if not len(values) or (gone is not None and gone[-1]):
        return False
    return is_sum(values if gone is None else values[~gone])
