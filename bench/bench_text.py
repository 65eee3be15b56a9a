"""L2 logistic regression on sparse text beside LIBLINEAR and scikit-learn's own solvers.

    python bench/bench_text.py [--quick] [--repeats 3]

Generated text: words by Zipf's law, about 80 different ones a document, tf-idf in rows of length
one, labels that overlap. Every peer gets the loosest tolerance of a grid that brings its
criterion within 1e-8 of the least, or its tightest: what it reached is printed. LIBLINEAR
penalises the bias, so it is compared without one. One thread, same process, in turns.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from _bench import compare, head, note, seconds, threads
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import adaline

GAP = 1e-8
SMALL = [(2_000, 5_000), (5_000, 20_000), (20_000, 10_000)]  # rows and words of a spam filter
# solver, options, with a bias?, tolerances from loose to tight, how many times faster we must be
PEERS = [
    ("liblinear", {"dual": True}, False, (3.0, 1.0, 0.3, 0.1, 1e-2, 1e-3), 1.2),
    ("liblinear", {"dual": False}, False, (1e-3, 1e-4, 1e-5, 1e-6), 1.2),
    ("lbfgs", {}, True, (1e-4, 1e-5, 1e-6, 1e-7), 2.5),
    ("newton-cg", {}, True, (1e-3, 1e-4, 1e-5, 1e-6), 2.5),
]


def text(n: int, p: int, words: int = 92, seed: int = 0) -> tuple[Any, np.ndarray]:
    """n documents as rows of tf-idf, |x| = 1, over p words, and targets -1 or +1."""
    rng = np.random.default_rng(seed)
    zipf = np.cumsum(1.0 / (np.arange(p) + 3.7))
    lengths = rng.poisson(words, n)
    tokens = np.searchsorted(zipf / zipf[-1], rng.random(lengths.sum()))
    tokens = rng.permutation(p).astype(np.int32)[tokens]  # frequent words are spread, as in life
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sparse.csr_array((np.ones(len(tokens)), tokens, indptr), shape=(n, p))
    X.sum_duplicates()
    df = np.bincount(X.indices, minlength=p)
    X.data *= (np.log((1 + n) / (1 + df)) + 1.0)[X.indices]
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    norms = np.sqrt(np.bincount(rows, X.data**2, minlength=n))
    X.data /= norms[rows]
    telling = np.where(rng.random(p) < 0.2, rng.standard_normal(p), 0.0)
    v = X @ telling
    odds = 4.0 * (v - v.mean()) / v.std() + 1.0
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)


def value(X: Any, t: np.ndarray, w: np.ndarray, b: float) -> float:
    """The criterion, alpha = 1."""
    return float(np.logaddexp(0.0, -t * (X @ w + b)).sum() + 0.5 * w @ w)


def tuned(solver: str, options: dict[str, Any], intercept: bool, tolerances: Any, data: Any) -> Any:
    """The peer with the loosest tolerance that reaches the gap, and what it reached."""
    X, t = data
    least = adaline.LogisticRegression(1.0, intercept, tol=1e-10).fit(X, t).fit_.value
    for tol in tolerances:
        peer = LogisticRegression(
            C=1.0, solver=solver, fit_intercept=intercept, tol=tol, max_iter=10_000, **options
        )
        peer.fit(X, t)
        excess = value(X, t, peer.coef_[0], np.ravel(peer.intercept_)[0]) / least - 1.0
        if excess <= GAP:
            break
    return peer, tol, excess


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    tiny = text(50, 20)
    print(f"first call: {seconds(partial(adaline.LogisticRegression().fit, *tiny)):.2f} s")
    shapes = SMALL if options.quick else [*SMALL, (50_000, 100_000), (200_000, 100_000)]
    met = [beside_peers(text(*shape), options.repeats) for shape in shapes]
    return 0 if all(met) or options.quick else 1


def beside_peers(data: Any, repeats: int) -> bool:
    """One table: every peer of PEERS on these rows."""
    X, t = data
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz / X.shape[0]:.0f} nonzeros a row")
    met = []
    for intercept in (True, False):
        fit = adaline.LogisticRegression(1.0, intercept).fit(X, t)
        print(f"    bias {intercept}: {fit.certificate_}")
        met.append(fit.certificate_.kind == "optimal")
    head()
    with threads(1):
        for solver, more, intercept, tolerances, target in PEERS:
            peer, tol, excess = tuned(solver, more, intercept, tolerances, data)
            ours = partial(adaline.LogisticRegression(1.0, intercept).fit, X, t)
            name = f"{solver} {'dual' if more.get('dual') else 'primal'} tol={tol:g}"
            work = partial(peer.fit, X, t)
            met.append(compare(name, ours, work, target, repeats, "sklearn"))
            note(f"peer's criterion is {excess:.1e} above the least; ours is proven optimal")
    return all(met)


if __name__ == "__main__":
    sys.exit(main())
