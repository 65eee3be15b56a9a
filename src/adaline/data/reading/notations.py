"""Numbers and dates as people write them: `12.5%`, `$3.10`, `3 kg`, `1.234,5`, `31/12/2024`.

A notation is a short text that says how all values of a column are written:

    "number", "number %", "number $", "number ,.", "number € .,", "date ymd", "date dmy", "date mdy"
    "date ym", "date my", "date yq"

The word "number" may be followed by a unit that stands at every value, and by two marks: the one
between thousands ("_" for a space) and the decimal one; "kMB" at the end says that letters stand
for thousands, millions and billions (`magnitudes`). Values are read level by level, where levels
are the different texts of a column, so that a column of a million rows costs little.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaline.data.reading.dates import ORDERS, are_seasons, days_of, patterns_of
from adaline.data.reading.magnitudes import LETTERS, PATTERN, POWERS, are_clear, has_letters
from adaline.results import Array

# Texts that stand for a missing value in a column of numbers or dates; case does not matter.
GAPS = frozenset(
    (
        *("", "?", "??", "-", "--", "---", ".", "..", "...", "–", "—", "n/a", "na", "n.a.", "n.a"),
        *("#n/a", "#na", "#value!", "#div/0!", "#null!", "#ref!", "#num!", "null", "(null)"),
        *("none", "nil", "nan", "<na>", "nat", "missing", "unknown", "not available"),
    )
)

SIGNS = ("%", "‰", "US$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₪")
CODES = (
    *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "RUB", "SEK", "NOK", "DKK", "PLN", "CZK"),
    *("CAD", "AUD", "NZD", "BRL", "MXN", "ZAR", "kr", "zł", "Fr."),
)
SHARES = ("%", "‰")
MONEY = tuple(unit for unit in (*SIGNS, *CODES) if unit not in SHARES)
# Units that stand after a number; between other letters they are none.
_LENGTHS, _WEIGHTS = "km m cm mm mi ft in ha m²", "kg g mg t lb lbs oz l L ml mL"
_TIMES, _OTHERS = "h hrs min s sec ms days years yrs", "°C °F km/h mph W kW kWh V A Hz kHz MB GB TB"
MEASURES = tuple(" ".join((_LENGTHS, _WEIGHTS, _TIMES, _OTHERS)).split())
UNITS = (*SIGNS, *CODES, *MEASURES)

NATIVE = ("number", "number .,")  # notations in which text files have columns of numbers

# Thousands and decimal mark, the likeliest first; "" is plain: no thousands, decimal point.
MARKS = ("", ",.", ".,", "_.", "'.", "_,", "',")

_NEARLY = 0.9  # of the values that a notation reads make it that of the column,
_STRAYS, _DIFFERENT = 3, 8  # where so few different texts remain, and so many are read
_MIXED_NUMBERS = "numbers in several notations or units"
_SHOWN = 3  # levels that cannot be read and are told
_SAMPLE = 32  # levels that a notation must read before all are tried
_WRITTEN = {",": ",", ".": r"\.", "_": "[ \u00a0\u202f]", "'": "['’]"}
_CODE = re.compile(r"0\d+")  # 01234: a code rather than a number
_UNIT = re.compile("|".join(map(re.escape, sorted((*SIGNS, *CODES), key=len, reverse=True))))
_MEASURE = re.compile(rf"\d\.?\s*({'|'.join(map(re.escape, MEASURES))})\s*\)?\s*$")


@dataclass(frozen=True, eq=False)
class Values:
    """What levels say in a notation.

    Attributes
    ----------
    values : ndarray of shape (levels,)
        Numbers, or days since 1970-01-01; 0 where nothing was read.
    gone : ndarray of bool
        Levels that stand for a missing value.
    strange : tuple of str
        Levels that the notation cannot read, a few of them.
    """

    values: Array
    gone: NDArray[np.bool_]
    strange: tuple[str, ...]


def is_gap(text: str, na: Sequence[str] = ()) -> bool:
    """Whether a text stands for a missing value among numbers or dates."""
    plain = text.strip()
    return plain.lower() in GAPS or plain in na


def is_notation(text: str) -> bool:
    """Whether a text is a notation of this language.

    >>> [is_notation(text) for text in ("number € .,", "number kg", "date dmy", "number x")]
    [True, True, True, False]
    """
    word, _, rest = text.partition(" ")
    if word == "date":
        return rest in ORDERS
    return word == "number" and all(part for part in rest.split(" ") if rest) and _parts(text)[3]


def candidates(
    levels: Sequence[str], na: Sequence[str] = (), *, forced: bool = False
) -> tuple[str, ...]:
    """Every notation in which all levels can be read, gaps left aside; the likeliest first.

    Whole numbers that begin with a zero, such as 01234, are codes, unless `forced`; and years such
    as 2009-10 are no months.

    >>> candidates(["1,234.5", "12"])
    ('number ,.',)
    >>> candidates(["31/12/2024", "?"]), candidates(["1977-1989"]), candidates(["01234"])
    (('date dmy',), (), ())
    >>> candidates(["2024-05", "2024-06"]), candidates(["2009-10", "2010-11"])
    (('date ym',), ())
    >>> candidates(["12.5 kg", "3kg"]), candidates(["12.5 kg", "30 g"])
    (('number kg', 'number kg ,.', 'number kg _.', "number kg '."), ())
    >>> candidates(["$950", "$1.2M"])[0], candidates(["12", "12k"])
    ('number $ kMB', ())
    """
    told = [level for level in levels if not is_gap(level, na)]
    if not told:
        return ()
    sample = told[:: max(len(told) // _SAMPLE, 1)]
    letters = are_clear(told) or (forced and any(map(has_letters, told)))
    return tuple(
        notation
        for notation in _possible(sample[0], letters)
        if _reads(notation, sample, na)
        and _reads(notation, told, na)
        and (forced or not _are_codes(notation, told))
    )


def nearly_all(counts: Mapping[str, int], na: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The notation of nearly all values, and the few texts that it cannot read; "" where none is.

    `counts` says how often each text comes.

    >>> nearly_all({**{f"${k}": 1 for k in range(30)}, "call us": 2})
    ('number $', ('call us',))
    """
    levels = [level for level in counts if not is_gap(level, na)]
    most = (1.0 - _NEARLY) * sum(counts[level] for level in levels)
    letters = are_clear(levels)
    for first in levels[: _STRAYS + 1]:
        for notation in _possible(first, letters):
            strange = _strange(notation, levels, na)
            few = not strange or len(levels) - len(strange) >= _DIFFERENT
            if strange is not None and few and sum(counts[level] for level in strange) <= most:
                return notation, tuple(sorted(strange))
    return "", ()


def several(levels: Sequence[str], na: Sequence[str] = ()) -> str:
    """What texts are that no notation reads as a whole, and one or the other reads each.

    >>> several(["2024-12-31", "31 Dec 2024", "12/31/2024"]), several(["3 kg", "250 g"])
    ('dates in several notations', 'numbers in several notations or units')
    >>> several(["red", "2024"])
    ''
    """
    told = [level for level in levels if not is_gap(level, na)]
    for kind, said in (("date", "dates in several notations"), ("number", _MIXED_NUMBERS)):
        if told and all(_is_only(kind, level) for level in told):
            return said
    return ""


def _is_only(kind: str, level: str) -> bool:
    found = candidates([level], forced=True)
    return bool(found) and all(notation.startswith(kind) for notation in found)


def _strange(notation: str, levels: Sequence[str], na: Sequence[str]) -> list[str] | None:
    """The levels that a notation does not read; None where they are more than a few."""
    strange: list[str] = []
    for level in levels:
        if not _reads(notation, [level], na):
            strange.append(level)
            if len(strange) > _STRAYS:
                return None
    return strange


def read(
    levels: Sequence[str], notation: str, na: Sequence[str] = (), most: int = _SHOWN
) -> Values:
    """The numbers that levels say in a notation; of strange levels, at most so many are told.

    >>> read(["$1,200", "($3.50)", "n/a"], "number $ ,.").values
    array([1200. ,   -3.5,    0. ])
    """
    values, gone = np.zeros(len(levels)), np.zeros(len(levels), dtype=bool)
    strange: list[str] = []
    for k, value in enumerate(_values(levels, notation, na)):
        if value is None and is_gap(levels[k], na):
            gone[k] = True
        elif value is None:
            strange.append(levels[k])
        elif math.isnan(value):
            gone[k] = True
        else:
            values[k] = value
    return Values(values, gone, tuple(strange[:most]))


def words(notation: str) -> str:
    """A notation in words for people.

    >>> words("number € .,"), words("date dmy")
    ('numbers in € with decimal comma', 'dates, day first')
    """
    word, _, rest = notation.partition(" ")
    if word == "date":
        return f"dates, {ORDERS[rest]}" if rest in ORDERS else "dates"
    unit, marks, letters, _ = _parts(notation)
    text = "percent" if unit == "%" else f"numbers in {unit}" if unit else "numbers"
    if marks:
        thousands = {",": "comma", ".": "point", "_": "space", "'": "apostrophe"}[marks[0]]
        decimal = "decimal comma" if marks[1] == "," else f"{thousands} between thousands"
        text += f" with {decimal}"
    return text + (", and k, M or bn" if marks else " with k, M or bn") * letters


def unit_of(notation: str) -> str:
    """What values are measured in: a unit, "date", or "" for plain numbers.

    >>> unit_of("number € .,"), unit_of("date dmy"), unit_of("number .,")
    ('€', 'date', '')
    """
    return "date" if notation.startswith("date") else _parts(notation)[0]


def is_bare(notation: str) -> bool:
    """Whether a notation has digits and marks only: no unit, no letters, no date."""
    return not notation.startswith("date") and _parts(notation)[0::2] == ("", False)


def written_as(notation: str) -> tuple[list[str], str, str]:
    """Regular expressions of a notation, and its marks between thousands and before decimals."""
    word, _, rest = notation.partition(" ")
    if word == "date":
        return [pattern.pattern for pattern in patterns_of(rest or "ymd")], "", ""
    marks = _parts(notation)[1]
    return [_pattern(notation).pattern], _WRITTEN[marks[0]] if marks else "", marks[-1:]


def _values(levels: Sequence[str], notation: str, na: Sequence[str]) -> Iterator[float | None]:
    """A number for each level; None where the notation does not read it."""
    word, _, rest = notation.partition(" ")
    if word == "date":
        order = rest or "ymd"  # what held dates that were no text is written year first
        return (None if level.strip() in na else days_of(level, order) for level in levels)
    return (None if level.strip() in na else _number(level, notation) for level in levels)


def _reads(notation: str, levels: Iterable[str], na: Sequence[str]) -> bool:
    return all(value is not None for value in _values(list(levels), notation, na))


def _possible(level: str, letters: bool = False) -> list[str]:
    """Notations that a first value leaves open: its unit is the unit of all values.

    With letters for thousands and so on there are no dates, and no other units than money.
    """
    found = _UNIT.findall(level) or _MEASURE.findall(level)
    if len(found) > 1:
        return []
    units = f" {found[0]}" if found else ""
    numbers = [f"number{units}{' ' * bool(marks)}{marks}" for marks in MARKS]
    if letters:
        return [f"{n} {LETTERS}" for n in numbers] if not found or found[0] in MONEY else []
    return numbers if found else [*numbers, *(f"date {order}" for order in ORDERS)]


def _are_codes(notation: str, levels: Sequence[str]) -> bool:
    if notation.startswith("date"):
        return notation == "date ym" and are_seasons(levels)
    coded = any(_CODE.fullmatch(level.strip()) for level in levels)
    return coded and all(level.strip().isdigit() for level in levels)


@cache
def _parts(notation: str) -> tuple[str, str, bool, bool]:
    """Unit, marks and letters of a notation of numbers, and whether it has nothing else."""
    rest = notation.split(" ")[1:]
    unit = rest.pop(0) if rest and rest[0] in UNITS else ""
    marks = rest.pop(0) if rest and rest[0] in MARKS else ""
    letters = rest == [LETTERS]
    return unit, marks, letters, letters or not rest


@cache
def _pattern(notation: str) -> re.Pattern[str]:
    """Sign, unit and digits; a negative number may be in brackets, or with decimals be 12.50-.

    Without decimals 3- may be a mark at school.
    """
    unit, marks, letters, _ = _parts(notation)
    if marks:
        thousands, decimal = _WRITTEN[marks[0]], _WRITTEN[marks[1]]
        whole = rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)"
        digits, tail = rf"{whole}(?:{decimal}\d+)?|{decimal}\d+", rf"{whole}{decimal}\d+"
    else:
        digits = r"\d+(?:\.\d*)?|\.\d+" if unit else r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
        tail = r"\d*\.\d+"
    number, sign, named = f"(?P<digits>{digits})", "[-+−]?", re.escape(unit)
    number += rf"(?:\s*(?P<letter>{PATTERN}))?" if letters else ""
    forms = [number]
    if unit:
        blanks = r"\s+" if len(unit) == 1 and unit.isupper() else r"\s*"  # 136A is a code
        forms = [rf"{number}{blanks}{named}"]
        if unit in MONEY:
            forms.append(rf"{named}\s*(?P<after>{sign})\s*{number}")
    written = [rf"(?P<sign>{sign})\s*{form}" for form in forms]
    written += [rf"\(\s*{form}\s*\)" for form in forms]
    if unit in MONEY:
        written.append(rf"{named}\s*\(\s*{number}\s*\)")
    written.append(rf"(?P<digits>{tail})(?P<sign>[-−])" + rf"\s*{named}" * bool(unit))
    return re.compile("|".join(rf"\s*(?:{form})\s*" for form in _numbered(written)))


def _numbered(forms: Sequence[str]) -> list[str]:
    """Groups of alternatives need names of their own: digits0, digits1, ..."""
    return [re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>{k}>", form) for k, form in enumerate(forms)]


def _number(text: str, notation: str) -> float | None:
    found = _pattern(notation).fullmatch(text)
    if found is None:
        return None
    given = {key: value for key, value in found.groupdict().items() if value is not None}
    digits = next(value for key, value in given.items() if key.startswith("digits"))
    marks = _parts(notation)[1]
    if marks:
        digits = re.sub(_WRITTEN[marks[0]], "", digits)
        digits = digits.replace(",", ".") if marks[1] == "," else digits
    signs = "".join(value for key, value in given.items() if key.startswith(("sign", "after")))
    if signs.count("-") + signs.count("−") > 1:
        return None
    negative = "-" in signs or "−" in signs or "(" in text
    letter = next((value for key, value in given.items() if key.startswith("letter")), None)
    digits = digits if letter is None else f"{digits}e{POWERS[letter]}"
    return -float(digits) if negative else float(digits)
