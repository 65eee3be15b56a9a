"""`Input`: what an encoding knows of one column, as plain data; and an encoding as plain data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adaline.data.columns.options import MISSING, UNKNOWN
from adaline.data.reading.checks import check_choice, wrong_type
from adaline.errors import DataError
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


def check_fields(encoding: Any) -> None:
    """Refuse an encoding with a field of the wrong type or value."""
    inputs, left_out = encoding.inputs, encoding.left_out
    if not isinstance(inputs, tuple) or not all(isinstance(i, Input) for i in inputs):
        raise wrong_type("inputs", inputs, "a tuple of Input, as Encoding.learn gives")
    check_choice("missing", encoding.missing, MISSING)
    check_choice("unknown", encoding.unknown, UNKNOWN)
    pairs = isinstance(left_out, tuple) and all(
        isinstance(pair, tuple) and list(map(type, pair)) == [str, str] for pair in left_out
    )
    if not pairs:
        raise wrong_type("left_out", left_out, "a tuple of pairs (column, why)")
    for name, expected in (("na", ""), ("terms", ", as Encoding.learn gives")):
        texts = getattr(encoding, name)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
            raise wrong_type(name, texts, f"a tuple of texts{expected}")
    if encoding.target is not None and not isinstance(encoding.target, Input):
        raise wrong_type("target", encoding.target, "an Input, or None")


def as_plain_data(encoding: Any) -> dict[str, Any]:
    """Lists, texts and numbers; fields that are empty are left out."""
    plain: dict[str, Any] = {
        "inputs": [entry.to_dict() for entry in encoding.inputs],
        "missing": encoding.missing,
        "unknown": encoding.unknown,
    }
    extra: dict[str, Any] = {
        "left_out": [list(pair) for pair in encoding.left_out],
        "na": list(encoding.na),
        "target": None if encoding.target is None else encoding.target.to_dict(),
        "terms": list(encoding.terms),
    }
    return plain | {key: value for key, value in extra.items() if value}


def from_plain_data(plain: Any) -> dict[str, Any]:
    """The fields of an encoding by name; anything else is refused."""
    if not isinstance(plain, Mapping):
        raise wrong_type("plain", plain, "a mapping, as Encoding.to_dict gives")
    try:
        fields = {
            "inputs": tuple(map(Input.from_dict, plain["inputs"])),
            "missing": plain["missing"],
            "unknown": plain["unknown"],
            "left_out": tuple((str(name), str(why)) for name, why in plain.get("left_out", ())),
            "na": tuple(map(str, plain.get("na", ()))),
            "target": None if "target" not in plain else Input.from_dict(plain["target"]),
            "terms": tuple(map(str, plain.get("terms", ()))),
        }
        known = fields["missing"] in MISSING and fields["unknown"] in UNKNOWN
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"this describes no encoding: {error!r}.") from None
    if not known:
        raise DataError(f"this describes no encoding: missing={fields['missing']!r}.")
    return fields
