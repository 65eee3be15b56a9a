"""Settings and sound file of the tab of signals, checked: they come from a browser or a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data import blocks
from adaline.play.commands import Folder
from adaline.play.settings import Setting, choice, show, slider

MAX_SAMPLES = 480_000  # of a sound file: the first ten seconds at 48 kHz
MIN_SAMPLES = 200  # fewer than any filter of the page learns from
MAX_SOUND = 50 * 2**20  # bytes of a sound file


@dataclass(frozen=True)
class Settings:
    """What the user has set.

    Attributes
    ----------
    scene : the signals: a system, a voice with a hum or an engine, an echo, or a sound file
    learner : a filter, or "auto" for the one that the task chooses
    taps : weights of the filter
    share : the rate of LMS and NLMS, as a share of its bound: 2/tr[R], and 2
    memory : samples that RLS remembers; the largest means all
    change : whether the path changes in the middle
    level, colour, seed : as in `adaline.play.scene`
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


def _words(*names: str) -> dict[str, str]:
    return {name: name for name in names}


CONTROLS = {
    control.name: control
    for control in (
        choice("scene", "scene", _words("system", "tone", "engine", "echo", "wav")),
        choice("learner", "learner", _words("lms", "nlms", "rls", "wiener", "auto")),
        choice("use", "use", _words("voice", "noise", "pair")),
        slider("taps", "taps", 16, 1, 256, scale="whole"),
        slider("share", "share", 0.05, 0.0005, 2.0),
        slider("memory", "memory", 1000.0, 20, 100_000),
        slider("level", "level", -30.0, -60, 30),
        slider("colour", "colour", 0.0, 0.0, 0.98),
        slider("seed", "seed", 0, 0, 9999, scale="whole"),
        Setting("change", "change", False),
    )
}
LIMITS = {name: (c.low, c.high) for name, c in CONTROLS.items() if name not in ("change", "use")}
# What suits a scene; set when a user selects it.
SUITABLE: dict[str, dict[str, Any]] = {
    "system": {"taps": 16, "level": -30.0, "share": 0.05, "memory": 1000.0},
    "tone": {"taps": 16, "level": 6.0, "share": 0.005, "memory": 4000.0},
    "engine": {"taps": 32, "level": 6.0, "share": 0.02, "memory": 4000.0},
    "echo": {"taps": 128, "level": -6.0, "share": 0.02, "memory": 8000.0},
    "wav": {"taps": 32, "level": 6.0, "share": 0.02, "memory": 4000.0},
}


def change_settings(settings: Settings, given: Any) -> Settings:
    """Settings with some of them changed; ValueError where one is invalid."""
    if not isinstance(given, Mapping):
        raise ValueError(f"settings are {show(given)}; expected names with values.")
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if name not in CONTROLS:
            known = ", ".join(sorted(CONTROLS))
            raise ValueError(f"there is no setting {show(name)}; there are {known}.")
        control = CONTROLS[name]
        checked[name] = control.check(value)
        if control.scale == "whole":
            if value != checked[name]:
                raise ValueError(f"{name} is {show(value)}; expected a whole number.")
            checked[name] = int(value)
    kind = checked.get("scene", settings.scene)
    suitable = SUITABLE[kind] if kind != settings.scene else {}
    return replace(settings, **{**suitable, **checked})


@dataclass(frozen=True, eq=False)
class Sound:
    """The first samples of a sound file.

    Attributes
    ----------
    name : str
        Of the file, made harmless.
    rate : int
    samples : ndarray of shape (n, channels)
    length : int
        Samples that the file has.
    """

    name: str
    rate: int
    samples: NDArray[np.float64]
    length: int

    def describe(self) -> dict[str, Any]:
        """For the page."""
        seconds = {"seconds": self.length / self.rate, "used": len(self.samples) / self.rate}
        return {
            "name": self.name,
            "rate": self.rate,
            "channels": self.samples.shape[1],
            **seconds,
        }


def read_sound(name: str, content: bytes) -> Sound:
    """The sound of a wav file; ValueError where it is none, or is silent."""
    if len(content) > MAX_SOUND:
        raise ValueError(f"the file has {len(content) / 2**20:.0f} MB; expected at most 50.")
    with Folder() as folder:
        path = folder.write(name, content, endings=(".wav", ".wave"), default=".wav")
        try:
            source: Any = blocks(path, format=".wav")
            parts = [np.array(block.matrix, dtype=np.float64) for block in source]
        except ValueError as error:
            raise ValueError(str(error).replace(str(path.parent), "").lstrip("/")) from None
    length = sum(len(part) for part in parts)
    if length < MIN_SAMPLES:
        raise ValueError(f"{path.name} has {length} samples; expected {MIN_SAMPLES} or more.")
    samples = np.concatenate(parts)[:MAX_SAMPLES]
    if not np.isfinite(samples).all():
        raise ValueError(f"{path.name} has samples that are not finite; save it again.")
    if not 3000 <= source.rate <= 384_000:
        raise ValueError(
            f"{path.name} has {source.rate} samples per second; expected 3,000 to 384,000."
        )
    if not samples[:, 0].any():
        raise ValueError(f"{path.name} is silent in the part that is used.")
    return Sound(path.name, int(source.rate), samples, length)
