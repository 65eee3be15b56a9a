"""The tab of signals: a filter identifies a system, cancels noise, or an echo.

Events: "start" draws; "set" changes settings; "open" restores a link.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline import LMS, NLMS, RLS, DivergenceError, WienerFilter
from adaline.filters import (
    cancel,
    cancel_echo,
    erle,
    identify,
    learning_curve,
    max_step,
    misalignment,
)
from adaline.play.scenes import Array, Scene, scene
from adaline.play.settings import Setting, Value, change_values, choice, defaults, show, slider
from adaline.plot import SpectrogramDisplay

FORGETS_NOTHING = 100_000  # samples of memory that mean all


@dataclass(frozen=True)
class World:
    """A scene: its title, words, the task that solves it, and the settings that suit it."""

    title: str
    about: str
    task: Callable[..., Any]
    suitable: Mapping[str, Value]
    noise: str = "noise"  # what the task removes; "" where it removes nothing


WORLDS = {
    "system": World(
        "Identify a system",
        "Noise goes into an unknown system. The filter gets its input and output, and learns the "
        "response.",
        identify,
        {"taps": 16, "level": -30.0, "share": 0.05, "memory": 1000.0},
        noise="",
    ),
    "tone": World(
        "Voice in a hum",
        "A voice with a hum. The filter gets the hum alone. A hum moves few weights only: many "
        "filters remove it, and the weights need not be the true path.",
        cancel,
        {"taps": 16, "level": 6.0, "share": 0.005, "memory": 4000.0},
    ),
    "engine": World(
        "Voice in an engine",
        "A voice with the noise of an engine. The filter gets a microphone at the engine, and "
        "takes away all that this explains.",
        cancel,
        {"taps": 32, "level": 6.0, "share": 0.02, "memory": 4000.0},
    ),
    "echo": World(
        "Echo of a loudspeaker",
        "A microphone hears the echo of a loudspeaker; somebody nearby talks from 60 to 85% of the "
        "time. The filter gets what was played.",
        cancel_echo,
        {"taps": 128, "level": -6.0, "share": 0.02, "memory": 8000.0},
        noise="echo",
    ),
}
FILTERS = {
    "lms": "LMS",
    "nlms": "NLMS",
    "rls": "RLS",
    "wiener": "Wiener (knows all samples, but cannot change)",
    "auto": "as the task chooses",
}
RATED = {"learner": ("lms", "nlms")}
MEMORY = f"Memory, samples ({FORGETS_NOTHING:,}: all)"
SETTINGS = (
    choice("scene", "World", {name: world.title for name, world in WORLDS.items()}),
    choice("learner", "Filter", FILTERS),
    slider("taps", "Taps", 16, 1, 256, scale="whole"),
    slider("share", "Rate, as a share of the bound", 0.05, 0.0005, 2.0, scale="log", when=RATED),
    slider("memory", MEMORY, 1000, 20, FORGETS_NOTHING, scale="log", when={"learner": ("rls",)}),
    slider("level", "Level of the noise, dB", -30, -60, 30),
    slider("colour", "Colour of the input", 0.0, 0.0, 0.98, when={"scene": ("system",)}),
    Setting("change", "The path changes in the middle", False),
    slider("seed", "Other random numbers", 0, 0, 9999, scale="whole"),
)


@dataclass(frozen=True, eq=False)
class Run:
    """A scene through a filter."""

    settings: Mapping[str, Any]
    scene: Scene
    filter: Any  # as the last sample left it
    e: Array  # ends where the filter diverged
    code: str  # lines that run on their own, and end with the weights
    bound: float | None  # of the rate of LMS and NLMS
    diverged: str = ""  # a sentence where it did

    @property
    def noise(self) -> str:
        """What the task removes; "" where it removes nothing."""
        return WORLDS[self.settings["scene"]].noise


def start() -> Mapping[str, Any]:
    """The state of a page that was just opened: its settings."""
    return defaults(SETTINGS)


def step(
    settings: Mapping[str, Any], event: Mapping[str, Any]
) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The settings after an event, and what to draw."""
    match event.get("event"):
        case "start":
            pass
        case "set":
            settings = _change(settings, event.get("settings"))
        case "open":
            settings = _change(start(), event.get("link"))
        case other:
            raise ValueError(f"the tab of signals knows no event {show(other)}.")
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("ignore")
        return settings, draw(run_filter(settings))


def _change(settings: Mapping[str, Any], given: Any) -> Mapping[str, Any]:
    changed = change_values(SETTINGS, settings, given)
    if changed["scene"] == settings["scene"]:
        return changed
    return {**changed, **WORLDS[str(changed["scene"])].suitable, **given}


def _code_of(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def run_filter(settings: Mapping[str, Any]) -> Run:
    """A scene through a filter, and the code that does it."""
    learner, taps, share = settings["learner"], settings["taps"], settings["share"]
    options = {name: settings[name] for name in ("change", "level", "colour", "seed")}
    s, task = scene(settings["scene"], **options), WORLDS[settings["scene"]].task
    filter: Any = None
    bound, imported, given, arguments = None, "", f"taps={taps}", {"taps": taps}
    if learner in ("lms", "nlms"):
        bound = max_step(s.x, taps).mean_square if learner == "lms" else 2.0
        arguments["eta"] = share * bound
    if learner == "lms":  # the page shows what happens beyond the bound, too
        arguments["allow_unstable"] = True
    if learner == "rls" and settings["memory"] < FORGETS_NOTHING:
        arguments["forgetting"] = 1.0 - 1.0 / settings["memory"]
    if learner == "wiener":
        filter, imported = WienerFilter.from_signals(s.x, s.d, taps), "WienerFilter"
        given = f"filter=WienerFilter.from_signals(s.x, s.d, taps={taps})"
    elif learner != "auto":
        kind = {"lms": LMS, "nlms": NLMS, "rls": RLS}[learner]
        # A history of 60 moments to draw, which changes nothing else.
        filter, imported = kind(**arguments, history=len(s.d) // 60), kind.__name__
        given = f"filter={imported}({_code_of(arguments)})"
    signals, names = ((s.x, s.d), "s.x, s.d") if task is identify else ((s.d, s.x), "s.d, s.x")
    code = f"""\
from adaline.filters import {task.__name__}
from adaline.play import scene

s = scene({settings["scene"]!r}, {_code_of(options)})
result = {task.__name__}({names}, {given})
print(result)
print(result.filter.weights)
"""
    code = f"from adaline import {imported}\n{code}" if imported else code
    try:
        result = task(*signals, taps=None if filter else taps, filter=filter)
    except DivergenceError as error:
        filter.reset()
        e = [s.d[:0]]
        with suppress(DivergenceError):  # up to the block that diverges
            for x, d in zip(np.array_split(s.x, 400), np.array_split(s.d, 400), strict=True):
                e.append(filter.process(x, d)[1])
        return Run(settings, s, filter, np.concatenate(e), code, bound, str(error))
    return Run(settings, s, result.filter, result.e, code, bound)


def draw(run: Run) -> dict[str, Any]:
    """All that the page shows."""
    return {
        "settings": run.settings,
        "link": run.settings,
        "controls": [setting.describe() for setting in SETTINGS],
        "code": run.code,
        "about": WORLDS[run.settings["scene"]].about,
        "verdict": describe(run),
        "diverged": bool(run.diverged),
        "rate": _describe_rate(run),
        "curve": _draw_curve(run),
        "seconds": len(run.scene.d) / run.scene.rate,
        **_draw_weights(run),
        "spectrogram": None if run.diverged else _draw_spectrogram(run),
    }


def describe(run: Run) -> list[str]:
    """What the filter achieved, in sentences."""
    if run.diverged:
        return [run.diverged]
    scene, sentences = run.scene, []
    half = slice(len(scene.d) // 2, None)
    if run.noise:
        decibels = float(erle((scene.d - scene.wanted)[half], (run.e - scene.wanted)[half]))
        change = f"{'rose' if decibels < -0.05 else 'fell'} by {abs(decibels):.1f} dB"
        sentences.append(f"The {run.noise} {change} in the second half.")
    off = misalignment(np.atleast_1d(run.filter.weights), scene.paths[-1])
    share = 100 * 10 ** (off / 20)
    return [*sentences, f"The weights are {share:.3g}% off the true path ({off:.1f} dB)."]


def _describe_rate(run: Run) -> str:
    """The rate beside its bound, and what a rate near the bound or beyond it means."""
    if run.bound is None:
        return ""
    share, is_lms = run.settings["share"], run.settings["learner"] == "lms"
    words = f"η = {share * run.bound:.4g}; the bound {'2/tr[R] ' * is_lms}is {run.bound:.4g}."
    if share >= 1:
        return f"{words} {share:.3g} times the bound: every step overshoots."
    if share > 1 / 3 and is_lms:
        words += " A third of the bound is safe for Gaussian inputs (Feuer and Weinstein, 1985)."
    return words


def _draw_curve(run: Run) -> dict[str, Any]:
    """The learning curve and, as its floor, what the best fixed filter leaves of each path.

    With a voice, both are of what is left of the noise beside it.
    """
    scene, taps = run.scene, run.settings["taps"]
    wanted = scene.wanted if run.noise else 0 * scene.wanted
    # Voices pause: a mean over a quarter of a second does not follow every pause.
    window = scene.rate // 4 if run.noise == "echo" else len(scene.d) // 100
    error, floor = run.e - wanted[: len(run.e)], []
    power = learning_curve(error, window, db=True) if len(error) else error
    at = np.unique(np.linspace(0, len(power) - 1, min(len(power), 400)).astype(int))
    for start, end in zip(scene.starts, [*scene.starts[1:], len(scene.d)], strict=True):
        x, d = scene.x[start:end], scene.d[start:end]
        e = WienerFilter.from_signals(x, d, taps).process(x, d)[1] - wanted[start:end]
        level = _decibels(10 * np.log10(np.mean(e**2)))[0]
        floor.append({"from": start / scene.rate, "to": end / scene.rate, "db": level})
    what = f"what is left of the {run.noise}" if run.noise else "the error"
    return {
        "of": what,
        "at": at / scene.rate,
        "db": _decibels(power[at]),
        "window": window,
        "floor": floor,
    }


def _draw_weights(run: Run) -> dict[str, Any]:
    """The weights at some moments, the true path at each of them, and the distance of both."""
    scene, weights = run.scene, np.atleast_1d(run.filter.weights)
    history, moments = run.filter.history, run.filter.history_at
    if not len(moments):
        history, moments = weights[None], np.array([len(run.e)])
    path = (np.searchsorted(np.array(scene.starts), moments, side="left") - 1).clip(0)
    off, at = None, moments / scene.rate
    if len(at) > 1:
        db = [misalignment(w, scene.paths[k]) for w, k in zip(history, path, strict=True)]
        off = {"at": at, "db": _decibels(np.array(db))}
    taps = max([len(weights), *map(len, scene.paths)])
    drawn = {
        "taps": len(weights),
        "at": at,
        "learned": history.astype("<f4").tobytes(),
        "true": [np.pad(h, (0, taps - len(h))) for h in scene.paths],
        "path": path,
    }
    return {"weights": drawn, "misalignment": off}


def _draw_spectrogram(run: Run) -> dict[str, Any]:
    """Shades 0 to 255 of both pictures, 70 dB on one scale; the lowest frequency first."""
    scene = run.scene
    picture = SpectrogramDisplay.from_signals(scene.d, run.e, rate=scene.rate)
    top = float(np.max(picture.before[np.isfinite(picture.before)], initial=-300.0))
    before, after = (
        np.rint(255 * np.clip((power - top) / 70 + 1.0, 0.0, 1.0)).astype(np.uint8)
        for power in (picture.before, picture.after)
    )
    return {
        "columns": len(picture.times),
        "rows": len(picture.frequencies),
        "before": before.tobytes(),
        "after": after.tobytes(),
        "highest": float(picture.frequencies[-1]),
        "seconds": len(scene.d) / scene.rate,
        "claim": f"{picture.claim}; shades span 70 dB.",
    }


def _decibels(values: Array | float) -> list[float]:
    """Decibels that can be drawn; silence is -120."""
    v = np.atleast_1d(np.nan_to_num(values, nan=-120.0, neginf=-120.0, posinf=300.0))
    return [round(float(x), 3) for x in v.clip(-120.0, 300.0)]
