"""Columns of a table to numbers: as they are, or one indicator a level, learned in one pass."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.blocks import blocks
from adaline.data.reading.checks import (
    check_choice,
    check_jobs,
    check_names,
    check_text,
    check_whole,
    wrong_type,
)
from adaline.data.reading.column_facts import (
    Facts,
    bad_number,
    column_at,
    facts_of,
    join,
    looks_like_a_date,
    missing_in,
    missing_values,
    places_in,
    refuse_kind,
)
from adaline.data.reading.source import Block, Column, Source, chosen, place_of
from adaline.errors import DataError
from adaline.mapreduce import mapreduce
from adaline.results import Array
from adaline.tiles import is_sparse

Missing = Literal["refuse", "drop", "mean"]
MISSING, UNKNOWN = ("refuse", "drop", "mean"), ("refuse", "zeros")
MOST_LEVELS = 1000
_TILE = 4096  # rows that are turned from columns to rows at a time


@dataclass(frozen=True)
class Input:
    """One input column: a number (with what stands for a missing one), or text with its levels."""

    name: str
    levels: tuple[str, ...] | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Encoding:
    """How rows of a table become rows of numbers; plain data, learned once and kept with a model.

    Numbers stay as they are. Text (words, booleans, categories) becomes an indicator for each
    level but the first in sorted order, against which the others are measured.

    Parameters
    ----------
    inputs : tuple of Input
    missing : {"refuse", "drop", "mean"}
        What to do with a missing value (a null, an empty field or NaN): say where it is, leave its
        row out, or put the column's mean in its place.
    unknown : {"refuse", "zeros"}
        What to do with a level that was not there when learning: say which, or give it no
        indicator, which is what the first level has.

    Examples
    --------
    >>> import polars as pl
    >>> from adaline.data import Encoding, blocks
    >>> table = pl.DataFrame({"size": [1.5, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> encoding = Encoding.learn(table)
    >>> encoding.names
    ('size', 'colour=red')
    >>> [encoding.encode(block) for block in blocks(table)]
    [array([[1.5, 1. ], [2. , 0. ], [3. , 1. ]])]
    """

    inputs: tuple[Input, ...]
    missing: Missing = "refuse"
    unknown: Literal["refuse", "zeros"] = "refuse"

    def __post_init__(self) -> None:
        if not isinstance(self.inputs, tuple) or not all(isinstance(i, Input) for i in self.inputs):
            raise wrong_type("inputs", self.inputs, "a tuple of Input, as Encoding.learn gives")
        check_choice("missing", self.missing, MISSING)
        check_choice("unknown", self.unknown, UNKNOWN)

    @classmethod
    def learn(
        cls,
        source: Any,
        target: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        missing: Missing = "refuse",
        unknown: Literal["refuse", "zeros"] = "refuse",
        most_levels: int = MOST_LEVELS,
        jobs: int = 1,
    ) -> Encoding:
        """The encoding of all columns but the target; no pass where all are plain numbers.

        Parameters
        ----------
        source : path, table, array, iterable, or what `blocks` gave
        target : str, optional
            A column that is not an input.
        columns : sequence of str, optional
            The input columns; all but the target by default.
        missing, unknown
            As in the class.
        most_levels : int, default=1000
            A column of text with more levels is refused.
        jobs : int, default=1
            Processes that read.
        """
        check_choice("missing", missing, MISSING)
        check_choice("unknown", unknown, UNKNOWN)
        check_names("columns", columns)
        check_whole("most_levels", most_levels, 1)
        check_jobs(jobs)
        if target is not None:
            check_text("target", target, "the name of a column")
        source = blocks(source)
        names = list(source.names)
        if target is not None:
            place_of(target, names, source.name, "target column")
        picked = [j for j in chosen(columns, names, source.name) if names[j] != target]
        if not picked:
            raise DataError(f"{source.name}: there are no columns beside the target.")
        for j in picked:
            refuse_kind(source.kinds[j], names[j], source.name)
        text = [names[j] for j in picked if source.kinds[j] == "text"]
        numbers = [names[j] for j in picked if source.kinds[j] == "number"]
        facts = Facts({}, {})
        if text or (missing == "mean" and numbers):
            look = functools.partial(
                facts_of,
                source=source,
                text=text,
                numbers=numbers if missing == "mean" else [],
                most=most_levels,
            )
            facts = mapreduce(
                look, source.descriptors(), functools.partial(join, most_levels), jobs
            )
        return cls(
            tuple(_input(names[j], source, facts, missing) for j in picked), missing, unknown
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns: "size", "colour=red"."""
        return _encoded_names(self.inputs)

    def groups(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each input column with the encoded columns that are made of it, in their order."""
        return [(entry.name, _encoded_names((entry,))) for entry in self.inputs]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` takes it back."""
        plain = asdict(self)
        plain["inputs"] = [
            {**entry, "levels": None if entry["levels"] is None else list(entry["levels"])}
            for entry in plain["inputs"]
        ]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Encoding:
        """The encoding that `to_dict` described; anything else is refused."""
        if not isinstance(plain, Mapping):
            raise wrong_type("plain", plain, "a mapping, as Encoding.to_dict gives")
        try:
            inputs = tuple(
                Input(
                    str(entry["name"]),
                    None if entry["levels"] is None else tuple(map(str, entry["levels"])),
                    None if entry["mean"] is None else float(entry["mean"]),
                )
                for entry in plain["inputs"]
            )
            missing, unknown = plain["missing"], plain["unknown"]
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise DataError(f"this describes no encoding: {error!r}.") from None
        if missing not in ("refuse", "drop", "mean") or unknown not in ("refuse", "zeros"):
            raise DataError(f"this describes no encoding: missing={missing!r}.")
        return cls(inputs, missing, unknown)

    def kept(self, block: Block, target: str | None = None) -> NDArray[np.bool_] | None:
        """Which rows to keep when missing="drop"; None where all are kept."""
        if not isinstance(block, Block):
            raise wrong_type("block", block, "a Block, such as blocks(source) gives")
        if target is not None:
            check_text("target", target, "the name of a column")
        if self.missing != "drop":
            return None
        wanted = [entry.name for entry in self.inputs] + ([target] if target is not None else [])
        keep = np.ones(block.rows, dtype=bool)
        for j in places_in(block, wanted):
            gone = missing_in(column_at(block, j))
            if gone is not None:
                keep &= ~gone
        return None if keep.all() else keep

    def encode(
        self,
        block: Block,
        keep: NDArray[np.bool_] | None = None,
        order: Literal["C", "F"] = "C",
        *,
        check: bool = True,
    ) -> Any:
        """Rows of numbers (n, p): float64, or CSR where the block is.

        Parameters
        ----------
        block : Block
        keep : ndarray of bool, optional
            Rows to encode, from `kept`, which is asked where none are given.
        order : {"C", "F"}
            Whether rows or columns are to lie together in memory.
        check : bool
            Whether to look for infinities and NaN; who sums all numbers sees them in the sums.
        """
        check_choice("order", order, ("C", "F"))
        keep = self.kept(block) if keep is None else _chosen_rows(keep, block.rows)
        places = places_in(block, [entry.name for entry in self.inputs])
        if block.matrix is not None:
            return self._matrix(block, places, keep, order)
        n = block.rows if keep is None else int(keep.sum())
        columns: list[Array] = []
        for entry, j in zip(self.inputs, places, strict=True):
            plain = not check and entry.levels is None and entry.mean is None
            if plain and block.columns[j].kind == "number" and block.columns[j].missing is None:
                values = block.columns[j].values
                columns.append(values if keep is None else values[keep])
            else:
                columns += self._encoded(entry, block, j, keep)
        return _side_by_side(columns, n, order)

    def _matrix(
        self, block: Block, places: list[int], keep: NDArray[np.bool_] | None, order: Any
    ) -> Any:
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
            for k, entry in enumerate(self.inputs):
                column = X[:, k].toarray()[:, 0]
                if not np.isfinite(column).all():
                    raise bad_number(column, None, entry.name, block)
        return _side_by_side(
            [self._number(entry, X[:, k], None, block) for k, entry in enumerate(self.inputs)],
            X.shape[0],
            order,
        )

    def _encoded(
        self, entry: Input, block: Block, j: int, keep: NDArray[np.bool_] | None
    ) -> list[Array]:
        column = block.columns[j]
        wanted = "number" if entry.levels is None else "text"
        if column.kind != wanted:
            raise DataError(
                f"the column {entry.name!r} holds {column.kind}, and held {wanted} when the "
                "encoding was learned; give it the same type."
            )
        if entry.levels is not None:
            return self._indicators(entry, column, block, keep)
        gone = column.missing
        values = column.values
        if keep is not None:
            values, gone = values[keep], None if gone is None else gone[keep]
        return [self._number(entry, values, gone, block)]

    def _number(
        self, entry: Input, values: NDArray[Any], gone: NDArray[np.bool_] | None, block: Block
    ) -> Array:
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
        filled = values.astype(np.float64)
        filled[gone] = entry.mean
        return filled

    def _indicators(
        self, entry: Input, column: Column, block: Block, keep: NDArray[np.bool_] | None
    ) -> list[Array]:
        assert entry.levels is not None
        gone, codes = column.missing, column.values
        if keep is not None:
            codes, gone = codes[keep], None if gone is None else gone[keep]
        if gone is not None and gone.any():
            raise missing_values(gone, entry.name, block)
        known = {level: k for k, level in enumerate(entry.levels)}
        table = np.array([known.get(level, -1) for level in column.levels], dtype=np.int64)
        if self.unknown == "refuse" and np.any(table < 0):
            strange = np.isin(codes, np.flatnonzero(table < 0))
            if strange.any():
                i = int(np.argmax(strange))
                raise DataError(
                    f"the column {entry.name!r} has {column.levels[codes[i]]!r} at "
                    f"{block.place(i)}, which is none of the {len(known)} levels that were "
                    "learned; learn them again, or use unknown='zeros'."
                )
        places = table[codes] if len(table) else np.zeros(len(codes), dtype=np.int64)
        return [(places == k).astype(np.float64) for k in range(1, len(entry.levels))]


def _chosen_rows(keep: Any, rows: int) -> NDArray[np.bool_]:
    good = isinstance(keep, np.ndarray) and keep.dtype == bool and keep.shape == (rows,)
    if not good:
        raise wrong_type("keep", keep, f"an array of {rows} booleans")
    return np.asarray(keep)


@functools.lru_cache(maxsize=32)
def _encoded_names(inputs: tuple[Input, ...]) -> tuple[str, ...]:
    names: list[str] = []
    for entry in inputs:
        if entry.levels is None:
            names.append(entry.name)
        else:
            names += [f"{entry.name}={level}" for level in entry.levels[1:]]
    return tuple(names)


def _input(name: str, source: Source, facts: Facts, missing: str) -> Input:
    if name in facts.levels:
        levels = facts.levels[name]
        if levels and all(looks_like_a_date(level) for level in levels):
            refuse_kind("date", name, source.name)
        return Input(name, levels)
    if missing != "mean":
        return Input(name)
    n, mean = facts.means[name]
    if n == 0:
        raise DataError(f"{source.name}: every value of the column {name!r} is missing; drop it.")
    return Input(name, None, mean)


def _side_by_side(columns: Iterable[Array], n: int, order: Literal["C", "F"]) -> Array:
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
