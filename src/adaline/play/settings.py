"""What a user can set of a learner: choices, sliders and check boxes, with their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaline.play.points import number

Value = float | str | bool


@dataclass(frozen=True)
class Setting:
    """One control: of two or more words, of a range of numbers, or of yes and no.

    Attributes
    ----------
    name, title : str
    default : float, str or bool
    choices : tuple of (value, words)
        Empty for sliders and check boxes.
    low, high : float
        The range of a slider.
    scale : {"linear", "log", "whole"}
    when : tuple of (name, value)
        Other settings that must be so for this one to matter; else the page hides it.
    classes : int or None
        How many classes there must be for it to matter.
    """

    name: str
    title: str
    default: Value
    choices: tuple[tuple[str, str], ...] = ()
    low: float = 0.0
    high: float = 1.0
    scale: str = "linear"
    when: tuple[tuple[str, Value], ...] = ()
    classes: int | None = None

    def checked(self, value: Any) -> Value:
        """A value that came from a page, if it is one of this setting's."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise ValueError(f"{self.title} is {value!r}; expected yes or no.")
            return value
        if self.choices:
            if value not in [name for name, _ in self.choices]:
                raise ValueError(f"{self.title} is {value!r}; it is none of its choices.")
            return str(value)
        found = number(value, self.title)
        if not self.low <= found <= self.high:
            raise ValueError(
                f"{self.title} is {found:g}; expected a number from {self.low:g} to {self.high:g}."
            )
        return float(round(found)) if self.scale == "whole" else found

    def described(self) -> dict[str, Any]:
        """The control for the page."""
        kind = "check" if isinstance(self.default, bool) else "choice" if self.choices else "slider"
        return {
            "name": self.name,
            "title": self.title,
            "kind": kind,
            "choices": self.choices,
            "low": self.low,
            "high": self.high,
            "scale": self.scale,
            "when": self.when,
            "classes": self.classes,
        }


def choice(name: str, title: str, *choices: tuple[str, str], **more: Any) -> Setting:
    """A setting of words; the first is the default."""
    return Setting(name, title, choices[0][0], choices, **more)


def slider(name: str, title: str, default: float, low: float, high: float, **more: Any) -> Setting:
    """A setting of numbers."""
    return Setting(name, title, default, low=low, high=high, **more)


BIAS = Setting("fit_intercept", "Bias b", True)
PASSES = slider("max_iter", "Passes at most", 100, 1, 1000, scale="whole")
RATE = choice("rate", "Rate", ("number", "a number η"), ("auto", "automatic"))
ETA_GIVEN = slider("eta", "Rate η", 0.1, 0.001, 5.0, scale="log", when=(("rate", "number"),))
MODE = choice("mode", "Update", ("online", "after each sample"), ("batch", "after each pass"))
