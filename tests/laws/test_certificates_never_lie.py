"""A certified bound contains the exact solution, whatever the data: checked in fractions.

`make fuzz SECONDS=600` runs the same search for longer, from a new seed each time.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from adaline import LeastSquares, Ridge
from reference import exact_least_squares
from search import search


def problem(rng):
    """A small problem with bad units, offsets, near-dependence, exact fits and weights."""
    p = int(rng.integers(1, 5))
    n = int(rng.integers(p + 2, 14))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-6, 6, p)
    X += rng.choice([0.0, 1.0, 1e3, 1e6], p) * rng.integers(0, 2)
    if rng.integers(3) == 0 and p > 1:
        X[:, -1] = X[:, 0] * 0.3 + 10.0 ** -rng.integers(1, 13) * rng.standard_normal(n)
    if rng.integers(4) == 0:
        X = np.round(X)
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-5, 5)
    if rng.integers(3) == 0:
        y = X @ np.round(3 * rng.standard_normal(p))
    weights = rng.choice([1.0, 2.0, 0.5, 1e-3], n) if rng.integers(2) else None
    return X, y, weights


def learned(rng, model, X, y, weights):
    """By fit, or by a stream that may have seen and forgotten other rows."""
    if rng.integers(3) > 0:
        return model.fit(X, y, sample_weight=weights)
    half = len(y) // 2
    omega = np.ones(len(y)) if weights is None else weights
    model.partial_fit(X[:half], y[:half], omega[:half])
    model.partial_fit(X[half:], y[half:], omega[half:])
    if rng.integers(2):
        model.partial_fit(100 * X[:2], y[:2]).forget(100 * X[:2], y[:2])
    return model


def claim_holds(rng):
    """One random fit; None where it claims nothing."""
    X, y, weights = problem(rng)
    intercept, ridge = bool(rng.integers(2)), float(rng.choice([0.0, 0.0, 0.1, 10.0]))
    try:
        exact = exact_least_squares(X, y, weights, intercept, ridge)
    except StopIteration:  # singular: no single solution to compare with
        return None
    model = Ridge(ridge, fit_intercept=intercept)
    if not ridge:
        model = LeastSquares(intercept, refine=bool(rng.integers(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        learned(rng, model, X, y, weights)
    if model.certificate_.kind not in ("exact", "accurate"):
        return None
    fit, bounds = model.fit_, model.certificate_.evidence["error_bound"][:, 0]
    highs, lows = [*fit.W[0], *fit.b], [*fit.W_low[0], *fit.b_low]
    return all(
        abs(Fraction(float(high)) + Fraction(float(low)) - truth) <= Fraction(float(bound))
        for high, low, truth, bound in zip(highs, lows, exact, bounds, strict=False)
    )


@pytest.mark.parametrize("seed", range(20))
def test_certified_bounds_contain_the_exact_solution(seed):
    rng = np.random.default_rng(seed)
    claims = [claim_holds(rng) for _ in range(20)]
    assert False not in claims
    assert claims.count(True) > 10


if __name__ == "__main__":
    search(lambda _, seed: claim_holds(np.random.default_rng(seed)), ["digits"])
