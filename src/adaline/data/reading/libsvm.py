"""LIBSVM (svmlight) text: `label index:value index:value ...` a line, as CSR rows."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.reading.arrays import MAX_COLUMNS_PER_ENTRY, MAX_EMPTY_COLUMNS
from adaline.data.reading.columnar import arrow
from adaline.data.reading.locations import existing
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import TextSource, piece_bytes
from adaline.data.reading.source import Block, Kind, Piece
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.errors import DataError
from adaline.kernels import text as kernels
from adaline.results import Array

_COMMENT = re.compile(rb"#[^\n]*")
_INDEX = re.compile(rb"[-+]?\d+")
_NUMBER: Kind = "number"


@dataclass(frozen=True, eq=False)
class FeatureNames(Sequence[str]):
    """The names before, and then x{first}, x{first + 1}, ...; their number alone is stored.

    >>> names = FeatureNames(3, 1, ("y",))
    >>> list(names), names[-1], len(names), names == ("y", "x1", "x2", "x3")
    (['y', 'x1', 'x2', 'x3'], 'x3', 4, True)
    """

    size: int
    first: int = 0
    before: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.before) + self.size

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        i = range(len(self))[k]
        return self.before[i] if i < len(self.before) else f"x{self.first + i - len(self.before)}"

    def __iter__(self) -> Iterator[str]:
        yield from self.before
        yield from map("x%d".__mod__, range(self.first, self.first + self.size))

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        """Where a name is, computed from its number."""
        place = -1
        if name in self.before:
            place = self.before.index(name)
        elif isinstance(name, str) and name[:1] == "x" and name[1:].isdecimal():
            place = len(self.before) + int(name[1:]) - self.first
        end = len(self) if stop is None else min(stop, len(self))
        if not start <= place < end or self[place] != name:  # x01 is not x1
            raise ValueError(f"{name!r} is not among the names")
        return place

    def __contains__(self, name: object) -> bool:
        try:
            return self.index(name) >= 0
        except ValueError:
            return False

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, FeatureNames):
            return hash(self) == hash(other) and len(self) == len(other)
        if not isinstance(other, list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.size, self.first, self.before))

    def features(self) -> FeatureNames:
        """Without the names before."""
        return FeatureNames(self.size, self.first)


@dataclass(frozen=True)
class Extent:
    """Which indices some text has, and how many entries and rows; of several texts they merge."""

    least: int = 1
    most: int = 0
    entries: int = 0
    rows: int = 0

    def __add__(self, other: Extent) -> Extent:
        ends = min(self.least, other.least), max(self.most, other.most)
        return Extent(*ends, self.entries + other.entries, self.rows + other.rows)

    def names(self, path: str) -> FeatureNames:
        """The label, and the features from 1 on, or from 0 where that index is there."""
        if not self.rows:
            raise DataError(f"{path}: there are no rows; a fit needs rows.")
        if self.least < 0:
            raise DataError(f"{path}: it has the index {self.least}; indices are 0 or more.")
        most = max(MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY * self.entries)
        if self.most > most or self.most >= 2**31:
            raise DataError(
                f"{path}: it has the index {self.most}, and {self.entries} entries in all; "
                "number the features again, without gaps."
            )
        base = 0 if self.least == 0 else 1
        return FeatureNames(self.most + 1 - base, base, ("y",))


class LibsvmBlock(Block):
    """Rows of features and their labels apart; `matrix` has the labels as its first column."""

    features: Any
    labels: Array

    def __init__(self, names: Sequence[str], features: Any, labels: Array, place: Any):
        own = {"columns": (), "features": features, "labels": labels}
        for name, value in {"names": names, "place": place, **own}.items():
            object.__setattr__(self, name, value)  # a block is frozen

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def matrix(self) -> Any:
        """CSR, the labels first; a label of 0 is an entry, too."""
        X, n = self.features, len(self.labels)
        own = np.zeros(len(X.data) + n, dtype=bool)
        own[X.indptr[:-1] + np.arange(n)] = True
        data, places = np.empty(len(own)), np.empty(len(own), dtype=X.indices.dtype)
        data[own], data[~own] = self.labels, X.data
        places[own], places[~own] = 0, X.indices + 1
        entries = data, places, X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
        return sparse.csr_matrix(entries, shape=(n, len(self.names)))


class LibsvmSource(TextSource):
    """Sparse rows; the label is the column "y", and feature j the column "xj".

    One pass when it is opened finds the largest index, unless `n_features` says what there is. They
    count from 1, unless the file has an index 0.
    """

    is_matrix = True

    def __init__(self, path: str, options: ReadingOptions):
        arrow("LIBSVM files")
        if options.columns is not None:
            raise DataError(f"{path}: columns cannot be chosen in a LIBSVM file; take all.")
        self.name, self.text = existing(path), Text(path, quotes=False)
        self.chunk = piece_bytes(options.rows, self.text.take(0, 2**20), CHUNK // 4)
        self.scratch = options.scratch
        self.extent = Extent()
        self.features = None
        if options.n_features is not None:
            self.features = FeatureNames(options.n_features, 1, ("y",))
            return
        for piece in self.descriptors():
            labels, indices, _, _ = self._rows(piece)
            ends = (int(indices.min()), int(indices.max())) if len(indices) else (1, 0)
            self.extent += Extent(*ends, len(indices), len(labels))
        self.rows = self.extent.rows

    def with_features(self, names: FeatureNames) -> LibsvmSource:
        """The same rows with the columns of all files together."""
        other = copy.copy(self)
        other.features = names
        return other

    @property
    def names(self) -> FeatureNames:  # type: ignore[override]
        """The label and the features."""
        return self.extent.names(self.name) if self.features is None else self.features

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        """All are numbers."""
        return (_NUMBER,) * len(self.names)

    def _rows(self, piece: Piece) -> tuple[Any, ...]:
        """Labels, indices, values, and where the entries of each row begin and end."""
        columns = self.parsed(piece)[0].columns
        labels, indices, values = (column.combine_chunks() for column in columns)
        arrays = labels, indices.values, values.values, indices.offsets
        return tuple(array.to_numpy() for array in arrays)

    def read(self, piece: Piece) -> LibsvmBlock:
        """Rows as CSR, and their labels."""
        labels, indices, values, ends = self._rows(piece)
        base, p = self.names.first, self.names.size
        outside = (indices < base) | (indices >= base + p)
        if outside.any():
            k = int(np.argmax(outside))
            row = int(np.searchsorted(ends, k, side="right")) - 1
            raise DataError(
                f"{self.name}: {self._line(piece, row)} has the index {indices[k]}, and there are "
                f"{p} features, {base} to {base + p - 1}; give a larger n_features, or leave it "
                "out."
            )
        places = (indices - base).astype(np.int32, copy=False)
        X: Any = sparse.csr_matrix((values, places, ends), shape=(len(labels), p))
        if not X.has_canonical_format:
            X = X.copy()  # what was parsed is remembered as it is
            X.sum_duplicates()
        return LibsvmBlock(self.names, X, labels, lambda i: self._line(piece, i))

    def _line(self, piece: Piece, row: int) -> str:
        lines = _COMMENT.sub(b"", self.text.take(piece.start, piece.stop)).split(b"\n")
        full = [i for i, line in enumerate(lines) if line.strip()]
        return f"line {self.text.line(piece.start) + full[row]}"

    def parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """A row for each line: its label, and lists of indices and values."""
        import pyarrow as pa

        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        data = _COMMENT.sub(b"", data) if b"#" in data else data
        try:
            labels, indices, values, counts = parse_plain(data) or parse_words(data)
        except LibsvmError as error:
            line, word = error.args
            raise DataError(
                f"{self.name}: line {self.text.line(piece.start) + line} has "
                f"{word[:40].decode(errors='replace')!r}; expected a label and then index:value "
                "pairs of numbers (no qid)."
            ) from None
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        lists = [pa.ListArray.from_arrays(offsets, pa.array(part)) for part in (indices, values)]
        table = pa.table([pa.array(labels), *lists], names=["labels", "indices", "values"])
        return table, {}


class LibsvmError(ValueError):
    """A line, counted from 0, and the word in it that is no LIBSVM text."""


def merge_extents(parts: Sequence[Any], name: str) -> tuple[LibsvmSource, ...]:
    """Files that all have the columns which they have together."""
    extent = sum((part.extent for part in parts), Extent())
    names = parts[0].features or extent.names(name)
    return tuple(part.with_features(names) for part in parts)


def parse_plain(data: bytes) -> tuple[Any, Any, Any, Any] | None:
    """Labels, indices, values and counts of text without odd numbers; None for any other."""
    data = data if data.endswith(b"\n") else data + b"\n"
    text = np.frombuffer(data, dtype=np.uint8)
    # bytes.count takes ten times as long where there are many.
    rows, entries = int(np.count_nonzero(text == 10)), int(np.count_nonzero(text == 58))
    labels, counts = np.empty(rows), np.empty(rows, dtype=np.int64)
    indices, values = np.empty(entries, dtype=np.int32), np.empty(entries)
    n = kernels.parse(text, kernels.POWERS, labels, indices, values, counts)
    if n < 0:
        return None
    entries = int(counts[:n].sum())
    return labels[:n], indices[:entries], values[:entries], counts[:n]


def parse_words(data: bytes) -> tuple[Any, Any, Any, Any]:
    """The same of any LIBSVM text, word by word, as Python reads numbers."""
    labels: list[float] = []
    counts: list[int] = []
    pairs: list[tuple[int, float]] = []
    for i, line in enumerate(data.split(b"\n")):
        words = line.split()
        for k, word in enumerate(words):
            index, colon, number = word.rpartition(b":")
            try:
                if b"_" in word or (k > 0) != bool(colon) or (k and not _INDEX.fullmatch(index)):
                    raise ValueError
                value = float(number)
            except ValueError:
                raise LibsvmError(i, word) from None
            if k:
                pairs.append((int(index), value))
            else:
                labels.append(value)
                counts.append(len(words) - 1)
    indices = np.array([index for index, _ in pairs], dtype=np.int64)
    values = np.array([value for _, value in pairs], dtype=np.float64)
    return np.array(labels), indices, values, np.array(counts, dtype=np.int64)
