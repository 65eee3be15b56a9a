"""One of everything that a model file can hold, small, for the tests of model files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import adaline
from adaline.data import Encoding, Prepared, blocks
from adaline.filters import FILTERS

_RNG = np.random.default_rng(20)
X = _RNG.standard_normal((80, 3)) * [1.0, 100.0, 0.01] + [0.0, 5.0, 0.0]
y = X @ [1.0, 0.02, 300.0] + 2.0 + 0.3 * _RNG.standard_normal(80)
Y = np.column_stack([y, -y + X[:, 0]])
side = X[:, 0] + X[:, 1] / 100 + 0.5 * _RNG.standard_normal(80)
two = np.where(side > 0, "yes", "no")
three = np.array([10, 20, 30])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
S = sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
F = X.astype(np.float32)
signal = _RNG.standard_normal(300)
desired = np.convolve(signal, [0.5, -0.3, 0.1])[:300] + 0.01 * _RNG.standard_normal(300)


def _table() -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=["length", "Höhe", "ß 3"])


def _wide() -> Any:
    return sparse.random_array((40, 2100), density=0.02, format="csr", rng=3)


def _boxes() -> Any:
    counts = {"red": {"orange": 6, "apple": 2}, "blue": {"orange": 1, "apple": 3}}
    return adaline.BayesClassifier.from_counts(counts, priors={"red": 0.4, "blue": 0.6})


def _fitted_boxes() -> Any:
    counts = {1: {"orange": 6, "apple": 2}, 2: {"orange": 1, "apple": 3}}
    fruit = np.array(["orange", "apple", "apple"], dtype=object)
    return adaline.BayesClassifier.from_counts(counts).fit(fruit, [1, 2, 2])


def _streamed_logistic() -> Any:
    model = adaline.LogisticRegression().fit(X, two)
    return model.learn_one(X[0], two[0])


def _coloured() -> Any:
    import polars as pl

    colours = np.array(["red", "blue", "green"])[three // 10 - 1]
    return pl.DataFrame({"size": X[:, 0], "colour": colours})


def _prepared() -> Any:
    encoding = Encoding.learn(_coloured())
    rows = np.concatenate([encoding.encode(block) for block in blocks(_coloured())])
    return Prepared(encoding, A.LeastSquaresClassifier().fit(rows, two))


def _ran(filter: Any) -> Any:
    filter.process(signal[:137], desired[:137])
    return filter


def _of_example(kind: Any) -> Any:
    return _ran(kind(**kind._example))


A = adaline
MODELS: dict[str, Callable[[], Any]] = {
    "LeastSquares": lambda: A.LeastSquares().fit(X, y),
    "LeastSquares, stream": lambda: A.LeastSquares().partial_fit(X, y).forget(X[:9], y[:9]),
    "LeastSquares, triangle": lambda: A.LeastSquares().fit_moments(A.Triangle.of(X, y)),
    "LeastSquares, table": lambda: A.LeastSquares().fit(_table(), Y),
    "LeastSquares, float32": lambda: A.LeastSquares(fit_intercept=False).fit(F, Y),
    "LeastSquares, wide": lambda: A.LeastSquares().fit(_wide(), y[:40]),
    "PolynomialLeastSquares": lambda: A.PolynomialLeastSquares(degree=3).fit(X[:, :2], y),
    "Ridge": lambda: A.Ridge().fit(X, y),
    "Ridge, several": lambda: A.Ridge(alpha=[1.0, 2.0]).fit(X, Y),
    "Ridge, rows kept": lambda: A.Ridge().fit(X[:3], y[:3]),
    "Ridge, wide": lambda: A.Ridge().fit(_wide(), y[:40]),
    "Ridge, stream": lambda: A.Ridge("gcv").partial_fit(X, y),
    "LeastSquaresClassifier": lambda: A.LeastSquaresClassifier().fit(X, two),
    "LeastSquaresClassifier, 3": lambda: A.LeastSquaresClassifier().partial_fit(
        X, three, [10, 20, 30]
    ),
    "GaussianClassifier": lambda: A.GaussianClassifier().fit(X, two),
    "GaussianClassifier, 3": lambda: A.GaussianClassifier(priors=[0.2, 0.3, 0.5]).fit(F, three),
    "GaussianClassifier, full": lambda: A.GaussianClassifier("full", shrinkage="auto").fit(
        X, three
    ),
    "GaussianClassifier, diagonal": lambda: A.GaussianClassifier(
        "diagonal", costs=np.array([[0.0, 5.0], [1.0, 0.0]]), reject_cost=0.4
    ).fit(S, two),
    "BayesClassifier": lambda: A.BayesClassifier().fit(X, two),
    "BayesClassifier, kde": lambda: A.BayesClassifier(
        "kde", priors={10: 0.2, 20: 0.5, 30: 0.3}
    ).fit(X, three),
    "BayesClassifier, tables": _boxes,
    "BayesClassifier, tables and shares": _fitted_boxes,
    "Perceptron": lambda: A.Perceptron(max_iter=9).fit(X, two),
    "Perceptron, pocket": lambda: A.Perceptron(keep="pocket").partial_fit(X, three, [10, 20, 30]),
    "Perceptron, float32": lambda: A.Perceptron(A.OverK(2.0), max_iter=5).fit(F, two == "yes"),
    "Adaline": lambda: A.Adaline().fit(X, two),
    "Adaline, rate": lambda: A.Adaline(A.SearchThenConverge(1e-5, 50.0)).partial_fit(
        X, two, ["no", "yes"]
    ),
    "WidrowHoff": lambda: A.WidrowHoff().fit(X, y),
    "WidrowHoff, several": lambda: A.WidrowHoff().partial_fit(X, Y),
    "SigmoidPerceptron": lambda: A.SigmoidPerceptron("logistic", random_state=3).fit(X, three),
    "KernelPerceptron": lambda: A.KernelPerceptron(max_iter=5).fit(X, two),
    "KernelPerceptron, poly": lambda: A.KernelPerceptron("poly").partial_fit(
        S, three, [10, 20, 30]
    ),
    "HoKashyap": lambda: A.HoKashyap(max_iter=20).fit(X, two),
    "HoKashyap, 3": lambda: A.HoKashyap(max_iter=20).fit(F, three),
    "LogisticRegression": lambda: A.LogisticRegression().fit(X, two),
    "LogisticRegression, 3": lambda: A.LogisticRegression("auto", costs=1.0 - np.eye(3)).fit(
        X, three
    ),
    "LogisticRegression, firth": lambda: A.LogisticRegression("firth").fit(X, two),
    "LogisticRegression, wide": lambda: A.LogisticRegression().fit(_wide(), two[:40]),
    "LogisticRegression, stream": _streamed_logistic,
    "PoissonRegression": lambda: A.PoissonRegression().fit(X, np.abs(y).round()),
    "GammaRegression": lambda: A.GammaRegression().fit(X, np.abs(y) + 0.1),
    "TfDf": lambda: A.TfDf().fit(np.abs(X).round()),
    "TfDf, table": lambda: A.TfDf().set_output(transform="pandas").fit(_table().abs()),
    "Prepared": _prepared,
    "Moments": lambda: A.Moments.of(X, Y),
    "ClassMoments": lambda: A.ClassMoments.of(X, (three // 10) - 1, 3, covariance="diagonal"),
    "Triangle": lambda: A.Triangle.of(X, y),
    "MaxMargin": lambda: A.max_margin(X, X[:, 0] > 0),
    "Separability": lambda: A.separability(X, three),
    "Separability, separable": lambda: A.separability(X, X[:, 0] > 0),
    "LMS, schedule": lambda: _ran(A.LMS(4, eta=A.SearchThenConverge(0.1, 100.0))),
    "LMS, not begun": lambda: A.LMS(4, eta=0.1, weights=[0.1, 0.2, 0.3, 0.4]),
    "BlockLMS, block": lambda: _ran(A.BlockLMS(32, block=16)),
    "WienerFilter, signals": lambda: _ran(A.WienerFilter.from_signals(signal, desired, 4)),
    **{name: partial(_of_example, getattr(adaline, name)) for name in FILTERS},
}


def made(name: str) -> Any:
    """The model of that name, newly made; what it warns of is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def rows_for(name: str, model: Any) -> Any:
    """Rows, or symbols, that the model can answer to; twelve of them."""
    if "tables" in name:
        return ["orange", "apple"] * 6
    if name == "Prepared":
        return _coloured()[20:32]
    if "wide" in name:
        return _wide()[:12]
    if "table" in name:
        return _table()[:12] if name.startswith("Least") else _table().abs()[:12]
    return X[20:32, : getattr(model, "n_features_in_", 3)]


def answers(name: str, model: Any) -> dict[str, Any]:
    """All that a model says: fitted attributes, predictions, certificate and summary."""
    said: dict[str, Any] = {}
    rows = rows_for(name, model)
    if hasattr(model, "process"):
        return {"weights": model.weights, "state": model.state()}
    methods = "predict predict_proba predict_log_proba decision_function transform"
    for method in methods.split():
        if hasattr(model, method):
            said[method] = np.asarray(getattr(model, method)(rows))
    for attribute in (
        "coef_", "intercept_", "classes_", "certificate_", "n_iter_", "priors_", "fit_", "alpha_",
        "rank_", "condition_", "support_", "lambda_", "means_", "covariance_", "df_", "margins_",
    ):  # fmt: skip
        if hasattr(model, attribute):
            said[attribute] = getattr(model, attribute)
    for method in ("summary", "posterior", "evidence"):
        if hasattr(model, method) and not (method == "evidence" and "Bayes" in name):
            try:
                said[method] = getattr(model, method)()
            except ValueError as error:  # too large, no degrees of freedom: the same sentence
                said[method] = str(error)
    return said


def goes_on(name: str, model: Any) -> Any:
    """The model after more rows, less rows, or more samples, as far as it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "process"):
            return model.process(signal[137:], desired[137:])
        if not hasattr(model, "partial_fit") or "wide" in name or "kept" in name:
            return None
        rows = rows_for(name, model)
        if isinstance(model, A.TfDf):
            return model.partial_fit(rows)
        targets = Y if getattr(model, "_one_target", True) is False else y
        if hasattr(model, "classes_"):
            targets = model.classes_[np.arange(len(X)) % len(model.classes_)]
        model.partial_fit(rows, targets[20:32])
        if hasattr(model, "forget") and "triangle" not in name:
            model.forget(rows, targets[20:32])
        if hasattr(model, "learn_one"):
            model.learn_one(np.asarray(rows)[0], targets[20])
        return model
