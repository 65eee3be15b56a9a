"""Lines of a text table to an Arrow table: numbers as float64, text as it is written.

`TextTable` calls it with whole lines of plain UTF-8. Arrow reads plain numbers and the usual marks
of missing values; a column of numbers in which it finds anything else is read from its text here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.reading.notations import GAPS, read
from adaline.data.reading.source import Kind
from adaline.errors import MissingExtra

MISSING = ("", "NA", "N/A", "null", "NULL", "None")  # texts that stand for no text at all
# All spellings in which people write the marks of missing numbers, but nan, which is a number.
_MARKS = sorted(
    {f(gap) for gap in GAPS - {"nan"} for f in (str, str.upper, str.capitalize)} | set(MISSING)
)
_PLAIN = r"^[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|(?i:inf|infinity|nan))$"


@dataclass(frozen=True)
class Layout:
    """How the fields of a line become columns.

    Attributes
    ----------
    separator, decimal : str
    fields : tuple of str
        Names of all fields of a line.
    kinds : tuple of Kind
        What each field holds.
    places : tuple of int
        The fields that become columns.
    na : tuple of str
        Texts that stand for missing numbers beside the usual marks.
    """

    separator: str
    decimal: str
    fields: tuple[str, ...]
    kinds: tuple[Kind, ...]
    places: tuple[int, ...]
    na: tuple[str, ...] = ()


def parse(data: bytes, layout: Layout) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """An Arrow table of the columns, and by column the texts among numbers that are none.

    A column with such texts stays text. ArrowInvalid where lines have too few or too many fields.
    """
    import pyarrow as pa

    try:
        return _parsed(data, layout, layout.kinds), {}
    except pa.ArrowInvalid:
        if not any(layout.kinds[j] == "number" for j in layout.places):
            raise
    text: Kind = "text"
    table = _parsed(data, layout, (text,) * len(layout.kinds))
    strange: dict[str, tuple[str, ...]] = {}
    for k, j in enumerate(layout.places):
        if layout.kinds[j] == "number":
            name, values = layout.fields[j], table.column(k).combine_chunks()
            numbers, strange[name] = _numbers(values, layout.na, layout.decimal)
            if not strange[name]:
                table = table.set_column(k, name, numbers)
    return table, {name: texts for name, texts in strange.items() if texts}


def arrow_csv() -> Any:
    """pyarrow's reader of CSV."""
    try:
        from pyarrow import csv
    except ImportError:
        raise MissingExtra.of("cli", "reading text tables", "pyarrow") from None
    return csv


def _parsed(data: bytes, layout: Layout, kinds: Sequence[Kind]) -> Any:
    import pyarrow as pa

    csv = arrow_csv()
    types = [pa.float64() if kind == "number" else pa.string() for kind in kinds]
    names = [str(j) for j in range(len(kinds))]
    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=names, block_size=max(len(data), 1), use_threads=False),
        csv.ParseOptions(
            delimiter=layout.separator,
            newlines_in_values=True,
            ignore_empty_lines=len(names) > 1,  # of one column, an empty line is a missing value
        ),
        csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)),
            null_values=[*_MARKS, *layout.na],
            include_columns=[names[j] for j in layout.places],
            decimal_point=layout.decimal,
        ),
    )
    return table.rename_columns([layout.fields[j] for j in layout.places])


def _numbers(text: Any, na: Sequence[str], decimal: str) -> tuple[Any, tuple[str, ...]]:
    """Numbers of texts, null where they are missing; and the texts that are neither."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(text)
    plain = trimmed
    if decimal == ",":  # 1.5 is none then
        pointed = compute.match_substring(trimmed, ".")
        plain = compute.if_else(pointed, "", compute.replace_substring(trimmed, ",", "."))
    is_plain = compute.match_substring_regex(plain, _PLAIN)
    values = compute.if_else(is_plain, compute.utf8_ltrim(plain, "+"), None).cast(pa.float64())
    numbers = compute.fill_null(values, 0.0).to_numpy(zero_copy_only=False).copy()
    gone = ~is_plain.to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(gone)
    odd = text.take(pa.array(rows)).dictionary_encode()
    levels = odd.dictionary.to_pylist()
    found: Any = None
    for notation in ("number .,", "number _,") if decimal == "," else ("number",):
        found = read(levels, notation, na, len(levels))
        if not found.strange:
            break
    codes = odd.indices.to_numpy()
    numbers[rows], gone[rows] = found.values[codes], found.gone[codes]
    return pa.array(numbers, mask=gone), tuple(found.strange)
