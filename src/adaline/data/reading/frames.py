"""Rows that Python already holds: data frames, Python values, and iterables of tables or arrays.

Tables of any library arrive through the Arrow C stream; sheets and JSON files, which are read as a
whole, come here as columns of Python values.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from adaline.data.reading.arrays import matrix_source
from adaline.data.reading.checks import wrong_type
from adaline.data.reading.columnar import TableSource, arrow, block_of, kind_of_type
from adaline.data.reading.fields import CODE
from adaline.data.reading.files import JoinedSource
from adaline.data.reading.notations import MAX_STRAYS, read
from adaline.data.reading.source import Block, Kind, Piece, Source, by_row, checked_names
from adaline.errors import DataError

NUMBERS_PER_STRAY = 9  # so many numbers for each text that is none
_NUMBERS = int | float | np.integer | np.floating | Decimal


class Once(Source):
    """Blocks that come once: from a generator or an Arrow stream."""

    again = False

    def __init__(self, parts: Iterator[Block], name: str, kinds: Sequence[Kind] | None = None):
        first = next(parts, None)
        if first is None or not first.rows:
            raise DataError(f"{name}: there are no rows; a fit needs rows.")
        self.name, self.names, self.is_matrix = name, first.names, first.matrix is not None
        self._parts, self._first, self._begun = parts, first, False
        self.kinds = tuple(kinds or (first.column(j).kind for j in range(len(first.names))))

    def descriptors(self) -> Iterable[Piece]:
        """Nothing that could be read again."""
        raise DataError(
            f"{self.name} can be read once only, and this needs it again or in parts; save it to a "
            "file first."
        )

    def head(self) -> Block:
        """The first block, which is kept until the rows are read."""
        if self._begun:
            raise DataError(f"{self.name} has been read already; it can be read once only.")
        return self._first

    def __iter__(self) -> Iterator[Block]:
        yield self.head()
        self._begun = True
        yield from self._parts

    @property
    def fingerprint(self) -> str:
        """There is none: nothing can be compared with what has gone."""
        raise DataError(f"{self.name} can be read once only; checkpoints need a file.")


def from_table(
    table: Any, columns: Sequence[str] | None, rows: int | None, name: str = "the table"
) -> TableSource:
    """Anything with columns that has an Arrow C stream, a pandas DataFrame, or an Arrow dataset."""
    pa = arrow("tables")
    odd: dict[str, tuple[str, ...]] = {}
    table = table.collect() if type(table).__name__ == "LazyFrame" else table
    try:
        if hasattr(table, "isetitem"):  # of pandas, whose index is no column
            names = checked_names([str(column) for column in table.columns], name)
            arrays = [_of_pandas(table.iloc[:, j]) for j in range(len(names))]
            odd = {n: texts for n, (_, texts) in zip(names, arrays, strict=True)}
            table = pa.Table.from_arrays([array for array, _ in arrays], names=list(names))
        elif hasattr(table, "to_table") and hasattr(table, "schema"):  # a dataset of Arrow
            table = table.to_table()
        else:
            table = pa.table(table)
    except (TypeError, ValueError, NotImplementedError, pa.ArrowException) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{name} has a column that cannot be read ({error}); make numbers, texts or dates of "
            "it, or leave it out."
        ) from error
    return TableSource(table, columns, rows, name, odd)


def from_values(
    path: str,
    names: Sequence[str],
    values: Sequence[Sequence[Any]],
    numbers: Sequence[int],
    columns: Sequence[str] | None,
    rows: int | None,
) -> TableSource:
    """Columns of Python values from a file; `numbers` are those of its rows in the file."""
    pa = arrow("tables")
    arrays = [arrow_column(column) for column in values]
    table = pa.Table.from_arrays([array for array, _ in arrays], names=list(names))
    odd = {name: texts for name, (_, texts) in zip(names, arrays, strict=True)}
    return TableSource(table, columns, rows, path, odd, numbers)


def from_reader(stream: Any) -> Source:
    """Batches of an Arrow stream, which come once."""
    name = "the Arrow stream"
    checked_names(list(stream.schema.names), name)
    kinds = [kind_of_type(field.type) for field in stream.schema]

    def parts() -> Iterator[Block]:
        start = 0
        for batch in stream:
            if batch.num_rows:
                yield block_of(batch, kinds, by_row(start))
            start += batch.num_rows

    return Once(parts(), name, kinds)


def from_iterable(parts: Iterable[Any], columns: Sequence[str] | None) -> Source:
    """A list of blocks, or a generator of them, which come once."""
    if isinstance(parts, (list, tuple)):
        if not parts:
            raise DataError("the list of blocks is empty; give at least one.")
        return JoinedSource("the list of blocks", [_one(part, columns) for part in parts])
    sources = (_one(part, columns) for part in parts)
    return Once((s.read(Piece(0, 0, s.rows or 0)) for s in sources), "the stream of blocks")


def _one(part: Any, columns: Sequence[str] | None) -> Source:
    """A block given as a table, or as an array."""
    if isinstance(part, np.ndarray) or hasattr(part, "tocsr"):
        matrix = part if hasattr(part, "tocsr") else np.atleast_2d(part)
        return matrix_source(matrix, columns, max(matrix.shape[0], 1), "a block")
    if not (hasattr(part, "columns") or hasattr(part, "__arrow_c_stream__")):
        raise wrong_type("a block", part, "a table or an array, such as numpy.array(rows)")
    source = from_table(part, columns, None)
    source.size = max(source.rows or 0, 1)
    return source


# Python values.


def _of_pandas(column: Any) -> tuple[Any, tuple[str, ...]]:
    """An Arrow array of a pandas Series, and the few texts among its numbers."""
    import pyarrow as pa

    if str(column.dtype) != "object":
        return pa.Array.from_pandas(column), ()
    missing = column.isna().tolist()
    return arrow_column([None if m else v for v, m in zip(column.tolist(), missing, strict=True)])


def arrow_column(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """An Arrow array of values of one kind, or of text; and the few texts among its numbers.

    Lists and objects among other values become bytes, which nothing reads further.

    >>> arrow_column([*range(20), "none of these"])[1], arrow_column([1, 2, "3A", "4B"])[1]
    (('none of these',), ())
    """
    import pyarrow as pa

    kinds = {_kind(value) for value in values if value is not None}
    if kinds == {datetime.date, datetime.datetime}:
        return pa.array([_moment(value) for value in values], pa.timestamp("us")), ()
    if len(kinds) > 1 and object not in kinds:
        texts = [None if value is None else as_text(value) for value in values]
        return pa.array(texts, pa.string()), _strays(values) if {float, str} <= kinds else ()
    try:
        if len(kinds) < 2:
            return pa.array(values, from_pandas=True), ()
    except (pa.ArrowException, OverflowError):  # lists of mixed values, integers beyond 64 bits
        if kinds == {float}:
            return pa.array([None if value is None else _number(value) for value in values]), ()
    return pa.array([None if value is None else b"" for value in values]), ()


def as_text(value: Any) -> str:
    """A value as people write it: 3 and not 3.0."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value) if is_whole else value)


def _strays(values: Sequence[Any]) -> tuple[str, ...]:
    """The few texts in a column of which nearly all values are numbers; () where they are more."""
    texts = Counter(value.strip() for value in values if isinstance(value, str))
    odd = read(list(texts), "number", most=len(texts)).strange
    numbers = sum(_kind(value) is float for value in values)
    few = len(odd) <= MAX_STRAYS and sum(texts[t] for t in odd) <= numbers / NUMBERS_PER_STRAY
    return odd if few and not any(map(CODE.fullmatch, odd)) else ()


def _kind(value: Any) -> type:
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, _NUMBERS):
        return float
    kinds = (str, datetime.datetime, datetime.date, datetime.time, datetime.timedelta)
    return next((kind for kind in kinds if isinstance(value, kind)), object)


def _moment(value: Any) -> Any:
    return datetime.datetime(*value.timetuple()[:3]) if _kind(value) is datetime.date else value


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 300 digits
        return np.inf if value > 0 else -np.inf
