"""Compiled loops against the same sums in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from adaline.kernels import double_double
from adaline.sums.rows import Rows
from reference import rationals

U = 2.0**-53
numbers = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(numbers, numbers)
def test_two_sum_loses_nothing(a, b):
    high, low = double_double.two_sum(a, b)
    assert Fraction(high) + Fraction(low) == Fraction(a) + Fraction(b)


@given(numbers, numbers)
def test_two_product_loses_nothing(a, b):
    high, low = double_double.two_product(a, b)
    assert high == a * b
    assert Fraction(high) + Fraction(low) == Fraction(a) * Fraction(b)


def exact_gradient(X, y, omega, w, b):
    r = [
        t - Fraction(b) - sum(v * u for v, u in zip(row, rationals(w), strict=True))
        for row, t in zip(X, rationals(y), strict=True)
    ]
    r = [o * v for o, v in zip(rationals(omega), r, strict=True)]
    columns = zip(*X, strict=True)
    return [*(sum(a * v for a, v in zip(c, r, strict=True)) for c in columns), sum(r)]


def gradient(X, y, w, b, omega=None, low=None):
    """High and low parts of one target's sums, and of its squared residuals."""
    t = Rows.of(X, y, omega)
    t = Rows(t.X, t.Y, t.omega, low) if low is not None else t
    theta = np.append(w, b)[:, None]
    found = t.gradient(np.ones(len(w) + 1), np.zeros(1, np.int64), theta, 0.0 * theta)
    return found.g[:, 0], found.low[:, 0], found.squares[0]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_keeps_thirty_digits(rng, n, weighted):
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    w, b = rng.standard_normal(3), 0.7
    omega = rng.uniform(0, 2, n) if weighted else None
    g, low, squares = gradient(X, y, w, b, omega)
    rows = [rationals(row) for row in X]
    exact = exact_gradient(rows, y, omega if weighted else np.ones(n), w, b)
    for high, tail, truth in zip(g, low, exact, strict=True):
        assert abs(Fraction(high) + Fraction(tail) - truth) <= 100 * n * U**2
    r = y - X @ w - b
    assert squares == pytest.approx(np.sum((omega if weighted else 1) * r**2), rel=1e-13)


def test_the_gradient_sees_the_low_parts_of_the_samples(rng):
    X, y, w = rng.standard_normal((40, 2)), rng.standard_normal(40), rng.standard_normal(2)
    low = X * rng.uniform(-U, U, (40, 2))
    g, tail, _ = gradient(X, y, w, 0.0, low=low)
    rows = [
        [a + b for a, b in zip(rationals(high), rationals(rest), strict=True)]
        for high, rest in zip(X, low, strict=True)
    ]
    for high, rest, truth in zip(
        g, tail, exact_gradient(rows, y, np.ones(40), w, 0.0), strict=True
    ):
        assert abs(Fraction(high) + Fraction(rest) - truth) <= 1e4 * U**2


def test_dense_and_sparse_gradients_are_the_same_bits(rng):
    X = rng.standard_normal((70, 4)) * (rng.random((70, 4)) < 0.4)
    y, w, omega = rng.standard_normal(70), rng.standard_normal(4), rng.random(70)
    dense = gradient(X, y, w, 0.3, omega)
    thin = gradient(sparse.csr_array(X), y, w, 0.3, omega)
    assert all(np.array_equal(a, b) for a, b in zip(dense, thin, strict=True))


def test_monomials_keep_the_powers_in_double_double():
    x = np.array([[-8.78], [0.1], [3.3]])
    parent, factor = np.array([-1, 0, 1, 2]), np.zeros(4, dtype=np.int64)
    high, low = np.empty((3, 4)), np.empty((3, 4))
    double_double.monomials(x, parent, factor, high, low)
    for i in range(3):
        for k in range(4):
            truth = Fraction(x[i, 0]) ** (k + 1)
            assert abs(Fraction(high[i, k]) + Fraction(low[i, k]) - truth) <= 8 * U**2 * abs(truth)
