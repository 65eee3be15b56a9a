"""Every public way in for sparse rows, tried with malformed matrices: run as a program.

What crashes would take the tests with it, so they run this in a process of its own. It prints a
line before each call and one after it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import adaline as A
from adaline.data import blocks
from adaline.data import fit as fit_stream

ROWS, COLUMNS, FAR = 60, 4, 2**30
_RNG = np.random.default_rng(5)
DENSE = np.where(_RNG.random((ROWS, COLUMNS)) < 0.6, _RNG.standard_normal((ROWS, COLUMNS)), 0.0)
SIDE = DENSE @ [1.0, -2.0, 0.5, 1.0] + 0.3
Y = SIDE + 0.01 * _RNG.standard_normal(ROWS)
LABELS = (SIDE > 0).astype(int)


def set_one(name: str, place: int, value: int, form: Any = sparse.csr_array) -> Any:
    X = form(DENSE)
    (X.coords[1] if name == "coords" else getattr(X, name))[place] = value
    return X


def cut_short(name: str) -> Any:
    X = sparse.csr_array(DENSE)
    setattr(X, name, getattr(X, name)[:-3])
    return X


MALFORMED: dict[str, Callable[[], Any]] = {
    "a column too far": partial(set_one, "indices", 7, FAR),
    "a column just beyond": partial(set_one, "indices", 7, COLUMNS),
    "a negative column": partial(set_one, "indices", 7, -FAR),
    "a row that ends before it begins": partial(set_one, "indptr", 5, 0),
    "a row that ends too far": partial(set_one, "indptr", 5, FAR),
    "a last row that ends too far": partial(set_one, "indptr", ROWS, FAR),
    "a first row that begins before the data": partial(set_one, "indptr", 0, -FAR),
    "too few row ends": partial(cut_short, "indptr"),
    "too few columns": partial(cut_short, "indices"),
    "too few numbers": partial(cut_short, "data"),
    "a row too far, in CSC": partial(set_one, "indices", 2, FAR, sparse.csc_array),
    "a column too far, in COO": partial(set_one, "coords", 2, FAR, sparse.coo_array),
}
REGRESSORS = {
    "LeastSquares": A.LeastSquares,
    "PolynomialLeastSquares": A.PolynomialLeastSquares,
    "Ridge": A.Ridge,
    "WidrowHoff": A.WidrowHoff,
}
CLASSIFIERS = {
    "Adaline": A.Adaline,
    "GaussianClassifier": A.GaussianClassifier,
    "HoKashyap": A.HoKashyap,
    "KernelPerceptron": A.KernelPerceptron,
    "LeastSquaresClassifier": A.LeastSquaresClassifier,
    "LogisticRegression": A.LogisticRegression,
    "Perceptron": A.Perceptron,
    "SigmoidPerceptron": A.SigmoidPerceptron,
}
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba")


def ways_in() -> dict[str, Callable[[Any], Any]]:
    """Name to a call with X."""
    ways: dict[str, Callable[[Any], Any]] = {
        "Moments.of": lambda X: A.Moments.of(X, Y),
        "ClassMoments.of": lambda X: A.ClassMoments.of(X, LABELS, 2),
        "Triangle.of": lambda X: A.Triangle.of(X, Y),
        "TfDf.fit": lambda X: A.TfDf().fit(X),
        "TfDf.transform": A.TfDf().fit(np.abs(DENSE)).transform,
        "separability": lambda X: A.separability(X, LABELS),
        "Separability.check": _checked,
        "max_margin": lambda X: A.max_margin(X, LABELS),
        "mistake_bound": lambda X: A.mistake_bound(X, LABELS),
        "stable_rate": A.stable_rate,
        "trace": lambda X: A.trace(A.Perceptron(max_iter=2), X, LABELS),
        "blocks": lambda X: list(blocks(X)),
        "blocks of an iterable": lambda X: list(blocks(iter([X]))),
        "data.fit": lambda X: fit_stream(A.LeastSquares(), X, "x3"),
        "Report.of": lambda X: A.Report.of(A.LeastSquares().fit(DENSE, Y), X, Y),
    }
    for name, kind in (REGRESSORS | CLASSIFIERS).items():
        y = Y if name in REGRESSORS else LABELS
        ways |= _of_estimator(name, kind, y)
    return ways


def _checked(X: Any) -> None:
    answer = A.separability(DENSE, LABELS).check(X, LABELS)
    if not answer:
        raise ValueError(answer.sentence)


def _of_estimator(name: str, kind: Any, y: Any) -> dict[str, Callable[[Any], Any]]:
    ways: dict[str, Callable[[Any], Any]] = {f"{name}.fit": lambda X: kind().fit(X, y)}
    fitted = kind().fit(DENSE, y)
    for method in METHODS:
        if hasattr(fitted, method):
            ways[f"{name}.{method}"] = getattr(fitted, method)
    ways[f"{name}.score"] = lambda X: fitted.score(X, y)
    if hasattr(fitted, "partial_fit"):
        more = {"classes": [0, 1]} if y is LABELS else {}
        ways[f"{name}.partial_fit"] = lambda X: kind().partial_fit(X, y, **more)
    return ways


def main() -> None:
    warnings.simplefilter("ignore")
    for way, call in ways_in().items():
        for what, made in MALFORMED.items():
            print(f"{way}: {what}", end=": ", flush=True)
            try:
                call(made())
            except (ValueError, TypeError) as error:
                print("refused:", " ".join(str(error).split()), flush=True)
            else:
                print("taken", flush=True)
    print("done")


if __name__ == "__main__":
    main()
