"""`table`: rows of a file as arrays to learn from, and rows held out, as the command does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.study import study
from adaline.data.fitting.fit import counted_rows as counted_rows
from adaline.data.reading.blocks import blocks
from adaline.data.reading.checks import check_number, check_text, check_truth, check_whole
from adaline.data.reading.scratch import SCRATCH as SCRATCH
from adaline.data.reading.scratch import kept_in as kept_in
from adaline.data.reading.source import Source, place_of
from adaline.data.sharing import Share, column, labels
from adaline.errors import DataError
from adaline.parameters import weights_of
from adaline.results import Result


@dataclass(frozen=True, eq=False)
class Table(Result):
    """A file made ready to learn from: what `table` gives.

    Rows are read when they are first asked for; `learned` and `held_out` are sources that
    `adaline.data.fit` takes block by block, for files that do not fit in memory.

    Attributes
    ----------
    target : str
    encoding : Encoding
        How columns become numbers; give it to `adaline.save` with the model.
    learned, held_out : Source
        The rows to learn from and the others; `held_out` is None where there are none.
    """

    target: str
    encoding: Encoding
    learned: Source
    held_out: Source | None = None

    @property
    def X(self) -> Any:
        """Rows to learn from, (n, p): an array, or CSR."""
        return self._learned[0]

    @property
    def y(self) -> NDArray[Any]:
        """Their targets: text, whole numbers, or numbers."""
        return labels(self._learned[1])

    @property
    def X_held_out(self) -> Any:
        """The rows that are held out."""
        return self._held_out[0]

    @property
    def y_held_out(self) -> NDArray[Any]:
        """Their targets."""
        return labels(self._held_out[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return self.encoding.names

    @property
    def left_out(self) -> int:
        """How many rows to learn from were left out for missing values."""
        return int(self._learned[2])

    def column(self, name: str, *, in_order: bool = False) -> NDArray[Any]:
        """A column of the rows to learn from, such as weights, groups or times.

        `in_order` reads dates and numbers as such, so that they sort, however they are written.
        """
        check_text("name", name, "the name of a column")
        check_truth("in_order", in_order)
        place_of(name, self.learned.names, self.learned.name, "column")
        return columns_beside(
            self.learned, self.encoding, self.target, {name: name}, name if in_order else None
        )[name]

    def weights(self, name: str | None = None, *, balanced: bool = False) -> Any:
        """Weights of the rows to learn from, for `fit(X, y, sample_weight=...)`.

        Parameters
        ----------
        name : str, optional
            A column of weights; 1 for every row by default.
        balanced : bool
            Whether every class is to have the same weight in all.
        """
        check_truth("balanced", balanced)
        given = None if name is None else self.column(name)
        omega = row_weights(self.y, given, name, balanced)
        return np.ones(len(self.y)) if omega is None else omega

    @cached_property
    def _learned(self) -> tuple[Any, NDArray[Any], int]:
        return gathered(self.learned, self.encoding, self.target)

    @cached_property
    def _held_out(self) -> tuple[Any, NDArray[Any], int]:
        if self.held_out is None:
            raise ValueError("no rows are held out; give table(..., share=0.2).")
        return gathered(self.held_out, self.encoding, self.target)


def table(
    source: Any,
    target: str,
    options: ColumnOptions | None = None,
    *,
    share: float = 0.0,
    seed: int = 0,
    stratified: bool = False,
    encoding: Encoding | None = None,
    **given: Any,
) -> Table:
    """Read a file or table as `adaline fit` does: columns to numbers, and some rows held out.

    Parameters
    ----------
    source : path, table, array, or what `blocks` gave
    target : str
        The name of the column to learn.
    options : ColumnOptions, optional
        What is known of the columns, as in `look`.
    share : float
        The share of the rows to hold out, from 0 to below 1. A hash of the seed and of a row's
        place decides, so the same file gives the same rows.
    seed : int
    stratified : bool
        Whether every class keeps its share.
    encoding : Encoding, optional
        How columns become numbers; learned from the source by default.
    **given
        Fields of `ColumnOptions`; missing is "auto" and unknown "zeros" by default.

    Returns
    -------
    Table

    Examples
    --------
    >>> import polars as pl
    >>> from adaline import Ridge
    >>> from adaline.data import table
    >>> size = [30.0 + 3 * i for i in range(20)]
    >>> flats = pl.DataFrame({"size": size, "rent": [300 + 10 * s for s in size]})
    >>> rows = table(flats, "rent", share=0.2)
    >>> rows.X.shape, rows.X_held_out.shape, rows.names
    ((16, 1), (4, 1), ('size',))
    >>> round(Ridge(alpha=0.0).fit(rows.X, rows.y).score(rows.X_held_out, rows.y_held_out), 3)
    1.0
    """
    check_text("target", target, "the name of the column to learn")
    check_number("share", share, 0.0)
    if not share < 1:
        raise ValueError(f"share is {share!r}; expected a share of the rows, from 0 to below 1.")
    check_whole("seed", seed, -(2**63))
    check_truth("stratified", stratified)
    rows = blocks(source)
    place_of(target, rows.names, rows.name, "target column")
    if encoding is None:
        options = ColumnOptions.of(options, target, given, missing="auto", unknown="zeros")
        encoding = Encoding.of(study(rows, options))
    rows = encoding.prepare(rows)
    if not share:
        return Table(target, encoding, rows)
    by = target if stratified else None
    learned = Share(rows, seed, share, False, by)
    return Table(target, encoding.with_means(learned), learned, Share(rows, seed, share, True, by))


def gathered(
    source: Source, encoding: Encoding, target: str, *, counts: bool = False
) -> tuple[Any, NDArray[Any], int]:
    """X, the target's values and the number of rows left out; counts must not be negative."""
    X: list[Any] = []
    y: list[Any] = []
    left_out = 0
    for block in source:
        keep = encoding.kept(block, target)
        values, missing = column(block, target)
        if keep is None and missing.any():
            at = block.place(int(np.argmax(missing)))
            raise DataError(
                f"the target {target!r} is missing at {at} ({int(missing.sum())} in this block)",
                ("missing", "drop", "leaves those rows out"),
            )
        negative = counts and values.dtype.kind != "O" and (values < 0) & ~missing
        if np.any(negative):
            i = int(np.argmax(negative))
            raise DataError(
                f"{source.name}: the target {target!r} is {values[i]:g} at {block.place(i)}; "
                "counts are not negative; correct it or leave that row out."
            )
        left_out += 0 if keep is None else int((~keep).sum())
        X.append(encoding.encode(block, keep))
        y.append(values if keep is None else values[keep])
    if not sum(map(len, y)):
        raise DataError(f"{source.name}: no rows are left to learn from.")
    rows = sparse.vstack(X).tocsr() if sparse.issparse(X[0]) else np.concatenate(X)
    return rows, np.concatenate(y), left_out


def columns_beside(
    source: Source,
    encoding: Encoding,
    target: str,
    wanted: Mapping[str, str],
    in_order: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Columns that are no inputs, of the rows that are learned from; keys say what they are."""
    if in_order is not None:  # dates in their order, however they are written
        options = ColumnOptions(columns=[in_order], missing="auto")
        source = Encoding.of(study(source, options)).prepare(source)
    parts: dict[str, list[NDArray[Any]]] = {option: [] for option in wanted}
    for block in source:
        keep = encoding.kept(block, target)
        for option, name in wanted.items():
            values, missing = column(block, name)
            if keep is not None:
                values, missing = values[keep], missing[keep]
            if missing.any():
                called = repr(name) if option == name else f"{option} {name!r}"
                raise DataError(
                    f"{called} is missing in {int(missing.sum())} of {len(missing)} rows; "
                    "fill it in, or leave these rows out of the file."
                )
            parts[option].append(values)
    return {option: np.concatenate(values) for option, values in parts.items()}


def row_weights(
    y: NDArray[Any], given: NDArray[Any] | None, name: str | None, balanced: bool
) -> NDArray[np.float64] | None:
    """Weights of rows, or None if all count the same; `name` is the column of those given.

    Balanced: every class gets the same weight in all, and the weights sum to the number of rows.

    >>> row_weights(np.array(["a", "b", "b", "b"]), None, None, True).round(3)
    array([2.   , 0.667, 0.667, 0.667])
    """
    called = f"the column of weights {name!r}"
    if given is not None and given.dtype.kind == "O":
        raise DataError(f"{called} holds text such as {str(given[0])[:40]!r}; expected numbers.")
    omega = weights_of(called, given, len(y))
    if not balanced:
        return omega
    omega = np.ones(len(y)) if omega is None else omega
    classes, places = np.unique(y, return_inverse=True)
    totals = np.bincount(places, weights=omega)
    if not totals.all():
        empty = str(classes[int(np.argmin(totals))])
        raise DataError(f"balanced: the class {empty!r} has no weight; leave its rows out.")
    return np.asarray(omega * (omega.sum() / len(classes) / totals)[places])
