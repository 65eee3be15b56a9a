"""The few warnings and errors that are ours, and words that messages of all rooms share.

Bad input raises plain ValueError and TypeError.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any


class IllConditionedWarning(UserWarning):
    """The answer depends on the last digits of the data; the message says how strongly."""


class RankDeficientWarning(UserWarning):
    """Some columns are combinations of others; the message names them."""


class DataWarning(UserWarning):
    """A column of a table was left out, or read by a guess; the message says which and why."""


class SeparableError(ValueError):
    """A hyperplane separates the classes, so that maximum likelihood has no finite weights."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message says which extra brings it."""

    @classmethod
    def of(cls, extra: str, what: str, needs: str) -> MissingExtra:
        """The error for something that needs a package of an extra."""
        return cls(
            f"{what} needs {needs}, which is not installed; {cls.how_to_install(extra)} brings it."
        )

    @staticmethod
    def how_to_install(extra: str) -> str:
        """How to install an extra: from a checkout, as no package index has adaline yet."""
        return f'pip install ".[{extra}]" in a checkout of adaline'


class DivergenceError(ArithmeticError):
    """Learning has run away; the message says at which sample; earlier weights are kept."""


class ModelFileError(ValueError):
    """A file is not what it should be, or a model cannot be a file; the message says why."""


class DataError(ValueError):
    """A file or table that cannot be read as it is; the message says where, and what to do.

    Parameters
    ----------
    problem : str
        What is wrong, and where.
    *advice : tuple of str, object and str
        A parameter of Python that helps, its value, and what it does. Another front end than Python
        spells them in its own way by `worded`.

    Examples
    --------
    >>> print(DataError("y is missing at line 3", ("missing", "drop", "leaves that row out")))
    y is missing at line 3; missing='drop' leaves that row out.
    """

    def __init__(self, problem: str, *advice: tuple[str, Any, str]) -> None:
        super().__init__(problem, *advice)

    def worded(self, spell: Callable[[str, Any], str]) -> str:
        """The message; `spell` words a parameter and its value, or gives "" to omit them."""
        problem, *advice = self.args
        parts = [
            f"{spell(name, value)} {does}" for name, value, does in advice if spell(name, value)
        ]
        return f"{problem}; {', or '.join(parts)}." if parts else str(problem)

    def __str__(self) -> str:
        return self.worded(lambda name, value: f"{name}={value!r}")


def refuse_beyond_memory(size: float, what: str, advice: str) -> None:
    """Raise ValueError where so many bytes are more than this machine's memory."""
    if size > _memory():
        raise ValueError(
            f"{what} would take {size / 2**30:.3g} GiB; this machine has "
            f"{_memory() / 2**30:.3g} GiB. {advice}"
        )


@cache
def _memory() -> float:
    limits = []
    with suppress(AttributeError, OSError, ValueError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with (
        suppress(OSError, ValueError),
        open("/sys/fs/cgroup/memory.max", encoding="ascii") as told,  # of a container
    ):
        limits.append(int(told.read()))
    return float(min((limit for limit in limits if limit > 0), default=float("inf")))


def warn_caller(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user that called adaline, however many frames of ours lie between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("adaline.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_SINGULAR = {"are": "is", "have": "has", "were": "was", "do": "does"}


def plural(count: int, noun: str, verb: str = "") -> str:
    """A count and its noun, and a verb that agrees with it.

    >>> plural(1, "row"), plural(2000, "pass"), plural(1, "row", "have")
    ('1 row', '2,000 passes', '1 row has')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    if count == 1:
        verb = _SINGULAR.get(verb, f"{verb}s" if verb else "")
    return f"{count:,} {noun}{ending} {verb}".rstrip()


class DateColumn(str):
    """The name of a column of days since 1970-01-01: people are shown its values as dates."""

    __slots__ = ()
