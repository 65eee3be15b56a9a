"""GaussianClassifier.fit beside scikit-learn's LDA (solver "lsqr", its fastest) and QDA.

    python bench/bench_gaussian.py [--quick] [--repeats 5]

Same process, same data, 1 and 2 threads, medians of warm calls; the first call, which loads or
compiles kernels, apart. The predictions of both must agree, or the comparison means nothing.
Quick sizes are a tenth, where fixed costs weigh more, so targets are printed but not meant.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np
from _bench import compare, head, note, peak_megabytes, seconds, threads
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from adaline import GaussianClassifier

SHORT = {LinearDiscriminantAnalysis: "LDA lsqr", QuadraticDiscriminantAnalysis: "QDA"}
WORK = [
    ("shared", 1_000_000, 20, 3, 8.0),
    ("shared", 200_000, 100, 10, 4.0),
    ("shared", 60_000, 784, 10, 1.7),
    ("full", 1_000_000, 20, 3, 10.0),
]


def data(n: int, p: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian classes with correlated features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n)
    mix = np.eye(p) + rng.normal(size=(p, p)) / (2 * np.sqrt(p))
    centres = rng.normal(size=(K, p)) * 3 / np.sqrt(p)
    X = rng.normal(size=(n, p))
    for i in range(0, n, 10_000):
        X[i : i + 10_000] = X[i : i + 10_000] @ mix + centres[y[i : i + 10_000]]
    return X, y


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    tiny = data(100, 3, 2)
    for covariance in ("shared", "full"):
        first = seconds(partial(GaussianClassifier(covariance).fit, *tiny))
        print(f"first call, {covariance}: {first:.2f} s")
    head()
    met = [
        measured(covariance, *data(n // 10 if options.quick else n, p, K), target, options.repeats)
        for covariance, n, p, K, target in WORK
    ]
    return 0 if all(met) or options.quick else 1


def measured(covariance: str, X: np.ndarray, y: np.ndarray, target: float, repeats: int) -> bool:
    """One kind of work on 1 and 2 threads; true where speed, agreement and memory are met."""
    ours = GaussianClassifier(covariance)
    peer = LinearDiscriminantAnalysis(solver="lsqr")
    if covariance == "full":
        peer = QuadraticDiscriminantAnalysis()
    (n, p), K, met = X.shape, int(y.max()) + 1, True
    for count in (1, 2):
        with threads(count):
            name = f"{covariance} {n}x{p} K={K}, {count} thread{'s' * (count > 1)}"
            work, other = partial(ours.fit, X, y), partial(peer.fit, X, y)
            met &= compare(name, work, other, target, repeats, SHORT[type(peer)])
    sample, labels = X[:20_000], y[:20_000]
    same = float(np.mean(ours.predict(sample) == peer.predict(sample)))
    memory, others = (peak_megabytes(partial(model.fit, X, y)) for model in (ours, peer))
    note(
        f"same predictions {same:.3%} (> 99.9%), accuracy {ours.score(sample, labels):.3f}; "
        f"peak beyond X {memory:.0f} MB (< 64 MB), peer {others:.0f} MB"
    )
    return met and same > 0.999 and not memory > 64


if __name__ == "__main__":
    sys.exit(main())
