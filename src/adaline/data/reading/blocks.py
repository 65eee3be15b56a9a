"""`blocks`: one way in for files, tables, arrays and streams."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from adaline.data.reading.arrow_files import ArrowSource
from adaline.data.reading.checks import (
    check_choice,
    check_jobs,
    check_names,
    check_path,
    check_whole,
)
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
from adaline.data.reading.libsvm_files import LibsvmFiles
from adaline.data.reading.locations import bare, expanded
from adaline.data.reading.numpy_files import MatrixSource, NpySource, npz
from adaline.data.reading.options import FileOptions, checked
from adaline.data.reading.scratch import MakeScratch, no_scratch
from adaline.data.reading.sheets import sheet
from adaline.data.reading.source import Source, existing, reading
from adaline.data.reading.text_bytes import ENDINGS
from adaline.data.reading.text_tables import TextTable
from adaline.data.reading.wav_files import WavSource
from adaline.errors import DataError
from adaline.mapreduce import Executor
from adaline.tiles import as_csr

Columns = Sequence[str] | None
Open = Callable[[str, Columns, int | None], Source]
OpenText = Callable[[str, Columns, int | None, FileOptions], Source]

_PARQUET: Open = partial(ArrowSource, kind="Parquet")
_ARROW: Open = partial(ArrowSource, kind="Arrow")
_BY_COMMA: OpenText = partial(TextTable, separator=",")
_BY_TAB: OpenText = partial(TextTable, separator="\t")
_BY_ANY: OpenText = partial(TextTable, separator=",", blanks=True)

# What a file is, by how its name ends; text may have one of ENDINGS more, .gz for example.
_FIELDS: dict[str, OpenText] = {
    ".csv": _BY_COMMA,
    ".tsv": _BY_TAB,
    ".tab": _BY_TAB,
    ".txt": _BY_ANY,
    ".dat": _BY_ANY,
    ".data": _BY_ANY,
}
_SHEETS: dict[str, OpenText] = dict.fromkeys((".xlsx", ".xlsm"), sheet)
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsb"), "a workbook of Excel that is not .xlsx"),
    **dict.fromkeys((".ods", ".numbers", ".gsheet"), "a sheet of another program than Excel"),
    **dict.fromkeys((".dta", ".sav", ".por", ".sas7bdat", ".xpt"), "a file of Stata, SPSS or SAS"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "a file of R"),
    **dict.fromkeys((".pkl", ".pickle"), "a pickle, which may hold a program,"),
    **dict.fromkeys((".mdb", ".accdb", ".db", ".sqlite", ".sqlite3"), "a database"),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".htm", ".html", ".xml"), "a document"),
}
_LINES: dict[str, Open] = {
    ".ndjson": NdjsonSource,
    ".jsonl": NdjsonSource,
    ".json": json_table,
    ".libsvm": LibsvmSource,
    ".svmlight": LibsvmSource,
    ".svm": LibsvmSource,
}
_LIBSVM = (".libsvm", ".svmlight", ".svm")
_BINARY: dict[str, Open] = {
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
    ".npy": NpySource,
    ".npz": npz,
    ".wav": WavSource,
}
FORMATS = (
    *(end + packed for end in (*_FIELDS, *_LINES) for packed in ("", *ENDINGS)),
    *_SHEETS,
    *_BINARY,
)
_TOLD = (*_FIELDS, *_LINES, *_SHEETS, *_BINARY)


def blocks(
    source: Any,
    columns: Columns = None,
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
    options = FileOptions(separator, decimal, encoding, header, sheet, skip_rows, keep_total)
    check_names("columns", columns)
    beside = {condition(where)[0]} - set(columns or ()) if where is not None else ()
    every = columns if columns is None else [*columns, *beside]
    found = opened(source, every, rows, format, options, jobs, n_features)
    return found if where is None else Filtered(found, where, columns)


def opened(
    source: Any,
    columns: Columns = None,
    rows: int | None = None,
    format: str | None = None,
    options: FileOptions | None = None,
    jobs: int | Executor = 1,
    n_features: int | None = None,
    scratch: MakeScratch = no_scratch,
) -> Source:
    """`blocks`, which may put what it parsed into temporary files on the way."""
    _check(source, columns, rows, format, n_features)
    check_jobs(jobs)
    options = checked(options or FileOptions())
    if isinstance(source, Source):
        return source if scratch is no_scratch else source.keeping(scratch)
    paths = _paths(source)
    if n_features is not None and (paths is None or _ending(paths[0], format) not in _LIBSVM):
        raise ValueError(f"n_features={n_features} is of LIBSVM files; leave it out.")
    if paths is not None:
        name = str(source) if not isinstance(source, list | tuple) else f"{paths[0]} and others"
        opening = Opening(format, None if columns is None else tuple(columns), rows, options)
        with reading(f"{name}: it cannot be read"):
            known = None if n_features is None else FeatureNames(n_features, 1, ("y",))
            if len(paths) == 1 and _ending(paths[0], format) in _LIBSVM:
                _refuse(options, _ending(paths[0], format))
                return LibsvmSource(paths[0], columns, rows, known, scratch())
            if len(paths) == 1:
                return opening(paths[0])
            _one_format(paths, format)
            opening = replace(opening, options=replace(options, keep_total=True))
            if _ending(paths[0], format) in _LIBSVM:
                _refuse(options, _ending(paths[0], format))
                _refuse_columns(columns, name)
                return LibsvmFiles(name, paths, rows, known, jobs, scratch())
            return FilesSource(name, paths, opening, jobs)
    if type(source).__module__.partition(".")[0] == "dask":
        raise TypeError(
            f"source is a {type(source).__name__} of dask, of which no rows are read here; fit the "
            "estimator to it: model.fit(table[columns], table[target])."
        )
    _refuse(options, "" if hasattr(source, "read") else f"a {type(source).__name__}")
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
    if type(source).__name__ == "Series":
        raise DataError("a Series is one column; give a table: series.to_frame().")
    if any(hasattr(source, name) for name in ("columns", "__arrow_c_stream__", "to_table")):
        return TableSource(source, columns, rows)
    if hasattr(source, "read"):
        binary = getattr(source, "buffer", source)
        return from_file_object(binary, "\t" if format == ".tsv" else ",", options)
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | Set | bytes):
        return from_iterable(source, columns)
    raise TypeError(
        f"cannot read rows from a {type(source).__name__}; give a path, a table, an array, or an "
        "iterable of tables or arrays."
    )


@dataclass(frozen=True)
class Opening:
    """How each of several files is opened; it can travel to other processes."""

    format: str | None
    columns: tuple[str, ...] | None
    rows: int | None
    options: FileOptions

    def __call__(self, path: str, columns: Columns = None) -> Source:
        return _opened(path, self.format, columns or self.columns, self.rows, self.options)


def _paths(source: Any) -> list[str] | None:
    """The files that a path, folder, pattern or a list of them names; None for anything else."""
    if isinstance(source, (str, os.PathLike)):
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


def _refuse_columns(columns: Any, name: str) -> None:
    if columns is not None:
        raise DataError(f"{name}: columns cannot be chosen in LIBSVM files; take all.")


def _check(source: Any, columns: Any, rows: Any, format: Any, n_features: Any) -> None:
    """Refuse options that mean nothing, before anything is opened."""
    check_names("columns", columns)
    if n_features is not None:
        check_whole("n_features", n_features, 1)
    if rows is not None:
        check_whole("rows", rows, 1)
    if format is not None:
        check_choice("format", format if not isinstance(format, str) else format.lower(), FORMATS)
    if isinstance(source, (str, os.PathLike)):
        check_path("source", source)
    given = columns, rows, format, n_features
    if isinstance(source, Source) and any(one is not None for one in given):
        raise ValueError(
            "source is one that `blocks` gave: columns, rows, format and n_features were chosen "
            "then. Give them where it is opened."
        )


def _opened(
    path: str, format: str | None, columns: Columns, rows: int | None, options: FileOptions
) -> Source:
    """Open a file by how its name ends."""
    ending = _ending(path, format)
    if ending in _FIELDS:
        _refuse(FileOptions(sheet=options.sheet), ending)
        return _FIELDS[ending](path, columns, rows, options)
    if ending in _SHEETS:
        _refuse(replace(options, header=None, sheet=None, skip_rows=None), ending)
        return _SHEETS[ending](path, columns, rows, options)
    _refuse(options, ending)
    return (_LINES.get(ending) or _BINARY[ending])(path, columns, rows)


def _ending(path: str, format: str | None) -> str:
    """The ending that tells the format of a file, without that of a packed one."""
    wanted = format.lower() if format else os.path.basename(path).lower()
    packed = next((end for end in ENDINGS if wanted.endswith(end)), "")
    bare = wanted.removesuffix(packed)
    for ending in (*_FIELDS, *_LINES):
        if bare.endswith(ending):
            return ending
    for ending in (*_SHEETS, *_BINARY):
        if wanted.endswith(ending):
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
        f"{', '.join(_TOLD)} (text also with {', '.join(ENDINGS)}); or give format=."
    )


def _refuse(options: FileOptions, what: str) -> None:
    """Refuse what is said of text where there is none."""
    for option, value in vars(options).items():
        if value is not None and what and option != "keep_total":
            of = "Excel files" if option == "sheet" else "text tables such as CSV"
            raise ValueError(f"{option}={value!r} is of {of}; leave it out for {what}.")
