"""Sources made of another one: `Derived` changes every block, `Filtered` is `blocks(where=...)`."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adaline.data.reading.checks import check_text
from adaline.data.reading.column_readings import as_numbers
from adaline.data.reading.notations import candidates, read
from adaline.data.reading.source import Block, Column, Piece, Source, chosen, place_of
from adaline.errors import DataError

_EQUAL = {"==": operator.eq, "=": operator.eq, "!=": operator.ne}
_COMPARED = _EQUAL | {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_NAME = r"`([^`]+)`|'([^']+)'|\"([^\"]+)\"|(.+?)"
_SYNTAX = re.compile(rf"\s*(?:{_NAME})\s*(==|!=|<=|>=|<|>|=)\s*(?:{_NAME})\s*")


class Derived(Source):
    """The blocks of another source, each changed by `of`."""

    def __init__(self, source: Source) -> None:
        self.source, self.name, self.rows = source, source.name, source.rows
        self.names, self.kinds, self.notes = source.names, source.kinds, source.notes
        self.again, self.about = source.again, source.about
        self.text: Any = getattr(source, "text", None)  # what says how large a file of text is

    def of(self, block: Block) -> Block:
        """What becomes of a block."""
        return block

    def descriptors(self) -> Iterable[Piece]:
        """The pieces of the source."""
        return self.source.descriptors()

    def read(self, piece: Piece) -> Block:
        """The rows of a piece."""
        return self.of(self.source.read(piece))

    def slices(self, piece: Piece) -> Iterator[Block]:
        """The rows of a piece, cut as the source is."""
        return map(self.of, self.source.slices(piece))

    def for_reading(self) -> Source:
        """The source without its list of pieces, read in the same way."""
        other = copy.copy(self)
        other.source = self.source.for_reading()
        return other

    def keeping(self, scratch: Any) -> Source:
        """The same rows of a source that may put what it parsed into temporary files."""
        other = copy.copy(self)
        other.source = self.source.keeping(scratch)
        return other

    def head(self) -> Block:
        """The first rows."""
        return self.of(self.source.head())

    def __iter__(self) -> Iterator[Block]:
        return super().__iter__() if self.again else map(self.of, self.source)


def condition(where: Any) -> tuple[str, str, str]:
    """A column, how it is compared, and the value.

    >>> condition("'sold on' >= 2024-01-31")
    ('sold on', '>=', '2024-01-31')
    """
    check_text("where", where, "such as 'region != north'")
    found = _SYNTAX.fullmatch(where)
    if found is None:
        raise ValueError(
            f"where is {where!r}; expected a comparison with a value, such as 'region != north'."
        )
    column, compared, value = (part for part in found.groups() if part is not None)
    return column, compared, value


class Filtered(Derived):
    """The rows of a source that meet a condition, and some of its columns."""

    def __init__(self, source: Source, where: str, columns: Sequence[str] | None = None) -> None:
        super().__init__(source)
        self.where, (self.column, self.compared, self.value) = where, condition(where)
        place_of(self.column, source.names, source.name, "column (for where)")
        self.places = chosen(columns, source.names, source.name)
        self.names = tuple(source.names[j] for j in self.places)
        self.kinds = tuple(source.kinds[j] for j in self.places)
        self.rows, self.about = None, source.about if source.rows is None else source.rows
        self.is_matrix, self.held_here = source.is_matrix, source.held_here
        self.typed, self.notation, self.settled = source.typed, source.notation, source.settled

    def of(self, block: Block) -> Block:
        """The rows that meet the condition; a missing value is unequal to any."""
        column = block.column(list(block.names).index(self.column))
        keep, gone = self._holds(column)
        found = block.kept(keep if gone is None else np.where(gone, self.compared == "!=", keep))
        columns = tuple(found.columns[j] for j in self.places if found.columns)
        matrix = None if found.matrix is None else found.matrix[:, self.places]
        return Block(self.names, columns, matrix, found.place)

    def _holds(self, column: Column) -> tuple[Any, Any]:
        """Which rows meet it, and which are missing: by size, or letter by letter."""
        compare: Any = _COMPARED[self.compared]
        fits: tuple[str, ...] = ("date ymd" if column.kind == "date" else "number",)
        if column.kind == "text":
            fits = candidates([*column.levels, self.value])
            if self.compared in _EQUAL and not fits:
                same = [compare(level.strip(), self.value) for level in column.levels]
                return np.array([*same, False])[column.values], column.missing
            orders = sum(notation.startswith("date") for notation in fits)
            fits = fits if orders < 2 or self.compared in _EQUAL else ()
        limit = read([self.value], fits[0]) if fits else None
        if limit is None or limit.strange or limit.gone[0]:
            raise DataError(
                f"{self.name}: where: {self.value!r} does not compare with {self.column!r}; write "
                "a number, or a date whose order is clear, as that column is written."
            )
        found = as_numbers(column, fits[0], ())[0] if column.kind == "text" else column
        return compare(found.values, limit.values[0]), found.missing

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as gaps."""
        return Filtered(self.source.reread(text, na), self.where, self.names)

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels."""
        return Filtered(self.source.with_labels(name), self.where, self.names)

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor gaps, in the first rows."""
        return {n: odd for n, odd in self.source.strays().items() if n in self.names}

    @property
    def fingerprint(self) -> str:
        """Of the source and of the condition."""
        return f"{self.source.fingerprint} {self.where}"
