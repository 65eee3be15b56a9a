"""Regression of counts: slow twin, statsmodels, scikit-learn, exposures, and what is proven."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from adaline import PoissonRegression


def counts(rng, n=300, p=3):
    X = rng.standard_normal((n, p)) * rng.uniform(0.2, 5.0, p) + rng.uniform(-3, 3, p)
    years = rng.uniform(0.5, 4.0, n)
    w = rng.normal(size=p) / (3 * X.std(axis=0))
    return X, rng.poisson(years * np.exp((X - X.mean(axis=0)) @ w + 0.5)), years


def test_a_summary_is_that_of_statsmodels(rng):
    X, y, years = counts(rng)
    found = PoissonRegression(alpha=0).fit(X, y, exposure=years).summary()
    family = sm.families.Poisson()
    theirs = sm.GLM(y, sm.add_constant(X), family=family, exposure=years).fit(tol=1e-13)
    assert_allclose(found["coef"], theirs.params, rtol=1e-7)
    assert_allclose(found["std err"], theirs.bse, rtol=1e-7)
    assert_allclose(found["p"], theirs.pvalues, rtol=1e-6)
    for ours, name in [
        ("AIC", "aic"),
        ("deviance", "deviance"),
        ("null deviance", "null_deviance"),
    ]:
        assert_allclose(found[ours], getattr(theirs, name), rtol=1e-10)
    assert_allclose(found["BIC"], theirs.bic_llf, rtol=1e-10)


def test_what_has_no_maximum_is_not_called_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 0, 5]
    with pytest.warns(
        ConvergenceWarning, match="without bound"
    ):  # means of the zeros shrink for ever
        model = PoissonRegression(alpha=0).fit(X, y)
    assert model.certificate_.kind == "unproven"
    assert PoissonRegression(alpha=1).fit(X, y).certificate_.kind == "optimal"


def test_large_counts_and_long_offsets_neither_overflow_nor_stall():
    X = np.array([[0.0], [1.0], [2.0]])
    model = PoissonRegression(alpha=0).fit(X, [1e8, 2e8, 4e8])
    assert_allclose(model.coef_, np.log(2.0), rtol=1e-10)
    model = PoissonRegression(alpha=0).fit(X, [1, 2, 4], offset=[500.0, 500.0, 500.0])
    assert_allclose(model.intercept_, -500.0, rtol=1e-10)


def test_weights_that_grow_without_bound_are_why_there_are_no_standard_errors():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]), [0, 0, 0, 1, 3, 1]
    with pytest.warns(ConvergenceWarning, match="without bound"):
        model = PoissonRegression(alpha=0).fit(X, y)
    for rows in ({}, {"X": X, "y": y}):
        with pytest.raises(ValueError, match=r"without bound.* larger alpha"):
            model.summary(**rows)
