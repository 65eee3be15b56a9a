"""`mistake_bound`: with a hyperplane, and with the one that makes it smallest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

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


def test_sparse_and_dense_agree(data):
    X, y = data
    for bias in (True, False):
        try:
            want = mistake_bound(X, y, fit_intercept=bias)
        except ValueError:
            continue
        found = mistake_bound(sparse.csr_matrix(X), y, fit_intercept=bias)
        assert found.sharp == pytest.approx(want.sharp, rel=1e-9)


def test_where_no_hyperplane_separates_there_is_no_bound(rng):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="so there is no bound"):
        mistake_bound(X, y)
    with pytest.raises(ValueError, match="does not separate"):
        mistake_bound(X, y, [1.0, 0.0])


def test_a_bias_without_weights_is_refused(data):
    with pytest.raises(ValueError, match="without a w"):
        mistake_bound(*data, b=1.0)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_units_do_not_matter_without_a_bias(data, scale):
    X, y = data
    X = np.abs(X) * y[:, None]  # separable through the origin
    want = mistake_bound(X, y, fit_intercept=False)
    found = mistake_bound(X * scale, y, fit_intercept=False)
    assert found.sharp == pytest.approx(want.sharp, rel=1e-9)
    assert found.D / scale == pytest.approx(want.D, rel=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(data, bad):
    X, y = data
    X[3, 1] = bad
    with pytest.raises(ValueError, match="row 3, column 1"):
        mistake_bound(X, y)
    with pytest.raises(ValueError, match="NaN or infinity"):
        mistake_bound(X, y, [1.0, -2.0, 0.5], 0.4)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1e308])
def test_the_length_of_the_weights_does_not_matter(size):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -0.5]]), [1, 1, 0]
    want = mistake_bound(X, y, [1.0, 1.0])
    found = mistake_bound(X, y, [size, size])
    assert found.sharp == pytest.approx(want.sharp, rel=1e-9)
    assert found.lecture == pytest.approx(want.lecture, rel=1e-9)
