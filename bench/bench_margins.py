"""The largest margin against scikit-learn's support vector machines; Ho-Kashyap against numpy.

    python bench/bench_margins.py [--quick]

One run, one thread, medians of runs in turns. `max_margin` gives a proven margin; SVC(C=1e10) and
LinearSVC (C=1e6) are given the same rows, and the share of our margin they reach is printed beside
their time. --quick takes a tenth of the rows.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from _bench import compare, head, note, threads
from sklearn.svm import SVC, LinearSVC

from adaline import cover, max_margin
from adaline.procedures.ho_kashyap import column_space, ho_kashyap


def data(n: int, p: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian samples on both sides of a slab of width 2 gap."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, p)), rng.standard_normal(p)
    w /= np.linalg.norm(w)
    t = np.where(X @ w > 0, 1.0, -1.0)
    return X + gap * t[:, None] * w, t


def margin_of(model: SVC | LinearSVC, X: np.ndarray, t: np.ndarray) -> float:
    return float((t * model.decision_function(X)).min() / np.linalg.norm(model.coef_))


def margins(n: int, p: int, gap: float, target: float, repeats: int) -> bool:
    """Time beside both machines, and how large a margin each found."""
    X, t = data(n, p, gap)
    found = max_margin(X, t)
    good = True
    peers = {
        "SVC": (SVC(kernel="linear", C=1e10, max_iter=2_000_000), target),
        "LinearSVC": (LinearSVC(C=1e6), 0.0),  # far from converged: no target
    }
    for name, (machine, wanted) in peers.items():
        good &= compare(
            f"max_margin {n}x{p}, slab {gap}",
            lambda: max_margin(X, t),
            lambda machine=machine: machine.fit(X, t),
            wanted,
            repeats,
            name,
        )
        share = margin_of(machine, X, t) / found.margin
        known = (found.upper - found.lower) / found.upper
        note(f"{name} reaches {share:.6f} of the margin; ours is known to {known:.0e} of it")
    return good


def iterations(n: int, p: int, k: int) -> bool:
    """k iterations of Ho-Kashyap against the loop in numpy; factorisations are not counted."""
    rng = np.random.default_rng(0)
    X, one = rng.standard_normal((n, p)), np.ones(n)
    t = np.where(X[:, 0] > 0, 1.0, -1.0)  # no gap between the classes: neither loop ends early
    Y = t[:, None] * np.column_stack([one, X])
    pseudoinverse = np.linalg.pinv(Y)
    space = column_space(X, np.empty(0), True)
    ends = []

    def lecture() -> None:
        b = one
        for _ in range(k):
            a = pseudoinverse @ b
            Ya = Y @ a
            if Ya.min() > 0:
                return
            e = Ya - b
            b = b + 0.9 * (e + np.abs(e))

    def ours() -> None:
        ends.append(ho_kashyap(space, t, one, one, max_iter=k).k)

    good = compare(f"Ho-Kashyap {n}x{p}, {k} iterations", ours, lecture, 1.0, 5, "numpy loop")
    if set(ends) != {k}:
        note(f"ended after {ends[0]} iterations: these times say nothing")
    return good and set(ends) == {k}


def main() -> int:
    """All of it; 1 where a target was missed."""
    tenth = 10 if "--quick" in sys.argv else 1
    warnings.simplefilter("ignore")  # the machines run out of iterations, as told beside their time
    with threads(1):
        head()
        good = margins(10_000 // tenth, 10, 0.1, 1.0, 5)
        good &= margins(100_000 // tenth, 10, 0.01, 1.0, 3)
        good &= margins(10_000 // tenth, 100, 0.1, 1.0, 3)
        good &= margins(2_000 // tenth, 2_000 // tenth, 0.1, 1.0, 1)  # most rows decide
        good &= iterations(100_000 // tenth, 10, 200)
        good &= iterations(20_000 // tenth, 100, 200)
        found = cover(10**7, 4_990_000)
        print(f"cover(1e7, 4.99e6): ln F = {found.log_fraction:.12f}; no target was set")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
