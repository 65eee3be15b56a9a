"""Bounds of many small fits hold in fractions and decimals, whatever the rows.

`make fuzz LAW=groups SECONDS=600` runs the same search for longer, from a new seed each time.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline import (
    LeastSquares,
    LogisticRegression,
    PoissonRegression,
    Ridge,
    expanding,
    fit_groups,
    rolling,
)
from reference import exact_least_squares
from reference_losses import exact_minimum
from search import search


def rows(rng, n, p):
    """Columns in bad units, with offsets, outliers, and columns that nearly depend on others."""
    X = rng.standard_normal((n, p)) * 10.0 ** rng.choice([0, 0, 3, -6, 40, -40, 120, -120], p)
    X += rng.choice([0.0, 1.0, 1e4, 1e8], p)
    if rng.integers(3) == 0 and p > 1:
        X[:, -1] = X[:, 0] * 0.3 + 10.0 ** -rng.integers(1, 13) * rng.standard_normal(n)
    if rng.integers(4) == 0:
        X[rng.integers(n)] *= 10.0 ** rng.integers(0, 9)
    if rng.integers(4) == 0:
        X = np.round(X)
    return X


def weights(rng, n):
    kinds = [None, rng.choice([1.0, 2.0, 0.5, 1e-3], n), 10.0 ** rng.uniform(-30, 30, n)]
    return kinds[rng.integers(3)]


def within(found, truth, bounds):
    """Whether every coefficient is as near to the truth as it is said to be."""
    return all(
        not np.isfinite(bound) or abs(Fraction(float(a)) - Fraction(b)) <= Fraction(float(bound))
        for a, b, bound in zip(found, truth, bounds, strict=True)
    )


def squares_hold(rng):
    """Bounds of least squares and ridge, of groups or of windows."""
    p, intercept = int(rng.integers(1, 4)), bool(rng.integers(2))
    ridge = float(rng.choice([0.0, 0.1, 10.0]))
    model = Ridge(ridge, fit_intercept=intercept) if ridge else LeastSquares(intercept)
    n = int(rng.integers(12, 40))
    X, omega = rows(rng, n, p), weights(rng, n)
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-5, 5)
    y = X @ np.ones(p) + rng.choice([0.0, 1.0]) * y if rng.integers(2) else y
    way = rng.integers(3)
    if way == 0:
        groups = rng.integers(0, 3, n)
        fits = fit_groups(model, X, y, groups, sample_weight=omega)
        parts = [np.flatnonzero(groups == g) for g in fits.keys["group"]]
    else:
        least = p + 2
        window = int(rng.integers(least, n))
        how = {"min_rows": least, "sample_weight": omega}
        run = expanding if way == 1 else rolling
        fits = run(model, X, y, **how, **({} if way == 1 else {"window": window}))
        begins = np.maximum(0, fits.keys["row"] + 1 - (n if way == 1 else window))
        parts = [np.arange(a, b + 1) for a, b in zip(begins, fits.keys["row"], strict=True)]
    claims = 0
    for i, part in enumerate(parts):
        w = np.append(fits.coef_[i], fits.intercept_[i] if intercept else [])
        if not np.isfinite(fits.errors[i]).any():
            continue
        try:
            own = None if omega is None else omega[part]
            truth = exact_least_squares(X[part], y[part], own, intercept, ridge)
        except StopIteration:  # singular: nothing may be claimed but of minimum norm
            if fits.status[i] == "ok":
                return False
            continue
        if not within(w, truth, fits.errors[i][: len(w)]):
            return False
        claims += 1
    return claims > 0 or None


def likelihood_holds(rng):
    """Bounds of logistic and Poisson regression."""
    p, n = int(rng.integers(1, 3)), int(rng.integers(8, 20))
    X, intercept, alpha = rng.standard_normal((n, p)), bool(rng.integers(2)), rng.choice([0.0, 0.5])
    X = X * 10.0 ** rng.integers(-3, 4, p) + rng.choice([0.0, 5.0])
    omega = None if rng.integers(2) else rng.choice([1.0, 2.0, 0.5], n)
    if rng.integers(2):
        model, y = LogisticRegression(alpha, fit_intercept=intercept), rng.integers(0, 2, n)
        y[:2] = 0, 1
    else:
        model, y = PoissonRegression(alpha, fit_intercept=intercept), rng.poisson(2.0, n)
        y[0] = 1
    fits = fit_groups(model, X, y, np.zeros(n, dtype=int), sample_weight=omega)
    if not np.isfinite(fits.errors[0]).any():
        return None
    kind = "classes" if isinstance(model, LogisticRegression) else "counts"
    try:
        w, b = exact_minimum(kind, X, y, alpha, omega, intercept=intercept)
    except ArithmeticError:
        return None
    truth = [*w, b] if intercept else w
    found = np.append(fits.coef_[0], fits.intercept_[0])[: len(truth)]
    return within(found, [Fraction(a) for a in truth], fits.errors[0][: len(truth)])


LAWS = {"squares": squares_hold, "likelihood": likelihood_holds}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_small_fits_contain_the_exact_solution(name, seed):
    rng = np.random.default_rng(seed)
    claims = [LAWS[name](rng) for _ in range(25)]
    assert False not in claims
    assert claims.count(True) > 12


if __name__ == "__main__":
    search(lambda name, seed: LAWS[name](np.random.default_rng(seed)), LAWS)
