"""`max_margin`: what a hard-margin support vector machine looks for, and its manners."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import max_margin


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 > 0, "yes", "no")
    X += np.where(y == "yes", 0.2, -0.2)[:, None] * [1.0, -2.0, 0.5]
    return X, y


def test_the_lecture_s_outlier_does_not_move_it():
    """(0, 10) pulls minimum squared error to the wrong side of (5, 9); here it is no support."""
    X, y = [[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, -1, -1]
    found = max_margin(X, y)
    without = max_margin(X[:3], y[:3])
    np.testing.assert_allclose(found.w, without.w, atol=1e-15)
    assert found.support.tolist() == [0, 1, 2]
    assert found.margin == pytest.approx(1 / np.sqrt(5), rel=1e-15)


def test_rows_of_weight_zero_are_not_there(data):
    X, y = data
    weight = np.ones(len(y))
    weight[::3] = 0.0
    used = np.flatnonzero(weight)
    found, want = max_margin(X, y, weight), max_margin(X[used], y[used])
    assert found.margin == want.margin
    assert found.support.tolist() == used[want.support].tolist()


def test_touching_hulls_are_refused():
    X = [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [2.0, 0.0]]
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin([[1.0], [1.0]], [0, 1])  # the same sample twice
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin([[0.0], [0.0]], [0, 1])


def test_too_few_passes_are_told(rng):
    X = rng.standard_normal((2000, 30))
    y = (X @ rng.standard_normal(30) > 0).astype(int)
    with pytest.raises(ValueError, match="larger max_iter"):
        max_margin(X, y, max_iter=2)


def test_without_a_bias_it_passes_through_the_origin(data):
    X, y = data
    found = max_margin(X, y, fit_intercept=False)
    assert found.b == 0.0
    assert found.margin <= max_margin(X, y).margin
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.positive - found.negative, found.margin * found.w, atol=1e-12)
    with pytest.raises(ValueError, match="no hyperplane"):
        max_margin([[1.0], [2.0]], [0, 1], fit_intercept=False)
