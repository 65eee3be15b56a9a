"""Which columns of a text table hold numbers, and its lines as an Arrow table.

`TextTable` calls `kind_of` with the fields of the first rows, and `parse` with whole lines of plain
UTF-8. Arrow reads plain numbers and the usual marks of missing values; a column of numbers in which
it finds anything else is read from its text here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.reading.notations import (
    GAPS,
    MISSING,
    NEARLY_ALL,
    are_clear,
    is_gap,
    nearly_all,
    read,
)
from adaline.data.reading.source import Kind

# All spellings in which people write the marks of missing numbers, but nan, which is a number.
_MARKS = sorted(
    {f(gap) for gap in GAPS - {"nan"} for f in (str, str.upper, str.capitalize)} | set(MISSING)
)
_PLAIN = r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|(?i:inf|infinity|nan))"
_NUMBER = re.compile(rf"\s*{_PLAIN}\s*")
_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*")  # 1.234 or 1.234,5
CODE = re.compile(r"\d[\w/-]*[A-Za-z/-][\w/-]*")  # 136A, 1977-1989, 0301-551
_LETTERED = re.compile(r"[A-Za-z]+[-/]?\d+")  # c118; one alone may be a unit, m2
_ZEROS = re.compile(r"0\d+")  # 01234
# 1,234.50 or 1.234,50, and 12.50-
_MARKED = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+([.,]\d+)?|[\d.,']*[.,]\d+[-−]")
_POINTED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234, perhaps a thousand and more
_SMALL, _HUNDREDS = re.compile(r"[-+]?\d{1,3}"), re.compile(r"[-+]?[1-9]\d\d")
MIN_POINTED = 3  # different values like 1.234 that make a notation look


@dataclass(frozen=True)
class Layout:
    """How the fields of a line become columns."""

    separator: str
    decimal: str
    fields: tuple[str, ...]  # names of all fields of a line
    kinds: tuple[Kind, ...]  # what each of them holds
    places: tuple[int, ...]  # the fields that become columns
    na: tuple[str, ...] = ()  # texts that stand for missing numbers beside the usual marks


def is_number(value: str, decimal: str) -> bool:
    """Whether a field of a column of numbers may have this text."""
    if decimal == ",":
        if _POINTS.fullmatch(value):
            return True
        if "." in value:
            return False
        value = value.replace(",", ".")
    return value in MISSING or _NUMBER.fullmatch(value) is not None


def kind_of(values: Sequence[str], decimal: str = ".") -> Kind:
    """Numbers where nearly all values are; a few others are mistakes, but codes are text.

    A column without any value is text, which an encoding reads as numbers if some come later. So
    are numbers that may have marks between thousands: their notation is for an encoding to tell.

    >>> [kind_of(v) for v in ([*"123456789", "?!"], ["12", "136A"], ["01234", "99999"], ["?"])]
    ['number', 'text', 'text', 'text']
    >>> [kind_of(v) for v in (["1.5", "1,234.5"], ["987", "1.234", "2.345", "9.876"])]
    ['text', 'text']
    """
    texts = [value.strip() for value in values]
    if _may_have_thousands(texts, decimal):
        return "text"
    known = [text for text in texts if not is_gap(text)]
    numbers = [text for text in known if is_number(text, decimal)]
    others = [text for text in known if not is_number(text, decimal)]
    if any(map(CODE.fullmatch, others)) or len(set(filter(_LETTERED.fullmatch, others))) > 1:
        return "text"
    codes = any(map(_ZEROS.fullmatch, numbers)) and all(map(str.isdigit, numbers))
    return "number" if not codes and known and len(numbers) >= NEARLY_ALL * len(known) else "text"


def _may_have_thousands(texts: Sequence[str], decimal: str) -> bool:
    """Whether numbers are 12.50 and 1,234.50, or 12.50-, 950 and 1.2k, or 987 and 1.234.

    The last are 987 and 1234, written in German. Three digits after every point there is, and up
    to three where there is none: few numbers with decimals look like this.
    """
    marked = any(_MARKED.fullmatch(text) and not is_number(text, decimal) for text in texts)
    if marked or are_clear(texts):
        return bool(nearly_all(Counter(texts))[0])
    numbers = {text for text in texts if text and is_number(text, decimal)}
    pointed = {text for text in numbers if "." in text}
    if decimal == "," or len(pointed) < MIN_POINTED or not all(map(_POINTED.fullmatch, pointed)):
        return False
    others = numbers - pointed
    return any(map(_HUNDREDS.fullmatch, others)) and all(map(_SMALL.fullmatch, others))


def parse(data: bytes, layout: Layout) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """An Arrow table of the columns, and by column the texts among numbers that are none.

    A column with such texts stays text. ArrowInvalid where lines have too few or too many fields.
    """
    import pyarrow as pa

    numbers = [k for k, j in enumerate(layout.places) if layout.kinds[j] == "number"]
    try:
        return _parse(data, layout, layout.kinds), {}
    except pa.ArrowInvalid:
        if not numbers:
            raise
    text: Kind = "text"
    table = _parse(data, layout, (text,) * len(layout.kinds))
    strange: dict[str, tuple[str, ...]] = {}
    for k in numbers:
        name, texts = layout.fields[layout.places[k]], table.column(k).combine_chunks()
        values, odd = _numbers(texts, layout.na, layout.decimal)
        if odd:
            strange[name] = odd
        else:
            table = table.set_column(k, name, values)
    return table, strange


def _parse(data: bytes, layout: Layout, kinds: Sequence[Kind]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

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

    plain = compute.utf8_trim_whitespace(text)
    if decimal == ",":  # 1.5 is none then
        pointed = compute.match_substring(plain, ".")
        plain = compute.if_else(pointed, "", compute.replace_substring(plain, ",", "."))
    is_plain = compute.match_substring_regex(plain, f"^{_PLAIN}$")
    values = compute.if_else(is_plain, compute.utf8_ltrim(plain, "+"), None).cast(pa.float64())
    numbers = compute.fill_null(values, 0.0).to_numpy(zero_copy_only=False).copy()
    gone = ~is_plain.to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(gone)
    odd = text.take(pa.array(rows)).dictionary_encode()
    levels, codes = odd.dictionary.to_pylist(), odd.indices.to_numpy()
    notations = ("number .,", "number _,") if decimal == "," else ("number",)
    readings = [read(levels, notation, na, len(levels)) for notation in notations]
    best = next((one for one in readings if not one.strange), readings[-1])
    numbers[rows], gone[rows] = best.values[codes], best.gone[codes]
    return pa.array(numbers, mask=gone), best.strange
