"""JSON: an object a line, in blocks; or an array of objects, or columns by name, in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adaline.data.reading.arrow_columns import arrow, columns_of, kind_of_type
from adaline.data.reading.in_memory import FileTable
from adaline.data.reading.scratch import TextSource
from adaline.data.reading.source import (
    Block,
    Piece,
    Source,
    checked_names,
    chosen,
    existing,
    fingerprint_of_file,
)
from adaline.data.reading.text_bytes import CHUNK, Text
from adaline.errors import DataError, refuse_beyond_memory

_TASTE = 2**20  # bytes from which names and types are told
_MOST = 2**30  # bytes of text
_GROWTH = 10  # bytes of Python objects for a byte of text, about
_ADVICE = "Save it as NDJSON, an object a line, which is read in blocks."


class NdjsonSource(TextSource):
    """An object a line; the first megabyte tells the names and types of all lines."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        super().__init__()
        arrow("NDJSON files")
        self.name, self.text = existing(path), Text(path, quotes=False)
        taste = self.text.take(0, _TASTE)
        taste = taste[: taste.rfind(b"\n") + 1] or taste
        self.text.check(taste, 0)
        if not taste.strip():
            raise DataError(f"{path}: there are no rows; a fit needs an object a line.")
        types = self._types(taste)
        names = checked_names(list(types), path)
        self.names = tuple(names[j] for j in chosen(columns, names, path))
        self.layout = tuple((name, types[name]) for name in self.names)
        self.kinds = tuple(kind_of_type(types[name]) for name in self.names)
        width = max(len(taste) // max(taste.count(b"\n"), 1), 1)
        self.chunk = CHUNK if rows is None else max(rows * width, 64)

    def _types(self, taste: bytes) -> dict[str, Any]:
        """Names and types; whole numbers may become others later, so all are float64.

        What Arrow takes for times stays text, which a notation reads, as in any other text.
        """
        import pyarrow as pa
        from pyarrow import json as arrow_json

        options = arrow_json.ReadOptions(block_size=max(len(taste), 1), use_threads=False)
        try:
            schema = arrow_json.read_json(pa.BufferReader(taste), options).schema
        except (pa.ArrowException, ValueError) as error:
            raise self._complaint(taste, 0, str(error)) from None
        types = {}
        for field in schema:
            number = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
            time = pa.types.is_temporal(field.type)
            types[field.name] = pa.float64() if number else pa.string() if time else field.type
        return types

    def _pieces(self, size: int) -> Iterable[Piece]:
        return self.text.pieces(0, size)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.chunk, self.names, self.kinds)

    def read(self, piece: Piece) -> Block:
        """The rows of a range of bytes."""
        columns = columns_of(self._parsed(piece)[0], self.kinds)
        return Block(self.names, columns, None, lambda i: f"line {self.text.line(piece.start) + i}")

    def _parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        import pyarrow as pa
        from pyarrow import json as arrow_json

        data = self.text.take(piece.start, piece.stop)
        self.text.check(data, piece.start)
        try:
            table = arrow_json.read_json(
                pa.BufferReader(data),
                arrow_json.ReadOptions(block_size=max(len(data), 1), use_threads=False),
                arrow_json.ParseOptions(
                    explicit_schema=pa.schema(self.layout), unexpected_field_behavior="ignore"
                ),
            )
        except (pa.ArrowException, ValueError) as error:
            raise self._complaint(data, piece.start, str(error)) from None
        return table.select(list(self.names)), {}

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


def _strange(word: str) -> float:
    raise ValueError(f"{word} is no JSON number; leave the value out, or write null")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is beyond what a number can be")
    return value


_STRICT: dict[str, Any] = {"parse_constant": _strange, "parse_float": _finite}


def json_table(path: str, columns: Sequence[str] | None, rows: int | None) -> Source:
    """The rows of a JSON file; one with an object a line is NDJSON, whatever its name."""
    text = Text(existing(path), quotes=False)
    head = text.take(0, 2**20).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{") and _is_lines(head):
        return NdjsonSource(path, columns, rows)
    names, values = _columns(_loaded(text, path), path)
    numbers = range(1, len(values[0]) + 1) if values else ()
    return FileTable(path, names, values, numbers, columns, rows)


def _is_lines(head: bytes) -> bool:
    """Whether the first line is an object, and another one follows."""
    first, _, more = head.partition(b"\n")
    if not more.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _loaded(text: Text, path: str) -> Any:
    data = b"".join(_parts(text, path))
    refuse_beyond_memory(_GROWTH * len(data), f"{path}: JSON of {len(data)} bytes", _ADVICE)
    data = data.removeprefix(b"\xef\xbb\xbf")
    text.check(data, 0)
    if not data.strip():
        raise DataError(f"{path}: there are no rows; a fit needs an array of objects.")
    try:
        return json.loads(data, **_STRICT)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}: line {error.lineno} is not JSON: {error.msg}, at column {error.colno}."
        ) from None
    except RecursionError:
        raise DataError(f"{path}: objects are nested too deeply to be rows of a table.") from None
    except ValueError as error:
        word = str(error).split()[0].encode()
        raise DataError(f"{path}: line {text.line(max(data.find(word), 0))}: {error}.") from None


def _parts(text: Text, path: str) -> Iterator[bytes]:
    """The whole text, unless it is too long."""
    at = 0
    while part := text.take(at, at + 2**23):
        yield part
        at += len(part)
        if at > _MOST:
            raise DataError(f"{path}: more than {_MOST} bytes of JSON are not read. {_ADVICE}")


def _columns(found: Any, path: str) -> tuple[list[str], list[list[Any]]]:
    """Names and values: of objects, or of columns by name."""
    if isinstance(found, dict):
        if found and all(isinstance(values, list | dict) for values in found.values()):
            return _by_name(found, path)
        tables = [v for v in found.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        found = tables[0] if len(tables) == 1 else [found]
    if not isinstance(found, list):
        raise DataError(
            f"{path}: this is a {type(found).__name__}; expected an array of objects, such as "
            '[{"x": 1.5, "y": 2}, ...].'
        )
    names: dict[str, None] = {}
    for k, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise DataError(
                f"{path}: row {k} is a {type(row).__name__}; expected an array of objects, such as "
                '[{"x": 1.5, "y": 2}, ...].'
            )
        names.update(dict.fromkeys(row))
    if not names:
        raise DataError(f"{path}: there are no rows; a fit needs an array of objects.")
    if len(names) * len(found) > 2**22 + 100 * sum(map(len, found)):
        raise DataError(
            f"{path}: {len(found)} rows have {len(names)} different names in all, and most are "
            "empty; this is no table."
        )
    return list(names), [[row.get(name) for row in found] for name in names]


def _by_name(found: dict[str, Any], path: str) -> tuple[list[str], list[list[Any]]]:
    """Columns as lists, or as objects from row names to values, which is pandas' own form."""
    lists = {n: v if isinstance(v, list) else list(v.values()) for n, v in found.items()}
    tables = [v for v in lists.values() if v and all(isinstance(row, dict) for row in v)]
    if len(tables) == 1 and isinstance(next(iter(found.values())), dict | list):
        return _columns(tables[0], path)  # {"schema": ..., "data": [objects]}
    labels = [tuple(v) if isinstance(v, dict) else len(v) for v in found.values()]
    if any(label != labels[0] for label in labels):
        raise DataError(
            f"{path}: its columns have different rows; expected an array of objects, such as "
            '[{"x": 1.5, "y": 2}, ...].'
        )
    return list(lists), list(lists.values())
