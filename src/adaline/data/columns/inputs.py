"""`Input`: what an encoding knows of one column; and how a column of a block is read and encoded.

`Encoding` calls `read_column` and `encode_column` for each of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.dates import WEEKDAYS
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.notations import NATIVE, is_bare, words
from adaline.data.reading.source import Block, Column, place_of
from adaline.errors import DataError
from adaline.parameters import is_sparse
from adaline.results import Array, Result

MISSING_LEVEL, OTHER_LEVEL = "(missing)", "(other)"
TILE_ROWS = 4096  # rows that are turned from columns to rows at a time: they stay in the cache
FILLING: list[tuple[str, Any, str]] = [
    ("missing", "drop", "leaves those rows out"),
    ("missing", "mean", "fills in the mean"),
]


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
    def is_date(self) -> bool:
        """Whether the column holds dates."""
        return self.reading.partition(" ")[0] == "date"

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers that are made of this one."""
        if self.levels is not None:
            return [f"{self.name}={level}" for level in self.levels[1:]]
        made = [self.name if p == "days" else f"{self.name} {p}" for p in self.parts or ("days",)]
        return [*made, f"{self.name} is missing"] if self.gaps else made

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; of the later fields only those that are not empty."""
        return plain_fields(self, "name", "levels", "mean")

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Input:
        """The input that `to_dict` described."""
        return cls(**parsed_fields(plain, _CONVERTERS, "name", "levels", "mean"))


def texts(values: Any) -> tuple[str, ...]:
    """A tuple of texts, from a list of JSON."""
    return tuple(map(str, values))


def pairs(values: Any) -> tuple[tuple[str, str], ...]:
    """A tuple of pairs of texts, from lists of JSON."""
    return tuple((str(a), str(b)) for a, b in values)


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "name": str,
    "levels": lambda value: None if value is None else texts(value),
    "mean": lambda value: None if value is None else float(value),
    "reading": str,
    "gaps": bool,
    **dict.fromkeys(("merged", "parts", "marks"), texts),
    "spellings": pairs,
}


def plain_fields(record: Any, *required: str) -> dict[str, Any]:
    """The fields of a dataclass as lists, texts and numbers; empty ones only if required."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _plain(value) for name, value in values.items() if value or name in required}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.to_dict() if isinstance(value, Input) else value


def parsed_fields(
    plain: Mapping[str, Any], converters: Mapping[str, Callable[[Any], Any]], *required: str
) -> dict[str, Any]:
    """Fields from what `plain_fields` gave; LookupError without those that are required."""
    given = {name: plain[name] for name in (*required, *converters) if name in (*required, *plain)}
    return {name: converters[name](value) for name, value in given.items()}


def places_in(block: Block, wanted: Sequence[str]) -> list[int]:
    """Where columns of these names are in a block."""
    names = block.names if isinstance(block.names, FeatureNames) else tuple(block.names)
    return list(_places(names, tuple(wanted)))


@lru_cache(maxsize=16)  # of all blocks of a file, which may be very wide
def _places(names: Sequence[str], wanted: tuple[str, ...]) -> list[int]:
    if len(wanted) == 1 and wanted[0] in names:
        return [names.index(wanted[0])]
    if tuple(names[: len(wanted)]) == wanted:
        return list(range(len(wanted)))
    where = {name: j for j, name in enumerate(names)}
    return [where[n] if n in where else place_of(n, names, "the table") for n in wanted]


def column_of(block: Block, name: str) -> Column:
    """The column of this name; `ByName` is quicker for many."""
    return block.column(places_in(block, [name])[0])


class ByName:
    """Columns of a block by name: names are put in order once, and so is a sparse matrix."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.places = {name: j for j, name in enumerate(block.names)}
        self.sparse = sparse.csc_array(block.matrix) if is_sparse(block.matrix) else None

    def __getitem__(self, name: str) -> Column:
        known = name in self.places
        j = self.places[name] if known else place_of(name, list(self.places), "the table")
        if self.sparse is None:
            return self.block.column(j)
        return Column("number", self.sparse[:, [j]].toarray().ravel())


def missing_in(column: Column) -> NDArray[np.bool_] | None:
    """Which values are missing, NaN included; None if none is."""
    gone = column.missing
    if column.kind == "number" and column.values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(column.values.sum(dtype=np.float64)):
                nan = np.isnan(column.values)
                gone = nan if gone is None else gone | nan
    return gone if gone is not None and gone.any() else None


def read_column(entry: Input, column: Column, block: Block, na: Sequence[str] = ()) -> Column:
    """The column as its input has it: text, or numbers; as it is if it is so already."""
    if entry.levels is not None:
        column = _merge_spellings(as_text(column, na), dict(entry.spellings))
        if not entry.levels or "" not in column.levels[:1] or "" in (*entry.levels, *entry.merged):
            return column
        empty = column.values == 0  # levels are sorted; empty text is missing, as in a text file
        return replace(column, missing=empty if column.missing is None else empty | column.missing)
    if column.kind == "other" or (column.kind == "date" and not entry.is_date):
        raise DataError(
            f"the column {entry.name!r} holds {column.kind}, and held number when the encoding was "
            "learned; give it the same type."
        )
    _require_notation(entry, column, block)
    numbers, strange = as_numbers(column, entry.reading, (*na, *entry.marks))
    if strange:
        rows = column.values == column.levels.index(strange[0])
        raise _notation_error(entry, strange[0], rows, column, block)
    return numbers


def _merge_spellings(column: Column, spellings: dict[str, str]) -> Column:
    """Text in which other spellings of a level are that level."""
    if spellings.keys().isdisjoint(column.levels):
        return column
    texts = [spellings.get(level, level) for level in column.levels]
    levels = tuple(sorted(set(texts)))
    place = {level: k for k, level in enumerate(levels)}
    codes = np.array([place[text] for text in texts], dtype=column.values.dtype)
    return replace(column, values=codes[column.values], levels=levels)


def _require_notation(entry: Input, column: Column, block: Block) -> None:
    """Refuse numbers that were read in another notation, if they may differ in this one.

    Numbers of a table are what they are, but have no unit and are no dates. Numbers of a text file
    are the same in both notations if they have no mark: 845.870 may be 845870, and 12 is 12.
    """
    own, other = entry.reading or "number", column.notation or "number"
    if column.kind != "number" or own == other:
        return
    odd = ~np.isnan(column.values) if column.missing is None else ~column.missing
    if is_bare(own):
        points = not own.endswith(",")  # decimal points, as "number" has them
        if not column.notation or other not in NATIVE or (other == "number" and points):
            return
        thousands = (np.abs(column.values) >= 1000) & (other != "number")
        odd &= (column.values % 1 != 0) | thousands
    odd &= ~np.isnan(column.values)
    if odd.any():
        raise _notation_error(entry, f"{column.values[np.argmax(odd)]:.15g}", odd, column, block)


def _notation_error(
    entry: Input, text: str, rows: NDArray[np.bool_], column: Column, block: Block
) -> DataError:
    """Which value is not written as the model has learned, and where the first one is."""
    rows = rows if column.missing is None else rows & ~column.missing
    own = entry.reading or "number"
    comma = own == "number" and "," in text
    problem = (
        f"the column {entry.name!r} has {text[:40]!r} at {block.place(int(np.argmax(rows)))}, and "
        f"held {words(own)} when the encoding was learned; write it in the same way"
    )
    return DataError(problem, *([("decimal", ",", "reads decimal commas")] if comma else []))


def encode_column(entry: Input, column: Column, block: Block, unknown: str) -> list[Array]:
    """The columns of numbers that an input gives; `column` is of the input's kind."""
    if entry.levels is not None:
        return _indicators(entry, column, block, unknown)
    values, missing = column.values, column.missing
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(values.sum(dtype=np.float64))
        if not finite:  # or its sum is too large
            if np.isinf(values).any():
                raise _refusal(entry.name, _INFINITE, np.isinf(values), block)
            missing = missing_in(column)
    if missing is not None and missing.any():
        if entry.mean is None:
            raise _refusal(entry.name, _MISSING, missing, block)
        values = values.astype(np.float64)
        values[missing] = entry.mean
    if not entry.gaps and not entry.parts:
        return [values]
    there = np.ones(len(values)) if missing is None else (~missing).astype(np.float64)
    columns = [_part_of_date(part, values, there) for part in entry.parts or ("days",)]
    return [*columns, 1.0 - there] if entry.gaps else columns


def is_plain(entry: Input) -> bool:
    """Whether the input is a column of numbers as it is, but for its gaps."""
    special = entry.levels is not None or entry.gaps or entry.parts
    return not special and is_bare(entry.reading)


def _part_of_date(part: str, days: Array, there: Array) -> Array:
    """Days of dates, or an indicator of a month or weekday, which is 0 for missing dates."""
    what, _, which = part.partition("=")
    if what == "days":
        return days
    if what == "month":
        return np.where(months_of(days) == int(which), there, 0.0)
    return np.where(weekdays_of(days) == WEEKDAYS.index(which), there, 0.0)


def months_of(days: NDArray[Any]) -> NDArray[np.int64]:
    """The month, 1 to 12, of days since 1970-01-01."""
    dates = np.floor(days).astype(np.int64).astype("datetime64[D]")
    return np.asarray(dates.astype("datetime64[M]").astype(np.int64) % 12 + 1)


def weekdays_of(days: NDArray[Any]) -> NDArray[np.int64]:
    """The weekday, 0 for Monday to 6, of days since 1970-01-01, which was a Thursday."""
    return np.asarray((np.floor(days).astype(np.int64) + 3) % 7)


_INFINITE = "an infinite value at {at} ({n} in this block), inf or beyond 1.8e308"
_MISSING = "{n} missing values in one block, the first at {at}"


def _refusal(name: str, sentence: str, bad: NDArray[np.bool_], block: Block) -> DataError:
    """The first bad row, and how many there are."""
    at = block.place(int(np.argmax(bad)))
    problem = f"the column {name!r} has {sentence.format(at=at, n=int(bad.sum()))}"
    of_infinity = ("na", ["inf"], "takes inf as missing")
    return DataError(problem, *([of_infinity] if sentence is _INFINITE else FILLING))


def _indicators(entry: Input, column: Column, block: Block, unknown: str) -> list[Array]:
    """An indicator for each level but the first; unknown levels have none, or are refused."""
    assert entry.levels is not None
    place = {level: k for k, level in enumerate(entry.levels)}
    other = place[OTHER_LEVEL] if entry.merged else -1
    table = np.array([place.get(level, other) for level in column.levels] or [0], dtype=np.int64)
    places, missing, gap = table[column.values], missing_in(column), place.get(MISSING_LEVEL, other)
    if missing is not None:
        if gap < 0 and unknown == "refuse":
            raise _refusal(entry.name, _MISSING, missing, block)
        places = np.where(missing, gap, places)
    if unknown == "refuse" and np.any(places < 0):
        i = int(np.argmax(places < 0))
        raise DataError(
            f"the column {entry.name!r} has {column.levels[column.values[i]]!r} at "
            f"{block.place(i)}, which is none of the {len(entry.levels)} levels that were learned",
            ("unknown", "zeros", "gives such values no indicator"),
        )
    return [(places == k).astype(np.float64) for k in range(1, len(entry.levels))]


def count_unknown(entry: Input, column: Column) -> int:
    """Rows whose text is no level that was learned, and gaps if none were learned."""
    known = {*(entry.levels or ()), *entry.merged}
    strange = [k for k, level in enumerate(column.levels) if level not in known]
    rows = np.isin(column.values, strange)
    if column.missing is not None:
        rows = np.where(column.missing, MISSING_LEVEL not in known, rows)
    return int(rows.sum())


def take_matrix(block: Block, names: Sequence[str]) -> Any:
    """Columns of a matrix as they are; None if one is not finite."""
    places, X = places_in(block, names), block.matrix
    last = places[0] + len(places)
    if places != list(range(X.shape[1])):  # a slice is no copy
        X = X[:, places[0] : last] if places == list(range(places[0], last)) else X[:, places]
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        return X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all()
    return X if finite else None


def side_by_side(columns: Sequence[Array], n: int, order: Literal["C", "F"]) -> Array:
    """Columns as one array (n, p) of float64."""
    X = np.empty((n, len(columns)), order=order)
    step = n if order == "F" else TILE_ROWS
    for i in range(0, n, max(step, 1)):
        for j, column in enumerate(columns):
            X[i : i + step, j] = column[i : i + step]
    return X
