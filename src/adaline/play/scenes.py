"""Signals to learn on, made of a seed: a system, a voice in noise, an echo.

The page plays with these scenes, and the code that it shows makes them again. In every scene a
filter sees the reference x and the desired signal d:

    system    x is noise, d is what a system makes of x, with noise of its own
    tone      d is a voice with a hum, and x the hum before it went through the room
    engine    d is a voice with the noise of an engine, and x a microphone at the engine
    noise     d is a voice with a noise of yours, and x this noise
    echo      x is what a loudspeaker plays, d the echo at the microphone with a voice
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KINDS = ("system", "tone", "engine", "noise", "echo")
RATE = 8000
PATH = {"system": 16, "tone": 8, "engine": 24, "noise": 24, "echo": 96}  # samples of the response
_SECONDS = {"system": 1.0}  # of other scenes: 4


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """What a filter sees, and what it cannot see.

    Attributes
    ----------
    x, d : ndarray of shape (n,)
        The reference, and the desired signal: what the filter gets.
    wanted : ndarray of shape (n,), or None
        The part of d that x cannot explain: a voice, or noise. None where nobody knows it.
    paths : tuple of ndarray
        The true responses from x to d, one after the other in equal times; empty where nobody knows
        them.
    rate : int
        Samples a second.
    """

    x: Array
    d: Array
    wanted: Array | None
    paths: tuple[Array, ...]
    rate: int

    def __repr__(self) -> str:
        return f"<Scene: {len(self.d)} samples, {self.rate} a second, {len(self.paths)} path(s)>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @property
    def starts(self) -> tuple[int, ...]:
        """The sample at which each path begins."""
        return (0, len(self.d) // 2)[: max(1, len(self.paths))]


def scene(
    kind: str,
    *,
    change: bool = False,
    level: float = 0.0,
    colour: float = 0.0,
    seed: int = 0,
    rate: int = RATE,
    voice: Any = None,
    noise: Any = None,
) -> Scene:
    """A scene by its name; the module says which there are.

    Parameters
    ----------
    kind : {"system", "tone", "engine", "noise", "echo"}
    change : bool
        Whether the path from x to d becomes another one in the middle.
    level : float
        Decibels of the noise over the voice; of a system, of its own noise over its output; of an
        echo, of the voice over the echo.
    colour : float
        Of a system: correlation of one sample of x with the next, from 0 (white) to below 1.
    seed : int
    rate : int
        Samples a second.
    voice, noise : array-like of shape (n,), optional
        Sounds of yours for the voice, and for the noise of the scene "noise".

    Returns
    -------
    Scene

    Examples
    --------
    >>> from adaline.filters import identify
    >>> from adaline.play import scene
    >>> s = scene("system", level=-40.0)
    >>> found = identify(s.x, s.d, taps=16)
    >>> bool(abs(found.signal - s.paths[0]).max() < 0.01)
    True
    """
    _check(kind, level, colour, noise)
    rng = np.random.default_rng(seed)
    own = [_line(sound) for sound in (voice, noise) if sound is not None]
    n = min((len(sound) for sound in own), default=round(_SECONDS.get(kind, 4.0) * rate))
    paths = tuple(_response(PATH[kind], rng) for _ in range(2 if change else 1))
    x = _reference(kind, n, rate, colour, rng) if noise is None else own[-1][:n]
    reached = _through(x, paths)
    if kind == "system":
        rest = _at_level(rng.standard_normal(n), reached, level)
        return Scene(x, reached + rest, rest, paths, rate)
    said = _speech(n, rate, rng) if voice is None else own[0][:n]
    if kind == "echo":
        near = _at_level(said * _turn(n), reached, level)
        return Scene(x, reached + near, near, paths, rate)
    # The path is louder by the same factor as what goes through it.
    factor = _factor(reached, said, level)
    paths = tuple(factor * h for h in paths)
    return Scene(x, factor * reached + said, said, paths, rate)


def recorded(recording: Any, reference: Any, rate: int) -> Scene:
    """Two channels of a recording as they are: nobody knows the voice or the path."""
    d, x = (np.asarray(sound, dtype=np.float64) for sound in (recording, reference))
    return Scene(x, d, None, (), rate)


def _check(kind: str, level: float, colour: float, noise: Any) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}.")
    if not -100 <= level <= 60:
        raise ValueError(f"level is {level!r}; expected decibels from -100 to 60.")
    if not 0 <= colour < 1:
        raise ValueError(f"colour is {colour!r}; expected a number from 0 to below 1.")
    if (noise is not None) != (kind == "noise"):
        raise ValueError(
            "the scene 'noise' needs the sound of a noise, and others take none; give noise= to it."
        )


def _reference(kind: str, n: int, rate: int, colour: float, rng: np.random.Generator) -> Array:
    """x of a scene, with power 1."""
    if kind == "system":
        return _coloured(n, colour, rng)
    if kind == "tone":
        return _hum(n, rate)
    if kind == "echo":
        return _speech(n, rate, rng)
    return _engine(n, rate, rng)


def _coloured(n: int, colour: float, rng: np.random.Generator) -> Array:
    """x[k] = colour x[k-1] + white noise, with power 1."""
    white = rng.standard_normal(n) * np.sqrt(1 - colour**2)
    x = np.empty(n)
    last = float(rng.standard_normal())
    for k, value in enumerate(white.tolist()):
        last = colour * last + value
        x[k] = last
    return x


def _hum(n: int, rate: int) -> Array:
    """A hum of 100 Hz and its octave, as of a transformer."""
    t = np.arange(n) / rate
    return _unit(np.sin(2 * np.pi * 100 * t) + 0.6 * np.sin(2 * np.pi * 200 * t + 1.0))


def _engine(n: int, rate: int, rng: np.random.Generator) -> Array:
    """Multiples of a rotation whose speed wavers, and the hiss of air."""
    t = np.arange(n) / rate
    turns = np.cumsum(45 + 4 * np.sin(2 * np.pi * 0.4 * t)) / rate
    beats = sum(np.sin(2 * np.pi * k * turns + k * k) / k for k in range(1, 12))
    return _unit(_unit(np.asarray(beats)) + 0.4 * rng.standard_normal(n))


def _speech(n: int, rate: int, rng: np.random.Generator) -> Array:
    """Vowels with pauses: multiples of a pitch, louder near two formants; power 1."""
    out = np.zeros(n)
    at = 0
    while at < n:
        length = max(2, int(rng.uniform(0.12, 0.35) * rate))
        sound = _vowel(length, rate, rng) * np.hanning(length)
        out[at : at + length] = sound[: n - at]
        at += length + (int(rng.uniform(0.1, 0.4) * rate) if rng.random() < 0.25 else 0)
    # A quiet room: without it, pauses are exact zeros and some directions of x never occur.
    return _unit(out) + 3e-3 * rng.standard_normal(n)


def _vowel(length: int, rate: int, rng: np.random.Generator) -> Array:
    pitch = rng.uniform(100, 190)
    glide = pitch * np.linspace(1.0, rng.uniform(0.85, 1.15), length)
    turns = np.cumsum(glide) / rate
    formants = ((rng.uniform(300, 800), 90.0), (rng.uniform(900, 2200), 160.0))
    sound = np.zeros(length)
    for k in range(1, int(min(rate / 2, 3500) / (1.15 * pitch)) + 1):
        loud = sum(1 / (1 + ((k * pitch - centre) / width) ** 2) for centre, width in formants)
        sound += (loud + 0.01) * np.sin(2 * np.pi * k * turns)
    return _unit(sound)


def _turn(n: int) -> Array:
    """1 while it is the near end's turn to talk, 0 before and after."""
    k = np.arange(n)
    return np.asarray((k >= 0.6 * n) & (k < 0.85 * n), dtype=np.float64)


def _response(taps: int, rng: np.random.Generator) -> Array:
    """A response of length 1 that decays."""
    h = rng.standard_normal(taps) * np.exp(-4 * np.arange(taps) / taps)
    return np.asarray(h / np.linalg.norm(h))


def _through(x: Array, paths: tuple[Array, ...]) -> Array:
    """x through one path after the other, each for an equal time."""
    whole = [np.convolve(x, h)[: len(x)] for h in paths]
    half = len(x) // 2
    return whole[0] if len(whole) == 1 else np.concatenate([whole[0][:half], whole[1][half:]])


def _at_level(sound: Array, beside: Array, level: float) -> Array:
    """A sound whose power is so many decibels above that of another one."""
    return _factor(sound, beside, level) * sound


def _factor(sound: Array, beside: Array, level: float) -> float:
    there, wanted = _power(sound), _power(beside) * 10 ** (level / 10)
    return float(np.sqrt(wanted / there)) if there and wanted else 1.0


def _line(sound: Any) -> Array:
    line = np.asarray(sound, dtype=np.float64)
    if line.ndim != 1 or not len(line):
        raise ValueError(f"a sound has shape {line.shape}; expected samples of one channel (n,).")
    return line


def _power(sound: Array) -> float:
    return float(np.mean(sound**2)) if len(sound) else 0.0


def _unit(sound: Array) -> Array:
    power = _power(sound)
    return sound / np.sqrt(power) if power else sound
