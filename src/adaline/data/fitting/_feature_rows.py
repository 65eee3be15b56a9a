"""Rows of LIBSVM text as they are: millions of columns need no encoding and no names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import Input
from adaline.data.fitting._passes import label_codes
from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.source import Source
from adaline.errors import DataError
from adaline.results import Array
from adaline.sums.scaled_rows import MANY


@dataclass(frozen=True)
class FeatureRows:
    """Blocks of LIBSVM text to X and labels."""

    names: FeatureNames
    target: str
    source: str  # for messages

    def weights(self, block: Any) -> Array:
        """All rows count the same."""
        return np.empty(0)

    def labels(self, block: Any, order: Any) -> tuple[Any, tuple[Any, ...], NDArray[np.int64]]:
        """X, the labels in the block (sorted), and which of them each row has."""
        X, y = self.numbers(block, order)
        return (X, *label_codes(y, self.target))

    def codes(self, block: Any) -> tuple[tuple[Any, ...], NDArray[np.int64], Any]:
        """The labels in the block (sorted), which of them each row has, and that all are kept."""
        return (*label_codes(self._numbers_of(block), self.target), None)

    def numbers(self, block: Any, order: Any, check: bool = True) -> tuple[Any, Array]:
        """X and the labels as numbers; all of them finite."""
        X, y = block.features, self._numbers_of(block)
        if not np.isfinite(X.data).all():
            k = int(np.argmin(np.isfinite(X.data)))
            row = int(np.searchsorted(X.indptr, k, side="right")) - 1
            raise DataError(
                f"{self.source}: {block.place(row)} has {X.data[k]} in the column "
                f"{self.names[int(X.indices[k])]!r}; correct it or leave that row out."
            )
        return X, y

    def _numbers_of(self, block: Any) -> Array:
        y = np.asarray(block.labels)
        if not np.isfinite(y).all():
            at = block.place(int(np.argmin(np.isfinite(y))))
            raise DataError(
                f"{self.source}: the label at {at} is {y[~np.isfinite(y)][0]}; labels are numbers. "
                "Leave that row out."
            )
        return y


def feature_rows(source: Source, target: str, encoding: Encoding | None) -> FeatureRows | None:
    """Rows of a source of numbered columns, where they are too many for an encoding.

    An encoding that takes every column as the number that it is, has nothing to say.
    """
    names = source.names
    if not isinstance(names, FeatureNames) or names.size <= MANY or target != names[0]:
        return None
    rows = FeatureRows(names.features(), target, source.name)
    says_more = encoding is not None and encoding.inputs != plain_encoding(rows).inputs
    return None if says_more or (encoding is not None and (encoding.terms or encoding.na)) else rows


def plain_encoding(rows: FeatureRows) -> Encoding:
    """Each column as the number that it is: what predictions from files need."""
    return Encoding(tuple(map(Input, rows.names)))
