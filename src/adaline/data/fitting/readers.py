"""Readers: blocks of tables and of LIBSVM text as chunks of numbers, with errors that name the row.

`fit` makes one, and `Chunks` calls it for every block, in whatever process that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import Input, column_of, missing_in
from adaline.data.fitting.chunks import Chunk, Part, count_labels, encode_labels
from adaline.data.reading.libsvm import FeatureNames
from adaline.data.reading.source import Block, Source
from adaline.errors import DataError
from adaline.results import Array
from adaline.sums.losses import LARGEST_OFFSET
from adaline.sums.scaled_rows import MANY

NONE = np.empty(0)


@dataclass(frozen=True)
class TableReader:
    """Blocks to X, the target and the exposure; `loss` says which targets it takes."""

    encoding: Encoding
    target: str
    exposure: str | None
    source: str  # for messages
    loss: Any = None
    labels: tuple[Any, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns of X."""
        return self.encoding.names

    def read(self, block: Block, order: Any) -> Chunk:
        """X, codes of classes or numbers, and the logarithms of the exposures."""
        keep, column = self._choose_rows(block)
        if self.labels is not None:
            values, levels = self._label_values(column, keep)
            codes = encode_labels(values if levels is None else levels, self.labels)
            if levels is not None:
                codes, values = codes[values], levels.take(values)
            said = f"it is not among the classes {str(list(self.labels))[:80]}."
            self._refuse(codes < 0, values, f"target {self.target!r}", block, keep, said)
            return Chunk(self.encoding.encode(block, keep, order), codes, NONE, NONE)
        y = self._numbers(column, keep, "target", self.target, "Use a classifier")
        said = "leave that row out."
        self._refuse(~np.isfinite(y), y, f"target {self.target!r}", block, keep, said)
        X, offset = self.encoding.encode(block, keep, order), NONE
        if self.loss is not None:
            said = f"{self.loss.told}; correct it or leave that row out."
            self._refuse(self.loss.bad(y), y, f"target {self.target!r}", block, keep, said)
        if self.exposure is not None:
            column = column_of(block, self.exposure)
            times = self._numbers(column, keep, "exposure", self.exposure, "Give positive numbers")
            with np.errstate(invalid="ignore", divide="ignore"):
                offset = np.log(times)
            said = "exposures are positive numbers; correct it or leave that row out."
            bad = ~(np.abs(offset) <= LARGEST_OFFSET)
            self._refuse(bad, times, f"exposure {self.exposure!r}", block, keep, said)
        return Chunk(X, y, NONE, offset)

    def count_labels(self, block: Block) -> Part:
        """The labels in the rows that are kept."""
        keep, column = self._choose_rows(block)
        values, levels = self._label_values(column, keep)
        if levels is None:
            return count_labels(values, NONE, self.target)
        counts = np.bincount(values, minlength=len(levels))
        part = count_labels(levels[counts > 0], counts[counts > 0].astype(np.float64), self.target)
        return Part(len(values), part.value)

    def _label_values(self, column: Any, keep: Any) -> tuple[NDArray[Any], Any]:
        """The values of the rows; of text their places among the levels, which come, too."""
        values = np.asarray(column.values if keep is None else column.values[keep])
        if column.kind not in ("number", "text"):
            raise DataError(
                f"the target {self.target!r} holds {column.kind}; classes are numbers or text."
            )
        return values, np.array(column.levels, dtype=object) if column.kind == "text" else None

    def _numbers(self, column: Any, keep: Any, what: str, name: str, advice: str) -> Array:
        if column.kind != "number":
            raise DataError(
                f"the {what} {name!r} holds {column.kind}; a regressor needs numbers. {advice}, or "
                "another column."
            )
        values = column.values if keep is None else column.values[keep]
        return np.asarray(values, dtype=np.float64)

    def _choose_rows(self, block: Block) -> tuple[Any, Any]:
        keep, column = self.encoding.kept(block, self.target), column_of(block, self.target)
        drop = self.encoding.missing in ("drop", "auto")
        for what, name in (("target", self.target), ("exposure", self.exposure)):
            gone = None if name is None else missing_in(column_of(block, name))
            if gone is None:
                continue
            if not drop:
                raise DataError(
                    f"{self.source}: the {what} {name!r} is missing at "
                    f"{block.place(int(np.argmax(gone)))} ({int(gone.sum())} in this block)",
                    ("missing", "drop", "leaves those rows out"),
                )
            keep = ~gone if keep is None else keep & ~gone
        return keep, column

    def _refuse(self, bad: Any, values: Any, what: str, block: Block, keep: Any, said: str) -> None:
        """Name the first bad value and its row; bad and values are of the rows kept."""
        if not bad.any():
            return
        i = int(np.argmax(bad))
        row = i if keep is None else int(np.flatnonzero(keep)[i])
        shown = f"{values[i]:g}" if values.dtype.kind == "f" else repr(values[i])
        raise DataError(f"{self.source}: the {what} is {shown} at {block.place(row)}; {said}")


@dataclass(frozen=True)
class FeatureReader:
    """Blocks of LIBSVM text as they are: millions of columns need no encoding and no names."""

    names: FeatureNames
    target: str
    source: str  # for messages
    loss: Any = None
    labels: tuple[Any, ...] | None = None

    def read(self, block: Any, order: Any) -> Chunk:
        """X and the labels, or the codes of classes."""
        X, y = block.features, self._label_values(block)
        if not np.isfinite(X.data).all():
            k = int(np.argmin(np.isfinite(X.data)))
            row = int(np.searchsorted(X.indptr, k, side="right")) - 1
            raise DataError(
                f"{self.source}: {block.place(row)} has {X.data[k]} in the column "
                f"{self.names[int(X.indices[k])]!r}; correct it or leave that row out."
            )
        if self.labels is None:
            return Chunk(X, y, NONE, NONE)
        codes = encode_labels(y, self.labels)
        if (codes < 0).any():
            i = int(np.argmin(codes))
            raise DataError(
                f"{self.source}: the label {y[i]:g} at {block.place(i)} is not among the classes "
                f"{str(list(self.labels))[:80]}."
            )
        return Chunk(X, codes, NONE, NONE)

    def count_labels(self, block: Any) -> Part:
        """The labels in a block."""
        return count_labels(self._label_values(block), NONE, self.target)

    def _label_values(self, block: Any) -> Array:
        y = np.asarray(block.labels)
        if not np.isfinite(y).all():
            at = block.place(int(np.argmin(np.isfinite(y))))
            raise DataError(
                f"{self.source}: the label at {at} is {y[~np.isfinite(y)][0]}; labels are numbers. "
                "Leave that row out."
            )
        return y


def feature_reader(source: Source, target: str, encoding: Encoding | None) -> FeatureReader | None:
    """A reader of numbered columns, where they are too many for an encoding.

    An encoding that takes every column as the number that it is may be given.
    """
    names = source.names
    if not isinstance(names, FeatureNames) or names.size <= MANY or target != names[0]:
        return None
    reader = FeatureReader(names.features(), target, source.name)
    if encoding is None:
        return reader
    is_plain = encoding.inputs == plain_encoding(reader).inputs
    return reader if is_plain and not encoding.terms and not encoding.na else None


def plain_encoding(reader: FeatureReader) -> Encoding:
    """Each column as the number that it is: what predictions from files need."""
    return Encoding(tuple(map(Input, reader.names)))
