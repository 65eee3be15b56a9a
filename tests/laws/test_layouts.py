"""Weights do not depend on how rows lie in memory: by rows, by columns, or with gaps between.

Two learners depend on it in their last digits, and are named.
"""

from __future__ import annotations

import numpy as np
import pytest

import adaline

LEARNERS = {
    "LeastSquares": (adaline.LeastSquares(), "numbers"),
    "Ridge": (adaline.Ridge(), "numbers"),
    "Ridge, given": (adaline.Ridge(1.0), "numbers"),
    "WidrowHoff": (adaline.WidrowHoff(max_iter=3), "numbers"),
    "PoissonRegression": (adaline.PoissonRegression(), "counts"),
    "GammaRegression": (adaline.GammaRegression(), "amounts"),
    "LeastSquaresClassifier": (adaline.LeastSquaresClassifier(), "three"),
    "GaussianClassifier": (adaline.GaussianClassifier(), "three"),
    "GaussianClassifier, full": (adaline.GaussianClassifier("full"), "three"),
    "GaussianClassifier, diagonal": (adaline.GaussianClassifier("diagonal"), "three"),
    "LogisticRegression": (adaline.LogisticRegression(1.0), "two"),
    "LogisticRegression, 3": (adaline.LogisticRegression(1.0), "three"),
    "LogisticRegression, auto": (adaline.LogisticRegression("auto"), "two"),
    "LogisticRegression, firth": (adaline.LogisticRegression("firth"), "two"),
    "Perceptron": (adaline.Perceptron(max_iter=3), "three"),
    "Adaline": (adaline.Adaline(max_iter=3), "two"),
    "SigmoidPerceptron": (adaline.SigmoidPerceptron(max_iter=3), "two"),
    "HoKashyap": (adaline.HoKashyap(max_iter=5), "two"),
}
LAYOUTS = {
    "by columns": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "upside down": lambda X: np.ascontiguousarray(X[::-1])[::-1],
}
# They multiply rows by BLAS as the rows lie, and their last digit depends on it.
BY_BLAS = {"LogisticRegression, 3", "HoKashyap"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_layout_of_rows_does_not_change_a_bit(learner, n, rng):
    model, kind = LEARNERS[learner]
    X = rng.standard_normal((n, 3)) * [1.0, 100.0, 0.01] + [0.0, 5.0, 0.0]
    v = X @ [1.0, 0.01, 50.0] + rng.standard_normal(n)
    y = {
        "numbers": v,
        "counts": np.abs(v).round(),
        "amounts": np.abs(v) + 0.1,
        "two": v > 0,
        "three": np.digitize(v, [-1.0, 1.0]),
    }[kind]

    def learned(rows):
        """Weights, or what is made of them where a covariance of each class leaves none."""
        fitted = model.fit(rows, y)
        return fitted.coef_ if hasattr(fitted, "coef_") else fitted.decision_function(X)

    expected = learned(X).copy()
    for layout, laid in LAYOUTS.items():
        assert np.array_equal(laid(X), X)
        found = learned(laid(X))
        if learner in BY_BLAS:
            np.testing.assert_allclose(found, expected, rtol=1e-8, err_msg=layout)
        else:
            assert np.array_equal(found, expected), layout
