"""`blocks(where="region != north")`: the rows of a source that meet a condition."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.data.reading.checks import check_text
from adaline.data.reading.column_readings import as_numbers
from adaline.data.reading.notations import candidates, read
from adaline.data.reading.source import Block, Column, Derived, Source, chosen, place_of
from adaline.errors import DataError

_EQUAL = {"==": operator.eq, "=": operator.eq, "!=": operator.ne}
_COMPARISONS = _EQUAL | {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_NAME = r"`([^`]+)`|'([^']+)'|\"([^\"]+)\"|(.+?)"
_SYNTAX = re.compile(rf"\s*(?:{_NAME})\s*(==|!=|<=|>=|<|>|=)\s*(?:{_NAME})\s*")


def condition(where: Any) -> tuple[str, str, str]:
    """A column, how it is compared, and the value.

    >>> condition("'sold on' >= 2024-01-31")
    ('sold on', '>=', '2024-01-31')
    """
    check_text("where", where, "such as 'region != north'")
    match = _SYNTAX.fullmatch(where)
    if match is None:
        raise ValueError(
            f"where is {where!r}; expected a comparison with a value, such as 'region != north'."
        )
    column, comparison, value = (part for part in match.groups() if part is not None)
    return column, comparison, value


class Filtered(Derived):
    """The rows of a source that meet a condition, and some of its columns."""

    def __init__(self, source: Source, where: str, columns: Sequence[str] | None = None) -> None:
        super().__init__(source)
        self.where, (self.column, self.comparison, self.value) = where, condition(where)
        place_of(self.column, source.names, source.name, "column (for where)")
        self.places = chosen(columns, source.names, source.name)
        self.names = tuple(source.names[j] for j in self.places)
        self.kinds = tuple(source.kinds[j] for j in self.places)
        self.rows, self.about = None, source.about if source.rows is None else source.rows
        for fact in ("is_matrix", "held_here", "typed", "notation", "settled"):
            setattr(self, fact, getattr(source, fact))

    def of(self, block: Block) -> Block:
        """The rows that meet the condition; a missing value is unequal to any."""
        column = block.column(list(block.names).index(self.column))
        keep, missing = self._compare(column)
        if missing is not None:
            keep = np.where(missing, self.comparison == "!=", keep)
        kept = block.kept(keep)
        columns = tuple(kept.columns[j] for j in self.places if kept.columns)
        matrix = None if kept.matrix is None else kept.matrix[:, self.places]
        return Block(self.names, columns, matrix, kept.place)

    def _compare(self, column: Column) -> tuple[Any, Any]:
        """Which rows meet it, and which are missing: by size, or letter by letter."""
        compare: Any = _COMPARISONS[self.comparison]
        notations: tuple[str, ...] = ("date ymd" if column.kind == "date" else "number",)
        if column.kind == "text":
            notations = candidates([*column.levels, self.value])
            if self.comparison in _EQUAL and not notations:
                same = [compare(level.strip(), self.value) for level in column.levels]
                return np.array([*same, False])[column.values], column.missing
            orders = sum(notation.startswith("date") for notation in notations)
            if orders > 1 and self.comparison not in _EQUAL:
                notations = ()  # 1/2/2024 may be before or after 2/1/2024
        limit = read([self.value], notations[0]) if notations else None
        if limit is None or limit.strange or limit.gone[0]:
            raise DataError(
                f"{self.name}: where: {self.value!r} does not compare with {self.column!r}; write "
                "a number, or a date whose order is clear, as that column is written."
            )
        if column.kind == "text":
            column = as_numbers(column, notations[0], ())[0]
        return compare(column.values, limit.values[0]), column.missing

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as missing values."""
        return Filtered(self.source.reread(text, na), self.where, self.names)

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels."""
        return Filtered(self.source.with_labels(name), self.where, self.names)

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor missing, in the first rows."""
        return {n: odd for n, odd in self.source.strays().items() if n in self.names}

    @property
    def fingerprint(self) -> str:
        """Of the source and of the condition."""
        return f"{self.source.fingerprint} {self.where}"
