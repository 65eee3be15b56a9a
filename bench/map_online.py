"""Learners that see one row at a time, judged by rows that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from _bench import threads
from bench_sequential import text as words
from map_data import data
from map_timing import in_turns
from sklearn import linear_model as peers

import adaline

SEEDS = 3
TWICE = {"max_iter": 2, "shuffle": True}
Case = tuple[str, Any, Any, Any]  # work, how ours and the peer learn from a seed and rows, all rows


def on_text() -> Iterator[Case]:
    """Rows of 80 words out of 100,000."""
    X, y = words(200_000)
    train, test = halves(X, y)
    once = {"loss": "log_loss", "max_iter": 1, "tol": None}
    labels = partial(adaline.LogisticRegression.partial_fit, classes=[0, 1])
    yield "Perceptron csr 100000x100000, 2 passes, shuffled", *perceptrons(), (X, y)

    def logistic(seed: int, *rows: Any) -> Any:
        return labels(adaline.LogisticRegression(), *rows)

    for said, peer in (
        (", in order", lambda seed, *rows: peers.SGDClassifier(**once, shuffle=False).fit(*rows)),
        (", at equal test accuracy", as_accurate(logistic(0, *train).score(*test), train, test)),
        (
            "",
            lambda seed, *rows: peers.SGDClassifier(loss="log_loss", random_state=seed).partial_fit(
                *rows, classes=[0, 1]
            ),
        ),
    ):
        yield f"LogisticRegression.partial_fit csr 100000x100000{said}", logistic, peer, (X, y)


def on_dense() -> Iterator[Case]:
    """Rows of 20 columns, and of 50 and ten classes."""
    yield "Perceptron 100000x20, 2 passes, shuffled", *perceptrons(), data("200000x20", "labels")
    rows = data("40000x50, 10 classes", "labels")
    yield "Perceptron 20000x50, 10 classes, 2 passes, shuffled", *perceptrons(), rows
    yield (
        "WidrowHoff.partial_fit 100000x20",
        lambda seed, *rows: adaline.WidrowHoff().partial_fit(*rows),
        lambda seed, *rows: peers.SGDRegressor(random_state=seed).partial_fit(*rows),
        data("200000x20", "numbers"),
    )
    yield (
        "Adaline.partial_fit 100000x20",
        lambda seed, *rows: adaline.Adaline().partial_fit(*rows, classes=[-1, 1]),
        lambda seed, *rows: peers.SGDClassifier(
            loss="squared_error", random_state=seed
        ).partial_fit(*rows, classes=[-1, 1]),
        data("200000x20", "labels"),
    )
    yield (
        "LogisticRegression.partial_fit 100000x20",
        lambda seed, *rows: adaline.LogisticRegression().partial_fit(*rows, classes=[-1, 1]),
        lambda seed, *rows: peers.SGDClassifier(loss="log_loss", random_state=seed).partial_fit(
            *rows, classes=[-1, 1]
        ),
        data("200000x20", "labels"),
    )


def as_they_are() -> Iterator[Case]:
    """Learners with no parameter given, which pass over the rows until they stop by themselves."""
    pairs = {
        "Perceptron": peers.Perceptron,
        "Adaline": peers.SGDClassifier,
        "SigmoidPerceptron": partial(peers.SGDClassifier, loss="log_loss"),
        "WidrowHoff": peers.SGDRegressor,
    }
    for name, peer in pairs.items():
        own, targets = getattr(adaline, name), "numbers" if name == "WidrowHoff" else "labels"
        for shape in ("200x5", "2000x20", "20000x50", "20000x50, 3 classes"):
            if targets == "numbers" and "classes" in shape:
                continue
            n, _, rest = shape.partition("x")
            yield (
                f"{name}() {int(n) // 2}x{rest}",
                lambda seed, *rows, own=own: own().fit(*rows),
                lambda seed, *rows, peer=peer: peer(random_state=seed).fit(*rows),
                data(shape, targets),
            )


def perceptrons() -> tuple[Any, Any]:
    """Two passes, shuffled, of ours and of scikit-learn's."""
    return (
        lambda seed, *rows: adaline.Perceptron(**TWICE, random_state=seed).fit(*rows),
        lambda seed, *rows: peers.Perceptron(**TWICE, tol=None, random_state=seed).fit(*rows),
    )


def excess(model: Any, X: Any, y: Any) -> float:
    """By how much its mean squared error on the rows it has learned is above the least."""
    errors = [np.mean((y - m.predict(X)) ** 2) for m in (model, adaline.LeastSquares().fit(X, y))]
    return float(errors[0] / errors[1] - 1.0)


def halves(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows to learn from, and rows to be judged by."""
    half = X.shape[0] // 2
    return (X[:half], y[:half]), (X[half:], y[half:])


def as_accurate(wanted: float, train: Any, test: Any) -> Any:
    """How SGDClassifier learns with as many passes, in order, as it needs for this accuracy."""

    def learned(passes: int, seed: int, *rows: Any) -> Any:
        options = {"loss": "log_loss", "max_iter": passes, "tol": None, "shuffle": False}
        return peers.SGDClassifier(**options).fit(*rows)

    passes = next(k for k in range(1, 100) if learned(k, 0, *train).score(*test) >= wanted)
    return partial(learned, passes)


def measured(quick: bool, repeats: int, cells: Any, answers: Any) -> None:
    """Time every case, or those of cells, and judge it by the other half of its rows."""
    warnings.simplefilter("ignore")
    with threads(1):
        # Text takes long.
        for cases in (as_they_are, on_dense) if quick else (as_they_are, on_dense, on_text):
            for name, ours, peer, rows in cases():
                if cells and name not in cells:
                    continue
                train, test = halves(*rows)
                learned = [[f(k, *train) for k in range(SEEDS)] for f in (peer, ours)]
                right = [np.mean([model.score(*test) for model in models]) for models in learned]
                what = "accuracy" if hasattr(learned[0][0], "classes_") else "R2"
                remark = f"test {what}: peer {right[0]:.3f}, ours {right[1]:.3f}"
                if what == "R2":
                    remark += "; training error above the least: peer {:.2%}, ours {:.2%}".format(
                        *(excess(models[0], *train) for models in learned)
                    )
                times = in_turns(partial(ours, 0, *train), partial(peer, 0, *train), repeats)
                answers.put(("row", name, type(learned[0][0]).__name__, *times, remark))
    answers.put(("done",))
