"""LIBSVM (svmlight) text: `label index:value index:value ...` a line, as CSR rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.reading.bytes.chunks import CHUNK, Text
from adaline.data.reading.source import Block, Kind, Piece, Source, existing, fingerprint_of_file
from adaline.errors import DataError

# Every column costs some hundred bytes for its name, so a short file may not claim many.
_MANY_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 16
_COMMENT = re.compile(rb"#[^\n]*")


class LibsvmSource(Source):
    """Sparse rows; the label is the column "y", and feature j the column "xj".

    One pass when it is opened finds the largest index. Features count from 1, unless the file
    has an index 0.
    """

    is_matrix = True

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        if columns is not None:
            raise DataError(f"{path}: columns cannot be chosen in a LIBSVM file; take all.")
        self.name, self.text = existing(path), Text(path, quotes=False)
        taste = self.text.take(0, 2**20)
        width = max(len(taste) // max(taste.count(b"\n"), 1), 1)
        self.chunk = CHUNK // 4 if rows is None else max(rows * width, 64)
        least, most, entries, self.rows = 1, 0, 0, 0
        for piece in self.descriptors():
            _, indices, _, indptr = self._parsed(piece)
            self.rows, entries = self.rows + len(indptr) - 1, entries + len(indices)
            if len(indices):
                least, most = min(least, int(indices.min())), max(most, int(indices.max()))
        if not self.rows:
            raise DataError(f"{path}: there are no rows; a fit needs rows.")
        if least < 0:
            raise DataError(f"{path}: it has the index {least}; indices are 0 or more.")
        if most > max(_MANY_COLUMNS, _COLUMNS_AN_ENTRY * entries) or most >= 2**31:
            raise DataError(
                f"{path}: it has the index {most}, and {entries} entries in all; indices may go up "
                f"to {_MANY_COLUMNS}, or to {_COLUMNS_AN_ENTRY} times the number of entries. "
                "Number the features again, without gaps."
            )
        self.base = 0 if least == 0 else 1
        self.names = ("y", *(f"x{j}" for j in range(self.base, most + 1)))
        number: Kind = "number"
        self.kinds = (number,) * len(self.names)

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        return self.text.pieces(0, self.chunk)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, len(self.names))

    def read(self, piece: Piece) -> Block:
        """Rows as CSR, the label in the first column."""
        labels, indices, values, indptr = self._parsed(piece)
        n = len(indptr) - 1
        data, places = np.empty(len(values) + n), np.empty(len(values) + n, dtype=np.int32)
        first = indptr[:-1] + np.arange(n)
        own = np.zeros(len(data), dtype=bool)
        own[first] = True
        data[own], data[~own] = labels, values
        places[own], places[~own] = 0, indices - self.base + 1
        matrix: Any = sparse.csr_matrix(
            (data, places, indptr + np.arange(n + 1)), shape=(n, len(self.names))
        )
        if not matrix.has_canonical_format:
            matrix.sum_duplicates()
        return Block(self.names, (), matrix, lambda i: self._line(piece, i))

    def _line(self, piece: Piece, row: int) -> str:
        first = self.text.line(piece.start)
        lines = _COMMENT.sub(b"", self.text.take(piece.start, piece.stop)).split(b"\n")
        full = [i for i, line in enumerate(lines) if line.strip()]
        return f"line {first + full[row]}"

    def _parsed(self, piece: Piece) -> tuple[Any, Any, Any, Any]:
        """Labels, indices, values and where each row's entries end."""
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
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
        return numbers[label], whole, np.ascontiguousarray(pairs[:, 1]), indptr

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
