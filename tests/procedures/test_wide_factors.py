"""Ridge of wide rows by a factor in float32 or float64: the same weights, within their bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline import Ridge
from adaline.procedures.ridge import dual
from adaline.procedures.ridge.dual import _Factor, dual_ridge
from adaline.procedures.ridge.spectrum import centred_rows
from adaline.tiles import Rows, as_rows
from reference import exact_least_squares

NONE2 = np.empty((0, 0))


def wide_rows(rng, n=6, p=14, near=0.0, weights=None):
    """Rows that are alike up to a share `near`, where it is not zero."""
    X = rng.standard_normal((n, p)) + 3.0
    X = X[:1] + near * X if near else X
    return Rows(*as_rows(X, rng.standard_normal((n, 2)) + 1.0, weights), NONE2)


def check(fit, rows, alpha, intercept):
    """The weights of each target are within their bound of those that rationals give."""
    weights = rows.omega if len(rows.omega) else None
    bounds = fit.certificate.evidence["error_bound"]
    for t, bound in enumerate(bounds):
        exact = exact_least_squares(rows.X, rows.Y[:, t], weights, intercept, alpha)
        error = sum(
            (Fraction(float(a)) + Fraction(float(b)) - truth) ** 2
            for a, b, truth in zip(fit.W[t], fit.W_low[t], exact, strict=False)
        )
        assert error <= Fraction(float(bound)) ** 2
        assert bound <= 1e-14 * np.abs(fit.W[t]).max()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
def test_weights_by_a_factor_in_float32_are_within_their_bounds(rng, alpha, intercept, weighted):
    rows = wide_rows(rng, weights=rng.uniform(0.5, 2.0, 6) if weighted else None)
    c = centred_rows(rows, intercept)
    factor = _Factor.of(c, float(np.ldexp(alpha, -2 * c.e)), rough=True)
    assert factor.R.dtype == np.float32
    assert np.isfinite(factor.solved(c.B * c.root[:, None], 2)).all()
    check(dual_ridge(c, rows, alpha), rows, alpha, intercept)


def test_rows_too_alike_for_float32_are_factored_in_float64(rng):
    rows = wide_rows(rng, near=1e-3)
    c = centred_rows(rows, intercept=False)
    lam = float(np.ldexp(1e-6, -2 * c.e))
    factor = _Factor.of(c, lam, rough=True)
    assert factor is None or np.isnan(factor.solved(c.B * c.root[:, None], 2)).all()
    check(dual_ridge(c, rows, 1e-6), rows, 1e-6, intercept=False)


def test_both_factors_give_the_same_weights(rng, monkeypatch):
    X, Y = rng.standard_normal((40, 1100)) + 1.0, rng.standard_normal((40, 3))
    single = Ridge(2.0).fit(X, Y)
    of = _Factor.of
    only = lambda c, lam, rough: None if rough else of(c, lam, rough)  # noqa: E731
    monkeypatch.setattr(dual._Factor, "of", only)
    double = Ridge(2.0).fit(X, Y)
    np.testing.assert_array_max_ulp(single.coef_, double.coef_, maxulp=1)
    np.testing.assert_array_max_ulp(single.intercept_, double.intercept_, maxulp=1)
    assert single.certificate_.kind == double.certificate_.kind == "accurate"
