"""Perceptron, Adaline, on-line logistic regression and learn_one beside their peers.

    python bench/bench_sequential.py [--quick] [--repeats 3]

Peers: scikit-learn's Perceptron and SGDClassifier, Vowpal Wabbit (from its cache) and river. Same
process, same data, medians of warm calls taken in turns. Both do the same number of passes.
river and Vowpal Wabbit are optional and said to be missing where they are. Quick sizes are a tenth,
where fixed costs weigh more, so targets are printed but not meant. The last table is about
learning, not speed: what automatic rates reach in one and five passes beside the best hand-tuned
rate of 21.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.linear_model as peers
from _bench import compare, head, missing, note, seconds
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from adaline import (
    Adaline,
    Constant,
    LogisticRegression,
    Perceptron,
    SearchThenConverge,
    WidrowHoff,
    stable_rate,
)


def dense(n: int, p: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal(p) + rng.standard_normal(n) > 0).astype(int)


def text(n: int, p: int = 100_000, words: int = 80) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows of about 80 words, frequent ones more often, and a hidden weight for each word."""
    rng = np.random.default_rng(1)
    indices = (p * rng.random((n, words)) ** 3).astype(np.int32).ravel()
    data = rng.integers(1, 4, n * words).astype(np.float64)
    X = sparse.csr_matrix((data, indices, np.arange(0, n * words + 1, words)), shape=(n, p))
    X.sum_duplicates()
    v = X @ rng.standard_normal(p)
    return X, (v + 0.3 * v.std() * rng.standard_normal(n) > 0).astype(int)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tenth = 10 if options.quick else 1
    tiny = dense(100)
    print(f"first call: {seconds(partial(Perceptron(max_iter=1).fit, *tiny)):.2f} s")
    head()
    met = [
        *passes_over_dense(1_000_000 // tenth, options.repeats),
        *passes_over_sorted_rows(100_000 // tenth, options.repeats),
        *a_pass_over_text(200_000 // tenth, options.repeats),
        *one_row_at_a_time(),
    ]
    learning()
    return 0 if all(met) or options.quick else 1


def passes_over_dense(n: int, repeats: int) -> list[bool]:
    """Five passes, both shuffling, and neither."""
    X, y = dense(n)
    met = []
    for shuffle, target in ((True, 3.0), (False, 2.0)):
        ours = Perceptron(max_iter=5, shuffle=shuffle, random_state=0)
        peer = peers.Perceptron(max_iter=5, tol=None, shuffle=shuffle, random_state=0)
        name = f"dense {n}x20, 5 passes, {'shuffled' if shuffle else 'in order'}"
        works = partial(ours.fit, X, y), partial(peer.fit, X, y)
        met.append(compare(name, *works, target, repeats, "Perceptron"))
        note(f"accuracy {ours.score(X, y):.3f}, peer {peer.score(X, y):.3f}")
    return met


def passes_over_sorted_rows(n: int, repeats: int) -> list[bool]:
    """Rows sorted by label, as files often are: who does not shuffle all rows learns nothing."""
    cases = (("dense", 5, dense(4 * n), 1.5), ("CSR", 2, text(2 * n), 0))
    met = []
    for kind, passes, (X, y), target in cases:
        half = X.shape[0] // 2
        order = np.argsort(y[:half], kind="stable")
        train, test = (X[order], y[order]), (X[half:], y[half:])
        name = f"{kind} {half}x{X.shape[1]}, {passes} passes, shuffled, rows sorted by label"
        given = {"max_iter": passes, "shuffle": True}
        ours = Perceptron(**given, random_state=0)
        works = [partial(ours.fit, *train)]
        for peer in (
            peers.Perceptron(tol=None, **given, random_state=0),
            peers.SGDClassifier(tol=None, **given, random_state=0),
        ):
            works[1:] = [partial(peer.fit, *train)]
            met.append(compare(name, *works, target, repeats, type(peer).__name__))
            note(_means_of_seeds(train, test, ours, peer))
    return met


def _means_of_seeds(train: Any, test: Any, *models: Any) -> str:
    """Test accuracies over five seeds, since last weights depend on the last rows."""
    means = [
        np.mean([m.set_params(random_state=k).fit(*train).score(*test) for k in range(5)])
        for m in models
    ]
    return f"test accuracy {means[0]:.3f}, peer {means[1]:.3f}, means of five seeds"


def a_pass_over_text(n: int, repeats: int) -> list[bool]:
    """One pass over CSR rows."""
    X, y = text(n)
    peer = peers.Perceptron(max_iter=1, tol=None, shuffle=False)
    met = []
    for ours, target in (
        (Perceptron(max_iter=1), 1.3),
        (Perceptron(max_iter=1, keep="average"), 0),
    ):
        name = f"CSR {n}x100000, a pass, {ours.keep}"
        works = partial(ours.fit, X, y), partial(peer.fit, X, y)
        met.append(compare(name, *works, target, repeats, "Perceptron"))
        note(test_accuracies(X, y, ours.fit, peer.fit))
    took = statistics.median(seconds(partial(Adaline(max_iter=1).fit, X, y)) for _ in range(3))
    note(f"Adaline(eta='auto'), a pass: {took * 1e3:.0f} ms")
    return met + on_line_logistic(X, y, repeats)


def test_accuracies(X: sparse.csr_matrix, y: np.ndarray, *fits: Callable[..., Any]) -> str:
    """Of learning from half of the rows, in five orders: last weights depend on the last rows."""
    half, rng = X.shape[0] // 2, np.random.default_rng(3)
    scores = []
    for _ in range(5):
        order = rng.permutation(half)
        rows, labels = X[order], y[order]
        scores.append([fit(rows, labels).score(X[half:], y[half:]) for fit in fits])
    means = np.mean(scores, axis=0)
    return f"test accuracy {means[0]:.3f}, peer {means[1]:.3f}, means of five orders"


def on_line_logistic(X: sparse.csr_matrix, y: np.ndarray, repeats: int) -> list[bool]:
    """One pass of logistic regression over CSR rows."""
    n = X.shape[0]

    def ours(X: sparse.csr_matrix = X, y: np.ndarray = y) -> LogisticRegression:
        return LogisticRegression().partial_fit(X, y, classes=[0, 1])

    def peer(X: sparse.csr_matrix = X, y: np.ndarray = y) -> peers.SGDClassifier:
        model = peers.SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False)
        return model.fit(X, y)

    name = f"CSR {n}x100000, a pass, logistic"
    met = [compare(name, ours, peer, 1.3, repeats, "SGDClassifier")]
    note(test_accuracies(X, y, ours, peer))
    try:
        import vowpalwabbit
    except ImportError:
        missing("vowpalwabbit")
        return met
    with tempfile.TemporaryDirectory() as folder:
        text_file, cache = Path(folder, "rows.vw"), Path(folder, "rows.cache")
        raw = Path(folder, "rows.svm")
        dump_svmlight_file(X, np.where(y == 1, 1, -1), str(raw), zero_based=True)
        with raw.open() as lines, text_file.open("w") as out:
            out.writelines(line.replace(" ", " | ", 1) for line in lines)
        options = f"-d {text_file} --cache_file {cache} --loss_function logistic -b 18 --quiet"

        def from_cache() -> None:
            vowpalwabbit.Workspace(options).finish()

        from_cache()  # reads the text and leaves the cache
        met.append(compare(name, ours, from_cache, 4.0, repeats, "Vowpal Wabbit, cached"))
    return met


def one_row_at_a_time(n: int = 20_000) -> list[bool]:
    """learn_one beside river; partial_fit of one row beside scikit-learn's."""
    X, y = dense(n)
    labels = y.tolist()
    ours = Perceptron().partial_fit(X[:1], y[:1], classes=[0, 1])
    auto = Adaline().partial_fit(X[:1], y[:1], classes=[0, 1])

    logistic = LogisticRegression().partial_fit(X[:1], y[:1], classes=[0, 1])

    def stream(model: Perceptron | Adaline | LogisticRegression) -> None:
        for x, label in zip(X, labels, strict=True):
            model.learn_one(x, label)

    met = []
    try:
        from river import linear_model
    except ImportError:
        missing("river")
        took = min(seconds(partial(stream, ours)) for _ in range(3)) / n
        note(f"learn_one: {took * 1e6:.2f} us")
    else:
        rows = [dict(enumerate(x)) for x in X.tolist()]
        perceptron, rivers_logistic = linear_model.Perceptron(), linear_model.LogisticRegression()

        def rivers(model: Any) -> None:
            for x, label in zip(rows, labels, strict=True):
                model.learn_one(x, label)

        for name, model, peer in (
            ("", ours, perceptron),
            (" auto", auto, perceptron),
            (" logistic", logistic, rivers_logistic),
        ):
            works = partial(stream, model), partial(rivers, peer)
            met.append(compare(f"learn_one, {n} rows of 20{name}", *works, 3.0, 7, "river"))
    peer = peers.Perceptron().partial_fit(X[:1], y[:1], classes=[0, 1])
    works = [
        lambda m=m: [m.partial_fit(X[i : i + 1], y[i : i + 1]) for i in range(300)]
        for m in (ours, peer)
    ]
    met.append(compare("partial_fit, 300 rows one by one", *works, 1.0, 3, "Perceptron"))
    return met


def learning() -> None:
    """Excess squared error over least squares, automatic beside the best hand-tuned rate."""
    rng = np.random.default_rng(2)
    n, p = 5000, 20
    w, noise = rng.standard_normal(p), rng.standard_normal(n)
    iid = rng.standard_normal((n, p))
    Z = iid @ (np.eye(p) + rng.standard_normal((p, p)) / 9)
    heavy = rng.standard_t(3, (n, p))
    kinds = {
        "correlated": (Z, Z @ w + 1 + noise),
        "the same, units 1e-3..1e6": (Z * 10.0 ** rng.uniform(-3, 6, p), Z @ w + 1 + noise),
        "independent": (iid, iid @ w + 1 + noise),
        "heavy tails": (heavy, heavy @ w + 1 + noise),
        "nonlinear target": (iid, (iid @ w) ** 2 + iid @ w + noise),
    }
    print("\nexcess error: automatic / best of 21 hand-tuned rates on scaled features, ratio;")
    print("for comparison, the statistical error of least squares, (p + 1)/n of the noise")
    for name, (X, y) in kinds.items():
        S = X / np.sqrt(np.mean(X * X, axis=0))
        A = np.column_stack([S, np.ones(n)])
        least = np.mean((y - A @ np.linalg.lstsq(A, y)[0]) ** 2)
        top = stable_rate(S).one_sample
        rates = [Constant(top / 2**k) for k in range(9)]
        rates += [SearchThenConverge(top / 2**k, t) for k in range(4) for t in (100, 500, 2000)]
        for passes in (1, 5):
            auto = WidrowHoff(max_iter=passes, tol=0).fit(X, y)
            hand = [WidrowHoff(eta, max_iter=passes, tol=0).fit(S, y) for eta in rates]
            best = min(np.mean((y - m.predict(S)) ** 2) - least for m in hand)
            mine = np.mean((y - auto.predict(X)) ** 2) - least
            said = f"{mine:.2e} / {best:.2e} = {mine / best:.2g}; {least * (p + 1) / n:.1e}"
            print(f"    {name}, {passes} passes: {said}")


if __name__ == "__main__":
    sys.exit(main())
