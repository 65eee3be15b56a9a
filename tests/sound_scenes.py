"""Sound for tests of cancelling: speech-like signals, coloured noise, rooms, and their decibels.

Everything follows from a seed. `bench/bench_cancelling.py` uses the same scenes, longer.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

RATE = 16_000


def speech(n: int, seed: int) -> np.ndarray:
    """Vowels (pulses through three formants), hisses and pauses, with power 1."""
    rng = np.random.default_rng(seed)
    out, at = np.zeros(n), 0
    while at < n:
        length = int(rng.uniform(0.08, 0.35) * RATE)
        kind = rng.choice(["vowel", "vowel", "vowel", "hiss", "pause"])
        if kind != "pause":
            sound = _vowel(length, rng) if kind == "vowel" else 0.3 * _hiss(length, rng)
            shaped = sound * np.hanning(length) * rng.uniform(0.4, 1.2)
            out[at : at + length] = shaped[: n - at]
        at += length + (int(rng.uniform(0.3, 1.0) * RATE) if rng.random() < 0.12 else 0)
    return unit(out) + 3e-3 * rng.standard_normal(n)  # a quiet room


def _vowel(length: int, rng: np.random.Generator) -> np.ndarray:
    wave = np.sin(2 * np.pi * 3 * np.arange(length) / RATE + rng.uniform(0, 6))
    pulses = np.diff(np.floor(np.cumsum(rng.uniform(90, 220) * (1 + 0.1 * wave) / RATE)), prepend=0)
    sound = lfilter([1], [1, -0.95], pulses + 0.03 * rng.standard_normal(length))
    bands = ((rng.uniform(300, 800), 80), (rng.uniform(900, 2200), 120), (2600, 160))
    for centre, width in bands:
        r = np.exp(-np.pi * width / RATE)
        sound = lfilter([1 - r], [1, -2 * r * np.cos(2 * np.pi * centre / RATE), r * r], sound)
    return unit(sound)


def _hiss(length: int, rng: np.random.Generator) -> np.ndarray:
    return unit(lfilter([1, -0.9], [1], rng.standard_normal(length)))


def noise(n: int, seed: int) -> np.ndarray:
    """Coloured noise, as of an engine, with power 1."""
    white = np.random.default_rng(seed + 1000).standard_normal(n)
    return unit(lfilter([1], [1, -1.52, 0.9025], lfilter([1], [1, -0.9], white)))


def room(taps: int, seed: int) -> np.ndarray:
    """An impulse response that decays by 43 dB."""
    rng = np.random.default_rng(seed + 2000)
    return unit(rng.standard_normal(taps) * np.exp(-5 * np.arange(taps) / taps)) / np.sqrt(taps)


def through(x: np.ndarray, *rooms: np.ndarray) -> np.ndarray:
    """x through one room after another, each for an equal time, with power 1."""
    n, parts = len(x), len(rooms)
    whole = [np.convolve(x, h)[:n] for h in rooms]
    edges = [k * n // parts for k in range(parts + 1)]
    return unit(np.concatenate([w[a:b] for w, a, b in zip(whole, edges, edges[1:], strict=False)]))


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.mean(x**2))


def decibels(a: np.ndarray, b: np.ndarray) -> float:
    """The power of a over that of b."""
    return float(10 * np.log10(np.sum(a**2) / np.sum(b**2)))


def snr(clean: np.ndarray, found: np.ndarray) -> float:
    """The power of the signal over that of what is wrong with it."""
    return decibels(clean, found - clean)
