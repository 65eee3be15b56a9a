"""Numbers and dates as people write them: `12.5%`, `$3.10`, `3 kg`, `1.234,5`, `31/12/2024`.

A notation is a short text that says how all values of a column are written:

    "number", "number %", "number $", "number ,.", "number € .,", "date ymd", "date dmy",
    "date mdy", "date ym", "date my", "date yq"

The word "number" may be followed by a unit that stands at every value, and by two marks: the one
between thousands ("_" for a space) and the decimal one. Values are read level by level, where
levels are the different texts of a column, so that a column of a million rows costs little.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.dates import ORDERS, are_seasons, days_of
from adaline.results import Array

MISSING = ("", "NA", "N/A", "null", "NULL", "None")  # texts that stand for no text at all
# Texts that stand for a missing value in a column of numbers or dates; case does not matter.
_MARKS_OF_GAPS = "? ?? - -- --- . .. ... – — n/a na n.a. n.a #n/a #na #value! #div/0! #null! #ref!"
_WORDS_OF_GAPS = "#num! null (null) none nil nan <na> nat missing unknown"
GAPS = frozenset(("", "not available", *f"{_MARKS_OF_GAPS} {_WORDS_OF_GAPS}".split()))
SHARES = ("%", "‰")
MONEY = (
    *("US$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₪"),
    *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "RUB", "SEK", "NOK", "DKK", "PLN", "CZK"),
    *("CAD", "AUD", "NZD", "BRL", "MXN", "ZAR", "kr", "zł", "Fr."),
)
# Units that stand after a number; between other letters they are none.
_LENGTHS, _WEIGHTS = "km m cm mm mi ft in ha m²", "kg g mg t lb lbs oz l L ml mL"
_TIMES, _OTHERS = "h hrs min s sec ms days years yrs", "°C °F km/h mph W kW kWh V A Hz kHz MB GB TB"
MEASURES = tuple(" ".join((_LENGTHS, _WEIGHTS, _TIMES, _OTHERS)).split())
UNITS = (*SHARES, *MONEY, *MEASURES)
NATIVE = ("number", "number .,")  # notations in which text files have columns of numbers
# Thousands and decimal mark, the likeliest first; "" is plain: no thousands, decimal point.
MARKS = ("", ",.", ".,", "_.", "'.", "_,", "',")
_MARK = {",": ",", ".": r"\.", "_": "[ \u00a0\u202f]", "'": "['’]"}

# As computers write numbers.
PLAIN = r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|(?i:inf|infinity|nan))"
CODE = re.compile(r"\d[\w/-]*[A-Za-z/-][\w/-]*")  # 136A, 1977-1989, 0301-551
ZEROS = re.compile(r"0\d+")  # 01234: a code rather than a number
_SIGN = re.compile("|".join(map(re.escape, sorted((*SHARES, *MONEY), key=len, reverse=True))))
_MEASURE = re.compile(rf"\d\.?\s*({'|'.join(map(re.escape, MEASURES))})\s*\)?\s*$")

NEARLY_ALL = 0.9  # of the values that a notation reads make it that of the column,
MAX_STRAYS, MIN_LEVELS = 3, 8  # if so few different texts remain, and so many are read


@dataclass(frozen=True, eq=False)
class Values:
    """What levels say in a notation."""

    values: Array  # numbers, or days since 1970-01-01, (levels,); 0 where nothing was read
    gone: NDArray[np.bool_]  # levels that stand for a missing value
    strange: tuple[str, ...]  # levels that the notation cannot read, a few of them


def is_gap(text: str, na: Sequence[str] = ()) -> bool:
    """Whether a text stands for a missing value among numbers or dates."""
    plain = text.strip()
    return plain.lower() in GAPS or plain in na


def is_notation(text: str) -> bool:
    """Whether a text is a notation of this language."""
    word, _, other = text.partition(" ")
    if word == "date":
        return other in ORDERS
    return word == "number" and text == _notation(*_parts(text))


def candidates(
    levels: Sequence[str], na: Sequence[str] = (), *, forced: bool = False
) -> tuple[str, ...]:
    """Every notation in which all levels can be read, gaps left aside; the likeliest first.

    Whole numbers that begin with a zero, such as 01234, are codes, unless `forced`; and years such
    as 2009-10 are no months.

    >>> candidates(["1,234.5", "12"]), candidates(["31/12/2024", "?"]), candidates(["01234"])
    (('number ,.',), ('date dmy',), ())
    >>> candidates(["2024-05", "2024-06"]), candidates(["2009-10", "2010-11"])
    (('date ym',), ())
    >>> candidates(["12.5 kg", "3kg"])[0], candidates(["12.5 kg", "30 g"])
    ('number kg', ())
    """
    values = [level for level in levels if not is_gap(level, na)]
    if not values:
        return ()
    return tuple(
        notation
        for notation in _possible(values[0])
        if all(_value(level, notation, na) is not None for level in values)
        and (forced or not _are_codes(notation, values))
    )


def nearly_all(counts: Mapping[str, int], na: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The notation of nearly all values, and the few texts that it cannot read; "" where none is.

    `counts` says how often each text comes.

    >>> nearly_all({**{f"${k}": 1 for k in range(30)}, "call us": 2})
    ('number $', ('call us',))
    """
    levels = [level for level in counts if not is_gap(level, na)]
    most = (1.0 - NEARLY_ALL) * sum(counts[level] for level in levels)
    for first in levels[: MAX_STRAYS + 1]:
        for notation in _possible(first):
            unread = (level for level in levels if _value(level, notation, na) is None)
            strange = sorted(islice(unread, MAX_STRAYS + 1))
            few = not strange or len(levels) - len(strange) >= MIN_LEVELS
            few = few and len(strange) <= MAX_STRAYS
            if few and sum(counts[level] for level in strange) <= most:
                return notation, tuple(strange)
    return "", ()


def several(levels: Sequence[str], na: Sequence[str] = ()) -> str:
    """What texts are that no notation reads as a whole, and one or the other reads each.

    >>> several(["2024-12-31", "31 Dec 2024", "12/31/2024"]), several(["3 kg", "250 g"])
    ('dates in several notations', 'numbers in several notations or units')
    >>> several(["red", "2024"])
    ''
    """
    notations = [candidates([v], forced=True) for v in levels if not is_gap(v, na)]
    for kind, units in (("date", ""), ("number", " or units")):
        if notations and all(n and all(one.startswith(kind) for one in n) for n in notations):
            return f"{kind}s in several notations{units}"
    return ""


def read(levels: Sequence[str], notation: str, na: Sequence[str] = (), most: int = 3) -> Values:
    """The numbers that levels say in a notation; at most so many strange levels are returned.

    >>> read(["$1,200", "($3.50)", "n/a"], "number $ ,.").values
    array([1200. ,   -3.5,    0. ])
    """
    values, gone = np.zeros(len(levels)), np.zeros(len(levels), dtype=bool)
    strange: list[str] = []
    for k, level in enumerate(levels):
        value = _value(level, notation, na)
        if value is None and not is_gap(level, na):
            strange.append(level)
        elif value is None or math.isnan(value):
            gone[k] = True
        else:
            values[k] = value
    return Values(values, gone, tuple(strange[:most]))


def words(notation: str) -> str:
    """A notation in words for people.

    >>> words("number € .,"), words("date dmy")
    ('numbers in € with decimal comma', 'dates, day first')
    """
    word, _, order = notation.partition(" ")
    if word == "date":
        return f"dates, {ORDERS[order]}" if order in ORDERS else "dates"
    unit, marks = _parts(notation)
    text = "percent" if unit == "%" else f"numbers in {unit}" if unit else "numbers"
    thousands = {",": "comma", ".": "point", "_": "space", "'": "apostrophe"}
    features = ["decimal comma"] if marks.endswith(",") else []
    features += [f"{thousands[marks[0]]} between thousands"] if marks.endswith(".") else []
    return f"{text} with {', and '.join(features)}" if features else text


def unit_of(notation: str) -> str:
    """What values are measured in: a unit, "date", or "" for plain numbers."""
    return "date" if notation.startswith("date") else _parts(notation)[0]


def is_bare(notation: str) -> bool:
    """Whether a notation has digits and marks only: no unit, no date."""
    return not notation.startswith("date") and not _parts(notation)[0]


def _value(level: str, notation: str, na: Sequence[str]) -> float | None:
    """The number of a level; None if the notation does not read it."""
    if level.strip() in na:
        return None
    word, _, order = notation.partition(" ")
    # Dates that were no text are written year first.
    return days_of(level, order or "ymd") if word == "date" else _number(level, notation)


def _possible(level: str) -> list[str]:
    """Notations that a first value leaves open: its unit is the unit of all values."""
    units = _SIGN.findall(level) or _MEASURE.findall(level)
    if len(units) > 1:
        return []
    numbers = [_notation("".join(units), marks) for marks in MARKS]
    return numbers if units else [*numbers, *(f"date {order}" for order in ORDERS)]


def _are_codes(notation: str, levels: Sequence[str]) -> bool:
    if notation.startswith("date"):
        return notation == "date ym" and are_seasons(levels)
    coded = any(ZEROS.fullmatch(level.strip()) for level in levels)
    return coded and all(level.strip().isdigit() for level in levels)


def _notation(unit: str, marks: str) -> str:
    return " ".join(filter(None, ["number", unit, marks]))


@cache
def _parts(notation: str) -> tuple[str, str]:
    """Unit and marks of a notation of numbers."""
    parts = notation.split(" ")[1:]
    unit = next((part for part in parts if part in UNITS), "")
    marks = next((part for part in parts if part in MARKS), "")
    return unit, marks


@cache
def _pattern(notation: str) -> re.Pattern[str]:
    """Two places for a bracket or sign, before and after money; digits, sign and unit."""
    unit, marks = _parts(notation)
    if marks:
        thousands, decimal = _MARK[marks[0]], _MARK[marks[1]]
        digits = rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}\d+)?|{decimal}\d+"
    else:
        digits = r"(?:\d+(?:\.\d*)?|\.\d+)" + r"(?:[eE][-+]?\d+)?" * (not unit)
    money = rf"((?:{re.escape(unit)}\s*)?)" if unit in MONEY else "()"
    blanks = r"\s+" if len(unit) == 1 and unit.isupper() else r"\s*"  # 136A is a code
    own = rf"({blanks}{re.escape(unit)})?" if unit else "()"
    # Blanks follow something, or else a text of many blanks would be tried in very many ways.
    sign = r"((?:\(\s*)?(?:[-+−]\s*)?)"
    return re.compile(rf"{sign}{money}{sign}({digits})([-−]?){own}(\s*\))?")


def _number(text: str, notation: str) -> float | None:
    """A number with its unit once; a negative one may be in brackets, or with decimals be 12.50-.

    Without decimals 3- may be a mark at school.
    """
    match = _pattern(notation).fullmatch(text.strip())
    if match is None:
        return None
    outer, before, inner, digits, minus, after, closed = match.groups("")
    unit, marks = _parts(notation)
    if marks:
        digits = re.sub(_MARK[marks[0]], "", digits).replace(marks[1], ".")
    signs = "".join((outer + inner + minus).split())
    once = bool(before) + bool(after) == bool(unit)
    decimals = "." in digits[:-1]  # 12.- are twelve francs
    if not once or len(signs) > 1 or ("(" in signs) != bool(closed) or (minus and not decimals):
        return None
    value = float(digits)
    return -value if signs not in ("", "+") else value
