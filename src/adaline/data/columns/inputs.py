"""`Input`: what an `Encoding` knows of one column, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from adaline.results import Result

MISSING_LEVEL, OTHER_LEVEL = "(missing)", "(other)"


@dataclass(frozen=True)
class Input(Result):
    """One input column: a number, a date, or text with its levels.

    Attributes
    ----------
    name : str
    levels : tuple of str, or None
        Of text: its levels, each but the first with an indicator.
    mean : float, optional
        Of a number: what stands for a missing value.
    reading : str
        How the column is read: "" as it is, "text", or a notation such as "number %" or
        "date dmy".
    gaps : bool
        Whether an indicator "NAME is missing" goes with a number.
    merged : tuple of str
        Rare levels of text, which count as the level "(other)".
    parts : tuple of str
        What is made of a date: "days", "month=2", ..., "weekday=Tue", ...
    marks : tuple of str
        Texts among numbers or dates that stand for a missing value in this column; in others they
        may be levels.
    spellings : tuple of (str, str)
        Of text: other spellings of a level, each with the level that it counts as.
    """

    name: str
    levels: tuple[str, ...] | None = None
    mean: float | None = None
    reading: str = ""
    gaps: bool = False
    merged: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates."""
        return self.reading.partition(" ")[0] == "date"

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers that are made of this one."""
        if self.levels is not None:
            return [f"{self.name}={level}" for level in self.levels[1:]]
        made = [self.name if p == "days" else f"{self.name} {p}" for p in self.parts or ("days",)]
        return [*made, f"{self.name} is missing"] if self.gaps else made

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; of the later fields only those that are not empty."""
        return plain_fields(self, "name", "levels", "mean")

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Input:
        """The input that `to_dict` described."""
        return cls(**parsed_fields(plain, _CONVERTERS, "name", "levels", "mean"))


def texts(values: Any) -> tuple[str, ...]:
    """A tuple of texts, from a list of JSON."""
    return tuple(map(str, values))


def pairs(values: Any) -> tuple[tuple[str, str], ...]:
    """A tuple of pairs of texts, from lists of JSON."""
    return tuple((str(a), str(b)) for a, b in values)


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "name": str,
    "levels": lambda value: None if value is None else texts(value),
    "mean": lambda value: None if value is None else float(value),
    "reading": str,
    "gaps": bool,
    **dict.fromkeys(("merged", "parts", "marks"), texts),
    "spellings": pairs,
}


def plain_fields(record: Any, *required: str) -> dict[str, Any]:
    """The fields of a dataclass as lists, texts and numbers; empty ones only if required."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _plain(value) for name, value in values.items() if value or name in required}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.to_dict() if isinstance(value, Input) else value


def parsed_fields(
    plain: Mapping[str, Any], converters: Mapping[str, Callable[[Any], Any]], *required: str
) -> dict[str, Any]:
    """Fields from what `plain_fields` gave; LookupError without those that are required."""
    given = {name: plain[name] for name in (*required, *converters) if name in (*required, *plain)}
    return {name: converters[name](value) for name, value in given.items()}
