"""`mistake_bound`: with a hyperplane, and with the one that makes it smallest."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import Perceptron, max_margin, mistake_bound


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    v = X @ [1.0, -2.0, 0.5] + 0.4
    X, v = X[np.abs(v) > 0.3], v[np.abs(v) > 0.3]
    return X, np.where(v > 0, 1, -1)


@pytest.mark.parametrize("bias", [True, False])
def test_the_best_hyperplane_gives_the_smallest_bound(data, rng, bias):
    X, y = data
    if not bias:
        X, y = X[np.abs(X @ [1, -2, 0.5]) > 0.3], None
        y = np.where(X @ [1, -2, 0.5] > 0, 1, -1)
    best = mistake_bound(X, y, fit_intercept=bias)
    model = Perceptron(max_iter=10_000, fit_intercept=bias).fit(X, y)
    assert model.fit_.corrections <= best.sharp <= best.lecture
    own = mistake_bound(X, y, model.coef_[0], model.intercept_[0] if bias else None)
    assert best.sharp <= own.sharp * (1 + 1e-9)
    assert best.R == own.R
    for _ in range(50):  # nothing nearby is better
        w, b = rng.standard_normal(3), float(rng.standard_normal())
        try:
            other = mistake_bound(X, y, w, b if bias else None)
        except ValueError:
            continue
        assert best.sharp <= other.sharp * (1 + 1e-9)


def test_the_hyperplane_of_largest_margin_in_space_is_not_better(data):
    """Its margin is counted in (x, 1), where the bias lengthens the weights."""
    X, y = data
    found = max_margin(X, y)
    assert mistake_bound(X, y).sharp <= mistake_bound(X, y, found.w, found.b).sharp * (1 + 1e-9)


def test_where_no_hyperplane_separates_there_is_no_bound(rng):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="so there is no bound"):
        mistake_bound(X, y)
    with pytest.raises(ValueError, match="does not separate"):
        mistake_bound(X, y, [1.0, 0.0])
