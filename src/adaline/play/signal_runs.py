"""A filter at work on a scene: its result, what it achieved in sentences, and its code."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import LMS, NLMS, RLS, DivergenceError, WienerFilter
from adaline.filters import cancel, cancel_echo, erle, identify, max_step, misalignment
from adaline.play.scenes import Scene
from adaline.play.signal_settings import LIMITS, MAX_SAMPLES, Settings, Sound

Array = NDArray[np.float64]
RECORDS = 60  # moments at which the weights are recorded
DIVERGENCE_BLOCKS = 400  # in which a filter that diverges is followed
MAX_WORK = {"rls": 1.2e9, "auto": 1.2e9, "wiener": 2e9}  # samples × taps^2: a few seconds
TASKS = {"system": identify, "echo": cancel_echo}  # of other scenes: cancel


@dataclass(frozen=True, eq=False)
class Run:
    """The result of a filter on a scene.

    Attributes
    ----------
    name : the filter as Python code
    e, y : error and output; they end where the filter diverged
    weights : (taps,), at the end
    at, history : moments, and the weights at them (moments, taps)
    eta, bound : the rate and its bound, where the filter has one
    diverged : a sentence, or ""
    notes : warnings of the library
    """

    name: str
    e: Array
    y: Array
    weights: Array
    at: NDArray[np.int64]
    history: Array
    eta: float | None = None
    bound: float | None = None
    diverged: str = ""
    notes: tuple[str, ...] = ()


def run_filter(settings: Settings, scene: Scene) -> Run:
    """The scene through the filter."""
    n, taps, max_work = len(scene.d), settings.taps, MAX_WORK.get(settings.learner, np.inf)
    if n * taps**2 > max_work:
        raise ValueError(
            f"{settings.learner} with {taps} taps on {n:,} samples takes too long; set at most "
            f"{int((max_work / n) ** 0.5)} taps, or choose LMS or NLMS."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filter, diverged = _filter(settings, scene, max(1, n // RECORDS)), ""
        try:
            task: Any = TASKS.get(settings.scene, cancel)
            signals = (scene.x, scene.d) if task is identify else (scene.d, scene.x)
            result = task(*signals, taps=taps if filter is None else None, filter=filter)
            filter, e, y = result.filter, result.e, result.y
        except DivergenceError as error:
            diverged = str(error)
            e, y = _run_until_divergence(filter, scene)
    eta, bound = _rate(settings, scene) if settings.learner in ("lms", "nlms") else (None, None)
    weights = np.atleast_1d(filter.weights)
    recorded = len(filter.history) > 0
    history = filter.history if recorded else weights[None]
    at = filter.history_at if recorded else np.array([len(e)])
    notes = tuple(dict.fromkeys(str(w.message) for w in caught if w.category is not FutureWarning))
    return Run(repr(filter), e, y, weights, at, history, eta, bound, diverged, notes)


def _rate(settings: Settings, scene: Scene) -> tuple[float, float]:
    """The rate of LMS or NLMS, and its bound."""
    bound = 2.0
    if settings.learner == "lms":
        bound = max_step(scene.x, settings.taps).mean_square
        bound = bound if np.isfinite(bound) else 1.0  # silence bounds nothing
    return settings.share * bound, bound


def _forgetting(settings: Settings) -> float:
    return 1.0 if settings.memory >= LIMITS["memory"][1] else 1.0 - 1.0 / settings.memory


def _filter(settings: Settings, scene: Scene, every: int) -> Any:
    """The filter of `_filter_code`, which also records its weights; None if the task chooses."""
    taps = settings.taps
    match settings.learner:
        case "lms":
            return LMS(taps, _rate(settings, scene)[0], history=every, allow_unstable=True)
        case "nlms":
            return NLMS(taps, _rate(settings, scene)[0], history=every)
        case "rls":
            return RLS(taps, _forgetting(settings), history=every)
        case "wiener":
            return WienerFilter.from_signals(scene.x, scene.d, taps)
    return None


def _filter_code(settings: Settings, scene: Scene) -> str:
    taps = settings.taps
    match settings.learner:
        case "lms":  # the page shows what happens beyond the bound, too
            return f"LMS(taps={taps}, eta={_rate(settings, scene)[0]!r}, allow_unstable=True)"
        case "nlms":
            return f"NLMS(taps={taps}, eta={_rate(settings, scene)[0]!r})"
        case "rls":
            return f"RLS(taps={taps}, forgetting={_forgetting(settings)!r})"
        case "wiener":
            return f"WienerFilter.from_signals(s.x, s.d, taps={taps})"
    return ""


def code_of(settings: Settings, scene: Scene, sound: Sound | None) -> str:
    """Lines that run on their own (with the sound file at hand), and end with the weights."""
    filter, task = _filter_code(settings, scene), TASKS.get(settings.scene, cancel).__name__
    signals = "s.x, s.d" if task == "identify" else "s.d, s.x"
    options: dict[str, Any] = {"change": settings.change, "level": settings.level}
    options["seed"] = settings.seed
    if settings.scene == "system":
        options["colour"] = settings.colour
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    maker = "recorded" if settings.scene == "wav" and settings.use == "pair" else "scene"
    head = [
        *([f"from adaline import {filter.partition('(')[0].partition('.')[0]}"] if filter else []),
        *(["from adaline.data import blocks"] if settings.scene == "wav" else []),
        f"from adaline.filters import {task}",
        f"from adaline.play import {maker}",
        "",
    ]
    if settings.scene != "wav":
        lines = [f"s = scene({settings.scene!r}, {arguments})"]
    else:
        assert sound is not None
        head.insert(0, "import numpy as np\n")
        lines = [
            f"file = blocks({sound.name!r})",
            f"sound = np.concatenate([block.matrix for block in file])[:{MAX_SAMPLES}]",
        ]
        if settings.use == "pair":
            lines.append("s = recorded(sound[:, 0], sound[:, 1], file.rate)")
        else:
            kind = "engine" if settings.use == "voice" else "noise"
            arguments += f", rate=file.rate, {settings.use}=sound[:, 0]"
            lines.append(f"s = scene({kind!r}, {arguments})")
    how = f"filter={filter}" if filter else f"taps={settings.taps}"
    tail = [f"result = {task}({signals}, {how})", "print(result)", "print(result.filter.weights)"]
    return "\n".join([*head, *lines, *tail]) + "\n"


def _run_until_divergence(filter: Any, scene: Scene) -> tuple[Array, Array]:
    """Errors and outputs, block by block, up to the block that diverges."""
    filter.reset()
    size = max(1, len(scene.d) // DIVERGENCE_BLOCKS)
    e, y = [scene.d[:0]], [scene.d[:0]]
    for start in range(0, len(scene.d), size):
        block = slice(start, start + size)
        try:
            output, error = filter.process(scene.x[block], scene.d[block])
        except DivergenceError:
            break
        y.append(output)
        e.append(error)
    return np.concatenate(e), np.concatenate(y)


def residual(settings: Settings, scene: Scene, e: Array, start: int = 0) -> Array:
    """The error whose power is drawn: with a voice, what is left of the noise beside it."""
    if settings.scene == "system" or scene.wanted is None:
        return e
    return np.asarray(e - scene.wanted[start : start + len(e)])


def floors(settings: Settings, scene: Scene) -> list[tuple[int, int, float]]:
    """For each path: from, to, and the power that the best fixed filter of that time leaves."""
    result = []
    for start, end in zip(scene.starts, [*scene.starts[1:], len(scene.d)], strict=True):
        x, d = scene.x[start:end], scene.d[start:end]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = WienerFilter.from_signals(x, d, settings.taps)
        e = residual(settings, scene, best.process(x, d)[1], start)
        result.append((start, end, float(np.mean(e**2))))
    return result


def describe(settings: Settings, scene: Scene, run: Run) -> list[str]:
    """What the filter achieved, in sentences."""
    if run.diverged:
        return [run.diverged, *_describe_rate(run)]
    half, sentences = slice(len(scene.d) // 2, None), []
    if settings.scene != "system":
        noise = 0.0 if scene.wanted is None else scene.wanted
        before, after = (scene.d - noise)[half], (run.e - noise)[half]
        what = "echo" if settings.scene == "echo" else "noise"
        what = "power" if scene.wanted is None else what
        decibels = float(erle(before, after))
        if np.isfinite(decibels):
            word = "rose" if decibels < -0.05 else "fell"
            words = f"The {what} {word} by {abs(decibels):.1f} dB in the second half."
        else:
            words = f"There is no {what} in the second half."
        sentences.append(words)
    if scene.paths:
        off = misalignment(run.weights, scene.paths[-1])
        share = 100 * 10 ** (off / 20)
        sentences.append(f"The weights are {share:.3g} % off the true path ({off:.1f} dB).")
    return [*sentences, *_describe_rate(run)]


def _describe_rate(run: Run) -> list[str]:
    """What a rate near its bound or beyond it means."""
    if run.eta is None or run.bound is None:
        return []
    share = run.eta / run.bound
    if share >= 1:
        return [
            f"The rate {run.eta:.4g} is {share:.3g} times the bound {run.bound:.4g}: every "
            "step overshoots."
        ]
    if share > 1 / 3 and run.name.startswith("LMS"):
        return [
            f"The rate is {share:.2g} of the bound. A third of it is safe for Gaussian inputs of "
            "any colour (Feuer and Weinstein, 1985)."
        ]
    return []
