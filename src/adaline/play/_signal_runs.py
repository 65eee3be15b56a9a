"""A filter at work on a scene: the library's tasks, and what they say of themselves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import LMS, NLMS, RLS, DivergenceError, WienerFilter
from adaline.filters import cancel, cancel_echo, erle, identify, max_step, misalignment
from adaline.play._signal_settings import LIMITS, Settings
from adaline.play.scenes import Scene

Array = NDArray[np.float64]

RECORDS = 60  # moments of which the weights are kept
_PIECES = 400  # in which a filter that diverges is followed
_MOST = {"rls": 1.2e9, "auto": 1.2e9, "wiener": 2e9}  # samples × taps^2: a few seconds of work


@dataclass(frozen=True, eq=False)
class Run:
    """What a filter made of a scene.

    Attributes
    ----------
    name : the filter as Python writes it
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


def written(settings: Settings, scene: Scene) -> str:
    """The filter as Python code; empty where the task chooses."""
    taps = settings.taps
    if settings.learner == "lms":
        # The page shows what happens beyond the bound, too.
        return f"LMS(taps={taps}, eta={rate(settings, scene)[0]!r}, allow_unstable=True)"
    if settings.learner == "nlms":
        return f"NLMS(taps={taps}, eta={rate(settings, scene)[0]!r})"
    if settings.learner == "rls":
        return f"RLS(taps={taps}, forgetting={_forgetting(settings)!r})"
    if settings.learner == "wiener":
        return f"WienerFilter.from_signals(s.x, s.d, taps={taps})"
    return ""


def rate(settings: Settings, scene: Scene) -> tuple[float, float]:
    """The rate of LMS or NLMS, and its bound."""
    bound = 2.0
    if settings.learner == "lms":
        bound = max_step(scene.x, settings.taps).mean_square
        bound = bound if np.isfinite(bound) else 1.0  # silence bounds nothing
    return settings.share * bound, bound


def _forgetting(settings: Settings) -> float:
    return 1.0 if settings.memory >= LIMITS["memory"][1] else 1.0 - 1.0 / settings.memory


def _filter(settings: Settings, scene: Scene, every: int) -> Any:
    """The filter of `written`, which also records its weights."""
    taps = settings.taps
    if settings.learner == "lms":
        return LMS(taps, rate(settings, scene)[0], history=every, allow_unstable=True)
    if settings.learner == "nlms":
        return NLMS(taps, rate(settings, scene)[0], history=every)
    if settings.learner == "rls":
        return RLS(taps, _forgetting(settings), history=every)
    if settings.learner == "wiener":
        return WienerFilter.from_signals(scene.x, scene.d, taps)
    return None


def task_of(settings: Settings) -> str:
    """The task of the library that fits a scene."""
    return {"system": "identify", "echo": "cancel_echo"}.get(settings.scene, "cancel")


def run(settings: Settings, scene: Scene) -> Run:
    """The scene through the filter."""
    _affordable(settings, scene)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filter = _filter(settings, scene, max(1, len(scene.d) // RECORDS))
        diverged = ""
        try:
            result = _task(settings, scene, filter)
            filter, e, y = result.filter, result.e, result.y
        except DivergenceError as error:
            diverged = str(error)
            e, y = _until_it_diverges(filter, scene)
    eta, bound = rate(settings, scene) if settings.learner in ("lms", "nlms") else (None, None)
    weights = np.atleast_1d(filter.weights)
    history = filter.history if len(filter.history) else weights[None]
    at = filter.history_at if len(filter.history_at) else np.array([len(e)])
    notes = tuple(dict.fromkeys(str(w.message) for w in caught if w.category is not FutureWarning))
    return Run(repr(filter), e, y, weights, at, history, eta, bound, diverged, notes)


def _affordable(settings: Settings, scene: Scene) -> None:
    work, most = len(scene.d) * settings.taps**2, _MOST.get(settings.learner, np.inf)
    if work > most:
        raise ValueError(
            f"{settings.learner} with {settings.taps} taps on {len(scene.d):,} samples is work for "
            f"a long while; take at most {int((most / len(scene.d)) ** 0.5)} taps, or LMS or NLMS."
        )


def _task(settings: Settings, scene: Scene, filter: Any) -> Any:
    taps = settings.taps if filter is None else None
    if task_of(settings) == "identify":
        return identify(scene.x, scene.d, taps=taps, filter=filter)
    if task_of(settings) == "cancel_echo":
        return cancel_echo(scene.d, scene.x, taps=taps, filter=filter)
    return cancel(scene.d, scene.x, taps=taps, filter=filter)


def _until_it_diverges(filter: Any, scene: Scene) -> tuple[Array, Array]:
    """Errors and outputs, piece by piece, up to the piece that is refused."""
    filter.reset()
    size = max(1, len(scene.d) // _PIECES)
    e: list[Array] = []
    y: list[Array] = []
    for start in range(0, len(scene.d), size):
        piece = slice(start, start + size)
        try:
            answered, left = filter.process(scene.x[piece], scene.d[piece])
        except DivergenceError:
            break
        y.append(answered)
        e.append(left)
    return (np.concatenate(e), np.concatenate(y)) if e else (scene.d[:0], scene.d[:0])


def floors(settings: Settings, scene: Scene) -> list[tuple[int, int, float]]:
    """For each path: from, to, and the power that the best fixed filter of that time leaves."""
    ends = [*scene.starts[1:], len(scene.d)]
    found = []
    for start, end in zip(scene.starts, ends, strict=True):
        x, d = scene.x[start:end], scene.d[start:end]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = WienerFilter.from_signals(x, d, settings.taps)
        left = best.process(x, d)[1]
        found.append((start, end, float(np.mean(of_interest(settings, scene, left, start) ** 2))))
    return found


def of_interest(settings: Settings, scene: Scene, e: Array, start: int = 0) -> Array:
    """The error whose power is drawn: of a voice, what is left of the noise beside it."""
    if settings.scene == "system" or scene.wanted is None:
        return e
    return np.asarray(e - scene.wanted[start : start + len(e)])


def verdict(settings: Settings, scene: Scene, found: Run) -> list[str]:
    """What the filter achieved, in sentences."""
    if found.diverged:
        return [found.diverged, *_too_fast(found)]
    half = slice(len(scene.d) // 2, None)
    said = []
    if scene.wanted is not None and settings.scene != "system":
        before, after = scene.d - scene.wanted, found.e - scene.wanted
        what = "echo" if settings.scene == "echo" else "noise"
        said.append(_gain(what, float(erle(before[half], after[half]))))
    elif settings.scene != "system":
        said.append(_gain("power", float(erle(scene.d[half], found.e[half]))))
    if scene.paths:
        off = misalignment(found.weights, scene.paths[-1])
        share = 100 * 10 ** (off / 20)
        said.append(f"The weights miss the path by {share:.3g} % of its length ({off:.1f} dB).")
    return [*said, *_too_fast(found)]


def _gain(what: str, decibels: float) -> str:
    if not np.isfinite(decibels):
        return f"There is no {what} in the second half."
    word = "rose" if decibels < -0.05 else "fell"
    return f"The {what} {word} by {abs(decibels):.1f} dB in the second half."


def _too_fast(found: Run) -> list[str]:
    """What a rate near its bound or beyond it means."""
    if found.eta is None or found.bound is None:
        return []
    share = found.eta / found.bound
    if share >= 1:
        return [
            f"The rate {found.eta:.4g} is {share:.3g} times the bound {found.bound:.4g}: every "
            "step overshoots."
        ]
    if share > 1 / 3 and found.name.startswith("LMS"):
        return [
            f"The rate is {share:.2g} of the bound. A third of it is safe for Gaussian inputs of "
            "any colour (Feuer and Weinstein, 1985)."
        ]
    return []
