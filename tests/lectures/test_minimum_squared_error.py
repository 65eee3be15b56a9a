"""The three worked examples of the MSE procedure (lecture 001), to the digits printed there."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LeastSquaresClassifier
from reference import minimum_squared_error

T = [1, 1, -1, -1]
FIRST = [[6, 9], [5, 7], [5, 9], [0, 4]]
SECOND = [[6, 9], [5, 7], [5, 9], [0, 10]]
EXAMPLES = {
    "separates": (FIRST, [1] * 4, [2.6629, 1.0449, -0.9438], [0.4382, 1.2809, 0.6067, 1.1124]),
    "does not": (SECOND, [1] * 4, [3.2190, 0.1533, -0.4380], [0.1971, 0.9197, -0.0438, 1.1606]),
    "with margins": (
        SECOND,
        [1, 1, 1, 10],
        [-1.0511, 1.6642, -0.8978],
        [0.8540, 0.9854, 0.8102, 10.0292],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_worked_examples_come_out_to_four_digits(name):
    X, margins, a, Ya = EXAMPLES[name]
    model = LeastSquaresClassifier().fit(X, T, margins=margins)
    found = [*model.intercept_, *model.coef_[0]]
    np.testing.assert_allclose(found, a, atol=5e-5)
    np.testing.assert_allclose(T * model.decision_function(X), Ya, atol=5e-5)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_verdicts_are_the_lectures(name):
    X, margins, _, Ya = EXAMPLES[name]
    model = LeastSquaresClassifier().fit(X, T, margins=margins)
    separates = min(Ya) > 0
    assert model.certificate_.kind == ("separable" if separates else "undecided")
    assert (model.score(X, T) == 1) == separates


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_slow_twin_agrees(name):
    X, margins, _, _ = EXAMPLES[name]
    a, _ = minimum_squared_error(X, T, margins)
    model = LeastSquaresClassifier().fit(X, T, margins=margins)
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], a, rtol=1e-10)
