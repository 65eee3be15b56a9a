"""`blocks`: one way in for files, tables, arrays and streams."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from adaline.data.reading._arrow import ArrowSource
from adaline.data.reading._csv import CsvSource
from adaline.data.reading._libsvm import LibsvmSource
from adaline.data.reading._ndjson import NdjsonSource
from adaline.data.reading._numpy_files import MatrixSource, NpySource, npz
from adaline.data.reading._tables import TableSource, from_file_object, from_iterable, from_reader
from adaline.data.reading._wav import WavSource
from adaline.data.reading.checks import check_choice, check_names, check_path, check_whole
from adaline.data.reading.source import Source, existing, reading
from adaline.errors import DataError
from adaline.tiles import as_csr

Columns = Sequence[str] | None
Open = Callable[[str, Columns, int | None], Source]

_CSV: Open = lambda path, columns, rows: CsvSource(path, ",", columns, rows)  # noqa: E731
_TSV: Open = lambda path, columns, rows: CsvSource(path, "\t", columns, rows)  # noqa: E731
_PARQUET: Open = lambda path, columns, rows: ArrowSource(path, "Parquet", columns, rows)  # noqa: E731
_ARROW: Open = lambda path, columns, rows: ArrowSource(path, "Arrow", columns, rows)  # noqa: E731

# What a file is, by how its name ends.
FORMATS: dict[str, Open] = {
    ".csv": _CSV,
    ".tsv": _TSV,
    ".tab": _TSV,
    ".csv.gz": _CSV,
    ".tsv.gz": _TSV,
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
    ".ndjson": NdjsonSource,
    ".jsonl": NdjsonSource,
    ".ndjson.gz": NdjsonSource,
    ".jsonl.gz": NdjsonSource,
    ".npy": NpySource,
    ".npz": npz,
    ".libsvm": LibsvmSource,
    ".svmlight": LibsvmSource,
    ".svm": LibsvmSource,
    ".libsvm.gz": LibsvmSource,
    ".wav": WavSource,
}


def blocks(
    source: Any,
    columns: Columns = None,
    rows: int | None = None,
    *,
    format: str | None = None,
) -> Source:
    """Row blocks of a file, table, array or stream.

    Parameters
    ----------
    source : path, file object, table, array, or iterable of tables or arrays
        Files: CSV and TSV (also .gz), Parquet, Arrow or Feather, NDJSON, npy, npz, LIBSVM and wav.
        Tables: what polars, pandas and pyarrow have, or anything with `__arrow_c_stream__`. Arrays:
        (n, p) dense or CSR, with columns x0, x1, ... A file object is a pipe of CSV.
    columns : sequence of str, optional
        Which columns to read; all by default.
    rows : int, optional
        Rows of a block (about so many for text). By default some megabytes, and in Parquet and
        Arrow files the row groups that are there.
    format : str, optional
        ".csv", ".parquet", ... where a file's name does not tell.

    Returns
    -------
    Source
        Iterate over it for blocks, as often as you like (streams: once). `descriptors()` are small
        picklable pieces and `read(piece)` is a block.

    Examples
    --------
    >>> import numpy as np
    >>> source = blocks(np.arange(12.0).reshape(6, 2), rows=4)
    >>> source.names, source.rows, [block.rows for block in source]
    (('x0', 'x1'), 6, [4, 2])
    """
    _check(source, columns, rows, format)
    if isinstance(source, Source):
        return source
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        with reading(f"{path}: it cannot be read"):
            return opener(path, format)(path, columns, rows)
    if isinstance(source, np.ndarray) or hasattr(source, "tocsr"):
        matrix = as_csr(source) if hasattr(source, "tocsr") else source
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"the array has shape {matrix.shape} and dtype {matrix.dtype}; expected numbers in "
                "(rows, columns)."
            )
        return MatrixSource(matrix, [f"x{j}" for j in range(matrix.shape[1])], columns, rows)
    if hasattr(source, "read_next_batch"):
        return from_reader(source)
    if hasattr(source, "columns") or hasattr(source, "__arrow_c_stream__"):
        return TableSource(source, columns, rows)
    if hasattr(source, "read"):
        binary = getattr(source, "buffer", source)
        return from_file_object(binary, "\t" if format == ".tsv" else ",")
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | Set | bytes):
        return from_iterable(source, columns)
    raise TypeError(
        f"cannot read rows from a {type(source).__name__}; give a path, a table, an array, or an "
        "iterable of tables or arrays."
    )


def _check(source: Any, columns: Any, rows: Any, format: Any) -> None:
    """Refuse options that mean nothing, before anything is opened."""
    check_names("columns", columns)
    if rows is not None:
        check_whole("rows", rows, 1)
    if format is not None:
        check_choice("format", format if not isinstance(format, str) else format.lower(), FORMATS)
    if isinstance(source, (str, os.PathLike)):
        check_path("source", source)
    if isinstance(source, Source) and (columns, rows, format) != (None, None, None):
        raise ValueError(
            "source is one that `blocks` gave: columns, rows and format were chosen then. Give "
            "them where it is opened."
        )


def opener(path: str, format: str | None = None) -> Open:
    """What opens a file of this name."""
    wanted = format.lower() if format else os.path.basename(path).lower()
    for ending in sorted(FORMATS, key=len, reverse=True):
        if wanted.endswith(ending):
            return FORMATS[ending]
    existing(path)
    ending = format or os.path.splitext(path)[1]
    alike = difflib.get_close_matches(ending.lower(), FORMATS, 1, 0.5)
    hint = f"did you mean {alike[0]}? " if alike else ""
    raise DataError(
        f"{path}: the ending {ending!r} tells no format that can be read; {hint}Known are "
        f"{', '.join(FORMATS)}; or give format=."
    )
