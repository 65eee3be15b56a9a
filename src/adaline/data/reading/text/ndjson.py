"""Newline-delimited JSON: an object a line, in blocks that are ranges of bytes."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from adaline.data.reading.bytes.chunks import CHUNK, Text
from adaline.data.reading.source import (
    Block,
    Piece,
    Source,
    checked_names,
    chosen,
    existing,
    fingerprint_of_file,
    is_failure,
)
from adaline.data.reading.tables.engines import arrow_kind, columns_of, engine, polars_kind
from adaline.errors import DataError

_TASTE = 2**20  # bytes from which names and types are told


class NdjsonSource(Source):
    """An object a line; the first megabyte tells the names and types of all lines."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        self.name, self.engine = existing(path), engine("NDJSON files")
        self.text = Text(path, quotes=False)
        taste = self.text.take(0, _TASTE)
        taste = taste[: taste.rfind(b"\n") + 1] or taste
        self.text.check(taste, 0)
        if not taste.strip():
            raise DataError(f"{path}: there are no rows; a fit needs an object a line.")
        types = self._types(taste)
        names = checked_names(list(types), path)
        self.places = chosen(columns, names, path)
        self.names = tuple(names[j] for j in self.places)
        self.types = {name: types[name] for name in self.names}
        kind: Any = polars_kind if self.engine == "polars" else arrow_kind
        self.kinds = tuple(kind(types[name]) for name in self.names)
        width = max(len(taste) // max(taste.count(b"\n"), 1), 1)
        self.chunk = CHUNK if rows is None else max(rows * width, 64)

    def _types(self, taste: bytes) -> dict[str, Any]:
        """Names and types; whole numbers may become others later, so all are float64."""
        try:
            if self.engine == "polars":
                import polars as pl

                found = dict(pl.read_ndjson(io.BytesIO(taste), infer_schema_length=None).schema)
                return {
                    name: pl.Float64 if dtype.is_integer() or dtype == pl.Null else dtype
                    for name, dtype in found.items()
                }
            import pyarrow as pa
            from pyarrow import json as arrow_json

            options = arrow_json.ReadOptions(block_size=max(len(taste), 1))
            schema = arrow_json.read_json(pa.BufferReader(taste), options).schema
            whole = pa.types.is_integer
            return {
                field.name: pa.float64() if whole(field.type) else field.type for field in schema
            }
        except MemoryError:
            raise
        except BaseException as error:
            if not is_failure(error):
                raise
            raise self._complaint(taste, 0, str(error)) from None

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        return self.text.pieces(0, self.chunk)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, self.names, self.kinds)

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        try:
            columns = columns_of(self._table(data), self.kinds)
        except MemoryError:
            raise
        except BaseException as error:
            if not is_failure(error):
                raise
            raise self._complaint(data, piece.start, str(error)) from None
        return Block(self.names, columns, None, lambda i: f"line {self.text.line(piece.start) + i}")

    def _table(self, data: bytes) -> Any:
        if self.engine == "polars":
            import polars as pl

            return pl.read_ndjson(io.BytesIO(data), schema=self.types).select(self.names)
        import pyarrow as pa
        from pyarrow import json as arrow_json

        return arrow_json.read_json(
            pa.BufferReader(data),
            arrow_json.ReadOptions(block_size=max(len(data), 1), use_threads=False),
            arrow_json.ParseOptions(
                explicit_schema=pa.schema(list(self.types.items())),
                unexpected_field_behavior="ignore",
            ),
        ).select(list(self.names))

    def _complaint(self, data: bytes, start: int, why: str) -> DataError:
        """The first line that is no object, named."""
        first = self.text.line(start)
        for i, line in enumerate(data.splitlines()):
            try:
                row = json.loads(line, **STRICT) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                return DataError(f"{self.name}: line {first + i} is not JSON: {error}.")
            if not isinstance(row, dict):
                return DataError(
                    f"{self.name}: line {first + i} is a {type(row).__name__}; expected an object "
                    'a line, such as {"x": 1.5, "y": 2}.'
                )
        return DataError(f"{self.name}: from line {first} on it cannot be read: {why[:200]}")


def _strange(word: str) -> float:
    raise ValueError(f"{word} is no JSON number; leave the value out, or write null")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is beyond what a number can be")
    return value


STRICT: dict[str, Any] = {"parse_constant": _strange, "parse_float": _finite}
