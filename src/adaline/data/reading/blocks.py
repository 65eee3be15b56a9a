"""`blocks`: one way in for files, tables, arrays and streams."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from adaline.data.reading.arrays import matrix_source, npy, npz, wav
from adaline.data.reading.checks import (
    check_choice,
    check_jobs,
    check_names,
    check_path,
    wrong_type,
)
from adaline.data.reading.columnar import ArrowSource
from adaline.data.reading.files import open_files
from adaline.data.reading.frames import from_iterable, from_reader, from_table
from adaline.data.reading.json_files import NdjsonSource, json_table
from adaline.data.reading.libsvm import LibsvmSource
from adaline.data.reading.locations import existing, expanded, reading
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import Scratch
from adaline.data.reading.sheets import sheet
from adaline.data.reading.source import Source
from adaline.data.reading.text_bytes import ENDINGS
from adaline.data.reading.text_tables import TextTable, from_pipe
from adaline.data.reading.where import Filtered, condition
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor

# What a file is, by how its name ends; text may have one of ENDINGS more, .gz for example.
_FIELDS = dict.fromkeys((".csv", ".txt", ".dat", ".data"), ",") | {".tsv": "\t", ".tab": "\t"}
_BLANKS = (".txt", ".dat", ".data")  # where blanks may separate words, too
_SHEETS = (".xlsx", ".xlsm")
_LIBSVM = (".libsvm", ".svmlight", ".svm")
_JSON = {".ndjson": NdjsonSource, ".jsonl": NdjsonSource, ".json": json_table}
_OTHERS: dict[str, Callable[..., Source]] = {
    **_JSON,
    **dict.fromkeys((".parquet", ".pq"), partial(ArrowSource, kind="Parquet")),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), partial(ArrowSource, kind="Arrow")),
    **{".npy": npy, ".npz": npz, ".wav": wav},
}
_TEXT = (*_FIELDS, *_JSON, *_LIBSVM)
_KNOWN = (*_TEXT, *_SHEETS, *(ending for ending in _OTHERS if ending not in _JSON))
FORMATS = (*(end + packed for end in _TEXT for packed in ("", *ENDINGS)), *_KNOWN[len(_TEXT) :])


def blocks(
    source: Any,
    columns: Sequence[str] | None = None,
    rows: int | None = None,
    *,
    format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    keep_total: bool | None = None,
    where: str | None = None,
    jobs: int | Executor = 1,
    n_features: int | None = None,
) -> Source:
    """Row blocks of a file, many files, a table, array or stream.

    Parameters
    ----------
    source : path, file object, table, array, or iterable of tables or arrays
        A path may be a folder, a pattern such as `data/*.parquet`, a URL that fsspec can open
        (text tables, NDJSON, Parquet and Arrow), or a list of paths: the rows of all files, one
        file after the other, part.2 before part.10. They need the same columns.
        Files: CSV, TSV and other text tables (.txt, .dat), NDJSON, JSON and LIBSVM, all of them
        also packed (.gz, .bz2, .xz, .zst); Excel, Parquet, Arrow or Feather, npy, npz and wav.
        Tables: what polars, pandas and pyarrow have, or anything with `__arrow_c_stream__`. Arrays:
        (n, p) dense or CSR, with columns x0, x1, ... A file object holds CSV.
    columns : sequence of str, optional
        Which columns to read; all by default.
    rows : int, optional
        Rows of a block (about so many for text). By default some megabytes, and in Parquet and
        Arrow files the row groups that are there.
    format : str, optional
        ".csv", ".parquet", ... where a file's name does not tell.
    separator, decimal, encoding : str, optional
        Of text tables: the letter between fields (" " for any number of blanks), "." or "," in
        numbers, and an encoding such as "windows-1252". By default the first lines tell.
    header : bool, optional
        Of text tables and sheets: whether the first line has the names of the columns; without
        them they are x0, x1, ... By default the first lines tell.
    sheet : str, optional
        Of an Excel file: the name of the sheet to read; the first by default.
    skip_rows : int, optional
        Of text tables and sheets: lines to skip at the top; the next one has the column names.
    keep_total : bool, optional
        Of one text table or sheet: whether to keep a last row of totals, which is left out by
        default, and told in `notes`.
    where : str, optional
        Which rows to read: a column, one of == != < <= > >=, and a value, such as
        "region != north". A missing value is unequal to any.
    jobs : int
        Of many files: processes that open them.
    n_features : int, optional
        Of LIBSVM files: how many features there are, counted from 1. Without it a pass over all
        files finds the largest index, and whether they count from 0.

    Returns
    -------
    Source
        Iterate over it for blocks, as often as you like (streams: once). `descriptors()` are small
        picklable pieces and `read(piece)` is a block. `notes` says what was found out about a text
        table that is not as usual.

    Examples
    --------
    >>> import numpy as np
    >>> source = blocks(np.arange(12.0).reshape(6, 2), rows=4)
    >>> source.names, source.rows, [block.rows for block in source]
    (('x0', 'x1'), 6, [4, 2])
    """
    check_names("columns", columns)
    beside = {condition(where)[0]} - set(columns or ()) if where is not None else ()
    options = ReadingOptions(
        columns=columns if columns is None else [*columns, *beside],
        rows=rows,
        format=format,
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        header=header,
        sheet=sheet,
        skip_rows=skip_rows,
        keep_total=keep_total,
        n_features=n_features,
    )
    every = opened(source, options, jobs)
    return every if where is None else Filtered(every, where, columns)


def opened(
    source: Any,
    options: ReadingOptions | None = None,
    jobs: int | Executor = 1,
    scratch: Scratch | None = None,
) -> Source:
    """`blocks`, which may put what it parsed into temporary files."""
    options = options or ReadingOptions()
    check_jobs(jobs)
    if options.format is not None:
        given = options.format
        check_choice("format", given.lower() if isinstance(given, str) else given, FORMATS)
    if isinstance(source, Source):
        if options != ReadingOptions():
            raise ValueError(
                "source is open already; choose columns, rows and format where it is opened."
            )
        return source.keeping(scratch)
    paths = _paths(source)
    if paths is None:
        return _in_memory(source, options)
    first = _ending(paths[0], options.format)
    if first in _LIBSVM and scratch is not None and scratch.begin():
        options = replace(options, scratch=scratch)
    if len(paths) == 1:
        with reading(f"{paths[0]}: it cannot be read"):
            one = open_file(paths[0], options).keeping(scratch)
            len(one.names)  # an index of LIBSVM text that is too large is refused now
            return one
    for path in paths:
        if (ending := _ending(path, options.format)) != first:
            raise DataError(
                f"{path} is of the format {ending}, and {paths[0]} of {first}; give files of one "
                "format, such as 'data/*.parquet'."
            )
    name = f"{paths[0]} and others" if isinstance(source, list | tuple) else str(source)
    options = replace(options, keep_total=True)
    with reading(f"{name}: it cannot be read"):
        return open_files(name, paths, open_file, options, jobs).keeping(scratch)


def open_file(path: str, options: ReadingOptions) -> Source:
    """Open a file by how its name ends."""
    ending = _ending(path, options.format)
    if ending in _FIELDS:
        options.refuse_all_but(ending, "separator", "decimal", "encoding", "header", "skip_rows")
        return TextTable(path, options, _FIELDS[ending], blanks=ending in _BLANKS)
    if ending in _SHEETS:
        options.refuse_all_but(ending, "header", "sheet", "skip_rows")
        return sheet(path, options)
    if ending in _LIBSVM:
        options.refuse_all_but(ending, "n_features")
        return LibsvmSource(path, options)
    options.refuse_all_but(ending)
    opener: Callable[..., Source] = _OTHERS[ending]
    return opener(path, options.columns, options.rows)


def _in_memory(source: Any, options: ReadingOptions) -> Source:
    """A table, array or stream."""
    name, columns, rows = type(source).__name__, options.columns, options.rows
    if type(source).__module__.partition(".")[0] == "dask":
        raise TypeError(
            f"source is a {name} of dask; fit the estimator to it: "
            "model.fit(table[columns], table[target])."
        )
    if hasattr(source, "read"):
        separator = "\t" if options.format == ".tsv" else ","
        return from_pipe(getattr(source, "buffer", source), separator, options)
    options.refuse_all_but(f"a {name}")
    if isinstance(source, np.ndarray) or hasattr(source, "tocsr"):
        return matrix_source(source, columns, rows, "the array")
    if hasattr(source, "read_next_batch"):
        return from_reader(source)
    if name == "Series":
        raise DataError("a Series is one column; give a table: series.to_frame().")
    if name == "LazyFrame" or any(
        hasattr(source, how) for how in ("columns", "__arrow_c_stream__", "to_table")
    ):
        return from_table(source, columns, rows)
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | Set | bytes):
        return from_iterable(source, columns)
    raise wrong_type("source", source, "a path, a table, an array, or an iterable of them")


def _paths(source: Any) -> list[str] | None:
    """The files that a path, folder, pattern or a list of them names; None for anything else."""
    if isinstance(source, (str, os.PathLike)):
        check_path("source", source)
        path = os.fspath(source).removeprefix("file://")
        with reading(f"{path}: it cannot be read"):
            return expanded(path) or [path]
    many = isinstance(source, list | tuple) and len(source) > 0
    if not many or not all(isinstance(part, str | os.PathLike) for part in source):
        return None
    for k, part in enumerate(source):
        check_path(f"source[{k}]", part)
    return [path for part in source for path in _paths(part) or ()]


def _ending(path: str, format: str | None) -> str:
    """The ending that tells the format of a file, without that of a packed one."""
    wanted = format.lower() if format else os.path.basename(path).lower()
    packed = next((end for end in ENDINGS if wanted.endswith(end)), "")
    for ending in _KNOWN:
        plain = wanted.removesuffix(packed) if ending in _TEXT else wanted
        if wanted.endswith(ending) or plain.endswith(ending):
            return ending
    existing(path)
    given = format or os.path.splitext(path)[1]
    alike = difflib.get_close_matches(given.lower(), FORMATS, 1, 0.9)  # .xls is no .xlsx
    hint = f"did you mean {alike[0]}? Or " if alike else ""
    raise DataError(
        f"{path}: the ending {given!r} is of no format that can be read; {hint}save the table as "
        f".xlsx or .csv, or as one of {', '.join(_KNOWN)} (text also with {', '.join(ENDINGS)})",
        ("format", ".csv", "reads it as such"),
    )
