"""JSON: an object a line, in blocks; or an array of objects, or columns by name, in memory."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Any

from adaline.data.reading.files import existing
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Block, Source, checked_names, chosen
from adaline.data.reading.tables import arrow, block_of, from_values, kind_of_type
from adaline.data.reading.text_files import Text, TextSource
from adaline.errors import DataError, refuse_beyond_memory

MAX_BYTES = 2**30  # of a JSON text that is no NDJSON
GROWTH = 10  # bytes of Python objects for a byte of text, about
MANY_CELLS, SPARSE = 2**22, 100  # a larger table, of which 99 % are empty, is none
_EXPECTED = 'expected an array of objects, such as [{"x": 1.5, "y": 2}, ...].'


class NdjsonSource(TextSource):
    """An object a line; the first megabyte tells the names and types of all lines."""

    def __init__(self, path: str, options: ReadingOptions):
        pa = arrow("NDJSON files")
        self.name, self.text = existing(path), Text(path, quotes=False)
        self.set_size(options.rows, head := self.text.head())
        head = head[: head.rfind(b"\n") + 1] or head
        types = {}
        for field in self.parse(head, 1).schema:
            # Whole numbers may become others later, so all are float64; what Arrow takes for times
            # stays text, which a notation reads, as in any other text.
            number = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
            time = pa.types.is_temporal(field.type)
            types[field.name] = pa.float64() if number else pa.string() if time else field.type
        if not types:
            raise DataError(f"{path}: there are no rows; a fit needs an object a line.")
        names = checked_names(list(types), path)
        self.names = tuple(names[j] for j in chosen(options.columns, names, path))
        self.layout = tuple((name, types[name]) for name in self.names)
        self.kinds = tuple(kind_of_type(types[name]) for name in self.names)

    def parse(self, data: bytes, line: int) -> Any:
        """The objects of whole lines, with the types of the layout where it is known."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        self.text.check(data, line)
        known = None if self.layout is None else pa.schema(self.layout)
        try:
            table = arrow_json.read_json(
                pa.BufferReader(data),
                arrow_json.ReadOptions(block_size=max(len(data), 1), use_threads=False),
                arrow_json.ParseOptions(
                    explicit_schema=known,
                    unexpected_field_behavior="infer" if known is None else "ignore",
                ),
            )
        except (pa.ArrowException, ValueError) as error:
            row = re.search(r"in row (\d+)", str(error))  # counted from 0 in these lines
            line += int(row[1]) if row else 0
            raise DataError(
                f'{self.name}: line {line} is not JSON such as {{"x": 1.5, "y": 2}}: {error}.'
            ) from None

        return table if known is None else table.select(list(self.names))

    def block(self, batch: Any, place: Callable[[int], str]) -> Block:
        return block_of(batch, self.kinds, place)


def json_table(path: str, options: ReadingOptions) -> Source:
    """The rows of a JSON file; one with an object a line is NDJSON, whatever its name."""
    text = Text(existing(path), quotes=False)
    first, _, more = text.head().removeprefix(BOM_UTF8).lstrip().partition(b"\n")
    try:
        if more.lstrip().startswith(b"{") and isinstance(json.loads(first), dict):
            return NdjsonSource(path, options)
    except (ValueError, RecursionError):
        pass  # an object of several lines
    data = text.head(MAX_BYTES + 1)
    advice = "Save it as NDJSON, an object a line, which is read in blocks."
    if len(data) > MAX_BYTES:
        raise DataError(f"{path}: more than {MAX_BYTES} bytes of JSON are not read. {advice}")
    refuse_beyond_memory(GROWTH * len(data), f"{path}: JSON of {len(data)} bytes", advice)
    text.check(data, 1)
    try:
        content = json.loads(data.removeprefix(BOM_UTF8).strip() or b"[]")
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: this is not JSON of rows: {error}.") from None
    names, values = _columns(content, path)
    return from_values(path, names, values, options, range(1, len(values[0]) + 1))


def _columns(content: Any, path: str) -> tuple[list[str], list[list[Any]]]:
    """Names and values of objects, in a list or in the one list of an object; or columns by name.

    Columns are lists, or objects from row names to values, which is pandas' own form.
    """
    if isinstance(content, dict):
        columns = list(content.values())
        tables = [v for v in columns if isinstance(v, list) and v and isinstance(v[0], dict)]
        if len(tables) == 1:
            content = tables[0]
        elif columns and all(isinstance(v, list | dict) for v in columns):
            if len({repr(list(v)) if isinstance(v, dict) else len(v) for v in columns}) > 1:
                raise DataError(f"{path}: its columns have different rows; {_EXPECTED}")
            lists = [list(v.values()) if isinstance(v, dict) else v for v in columns]
            return list(content), lists
        else:
            content = [content]
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise DataError(f"{path}: this is no table; {_EXPECTED}")
    names = list(dict.fromkeys(name for row in content for name in row))
    if not names:
        raise DataError(f"{path}: there are no rows; {_EXPECTED}")
    if len(names) * len(content) > MANY_CELLS + SPARSE * sum(map(len, content)):
        raise DataError(
            f"{path}: {len(content)} rows have {len(names)} different names in all, and most are "
            "empty; this is no table."
        )
    return names, [[row.get(name) for row in content] for name in names]
