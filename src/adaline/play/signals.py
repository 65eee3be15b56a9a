"""The tab of signals: a filter identifies a system, cancels noise, or an echo.

Events: "start" draws; "set" changes settings; "open" restores a link; "upload" brings a sound file;
"listen" answers with a sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from adaline.play import signal_drawing
from adaline.play.scenes import Scene, recorded, scene
from adaline.play.settings import show
from adaline.play.signal_runs import Run, code_of, run_filter
from adaline.play.signal_settings import Settings, Sound, change_settings, read_sound

SOUNDS = ("before", "after", "difference", "wanted")


@dataclass(frozen=True, eq=False)
class State:
    """Settings, the sound file if there is one, and the signals and result of the filter."""

    settings: Settings
    sound: Sound | None = None
    scene: Scene | None = None
    run: Run | None = None


def start() -> State:
    """The state of a page that was just opened."""
    return State(Settings())


def step(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The state after an event, and what to draw."""
    match event.get("event"):
        case "start":
            return _run(state)
        case "set":
            settings = change_settings(state.settings, event.get("settings"))
            return _run(replace(state, settings=settings))
        case "open":  # a link holds no sound file, which has to be dropped again
            settings = change_settings(Settings(), event.get("link"))
            if settings.scene == "wav" and state.sound is None:
                settings = change_settings(settings, {"scene": "engine"})
            return _run(replace(state, settings=settings))
        case "upload":
            sound = read_sound(str(event.get("name")), event["bytes"])
            is_pair = state.settings.use == "pair" and sound.samples.shape[1] > 1
            given = {"scene": "wav", "use": "pair" if is_pair else "voice"}
            settings = change_settings(state.settings, given)
            return _run(replace(state, sound=sound, settings=settings))
        case "listen":
            return state, {"sound": _listen(state, event.get("which"))}
    raise ValueError(f"the tab of signals knows no event {show(event.get('event'))}.")


def _run(state: State) -> tuple[State, dict[str, Any]]:
    signals = _signals(state)
    run = run_filter(state.settings, signals)
    drawing = signal_drawing.draw(state.settings, signals, run)
    drawing["code"] = code_of(state.settings, signals, state.sound)
    drawing["link"] = asdict(state.settings)
    drawing["wav"] = None if state.sound is None else state.sound.describe()
    drawing["sounds"] = _sounds(signals, run)
    return replace(state, scene=signals, run=run), drawing


def _signals(state: State) -> Scene:
    """The signals of the settings."""
    s, sound = state.settings, state.sound
    options: dict[str, Any] = {"change": s.change, "level": s.level, "seed": s.seed}
    if s.scene != "wav":
        return scene(s.scene, **options, colour=s.colour if s.scene == "system" else 0.0)
    if sound is None:
        raise ValueError("there is no sound file; drop a wav file on the page.")
    first = sound.samples[:, 0]
    if s.use == "voice":
        return scene("engine", **options, rate=sound.rate, voice=first)
    if s.use == "noise":
        return scene("noise", **options, rate=sound.rate, noise=first)
    if sound.samples.shape[1] < 2:
        raise ValueError(
            f"{sound.name} has one channel; a recording with its reference has two. Use it as the "
            "voice or as the noise."
        )
    return recorded(first, sound.samples[:, 1], sound.rate)


def _sounds(signals: Scene, run: Run) -> list[str]:
    """The sounds that can be played."""
    if run.diverged:
        return ["before"]
    return [name for name in SOUNDS if name != "wanted" or signals.wanted is not None]


def _listen(state: State, which: Any) -> dict[str, Any]:
    """A sound as 32-bit floats; all sounds of a scene are scaled alike, so that they compare."""
    signals, run = state.scene, state.run
    if signals is None or run is None:
        raise ValueError("there is nothing to hear yet.")
    if which not in _sounds(signals, run):
        raise ValueError(f"there is no sound {show(which)} to hear.")
    sounds = {"before": signals.d, "after": run.e, "difference": run.y, "wanted": signals.wanted}
    loudest = float(np.abs(signals.d).max()) or 1.0
    samples = np.clip(np.asarray(sounds[which]) / loudest, -1.0, 1.0).astype("<f4")
    return {"which": which, "rate": signals.rate, "samples": samples.tobytes()}
