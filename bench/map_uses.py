"""What users do besides fitting arrays: predict, fit tables with names, and search by folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from _bench import threads
from map_data import data
from map_learners import Poisson
from map_timing import cpu, in_turns
from sklearn import discriminant_analysis as bayes
from sklearn import linear_model as peers
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

import adaline

Pair = tuple[str, str, Callable[[], Any], Callable[[], Any]]  # work, peer, ours and the peer's call
NEWTON = {"solver": "newton-cholesky", "tol": 1e-6}  # of the peer: fastest with few columns
LDA = partial(bayes.LinearDiscriminantAnalysis, solver="lsqr")
TWO_CLASSES = (
    (adaline.LeastSquares(), peers.LinearRegression(), "predict"),
    (adaline.LogisticRegression(1.0), peers.LogisticRegression(), "predict_proba"),
    (adaline.LogisticRegression(1.0), peers.LogisticRegression(), "predict"),
    (adaline.GaussianClassifier(), LDA(), "predict_proba"),
)
TEN_CLASSES = (
    (adaline.LeastSquaresClassifier(), peers.RidgeClassifier(1e-6), "predict"),
    (adaline.LogisticRegression(1.0), peers.LogisticRegression(), "predict_proba"),
    (adaline.LogisticRegression(1.0), peers.LogisticRegression(), "predict"),
    (adaline.GaussianClassifier(), LDA(), "predict_proba"),
    (adaline.GaussianClassifier("full"), bayes.QuadraticDiscriminantAnalysis(), "predict_proba"),
    (adaline.GaussianClassifier("full"), bayes.QuadraticDiscriminantAnalysis(), "predict"),
    (adaline.GaussianClassifier("diagonal"), GaussianNB(), "predict_proba"),
)


def predictions() -> Iterator[Pair]:
    """One row, and 20,000, of 50 columns; these in float32, too. One row of text, and 5000."""
    for shape, targets, models, said in (
        ("20000x50", "labels", TWO_CLASSES, ""),
        ("20000x50, 10 classes", "labels", TEN_CLASSES, ", 10 classes"),
        ("20000x50", "counts", ((adaline.PoissonRegression(), Poisson(), "predict"),), ""),
    ):
        X, y = data(shape, targets)
        kinds = {"1 row": X[:1], "20000 rows": X, "float32": X.astype(np.float32)}
        yield from _predicting(models, X, y, kinds, said)
    X, t = data("csr 5000x20000", "labels")
    X = X.tocsr()
    yield from _predicting(TWO_CLASSES[1:3], X, t, {"1 row": X[:1], "5000 rows": X}, ", csr")
    ridges = ((adaline.Ridge(1.0), peers.Ridge(1.0), "predict"),)
    yield from _predicting(ridges, X, t, {"1 row": X[:1], "5000 rows": X}, ", csr")


def _predicting(models: Any, X: Any, y: Any, kinds: dict[str, Any], said: str) -> Iterator[Pair]:
    for ours, peer, method in models:
        ours.fit(X, y), peer.fit(X, y)
        name, other = _named(ours), type(peer).__name__
        for kind, Z in kinds.items():
            calls = [partial(getattr(m, method), Z) for m in (ours, peer)]
            yield f"{name}.{method}{said}, {kind}", other, *calls


def _named(model: Any) -> str:
    covariance = getattr(model, "covariance", "shared")
    return type(model).__name__ + (f" {covariance}" if covariance != "shared" else "")


def tables() -> Iterator[Pair]:
    """DataFrames of 1000 x 20, with labels that are words."""
    import pandas as pd

    names = [f"column {j}" for j in range(20)]
    for targets, models in (
        (
            "numbers",
            (
                (adaline.LeastSquares(), peers.LinearRegression()),
                (adaline.Ridge(1.0), peers.Ridge(1.0, solver="sparse_cg", tol=1e-9)),
            ),
        ),
        (
            "labels",
            (
                (adaline.LogisticRegression(1.0), peers.LogisticRegression(**NEWTON)),
                (adaline.GaussianClassifier(), LDA()),
            ),
        ),
    ):
        X, y = data("1000x20", targets)
        frame = pd.DataFrame(X, columns=names)
        column = pd.Series(y if targets == "numbers" else np.where(y > 0, "yes", "no"))
        for ours, peer in models:
            name, other = f"{_named(ours)}, DataFrame 1000x20", type(peer).__name__
            yield name, other, partial(ours.fit, frame, column), partial(peer.fit, frame, column)
            kinds = {"1 row": frame[:1], "1000 rows": frame}
            yield from _predicting(
                ((ours, peer, "predict"),), frame, column, kinds, ", DataFrame 1000x20"
            )


def searches() -> Iterator[Pair]:
    """scikit-learn's searches by five folds, over ours and over its own, 1000 x 20."""
    alphas = np.logspace(-2, 2, 9)
    X, y = data("1000x20", "numbers")
    quick = {"solver": "sparse_cg", "tol": 1e-9}
    ours, peer = (
        GridSearchCV(model, {"alpha": alphas}, cv=5)
        for model in (adaline.Ridge(), _faster(X, y, peers.Ridge(), peers.Ridge(**quick)))
    )
    yield (
        "GridSearchCV of Ridge, 9 alphas, 1000x20",
        "Ridge",
        *(partial(search.fit, X, y) for search in (ours, peer)),
    )
    X, t = data("1000x20", "labels")
    machine = peers.LogisticRegression(**NEWTON)
    searches = (
        GridSearchCV(adaline.LogisticRegression(), {"alpha": alphas}, cv=5),
        GridSearchCV(machine, {"C": 1.0 / alphas}, cv=5),
    )
    yield (
        "GridSearchCV of LogisticRegression, 9 alphas, 1000x20",
        "LogisticRegression",
        *(partial(search.fit, X, t) for search in searches),
    )
    for ours, peer in (
        (adaline.LogisticRegression(), machine),
        (adaline.GaussianClassifier(), LDA()),
    ):
        yield (
            f"cross_val_score of {_named(ours)}, 1000x20",
            type(peer).__name__,
            *(partial(cross_val_score, model, X, t, cv=5) for model in (ours, peer)),
        )


def _faster(X: Any, y: Any, *models: Any) -> Any:
    return min(models, key=lambda m: min(cpu(partial(m.fit, X, y)) for _ in range(5)))


def measured(uses: Callable[[], Iterator[Pair]], repeats: int, cells: Any, answers: Any) -> None:
    """Time every pair of calls, or those of cells, and put what was found into the queue."""
    warnings.simplefilter("ignore")
    with threads(1):
        for name, peer, mine, other in uses():
            if cells and name not in cells:
                continue
            answers.put(("row", name, peer, *in_turns(mine, other, repeats), ""))
    answers.put(("done",))
