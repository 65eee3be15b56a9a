"""What is proven of the points: separability, the mistake bound, and Cover's count."""

from __future__ import annotations

import math
from typing import Any

import adaline
from adaline.play.points import CLASSES, Points

SECONDS = 2.0  # that a verdict may take; most take a thousandth


def decided(points: Points) -> adaline.Separability | None:
    """What `separability` says of the points; None where they are of one class."""
    if len(points.present) < 2:
        return None
    return adaline.separability(points.X, points.labels, time_limit=SECONDS, pairwise=False)


def proof(points: Points, found: adaline.Separability | None) -> dict[str, Any]:
    """The verdict of `separability` for the page: its words, line, margin and witnesses."""
    if found is None:
        return {"verdict": None, "words": "A verdict needs points of two classes."}
    told: dict[str, Any] = {
        "verdict": found.verdict,
        "words": _sentence(found.explain(points.names)) + _widest(points, found),
        "classes": [CLASSES.index(str(label)) for label in found.labels],
        "rows": [row for row, _ in found.rows],
        "multipliers": [str(k) if k > 2**53 else k for k in found.multipliers],
        "margin": found.margin,
        "is_maximum": found.margin_is_maximum,
    }
    if found.verdict == "separable" and len(found.labels) == 2:
        told["line"] = {"w": found.coef, "b": found.intercept}
    return {**told, "cover": cover(len(points)), "bound": bound(points, found)}


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _widest(points: Points, found: adaline.Separability) -> str:
    """The largest margin of any line, beside the line of the proof."""
    if found.verdict != "separable" or len(found.labels) != 2 or found.margin_is_maximum:
        return ""
    try:
        margin = adaline.max_margin(points.X, points.labels).margin
    except ValueError:  # a margin below rounding
        return ""
    return f" The largest margin of any line is {margin:.6g}."


def cover(n: int) -> dict[str, Any]:
    """How many labellings of so many points a line separates."""
    found = adaline.cover(n, 2)
    return {
        "n": n,
        "fraction": found.fraction,
        "log10": found.log_fraction / math.log(10),  # the fraction itself may be below 1e-323
        "capacity": adaline.capacity(2),
    }


def bound(points: Points, found: adaline.Separability) -> dict[str, float] | None:
    """The most mistakes that a perceptron can make on these points; None where none is proven."""
    if found.verdict != "separable" or len(found.labels) != 2:
        return None
    try:
        most = adaline.mistake_bound(points.X, points.labels)
    except ValueError:  # a margin below rounding
        return None
    return {"sharp": most.sharp, "lecture": most.lecture}
