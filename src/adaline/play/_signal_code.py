"""The Python lines that make a state of the tab of signals again."""

from __future__ import annotations

from adaline.play._signal_runs import task_of, written
from adaline.play._signal_settings import Settings
from adaline.play._wavs import MOST_SAMPLES, Wav
from adaline.play.scenes import Scene


def code(settings: Settings, scene: Scene, wav: Wav | None) -> str:
    """Lines that run on their own (a sound file must be there), and end with the weights."""
    filter, task = written(settings, scene), task_of(settings)
    of = "s.x, s.d" if task == "identify" else "s.d, s.x"
    how = f"filter={filter}" if filter else f"taps={settings.taps}"
    lines = [
        *([f"from adaline import {filter.partition('(')[0].partition('.')[0]}"] if filter else []),
        *(["from adaline.data import blocks"] if settings.scene == "wav" else []),
        f"from adaline.filters import {task}",
        f"from adaline.play import {_scene_name(settings)}",
        "",
        *_world(settings, wav),
        f"result = {task}({of}, {how})",
        "print(result)",
        "print(result.filter.weights)",
    ]
    if settings.scene == "wav":
        lines.insert(0, "import numpy as np\n")
    return "\n".join(lines) + "\n"


def _scene_name(settings: Settings) -> str:
    return "recorded" if settings.scene == "wav" and settings.use == "pair" else "scene"


def _world(settings: Settings, wav: Wav | None) -> list[str]:
    """The lines that make the signals."""
    said = {"change": settings.change, "level": settings.level, "seed": settings.seed}
    if settings.scene == "system":
        said["colour"] = settings.colour
    told = ", ".join(f"{name}={value!r}" for name, value in said.items())
    if settings.scene != "wav":
        return [f"s = scene({settings.scene!r}, {told})"]
    assert wav is not None
    lines = [
        f"file = blocks({wav.name!r})",
        f"sound = np.concatenate([block.matrix for block in file])[:{MOST_SAMPLES}]",
    ]
    if settings.use == "pair":
        return [*lines, "s = recorded(sound[:, 0], sound[:, 1], file.rate)"]
    kind = "engine" if settings.use == "voice" else "noise"
    return [
        *lines,
        f"s = scene({kind!r}, {told}, rate=file.rate, {settings.use}=sound[:, 0])",
    ]
