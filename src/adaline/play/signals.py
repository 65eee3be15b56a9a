"""The tab of signals: a filter learns a system, takes noise away, or an echo; pure steps.

Events: "start" draws; "set" changes settings; "open" takes up a link; "upload" brings a sound file;
"listen" answers with a sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.play import _wavs
from adaline.play._signal_code import code
from adaline.play._signal_drawings import drawing
from adaline.play._signal_runs import Run, run
from adaline.play._signal_settings import Settings, changed
from adaline.play._wavs import Wav
from adaline.play.scenes import Scene, recorded, scene

SOUNDS = ("before", "after", "difference", "wanted")


@dataclass(frozen=True, eq=False)
class State:
    """Settings, the sound file if there is one, and what was made of them."""

    settings: Settings
    wav: Wav | None = None
    scene: Scene | None = None
    found: Run | None = None


def start() -> State:
    """The state of a page that was just opened."""
    return State(Settings())


def step(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The state after an event, and what to draw."""
    match event.get("event"):
        case "start":
            return _run(state)
        case "set":
            return _run(replace(state, settings=changed(state.settings, event.get("settings"))))
        case "open":
            return _opened(state, event.get("link"))
        case "upload":
            return _run(_with_wav(state, event))
        case "listen":
            return _heard(state, event.get("which"))
    raise ValueError(f"signals know no event {str(event.get('event'))[:40]!r}.")


def _opened(state: State, link: Any) -> tuple[State, dict[str, Any]]:
    """The settings of a link; a sound file is not in it, and has to be dropped again."""
    settings = changed(Settings(), link)
    if settings.scene == "wav" and state.wav is None:
        settings = changed(settings, {"scene": "engine"})
    return _run(replace(state, settings=settings))


def _with_wav(state: State, event: Mapping[str, Any]) -> State:
    wav = _wavs.read(str(event.get("name")), event["bytes"])
    use = "pair" if state.settings.use == "pair" and wav.samples.shape[1] > 1 else "voice"
    settings = changed(state.settings, {"scene": "wav", "use": use})
    return replace(state, wav=wav, settings=settings)


def _run(state: State) -> tuple[State, dict[str, Any]]:
    world = _world(state)
    found = run(state.settings, world)
    shown = drawing(state.settings, world, found)
    shown["code"] = code(state.settings, world, state.wav)
    shown["link"] = state.settings.plain()
    shown["wav"] = None if state.wav is None else state.wav.plain()
    shown["sounds"] = _sounds(world, found)
    return replace(state, scene=world, found=found), shown


def _world(state: State) -> Scene:
    """The signals of the settings."""
    s, wav = state.settings, state.wav
    said: dict[str, Any] = {"change": s.change, "level": s.level, "seed": s.seed}
    if s.scene != "wav":
        return scene(s.scene, **said, colour=s.colour if s.scene == "system" else 0.0)
    if wav is None:
        raise ValueError("there is no sound file; drop a wav file on the page.")
    first = wav.samples[:, 0]
    if s.use == "voice":
        return scene("engine", **said, rate=wav.rate, voice=first)
    if s.use == "noise":
        return scene("noise", **said, rate=wav.rate, noise=first)
    if wav.samples.shape[1] < 2:
        raise ValueError(
            f"{wav.name} has one channel; a recording with its reference has two. Use it as the "
            "voice or as the noise."
        )
    return recorded(first, wav.samples[:, 1], wav.rate)


def _sounds(world: Scene, found: Run) -> list[str]:
    """Which sounds there are to hear."""
    if found.diverged:
        return ["before"]
    return [name for name in SOUNDS if name != "wanted" or world.wanted is not None]


def _heard(state: State, which: Any) -> tuple[State, dict[str, Any]]:
    """A sound as 32-bit floats; all sounds of a scene are scaled alike, so that they compare."""
    if state.scene is None or state.found is None:
        raise ValueError("there is nothing to hear yet.")
    if which not in _sounds(state.scene, state.found):
        raise ValueError(f"there is no sound {str(which)[:40]!r} to hear.")
    world, found = state.scene, state.found
    sounds = {"before": world.d, "after": found.e, "difference": found.y, "wanted": world.wanted}
    sound = sounds[which]
    assert sound is not None
    loudest = float(np.abs(world.d).max()) or 1.0
    samples = np.clip(sound / loudest, -1.0, 1.0).astype("<f4")
    heard = {"which": which, "rate": world.rate, "samples": samples.tobytes()}
    return state, {"sound": heard}
