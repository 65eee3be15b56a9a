"""learn_one and predict_one refuse NaN and infinities, and a refused sample changes nothing."""

from __future__ import annotations

import contextlib
import copy
import warnings

import numpy as np
import pytest

from adaline import Adaline, LogisticRegression, OverK, Perceptron, SigmoidPerceptron, WidrowHoff
from bits import same

X = np.random.default_rng(3).standard_normal((40, 3))
TWO, THREE = (X[:, 0] > 0).astype(int), np.arange(40) % 3
LEARNERS = {
    "WidrowHoff": lambda: WidrowHoff().partial_fit(X, X[:, 0]),
    "WidrowHoff, rate": lambda: WidrowHoff(0.01).partial_fit(X, X[:, 0]),
    "Adaline": lambda: Adaline().partial_fit(X, TWO),
    "Adaline, 3": lambda: Adaline(OverK(0.1)).partial_fit(X, THREE),
    "Perceptron": lambda: Perceptron().partial_fit(X, TWO),
    "Perceptron, 3": lambda: Perceptron(keep="pocket").partial_fit(X, THREE),
    "Perceptron, average": lambda: Perceptron(keep="average").partial_fit(X, TWO),
    "SigmoidPerceptron": lambda: SigmoidPerceptron().partial_fit(X, TWO),
    "LogisticRegression": lambda: LogisticRegression().partial_fit(X, TWO),
    "LogisticRegression, 3": lambda: LogisticRegression().partial_fit(X, THREE),
}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_sample_that_is_not_finite_is_refused(name, column, bad):
    model = LEARNERS[name]()
    for sample, target in zip(X[:3], TWO, strict=False):  # past partial_fit, on the thin path
        model.learn_one(sample, target)
    before, x = copy.deepcopy(vars(model)), X[0].copy()
    x[column] = bad
    with pytest.raises(ValueError, match=f"column {column}"):
        model.learn_one(x, 0)
    assert same(vars(model), before)
    with pytest.raises(ValueError, match=f"column {column}"):
        model.predict_one(x)
    assert same(vars(model), before)
    assert np.isfinite(model.learn_one(X[5], 1).coef_).all()


@pytest.mark.parametrize("size", [1e60, 1e160, 1e300])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_huge_sample_leaves_finite_weights(name, size):
    model = LEARNERS[name]().learn_one(X[0], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(5):
            with contextlib.suppress(ValueError):  # squares that overflow are refused by some
                model.learn_one(size * X[k], int(TWO[k]))
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.learn_one(X[1], 0).coef_).all()


def test_a_rate_that_diverges_leaves_finite_weights():
    model = WidrowHoff(10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(X[:1], X[:1, 0])
        for k in range(2000):
            model.learn_one(10.0 * X[k % 40], X[k % 40, 0])
    assert np.isfinite(model.coef_).all()
