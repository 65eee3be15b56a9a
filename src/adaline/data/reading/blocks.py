"""`blocks`: one way in for files, tables, arrays and streams; several sources become one."""

from __future__ import annotations

import copy
import hashlib
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from adaline.data.reading.arrays import MatrixSource, npy, npz, stack, wav
from adaline.data.reading.files import existing, expanded, reading
from adaline.data.reading.json_files import NdjsonSource, json_table
from adaline.data.reading.libsvm import LibsvmSource, share_features
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.sheets import sheet
from adaline.data.reading.source import Block, Piece, RowSource, Source
from adaline.data.reading.tables import (
    ParquetSource,
    from_batches,
    from_table,
    open_arrow,
)
from adaline.data.reading.text_files import ENDINGS
from adaline.data.reading.text_tables import TextTable, from_pipe
from adaline.errors import DataError
from adaline.parameters import JOBS, PATH, words, wrong_type
from adaline.sums.mapreduce import Executor, mapreduce

_TABLE = ("separator", "decimal", "encoding", "header", "skip_rows")
_Opener = Callable[[str, ReadingOptions], Source]
# What a file is, by how its name ends: who opens it, and the options that it may have. Between
# words of some tables there may be blanks, too.
_PLAIN_TEXT: dict[str, tuple[_Opener, Sequence[str]]] = {
    ".csv": (partial(TextTable, separator=","), _TABLE),
    **dict.fromkeys(
        (".txt", ".dat", ".data"), (partial(TextTable, separator=",", blanks=True), _TABLE)
    ),
    **dict.fromkeys((".tsv", ".tab"), (partial(TextTable, separator="\t"), _TABLE)),
    **dict.fromkeys((".ndjson", ".jsonl"), (NdjsonSource, ())),
    ".json": (json_table, ()),
    **dict.fromkeys((".libsvm", ".svmlight", ".svm"), (LibsvmSource, ("n_features",))),
}
_FORMATS: dict[str, tuple[_Opener, Sequence[str]]] = {
    **{end + more: _PLAIN_TEXT[end] for end in _PLAIN_TEXT for more in ("", *ENDINGS)},
    **dict.fromkeys((".xlsx", ".xlsm"), (sheet, ("header", "sheet", "skip_rows"))),
    **dict.fromkeys((".parquet", ".pq"), (ParquetSource, ())),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), (open_arrow, ())),
    **{".npy": (npy, ()), ".npz": (npz, ()), ".wav": (wav, ())},
}


def blocks(
    source: Any,
    columns: Sequence[str] | None = None,
    rows: int | None = None,
    *,
    jobs: int | Executor = 1,
    **given: Any,
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
        Rows of a block (about so many for text).
    jobs : int
        Of many files: processes that open them.
    **given
        Other fields of `ReadingOptions`: format, separator, decimal, encoding, header, sheet,
        skip_rows, keep_total, n_features.

    Returns
    -------
    Source
        Iterate over it for blocks, as often as you like. `descriptors()` are small
        picklable pieces and `read(piece)` is a block. `notes` says what was found out about a text
        table that is not as usual.

    Examples
    --------
    >>> import numpy as np
    >>> source = blocks(np.arange(12.0).reshape(6, 2), rows=4)
    >>> source.names, source.rows, [block.rows for block in source]
    (('x0', 'x1'), 6, [4, 2])
    """
    if unknown := given.keys() - {known.name for known in fields(ReadingOptions)}:
        raise TypeError(f"{min(unknown)} is no option of blocks; see help(ReadingOptions).")
    options = ReadingOptions(columns, rows, **given)
    JOBS("jobs", jobs)
    if options.format is not None:
        words(*_FORMATS)("format", options.format)
    if isinstance(source, Source):
        if options != ReadingOptions():
            raise ValueError(
                "source is open already; choose columns, rows and format where it is opened."
            )
        return source.keeping(options.scratch)
    paths = _paths(source)
    return _in_memory(source, options) if paths is None else _open(source, paths, options, jobs)


def _open(source: Any, paths: list[str], options: ReadingOptions, jobs: Any) -> Source:
    """The rows of files, which are of one format."""
    first = _ending(paths[0], options.format)
    for path in paths:
        if _FORMATS[ending := _ending(path, options.format)] != _FORMATS[first]:
            raise DataError(
                f"{path} is of the format {ending}, and {paths[0]} of {first}; give files of one "
                "format, such as 'data/*.parquet'."
            )
    if len(paths) == 1:
        (one,) = _open_file(options, paths[0])
        len(one.names)  # an index of LIBSVM text that is too large is refused now
        return one
    name = f"{paths[0]} and others" if isinstance(source, list | tuple) else str(source)
    open_one = partial(_open_file, replace(options, keep_total=True), cut=jobs != 1)
    add: Callable[[Any, Any], Any] = operator.add  # of tuples
    return JoinedSource(name, mapreduce(open_one, paths, add, jobs), paths)


def _open_file(options: ReadingOptions, path: str, *, cut: bool = False) -> tuple[Source]:
    """A file by how its name ends; `cut` finds the pieces of text, too."""
    with reading(f"{path}: it cannot be read"):
        ending = _ending(path, options.format)
        opener, known = _FORMATS[ending]
        options.refuse_all_but(ending, *known)
        source = opener(path, options).keeping(options.scratch)
        if cut:
            tuple(source.descriptors())
        return (source,)


def _in_memory(source: Any, options: ReadingOptions) -> Source:
    """A table, array or stream."""
    name = type(source).__name__
    if type(source).__module__.partition(".")[0] == "dask":
        raise TypeError(
            f"source is a {name} of dask; fit the estimator to it: "
            "model.fit(table[columns], table[target])."
        )
    if hasattr(source, "read"):
        separator = "\t" if options.format == ".tsv" else ","
        return from_pipe(getattr(source, "buffer", source), separator, options)
    options.refuse_all_but(f"a {name}")
    if name == "LazyFrame":
        return from_table(source.collect(), options)
    if isinstance(source, np.ndarray) or hasattr(source, "tocsr"):
        return MatrixSource(source, options)
    if hasattr(source, "read_next_batch"):
        return from_batches(iter(source), options, "the Arrow stream")
    if name == "Series":
        raise DataError("a Series is one column; give a table: series.to_frame().")
    if any(hasattr(source, how) for how in ("columns", "__arrow_c_stream__", "to_table")):
        return from_table(source, options)
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | Set | bytes):
        return from_iterable(source, options)
    raise wrong_type("source", source, "a path, a table, an array, or an iterable of them")


def _paths(source: Any) -> list[str] | None:
    """The files that a path, folder, pattern or a list of them names; None for anything else."""
    if isinstance(source, (str, os.PathLike)):
        PATH("source", source)
        path = os.fspath(source).removeprefix("file://")
        with reading(f"{path}: it cannot be read"):
            return expanded(path) or [path]
    many = isinstance(source, list | tuple) and len(source) > 0
    if not many or not all(isinstance(part, str | os.PathLike) for part in source):
        return None
    return [path for part in source for path in _paths(part) or ()]


def _ending(path: str, format: str | None) -> str:
    """The ending that tells the format of a file."""
    name = (format or os.path.basename(path)).lower()
    ending = next(filter(name.endswith, _FORMATS), None)
    if ending is not None:
        return ending
    existing(path)
    raise DataError(
        f"{path}: the ending {os.path.splitext(path)[1]!r} is of no format that can be read; save "
        f"the table as .xlsx or .csv, or as one of {', '.join(_PLAIN_TEXT)}, .parquet or .npy",
        ("format", ".csv", "reads it as such"),
    )


@dataclass(frozen=True)
class SourcePiece(Piece):
    """A piece of one of several sources."""

    source: Source = field(repr=False)
    own: Piece
    where: str = ""  # what follows the place of a row: its file

    def placed(self, block: Block) -> Block:
        """The block, its rows named with their file."""
        other = copy.copy(block)
        object.__setattr__(other, "place", lambda i: block.place(i) + self.where)
        return other


class JoinedSource(Source):
    """The rows of sources that have the same columns; `paths` are their files, if any."""

    shown = 0  # the part of which the head is

    def __init__(self, name: str, parts: Sequence[Source], paths: Sequence[str] = ()) -> None:
        self.name, self.paths = name, paths
        if isinstance(parts[0], LibsvmSource):  # all files together say how many features there are
            parts = share_features(parts, name)
        else:
            # A column that is text in some file is text in all: the head shows that file.
            self.shown = max(range(len(parts)), key=lambda k: parts[k].kinds.count("text"))
            parts = _with_the_same_columns(parts, paths)
        self.parts, first = parts, parts[0]
        for fact in ("names", "is_matrix", "held_here", "notes", "notation", "settled"):
            setattr(self, fact, getattr(first, fact))
        if any(part.notation != first.notation for part in parts):
            self.notation = "mixed"  # fits none: an encoding reads the texts in its own
        self.kinds = first.kinds
        if all(part.rows is not None for part in parts):
            self.rows = sum(part.rows or 0 for part in parts)

    def over(self, change: Callable[[Source], Source]) -> Any:
        parts = [change(part) for part in self.parts]
        return self.changed(parts=parts, kinds=parts[0].kinds)

    def descriptors(self) -> Iterator[SourcePiece]:
        index = 0
        for k, part in enumerate(self.parts):
            source, where = part.for_reading(), f" of {self.paths[k]}" if self.paths else ""
            for own in part.descriptors():
                yield SourcePiece(index, own.start, own.stop, source, own, where)
                index += 1

    def read(self, piece: Any) -> Any:
        return piece.placed(piece.source.read(piece.own))

    def slices(self, piece: Any) -> Iterator[Block]:
        return map(piece.placed, piece.source.slices(piece.own))

    def head(self) -> Block:
        return self.parts[self.shown].head()

    def strays(self) -> dict[str, tuple[str, ...]]:
        return self.parts[self.shown].strays()

    def for_reading(self) -> Any:
        return self.changed(parts=[])

    @property
    def fingerprint(self) -> str:
        marks = "\n".join(part.fingerprint for part in self.parts)
        return hashlib.sha256(f"{self.paths} {self.names} {marks}".encode()).hexdigest()


def _with_the_same_columns(parts: Sequence[Source], paths: Sequence[str]) -> list[Source]:
    """Refuse other columns; those that are text in some file are text in all."""
    first, texts, aligned = parts[0], set[str](), []
    usual = dict(zip(first.names, first.kinds, strict=True))
    for k, part in enumerate(parts):
        name, first_name = (paths[k], paths[0]) if paths else (f"block {k}", "block 0")
        kinds = dict(zip(part.names, part.kinds, strict=True))
        if kinds.keys() != usual.keys():
            raise DataError(
                f"{name} has the columns {list(kinds)[:8]}, and {first_name} has "
                f"{list(usual)[:8]}; all need the same."
            )
        others = [column for column in kinds if paths and kinds[column] != usual[column]]
        for column in others:
            if first.typed or {kinds[column], usual[column]} != {"number", "text"}:
                raise DataError(
                    f"{name}: the column {column!r} holds {kinds[column]}, and in {first_name} "
                    f"{usual[column]}; all need the same."
                )
        texts.update(others)
        is_alike = list(kinds) == list(usual)
        aligned.append(part if is_alike else part.with_columns(first.names) or part)
    return [part.reread(sorted(texts)) if texts else part for part in aligned]


def from_iterable(parts: Iterable[Any], options: ReadingOptions) -> Source:
    """A list of blocks; or a generator of them, which come once and are put in a temporary file."""
    sources = (_open_part(part, options) for part in parts)
    first = next(sources, None)
    if first is None:
        raise DataError("there are no blocks; give at least one.")
    every = chain([first], sources)
    if isinstance(parts, list | tuple):
        return JoinedSource("the list of blocks", list(every))
    name, contents = "the stream of blocks", (source.content for source in every)
    with reading(name, "all blocks need the same columns and types"):
        if first.is_matrix:
            return MatrixSource(stack(contents), options, name)
        tables = (table.cast(first.content.schema) for table in contents)
        return from_batches((b for table in tables for b in table.to_batches()), options, name)


def _open_part(part: Any, options: ReadingOptions) -> RowSource:
    """A block given as a table, or as an array."""
    source: RowSource
    if isinstance(part, np.ndarray) or hasattr(part, "tocsr"):
        matrix = part if hasattr(part, "tocsr") else np.atleast_2d(part)
        source = MatrixSource(matrix, options, "a block")
    elif hasattr(part, "columns") or hasattr(part, "__arrow_c_stream__"):
        source = from_table(part, options)
    else:
        raise wrong_type("a block", part, "a table or an array, such as numpy.array(rows)")
    source.size = max(source.rows or 0, 1)
    return source
