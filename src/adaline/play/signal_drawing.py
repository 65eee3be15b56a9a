"""What the page draws of a filter at work: plain numbers, and bytes where they are many."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from adaline.filters import learning_curve, misalignment
from adaline.play.scenes import Scene
from adaline.play.signal_runs import Array, Run, describe, floors, residual
from adaline.play.signal_settings import LIMITS, Settings
from adaline.plot import SpectrogramDisplay

MAX_CURVE_POINTS = 400  # of a curve that is sent
MIN_DECIBELS = -120.0  # silence is drawn here
SHADE_RANGE = 70.0  # decibels from the loudest shade of a spectrogram to the darkest
SEGMENT = 256  # samples of a segment of a spectrogram


def draw(settings: Settings, scene: Scene, run: Run) -> dict[str, Any]:
    """All that is drawn of a run."""
    return {
        "settings": asdict(settings),
        "limits": LIMITS,
        "verdict": describe(settings, scene, run),
        "diverged": bool(run.diverged),
        "notes": list(run.notes),
        "filter": run.name,
        "eta": run.eta,
        "bound": run.bound,
        "samples": len(scene.d),
        "rate": scene.rate,
        "curve": _draw_curve(settings, scene, run),
        "weights": _draw_weights(scene, run),
        "misalignment": _draw_misalignment(scene, run),
        "spectrogram": None if run.diverged else _draw_spectrogram(scene, run),
    }


def _draw_curve(settings: Settings, scene: Scene, run: Run) -> dict[str, Any]:
    """The learning curve and, as its floor, what the best fixed filter leaves."""
    error, what = residual(settings, scene, run.e), "the error"
    if settings.scene != "system" and scene.wanted is not None:
        what = f"what is left of the {'echo' if settings.scene == 'echo' else 'noise'}"
    # Voices pause: a mean over a quarter of a second does not follow every pause.
    window = max(1, scene.rate // 4 if settings.scene == "echo" else len(scene.d) // 100)
    power = learning_curve(error, window, db=True) if len(error) else np.empty(0)
    at = np.unique(np.linspace(0, len(power) - 1, min(len(power), MAX_CURVE_POINTS)).astype(int))
    with np.errstate(divide="ignore"):
        levels = [(start, end, 10 * np.log10(p)) for start, end, p in floors(settings, scene)]
    return {
        "of": what,
        "at": (at / scene.rate).tolist(),
        "db": _decibels(power[at]),
        "window": window,
        "floor": [
            {"from": start / scene.rate, "to": end / scene.rate, "db": _decibels(level)[0]}
            for start, end, level in levels
        ],
        "seconds": len(scene.d) / scene.rate,
    }


def _path_at(scene: Scene, run: Run) -> Any:
    """The number of the true path at each record of the weights."""
    return (np.searchsorted(np.array(scene.starts), run.at, side="left") - 1).clip(0)


def _draw_weights(scene: Scene, run: Run) -> dict[str, Any]:
    """The weights at some moments, and the true path at each of them."""
    taps = max([len(run.weights), *(len(h) for h in scene.paths)])
    return {
        "taps": len(run.weights),
        "at": (run.at / scene.rate).tolist(),
        "learned": run.history.astype("<f4").tobytes(),
        "true": [np.pad(h, (0, taps - len(h))).tolist() for h in scene.paths],
        "path": _path_at(scene, run).tolist(),
    }


def _draw_misalignment(scene: Scene, run: Run) -> dict[str, Any] | None:
    """The distance of the weights from the true path over time, in decibels."""
    if not scene.paths or len(run.at) < 2:
        return None
    paths = [scene.paths[k] for k in _path_at(scene, run)]
    off = [misalignment(w, path) for w, path in zip(run.history, paths, strict=True)]
    return {"at": (run.at / scene.rate).tolist(), "db": _decibels(np.array(off))}


def _draw_spectrogram(scene: Scene, run: Run) -> dict[str, Any]:
    """Shades 0 to 255 of both pictures, on one scale; the lowest frequency is the first row."""
    picture = SpectrogramDisplay.from_signals(scene.d, run.e, rate=scene.rate, segment=SEGMENT)
    finite = picture.before[np.isfinite(picture.before)]
    top = float(finite.max()) if finite.size else 0.0
    before, after = (
        np.rint(255 * np.clip((power - top) / SHADE_RANGE + 1.0, 0.0, 1.0))
        for power in (picture.before, picture.after)
    )
    return {
        "columns": len(picture.times),
        "rows": len(picture.frequencies),
        "before": before.astype(np.uint8).tobytes(),
        "after": after.astype(np.uint8).tobytes(),
        "highest": float(picture.frequencies[-1]),
        "seconds": len(scene.d) / scene.rate,
        "claim": picture.claim,
        "range": SHADE_RANGE,
    }


def _decibels(values: Array | float) -> list[float]:
    """Decibels that can be drawn."""
    v = np.atleast_1d(np.nan_to_num(values, nan=MIN_DECIBELS, neginf=MIN_DECIBELS, posinf=300.0))
    return [round(float(x), 3) for x in v.clip(MIN_DECIBELS, 300.0)]
