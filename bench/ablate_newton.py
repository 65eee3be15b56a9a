"""What each piece of Newton's procedure buys: the time without it over the time with it.

    python bench/ablate_newton.py [--sizes 1000000x20 50000x100x10] [--repeats 3]

Sizes are rows x features, or rows x features x classes. One thread, medians of warm fits taken in
turns; columns correlated with their neighbours by 0.9, by 0.3, not at all, skewed (lognormal), or
all with each other by 0.5, as by a common cause.
A piece is switched off by patching it. The table stands in docs/adr/0017.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from _bench import seconds, threads

from adaline.estimators.newton.logistic import LogisticRegression
from adaline.procedures.newton import _float32, _newton_state, _sketch, _stride, newton

SIZES = [
    "1000000x20",
    "200000x100",
    "50000x500",
    "50000x100x10",
    "10000x50",
    "10000x50x5",
    "20000x300",
    "100000x30",
    "5000x1000",
    "3000x500",
    "2000x1500",
]
COLUMNS = {"r=0.9": 0.9, "r=0.3": 0.3, "r=0": 0.0, "skewed": 0.5, "cause": 0.0}


def unshrunk(G: np.ndarray, penalty: np.ndarray, chance: float) -> tuple[np.ndarray, bool]:
    return G + np.diag(penalty), False


PIECES: dict[str, Callable[[], Any]] = {
    "transported Hessian": lambda: patch.object(_newton_state, "sample_step", lambda loss: 0),
    "subsampled curvature": lambda: patch.object(_stride, "WORK", np.inf),
    "shrunk correlations": lambda: patch.object(_stride, "shrunk", unshrunk),
    "start from a sample": lambda: patch.object(newton, "_SAMPLE", 2**60),
    "steps without a matrix": lambda: patch.object(_stride, "_DEAR", np.inf),
    "directions in the sketch": lambda: patch.object(_sketch, "_FEWEST", 2**60),
    "rows in float32": lambda: patch.object(_float32, "_LEAST", 2**60),
    "Hessian in float32": lambda: patch.object(newton, "_ROUGH", np.inf),
    "length of the first step": lambda: patch.object(
        _newton_state.NewtonState, "_first_length", lambda state, d: 1.0
    ),
}


def data(n: int, p: int, K: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of correlated or skewed columns, and labels drawn from the model."""
    rng = np.random.default_rng(0)
    lag = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    X = rng.normal(size=(n, p)) @ np.linalg.cholesky(COLUMNS[kind] ** lag).T
    if kind == "skewed":
        X = np.exp(0.7 * X)
    elif kind == "cause":
        X = np.sqrt(0.5) * (X + rng.normal(size=(n, 1)))
    W = rng.normal(size=(p, K)) * 2 / np.sqrt(p)
    V = (X - X.mean(axis=0)) / X.std(axis=0) @ W
    return X, np.argmax(V + rng.gumbel(size=V.shape), axis=1)


def ratios(X: np.ndarray, y: np.ndarray, repeats: int) -> dict[str, float]:
    """Median time without each piece over that with all of them."""
    times: dict[str, list[float]] = {"": [], **{name: [] for name in PIECES}}

    def fit() -> Any:
        return LogisticRegression().fit(X, y)

    fit()  # compiles
    for _ in range(repeats):
        times[""].append(seconds(fit))
        for name, switched_off in PIECES.items():
            with switched_off():
                times[name].append(seconds(fit))
    whole = statistics.median(times.pop(""))
    return {name: statistics.median(found) / whole for name, found in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="such as 20000x300 or 5000x20x3")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| size | columns | {' | '.join(PIECES)} |")
    print("|---" * (2 + len(PIECES)) + "|")
    for size in options.sizes:
        n, p, K = (*(int(part) for part in size.split("x")), 2)[:3]
        for kind in COLUMNS:
            X, y = data(n, p, K, kind)
            with threads(1):
                found = ratios(X, y, options.repeats)
            cells = " | ".join(f"{ratio:.2f}" for ratio in found.values())
            print(f"| {size} | {kind} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
