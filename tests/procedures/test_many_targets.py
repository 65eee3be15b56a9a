"""Many targets at once: each as if alone, within bounds that rationals check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from adaline import LeastSquares, Ridge
from reference import correct_digits, exact_least_squares, ill_conditioned

MANY = 70  # above the 64 targets up to which each is treated alone


@pytest.mark.parametrize("rule", ["loo", "gcv", "evidence"])
def test_many_targets_find_the_penalties_and_weights_that_each_finds_alone(rng, rule):
    X = rng.standard_normal((150, 4)) * rng.uniform(0.8, 1.2, 4) + rng.uniform(-3, 3, 4)
    noise = rng.uniform(0.1, 30.0, MANY) * rng.standard_normal((150, MANY))
    Y = X @ rng.standard_normal((4, MANY)) + noise + 3
    Y[:, 5], Y[:, 6] = X @ np.ones(4), 2.5  # least squares, and a constant
    together = Ridge(rule).fit(X, Y)
    for t in range(0, MANY):
        alone = Ridge(rule).fit(X, Y[:, t])
        assert_allclose(together.alpha_[t], alone.alpha_, rtol=1e-6)
        # A minimum is flat: its place is known to half the digits of the errors, or less.
        assert_allclose(together.coef_[t], alone.coef_, rtol=1e-6, atol=1e-12)
        assert_allclose(together.intercept_[t], alone.intercept_, rtol=1e-6, atol=1e-9)
    assert together.alpha_[5] == 0
    assert f"of {MANY} targets" in together.certificate_.statement


@pytest.mark.parametrize("exponent", [0, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_bound_of_ridge_contains_the_exact_solution(rng, exponent, weighted):
    X = ill_conditioned(rng, 30, 3, 10.0**exponent) + 1.0
    Y = X @ rng.standard_normal((3, MANY)) + rng.standard_normal((30, MANY))
    weights = rng.uniform(0.1, 2.0, 30) if weighted else None
    alphas = 10.0 ** rng.uniform(-9, 3, MANY)
    fit = Ridge(alphas).fit(X, Y, weights).fit_
    bounds = fit.certificate.evidence["error_bound"]
    assert bounds.shape == (3, MANY)
    assert np.isfinite(bounds).all()
    for t in range(0, MANY, 3):
        exact = exact_least_squares(X, Y[:, t], weights, True, alphas[t])
        for w, truth, bound in zip(fit.W[t], exact[:3], bounds[:, t], strict=True):
            assert abs(Fraction(float(w)) - truth) <= Fraction(float(bound))
        assert_allclose(fit.b[t], float(exact[3]), rtol=1e-6)
        r = Y[:, t] - X @ fit.W[t] - fit.b[t]
        omega = 1.0 if weights is None else weights
        assert_allclose(fit.squares[t], (omega * r**2).sum(), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("exponent", [0, 4, 8, 12, 14])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_bound_of_least_squares_contains_the_exact_solution(rng, exponent, weighted):
    X = ill_conditioned(rng, 30, 4, 10.0**exponent)
    noise = 10.0 ** -rng.integers(0, 16, 12)
    Y = X @ rng.standard_normal((4, 12)) + noise * rng.standard_normal((30, 12))
    weights = rng.uniform(0.1, 2.0, 30) if weighted else None
    fit = LeastSquares().fit(X, Y, weights).fit_
    bounds = fit.certificate.evidence["error_bound"]
    assert bounds.shape == (5, 12)
    for t in range(12):
        exact = exact_least_squares(X, Y[:, t], weights)
        high, low = [*fit.W[t], fit.b[t]], [*fit.W_low[t], fit.b_low[t]]
        assert correct_digits(high, exact) >= (15.5 if exponent <= 8 else 13)
        for a, b, truth, bound in zip(high, low, exact, bounds[:, t], strict=True):
            found = Fraction(float(a)) + Fraction(float(b))
            assert not np.isfinite(bound) or abs(found - truth) <= Fraction(float(bound))
