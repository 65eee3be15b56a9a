"""Tables written as CSV, TSV, NDJSON or Parquet; a file appears whole or not.

`adaline predict` and `adaline trace` call `open_writer`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, cast

from adaline.cli.errors import UsageError
from adaline.cli.options import suggest
from adaline.cli.printing import strict
from adaline.data.outputs import open_output
from adaline.evaluation.words import plain

_FORMATS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson"}
_FORMATS |= {"parquet": "parquet", "pq": "parquet"}
_NUMBER = re.compile(r"[-+](\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+](inf|nan)")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how formulas of spreadsheets begin


@contextmanager
def open_writer(
    path: str, names: Sequence[str], format: str | None = None, disarm: bool = False
) -> Iterator[TableWriter]:
    """Write a table to a file of this name, or to stdout for "-"; nothing on an error."""
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    chosen = format or ("csv" if path == "-" else _FORMATS.get(ending))
    if chosen is None:
        similar = suggest(ending, _FORMATS)
        raise UsageError(f"--out {path!r}: unknown ending; {similar} Or give --format.")
    if chosen == "parquet" and path == "-":
        raise UsageError("Parquet cannot be written to stdout; give --out FILE.parquet.")
    with nullcontext(open_stdout()) if path == "-" else open_output(path) as output:
        is_wrapped = path != "-" and chosen != "parquet"
        text: Any = output
        if is_wrapped:
            text = io.TextIOWrapper(output, encoding="utf-8", newline="")
        writer = TableWriter(text, names, chosen, disarm)
        yield writer
        writer.close()
        if is_wrapped:
            text.detach()


class TableWriter:
    """Blocks of columns into an open file; None is a missing value.

    Text in CSV and TSV that a spreadsheet would run as a formula is counted in `formulas`, and gets
    an apostrophe before it with `disarm`. A terminal is shown control characters, not sent them.
    """

    def __init__(self, file: Any, names: Sequence[str], format: str, disarm: bool) -> None:
        self.names, self.format, self.disarm = list(names), format, disarm
        self.is_text, self.formulas = format != "parquet", 0
        self._file, self._parquet = file, cast(Any, None)
        self._on_terminal = self.is_text and file.isatty()
        separator = "\t" if format == "tsv" else ","
        self._csv: Any = csv.writer(file, delimiter=separator, lineterminator="\n")
        if format in ("csv", "tsv"):
            self._csv.writerow(self._make_harmless(self.names))

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write the next rows, given as a list for each column."""
        if self.format == "parquet":
            self._write_parquet(dict(zip(self.names, columns, strict=True)))
        elif self.format == "ndjson":
            for row in zip(*columns, strict=True):
                cells = strict(dict(zip(self.names, row, strict=True)))
                self._file.write(f"{json.dumps(cells, allow_nan=False)}\n")
        else:
            self._csv.writerows(zip(*map(self._make_harmless, columns), strict=True))

    def close(self) -> None:
        """Write what comes after the last rows."""
        if self.format == "parquet":
            if self._parquet is None:
                self._write_parquet({name: [] for name in self.names}, "float64")
            self._parquet.close()
        else:
            self._file.flush()

    def _write_parquet(self, columns: Mapping[str, Any], type: str | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: pa.array(values, type) for name, values in columns.items()})
        if self._parquet is None:  # the first rows decide the types
            self._parquet = pq.ParquetWriter(self._file, table.schema)
        self._parquet.write_table(table.cast(self._parquet.schema))

    def _make_harmless(self, values: Sequence[Any]) -> Sequence[Any]:
        """A column with its text made harmless; numbers stay as they are."""
        first = next((value for value in values if value is not None), None)
        if not isinstance(first, str):
            return values
        return [self._write_cell(v) if isinstance(v, str) else v for v in values]

    def _write_cell(self, value: str) -> str:
        if value.startswith(_FORMULAS) and not _NUMBER.fullmatch(value):
            self.formulas += 1
            value = f"'{value}" if self.disarm else value
        return plain(value, most=len(value) * 10) if self._on_terminal else value


def open_stdout() -> Any:
    """stdout, in UTF-8 unless it is a terminal: a pipe gets the bytes that --out writes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
    return sys.stdout
