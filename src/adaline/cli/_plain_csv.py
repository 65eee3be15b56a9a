"""CSV with nothing but Python's own reader, for where neither polars nor pyarrow is installed.

The whole file is held in memory: for small files, which is what one has at hand on such a machine.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data import Block, Source

_MISSING = {"", "NA", "N/A", "null", "NULL", "None"}
_NEARLY = 0.9  # of the values that are numbers make a column of numbers
_ROWS = 65536
_ENDINGS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


@dataclass(frozen=True)
class Piece:
    """Rows from start to stop."""

    index: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Column:
    """Numbers, or places among the levels of text."""

    kind: Literal["number", "text"]
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    missing: NDArray[np.bool_] | None = None


def can_read(path: str) -> bool:
    """Whether a file's name says that it is CSV."""
    return path.lower().removesuffix(".gz").endswith(tuple(_ENDINGS))


class PlainCsv(Source):
    """A CSV or TSV file, plain or gzipped, in memory."""

    def __init__(self, path: str, columns: Sequence[str] | None = None) -> None:
        self.name = path
        with open(path, "rb") as file:
            data = file.read()
        self._digest = hashlib.sha256(data).hexdigest()
        head, rows = self._rows(gzip.decompress(data) if path.lower().endswith(".gz") else data)
        wanted = head if columns is None else [n for n in head if n in set(columns)]
        self.names = tuple(wanted)
        self.columns = [self._column([row[head.index(n)] for row in rows], n) for n in wanted]
        self.kinds = tuple(column.kind for column in self.columns)
        self.rows = len(rows)

    def _rows(self, data: bytes) -> tuple[list[str], list[list[str]]]:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{self.name}: this is not UTF-8; save the file as UTF-8.") from None
        separator = next(s for end, s in _ENDINGS.items() if end in self.name.lower())
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        head = next(reader, [])
        if not head:
            raise ValueError(f"{self.name}: the file is empty; it needs column names and rows.")
        if len(set(head)) < len(head):
            twice = next(n for n in head if head.count(n) > 1)
            raise ValueError(f"{self.name}: the column name {twice!r} comes twice; rename one.")
        rows = []
        for row in reader:
            if row and len(row) != len(head):
                raise ValueError(
                    f"{self.name}: line {reader.line_num} has {len(row)} fields, and the first "
                    f"line names {len(head)} columns; correct that line."
                )
            if row:
                rows.append(row)
        if not rows:
            raise ValueError(f"{self.name}: there are column names and no rows; a fit needs rows.")
        return head, rows

    def _column(self, texts: list[str], called: str) -> Column:
        gone = np.array([text in _MISSING for text in texts])
        there = [text for text in texts if text not in _MISSING]
        numbers = sum(_is_number(text) for text in there)
        missing = gone if gone.any() else None
        if numbers < _NEARLY * len(there):
            levels = tuple(sorted(set(there)))
            places = {level: k for k, level in enumerate(levels)}
            codes = np.array([places.get(text, 0) for text in texts], dtype=np.int32)
            return Column("text", codes, levels, missing)
        values = np.zeros(len(texts))
        for i, text in enumerate(texts):
            if text in _MISSING:
                continue
            if not _is_number(text):
                raise ValueError(
                    f"{self.name}: row {i} has {text[:40]!r} in column {called!r}, which is of "
                    "numbers; correct it, or leave it empty if it is missing."
                )
            values[i] = float(text)
        return Column("number", values, (), missing)

    def descriptors(self) -> Iterable[Any]:
        """Ranges of rows."""
        n = self.rows or 0
        return [Piece(k, a, min(a + _ROWS, n)) for k, a in enumerate(range(0, n, _ROWS))]

    def read(self, piece: Any) -> Block:
        """The rows of a range."""
        rows = slice(piece.start, piece.stop)
        parts: Any = tuple(
            Column(c.kind, c.values[rows], c.levels, None if c.missing is None else c.missing[rows])
            for c in self.columns
        )
        return Block(self.names, parts, None, lambda i: f"row {piece.start + i}")

    @property
    def fingerprint(self) -> str:
        """Of the whole file."""
        return f"{self._digest} {self.names}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
