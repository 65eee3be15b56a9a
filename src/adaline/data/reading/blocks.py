"""`blocks`: one way in for files, tables, arrays and streams."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from adaline.data.reading.arrays import NpySource, WavSource, matrix_source, npz
from adaline.data.reading.arrow_files import ArrowSource
from adaline.data.reading.checks import check_choice, check_jobs, check_names, check_path
from adaline.data.reading.derived import Filtered, condition
from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.files import FilesSource
from adaline.data.reading.in_memory import (
    TableSource,
    from_file_object,
    from_iterable,
    from_reader,
)
from adaline.data.reading.json_files import NdjsonSource, json_table
from adaline.data.reading.libsvm import LibsvmSource
from adaline.data.reading.locations import bare, expanded
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.scratch import MakeScratch, no_scratch
from adaline.data.reading.sheets import sheet
from adaline.data.reading.source import Source, checked_names, existing, reading
from adaline.data.reading.text_bytes import ENDINGS
from adaline.data.reading.text_tables import TextTable
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor

# What a file is, by how its name ends; text may have one of ENDINGS more, .gz for example.
_FIELDS = dict.fromkeys((".csv", ".txt", ".dat", ".data"), ",") | {".tsv": "\t", ".tab": "\t"}
_BLANKS = (".txt", ".dat", ".data")  # where blanks may separate words, too
_SHEETS = (".xlsx", ".xlsm")
_LIBSVM = (".libsvm", ".svmlight", ".svm")
_JSON: dict[str, Any] = {".ndjson": NdjsonSource, ".jsonl": NdjsonSource, ".json": json_table}
_BINARY: dict[str, Any] = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
    ".npy": NpySource,
    ".npz": npz,
    ".wav": WavSource,
}
_TEXT = (*_FIELDS, *_JSON, *_LIBSVM)
_KNOWN = (*_TEXT, *_SHEETS, *_BINARY)
FORMATS = (*(end + packed for end in _TEXT for packed in ("", *ENDINGS)), *_SHEETS, *_BINARY)
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsb"), "a workbook of Excel that is not .xlsx"),
    **dict.fromkeys((".ods", ".numbers", ".gsheet"), "a sheet of another program than Excel"),
    **dict.fromkeys((".dta", ".sav", ".por", ".sas7bdat", ".xpt"), "a file of Stata, SPSS or SAS"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "a file of R"),
    **dict.fromkeys((".pkl", ".pickle"), "a pickle, which may hold a program,"),
    **dict.fromkeys((".mdb", ".accdb", ".db", ".sqlite", ".sqlite3"), "a database"),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".htm", ".html", ".xml"), "a document"),
}


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
        (n, p) dense or CSR, with columns x0, x1, ... A file object is a pipe of CSV.
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
    every = columns if columns is None else [*columns, *beside]
    options = ReadingOptions(
        columns=every,
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
    found = opened(source, options, jobs)
    return found if where is None else Filtered(found, where, columns)


def opened(
    source: Any,
    options: ReadingOptions | None = None,
    jobs: int | Executor = 1,
    scratch: MakeScratch = no_scratch,
) -> Source:
    """`blocks`, which may put what it parsed into temporary files on the way."""
    options = options or ReadingOptions()
    check_jobs(jobs)
    if options.format is not None:
        given = options.format
        check_choice("format", given.lower() if isinstance(given, str) else given, FORMATS)
    if isinstance(source, Source):
        if options != ReadingOptions():
            raise ValueError(
                "source is one that `blocks` gave: columns, rows, format and n_features were "
                "chosen then. Give them where it is opened."
            )
        return source if scratch is no_scratch else source.keeping(scratch)
    paths = _paths(source)
    is_libsvm = paths is not None and _ending(paths[0], options.format) in _LIBSVM
    if options.n_features is not None and not is_libsvm:
        raise ValueError(f"n_features={options.n_features} is of LIBSVM files; leave it out.")
    if paths is None:
        return _in_memory(source, options)
    if is_libsvm:
        known = options.n_features
        features = None if known is None else FeatureNames(known, 1, ("y",))
        options = replace(options, features=features, scratch=scratch())
    name = str(source) if not isinstance(source, list | tuple) else f"{paths[0]} and others"
    with reading(f"{name}: it cannot be read"):
        if len(paths) == 1:
            found = open_file(paths[0], options).keeping(scratch)
            checked_names(found.names[:1], name)  # an index that is too large is refused now
            return found
        _one_format(paths, options.format)
        options = replace(options, keep_total=True)
        return FilesSource(name, paths, open_file, options, jobs).keeping(scratch)


def open_file(path: str, options: ReadingOptions) -> Source:
    """Open a file by how its name ends."""
    ending = _ending(path, options.format)
    if ending in _FIELDS:
        said = ("separator", "decimal", "encoding", "header", "skip_rows")
        options.refuse_all_but(ending, *said)
        return TextTable(path, options, _FIELDS[ending], blanks=ending in _BLANKS)
    if ending in _SHEETS:
        options.refuse_all_but(ending, "header", "sheet", "skip_rows")
        return sheet(path, options)
    options.refuse_all_but(ending)
    if ending in _LIBSVM:
        return LibsvmSource(path, options)
    columns, rows = options.columns, options.rows
    kind: Any = _BINARY.get(ending)
    if isinstance(kind, str):
        return ArrowSource(path, columns, rows, kind)
    kind = _JSON.get(ending, kind)
    found: Source = kind(path, columns, rows)
    return found


def _in_memory(source: Any, options: ReadingOptions) -> Source:
    """A table, array or stream."""
    name, columns, rows = type(source).__name__, options.columns, options.rows
    if type(source).__module__.partition(".")[0] == "dask":
        raise TypeError(
            f"source is a {name} of dask, of which no rows are read here; fit the "
            "estimator to it: model.fit(table[columns], table[target])."
        )
    if not hasattr(source, "read"):
        options.refuse_all_but(f"a {name}")
    if isinstance(source, np.ndarray) or hasattr(source, "tocsr"):
        return matrix_source(source, columns, rows, "the array")
    if hasattr(source, "read_next_batch"):
        return from_reader(source)
    if name == "Series":
        raise DataError("a Series is one column; give a table: series.to_frame().")
    if any(hasattr(source, how) for how in ("columns", "__arrow_c_stream__", "to_table")):
        return TableSource(source, columns, rows)
    if hasattr(source, "read"):
        binary = getattr(source, "buffer", source)
        return from_file_object(binary, "\t" if options.format == ".tsv" else ",", options)
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | Set | bytes):
        return from_iterable(source, columns)
    raise TypeError(
        f"cannot read rows from a {name}; give a path, a table, an array, or an "
        "iterable of tables or arrays."
    )


def _paths(source: Any) -> list[str] | None:
    """The files that a path, folder, pattern or a list of them names; None for anything else."""
    if isinstance(source, (str, os.PathLike)):
        check_path("source", source)
        path = bare(os.fspath(source))
        with reading(f"{path}: it cannot be read"):
            return expanded(path) or [path]
    many = isinstance(source, list | tuple) and len(source) > 0
    if not many or not all(isinstance(part, str | os.PathLike) for part in source):
        return None
    for k, part in enumerate(source):
        check_path(f"source[{k}]", part)
    return [path for part in source for path in _paths(part) or ()]


def _one_format(paths: Sequence[str], format: str | None) -> None:
    """Refuse files of several formats."""
    first = _ending(paths[0], format)
    for path in paths:
        if (ending := _ending(path, format)) != first:
            raise DataError(
                f"{path} is of the format {ending}, and {paths[0]} of {first}; give files of one "
                "format, such as 'data/*.parquet'."
            )


def _ending(path: str, format: str | None) -> str:
    """The ending that tells the format of a file, without that of a packed one."""
    wanted = format.lower() if format else os.path.basename(path).lower()
    packed = next((end for end in ENDINGS if wanted.endswith(end)), "")
    for ending in _KNOWN:
        if wanted.endswith(ending) or (
            ending in _TEXT and wanted.removesuffix(packed).endswith(ending)
        ):
            return ending
    existing(path)
    given = format or os.path.splitext(path)[1]
    if given.lower() in _FOREIGN:
        raise DataError(
            f"{path}: {_FOREIGN[given.lower()]} cannot be read; save the table as .xlsx or .csv "
            "with the program that it comes from."
        )
    alike = difflib.get_close_matches(given.lower(), FORMATS, 1, 0.5)
    hint = f"did you mean {alike[0]}? " if alike else ""
    raise DataError(
        f"{path}: the ending {given!r} tells no format that can be read; {hint}Known are "
        f"{', '.join(_KNOWN)} (text also with {', '.join(ENDINGS)})",
        ("format", ".csv", "reads it as such"),
    )
