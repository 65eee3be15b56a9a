"""Tables out: CSV, TSV, NDJSON, Parquet, or one JSON object; a file appears whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from adaline import MissingExtra
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import strict
from adaline.cli.printing.words import did_you_mean
from adaline.data.outputs import Output, as_text
from adaline.evaluation.words import plain

_ENDINGS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "ndjson": "ndjson", "jsonl": "ndjson"}
_ENDINGS |= {"parquet": "parquet", "pq": "parquet"}
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class Writer:
    """Blocks of columns into a file, or to stdout for "-"."""

    is_text = False
    formulas = 0  # cells of text that begin as formulas of spreadsheets do

    def __init__(self, path: str, names: Sequence[str]) -> None:
        self.path, self.names = path, list(names)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """The next rows, a list a column; None is missing."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write what comes before the rows."""

    def end(self) -> None:
        """Write what comes after the rows."""

    def __enter__(self) -> Self:
        try:
            self._output = None if self.path == "-" else Output(self.path)
            self.bytes: Any = None if self._output is None else self._output.__enter__()
        except OSError as error:
            why = (error.strerror or "").lower()
            raise Usage(f"{self.path}: cannot be written ({why}).") from None
        try:
            self.begin()
        except BaseException:
            self._close(*sys.exc_info())
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.end()
        except BaseException:
            self._close(*sys.exc_info())
            raise
        self._close(kind, error, trace)

    def _close(self, *error: Any) -> None:
        if self._output is not None:
            self._output.__exit__(*error)


class TextWriter(Writer):
    """Formats of lines."""

    is_text = True
    file: Any

    def begin(self) -> None:
        self.file = stdout_for_programs() if self.bytes is None else as_text(self.bytes)

    def end(self) -> None:
        self.file.flush()
        if self.bytes is not None:
            self.file.detach()


def stdout_for_programs() -> Any:
    """stdout, in UTF-8 unless it is a terminal: a pipe gets the bytes that --out writes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
    return sys.stdout


class SeparatedWriter(TextWriter):
    """CSV or TSV, numbers with all their digits.

    Text that a spreadsheet would run as a formula is counted, and with `disarm` gets an apostrophe
    before it. What a terminal would obey is shown there, not sent.
    """

    def __init__(
        self, path: str, names: Sequence[str], separator: str, disarm: bool = False
    ) -> None:
        super().__init__(path, names)
        self.separator, self.disarm = separator, disarm

    def begin(self) -> None:
        super().begin()
        self.on_terminal = self.bytes is None and self.file.isatty()
        self.csv = csv.writer(self.file, delimiter=self.separator, lineterminator="\n")
        self.csv.writerow(self._text(self.names))

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        self.csv.writerows(zip(*map(self._text, columns), strict=True))

    def _text(self, values: Sequence[Any]) -> Sequence[Any]:
        """A column with its text made harmless; numbers are left alone."""
        first = next((v for v in values if v is not None), None)
        if not isinstance(first, str):
            return values
        return [self._cell(v) if isinstance(v, str) else v for v in values]

    def _cell(self, value: str) -> str:
        if value.startswith(_FORMULAS) and not _is_number(value):
            self.formulas += 1
            value = f"'{value}" if self.disarm else value
        return plain(value, most=len(value) * 10) if self.on_terminal else value


class NdjsonWriter(TextWriter):
    """A JSON object a line."""

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        for row in zip(*columns, strict=True):
            plain = strict(dict(zip(self.names, row, strict=True)))
            self.file.write(json.dumps(plain, allow_nan=False) + "\n")


class JsonWriter(TextWriter):
    """One JSON object with a list of rows, written as they come."""

    def begin(self) -> None:
        super().begin()
        self.count = 0
        names = json.dumps(self.names)
        self.file.write(f'{{"command": "predict", "columns": {names}, "rows": [')

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        for row in zip(*columns, strict=True):
            self.file.write((", " if self.count else "") + json.dumps(strict(row), allow_nan=False))
            self.count += 1

    def end(self) -> None:
        self.file.write(f'], "count": {self.count}}}\n')
        super().end()


class ParquetWriter(Writer):
    """Row groups as they come; needs pyarrow."""

    def begin(self) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra(
                f"writing Parquet needs pyarrow; {MissingExtra.how_to_install('io')} brings it, "
                "or write .csv."
            ) from None
        self.pa, self.pq = pa, pq
        self.file: Any = None

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        arrays = [self.pa.array(values) for values in columns]
        table = self.pa.table(arrays, names=self.names)
        if self.file is None:
            self.file = self.pq.ParquetWriter(self.bytes, table.schema)
        self.file.write_table(table.cast(self.file.schema))

    def end(self) -> None:
        if self.file is None:
            nothing = self.pa.table({name: self.pa.array([], "float64") for name in self.names})
            self.pq.write_table(nothing, self.bytes)
        else:
            self.file.close()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def writer_for(path: str, format: str | None, names: Sequence[str], disarm: bool = False) -> Writer:
    """What writes a file of this name."""
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    chosen = format or ("csv" if path == "-" else _ENDINGS.get(ending))
    if chosen is None:
        raise Usage(
            f"--out {path!r}: its ending tells no format; {did_you_mean(ending, _ENDINGS)} Or give "
            "--format."
        )
    if chosen == "parquet":
        if path == "-":
            raise Usage("Parquet cannot be written to stdout; give --out FILE.parquet.")
        return ParquetWriter(path, names)
    if chosen in ("csv", "tsv"):
        return SeparatedWriter(path, names, "," if chosen == "csv" else "\t", disarm)
    return NdjsonWriter(path, names) if chosen == "ndjson" else JsonWriter(path, names)
