"""Rows whose products leave the range of floats: right answers, or infinities, and no warning."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline import (
    Adaline,
    GaussianClassifier,
    HoKashyap,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    Ridge,
    SigmoidPerceptron,
    WidrowHoff,
)

LINEAR = [Adaline, GaussianClassifier, LeastSquaresClassifier, LogisticRegression, Perceptron]
CASES_OF_CLASSES = [(model, K) for model in (*LINEAR, SigmoidPerceptron) for K in (2, 4)]
CASES_OF_CLASSES += [(HoKashyap, 2)]
CASES_OF_NUMBERS = [(LeastSquares, 1), (LeastSquares, 3), (Ridge, 1), (Ridge, 3), (WidrowHoff, 1)]
TOWARDS = np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.3], [0.1, 0.0, 1.0], [-1.0, -1.0, -1.0]])
AS = {"dense": np.asarray, "csr": sparse.csr_array}


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge, which is not the question
        return model.fit(X, y)


def far_rows(rng, dtype):
    """Finite rows of the largest numbers, and one of ordinary ones."""
    rows = rng.uniform(-1.0, 1.0, (40, 3)) * np.finfo(dtype).max
    rows[::4] /= 8.0
    rows[-1] = 1.0, -2.0, 3.0
    return rows.astype(dtype)


def exact_values(model, X):
    """W x + b in rational numbers, a list for each row."""
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    return [
        [
            sum((Fraction(float(a)) * Fraction(float(c)) for a, c in zip(w, x, strict=True)), start)
            for w, start in zip(W, (Fraction(float(c)) for c in b), strict=True)
        ]
        for x in X
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", AS)
@pytest.mark.parametrize(("model", "targets"), CASES_OF_NUMBERS)
def test_a_prediction_is_right_wherever_it_is_in_range_and_infinite_beyond(
    rng, model, targets, kind, dtype
):
    X = rng.standard_normal((60, 3)).astype(dtype)
    Y = X @ rng.standard_normal((3, targets)) * 3.0
    model = quietly(model(), X, Y if targets > 1 else Y[:, 0])
    far = far_rows(rng, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict(AS[kind](far)).reshape(len(far), -1)
    assert found.dtype == dtype
    largest, seen = Fraction(float(np.finfo(dtype).max)), set()
    reach = 8 * float(np.finfo(dtype).eps)
    for row, values, x in zip(found, exact_values(model, far), far, strict=True):
        for v, exact in zip(row.tolist(), values, strict=True):
            size = float(np.abs(x).max()) * reach  # what rounding of products may do
            if abs(exact) <= largest * (1 - Fraction(reach) * 10):
                assert abs(Fraction(v) - exact) <= 20 * Fraction(size)
                seen.add("in range")
            elif abs(exact) > largest * (1 + Fraction(reach) * 10):
                assert v == (np.inf if exact > 0 else -np.inf)
                seen.add("beyond")
    assert seen == {"in range", "beyond"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", AS)
@pytest.mark.parametrize(("model", "K"), CASES_OF_CLASSES)
def test_the_class_is_that_of_the_exact_values(rng, model, K, kind, dtype):
    X = (3.0 * rng.standard_normal((200, 3))).astype(dtype)
    y = np.argmax(X @ TOWARDS[:K].T, axis=1)
    model = quietly(model(), X, y)
    far = far_rows(rng, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, values = model.predict(AS[kind](far)), model.decision_function(AS[kind](far))
    assert not np.isnan(values).any()
    for label, exact in zip(found, exact_values(model, far), strict=True):
        best = int(exact[0] > 0) if K == 2 else max(range(K), key=exact.__getitem__)
        assert label == best
