"""`Input`: what an encoding knows of one column, as plain data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
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
        """Plain data; of the later fields only those that say something."""
        plain: dict[str, Any] = {
            "name": self.name,
            "levels": None if self.levels is None else list(self.levels),
            "mean": self.mean,
        }
        extra = {
            "reading": self.reading,
            "gaps": self.gaps,
            "merged": list(self.merged),
            "parts": list(self.parts),
            "marks": list(self.marks),
            "spellings": list(map(list, self.spellings)),
        }
        return plain | {key: value for key, value in extra.items() if value}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Input:
        """The input that `to_dict` described."""
        return cls(
            str(plain["name"]),
            None if plain["levels"] is None else tuple(map(str, plain["levels"])),
            None if plain["mean"] is None else float(plain["mean"]),
            str(plain.get("reading", "")),
            bool(plain.get("gaps", False)),
            tuple(map(str, plain.get("merged", ()))),
            tuple(map(str, plain.get("parts", ()))),
            tuple(map(str, plain.get("marks", ()))),
            tuple((str(text), str(level)) for text, level in plain.get("spellings", ())),
        )


@functools.lru_cache(maxsize=32)
def encoded_names(inputs: tuple[Input, ...]) -> tuple[str, ...]:
    """Names of all columns of numbers."""
    return tuple(name for entry in inputs for name in entry.names)
