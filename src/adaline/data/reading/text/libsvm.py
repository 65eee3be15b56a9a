"""LIBSVM (svmlight) text: `label index:value index:value ...` a line, as CSR rows."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.reading.bytes.chunks import CHUNK, Text
from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.source import Block, Kind, Piece, Source, existing, fingerprint_of_file
from adaline.data.reading.text.parsed import MakeScratch, Parsed, Scratch
from adaline.errors import DataError
from adaline.kernels.text import libsvm as kernels
from adaline.results import Array

# Every column costs some hundred bytes for its name, so a short file may not claim many.
_MANY_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 16
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER: Kind = "number"


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


class LibsvmSource(Source):
    """Sparse rows; the label is the column "y", and feature j the column "xj".

    One pass when it is opened finds the largest index, unless `names` says what there is. Features
    count from 1, unless the file has an index 0.
    """

    is_matrix = True
    names: FeatureNames
    _pieces: tuple[Piece, ...] | None

    def __init__(
        self,
        path: str,
        columns: Sequence[str] | None,
        rows: int | None,
        names: FeatureNames | None = None,
        scratch: Scratch | None = None,
    ):
        if columns is not None:
            raise DataError(f"{path}: columns cannot be chosen in a LIBSVM file; take all.")
        self.name, self.text = existing(path), Text(path, quotes=False)
        taste = self.text.take(0, 2**20)
        width = max(len(taste) // max(taste.count(b"\n"), 1), 1)
        self.chunk = CHUNK // 4 if rows is None else max(rows * width, 64)
        self.rows, self.scratch, self._pieces = None, scratch, None
        if names is None:
            extent = self.extent()
            names, self.rows = extent.names(path), extent.rows
        self.names, self.kinds = names, (_NUMBER,) * len(names)

    def extent(self) -> Extent:
        """By a pass over all rows."""
        found = Extent()
        for piece in self.descriptors():
            rows = self._parsed(piece)
            found += Extent(rows.least, rows.most, len(rows.indices), len(rows.labels))
        return found

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        if self.scratch is None:
            return self.text.pieces(0, self.chunk)
        if self._pieces is None:  # looking for ends of lines would unpack a packed file again
            return self._noted(self.text.pieces(0, self.chunk))
        return self._pieces

    def _noted(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        found = []
        for piece in pieces:
            found.append(piece)
            yield piece
        self._pieces = tuple(found)

    def for_reading(self) -> LibsvmSource:
        """Without the list of pieces."""
        other = copy.copy(self)
        other._pieces = None
        return other

    def keeping(self, scratch: MakeScratch) -> LibsvmSource:
        """The same source, which puts what it parsed there, and finds it there again."""
        other = copy.copy(self)
        other.scratch = scratch()
        return other

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, len(self.names))

    def read(self, piece: Piece) -> LibsvmBlock:
        """Rows as CSR, and their labels."""
        rows = self._parsed(piece)
        base, p = self.names.first, self.names.size
        if len(rows.indices) and not (base <= rows.least and rows.most < base + p):
            raise self._outside(piece, rows.indices, rows.indptr)
        places = (rows.indices - base).astype(np.int32, copy=False)
        ends = rows.indptr.astype(np.int32, copy=False)
        X: Any = sparse.csr_matrix((rows.values, places, ends), shape=(len(rows.labels), p))
        if rows.ordered:
            X.has_canonical_format = True
        else:
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

    def _parsed(self, piece: Piece) -> Parsed:
        kept = None if self.scratch is None else self.scratch.get(self._key(piece))
        if kept is not None:
            return kept
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        rows = _plain(data) or self._in_words(data, piece)
        if self.scratch is not None:
            self.scratch.put(self._key(piece), rows)
        return rows

    def _key(self, piece: Piece) -> str:
        """Of the parsed rows of a piece; files are opened by the same path throughout."""
        return f"{hashlib.sha256(self.name.encode()).hexdigest()[:32]}.{piece.start}.{piece.stop}"

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
