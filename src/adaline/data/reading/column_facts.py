"""What an encoding has to know of all rows: levels of text, means of numbers; columns by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.source import Block, Column, Piece, Source, place_of
from adaline.errors import DataError
from adaline.tiles import is_sparse


@dataclass(frozen=True)
class Facts:
    """Levels of text columns, and count and mean of numbers."""

    levels: dict[str, tuple[str, ...]]
    means: dict[str, tuple[int, float]]


def facts_of(
    piece: Piece, source: Source, text: Sequence[str], numbers: Sequence[str], most: int
) -> Facts:
    block = source.read(piece)
    levels, means = {}, {}
    for name in text:
        (j,) = places_in(block, [name])
        levels[name] = _few(block.columns[j].levels, name, most)
    for name in numbers:
        (j,) = places_in(block, [name])
        column = column_at(block, j)
        gone = missing_in(column)
        there = column.values if gone is None else column.values[~gone]
        if len(there):
            middle = float(there[0]) if np.isfinite(there[0]) else 0.0
            means[name] = len(there), middle + float(np.mean(there - middle, dtype=np.float64))
        else:
            means[name] = 0, 0.0
    return Facts(levels, means)


def join(most: int, a: Facts, b: Facts) -> Facts:
    levels = {
        name: _few(tuple(sorted({*found, *b.levels[name]})), name, most)
        for name, found in a.levels.items()
    }
    means = {}
    for name, (n, mean) in a.means.items():
        m, other = b.means[name]
        means[name] = n + m, mean + (other - mean) * (m / (n + m) if n + m else 0.0)
    return Facts(levels, means)


def _few(levels: tuple[str, ...], name: str, most: int) -> tuple[str, ...]:
    if len(levels) > most:
        dates = all(looks_like_a_date(level) for level in levels[:20])
        what = "look like dates" if dates else "may be names or numbers of things"
        raise DataError(
            f"the column {name!r} has more than {most} levels ({levels[0]!r}, {levels[1]!r}, ...), "
            f"which {what}; leave it out (columns=), make numbers of it, or raise most_levels."
        )
    return levels


def looks_like_a_date(text: str) -> bool:
    return len(text) >= 8 and text[:4].isdigit() and text[4:5] in "-/" and text[5:7].isdigit()


def refuse_kind(kind: str, name: str, source: str) -> None:
    if kind == "date":
        raise DataError(
            f"{source}: the column {name!r} holds dates or times, which are no numbers until "
            "someone says how; make numbers of it (a year, days since a day), or leave it out."
        )
    if kind == "other":
        raise DataError(
            f"{source}: the column {name!r} holds neither numbers nor text; leave it out."
        )


def places_in(block: Block, wanted: Sequence[str]) -> list[int]:
    names = list(block.names)
    if names[: len(wanted)] == list(wanted):
        return list(range(len(wanted)))
    where = {name: j for j, name in enumerate(names)}
    return [where[n] if n in where else place_of(n, names, "the table") for n in wanted]


def column_at(block: Block, j: int) -> Column:
    """A column, also of a matrix."""
    if block.matrix is None:
        return block.columns[j]
    values = block.matrix[:, j]
    return Column("number", values.toarray()[:, 0] if is_sparse(values) else np.asarray(values))


def column_of(block: Block, name: str) -> Column:
    """The column of this name."""
    return column_at(block, places_in(block, [name])[0])


def missing_in(column: Column) -> NDArray[np.bool_] | None:
    """Which values are missing, NaN included; None where none is."""
    gone = column.missing
    if column.kind == "number" and column.values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(column.values.sum(dtype=np.float64)):
                nan = np.isnan(column.values)
                gone = nan if gone is None else gone | nan
    return gone if gone is not None and gone.any() else None


def bad_number(values: NDArray[Any], gone: Any, name: str, block: Block) -> DataError:
    """Where the first infinity is, or the first NaN."""
    infinite = np.isinf(values)
    if infinite.any():
        i, word, count = int(np.argmax(infinite)), "an infinite value", int(infinite.sum())
        more = "a number beyond 1.8e308, or inf; correct it or leave the row out."
    else:
        nan = np.isnan(values) if gone is None else np.isnan(values) | gone
        i, word, count = int(np.argmax(nan)), "NaN or nothing", int(nan.sum())
        more = "leave those rows out (missing='drop') or fill in the mean (missing='mean')."
    at = block.place(i) if len(values) == block.rows else "a row"
    return DataError(f"the column {name!r} has {word} at {at} ({count} in this block): {more}")


def missing_values(gone: NDArray[np.bool_], name: str, block: Block) -> DataError:
    """Where the first missing value is, and how many there are."""
    at = block.place(int(np.argmax(gone))) if len(gone) == block.rows else "a row"
    return DataError(
        f"the column {name!r} has {int(gone.sum())} missing values in one block, the first at "
        f"{at}; leave those rows out (missing='drop'), or for numbers fill in the mean "
        "(missing='mean')."
    )
