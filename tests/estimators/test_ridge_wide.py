"""Ridge on wide data with columns of very different size, against a solution in good units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import Ridge
from reference import exact_least_squares


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_huge_constant_column_changes_nothing(rng, kind):
    X, y = rng.standard_normal((20, 1100)), rng.standard_normal(20)
    X[:, 7] = 0.0
    want = Ridge(10.0).fit(X, y)
    X[:, 7] = 1e8
    model = Ridge(10.0).fit(kind(X), y)
    np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_huge_column_does_not_drown_the_others(rng, fit_intercept):
    X, y = rng.standard_normal((5, 6)), rng.standard_normal(5)
    X[:, 2] = 1e8 + rng.standard_normal(5)
    model = Ridge(0.5, fit_intercept=fit_intercept).fit(X, y)
    exact = exact_least_squares(X, y, intercept=fit_intercept, ridge=0.5)
    np.testing.assert_allclose(model.coef_, np.array(exact[:6], dtype=float), rtol=1e-12)
    assert model.certificate_.kind == "exact"


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
def test_small_penalties_on_offset_columns_still_solve_their_equations(rng, alpha):
    X, y = rng.standard_normal((40, 1100)) + 1e3, rng.standard_normal(40)
    model = Ridge(alpha).fit(X, y)
    A, B = X - X.mean(axis=0), y - y.mean()
    want = A.T @ np.linalg.solve(A @ A.T + alpha * np.eye(40), B)
    np.testing.assert_allclose(model.coef_, want, atol=1e-9)
