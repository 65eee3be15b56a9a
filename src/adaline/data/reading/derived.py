"""Sources made of another one: `Derived` changes every block, `Filtered` is `blocks(where=...)`."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.checks import check_text
from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.notations import NATIVE, candidates, read
from adaline.data.reading.source import Block, Column, Piece, Source, chosen, place_of
from adaline.errors import DataError

_COMPARED = {"==": operator.eq, "=": operator.eq, "!=": operator.ne}
_BY_SIZE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
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

    def head(self) -> Block:
        """The first rows."""
        return self.of(self.source.head())

    def __iter__(self) -> Iterator[Block]:
        return super().__iter__() if self.again else map(self.of, self.source)


@dataclass(frozen=True)
class Condition:
    """A column compared with a value: by size where they have a notation, else as text."""

    column: str
    compared: str
    value: str
    notation: str = ""

    @classmethod
    def parsed(cls, text: Any) -> Condition:
        """The condition that a text is.

        >>> Condition.parsed("'sold on' >= 2024-01-31")
        Condition(column='sold on', compared='>=', value='2024-01-31', notation='')
        """
        check_text("where", text, "such as 'region != north'")
        found = _SYNTAX.fullmatch(text)
        if found is None:
            raise ValueError(
                f"where is {text!r}; expected a column, one of == != < <= > >=, and a value, such "
                "as 'region != north'."
            )
        column, compared, value = (part for part in found.groups() if part is not None)
        return cls(column, compared, value)

    def of(self, source: Source) -> Condition:
        """With the notation of the column, which the first rows tell."""
        j = place_of(self.column, source.names, source.name, "column (for where)")
        native = source.notation if source.notation in NATIVE else "number"
        notation = {"number": native, "date": "date"}.get(source.kinds[j], "")
        if not notation and self.compared in _BY_SIZE:
            fits = candidates(source.head().column(j).levels)
            if len(fits) != 1 and not "".join(fits[:1]).startswith("number"):
                raise DataError(
                    f"where: the column {self.column!r} has text, or dates in no clear order; "
                    f"{self.compared} needs numbers or dates, == and != take any text."
                )
            notation = fits[0]
        found = replace(self, notation=notation)
        _ = notation and found.limit()
        return found

    def limit(self) -> float:
        """The value as a number or as days: in plain digits, or as the column is written."""
        for notation in ("date ymd" if self.notation[:4] == "date" else "number", self.notation):
            found = read([self.value], notation)
            if not found.strange and not found.gone[0]:
                return float(found.values[0])
        raise DataError(f"where: {self.value!r} is not written as {self.column!r} is; correct it.")

    def holds(self, column: Column, block: Block) -> NDArray[np.bool_]:
        """Which rows meet it; a missing value is unequal to any."""
        compare: Any = (_COMPARED | _BY_SIZE)[self.compared]
        found, strange = as_numbers(column, self.notation, ()) if self.notation else (column, ())
        if strange:
            row = int(np.argmax(column.values == column.levels.index(strange[0])))
            raise DataError(
                f"where: {self.column!r} has {strange[0][:40]!r} at {block.place(row)}, which "
                f"cannot be compared with {self.value!r}; correct it."
            )
        if self.notation:
            keep = compare(found.values, self.limit())
        else:
            found = as_text(column, ())
            same = [compare(level.strip(), self.value) for level in found.levels]
            keep = np.array([*same, False])[found.values]
        gone = False if found.missing is None else found.missing
        return np.where(gone, self.compared == "!=", keep).astype(bool)


class Filtered(Derived):
    """The rows of a source that meet a condition, and some of its columns."""

    def __init__(
        self, source: Source, condition: Condition, columns: Sequence[str] | None = None
    ) -> None:
        super().__init__(source)
        self.condition, self.places = condition, chosen(columns, source.names, source.name)
        self.names = tuple(source.names[j] for j in self.places)
        self.kinds = tuple(source.kinds[j] for j in self.places)
        self.rows, self.about = None, source.about if source.rows is None else source.rows
        self.is_matrix, self.typed, self.held_here = (
            source.is_matrix,
            source.typed,
            source.held_here,
        )
        self.notation, self.settled = source.notation, source.settled

    def of(self, block: Block) -> Block:
        """The rows that meet the condition."""
        column = block.column(list(block.names).index(self.condition.column))
        found = block.kept(self.condition.holds(column, block))
        if len(self.places) == len(block.names):
            return found
        columns = tuple(found.columns[j] for j in self.places if found.columns)
        matrix = None if found.matrix is None else found.matrix[:, self.places]
        return Block(self.names, columns, matrix, found.place)

    def reread(self, text: Sequence[str] = (), na: Sequence[str] = ()) -> Source:
        """The same rows, with these columns as text and these texts as gaps."""
        return Filtered(self.source.reread(text, na), self.condition, self.names)

    def with_labels(self, name: str) -> Source:
        """The same rows, with a column whose text is labels."""
        return Filtered(self.source.with_labels(name), self.condition, self.names)

    def strays(self) -> dict[str, tuple[str, ...]]:
        """Texts in columns of numbers that are neither numbers nor gaps, in the first rows."""
        return {n: odd for n, odd in self.source.strays().items() if n in self.names}

    @property
    def fingerprint(self) -> str:
        """Of the source and of the condition."""
        return f"{self.source.fingerprint} {self.condition}"
