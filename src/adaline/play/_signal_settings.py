"""What a user may set in the tab of signals, checked: settings come from a browser or a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

SCENES = ("system", "tone", "engine", "echo", "wav")
LEARNERS = ("lms", "nlms", "rls", "wiener", "auto")
USES = ("voice", "noise", "pair")
_WORDS = {"scene": SCENES, "learner": LEARNERS, "use": USES}
# From, to; shares of the bound and memories are on a scale of logarithms in the page.
LIMITS: dict[str, tuple[float, float]] = {
    "taps": (1, 256),
    "share": (0.0005, 2.0),
    "memory": (20, 100_000),
    "level": (-60, 30),
    "colour": (0.0, 0.98),
    "seed": (0, 9999),
}
_WHOLE = ("taps", "seed")


@dataclass(frozen=True)
class Settings:
    """What the page shows.

    Attributes
    ----------
    scene : the world: a system, a voice in a tone or an engine, an echo, or a sound file
    learner : a filter, or "auto" for the one that the task chooses
    taps : weights of the filter
    share : the rate of LMS and NLMS, as a share of its bound: 2/tr[R], and 2
    memory : samples that RLS remembers; the largest stands for all
    change : whether the path changes in the middle
    level, colour, seed : as in `adaline.play.scenes.scene`
    use : what a sound file is: the voice, the noise, or a recording with its reference
    """

    scene: str = "system"
    learner: str = "lms"
    taps: int = 16
    share: float = 0.05
    memory: float = 1000.0
    change: bool = False
    level: float = -30.0
    colour: float = 0.0
    seed: int = 0
    use: str = "voice"

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


# What suits a scene; taken when a user goes to it.
_SUITS: dict[str, dict[str, Any]] = {
    "system": {"taps": 16, "level": -30.0, "share": 0.05, "memory": 1000.0},
    "tone": {"taps": 16, "level": 6.0, "share": 0.005, "memory": 4000.0},
    "engine": {"taps": 32, "level": 6.0, "share": 0.02, "memory": 4000.0},
    "echo": {"taps": 128, "level": -6.0, "share": 0.02, "memory": 8000.0},
    "wav": {"taps": 32, "level": 6.0, "share": 0.02, "memory": 4000.0},
}


def changed(settings: Settings, given: Any) -> Settings:
    """Settings with some of them set; refused with a sentence where one is no such setting."""
    if not isinstance(given, Mapping):
        raise ValueError(f"settings are {_short(given)}; expected names with values.")
    known = settings.plain()
    checked = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(
                f"there is no setting {_short(name)}; there are {', '.join(sorted(known))}."
            )
        checked[name] = _checked(str(name), value)
    scene = checked.get("scene", settings.scene)
    suited = _SUITS[scene] if scene != settings.scene else {}
    return replace(settings, **{**suited, **checked})


def _checked(name: str, value: Any) -> Any:
    if name in _WORDS:
        if not isinstance(value, str) or value not in _WORDS[name]:
            raise ValueError(f"{name} is {_short(value)}; expected {', '.join(_WORDS[name])}.")
        return value
    if name == "change":
        if not isinstance(value, bool):
            raise ValueError(f"change is {_short(value)}; expected true or false.")
        return value
    low, high = LIMITS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise ValueError(f"{name} is {_short(value)}; expected a number from {low:g} to {high:g}.")
    if name in _WHOLE:
        if value != int(value):
            raise ValueError(f"{name} is {_short(value)}; expected a whole number.")
        return int(value)
    return float(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
