"""Dates as people write them, to days since 1970-01-01; the time of day is a fraction.

A month or a quarter, such as 2024-05 or Q2 2024, is its first day.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from functools import cache

ORDERS = {
    "ymd": "year first",
    "dmy": "day first",
    "mdy": "month first",
    "ym": "year and month",
    "my": "month and year",
    "yq": "year and quarter",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EPOCH = datetime.date(1970, 1, 1).toordinal()
_NAMES = ["january", "february", "march", "april", "may", "june", "july", "august", "september"]
_NAMES += ["october", "november", "december"]
MONTH_OF = {name: k + 1 for k, name in enumerate(_NAMES)}
MONTH_OF |= {name: k + 1 for k, name in enumerate(MONTHS)} | {"sept": 9}

_DAY, _NAME = r"(?P<d>\d{1,2})", r"(?P<name>[A-Za-z]{3,9})\.?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_TIME = (
    r"(?:(?:T|,?\s+)(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[ap]\.?m\.?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_FORMS = {
    "ymd": [rf"(?P<y>\d{{4}})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep){_DAY}"],
    "dmy": [
        rf"{_DAY}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep){_YEAR}",
        rf"{_DAY}(?:\.?\s+|[-/])(?:of\s+)?{_NAME}(?:,?\s+|[-/]){_YEAR}",
    ],
    "mdy": [
        rf"(?P<m>\d{{1,2}})(?P<sep>[-/.]){_DAY}(?P=sep){_YEAR}",
        rf"{_NAME}(?:\s+|[-/]){_DAY}(?:st|nd|rd|th)?(?:,?\s+|[-/])(?P<y>\d{{4}})",
    ],
}
_SHORT = r"(?P<y>\d{4}|(?<=['’-])\d{2})"  # Jan-24, Jan '24; but Jan 24 is rather a day
_QUARTER = r"Q(?P<q>[1-4])"
_LONG_FORMS = {  # of more than a day
    "ym": [r"(?P<y>\d{4})[-/M](?P<m>\d{1,2})", rf"(?P<y>\d{{4}})[-/\s]\s*{_NAME}"],
    "my": [r"(?P<m>\d{1,2})[-/](?P<y>\d{4})", rf"{_NAME}[-/,\s]?\s*['’]?{_SHORT}"],
    "yq": [
        rf"(?P<y>\d{{4}})[-/\s]?\s*{_QUARTER}",
        rf"{_QUARTER}[-/\s]?\s*['’]?{_SHORT}",
        r"(?P<q>[1-4])Q[-/\s]?['’]?(?P<y>\d{4}|\d{2})",
    ],
}
_SEASON = re.compile(r"\s*\d\d(\d\d)[-/](\d\d)\s*")


@cache
def patterns_of(order: str) -> list[re.Pattern[str]]:
    """The forms of dates in this order."""
    days = [rf"\s*{_WEEKDAY}{form}{_TIME}\s*" for form in _FORMS.get(order, ())]
    longer = [rf"\s*{form}\s*" for form in _LONG_FORMS.get(order, ())]
    return [re.compile(form, re.IGNORECASE) for form in (*days, *longer)]


def are_seasons(levels: Iterable[str]) -> bool:
    """Whether all texts name a year and the next one, as seasons do, rather than a month.

    >>> are_seasons(["2009-10", "1999/00"]), are_seasons(["2009-10", "2009-11"])
    (True, False)
    """
    found = [_SEASON.fullmatch(level) for level in levels]
    return all(f is not None and (int(f[1]) + 1) % 100 == int(f[2]) for f in found)


def days_of(text: str, order: str) -> float | None:
    """Days since 1970-01-01 of a date; None for what is no date in this order.

    >>> days_of("1970-01-03", "ymd"), days_of("2 Jan 1970 18:00", "dmy"), days_of("1.2.3", "dmy")
    (2.0, 1.75, None)
    >>> days_of("1970-02", "ym"), days_of("Feb-70", "my"), days_of("1970 Q2", "yq")
    (31.0, 31.0, 90.0)
    """
    for pattern in patterns_of(order):
        found = pattern.fullmatch(text)
        if found is not None:
            return days_in(found.groupdict())
    return None


def days_in(part: dict[str, str]) -> float | None:
    """Days since 1970-01-01 of the parts of a date; None where there is no such day."""
    year, day, month = part["y"], part.get("d", "1"), month_in(part)
    if len(year) == 2:
        if part.get("sep") == "." and len(day + month) < 4:
            return None  # 1.2.13 is rather the version of a program
        year = f"{'19' if int(year) >= 69 else '20'}{year}"
    try:
        whole = datetime.date(int(year), int(month), int(day)).toordinal() - EPOCH
    except ValueError:
        return None
    time = time_in(part)
    return None if time is None else whole + time


def month_in(part: dict[str, str]) -> str:
    """The number of the month, also of its name or a quarter."""
    if "q" in part:
        return str(3 * int(part["q"]) - 2)
    return part["m"] if "m" in part else str(MONTH_OF.get(part["name"].lower(), 0))


def time_in(part: Mapping[str, str | None]) -> float | None:
    """The time of day as a fraction, in UTC where a zone is given."""
    if part.get("H") is None:
        return 0.0
    hour, minute = int(part["H"] or 0), int(part["M"] or 0)
    second = float((part["S"] or "0").replace(",", "."))
    half = part["half"]
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half[0] in "pP")
    if hour > 24 or minute > 59 or second >= 61:
        return None
    seconds = 3600.0 * hour + 60.0 * minute + second
    zone = part["zone"]
    if zone is not None and zone[0] in "+-":
        offset = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
        seconds += offset if zone[0] == "-" else -offset
    return seconds / 86400.0
