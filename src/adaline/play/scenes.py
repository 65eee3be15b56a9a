"""Signals to learn on, made of a seed: a system, a voice in noise, an echo.

The page plays with these scenes, and the code that it shows makes them again. In every scene a
filter sees the reference x and the desired signal d:

    system    x is noise, d is what a system makes of x, with noise of its own
    tone      d is a voice with a hum, and x the hum before it went through the room
    engine    d is a voice with the noise of an engine, and x a microphone at the engine
    echo      x is what a loudspeaker plays, d the echo at the microphone with a voice
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Array = NDArray[np.float64]

PATH_TAPS = {"system": 16, "tone": 8, "engine": 24, "echo": 96}  # samples of the response
SECONDS = {"system": 1.0, "tone": 4.0, "engine": 4.0, "echo": 4.0}
RATE = 8000  # samples a second


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """What a filter sees, and what it cannot see."""

    x: Array  #: The reference, which the filter gets.
    d: Array  #: The desired signal, which it gets, too.
    wanted: Array  #: The part of d that x cannot explain: a voice, or noise.
    paths: tuple[Array, ...]  #: The true responses from x to d, one after the other in equal times.
    rate: int = RATE  #: Samples a second.

    def __repr__(self) -> str:
        return f"<Scene: {len(self.d)} samples, {self.rate} a second, {len(self.paths)} path(s)>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @property
    def starts(self) -> tuple[int, ...]:
        """The sample at which each path begins."""
        return (0, len(self.d) // 2)[: len(self.paths)]


def scene(
    kind: str, *, change: bool = False, level: float = 0.0, colour: float = 0.0, seed: int = 0
) -> Scene:
    """A "system", "tone", "engine" or "echo", as the module describes them.

    Parameters
    ----------
    kind : {"system", "tone", "engine", "echo"}
    change : bool
        Whether the path from x to d becomes another one in the middle.
    level : float
        Decibels of the noise over the voice; of a system, of its own noise over its output; of an
        echo, of the voice over the echo.
    colour : float
        Of a system: correlation of one sample of x with the next, from 0 (white) to below 1.
    seed : int

    Examples
    --------
    >>> from adaline.filters import identify
    >>> from adaline.play import scene
    >>> s = scene("system", level=-40.0)
    >>> response = identify(s.x, s.d, taps=16).signal
    >>> bool(abs(response - s.paths[0]).max() < 0.01)
    True
    """
    if kind not in SECONDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(SECONDS)}.")
    if not -100 <= level <= 60:
        raise ValueError(f"level is {level!r}; expected decibels from -100 to 60.")
    if not 0 <= colour < 1:
        raise ValueError(f"colour is {colour!r}; expected a number from 0 to below 1.")
    rng, n = np.random.default_rng(seed), int(SECONDS[kind] * RATE)
    paths = tuple(_response(PATH_TAPS[kind], rng) for _ in range(2 if change else 1))
    x = _reference(kind, n, colour, rng)
    arrived, half = [np.convolve(x, h)[:n] for h in paths], n // 2
    filtered = np.concatenate([arrived[0][:half], arrived[-1][half:]])
    if kind == "system":
        noise = rng.standard_normal(n)
        noise *= _gain(noise, filtered, level)
        return Scene(x, filtered + noise, noise, paths)
    voice = _speech(n, rng)
    if kind == "echo":
        k = np.arange(n)  # someone nearby talks in a part of the time
        near = voice * ((k >= 0.6 * n) & (k < 0.85 * n))
        near *= _gain(near, filtered, level)
        return Scene(x, filtered + near, near, paths)
    # The path is louder by the same factor as what goes through it.
    gain = _gain(filtered, voice, level)
    return Scene(x, gain * filtered + voice, voice, tuple(gain * h for h in paths))


def _reference(kind: str, n: int, colour: float, rng: np.random.Generator) -> Array:
    """x of a scene, with power 1."""
    t = np.arange(n) / RATE
    if kind == "echo":
        return _speech(n, rng)
    if kind == "tone":  # of 100 Hz and its octave, as of a transformer
        return _unit(np.sin(2 * np.pi * 100 * t) + 0.6 * np.sin(2 * np.pi * 200 * t + 1.0))
    if kind == "system":  # x[k] = colour x[k-1] + white noise
        white = rng.standard_normal(n) * np.sqrt(1 - colour**2)
        before = colour * rng.standard_normal(1)
        return np.asarray(lfilter([1.0], [1.0, -colour], white, zi=before)[0])
    # An engine: multiples of a rotation whose speed wavers, and the hiss of air.
    turns = np.cumsum(45 + 4 * np.sin(2 * np.pi * 0.4 * t)) / RATE
    beats = [np.sin(2 * np.pi * k * turns + k * k) / k for k in range(1, 12)]
    return _unit(_unit(np.sum(beats, axis=0)) + 0.4 * rng.standard_normal(n))


def _speech(n: int, rng: np.random.Generator) -> Array:
    """Syllables with pauses: multiples of a pitch that glides; power 1."""
    t = np.arange(n) / RATE
    pitch = rng.uniform(110, 170) + 25 * np.sin(2 * np.pi * rng.uniform(0.4, 0.8) * t)
    turns = np.cumsum(pitch) / RATE
    voice = np.sum([np.sin(2 * np.pi * k * turns) / k for k in range(1, 18)], axis=0)
    syllables = np.sin(2 * np.pi * rng.uniform(1.8, 2.6) * t + rng.uniform(0, 6)).clip(0)
    # A quiet room: without it, pauses are exact zeros and some directions of x never occur.
    return _unit(syllables * voice) + 3e-3 * rng.standard_normal(n)


def _response(taps: int, rng: np.random.Generator) -> Array:
    """A response of length 1 that decays."""
    h = rng.standard_normal(taps) * np.exp(-4 * np.arange(taps) / taps)
    return np.asarray(h / np.linalg.norm(h))


def _gain(sound: Array, beside: Array, level: float) -> float:
    """The factor by which a sound gets a power of so many decibels above that of another one."""
    power, wanted = np.mean(sound**2), np.mean(beside**2) * 10 ** (level / 10)
    return float(np.sqrt(wanted / power)) if power and wanted else 1.0


def _unit(sound: Array) -> Array:
    return sound * _gain(sound, np.ones(1), 0.0)
