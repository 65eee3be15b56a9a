"""Columns of a block by name, their missing values, and sentences that say where those are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.checks import wrong_type
from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.source import Block, Column, place_of
from adaline.errors import DataError
from adaline.parameters import is_sparse


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
        entries = slice(self.sparse.indptr[j], self.sparse.indptr[j + 1])
        values = np.zeros(self.block.rows, dtype=self.sparse.dtype)
        values[self.sparse.indices[entries]] = self.sparse.data[entries]
        return Column("number", values)


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
        more = (
            "a number beyond 1.8e308, or inf; correct it, leave the row out, or say that it stands "
            "for a missing value (na=['inf']; --na inf on the command line)."
        )
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


def check_block(block: Any) -> None:
    """Raise TypeError where something else came."""
    if not isinstance(block, Block):
        raise wrong_type("block", block, "a Block, such as blocks(source) gives")


def chosen_rows(keep: Any, rows: int) -> NDArray[np.bool_]:
    """The mask that chooses rows; raises TypeError where it is none."""
    good = isinstance(keep, np.ndarray) and keep.dtype == bool and keep.shape == (rows,)
    if not good:
        raise wrong_type("keep", keep, f"an array of {rows} booleans")
    return np.asarray(keep)
