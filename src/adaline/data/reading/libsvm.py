"""LIBSVM (svmlight) text: `label index:value index:value ...` a line, as CSR rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import TextSource
from adaline.data.reading.source import Block, Kind, Piece, existing, fingerprint_of_file
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.errors import DataError
from adaline.kernels import text as kernels
from adaline.results import Array

# Every column costs some hundred bytes for its name, so a short file may not claim many.
_MANY_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 16
_MOST = 2**31  # indices from here on do not fit
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER: Kind = "number"
_PARTS = ("labels", "indices", "values", "indptr")  # of what was parsed


@dataclass(frozen=True, eq=False)
class Parsed:
    """Rows of LIBSVM text.

    Attributes
    ----------
    labels : ndarray of shape (rows,)
    indices, values : ndarray of shape (entries,)
        As they are in the text, row after row.
    indptr : ndarray of shape (rows + 1,)
        Where the entries of each row begin and end.
    least, most : int
        Of the indices; 1 and 0 where there are none.
    ordered : bool
        Whether the indices of every row increase.
    """

    labels: Any
    indices: Any
    values: Any
    indptr: Any
    least: int
    most: int
    ordered: bool

    @classmethod
    def of(cls, labels: Any, indices: Any, values: Any, indptr: Any) -> Parsed:
        """With what is to be known of the indices."""
        if not len(indices):
            return cls(labels, indices, values, indptr, 1, 0, True)
        larger = indices[1:] > indices[:-1]
        first = indptr[1:-1]  # of each row but the first: compared with another row
        larger[first[(first > 0) & (first < len(indices))] - 1] = True
        ends = int(indices.min()), int(indices.max())
        return cls(labels, indices, values, indptr, *ends, bool(larger.all()))


@dataclass(frozen=True)
class Extent:
    """Which indices some text has, and how many entries and rows; of several texts they merge."""

    least: int = 1
    most: int = 0
    entries: int = 0
    rows: int = 0

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            min(self.least, other.least),
            max(self.most, other.most),
            self.entries + other.entries,
            self.rows + other.rows,
        )

    def names(self, path: str) -> FeatureNames:
        """The label, and the features from 1 on, or from 0 where that index is there."""
        if not self.rows:
            raise DataError(f"{path}: there are no rows; a fit needs rows.")
        if self.least < 0:
            raise DataError(f"{path}: it has the index {self.least}; indices are 0 or more.")
        if self.most > max(_MANY_COLUMNS, _COLUMNS_AN_ENTRY * self.entries) or self.most >= 2**31:
            raise DataError(
                f"{path}: it has the index {self.most}, and {self.entries} entries in all; indices "
                f"may go up to {_MANY_COLUMNS}, or to {_COLUMNS_AN_ENTRY} times the number of "
                "entries. Number the features again, without gaps."
            )
        base = 0 if self.least == 0 else 1
        return FeatureNames(self.most + 1 - base, base, ("y",))


class LibsvmBlock(Block):
    """Rows of features and their labels apart; `matrix` has the labels as its first column."""

    def __init__(self, names: Sequence[str], features: Any, labels: Array, place: Any):
        given = {"names": names, "columns": (), "place": place}
        for name, value in {**given, "features": features, "labels": labels}.items():
            object.__setattr__(self, name, value)  # a block is frozen

    features: Any
    labels: Array

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def matrix(self) -> Any:
        """CSR, the labels first; a label of 0 is an entry, too."""
        X, n = self.features, len(self.labels)
        first = X.indptr[:-1] + np.arange(n)
        own = np.zeros(len(X.data) + n, dtype=bool)
        own[first] = True
        data, places = np.empty(len(own)), np.empty(len(own), dtype=X.indices.dtype)
        data[own], data[~own] = self.labels, X.data
        places[own], places[~own] = 0, X.indices + 1
        entries = data, places, X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
        return sparse.csr_matrix(entries, shape=(n, len(self.names)))


class LibsvmSource(TextSource):
    """Sparse rows; the label is the column "y", and feature j the column "xj".

    One pass when it is opened finds the largest index, unless `features` says what there is. They
    count from 1, unless the file has an index 0.
    """

    is_matrix = True

    def __init__(self, path: str, options: ReadingOptions):
        super().__init__()
        if options.columns is not None:
            raise DataError(f"{path}: columns cannot be chosen in a LIBSVM file; take all.")
        self.name, self.text = existing(path), Text(path, quotes=False)
        taste = self.text.take(0, 2**20)
        width = max(len(taste) // max(taste.count(b"\n"), 1), 1)
        self.chunk = CHUNK // 4 if options.rows is None else max(options.rows * width, 64)
        self.scratch, self._features = options.scratch, options.features
        self.extent = Extent() if options.features is not None else self._extent()
        self.rows = self.extent.rows or None

    def _extent(self) -> Extent:
        """By a pass over all rows."""
        found = Extent()
        for piece in self.descriptors():
            rows = self._parsed(piece)[0]
            found += Extent(rows.least, rows.most, len(rows.indices), len(rows.labels))
        return found

    @property
    def names(self) -> FeatureNames:  # type: ignore[override]
        """The label and the features."""
        return self.extent.names(self.name) if self._features is None else self._features

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        """All are numbers."""
        return (_NUMBER,) * len(self.names)

    def _pieces(self, size: int) -> Iterable[Piece]:
        return self.text.pieces(0, size)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, len(self.names))

    def read(self, piece: Piece) -> LibsvmBlock:
        """Rows as CSR, and their labels."""
        rows = self._parsed(piece)[0]
        base, p = self.names.first, self.names.size
        if len(rows.indices) and not (base <= rows.least and rows.most < base + p):
            raise self._outside(piece, rows.indices, rows.indptr)
        places = (rows.indices - base).astype(np.int32, copy=False)
        ends = rows.indptr.astype(np.int32, copy=False)
        X: Any = sparse.csr_matrix((rows.values, places, ends), shape=(len(rows.labels), p))
        if rows.ordered:
            X.has_canonical_format = True
        else:
            X = X.copy()  # what was parsed is remembered as it is
            X.sum_duplicates()
        return LibsvmBlock(self.names, X, rows.labels, lambda i: self._line(piece, i))

    def _outside(self, piece: Piece, indices: Any, indptr: Any) -> DataError:
        """Where an index is that the columns do not have."""
        base, p = self.names.first, self.names.size
        k = int(np.argmax((indices < base) | (indices >= base + p)))
        row = int(np.searchsorted(indptr, k, side="right")) - 1
        return DataError(
            f"{self.name}: {self._line(piece, row)} has the index {indices[k]}, and there are {p} "
            f"features, {base} to {base + p - 1}; give a larger n_features, or leave it out."
        )

    def _line(self, piece: Piece, row: int) -> str:
        first = self.text.line(piece.start)
        lines = _COMMENT.sub(b"", self.text.take(piece.start, piece.stop)).split(b"\n")
        full = [i for i, line in enumerate(lines) if line.strip()]
        return f"line {first + full[row]}"

    def _parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        return _plain(data) or self._in_words(data, piece), {}

    def _to_table(self, parsed: Any) -> Any:
        """Four arrays as the lists of a single row; None where indices are too large to keep."""
        import pyarrow as pa

        if parsed.least < 0 or parsed.most >= _MOST:
            return None
        arrays = [np.asarray(getattr(parsed, name)) for name in _PARTS]
        arrays = [a if a.dtype.kind == "f" else a.astype(np.int32, copy=False) for a in arrays]
        lists = [pa.ListArray.from_arrays([0, len(a)], pa.array(a)) for a in arrays]
        return pa.table(lists, names=_PARTS)

    def _from_table(self, table: Any) -> Parsed:
        columns = (table.column(k).chunk(0).values for k in range(len(_PARTS)))
        return Parsed.of(*(column.to_numpy() for column in columns))

    def _in_words(self, data: bytes, piece: Piece) -> Parsed:
        """Any LIBSVM text, word by word."""
        if b"#" in data:
            data = _COMMENT.sub(b"", data)
        lines = [line for line in data.split(b"\n") if line and not line.isspace()]
        counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
        tokens = b" ".join(lines).replace(b":", b" ").split()
        if len(tokens) != len(lines) + 2 * int(counts.sum()):
            raise self._complaint(data, piece.start)
        try:
            numbers = np.array(tokens, dtype="S").astype(np.float64) if tokens else np.empty(0)
        except ValueError:
            raise self._complaint(data, piece.start) from None
        label = np.cumsum(1 + 2 * counts) - (1 + 2 * counts)
        rest = np.ones(len(numbers), dtype=bool)
        rest[label] = False
        pairs = numbers[rest].reshape(-1, 2)
        whole = pairs[:, 0].astype(np.int64, copy=False) if np.isfinite(pairs[:, 0]).all() else None
        if whole is None or np.any(whole != pairs[:, 0]):
            raise self._complaint(data, piece.start)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return Parsed.of(numbers[label], whole, np.ascontiguousarray(pairs[:, 1]), indptr)

    def _complaint(self, data: bytes, start: int) -> DataError:
        first = self.text.line(start)
        for i, line in enumerate(data.split(b"\n")):
            for k, token in enumerate(line.split()):
                try:
                    parts = [token] if k == 0 else token.split(b":")
                    float(parts[-1])
                    if k and (len(parts) != 2 or str(int(parts[0])) != parts[0].decode()):
                        raise ValueError
                except ValueError:
                    shown = token[:40].decode(errors="replace")
                    return DataError(
                        f"{self.name}: line {first + i} has {shown!r}; expected a "
                        "label and then index:value pairs of numbers (no qid)."
                    )
        return DataError(f"{self.name}: from line {first} on this is not LIBSVM text.")


def _plain(data: bytes) -> Parsed | None:
    """Text without comments and odd numbers, byte by byte; None for any other."""
    data = data if data.endswith(b"\n") else data + b"\n"
    text = np.frombuffer(data, dtype=np.uint8)
    # bytes.count takes ten times as long where there are many.
    rows, entries = int(np.count_nonzero(text == 10)), int(np.count_nonzero(text == 58))
    labels, counts = np.empty(rows), np.empty(rows, dtype=np.int64)
    indices, values = np.empty(entries, dtype=np.int32), np.empty(entries)
    n = kernels.parse(text, kernels.POWERS, labels, indices, values, counts)
    if n < 0:
        return None
    indptr = np.concatenate([[0], np.cumsum(counts[:n])])
    found = int(indptr[-1])
    return Parsed.of(labels[:n].copy(), indices[:found], values[:found], indptr)
