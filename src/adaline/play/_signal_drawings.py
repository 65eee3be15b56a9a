"""What the page draws of a filter at work: plain numbers, and bytes where they are many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.filters import learning_curve, misalignment
from adaline.play._signal_runs import Run, floors, of_interest, verdict
from adaline.play._signal_settings import LIMITS, Settings
from adaline.play.scenes import Scene
from adaline.plot import SpectrogramDisplay

Array = NDArray[np.float64]

_POINTS = 400  # of a curve
_LOWEST = -120.0  # decibels; silence is drawn here
_SHADES = 70.0  # decibels from the loudest shade of a spectrogram to the darkest
_BANDS = 128  # rows of a spectrogram


def drawing(settings: Settings, scene: Scene, found: Run) -> dict[str, Any]:
    """All that is drawn of a run."""
    return {
        "settings": settings.plain(),
        "limits": LIMITS,
        "verdict": verdict(settings, scene, found),
        "diverged": bool(found.diverged),
        "notes": list(found.notes),
        "filter": found.name,
        "eta": found.eta,
        "bound": found.bound,
        "samples": len(scene.d),
        "rate": scene.rate,
        "curve": _curve(settings, scene, found),
        "weights": _weights(scene, found),
        "misalignment": _misalignment(scene, found),
        "spectrogram": None if found.diverged else _spectrogram(scene, found),
    }


def _curve(settings: Settings, scene: Scene, found: Run) -> dict[str, Any]:
    """The learning curve and, as its floor, what the best fixed filter leaves."""
    error = of_interest(settings, scene, found.e)
    # Voices pause: a mean over a quarter of a second does not follow every pause.
    window = max(1, scene.rate // 4 if settings.scene == "echo" else len(scene.d) // 100)
    power = learning_curve(error, window, db=True) if len(error) else np.empty(0)
    at = np.unique(np.linspace(0, max(len(power) - 1, 0), _POINTS).astype(np.int64))
    return {
        "of": _of(settings, scene),
        "at": (at[: len(power)] / scene.rate).tolist(),
        "db": _decibels(power[at] if len(power) else power),
        "window": window,
        "floor": [
            {"from": start / scene.rate, "to": end / scene.rate, "db": _decibels(_log(value))[0]}
            for start, end, value in floors(settings, scene)
        ],
        "seconds": len(scene.d) / scene.rate,
    }


def _of(settings: Settings, scene: Scene) -> str:
    """What `of_interest` is, in words."""
    if settings.scene == "system" or scene.wanted is None:
        return "the error"
    return f"what is left of the {'echo' if settings.scene == 'echo' else 'noise'}"


def _weights(scene: Scene, found: Run) -> dict[str, Any]:
    """The weights at some moments, and the true path at each of them."""
    taps = max([len(found.weights), *(len(h) for h in scene.paths)])
    starts = np.array(scene.starts)
    return {
        "taps": len(found.weights),
        "at": (found.at / scene.rate).tolist(),
        "learned": found.history.astype("<f4").tobytes(),
        "true": [np.pad(h, (0, taps - len(h))).tolist() for h in scene.paths],
        "path": (np.searchsorted(starts, found.at, side="left") - 1).clip(0).tolist(),
    }


def _misalignment(scene: Scene, found: Run) -> dict[str, Any] | None:
    """The distance of the weights from the true path over time, in decibels."""
    if not scene.paths or len(found.at) < 2:
        return None
    starts = np.array(scene.starts)
    which = (np.searchsorted(starts, found.at, side="left") - 1).clip(0)
    off = [misalignment(w, scene.paths[k]) for w, k in zip(found.history, which, strict=True)]
    return {"at": (found.at / scene.rate).tolist(), "db": _decibels(np.array(off))}


def _spectrogram(scene: Scene, found: Run) -> dict[str, Any]:
    """Shades 0 to 255 of both pictures, on one scale; the lowest frequency is the first row."""
    shown = SpectrogramDisplay.from_signals(scene.d, found.e, rate=scene.rate, segment=2 * _BANDS)
    finite = shown.before[np.isfinite(shown.before)]
    top = float(finite.max()) if finite.size else 0.0
    return {
        "columns": len(shown.times),
        "rows": len(shown.frequencies),
        "before": _shades(shown.before, top),
        "after": _shades(shown.after, top),
        "highest": float(shown.frequencies[-1]),
        "seconds": len(scene.d) / scene.rate,
        "claim": shown.claim,
        "range": _SHADES,
    }


def _shades(decibels: Array, top: float) -> bytes:
    scaled = (np.maximum(decibels, top - _SHADES) - (top - _SHADES)) / _SHADES
    return np.rint(255 * np.clip(scaled, 0.0, 1.0)).astype(np.uint8).tobytes()


def _log(power: float) -> Array:
    with np.errstate(divide="ignore"):
        return np.atleast_1d(10 * np.log10(power))


def _decibels(values: Array) -> list[float]:
    """Decibels that can be drawn."""
    told = np.where(np.isnan(values), _LOWEST, np.clip(values, _LOWEST, 300.0))
    return [round(float(v), 3) for v in told]
