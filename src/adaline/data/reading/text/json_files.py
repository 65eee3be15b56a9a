"""JSON files: an array of objects, or columns by name as pandas writes them; all in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from adaline.data.reading.bytes.chunks import Text
from adaline.data.reading.source import Source, existing
from adaline.data.reading.tables.values import FileTable
from adaline.data.reading.text.ndjson import STRICT, NdjsonSource
from adaline.errors import DataError, refuse_beyond_memory

_MOST = 2**30  # bytes of text
_GROWTH = 10  # bytes of Python objects for a byte of text, about
_ADVICE = "Save it as NDJSON, an object a line, which is read in blocks."


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
        return json.loads(data, **STRICT)
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
