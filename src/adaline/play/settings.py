"""Controls of the page: choices, sliders and check boxes, with their limits.

Used by the learners of the board and by the tab of signals. Values come from a browser or a link,
so each is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Value = float | str | bool


@dataclass(frozen=True)
class Setting:
    """One control: a choice of words, a range of numbers, or yes and no.

    Attributes
    ----------
    name, title : str
    default : float, str or bool
    choices : dict of value to words
        Empty for sliders and check boxes.
    low, high : float
        The range of a slider.
    scale : {"linear", "log", "whole"}
    when : dict
        Other settings and the values they must have for this one to matter; else it is hidden.
    classes : int or None
        How many classes there must be for it to matter.
    """

    name: str
    title: str
    default: Value
    choices: Mapping[str, str] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    scale: str = "linear"
    when: Mapping[str, Value] = field(default_factory=dict)
    classes: int | None = None

    def check(self, value: Any) -> Value:
        """The value, if it is one of this setting's."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise ValueError(f"{self.title} is {show(value)}; expected true or false.")
            return value
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                known = ", ".join(self.choices)
                raise ValueError(f"{self.title} is {show(value)}; expected one of {known}.")
            return value
        number = check_number(value, self.title)
        if not self.low <= number <= self.high:
            raise ValueError(
                f"{self.title} is {number:g}; expected a number from {self.low:g} to {self.high:g}."
            )
        return float(round(number)) if self.scale == "whole" else number

    def describe(self) -> dict[str, Any]:
        """The control for the page."""
        kind = "check" if isinstance(self.default, bool) else "choice" if self.choices else "slider"
        lists = {"choices": list(self.choices.items()), "when": list(self.when.items())}
        return {**vars(self), "kind": kind, **lists}


def choice(name: str, title: str, choices: Mapping[str, str], **more: Any) -> Setting:
    """A setting of words; the first is the default."""
    return Setting(name, title, next(iter(choices)), choices, **more)


def slider(name: str, title: str, default: float, low: float, high: float, **more: Any) -> Setting:
    """A setting of numbers."""
    return Setting(name, title, default, low=low, high=high, **more)


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


def show(value: Any) -> str:
    """A value of a message in an error: it may be long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
