"""`table`: rows of a file as arrays to learn from, and rows held out, as the command does it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.look import study
from adaline.data.columns.options import ColumnOptions
from adaline.data.fitting.chunks import Reader
from adaline.data.reading.blocks import blocks
from adaline.data.reading.scratch import SCRATCH as SCRATCH
from adaline.data.reading.scratch import kept_in as kept_in
from adaline.data.reading.source import Source, place_of
from adaline.data.sharing import Share, column, labels
from adaline.errors import DataError
from adaline.estimators.costs import weights_by_class
from adaline.parameters import FLAG, count, number, text, weights_of
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
        return self._learned[1]

    @property
    def X_held_out(self) -> Any:
        """The rows that are held out."""
        return self._held_out[0]

    @property
    def y_held_out(self) -> NDArray[Any]:
        """Their targets."""
        return self._held_out[1]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return self.encoding.names

    @property
    def left_out(self) -> int:
        """How many rows to learn from were left out for missing values."""
        return self._learned[2]

    def column(self, name: str, *, in_order: bool = False) -> NDArray[Any]:
        """A column of the rows to learn from, such as weights, groups or times.

        `in_order` reads dates and numbers as such, so that they sort, however they are written.
        """
        text("the name of a column")("name", name)
        FLAG("in_order", in_order)
        source, parts = self.learned, []
        place_of(name, source.names, source.name, "column")
        if in_order:
            options = ColumnOptions(columns=[name], missing="auto")
            source = study(source, options).encoding.prepare(source)
        for block in source:
            keep = self.encoding.kept(block, self.target)
            values, missing = column(block if keep is None else block.kept(keep), name)
            if missing.any():
                raise DataError(
                    f"{name!r} is missing in {int(missing.sum())} of {len(missing)} rows; fill it "
                    "in, or leave these rows out of the file."
                )
            parts.append(values)
        return np.concatenate(parts)

    def weights(self, name: str | None = None, *, balanced: bool = False) -> Any:
        """Weights of the rows to learn from, for `fit(X, y, sample_weight=...)`.

        Parameters
        ----------
        name : str, optional
            A column of weights; 1 for every row by default.
        balanced : bool
            Whether every class is to have the same weight in all.
        """
        FLAG("balanced", balanced)
        what, given = f"the column of weights {name!r}", None if name is None else self.column(name)
        if given is not None and given.dtype.kind == "O":
            raise DataError(f"{what} holds text such as {given[0][:40]!r}; expected numbers.")
        classes, codes = np.unique(self.y, return_inverse=True)
        omega = weights_of(what, given, len(codes))
        omega = weights_by_class("balanced" if balanced else None, classes, codes, omega)
        return np.ones(len(codes)) if omega is None else omega

    @cached_property
    def _learned(self) -> tuple[Any, NDArray[Any], int]:
        return gather(self.learned, self.encoding, self.target)

    @cached_property
    def _held_out(self) -> tuple[Any, NDArray[Any], int]:
        if self.held_out is None:
            raise ValueError("no rows are held out; give table(..., share=0.2).")
        return gather(self.held_out, self.encoding, self.target)


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
    text("the name of the column to learn")("target", target)
    number(0.0, 1.0, below=True)("share", share)
    count(-(2**63))("seed", seed)
    FLAG("stratified", stratified)
    rows = blocks(source)
    place_of(target, rows.names, rows.name, "target column")
    options = ColumnOptions.of(options, target, given, missing="auto", unknown="zeros")
    encoding = study(rows, options).encoding if encoding is None else encoding
    rows = encoding.prepare(rows)
    if not share:
        return Table(target, encoding, rows)
    by = target if stratified else None
    learned, out = (Share(rows, seed, share, is_out, by) for is_out in (False, True))
    return Table(target, encoding.with_means(learned, options.jobs), learned, out)


def gather(source: Source, encoding: Encoding, target: str) -> tuple[Any, NDArray[Any], int]:
    """X, the target's values, and the number of rows left out."""
    X, y, rows, reader = [], [], 0, Reader(encoding.names, target, source.name, encoding)
    for block in source:
        keep, values, levels = reader.targets(block)
        rows += block.rows
        X.append(encoding.encode(block, keep))
        y.append(values if levels is None else levels.take(values))
    taken = sum(map(len, y))
    if not taken:
        raise DataError(f"{source.name}: no rows are left to learn from.")
    every = sparse.vstack(X).tocsr() if sparse.issparse(X[0]) else np.concatenate(X)
    return every, labels(np.concatenate(y)), rows - taken


def counted_rows(
    source: Source, encoding: Encoding, target: str, exposure: str | None, loss: Any
) -> Any:
    """X, the targets and the logarithms of the exposures, of a source that fits in memory."""
    reader = Reader(encoding.names, target, source.name, encoding, exposure, loss)
    chunks = [reader.read(block) for block in source]
    return tuple(
        np.concatenate([getattr(c, part) for c in chunks]) for part in ("X", "y", "offset")
    )
