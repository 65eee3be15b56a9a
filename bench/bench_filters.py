"""Adaptive filters against padasip, adafilt, pyroomacoustics and scikit-learn's SGDRegressor.

    python bench/bench_filters.py [--quick]

White noise, float64, one core; ours and the peers take turns in one process; medians of CPU
seconds, so that other work on the machine counts little. Peers that want a matrix of rows get it
made beforehand, and those that want one sample a call get a loop. A peer that is not installed is
named as missing. --quick takes fewer samples.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _bench import head, note, peak_megabytes, row, seconds, threads
from sklearn.linear_model import SGDRegressor

from adaline import LMS, NLMS, RLS, AffineProjection

TAPS = (16, 64, 256, 1024)
Work = Callable[[], Any]
missing: set[str] = set()


def cpu(work: Work, repeats: int = 1) -> float:
    """CPU seconds of this thread for one call."""
    start = time.thread_time()
    for _ in range(repeats):
        work()
    return (time.thread_time() - start) / repeats


def peer(name: str) -> Any:
    """A peer's module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing.add(name)
        return None


padasip, adafilt = peer("padasip"), peer("adafilt")
pyroom = peer("pyroomacoustics")


class Data:
    """A reference, a desired signal, and the rows some peers ask for."""

    def __init__(self, taps: int, n: int) -> None:
        rng = np.random.default_rng(0)
        self.taps = taps
        self.x = rng.standard_normal(n)
        self.d = rng.standard_normal(n)

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The last samples as rows."""
        n = min(n, len(self.x) - self.taps)
        signal = self.x[-n - self.taps + 1 :]
        view = np.lib.stride_tricks.sliding_window_view(signal, self.taps)
        return np.ascontiguousarray(view[:, ::-1]), self.d[-n:]


def by_padasip(kind: str, data: Data, n: int, **settings: Any) -> tuple[Work, int] | None:
    if padasip is None:
        return None
    X, d = data.rows(n)
    make = getattr(padasip.filters, kind)
    return lambda: make(n=data.taps, w="zeros", **settings).run(d, X), len(d)


def by_pyroom(kind: str, data: Data, n: int, **settings: Any) -> tuple[Work, int] | None:
    if pyroom is None:
        return None
    x, d = data.x[:n], data.d[:n]

    def run() -> None:
        f = getattr(pyroom.adaptive, kind)(data.taps, **settings)
        for a, b in zip(x, d, strict=True):
            f.update(a, b)

    return run, n


def by_adafilt(data: Data, n: int) -> tuple[Work, int] | None:
    if adafilt is None:
        return None
    x, d = data.x[:n], data.d[:n]

    def run() -> None:
        f = adafilt.LMSFilter(data.taps, stepsize=0.5, normalized=True)
        for a, b in zip(x, d, strict=True):
            y = f.filt(a)
            f.adapt(a, b - y)

    return run, n


def fit_sgd(X: np.ndarray, d: np.ndarray) -> None:
    settings = {"alpha": 0.0, "penalty": None, "max_iter": 1, "tol": None, "shuffle": False}
    rate = {"learning_rate": "constant", "eta0": 1e-4, "fit_intercept": False}
    SGDRegressor(**settings, **rate).fit(X, d)


def by_sgd(data: Data, n: int) -> tuple[Work, int]:
    X, d = data.rows(n)
    return lambda: fit_sgd(X, d), len(d)


def tell_sgd_from_signal(f: Any, data: Data, n: int) -> None:
    """The same for a user who has a signal and no rows: making them is part of the work."""
    fit_sgd(*data.rows(n))
    ours, theirs = [], []
    for _ in range(3):
        ours.append(cpu(lambda: f.process(data.x, data.d)) / len(data.x))
        theirs.append(cpu(lambda: fit_sgd(*data.rows(n))) / n)
    peer, ratio = statistics.median(theirs), statistics.median(theirs) / statistics.median(ours)
    note(f"from the signal, rows made: SGDRegressor {peer * 1e9:.0f} ns a sample, {ratio:.1f}x")


def compare(
    name: str, f: Any, data: Data, peers: dict[str, Any], targets: dict[str, float]
) -> bool:
    """Seconds for the same number of samples, ours and each peer in turns."""
    n, good = len(data.x), True
    f.process(data.x, data.d)
    repeats = 1 + int(0.02 / cpu(lambda: f.process(data.x, data.d)))
    found = {label: work for label, work in peers.items() if work is not None}
    for label in peers.keys() - found.keys():
        print(f"{name:<40} {label:<12} not installed")
        good = False
    for work, _ in found.values():
        work()
    times: dict[str, list[float]] = {label: [] for label in ("ours", *found)}
    for _ in range(5):
        times["ours"].append(cpu(lambda: f.process(data.x, data.d), repeats))
        for label, (work, count) in found.items():
            times[label].append(cpu(work) * n / count)
    median = {label: statistics.median(t) for label, t in times.items()}
    for label in found:
        good &= row(name, label, median["ours"], median[label], targets[label])
    nanoseconds = median["ours"] / n * 1e9
    print(f"    {nanoseconds:.1f} ns a sample, {nanoseconds / data.taps:.3f} ns a sample and tap")
    return good


def lms(n: int, quick: int) -> bool:
    good = True
    for taps, target in zip(TAPS, (300.0, 200.0, 100.0, 50.0), strict=True):
        data = Data(taps, n)
        peers = {
            "padasip": by_padasip("FilterLMS", data, 4000 // quick, mu=1e-4),
            "SGDRegressor": by_sgd(data, n),
        }
        targets = {"padasip": target, "SGDRegressor": 20.0}
        good &= compare(f"LMS {taps} taps", LMS(taps, 1e-4), data, peers, targets)
        tell_sgd_from_signal(LMS(taps, 1e-4), data, n // 4)
    return good


def nlms(n: int, quick: int) -> bool:
    good = True
    for taps, target in zip(TAPS, (300.0, 200.0, 100.0, 50.0), strict=True):
        data = Data(taps, n)
        peers = {
            "padasip": by_padasip("FilterNLMS", data, 4000 // quick, mu=0.5),
            "adafilt": by_adafilt(data, 4000 // quick),
            "pyroom": by_pyroom("NLMS", data, 4000 // quick, mu=0.5),
        }
        good &= compare(f"NLMS {taps} taps", NLMS(taps), data, peers, dict.fromkeys(peers, target))
    return good


def rls(quick: int) -> bool:
    good = True
    for taps, target, few in ((16, 100.0, 2000), (64, 50.0, 1000), (256, 100.0, 60)):
        data = Data(taps, 16_000 if taps < 256 else 4000)
        peers = {
            "padasip": by_padasip("FilterRLS", data, few // quick, mu=0.999),
            "pyroom": by_pyroom("RLS", data, 10 * few // quick, lmbd=0.999, delta=1.0),
        }
        targets = {"padasip": target, "pyroom": 10.0}
        good &= compare(f"RLS {taps} taps", RLS(taps), data, peers, targets)
    return good


def affine(n: int, quick: int) -> bool:
    good = True
    for taps in TAPS:
        data = Data(taps, n)
        peers = {"padasip": by_padasip("FilterAP", data, 2000 // quick, order=4, mu=0.5)}
        name = f"AffineProjection {taps} taps, order 4"
        good &= compare(name, AffineProjection(taps), data, peers, {"padasip": 60.0})
    return good


def live() -> bool:
    """Blocks of 64 samples through `process`, 64 taps, in times real time at 48 kHz."""
    rng = np.random.default_rng(0)
    x, d = rng.standard_normal((2, 64))
    f = NLMS(64)
    f.process(x, d)

    took = statistics.median(cpu(lambda: f.process(x, d), 5000) for _ in range(9))
    times = 64 / 48_000 / took
    verdict = "ok" if times >= 500 else "MISSED"
    print(
        f"NLMS 64 taps, blocks of 64: {took * 1e6:.2f} us a call, {times:.0f} times real time at ",
        end="",
    )
    print(f"48 kHz, target 500  {verdict}")
    return times >= 500


def memory() -> bool:
    data = Data(256, 50_000)
    f = NLMS(256)
    f.process(data.x[:10], data.d[:10])
    used = peak_megabytes(lambda: f.process(data.x, data.d))
    good = not used >= 2 + 2 * 50_000 * 8 / 2**20
    print(f"NLMS 256 taps, 50,000 samples: {used:.2f} MB, of which y and e 0.76; ", end="")
    print(f"target 2 beyond them  {'ok' if good else 'MISSED'}")
    return good


def machine() -> None:
    """What the core can do: products and sums a nanosecond in dgemm, doubles read from L1."""
    A = np.random.default_rng(0).standard_normal((512, 512))
    A @ A
    gemm = 512**3 / min(seconds(lambda: A @ A) for _ in range(20)) / 1e9
    v = np.ones(1024)
    read = 2 * 1024 * 1000 / min(seconds(lambda: [v.dot(v) for _ in range(1000)]) for _ in range(5))
    print(
        f"dgemm {gemm:.1f} products with sum a ns; dot of 1024 in L1 {read / 1e9:.1f} doubles a ns"
    )
    print(f"LMS needs 2 products a sample and tap: {2 / gemm:.3f} ns at the rate of dgemm")


def main() -> int:
    """All of it; 1 where a target was missed or a peer is missing."""
    quick = 4 if "--quick" in sys.argv else 1
    n = 48_000 // quick
    with threads(1):
        machine()
        head()
        results = [lms(n, quick), nlms(n, quick), rls(quick), affine(n, quick), live(), memory()]
    for name in sorted(missing):
        print(f"{name} is not installed: its comparisons were not made")
    return 0 if all(results) and not missing else 1


if __name__ == "__main__":
    raise SystemExit(main())
