"""Speed of `separability`, with its proof checked, against HiGHS, which proves nothing.

    python bench/bench_separability.py [--quick] [--repeats 5]

The peer is scipy.optimize.linprog (HiGHS), the faster of two programs for the same question: find w
with Yw >= 1, or multipliers lambda >= 0 with Y'lambda = 0 and sum one. Ours includes
`check(X, y)` of the proof, whose own time, with and without hashing the data, is printed too.
One thread, same data, same process, medians of warm calls taken in turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial

import numpy as np
from _bench import compare, head, median_seconds, seconds, threads
from scipy.optimize import linprog

from adaline import separability
from adaline.certificates.separation.checking import find_gap
from adaline.certificates.separation.data import Data

# rows, features, how many times faster at least
WORK = [(1_000, 2, 1.0), (1_000, 10, 1.0), (10_000, 10, 10.0), (10_000, 100, 3.0)]
KINDS = ["separable", "one flip", "light overlap", "heavy overlap"]


def data(kind: str, n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows on the two sides of a plane, with none, one, 2 % or half of the labels random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    v = X @ w / np.linalg.norm(w) + 0.3
    y = (v > 0).astype(int)
    if kind == "one flip":
        y[np.argsort(np.abs(v))[n // 2]] ^= 1
    elif kind == "light overlap":
        y = np.where(rng.random(n) < 0.02, 1 - y, y)
    elif kind == "heavy overlap":
        y = rng.integers(0, 2, n)
    return X, y


def primal(X: np.ndarray, y: np.ndarray) -> str:
    """w with Yw >= 1."""
    Y = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([np.ones(len(X)), X])
    done = linprog(np.zeros(Y.shape[1]), -Y, -np.ones(len(Y)), bounds=(None, None), method="highs")
    return {0: "separable", 2: "not separable"}.get(done.status, "undecided")


def dual(X: np.ndarray, y: np.ndarray) -> str:
    """lambda >= 0 with Y'lambda = 0 and sum one."""
    Y = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([np.ones(len(X)), X])
    A = np.column_stack([Y, np.ones(len(Y))]).T
    b = np.zeros(A.shape[0])
    b[-1] = 1.0
    done = linprog(np.zeros(len(Y)), A_eq=A, b_eq=b, bounds=(0, None), method="highs")
    return {0: "not separable", 2: "separable"}.get(done.status, "undecided")


def ours(X: np.ndarray, y: np.ndarray) -> str:
    """The verdict, once its proof is checked."""
    found = separability(X, y)
    if not found.check(X, y):
        raise AssertionError(found.check(X, y).sentence)
    return found.verdict


def measured(kind: str, n: int, d: int, target: float, repeats: int) -> bool:
    """One comparison; true where the target is met."""
    X, y = data(kind, n, d)
    peers = {f.__name__: (seconds(partial(f, X, y)), f) for f in (primal, dual)}
    name = min(peers, key=lambda key: peers[key][0])
    peer = peers[name][1]
    met = compare(
        f"{kind} {n}x{d}", partial(ours, X, y), partial(peer, X, y), target, repeats, name
    )
    found, whole = separability(X, y), Data.of(X, y)
    check = median_seconds(partial(found.check, X, y), 5)
    bare = median_seconds(partial(find_gap, found, whole), 5)
    says, peer_says = found.verdict, peer(X, y)
    agree = (says == "separable") == (peer_says == "separable")
    note = "" if agree else f"; the peer says {peer_says}"
    print(f"    {says}{note}; check {check * 1e3:.2f} ms, {bare * 1e3:.2f} ms without hashing")
    return met


def large(n: int) -> bool:
    """100,000 rows of 100 features, separable: within three seconds."""
    met = True
    for kind, gap in (("a gap of 0.1", 0.1), ("no gap to speak of", 0.0)):
        X, y = data("separable", n, 100)
        w = np.random.default_rng(0)
        w.standard_normal((n, 100))
        direction = w.standard_normal(100)
        X += np.outer(2 * y - 1, gap * direction / np.linalg.norm(direction))
        start = time.perf_counter()
        verdict = ours(X, y)
        took = time.perf_counter() - start
        met &= took <= 3.0
        print(f"{n}x100, {kind}: {verdict} in {took:.2f} s  {'ok' if took <= 3.0 else 'MISSED'}")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument(
        "--repeats", type=int, default=5, help="three times as many up to 10 features"
    )
    options = parser.parse_args()
    part = 10 if options.quick else 1
    with threads(1):
        print(f"first call: {seconds(partial(ours, *data('one flip', 100, 3))):.2f} s")
        head()
        met = [
            measured(kind, n // part, d, target, options.repeats * (3 if d <= 10 else 1))
            for n, d, target in WORK
            for kind in KINDS
        ]
        met.append(large(100_000 // part))
    return 0 if all(met) or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
