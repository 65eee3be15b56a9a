"""The mergeable QR holds the sums of Moments without ever squaring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adaline import LeastSquares, Moments, Triangle
from reference import correct_digits, exact_least_squares, ill_conditioned

entries = st.floats(-100, 100).map(lambda x: round(x, 3))
blocks = st.integers(1, 9).flatmap(lambda n: arrays(float, (n, 3), elements=entries))


@given(blocks, blocks)
def test_a_triangle_of_parts_holds_the_scatter_of_the_whole(A, B):
    t = Triangle.of(A[:, :2], A[:, 2]) + Triangle.of(B[:, :2], B[:, 2])
    m = Moments.of(np.vstack([A, B])[:, :2], np.vstack([A, B])[:, 2])
    R = np.ldexp(t.centred(), t.exponent)
    size = 1 + np.abs(m.scatter).max()
    np.testing.assert_allclose(R.T @ R, m.scatter, atol=1e-12 * size)
    np.testing.assert_allclose(np.ldexp(t.mean, t.exponent), m.mean, atol=1e-11)


def test_a_streamed_triangle_keeps_digits_that_moments_lose(rng):
    X = ill_conditioned(rng, 300, 4, 1e7)
    y = X @ np.ones(4) + 1e-8 * rng.standard_normal(300)
    cut = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 300, 50)]
    exact = exact_least_squares(X, y)
    digits = {}
    for kind in (Triangle, Moments):
        model = LeastSquares().fit_moments(kind.over(cut))
        digits[kind] = correct_digits([*model.coef_, model.intercept_], exact)
    assert digits[Triangle] > 7
    assert digits[Triangle] > digits[Moments] + 2


def test_a_triangle_of_dependent_columns_gives_the_minimum_norm(rng):
    X = rng.standard_normal((30, 3))
    X = np.column_stack([X, X[:, 0] - X[:, 2]])
    y = rng.standard_normal(30)
    model = LeastSquares().fit_moments(Triangle.of(X, y))
    np.testing.assert_allclose(
        model.coef_, np.linalg.pinv(X - X.mean(0), rcond=1e-10) @ (y - y.mean()), atol=1e-13
    )
    assert model.rank_ == 3


def test_a_triangle_refuses_what_it_cannot_do():
    t = Triangle.of([[1.0], [2.0]], [1.0, 3.0])
    with pytest.raises(TypeError, match="cannot forget"):
        t - t
    with pytest.raises(TypeError, match="merges with a Triangle"):
        t + Moments.of([[1.0]], [1.0])
    with pytest.raises(ValueError, match="does not merge"):
        t + Triangle.of([[1.0, 2.0]], [1.0])
    with pytest.raises(ValueError, match="no rows"):
        Triangle.of(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="no blocks"):
        Triangle.over([])
