"""Dates as people write them, to days since 1970-01-01; the time of day is a fraction.

A month or a quarter, such as 2024-05 or Q2 2024, is its first day.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from functools import cache

ORDERS = {
    "ymd": "year first",
    "dmy": "day first",
    "mdy": "month first",
    "ym": "year and month",
    "my": "month and year",
    "yq": "year and quarter",
}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = "january february march april may june july august september october november december"
_EPOCH = datetime.date(1970, 1, 1).toordinal()

_DAY, _NAME = r"(?P<d>\d{1,2})", r"(?P<name>[A-Za-z]{3,9})\.?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_TIME = (
    r"(?:(?:T|,?\s+)(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[ap]\.?m\.?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_SHORT = r"(?P<y>\d{4}|(?<=['’-])\d{2})"  # Jan-24, Jan '24; but Jan 24 is rather a day
_QUARTER = r"Q(?P<q>[1-4])"
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
def _patterns(order: str) -> list[re.Pattern[str]]:
    """The forms of dates in this order; days may have a weekday and a time."""
    before, after = (_WEEKDAY, _TIME) if len(order) == 3 else ("", "")
    return [re.compile(rf"\s*{before}{form}{after}\s*", re.I) for form in _FORMS.get(order, ())]


def are_seasons(levels: Iterable[str]) -> bool:
    """Whether all texts name a year and the next one, 2009-10, rather than a month."""
    matches = [_SEASON.fullmatch(level) for level in levels]
    return all(m is not None and (int(m[1]) + 1) % 100 == int(m[2]) for m in matches)


def days_of(text: str, order: str) -> float | None:
    """Days since 1970-01-01 of a date; None for what is no date in this order.

    >>> days_of("1970-01-03", "ymd"), days_of("2 Jan 1970 18:00", "dmy"), days_of("1.2.3", "dmy")
    (2.0, 1.75, None)
    >>> days_of("1970-02", "ym"), days_of("Feb-70", "my"), days_of("1970 Q2", "yq")
    (31.0, 31.0, 90.0)
    """
    match = next((m for pattern in _patterns(order) if (m := pattern.fullmatch(text))), None)
    if match is None:
        return None
    part = {key: value for key, value in match.groupdict().items() if value is not None}
    year, day, month = part["y"], part.get("d", "1"), part.get("m", "")
    if "q" in part:
        month = str(3 * int(part["q"]) - 2)
    elif not month:  # Sep, Sept and September
        starts = [name.startswith(part["name"].lower()) for name in _MONTHS.split()]
        month = str(starts.index(True) + 1 if any(starts) else 0)
    if len(year) == 2:
        if part.get("sep") == "." and len(day + month) < 4:
            return None  # 1.2.13 is rather the version of a program
        year = f"{'19' if int(year) >= 69 else '20'}{year}"
    hour, half, zone = int(part.get("H", 0)), part.get("half", ""), part.get("zone", "Z")
    minute, second = int(part.get("M", 0)), float(part.get("S", "0").replace(",", "."))
    if hour > 24 or minute > 59 or second >= 61 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half[0] in "pP")
    seconds = 3600.0 * hour + 60.0 * minute + second
    if zone[0] in "+-":  # to UTC
        offset = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
        seconds += offset if zone[0] == "-" else -offset
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None
    return days + seconds / 86400.0
