"""How fits scale with threads: 1, 2, 4, 8, 16, as far as the machine has cores.

    python bench/bench_threads.py [--quick] [--repeats 3] [--most 16]

Same process, same data, minima of warm calls. For each work one line: milliseconds with each
number of threads, how much faster the best is than one thread, how much is lost from the best by
using all threads, and the ratio to scikit-learn's fastest sensible setting with its own best number
of threads. Lines that lose most come first. The weights must have the same bits with any number
of threads. Quick sizes are a tenth.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from _bench import note, row, seconds, threads
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.naive_bayes import GaussianNB

from adaline import GaussianClassifier, LeastSquares, LogisticRegression

SHAPES = [(1_000_000, 20), (250_000, 100), (50_000, 500), (100_000, 20)]
SLOWER = 1.25  # with all threads, no more than this times the time with the best number of them
PEER_LIMIT = 6.0  # seconds of one call beyond which a peer is not asked again


@dataclass
class Line:
    """What was measured of one work."""

    name: str
    ours: dict[int, float] = field(default_factory=dict)
    peer_name: str = ""
    peer: float = np.inf
    same: bool = True

    @property
    def gain(self) -> float:
        return self.ours[1] / min(self.ours.values())

    @property
    def slowdown(self) -> float:
        """Time with all threads, in times of the best."""
        return self.ours[max(self.ours)] / min(self.ours.values())

    @property
    def ratio(self) -> float:
        return self.peer / min(self.ours.values())

    @property
    def is_fine(self) -> bool:
        return self.same and self.slowdown <= SLOWER and self.ratio >= 1.0


def works(X: np.ndarray, y: np.ndarray, c: np.ndarray) -> dict[str, tuple[Any, ...]]:
    """Name -> how to make ours, its target, the peer's name and how to make it (or None)."""
    lbfgs = lambda: SklearnLogistic(C=1.0, tol=1e-6)  # noqa: E731
    return {
        "LeastSquares": (LeastSquares, y, "LinearRegression", LinearRegression),
        "Logistic": (lambda: LogisticRegression(alpha=1.0), c, "lbfgs 1e-6", lbfgs),
        "Gaussian shared": (
            lambda: GaussianClassifier("shared"),
            c,
            "LDA lsqr",
            lambda: LinearDiscriminantAnalysis(solver="lsqr"),
        ),
        "Gaussian full": (
            lambda: GaussianClassifier("full"),
            c,
            "QDA",
            QuadraticDiscriminantAnalysis,
        ),
        "Gaussian diagonal": (lambda: GaussianClassifier("diagonal"), c, "GaussianNB", GaussianNB),
    }


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent columns, a noisy linear target, and its sign."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = X @ rng.standard_normal(p) / np.sqrt(p) + rng.standard_normal(n)
    return X, y, (y > 0).astype(np.int64)


def weights(model: Any) -> bytes:
    """The bits of what was learned."""
    found = [model.coef_] if hasattr(model, "coef_") else [model.means_, model.covariance_]
    return b"".join(np.asarray(part).tobytes() for part in found)


def least(work: Callable[[], Any], repeats: int) -> float:
    """The shortest of warm calls; short ones are repeated more often, a very long one is not."""
    first = seconds(work)
    if first > PEER_LIMIT:
        return first
    return min(seconds(work) for _ in range(max(repeats, min(20, int(0.1 / first)))))


def measured(
    name: str, X: np.ndarray, work: tuple[Any, ...], counts: list[int], repeats: int
) -> Line:
    """Ours with each number of threads, the peer with one and with all."""
    make, y, peer_name, peer = work
    line, bits = Line(name, peer_name=peer_name), set()
    for count in counts:
        with threads(count):
            line.ours[count] = least(partial(fitted, make, X, y), repeats)
            bits.add(weights(make().fit(X, y)))
    line.same = len(bits) == 1
    for count in sorted({1, counts[-1]}, reverse=True):
        if line.peer == np.inf or line.peer < PEER_LIMIT / 4:
            with threads(count):
                line.peer = min(line.peer, least(partial(fitted, peer, X, y), 1))
    return line


def fitted(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Any:
    """A new model, fitted."""
    return make().fit(X, y)


def predictions(
    X: np.ndarray, c: np.ndarray, counts: list[int], repeats: int, size: str
) -> list[Line]:
    """predict_proba of Gaussian classifiers."""
    lines = []
    peers = {"shared": LinearDiscriminantAnalysis("lsqr"), "full": QuadraticDiscriminantAnalysis()}
    for covariance, peer in peers.items():
        model = GaussianClassifier(covariance).fit(X[:20_000], c[:20_000])
        peer.fit(X[:20_000], c[:20_000])
        line, bits = Line(f"Gaussian {covariance} predict_proba {size}"), set()
        line.peer_name = "LDA lsqr" if covariance == "shared" else "QDA"
        for count in counts:
            with threads(count):
                line.ours[count] = least(partial(model.predict_proba, X), repeats)
                bits.add(model.predict_proba(X).tobytes())
                line.peer = min(line.peer, least(partial(peer.predict_proba, X), 1))
        line.same = len(bits) == 1
        lines.append(line)
    return lines


def show(lines: list[Line], counts: list[int]) -> None:
    """The table, the worst ratio between all threads and the best first."""
    heads = "".join(f"{f'{count} thr.':>9}" for count in counts)
    print(f"\n{'work (milliseconds)':<42}{heads}{'gain':>7}{'all/best':>9}{'peer':>18}{'ratio':>7}")
    for line in sorted(lines, key=lambda one: (one.is_fine, one.ratio, -one.slowdown)):
        times = "".join(f"{line.ours[count] * 1e3:9.1f}" for count in counts)
        verdict = "" if line.same else "  OTHER BITS"
        verdict += "" if line.slowdown <= SLOWER else "  SLOWER WITH ALL THREADS"
        verdict += "" if line.ratio >= 1.0 else "  PEER IS FASTER"
        peer = f"{line.peer_name} {line.peer * 1e3:.0f}"
        print(
            f"{line.name:<42}{times}{line.gain:6.1f}x{line.slowdown:8.2f} {peer:>18}"
            f"{line.ratio:6.1f}x{verdict}"
        )


def main() -> int:
    """Measure, print the table; 1 where bits differ or all threads are slower than fewer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, default=16, help="threads")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    counts = [count for count in (1, 2, 4, 8, 16, 32) if count <= min(options.most, cores)]
    start, lines = time.perf_counter(), []
    for n, p in SHAPES:
        n = n // 10 if options.quick else n
        X, y, c = data(n, p)
        for name, work in works(X, y, c).items():
            lines.append(measured(f"{name} {n}x{p}", X, work, counts, options.repeats))
            print(".", end="", flush=True)
        if p <= 100:
            lines += predictions(X, c, counts, options.repeats, f"{n}x{p}")
    show(lines, counts)
    if os.environ.get("ADALINE_SCOREBOARD"):
        for line in lines:
            row(line.name, line.peer_name, min(line.ours.values()), line.peer, 1.0)
            times = [f"{count}: {line.ours[count] * 1e3:.1f} ms" for count in counts]
            note(f"threads {', '.join(times)}; same bits: {line.same}")
    worst = max(lines, key=lambda line: line.slowdown)
    note(
        f"{cores} cores, {time.perf_counter() - start:.0f} s in all; same bits with "
        f"{', '.join(map(str, counts))} threads: {all(line.same for line in lines)}; slowest with "
        f"all threads, {worst.slowdown:.2f} times its best: {worst.name}"
    )
    return 0 if all(line.same and line.slowdown <= SLOWER for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
