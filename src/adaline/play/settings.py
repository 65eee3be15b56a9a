"""Controls of the page: choices, sliders and check boxes, with their limits.

Used by the learners of the board and by the tab of signals. Values come from a browser or a link,
so each is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

Item = TypeVar("Item")
Value = float | str | bool
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Setting:
    """One control: a choice of words, a range of numbers, or yes and no."""

    name: str
    title: str
    default: Value
    choices: Mapping[str, str] = field(default_factory=dict)  # value to words
    low: float = 0.0  # the range of a slider
    high: float = 1.0
    scale: str = "linear"  # or "log" or "whole"
    # Other settings and the values that they must have for this one to matter; else it is hidden.
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The control that the page shows."""
        return "check" if isinstance(self.default, bool) else "choice" if self.choices else "slider"

    def check(self, value: Any) -> Value:
        """The value, if it is one of this setting's."""
        if self.kind == "slider":
            check = check_whole if self.scale == "whole" else check_number
            value = check(value, self.title)
            fits, expected = self.low <= value <= self.high, f"{self.low:g} to {self.high:g}"
        elif self.kind == "choice":
            fits, expected = value in list(self.choices), f"one of {', '.join(self.choices)}"
        else:
            fits, expected = isinstance(value, bool), "true or false"
        if not fits:
            raise ValueError(f"{self.title} is {show(value)}; expected {expected}.")
        checked: Value = value
        return checked

    def is_shown(self, values: Values) -> bool:
        """Whether it matters beside these values."""
        return all(values[name] in allowed for name, allowed in self.when.items())

    def describe(self) -> dict[str, Any]:
        """The control for the page."""
        lists = {"choices": list(self.choices.items()), "when": list(self.when.items())}
        names = ("name", "title", "kind", "low", "high", "scale")
        return {name: getattr(self, name) for name in names} | lists


def choice(name: str, title: str, choices: Mapping[str, str], **more: Any) -> Setting:
    """A setting of words; the first is the default."""
    return Setting(name, title, next(iter(choices)), choices, **more)


def slider(name: str, title: str, default: float, low: float, high: float, **more: Any) -> Setting:
    """A setting of numbers."""
    return Setting(name, title, default, low=low, high=high, **more)


def defaults(settings: Iterable[Setting]) -> dict[str, Value]:
    """The initial values."""
    return {setting.name: setting.default for setting in settings}


def change_values(settings: Iterable[Setting], values: Values, given: Any) -> dict[str, Value]:
    """Values with some of them changed; ValueError where one is invalid."""
    if not isinstance(given, Mapping):
        raise ValueError(f"settings are {show(given)}; expected names with values.")
    known = {setting.name: setting for setting in settings}
    checked = {k: look_up(known, k, "setting").check(value) for k, value in given.items()}
    return {**values, **checked}


def check_number(value: Any, what: str) -> float:
    """A finite number of a message."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # NaN, or too large an int
        raise ValueError(f"{what} is {show(value)}; expected a number.")
    return float(value)


def check_whole(value: Any, what: str) -> int:
    """A whole number of a message, not below zero."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{what} is {show(value)}; expected a whole number from 0.")
    return value


def look_up(table: Mapping[str, Item], name: Any, what: str) -> Item:
    """The item of that name; ValueError where there is none."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"there is no {what} {show(name)}.")
    return table[name]


def show(value: Any) -> str:
    """A value of a message in an error: it may be long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
