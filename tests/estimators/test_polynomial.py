"""PolynomialLeastSquares: monomials in double-double, named and evaluated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline import IllConditionedWarning, PolynomialLeastSquares, RankDeficientWarning
from reference import correct_digits, exact_least_squares


def test_all_monomials_of_two_columns_are_there_and_named(rng):
    X = rng.standard_normal((40, 2))
    y = 1 + X[:, 0] * X[:, 1] - 2 * X[:, 1] ** 2
    model = PolynomialLeastSquares(degree=2).fit(X, y)
    assert model.monomials_ == [(0,), (1,), (0, 0), (0, 1), (1, 1)]
    assert model.summary().names == ("intercept", "x0", "x1", "x0^2", "x0 x1", "x1^2")
    np.testing.assert_allclose(model.coef_, [0, 0, 0, 1, -2], atol=1e-15)


def test_coefficients_are_those_of_the_polynomial_itself(rng):
    x = rng.uniform(2, 4, 30)
    y = rng.standard_normal(30)
    powers = [[Fraction(v) ** k for k in range(1, 7)] for v in x.tolist()]
    model = PolynomialLeastSquares(degree=6).fit(x[:, None], y)
    assert correct_digits([*model.coef_, model.intercept_], exact_least_squares(powers, y)) > 15.5


def test_predictions_are_evaluated_in_double_double(rng):
    x = rng.uniform(-9, -3, 60)
    y = rng.standard_normal(60)
    model = PolynomialLeastSquares(degree=9).fit(x[:, None], y)
    exact = exact_least_squares([[Fraction(v) ** k for k in range(1, 10)] for v in x.tolist()], y)
    at = np.array([-8.5, -5.0, -3.3])
    want = [
        float(sum(c * Fraction(v) ** (k + 1) for k, c in enumerate(exact[:-1])) + exact[-1])
        for v in at.tolist()
    ]
    np.testing.assert_allclose(model.predict(at[:, None]), want, rtol=1e-13)


def test_powers_that_overflow_are_an_error_not_an_infinity():
    with pytest.raises(ValueError, match="range of float64"):
        PolynomialLeastSquares(degree=4).fit([[1e200], [2e200], [3e200]], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("p", "degree"),
    [(20, 10), (1, 2**62), (3, 2**62), (300, 300), (2, np.int64(2**62))],
)
def test_more_monomials_than_can_be_held_are_refused_before_any_is_made(p, degree):
    with pytest.raises(ValueError, match=rf"monomials of {p} columns up to degree {degree}.*Lower"):
        PolynomialLeastSquares(degree=degree).fit(np.ones((3, p)), np.ones(3))


def test_ranks_and_conditions_count_monomials_and_not_the_users_columns(rng):
    X = rng.normal(size=(60, 2))
    with pytest.warns(RankDeficientWarning, match="rank 5 of 14; of the many"):
        PolynomialLeastSquares(degree=2).fit(np.column_stack([X, X]), X[:, 0])
    x = np.linspace(1000.0, 1001.0, 40)[:, None]
    with pytest.warns(IllConditionedWarning, match="the scaled condition number is"):
        PolynomialLeastSquares(degree=4).fit(x, x[:, 0])
