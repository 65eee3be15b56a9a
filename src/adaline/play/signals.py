"""The tab of signals: a filter identifies a system, cancels noise, or an echo.

Events: "start" draws; "set" changes settings; "open" restores a link.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from adaline.play.learners import Call, format_arguments
from adaline.play.scenes import Array, Scene, scene
from adaline.play.settings import Setting, Value, change_values, choice, defaults, show, slider
from adaline.plot import SpectrogramDisplay

FORGETS_NOTHING = 100_000  # samples of memory that mean all


class World(NamedTuple):
    """A scene: its title, words, the task that solves it, and the settings that suit it."""

    title: str
    about: str
    task: Any
    taps: int
    level: float
    share: float
    memory: float


WORLDS: dict[Value, World] = {
    "system": World(
        "Identify a system",
        "Noise goes into an unknown system. The filter gets its input and output, and learns the "
        "response.",
        *(identify, 16, -30.0, 0.05, 1000.0),
    ),
    "tone": World(
        "Voice in a hum",
        "A voice with a hum. The filter gets the hum alone. A hum moves few weights only: many "
        "filters remove it, and the weights need not be the true path.",
        *(cancel, 16, 6.0, 0.005, 4000.0),
    ),
    "engine": World(
        "Voice in an engine",
        "A voice with the noise of an engine. The filter gets a microphone at the engine, and "
        "takes away all that this explains.",
        *(cancel, 32, 6.0, 0.02, 4000.0),
    ),
    "echo": World(
        "Echo of a loudspeaker",
        "A microphone hears the echo of a loudspeaker; somebody nearby talks from 60 to 85% of the "
        "time. The filter gets what was played.",
        *(cancel_echo, 128, -6.0, 0.02, 8000.0),
    ),
}
BEST = "Wiener (knows all samples, but cannot change)"
FILTERS = {"lms": "LMS", "nlms": "NLMS", "rls": "RLS", "wiener": BEST}
RATED = {"learner": ("lms", "nlms")}
MEMORY = f"Memory, samples ({FORGETS_NOTHING:,}: all)"
SETTINGS = (
    choice("scene", "World", {str(name): world.title for name, world in WORLDS.items()}),
    choice("learner", "Filter", FILTERS | {"auto": "as the task chooses"}),
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
    """The result of a filter on a scene."""

    filter: Any  # as the last sample left it
    e: Array  # ends where the filter diverged
    eta: float | None = None  # the rate of LMS and NLMS, and its bound
    bound: float | None = None
    diverged: str = ""  # a sentence where it did


@dataclass(frozen=True, eq=False)
class State:
    """Settings, and the signals and result of the filter."""

    settings: Mapping[str, Any]
    scene: Scene | None = None
    run: Run | None = None


def start() -> State:
    """The state of a page that was just opened."""
    return State(defaults(SETTINGS))


def step(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The state after an event, and what to draw."""
    match event.get("event"):
        case "start":
            settings = state.settings
        case "set":
            settings = _change(state.settings, event.get("settings"))
        case "open":
            settings = _change(start().settings, event.get("link"))
        case other:
            raise ValueError(f"the tab of signals knows no event {show(other)}.")
    signals = scene(str(settings["scene"]), **_scene_options(settings))
    run = run_filter(settings, signals)
    drawing = draw(settings, signals, run) | {"settings": settings, "link": settings}
    drawing["controls"] = [setting.describe() for setting in SETTINGS]
    return State(settings, signals, run), drawing | {"code": code_of(settings, signals)}


def _change(settings: Mapping[str, Any], given: Any) -> Mapping[str, Any]:
    changed = change_values(SETTINGS, settings, given)
    if changed["scene"] == settings["scene"]:
        return changed
    suitable = WORLDS[changed["scene"]]._asdict()
    return changed | {k: v for k, v in suitable.items() if k in changed and k not in given}


def _scene_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    names = ["change", "level", "seed", *["colour"] * (settings["scene"] == "system")]
    return {name: settings[name] for name in names}


def run_filter(settings: Mapping[str, Any], signals: Scene) -> Run:
    """The scene through the filter."""
    taps, call, filter = settings["taps"], _filter_call(settings, signals), None
    task, x, d = WORLDS[settings["scene"]].task, signals.x, signals.d
    eta = bound = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if call is not None:
            filter = call.estimator(history=max(1, len(d) // 60))  # moments that are drawn
            eta = call.arguments.get("eta")
            bound = None if eta is None else eta / settings["share"]
        elif settings["learner"] == "wiener":
            filter = WienerFilter.from_signals(x, d, taps)
        first, second = (x, d) if task is identify else (d, x)
        try:
            result = task(first, second, taps=taps if filter is None else None, filter=filter)
        except DivergenceError as error:
            return Run(filter, _run_until_divergence(filter, signals), eta, bound, str(error))
    return Run(result.filter, result.e, eta, bound)


def _filter_call(settings: Mapping[str, Any], signals: Scene) -> Call | None:
    """The filter; None where the task or all samples make it."""
    taps, share = settings["taps"], settings["share"]
    match settings["learner"]:
        case "lms":  # the page shows what happens beyond the bound, too
            bound = max_step(signals.x, taps).mean_square
            eta = share * bound if np.isfinite(bound) else share  # silence bounds nothing
            return Call(LMS, {"taps": taps, "eta": eta, "allow_unstable": True})
        case "nlms":
            return Call(NLMS, {"taps": taps, "eta": 2.0 * share})
        case "rls":
            memory = settings["memory"]
            forgetting = 1.0 if memory >= FORGETS_NOTHING else 1.0 - 1.0 / memory
            return Call(RLS, {"taps": taps, "forgetting": forgetting})
    return None


def _run_until_divergence(filter: Any, signals: Scene) -> Array:
    """Errors, block by block, up to the block that diverges."""
    filter.reset()
    e, size = [signals.d[:0]], max(1, len(signals.d) // 400)
    with suppress(DivergenceError):
        for k in range(0, len(signals.d), size):
            e.append(filter.process(signals.x[k : k + size], signals.d[k : k + size])[1])
    return np.concatenate(e)


def code_of(settings: Mapping[str, Any], signals: Scene) -> str:
    """Lines that run on their own, and end with the weights."""
    task, kind = WORLDS[settings["scene"]].task.__name__, settings["scene"]
    call = _filter_call(settings, signals)
    names = [call.learner.__name__] if call else []
    given = f"filter={call.text()}" if call else f"taps={settings['taps']}"
    if settings["learner"] == "wiener":
        names, given = ["WienerFilter"], f"filter=WienerFilter.from_signals(s.x, s.d, {given})"
    lines = [
        *[f"from adaline import {name}" for name in names],
        f"from adaline.filters import {task}",
        "from adaline.play import scene",
        "",
        f"s = scene({kind!r}, {format_arguments(_scene_options(settings))})",
        f"result = {task}({'s.x, s.d' if task == 'identify' else 's.d, s.x'}, {given})",
        "print(result)",
        "print(result.filter.weights)",
    ]
    return "\n".join(lines) + "\n"


def draw(settings: Mapping[str, Any], scene: Scene, run: Run) -> dict[str, Any]:
    """All that is drawn of a run."""
    return {
        "about": WORLDS[settings["scene"]].about,
        "verdict": describe(settings, scene, run),
        "diverged": bool(run.diverged),
        "rate": _describe_rate(run),
        "curve": _draw_curve(settings, scene, run),
        "seconds": len(scene.d) / scene.rate,
        **_draw_weights(scene, run),
        "spectrogram": None if run.diverged else _draw_spectrogram(scene, run),
    }


def describe(settings: Mapping[str, Any], scene: Scene, run: Run) -> list[str]:
    """What the filter achieved, in sentences."""
    if run.diverged:
        return [run.diverged]
    half, sentences = slice(len(scene.d) // 2, None), []
    if settings["scene"] != "system":
        before, after = (signal - scene.wanted for signal in (scene.d, run.e))
        decibels = float(erle(before[half], after[half]))
        verb = "rose" if decibels < -0.05 else "fell"
        sentences.append(
            f"The {_noise(settings)} {verb} by {abs(decibels):.1f} dB in the second half."
        )
    off = misalignment(np.atleast_1d(run.filter.weights), scene.paths[-1])
    share = 100 * 10 ** (off / 20)
    return [*sentences, f"The weights are {share:.3g}% off the true path ({off:.1f} dB)."]


def _noise(settings: Mapping[str, Any]) -> str:
    return "echo" if settings["scene"] == "echo" else "noise"


def _describe_rate(run: Run) -> str:
    """The rate beside its bound, and what a rate near the bound or beyond it means."""
    if run.eta is None or run.bound is None:
        return ""
    share, is_lms = run.eta / run.bound, type(run.filter).__name__ == "LMS"
    words = f"η = {run.eta:.4g}; the bound {'2/tr[R] ' * is_lms}is {run.bound:.4g}."
    if share >= 1:
        return f"{words} {share:.3g} times the bound: every step overshoots."
    if share > 1 / 3 and is_lms:
        words += " A third of the bound is safe for Gaussian inputs (Feuer and Weinstein, 1985)."
    return words


def _draw_curve(settings: Mapping[str, Any], scene: Scene, run: Run) -> dict[str, Any]:
    """The learning curve and, as its floor, what the best fixed filter leaves of each path.

    With a voice, both are of what is left of the noise beside it.
    """
    is_system = settings["scene"] == "system"
    wanted = 0 * scene.wanted if is_system else scene.wanted
    error = run.e - wanted[: len(run.e)]
    # Voices pause: a mean over a quarter of a second does not follow every pause.
    window = max(1, scene.rate // 4 if settings["scene"] == "echo" else len(scene.d) // 100)
    power = learning_curve(error, window, db=True) if len(error) else np.empty(0)
    at = np.unique(np.linspace(0, len(power) - 1, min(len(power), 400)).astype(int))
    floor = []
    for start, end in zip(scene.starts, [*scene.starts[1:], len(scene.d)], strict=True):
        x, d = scene.x[start:end], scene.d[start:end]
        with warnings.catch_warnings(), np.errstate(divide="ignore"):
            warnings.simplefilter("ignore")
            best = WienerFilter.from_signals(x, d, settings["taps"])
            e = best.process(x, d)[1] - wanted[start:end]
            level = _decibels(10 * np.log10(np.mean(e**2)))[0]
        floor.append({"from": start / scene.rate, "to": end / scene.rate, "db": level})
    what = "the error" if is_system else f"what is left of the {_noise(settings)}"
    times = (at / scene.rate).tolist()
    return {"of": what, "at": times, "db": _decibels(power[at]), "window": window, "floor": floor}


def _draw_weights(scene: Scene, run: Run) -> dict[str, Any]:
    """The weights at some moments, the true path at each of them, and the distance of both."""
    weights = np.atleast_1d(run.filter.weights)
    history, moments = run.filter.history, run.filter.history_at
    if not len(moments):
        history, moments = weights[None], np.array([len(run.e)])
    path = (np.searchsorted(np.array(scene.starts), moments, side="left") - 1).clip(0).tolist()
    taps, at = max([len(weights), *map(len, scene.paths)]), (moments / scene.rate).tolist()
    off = None
    if len(at) > 1:
        pairs = zip(history, path, strict=True)
        db = _decibels(np.array([misalignment(w, scene.paths[k]) for w, k in pairs]))
        off = {"at": at, "db": db}
    drawn = {
        "taps": len(weights),
        "at": at,
        "learned": history.astype("<f4").tobytes(),
        "true": [np.pad(h, (0, taps - len(h))).tolist() for h in scene.paths],
        "path": path,
    }
    return {"weights": drawn, "misalignment": off}


def _draw_spectrogram(scene: Scene, run: Run) -> dict[str, Any]:
    """Shades 0 to 255 of both pictures, 70 dB on one scale; the lowest frequency first."""
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
