"""Numbers, shares and names in sentences. What came from a file is shown, never obeyed."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

from adaline.errors import DateColumn as DateColumn
from adaline.errors import plural as plural

LONGEST = 2000  # letters of a text
LONGEST_NAME = 60
HOLD_OUT = "a hold-out test"  # the way of a quality that was measured once, on some rows


def plain(text: Any, most: int = LONGEST, lines: bool = False) -> str:
    """A text whose control characters are spelled out, so that no terminal or page obeys them.

    With `lines`, line breaks stay.

    >>> print(plain("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    shown = "".join(
        c if c.isprintable() or (lines and c == "\n") else repr(c)[1:-1] for c in str(text)
    )
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def name(text: Any) -> str:
    """The name of a column, label or file: plain, and short enough for a line."""
    return plain(text, LONGEST_NAME)


def file(path: Any) -> str:
    """The name of a file: of a long path, its end.

    >>> file("/one/two/three/" + 50 * "x" + "/penguins.csv")
    '…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/penguins.csv'
    """
    shown = plain(path, LONGEST)
    return shown if len(shown) <= LONGEST_NAME else "…" + shown[1 - LONGEST_NAME :]


def number(value: Any, digits: int = 5) -> str:
    """Counts with thousands apart, other numbers to a few digits, a dash where there is none.

    >>> number(1234567), number(0.1 + 0.2), number(float("nan")), number(1234.5), number(999.7, 3)
    ('1,234,567', '0.3', '–', '1,234.5', '1,000')
    """
    if value is None:
        return "–"
    value = value.item() if hasattr(value, "item") else value  # a number of numpy
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        value += 0.0  # no -0
        size = abs(float(f"{value:.{digits}g}"))  # as it is shown: 999.7 is 1,000 to three digits
        whole = 10**digits <= size < 1e9  # no powers of ten where a count would do
        return f"{value:,.0f}" if whole else f"{value:,.{digits}g}"
    return plain(value)


def cell(value: float, column: str, digits: int = 5) -> str:
    """A value of a column: a number, or the date of a column of days since 1970.

    >>> cell(19775.0, DateColumn("sold")), cell(19775.0, "size")
    ('2024-02-22', '19,775')
    """
    if isinstance(column, DateColumn) and math.isfinite(value):
        try:
            return (date(1970, 1, 1) + timedelta(math.floor(value))).isoformat()
        except OverflowError:
            pass
    return number(float(value), digits)


def change(step: float, column: str) -> str:
    """So much more of a column.

    >>> change(365.25, DateColumn("sold")), change(1.5, "size")
    ('365 days more', '1.5 more')
    """
    return f"{number(step, 3)}{' days' * isinstance(column, DateColumn)} more"


def percent(share: float) -> str:
    """A share with one digit behind the point; what rounds to zero has no sign.

    >>> percent(0.9876), percent(-0.0001)
    ('98.8 %', '0.0 %')
    """
    return f"{100 * share:z.1f} %"


def chance(p: float) -> str:
    """A p-value: small ones are small.

    >>> chance(0.0312), chance(1e-9)
    ('0.0312', '< 0.0001')
    """
    return "< 0.0001" if p < 1e-4 else number(float(p), 3)


def p_value(p: float) -> str:
    """A p-value in a bracket of a sentence.

    >>> p_value(0.0312), p_value(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {chance(p)}"
