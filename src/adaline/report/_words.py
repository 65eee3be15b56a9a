"""Numbers and names as a page shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST = 2000  # letters of one text; names of a hostile file may be longer
_NAME = 120


def clean(text: Any, most: int = LONGEST) -> str:
    """A text without control characters, line breaks apart, and not too long.

    >>> clean("a\\x00b"), clean("long" * 10, most=8)
    ('a\N{REPLACEMENT CHARACTER}b', 'longlon…')
    """
    shown = "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in str(text)
    )
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def name(text: Any) -> str:
    """A name of a column, label or file, on one line."""
    return clean(str(text).replace("\n", " ").replace("\t", " "), _NAME)


def number(value: Any, digits: int = 5) -> str:
    """Counts with thousands apart, other numbers to five digits, a dash where there is none.

    >>> number(1234567), number(0.1 + 0.2), number(float("nan"))
    ('1,234,567', '0.3', '–')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return "–" if np.isnan(value) else f"{float(value):.{digits}g}"
    return clean(value)


def chance(p: float) -> str:
    """A p-value: small ones are small.

    >>> chance(0.0312), chance(1e-9)
    ('0.0312', '< 0.0001')
    """
    if np.isnan(p):
        return "–"
    return "< 0.0001" if p < 1e-4 else f"{p:.3g}"


def percent(share: float) -> str:
    """A share with one digit behind the point.

    >>> percent(0.9876)
    '98.8 %'
    """
    return f"{100 * share:.1f} %"


def plural(count: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
