"""BlockLMS beside adafilt's FastBlockLMSFilter, and the Wiener filter beside numpy's lstsq.

    python bench/bench_block_filters.py [--quick] [--repeats 5]

Same process, same signals, one thread, medians of warm calls taken in turns. Both filters run with
the step that learns best of those listed, and a comparison of speed counts only where our
misalignment is no worse, so both are printed. Rows "a block a call" tell what a callback costs and
do not decide the exit code. adafilt is optional and said to be missing where it is.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
from _bench import compare, head, threads

from adaline import NLMS, BlockLMS, WienerFilter
from adaline.filters import misalignment

STEPS = (0.5, 0.8, 1.1, 1.4, 1.7)
PEER_STEPS = (0.02, 0.04, 0.06, 0.1, 0.14, 0.2)


def room(taps: int, n: int, colour: float, seed: int = 0) -> tuple[np.ndarray, ...]:
    """A decaying response, its input (white, or coloured by one pole) and its noisy output."""
    rng = np.random.default_rng(seed)
    h = rng.standard_normal(taps) * np.exp(-5.0 * np.arange(taps) / taps)
    h /= np.linalg.norm(h)
    x = rng.standard_normal(n)
    if colour:
        for k in range(1, n):
            x[k] += colour * x[k - 1]
        x /= x.std()
    d = np.fft.irfft(np.fft.rfft(x, 2 * n) * np.fft.rfft(h, 2 * n))[:n]
    return h, x, d + 1e-3 * rng.standard_normal(n)


def ours(x: Any, d: Any, taps: int, block: int, eta: float, callback: bool = False) -> Any:
    f = BlockLMS(taps, block, eta=eta)
    if callback:
        for k in range(0, len(x), block):
            f.process(x[k : k + block], d[k : k + block])
    else:
        f.process(x, d)
    return f.weights


def peer(x: Any, d: Any, taps: int, block: int, step: float) -> Any:
    from adafilt import FastBlockLMSFilter

    f = FastBlockLMSFilter(taps, block, stepsize=step)
    with np.errstate(all="ignore"):
        for k in range(0, len(x), block):
            piece = x[k : k + block]
            f.adapt(piece, d[k : k + block] - f.filt(piece))
    return f.w


def best(learn: Any, steps: tuple[float, ...], h: Any) -> tuple[float, float]:
    """The step of least misalignment, and that misalignment."""
    found = []
    for step in steps:
        w = learn(step)
        if np.isfinite(w).all():
            found.append((misalignment(w, h), step))
    return min(found)[1], min(found)[0]


def against_adafilt(taps: int, block: int, n: int, repeats: int, target: float) -> list[bool]:
    met = []
    for colour in (0.0, 0.9):
        h, x, d = room(taps, n, colour)
        eta, left = best(partial(ours, x, d, taps, block), STEPS, h)
        step, peer_left = best(partial(peer, x, d, taps, block), PEER_STEPS, h)
        words = "coloured" if colour else "white"
        name = f"{taps} taps, block {block}, {words}"
        print(f"  misalignment {left:.1f} dB (eta {eta}), adafilt {peer_left:.1f} dB (step {step})")
        a = partial(ours, x, d, taps, block, eta)
        b = partial(peer, x, d, taps, block, step)
        met.append(compare(name, a, b, target, repeats, "adafilt") and left <= peer_left + 0.5)
        a = partial(ours, x, d, taps, block, eta, True)
        compare(f"{taps} taps, {words}, a block a call", a, b, target, repeats, "adafilt")
    return met


def against_nlms(n: int, repeats: int) -> None:
    """Where spectra begin to pay; no target, our own two filters."""
    for taps in (512, 2048, 8192):
        _, x, d = room(taps, n, 0.0)
        compare(
            f"{taps} taps, BlockLMS, block 256",
            partial(ours, x, d, taps, 256, 0.5),
            lambda taps=taps, x=x, d=d: NLMS(taps).process(x, d),
            0.0,
            repeats,
            "our NLMS",
        )


def against_lstsq(n: int, taps: int, repeats: int) -> bool:
    _, x, d = room(taps, n, 0.9)

    def explicit() -> Any:
        padded = np.concatenate([np.zeros(taps - 1), x])
        U = np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1]
        return np.linalg.lstsq(U, d, rcond=None)[0]

    fast = WienerFilter.from_signals(x, d, taps).weights
    print(f"  largest difference from lstsq {np.abs(fast - explicit()).max():.1e}")
    work = partial(WienerFilter.from_signals, x, d, taps)
    return compare(f"Wiener, {taps} taps, {n} samples", work, explicit, 5.0, repeats, "numpy lstsq")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the samples")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    part = 4 if options.quick else 1
    met = []
    with threads(1):
        head()
        try:
            import adafilt  # noqa: F401
        except ImportError:
            print("adafilt is not installed; its rows are left out.")
        else:
            for taps, target in ((2048, 2.0), (4096, 2.0), (8192, 2.0)):
                n = 20 * taps // part
                met += against_adafilt(taps, 256, n, options.repeats, target)
        against_nlms(65_536 // part, options.repeats)
        met.append(against_lstsq(20_000 // part, 256, options.repeats))
    return 0 if all(met) or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
