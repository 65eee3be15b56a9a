"""Tables written as CSV, TSV, NDJSON, Parquet or one JSON object; a file appears whole or not.

`open_writer` gives what `adaline predict` and `adaline trace` write blocks of columns with.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from adaline.cli.answer import strict
from adaline.cli.errors import UsageError
from adaline.cli.options import suggest
from adaline.data.outputs import Output
from adaline.evaluation.words import plain

_FORMATS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson"}
_FORMATS |= {"parquet": "parquet", "pq": "parquet"}
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how formulas of spreadsheets begin


class TableWriter:
    """Blocks of columns into a file, or to stdout for "-"; None is a missing value.

    Text in CSV and TSV that a spreadsheet would run as a formula is counted in `formulas`, and gets
    an apostrophe before it with `disarm`. A terminal is shown control characters, not sent them.
    """

    def __init__(self, path: str, format: str, names: Sequence[str], disarm: bool = False) -> None:
        self.path, self.format, self.names, self.disarm = path, format, list(names), disarm
        self.is_text, self.formulas, self.rows = format != "parquet", 0, 0
        self._output = None if path == "-" else Output(path)
        self._parquet: Any = None  # opened by the first rows, whose types it takes

    def __enter__(self) -> Self:
        try:
            self._file: Any = open_stdout() if self._output is None else self._output.__enter__()
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise UsageError(f"{self.path}: cannot be written ({reason}).") from None
        if self.is_text and self._output is not None:
            self._file = io.TextIOWrapper(self._file, encoding="utf-8", newline="")
        self._on_terminal = self._output is None and self._file.isatty()
        separator = "\t" if self.format == "tsv" else ","
        self._csv: Any = csv.writer(self._file, delimiter=separator, lineterminator="\n")
        if self.format in ("csv", "tsv"):
            self._csv.writerow(self._make_harmless(self.names))
        elif self.format == "json":
            names = json.dumps(self.names)
            self._file.write(f'{{"command": "predict", "columns": {names}, "rows": [')
        return self

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write the next rows, given as a list for each column."""
        if self.format == "parquet":
            self._write_parquet(dict(zip(self.names, columns, strict=True)))
        elif self.format in ("csv", "tsv"):
            self._csv.writerows(zip(*map(self._make_harmless, columns), strict=True))
        else:
            for row in zip(*columns, strict=True):
                is_list = self.format == "json"
                value = row if is_list else dict(zip(self.names, row, strict=True))
                text = json.dumps(strict(value), allow_nan=False)
                self._file.write((", " if self.rows else "") + text if is_list else f"{text}\n")
                self.rows += 1

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self._finish()
        except BaseException:
            error = sys.exc_info()
            raise
        finally:
            if self._output is not None:
                self._output.__exit__(*error)

    def _finish(self) -> None:
        if self.format == "parquet":
            if self._parquet is None:
                self._write_parquet({name: [] for name in self.names}, "float64")
            self._parquet.close()
        if self.format == "json":
            self._file.write(f'], "count": {self.rows}}}\n')
        if self.is_text:
            self._file.flush()
        if self.is_text and self._output is not None:
            self._file.detach()

    def _write_parquet(self, columns: Mapping[str, Any], type: str | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: pa.array(values, type) for name, values in columns.items()})
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self._file, table.schema)
        self._parquet.write_table(table.cast(self._parquet.schema))

    def _make_harmless(self, values: Sequence[Any]) -> Sequence[Any]:
        """A column with its text made harmless; numbers stay as they are."""
        first = next((value for value in values if value is not None), None)
        if not isinstance(first, str):
            return values
        return [self._write_cell(v) if isinstance(v, str) else v for v in values]

    def _write_cell(self, value: str) -> str:
        if value.startswith(_FORMULAS) and not _is_number(value):
            self.formulas += 1
            value = f"'{value}" if self.disarm else value
        return plain(value, most=len(value) * 10) if self._on_terminal else value


def open_stdout() -> Any:
    """stdout, in UTF-8 unless it is a terminal: a pipe gets the bytes that --out writes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
    return sys.stdout


def open_writer(
    path: str, format: str | None, names: Sequence[str], disarm: bool = False
) -> TableWriter:
    """What writes a file of this name, or of this format."""
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    chosen = format or ("csv" if path == "-" else _FORMATS.get(ending))
    if chosen is None:
        raise UsageError(
            f"--out {path!r}: unknown ending; {suggest(ending, _FORMATS)} Or give --format."
        )
    if chosen == "parquet" and path == "-":
        raise UsageError("Parquet cannot be written to stdout; give --out FILE.parquet.")
    return TableWriter(path, chosen, names, disarm)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
