"""`Input`: what an encoding knows of one column; and how a column of a block is read and encoded.

`Encoding` calls `read_column` and `encode_column` for each of its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.dates import WEEKDAYS
from adaline.data.reading.notations import NATIVE, is_bare, words
from adaline.data.reading.source import Block, Column, Kind, as_numbers, as_text, place_of
from adaline.errors import DataError
from adaline.parameters import is_sparse, wrong_type
from adaline.results import Array, Result

MISSING_LEVEL, OTHER_LEVEL = "(missing)", "(other)"


@dataclass(frozen=True)
class Input(Result):
    """One input column: a number, a date, or text with its levels.

    Attributes
    ----------
    name : str
    levels : tuple of str, or None
        Of text: its levels, each but the first with an indicator.
    mean : float, optional
        Of a number: what stands for a missing value.
    reading : str
        How the column is read: "" as it is, "text", or a notation such as "number %" or
        "date dmy".
    gaps : bool
        Whether an indicator "NAME is missing" goes with a number.
    merged : tuple of str
        Rare levels of text, which count as the level "(other)".
    parts : tuple of str
        What is made of a date: "days", "month=2", ..., "weekday=Tue", ...
    marks : tuple of str
        Texts among numbers or dates that stand for a missing value in this column; in others they
        may be levels.
    spellings : tuple of (str, str)
        Of text: other spellings of a level, each with the level that it counts as.
    """

    name: str
    levels: tuple[str, ...] | None = None
    mean: float | None = None
    reading: str = ""
    gaps: bool = False
    merged: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> Kind:
        """What the column is once it is read: dates are numbers then."""
        return "number" if self.levels is None else "text"

    @property
    def is_date(self) -> bool:
        return self.reading.partition(" ")[0] == "date"

    @property
    def is_plain(self) -> bool:
        """Whether it is a column of numbers as it is, but for its gaps."""
        return self.levels is None and not (self.gaps or self.parts) and is_bare(self.reading)

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers that are made of this one."""
        if self.levels is not None:
            return [f"{self.name}={level}" for level in self.levels[1:]]
        made = [self.name if p == "days" else f"{self.name} {p}" for p in self.parts or ("days",)]
        return [*made, f"{self.name} is missing"] if self.gaps else made


def column_of(block: Block, name: str) -> Column:
    """The column of this name; `ByName` is quicker for many."""
    names = block.names
    return block.column(names.index(name) if name in names else place_of(name, names, "the table"))


class ByName:
    """Columns of a block by name: names are put in order once, and so is a sparse matrix."""

    def __init__(self, block: Block) -> None:
        if not isinstance(block, Block):
            raise wrong_type("block", block, "a Block, such as blocks(source) gives")
        self.block = block
        self.places = {name: j for j, name in enumerate(block.names)}

    @cached_property
    def by_column(self) -> Any:
        return sparse.csc_array(self.block.matrix)

    def place(self, name: str) -> int:
        j = self.places.get(name)
        return place_of(name, self.block.names, "the table") if j is None else j

    def __getitem__(self, name: str) -> Column:
        j = self.place(name)
        if not is_sparse(self.block.matrix):
            return self.block.column(j)
        return Column("number", self.by_column[:, [j]].toarray().ravel())

    def take_matrix(self, names: Sequence[str]) -> Any:
        """Columns of a matrix as they are; None where there is none, or one is not finite."""
        X = self.block.matrix
        if X is None:
            return None
        places = [self.place(name) for name in names]
        rising = places == list(range(places[0], places[0] + len(places)))
        if len(places) < X.shape[1] or not rising:  # a slice is no copy
            X = X[:, places[0] : places[0] + len(places)] if rising else X[:, places]
        values = X.data if is_sparse(X) else X
        if values.dtype.kind != "f":
            return X.astype(np.float64)
        return X if is_finite(values) or np.isfinite(values).all() else None


def is_finite(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite, and their sum: a NaN or an infinity would reach it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)))


def missing_in(column: Column) -> NDArray[np.bool_] | None:
    """Which values are missing, NaN included; None if none is."""
    gone = column.missing
    is_float = column.kind == "number" and column.values.dtype.kind == "f"
    if is_float and not is_finite(column.values):
        nan = np.isnan(column.values)
        gone = nan if gone is None else gone | nan
    return gone if gone is not None and gone.any() else None


def values_in(column: Column) -> NDArray[Any]:
    missing = missing_in(column)
    return np.asarray(column.values if missing is None else column.values[~missing])


def read_column(entry: Input, column: Column, block: Block, na: Sequence[str] = ()) -> Column:
    """The column as its input has it: text, or numbers; as it is if it is so already."""
    if entry.levels is not None:
        column, spellings = as_text(column, na), dict(entry.spellings)
        if not spellings.keys().isdisjoint(column.levels):
            merged = [spellings.get(level, level) for level in column.levels]
            levels, codes = np.unique(np.array(merged, dtype=object), return_inverse=True)
            values = codes.astype(column.values.dtype)[column.values]
            column = replace(column, values=values, levels=tuple(levels.tolist()))
        if not entry.levels or "" not in column.levels[:1] or "" in (*entry.levels, *entry.merged):
            return column
        empty = column.values == 0  # levels are sorted; empty text is missing, as in a text file
        return replace(column, missing=empty if column.missing is None else empty | column.missing)
    if column.kind == "other" or (column.kind == "date" and not entry.is_date):
        raise DataError(
            f"the column {entry.name!r} holds {column.kind}, and held number when the encoding was "
            "learned; give it the same type."
        )
    odd = in_other_notation(entry, column)
    if odd is not None and odd.any():
        raise notation_error(entry, f"{column.values[np.argmax(odd)]:.15g}", odd, block)
    numbers, strange = as_numbers(column, entry.reading, (*na, *entry.marks))
    if strange:
        rows = column.values == column.levels.index(strange[0])
        rows = rows if column.missing is None else rows & ~column.missing
        raise notation_error(entry, strange[0], rows, block)
    return numbers


def in_other_notation(entry: Input, column: Column) -> NDArray[np.bool_] | None:
    """Numbers that were read in another notation, and may differ in that of the input.

    Numbers of a table are what they are, but have no unit and are no dates. Numbers of a text file
    are the same in both notations if they have no mark: 845.870 may be 845870, and 12 is 12.
    """
    own, other, x = entry.reading or "number", column.notation or "number", column.values
    if column.kind != "number" or own == other:
        return None
    odd = np.ones(len(x), dtype=bool)
    if is_bare(own):
        has_points = other == "number" and not own.endswith(",")
        if not column.notation or other not in NATIVE or has_points:
            return None
        odd = (x % 1 != 0) | ((np.abs(x) >= 1000) & (other != "number"))
    missing = missing_in(column)
    return odd if missing is None else odd & ~missing


def notation_error(entry: Input, text: str, rows: NDArray[np.bool_], block: Block) -> DataError:
    """Which value is not written as the model has learned, and where the first one is."""
    own = entry.reading or "number"
    comma = own == "number" and "," in text
    return DataError(
        f"the column {entry.name!r} has {text[:40]!r} at {block.place(int(np.argmax(rows)))}, and "
        f"held {words(own)} when the encoding was learned; write it in the same way",
        *([("decimal", ",", "reads decimal commas")] if comma else []),
    )


def encode_column(entry: Input, column: Column, block: Block, unknown: str) -> list[Array]:
    """The columns of numbers that an input gives; `column` is of the input's kind."""
    if entry.levels is not None:
        return encode_levels(entry, column, block, unknown)
    values, missing = column.values, missing_in(column)
    if values.dtype.kind == "f" and not is_finite(values) and np.isinf(values).any():
        where = block.place(int(np.argmax(np.isinf(values))))
        raise DataError(
            f"the column {entry.name!r} has an infinite value at {where}",
            ("na", ["inf"], "takes inf as missing"),
        )
    if missing is not None:
        if entry.mean is None:
            raise missing_error(entry.name, missing, block)
        values = values.astype(np.float64)
        values[missing] = entry.mean
    is_there = np.ones(len(values), dtype=bool) if missing is None else ~missing
    columns = [values]
    for what, _, which in (part.partition("=") for part in entry.parts[1:]):
        wanted = int(which) if what == "month" else WEEKDAYS.index(which)
        columns.append((is_there & (calendar_of(values, what) == wanted)).astype(np.float64))
    return [*columns, (~is_there).astype(np.float64)] if entry.gaps else columns


def calendar_of(days: NDArray[Any], what: str) -> NDArray[np.int64]:
    """The month, 1 to 12, or the weekday, 0 for Monday to 6, of days since 1970-01-01."""
    whole = np.floor(days).astype(np.int64)
    if what == "month":
        months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return np.asarray(months % 12 + 1)
    return np.asarray((whole + 3) % 7)  # 1970-01-01 was a Thursday


def missing_error(name: str, missing: NDArray[np.bool_], block: Block) -> DataError:
    where = f"{block.place(int(np.argmax(missing)))} ({int(missing.sum())} in this block)"
    return DataError(
        f"the column {name!r} has a missing value at {where}",
        ("missing", "drop", "leaves those rows out"),
        ("missing", "mean", "fills in the mean"),
    )


def find_levels(entry: Input, column: Column) -> NDArray[np.int64]:
    """The place of each row's level; -1 for levels and gaps that were not learned."""
    place = {level: k for k, level in enumerate(entry.levels or ())}
    place |= {level: place[OTHER_LEVEL] for level in entry.merged}
    table = np.array([place.get(level, -1) for level in column.levels] or [0], dtype=np.int64)
    places: NDArray[np.int64] = table[column.values]
    missing = missing_in(column)
    return places if missing is None else np.where(missing, place.get(MISSING_LEVEL, -1), places)


def encode_levels(entry: Input, column: Column, block: Block, unknown: str) -> list[Array]:
    """Indicators of all levels but the first; unknown levels have none, unless they are refused."""
    places, levels = find_levels(entry, column), entry.levels or ()
    if entry.merged:  # what is unknown is rare
        places = np.where(places < 0, levels.index(OTHER_LEVEL), places)
    if unknown == "refuse" and np.any(places < 0):
        i = int(np.argmax(places < 0))
        if column.missing is not None and column.missing[i]:
            raise missing_error(entry.name, column.missing, block)
        raise DataError(
            f"the column {entry.name!r} has {column.levels[column.values[i]]!r} at "
            f"{block.place(i)}, which is none of the {len(levels)} levels that were learned",
            ("unknown", "zeros", "gives such values no indicator"),
        )
    return [(places == k).astype(np.float64) for k in range(1, len(levels))]
