"""Least squares against rational arithmetic: the digits, and the bounds that claim them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adaline.procedures.least_squares import least_squares
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from reference import correct_digits, exact_least_squares, ill_conditioned


def solved(X, y, weights=None, **options):
    return least_squares(Moments.of(X, y, weights), Rows.of(X, y, weights), **options)


def theta(fit, intercept=True):
    return [*fit.W[0], *fit.b][: fit.W.shape[1] + intercept]


def contains_the_truth(fit, exact):
    """Whether every exact coefficient lies within the certified bound of what was found."""
    bound = fit.certificate.evidence["error_bound"][:, 0]
    p = fit.W.shape[1]
    found = [
        Fraction(float(a)) + Fraction(float(b))
        for a, b in zip([*fit.W[0], *fit.b], [*fit.W_low[0], *fit.b_low], strict=True)
    ]
    return all(
        not np.isfinite(e) or abs(a - x) <= Fraction(float(e))
        for a, x, e in zip(found[: len(exact)], exact, bound[: p + 1], strict=False)
    )


@pytest.mark.parametrize("exponent", range(0, 11))
def test_all_digits_are_right_for_condition_numbers_to_1e10(rng, exponent):
    X = ill_conditioned(rng, 40, 5, 10.0**exponent)
    y = X @ np.ones(5) + 0.1 * rng.standard_normal(40)
    fit, exact = solved(X, y), exact_least_squares(X, y)
    assert correct_digits(theta(fit), exact) >= 15.5
    assert fit.certificate.kind == "exact"
    assert fit.certificate.evidence["digits"] >= 14.5
    assert contains_the_truth(fit, exact)


@pytest.mark.parametrize("exponent", [11, 12, 13, 13.5, 14])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_thirteen_digits_are_right_for_condition_numbers_to_1e14(rng, exponent, noise):
    X = ill_conditioned(rng, 40, 6, 10.0**exponent)
    y = X @ np.ones(6) + noise * rng.standard_normal(40)
    fit, exact = solved(X, y), exact_least_squares(X, y)
    assert correct_digits(theta(fit), exact) >= 13
    assert contains_the_truth(fit, exact)


@pytest.mark.parametrize("accuracy", ["full", "moments", "sides"])
def test_what_moments_alone_claim_is_true_too(rng, accuracy):
    for exponent in range(0, 6):
        X = ill_conditioned(rng, 30, 4, 10.0**exponent)
        y = X @ np.ones(4) + 0.1 * rng.standard_normal(30)
        fit, exact = solved(X, y, accuracy=accuracy), exact_least_squares(X, y)
        claimed = fit.certificate.evidence["digits"]
        assert correct_digits(theta(fit)[:4], exact[:4]) >= min(claimed, 15) - 0.01


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_weights_ridge_and_no_intercept_keep_their_digits(rng, intercept, ridge):
    X = ill_conditioned(rng, 30, 3, 1e5) + 2.0
    y, weights = rng.standard_normal(30), rng.uniform(0.1, 2.0, 30)
    weights[3] = 0.0
    fit = solved(X, y, weights, intercept=intercept, ridge=ridge)
    exact = exact_least_squares(X, y, weights, intercept, ridge)
    assert correct_digits(theta(fit, intercept), exact) >= 15.5
    assert contains_the_truth(fit, exact)
    assert fit.certificate.kind == "exact"


def test_units_of_1e_150_change_nothing_but_the_units(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    units = np.array([2.0**-500, 1.0, 2.0**500])
    plain, scaled = solved(X, y), solved(X * units, y * 2.0**-40)
    assert np.array_equal(scaled.W * units * 2.0**40, plain.W)
    assert scaled.certificate.kind == "exact"


small = st.integers(-50, 50).map(float)


@settings(max_examples=60)
@given(st.data())
def test_any_small_problem_is_solved_exactly_or_by_its_pseudoinverse(data):
    n, p = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    X = data.draw(arrays(float, (n, p), elements=small))
    y = data.draw(arrays(float, n, elements=small))
    fit = solved(X, y)
    centred = X - X.mean(axis=0)
    rank = np.linalg.matrix_rank(centred) if n > 1 else 0
    assert fit.rank == rank
    want = np.linalg.pinv(centred, rcond=1e-12) @ (y - y.mean())
    np.testing.assert_allclose(fit.W[0], want, atol=1e-9 * (1 + np.abs(want).max()))
    if rank == p and n > p:
        assert correct_digits(theta(fit), exact_least_squares(X, y)) >= 15.5
        assert fit.certificate.kind in ("exact", "accurate")  # a zero has no digits to prove


@pytest.mark.parametrize("intercept", [True, False])
def test_wide_data_get_the_minimum_norm_solution(rng, intercept):
    X, y, weights = rng.standard_normal((12, 40)), rng.standard_normal((12, 2)), rng.random(12)
    weights[2] = 0
    fit = solved(X, y, weights, intercept=intercept)
    root = np.sqrt(weights)[:, None]
    centre = (weights @ X) / weights.sum() if intercept else np.zeros(40)
    centre_y = (weights @ y) / weights.sum() if intercept else np.zeros(2)
    want = np.linalg.pinv(root * (X - centre), rcond=1e-10) @ (root * (y - centre_y))
    np.testing.assert_allclose(fit.W.T, want, atol=1e-12)
    np.testing.assert_allclose(fit.b, centre_y - centre @ want, atol=1e-12)
    assert fit.rank == (10 if intercept else 11)


def test_dependent_columns_are_named_and_the_norm_is_least_in_the_users_units(rng):
    X = rng.standard_normal((40, 4)) * [1.0, 1000.0, 1.0, 1.0]
    X[:, 3] = X[:, 0] + 0.001 * X[:, 1]
    y = rng.standard_normal(40)
    fit = solved(X, y)
    want = np.linalg.pinv(X - X.mean(0), rcond=1e-10) @ (y - y.mean())
    np.testing.assert_allclose(fit.W[0], want, atol=1e-12)
    [(column, others)] = fit.dependent
    assert {column, *others} == {0, 1, 3}
    assert fit.certificate.kind == "unproven"
