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


def perceptrons() -> tuple[Any, Any]:
    """Two passes, shuffled, of ours and of scikit-learn's."""
    return (
        lambda seed, *rows: adaline.Perceptron(**TWICE, random_state=seed).fit(*rows),
        lambda seed, *rows: peers.Perceptron(**TWICE, tol=None, random_state=seed).fit(*rows),
    )


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


def measured(quick: bool, repeats: int, answers: Any) -> None:
    """Time every case and judge it by the other half of its rows; text takes long."""
    warnings.simplefilter("ignore")
    with threads(1):
        for cases in (on_dense,) if quick else (on_dense, on_text):
            for name, ours, peer, rows in cases():
                train, test = halves(*rows)
                learned = [[f(k, *train) for k in range(SEEDS)] for f in (peer, ours)]
                right = [np.mean([model.score(*test) for model in models]) for models in learned]
                what = "accuracy" if hasattr(learned[0][0], "classes_") else "R2"
                remark = f"test {what}: peer {right[0]:.3f}, ours {right[1]:.3f}"
                times = in_turns(partial(ours, 0, *train), partial(peer, 0, *train), repeats)
                answers.put(("row", name, type(learned[0][0]).__name__, *times, remark))
    answers.put(("done",))
