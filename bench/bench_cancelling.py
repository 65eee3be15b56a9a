"""What noise and echo cancelling achieve, in decibels, on speech-like scenes.

    python bench/bench_cancelling.py [--quick]

Noise: speech and coloured noise through a room, at several signal-to-noise ratios; the number is
the ratio of the result over all samples (so the time of learning counts). Echo: speech of the far
end through a room, the near end talking for a while; the number is the echo over all that is wrong
with the result, while one and while both talk. The scenes are those of tests/sound_scenes.py.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from adaline import NLMS, RLS, BlockLMS
from adaline.filters import cancel, cancel_echo
from sound_scenes import RATE, decibels, noise, room, snr, speech, through

Filtering = Callable[[np.ndarray, np.ndarray], np.ndarray]


def noise_scenes(seconds: int, taps: int, paths: int) -> None:
    """A table: each way to cancel, at each ratio before."""
    n = seconds * RATE
    voice, engine = speech(n, 0), noise(n, 1)
    heard = through(engine, *(room(taps, k) for k in range(paths)))
    ways: dict[str, Filtering] = {
        f"NLMS({taps})": lambda x, d: NLMS(taps).process(x, d)[1],
        f"NLMS({taps}, eta=0.05)": lambda x, d: NLMS(taps, eta=0.05).process(x, d)[1],
        f"BlockLMS({taps}, eta=0.1)": lambda x, d: BlockLMS(taps, eta=0.1).process(x, d)[1],
        "cancel(), one pass": lambda x, d: cancel(d, x, taps, passes=1).signal,
        "cancel()": lambda x, d: cancel(d, x, taps).signal,
    }
    if taps <= 512:
        ways[f"RLS({taps})"] = lambda x, d: RLS(taps).process(x, d)[1]
        ways[f"RLS({taps}, 0.9999)"] = lambda x, d: RLS(taps, 0.9999).process(x, d)[1]
    change = "" if paths == 1 else ", which changes once"
    print(f"\nNoise through {taps} taps{change}: dB after, for dB before")
    levels = (-5.0, 1.5, 10.0, 20.0, 30.0)
    print(f"{'':26}" + "".join(f"{db:7.1f}" for db in levels) + "   seconds")
    for name, way in sorted(ways.items(), key=lambda pair: "cancel" in pair[0]):
        start = time.perf_counter()
        told = [snr(voice, way(engine, voice + heard * 10 ** (-db / 20))) for db in levels]
        spent = (time.perf_counter() - start) / len(levels)
        print(f"{name:26}" + "".join(f"{db:7.1f}" for db in told) + f"{spent:10.2f}", flush=True)


def echo_scenes(seconds: int, taps: int, delay: int, paths: int) -> None:
    """A table: each way to cancel, while one talks and while both do."""
    n = seconds * RATE
    far, near = speech(n, 0), 0.01 * np.random.default_rng(9).standard_normal(n)
    both = slice(4 * n // 10, 6 * n // 10)
    near[both] += speech(n, 5)[both]
    rooms = [np.concatenate([np.zeros(delay), room(taps // 2, k)]) for k in range(paths)]
    echo = through(far, *rooms)
    d = echo + near
    parts = {"start": slice(0, n // 10), "one": slice(n // 10, 4 * n // 10), "both": both,
             "after": slice(6 * n // 10, n)}  # fmt: skip
    ways: dict[str, Callable[[], np.ndarray]] = {
        f"NLMS({taps})": lambda: NLMS(taps).process(far, d)[1],
        f"BlockLMS({taps})": lambda: BlockLMS(taps).process(far, d)[1],
        "cancel_echo()": lambda: cancel_echo(d, far, taps).signal,
    }
    print(f"\nEcho, {taps} taps, delay {delay}, {paths} path(s): dB of echo removed")
    print(f"{'':26}" + "".join(f"{name:>7}" for name in parts))
    for name, way in ways.items():
        e = way()
        told = [decibels(echo[part], (e - near)[part]) for part in parts.values()]
        print(f"{name:26}" + "".join(f"{db:7.1f}" for db in told), flush=True)


def main() -> None:
    warnings.simplefilter("ignore")  # that a result is worse is shown by the table
    quick = "--quick" in sys.argv
    seconds = 4 if quick else 10
    for taps in (32, 64) if quick else (32, 64, 256, 1024):
        noise_scenes(seconds, taps, 1)
    noise_scenes(seconds, 32, 2)
    for taps, delay, paths in ((512, 0, 1), (512, 2000, 1), (512, 0, 2), (2048, 0, 1)):
        if not quick or taps < 2048:
            echo_scenes(2 * seconds, taps, delay, paths)


if __name__ == "__main__":
    main()
