"""A block of a table to an array of numbers, as an encoding says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import (
    bad_number,
    column_of,
    missing_in,
    missing_values,
)
from adaline.data.columns.facts import months_of
from adaline.data.columns.inputs import MISSING_LEVEL, OTHER_LEVEL, Input
from adaline.data.reading.column_readings import as_numbers, as_text
from adaline.data.reading.dates import WEEKDAYS
from adaline.data.reading.derived import Derived
from adaline.data.reading.notations import NATIVE, candidates, is_bare, is_gap, read, words
from adaline.data.reading.source import Block, Column, Kind, Source
from adaline.errors import DataError
from adaline.parameters import is_sparse
from adaline.results import Array

_STRAYS = 3  # different texts from which on a column of nothing else holds no numbers

_TILE = 4096  # rows that are turned from columns to rows at a time
Keep = NDArray[np.bool_] | None


def read_column(entry: Input, column: Column, block: Block, na: Sequence[str] = ()) -> Column:
    """The column of the kind that the input has: text, or numbers; as it is where it is so."""
    if entry.levels is not None:
        found = _with_levels(as_text(column, na), dict(entry.spellings))
        known = {*entry.levels, *entry.merged}
        if not entry.levels or "" not in found.levels or "" in known:
            return found
        gone = found.values == found.levels.index("")  # as in a text file, and for exports
        return replace(found, missing=gone if found.missing is None else gone | found.missing)
    if column.kind == "other" or (column.kind == "date" and not entry.is_date):
        raise DataError(
            f"the column {entry.name!r} holds {column.kind}, and held number when the encoding was "
            "learned; give it the same type."
        )
    check_notation(entry, column, block)
    found, strange = as_numbers(column, entry.reading, (*na, *entry.marks))
    if strange:
        rows = column.values == column.levels.index(strange[0])
        raise _otherwise(entry, strange[0], rows, column, block)
    return found


def _with_levels(column: Column, spellings: Mapping[str, str]) -> Column:
    """Text in which other spellings of a level are that level."""
    if spellings.keys().isdisjoint(column.levels):
        return column
    texts = [spellings.get(level, level) for level in column.levels]
    levels = tuple(sorted(set(texts)))
    places = {level: k for k, level in enumerate(levels)}
    codes = np.array([places[text] for text in texts], dtype=column.values.dtype)
    return replace(column, values=codes[column.values], levels=levels)


def check_notation(entry: Input, column: Column, block: Block) -> None:
    """Refuse numbers that were read in another notation, where they may differ in this one.

    Numbers of a table are what they are, but have no unit and are no dates. Numbers of a text file
    are the same in both notations if they have no mark: 845.870 may be 845870, and 12 is 12.
    """
    own, other = entry.reading or "number", column.notation or "number"
    if column.kind != "number" or entry.levels is not None or own == other:
        return
    if is_bare(own):
        points = not own.endswith(",")  # decimal points, as "number" has them
        if not column.notation or other not in NATIVE or (other == "number" and points):
            return
        odd = column.values % 1 != 0
        odd |= (np.abs(column.values) >= 1000) & (other != "number")
    else:
        odd = np.ones(len(column.values), dtype=bool)
    if column.missing is not None:
        odd &= ~column.missing
    odd &= ~np.isnan(column.values)
    if odd.any():
        raise _otherwise(entry, f"{column.values[np.argmax(odd)]:.15g}", odd, column, block)


def _otherwise(
    entry: Input, text: str, rows: NDArray[np.bool_], column: Column, block: Block
) -> DataError:
    """Say which value is not written as the model has learned, and where the first one is."""
    rows = rows if column.missing is None else rows & ~column.missing
    own = entry.reading or "number"
    told = own == "number" and "," in text
    more = ", or say how the file is written (decimal=','; --decimal , on the command line)"
    return DataError(
        f"the column {entry.name!r} has {text[:40]!r} at {block.place(int(np.argmax(rows)))}, and "
        f"held {words(own)} when the encoding was learned; write it in the same way{more * told}."
    )


def texts_among_numbers(
    block: Block, entries: Iterable[Input], na: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Texts in columns of numbers that are neither numbers nor gaps, by column.

    Where all are, they are no strays: the column means something else here. Nor is what
    another notation reads.
    """
    found = {}
    for entry in entries:
        column = column_of(block, entry.name)
        levels = column.levels if column.kind == "text" else ()
        marks = (*na, *entry.marks)
        strange = read(levels, entry.reading or "number", marks, len(levels)).strange
        told = sum(not is_gap(level, marks) for level in levels)
        if any(candidates([text], forced=True) for text in strange):
            continue
        if strange and (len(strange) < told or told < _STRAYS):
            found[entry.name] = strange
    return found


def encoded_columns(
    entry: Input, column: Column, block: Block, keep: Keep, unknown: str
) -> list[Array]:
    """The columns of numbers that an input gives; `column` is of the input's kind."""
    if entry.levels is not None:
        return indicators(entry, column, block, keep, unknown)
    values, gone = column.values, column.missing
    if entry.gaps or entry.parts:
        gone = missing_in(column)
    if keep is not None:
        values, gone = values[keep], None if gone is None else gone[keep]
    number = filled(entry, values, gone, block)
    if not entry.gaps and not entry.parts:
        return [number]
    there = np.ones(len(number)) if gone is None else (~gone).astype(np.float64)
    columns = [_part(part, number, there) for part in entry.parts or ("days",)]
    return [*columns, 1.0 - there] if entry.gaps else columns


def _part(part: str, days: Array, there: Array) -> Array:
    """Days of dates, or an indicator of a month or weekday; none of them where one is missing."""
    what, _, which = part.partition("=")
    if what == "days":
        return days
    if what == "month":
        return np.where(months_of(days) == int(which), there, 0.0)
    weekdays = (np.floor(days).astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    return np.where(weekdays == WEEKDAYS.index(which), there, 0.0)


def filled(entry: Input, values: NDArray[Any], gone: Keep, block: Block) -> Array:
    """Finite numbers; what is missing is filled in, or refused."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            fine = np.isfinite(values.sum(dtype=np.float64))
        if not fine:
            nan = np.isnan(values)
            if np.isinf(values).any() or (nan.any() and entry.mean is None):
                raise bad_number(values, gone, entry.name, block)
            gone = nan if gone is None else gone | nan
    if gone is None or not gone.any():
        return values
    if entry.mean is None:
        raise missing_values(gone, entry.name, block)
    full = values.astype(np.float64)
    full[gone] = entry.mean
    return full


def places_of_levels(entry: Input, column: Column) -> NDArray[np.int64]:
    """For each level of a column: its place among the input's levels, -1 where it has none."""
    assert entry.levels is not None
    known = {level: k for k, level in enumerate(entry.levels)}
    if not entry.merged:
        return np.array([known.get(level, -1) for level in column.levels], dtype=np.int64)
    other = known[OTHER_LEVEL]
    return np.array([known.get(level, other) for level in column.levels], dtype=np.int64)


def indicators(entry: Input, column: Column, block: Block, keep: Keep, unknown: str) -> list[Array]:
    """An indicator for each level but the first."""
    assert entry.levels is not None
    gone, codes = column.missing, column.values
    if keep is not None:
        codes, gone = codes[keep], None if gone is None else gone[keep]
    gone = gone if gone is not None and gone.any() else None
    blank = _place_of_gaps(entry)
    if gone is not None and blank is None and unknown == "refuse":
        raise missing_values(gone, entry.name, block)
    table = places_of_levels(entry, column)
    if unknown == "refuse" and np.any(table < 0):
        strange = np.isin(codes, np.flatnonzero(table < 0))
        if gone is not None:
            strange &= ~gone
        if strange.any():
            i = int(np.argmax(strange))
            raise DataError(
                f"the column {entry.name!r} has {column.levels[codes[i]]!r} at "
                f"{block.place(i)}, which is none of the {len(entry.levels)} levels that were "
                "learned; learn them again, or use unknown='zeros'."
            )
    places = table[codes] if len(table) else np.zeros(len(codes), dtype=np.int64)
    if gone is not None:
        places = np.where(gone, -1 if blank is None else blank, places)
    return [(places == k).astype(np.float64) for k in range(1, len(entry.levels))]


def _place_of_gaps(entry: Input) -> int | None:
    """The level that stands for a missing value; None where there is none."""
    assert entry.levels is not None
    for level in (MISSING_LEVEL, *([OTHER_LEVEL] if entry.merged else [])):
        if level in entry.levels:
            return entry.levels.index(level)
    return None


def unknown_values(entry: Input, column: Column) -> int:
    """Rows whose text is no level that was learned, and gaps where none were learned."""
    assert entry.levels is not None
    known = {*entry.levels, *entry.merged}
    strange = [k for k, level in enumerate(column.levels) if level not in known]
    rows = np.isin(column.values, strange)
    if column.missing is not None:
        rows = np.where(column.missing, MISSING_LEVEL not in known, rows)
    return int(rows.sum())


def encoded_matrix(
    inputs: tuple[Input, ...], block: Block, places: list[int], keep: Keep, order: Any
) -> Any:
    """Columns of a matrix as they are; gaps filled in, or refused."""
    X = block.matrix
    whole = places == list(range(X.shape[1]))
    near = places == list(range(places[0], places[0] + len(places)))
    if not whole:
        X = X[:, places[0] : places[0] + len(places)] if near else X[:, places]
    X = X if keep is None else X[keep]
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        X = X.astype(np.float64)
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        fine = np.isfinite(values.sum(dtype=np.float64))
    if fine or np.isfinite(values).all():
        return X
    if is_sparse(X):
        X = X.copy()
        for k, entry in enumerate(inputs):
            column = X[:, k].toarray().ravel()
            if not np.isfinite(column).all():
                raise bad_number(column, None, entry.name, block)
    return side_by_side(
        [filled(entry, X[:, k], None, block) for k, entry in enumerate(inputs)], X.shape[0], order
    )


def read_block(entries: Sequence[Input], block: Block, na: Sequence[str]) -> Block:
    """The block with these columns read as their inputs say; others stay."""
    where = {name: j for j, name in enumerate(block.names)}
    columns = [block.column(j) for j in range(len(where))]
    for entry in entries:
        if entry.name in where:
            j = where[entry.name]
            columns[j] = read_column(entry, columns[j], block, na)
    return Block(block.names, tuple(columns), None, block.place)


def side_by_side(columns: Iterable[Array], n: int, order: Literal["C", "F"]) -> Array:
    """Columns as one array (n, p) of float64."""
    columns = list(columns)
    if order == "F":
        X = np.empty((n, len(columns)), order="F")
        for j, column in enumerate(columns):
            X[:, j] = column
        return X
    X = np.empty((n, len(columns)))
    for i in range(0, n, _TILE):
        for j, column in enumerate(columns):
            X[i : i + _TILE, j] = column[i : i + _TILE]
    return X


class ReadSource(Derived):
    """The rows of a source, some columns read another way."""

    def __init__(self, source: Source, entries: Sequence[Input], na: Sequence[str]) -> None:
        super().__init__(source)
        self.entries, self.na = tuple(entries), tuple(na)
        read: dict[str, Kind] = {e.name: "number" if e.levels is None else "text" for e in entries}
        pairs = zip(source.names, source.kinds, strict=True)
        self.kinds = tuple(read.get(name, kind) for name, kind in pairs)

    def of(self, block: Block) -> Block:
        """A block with its columns read as the inputs say."""
        return read_block(self.entries, block, self.na)

    @property
    def fingerprint(self) -> str:
        """Of the source and of how it is read."""
        how = repr(([entry.to_dict() for entry in self.entries], self.na))
        return hashlib.sha256(f"{self.source.fingerprint} {how}".encode()).hexdigest()
