"""Which columns of a text table hold numbers: nearly all their values do, and none is a code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from adaline.data.reading.magnitudes import are_clear
from adaline.data.reading.notations import candidates, is_gap, nearly_all
from adaline.data.reading.source import Kind
from adaline.errors import DataError

_NEARLY = 0.9  # of the values that are numbers make a column of numbers
_CODE = re.compile(r"\d[\w/-]*[A-Za-z/-][\w/-]*")  # 136A, 1977-1989, 0301-551
_LETTERED = re.compile(r"[A-Za-z]+[-/]?\d+")  # c118; one alone may be a unit, m2
_ZEROS = re.compile(r"0\d+")  # 01234
_MARKED = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+([.,]\d+)?")  # 1,234.50 or 1.234,50
_AFTER = re.compile(r"[\d.,']*[.,]\d+[-−]")  # 12.50-
_POINTED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # 1.234, perhaps a thousand and more
_SMALL = re.compile(r"[-+]?\d{1,3}")  # what may stand beside such thousands,
_HUNDREDS = re.compile(r"[-+]?[1-9]\d\d")  # and 987, which will
_FEW = 3  # different values like 1.234 that make a notation look


def kind_of(values: Sequence[str], is_number: Callable[[str], bool], decimal: str = ".") -> Kind:
    """Numbers where nearly all values are; a few others are mistakes, but codes are text.

    A column without any value is text, which an encoding reads as numbers if some come later. So
    are numbers that may have marks between thousands: their notation is for an encoding to tell.

    >>> def is_number(text):
    ...     return text.replace(".", "").isdigit()
    >>> [kind_of(v, is_number) for v in (["1.5", "?"], ["12", "136A"], ["01234", "99999"], ["?"])]
    ['number', 'text', 'text', 'text']
    >>> [kind_of(v, is_number) for v in (["1.5", "1,234.5"], ["987", "1.234", "2.345", "9.876"])]
    ['text', 'text']
    """
    if _may_have_thousands([value.strip() for value in values], is_number, decimal):
        return "text"
    told = numbers = 0
    digits, zeros = True, False
    lettered: set[str] = set()
    for value in values:
        plain = value.strip()
        if is_gap(plain):
            continue
        told += 1
        if is_number(value):
            numbers += 1
            digits = digits and plain.isdigit()
            zeros = zeros or _ZEROS.fullmatch(plain) is not None
        elif _CODE.fullmatch(plain) is not None:
            return "text"
        elif _LETTERED.fullmatch(plain) is not None:
            lettered.add(plain)
    if not told or (zeros and digits) or len(lettered) > 1:
        return "text"
    return "number" if numbers >= _NEARLY * told else "text"


def _may_have_thousands(
    values: Sequence[str], is_number: Callable[[str], bool], decimal: str
) -> bool:
    """Whether numbers are 12.50 and 1,234.50, or 12.50-, 950 and 1.2k, or 987 and 1.234.

    The last are 987 and 1234, written in German. Three digits after every point there is, and up
    to three where there is none: few numbers with decimals look like this.
    """
    marked = any(
        (_MARKED.fullmatch(value) or _AFTER.fullmatch(value)) and not is_number(value)
        for value in values
    )
    if marked or are_clear(values):
        return bool(nearly_all(Counter(values))[0])
    numbers = {value for value in values if value and is_number(value)}
    pointed = {value for value in numbers if "." in value}
    if decimal == "," or len(pointed) < _FEW or not all(map(_POINTED.fullmatch, pointed)):
        return False
    others = numbers - pointed
    return any(map(_HUNDREDS.fullmatch, others)) and all(map(_SMALL.fullmatch, others))


def not_a_number(source: str, line: int, value: str, column: str) -> DataError:
    """Say what is no number in a column of numbers, and what to do about it."""
    how = candidates([value])
    if how and how[0].startswith("number "):
        return DataError(
            f"{source}: line {line} has {value[:40]!r} in column {column!r}, and the first rows "
            f"have plain numbers; if it is no mistake, read={{{column!r}: {how[0]!r}}} "
            f"(--number {column}={how[0][7:]!r}) reads both."
        )
    return DataError(
        f"{source}: line {line} has {value[:40]!r} in column {column!r}, where nearly all are "
        f"numbers; correct it, leave it empty if it is missing (or say so: --na {value[:40]!r}, "
        f"in Python na=[{value[:40]!r}]), or take the column as text (--text {column!r}, "
        f"read={{{column!r}: 'text'}})."
    )
