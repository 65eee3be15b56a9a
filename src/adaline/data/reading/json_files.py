"""JSON: an object a line, in blocks; or an array of objects, or columns by name, in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from adaline.data.reading.columnar import arrow, block_of, kind_of_type
from adaline.data.reading.frames import from_values
from adaline.data.reading.locations import existing
from adaline.data.reading.scratch import TextSource, piece_bytes
from adaline.data.reading.source import Block, Piece, Source, checked_names, chosen
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.errors import DataError, refuse_beyond_memory

TASTE = 2**20  # bytes from which names and types are told
MAX_BYTES = 2**30  # of a JSON text that is no NDJSON
GROWTH = 10  # bytes of Python objects for a byte of text, about
_ADVICE = "Save it as NDJSON, an object a line, which is read in blocks."
_EXPECTED = 'expected an array of objects, such as [{"x": 1.5, "y": 2}, ...].'


class NdjsonSource(TextSource):
    """An object a line; the first megabyte tells the names and types of all lines."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        arrow("NDJSON files")
        self.name, self.text = existing(path), Text(path, quotes=False)
        beginning = self.text.take(0, TASTE)
        beginning = beginning[: beginning.rfind(b"\n") + 1] or beginning
        self.text.check(beginning, 0)
        if not beginning.strip():
            raise DataError(f"{path}: there are no rows; a fit needs an object a line.")
        types = self._types(beginning)
        names = checked_names(list(types), path)
        self.names = tuple(names[j] for j in chosen(columns, names, path))
        self.layout = tuple((name, types[name]) for name in self.names)
        self.kinds = tuple(kind_of_type(types[name]) for name in self.names)
        self.chunk = piece_bytes(rows, beginning, CHUNK)

    def _types(self, beginning: bytes) -> dict[str, Any]:
        """Names and types; whole numbers may become others later, so all are float64.

        What Arrow takes for times stays text, which a notation reads, as in any other text.
        """
        import pyarrow as pa

        types = {}
        for field in self._table(beginning, 0).schema:
            number = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
            time = pa.types.is_temporal(field.type)
            types[field.name] = pa.float64() if number else pa.string() if time else field.type
        return types

    def _table(self, data: bytes, start: int) -> Any:
        """The objects of whole lines, with the types of the layout where it is known."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        known = None if self.layout is None else pa.schema(self.layout)
        try:
            return arrow_json.read_json(
                pa.BufferReader(data),
                arrow_json.ReadOptions(block_size=max(len(data), 1), use_threads=False),
                arrow_json.ParseOptions(
                    explicit_schema=known,
                    unexpected_field_behavior="infer" if known is None else "ignore",
                ),
            )
        except (pa.ArrowException, ValueError) as error:
            raise self._complaint(data, start, str(error)) from None

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        start = piece.start
        table = self.parsed(piece)[0]
        return block_of(table, self.kinds, lambda i: f"line {self.text.line(start) + i}")

    def parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """The rows of a range of bytes as an Arrow table."""
        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        return self._table(data, piece.start).select(list(self.names)), {}

    def _complaint(self, data: bytes, start: int, why: str) -> DataError:
        """The first line that is no object, named."""
        first = self.text.line(start)
        for i, line in enumerate(data.splitlines()):
            try:
                row = json.loads(line, **_STRICT) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                return DataError(f"{self.name}: line {first + i} is not JSON: {error}.")
            if not isinstance(row, dict):
                return DataError(
                    f"{self.name}: line {first + i} is a {type(row).__name__}; expected an object "
                    'a line, such as {"x": 1.5, "y": 2}.'
                )
        return DataError(f"{self.name}: from line {first} on it cannot be read: {why[:200]}")


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number; leave the value out, or write null")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is beyond what a number can be")
    return value


_STRICT: dict[str, Any] = {"parse_constant": _refuse_constant, "parse_float": _finite}


def json_table(path: str, columns: Sequence[str] | None, rows: int | None) -> Source:
    """The rows of a JSON file; one with an object a line is NDJSON, whatever its name."""
    text = Text(existing(path), quotes=False)
    head = text.take(0, TASTE).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{") and _is_lines(head):
        return NdjsonSource(path, columns, rows)
    names, values = _columns(_load(text, path), path)
    numbers = range(1, len(values[0]) + 1) if values else ()
    return from_values(path, names, values, numbers, columns, rows)


def _is_lines(head: bytes) -> bool:
    """Whether the first line is an object, and another one follows."""
    first, _, more = head.partition(b"\n")
    try:
        return more.lstrip().startswith(b"{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _load(text: Text, path: str) -> Any:
    data = text.take(0, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise DataError(f"{path}: more than {MAX_BYTES} bytes of JSON are not read. {_ADVICE}")
    refuse_beyond_memory(GROWTH * len(data), f"{path}: JSON of {len(data)} bytes", _ADVICE)
    data = data.removeprefix(b"\xef\xbb\xbf")
    text.check(data, 0)
    if not data.strip():
        raise DataError(f"{path}: there are no rows; a fit needs an array of objects.")
    try:
        return json.loads(data, **_STRICT)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} is not JSON: {error.msg}, at column {error.colno}"
        raise DataError(f"{path}: {place}.") from None
    except RecursionError:
        raise DataError(f"{path}: objects are nested too deeply to be rows of a table.") from None
    except ValueError as error:
        word = str(error).split()[0].encode()
        line = 1 + data.count(b"\n", 0, max(data.find(word), 0))
        raise DataError(f"{path}: line {line}: {error}.") from None


def _columns(content: Any, path: str) -> tuple[list[str], list[list[Any]]]:
    """Names and values: of objects, or of columns by name."""
    if isinstance(content, dict):
        if content and all(isinstance(values, list | dict) for values in content.values()):
            return _by_name(content, path)
        tables = [v for v in content.values() if isinstance(v, list) and v]
        tables = [table for table in tables if isinstance(table[0], dict)]
        content = tables[0] if len(tables) == 1 else [content]
    if not isinstance(content, list):
        raise DataError(f"{path}: this is a {type(content).__name__}; {_EXPECTED}")
    names: dict[str, None] = {}
    for k, row in enumerate(content, 1):
        if not isinstance(row, dict):
            raise DataError(f"{path}: row {k} is a {type(row).__name__}; {_EXPECTED}")
        names.update(dict.fromkeys(row))
    if not names:
        raise DataError(f"{path}: there are no rows; a fit needs an array of objects.")
    if len(names) * len(content) > 2**22 + 100 * sum(map(len, content)):
        raise DataError(
            f"{path}: {len(content)} rows have {len(names)} different names in all, and most are "
            "empty; this is no table."
        )
    return list(names), [[row.get(name) for row in content] for name in names]


def _by_name(content: dict[str, Any], path: str) -> tuple[list[str], list[list[Any]]]:
    """Columns as lists, or as objects from row names to values, which is pandas' own form."""
    lists = {n: v if isinstance(v, list) else list(v.values()) for n, v in content.items()}
    tables = [v for v in lists.values() if v and all(isinstance(row, dict) for row in v)]
    if len(tables) == 1:
        return _columns(tables[0], path)  # {"schema": ..., "data": [objects]}
    labels = [tuple(v) if isinstance(v, dict) else len(v) for v in content.values()]
    if any(label != labels[0] for label in labels):
        raise DataError(f"{path}: its columns have different rows; {_EXPECTED}")
    return list(lists), list(lists.values())
