"""Checks of constructor arguments, each with an error that says what came and what is expected."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

AUTO_EPS = 0.01  # eps="auto", as a share of the mean of x^H x


class Setting:
    """A parameter of the constructor that can be read later, and never changed."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, filter: Any, owner: type | None = None) -> Any:
        return self if filter is None else filter.__dict__[self.name]

    def __set__(self, filter: Any, value: Any) -> None:
        if self.name in filter.__dict__:
            raise AttributeError(
                f"{self.name} is fixed when a filter is made; make a new one, and hand over the "
                "weights with weights=old.weights."
            )
        filter.__dict__[self.name] = value


def shown(value: Any) -> str:
    """A value in an error, cut short.

    >>> shown("ab"), len(shown(10**200))
    ("'ab'", 63)
    """
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:60] + "..."


def positive(name: str, value: Any, zero: bool = False) -> float:
    """A finite number above zero (or zero itself), or a sentence.

    >>> positive("eps", 2)
    2.0
    """
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    number = math.nan
    if good:
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            number = math.inf
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        least = "of at least" if zero else "above"
        raise ValueError(f"{name} is {shown(value)}; expected a finite number {least} 0.")
    return number


def positive_or_auto(name: str, value: Any, zero: bool = False) -> Any:
    """The same, or the word "auto".

    >>> positive_or_auto("eps", "auto")
    'auto'
    """
    if isinstance(value, str):
        if value == "auto":
            return value
        raise ValueError(f"{name} is {shown(value)}; expected 'auto' or a finite number.")
    return positive(name, value, zero)


def as_eps(eps: Any) -> Any:
    """The eps of a normalised filter: a number of at least 0, or "auto"."""
    return positive_or_auto("eps", eps, zero=True)


def absolute_and_relative(eps: float | str) -> tuple[float, float]:
    """eps as a number, and as a share of the mean of x^H x; "auto" is a hundredth of that mean.

    >>> absolute_and_relative(0.1), absolute_and_relative("auto")
    ((0.1, 0.0), (0.0, 0.01))
    """
    return (0.0, AUTO_EPS) if isinstance(eps, str) else (float(eps), 0.0)


def whole(value: Any, name: str, least: int, most: int = 2**63) -> int:
    """A whole number between two others.

    >>> whole(3, "taps", 1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {shown(value)}; expected a whole number, at least {least}.")
    if value > most:
        raise ValueError(f"{name} is {shown(value)}; expected a whole number of at most {most}.")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one of them.

    >>> flag("db", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {shown(value)}; expected True or False.")
    return bool(value)


def one_of(name: str, value: Any, words: tuple[str | None, ...]) -> Any:
    """One of a few words.

    >>> one_of("sign", "data", (None, "error", "data"))
    'data'
    """
    if not (value is None or isinstance(value, str)) or value not in words:
        *first, last = (repr(word) for word in words)
        raise ValueError(f"{name} is {shown(value)}; expected {', '.join(first)} or {last}.")
    return value


def fits(name: str, value: int, numbers: int) -> None:
    """Refuse a size that would need more memory than the machine has, before it is allocated.

    >>> fits("taps", 10, 10)
    """
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # no such question on this system
        there = 2**38
    if 8 * numbers > there:
        raise ValueError(
            f"{name} is {shown(value)}; this needs about {8 * numbers / 1e9:.3g} GB of memory, and "
            f"the machine has {there / 1e9:.3g} GB."
        )


def below_two(eta: Any, name: str) -> float:
    """The step of a normalised filter.

    >>> below_two(0.5, "NLMS")
    0.5
    """
    step = positive("eta", eta)
    if step >= 2:
        raise ValueError(f"eta is {shown(eta)}; {name} is stable for 0 < eta < 2.")
    return step


def every_so_many(history: Any) -> int | None:
    """How often to record weights: a whole number of samples, or not at all.

    >>> every_so_many(100)
    100
    """
    if history is None:
        return None
    return whole(history, "history", 1)
