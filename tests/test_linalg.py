"""Lengths and inner products of vectors: the ends of float64's range, and threads."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from adaline.linalg import inner, length


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_a_length_is_right_also_where_squares_leave_the_range(rng, unit, shape):
    a = rng.standard_normal(shape)
    assert length(unit * a) == pytest.approx(unit * np.sqrt((a * a).sum()), rel=1e-14)


def test_lengths_of_nothing_zeros_and_infinities():
    assert length(np.empty(0)) == length(np.empty((3, 0))) == length(np.zeros(3)) == 0.0
    assert length(np.array([1.0, np.inf])) == np.inf
    assert np.isnan(length(np.array([1.0, np.nan])))


@pytest.mark.parametrize("n", [1, 6, 1024, 1025, 50_000])
def test_an_inner_product_is_the_sum_of_all_products(rng, n):
    a, b = rng.standard_normal((2, 1, n))
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a[0], b[0], strict=True))
    size = float(np.abs(a * b).sum())
    assert abs(inner(a, b) - float(exact)) <= n * 2.0**-53 * size
    assert inner(a.reshape(-1, 1), b.reshape(-1, 1)) == inner(a, b)


@pytest.mark.parametrize("n", [1024, 1025, 50_000])
def test_an_inner_product_has_the_same_bits_with_any_number_of_threads(rng, n):
    a, b = rng.standard_normal((2, n))
    found = set()
    for count in (1, 2, 3):
        with threadpool_limits(count):
            found.add(inner(a, b))
    assert len(found) == 1


def test_an_inner_product_of_columns_that_lie_apart(rng):
    A = rng.standard_normal((5, 4))
    assert inner(A[:, ::2], A[:, ::2]) == pytest.approx((A[:, ::2] ** 2).sum(), rel=1e-15)
    assert inner(A.T, A.T) == pytest.approx((A**2).sum(), rel=1e-14)
