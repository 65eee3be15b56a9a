"""What a pass of on-line logistic regression over text spends its time on.

    python bench/ablate_online.py [--rows 200000] [--repeats 25]

CPU time of one thread beside that of SGDClassifier, in turns, the least of all repeats. "Bare" are
the loops that no learner of this kind can do without: gather the weights of a row, take a logistic
slope, scatter the weights; with and without a gain for each. What measuring gains costs is found by
leaving it out, in processes of their own, since constants are compiled in.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _ablation import run_apart, set_constants
from _bench import threads
from bench_sequential import text
from sklearn.linear_model import SGDClassifier

from adaline import LogisticRegression
from adaline._jit import kernel
from adaline.kernels.sequential import neurons
from adaline.procedures.sequential.state import Recipe, State, learn
from adaline.schedules import Auto

ABLATIONS = {
    "no row measured beyond the first": "EVERY=1000000000",
    "one value of a feature measured, not four": "FEW=0.5",
    "neither, and 128 first rows, not 1024": "EVERY=1000000000 FEW=0.5 FIRST=128",
}
U = np.uintp


@kernel
def bare(data, indices, indptr, Y, w):
    """Gather, slope, scatter; w (p,)."""
    for i in range(Y.shape[0]):
        v, lo, hi = 0.0, U(indptr[i]), U(indptr[i + 1])
        for q in range(lo, hi):
            v += w[U(indices[q])] * data[q]
        d = (Y[i, 0] - 1.0 / (1.0 + np.exp(-v))) / 20.0
        for q in range(lo, hi):
            w[U(indices[q])] += d * data[q]


@kernel
def bare_with_gains(data, indices, indptr, Y, now):
    """Gather, slope and rate, scatter; now (p, 2) has a weight and a gain for each feature."""
    W, GAIN = U(0), U(1)
    for i in range(Y.shape[0]):
        v, z, lo, hi = 0.0, 0.0, U(indptr[i]), U(indptr[i + 1])
        for q in range(lo, hi):
            x, j = data[q], U(indices[q])
            v += now[j, W] * x
            z += x * x * now[j, GAIN]
        d = 4.0 * (Y[i, 0] - 1.0 / (1.0 + np.exp(-v))) / max(z, 80.0)
        for q in range(lo, hi):
            j = U(indices[q])
            now[j, W] += d * (data[q] * now[j, GAIN])


def works(n: int) -> dict[str, Callable[[], Any]]:
    """What is timed, by name."""
    X, y = text(n)
    Y, p = y.astype(np.float64).reshape(-1, 1), X.shape[1]
    rows = X.data, X.indices, X.indptr, Y
    auto = Auto(), neurons.LATE_AVERAGE, True, 1, p
    recipe = Recipe(neurons.CROSS_ENTROPY, neurons.BITS, *auto)
    peer = SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False)
    return {
        "SGDClassifier": lambda: peer.fit(X, y),
        "partial_fit": lambda: LogisticRegression().partial_fit(X, y, classes=[0, 1]),
        "its kernel": lambda: learn(State(recipe), X, Y, np.empty(0)),
        "bare, weights and gains": lambda: bare_with_gains(*rows, np.full((p, 2), 0.3)),
        "bare, weights": lambda: bare(*rows, np.zeros(p)),
        "every number read": lambda: (X.data.sum(), X.indices.sum()),
    }


def told(what: dict[str, Callable[[], Any]], repeats: int) -> None:
    """Milliseconds of each, and how many times longer the peer takes."""
    times: dict[str, list[float]] = {name: [] for name in what}
    with threads(1):
        for repeat in range(repeats + 1):
            for name, work in what.items():
                start = time.thread_time()
                work()
                if repeat > 0:  # the first call compiles
                    times[name].append(time.thread_time() - start)
    peer = min(times["SGDClassifier"])
    for name, took in times.items():
        print(f"    {name:<26} {min(took) * 1e3:7.1f} ms  {peer / min(took):5.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--set", nargs="*", default=[], help="NAME=VALUE, from the first process")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    set_constants(options.set)
    every = works(options.rows)
    if options.set:
        told({name: every[name] for name in ("SGDClassifier", "its kernel")}, options.repeats)
        return
    told(every, options.repeats)
    given = [f"--rows={options.rows}", f"--repeats={options.repeats}"]
    for name, constants in ABLATIONS.items():
        print(name, run_apart(given, constants.split()), sep="\n", end="", flush=True)


if __name__ == "__main__":
    main()
