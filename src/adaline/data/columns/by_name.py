"""Columns of a block by name, and which of their values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.source import Block, Column, place_of
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
