"""Regression of positive numbers: decimals, scikit-learn, statsmodels, exposures, and files."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import GammaRegressor

from adaline import GammaRegression, PoissonRegression
from adaline.errors import RankDeficientWarning
from reference_losses import minimum_near


def amounts(rng, n=120, p=3, shape=2.0):
    """Rows, gamma numbers of a log-linear mean, and exposures."""
    X = rng.standard_normal((n, p)) * rng.uniform(0.2, 5.0, p) + rng.uniform(-3, 3, p)
    years = rng.uniform(0.5, 4.0, n)
    mean = years * np.exp((X - X.mean(axis=0)) @ (rng.normal(size=p) / (3 * X.std(axis=0))) + 0.5)
    return X, mean * rng.gamma(shape, 1.0 / shape, n), years


def test_a_summary_is_that_of_statsmodels(rng):
    X, y, years = amounts(rng, n=300)
    found = GammaRegression(alpha=0).fit(X, y, exposure=years).summary()
    family = sm.families.Gamma(sm.families.links.Log())
    theirs = sm.GLM(y, sm.add_constant(X), family, exposure=years).fit(tol=1e-13)
    assert_allclose(found["coef"], theirs.params, rtol=1e-7)
    assert_allclose(found["std err"], theirs.bse, rtol=1e-7)
    assert_allclose(found["p"], theirs.pvalues, rtol=1e-6)
    assert_allclose(found["high 95%"], theirs.conf_int()[:, 1], rtol=1e-7)
    assert_allclose(found["deviance"], theirs.deviance, rtol=1e-10)
    assert_allclose(found["null deviance"], theirs.null_deviance, rtol=1e-7)
    assert_allclose(found["dispersion"], theirs.scale, rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_penalty_prediction_and_score_are_those_of_scikit_learn(rng, alpha):
    X, y, _ = amounts(rng, n=500)
    omega = rng.uniform(0.5, 2.0, 500)
    ours = GammaRegression(alpha=alpha).fit(X, y, omega)
    peer = GammaRegressor(alpha=alpha / omega.sum(), solver="newton-cholesky", tol=1e-12)
    peer.fit(X, y, omega)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-7)
    assert_allclose(ours.score(X, y), peer.score(X, y), rtol=1e-9)
    assert ours.certificate_.kind == "optimal"


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-100, 1e-8, 1.0, 1e8, 1e100]),
    st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    st.sampled_from([1e-200, 1.0, 1e200]),
    st.booleans(),
)
def test_the_minimum_in_decimals_is_as_near_as_is_said(seed, scale, alpha, unit, intercept):
    rng = np.random.default_rng(seed)
    X, y, years = amounts(rng, n=12, p=2, shape=0.3)
    X, y = X * scale, np.maximum(y, 1e-6) * unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GammaRegression(alpha=alpha, fit_intercept=intercept).fit(X, y, exposure=years)
    evidence, (W, b) = model.certificate_.evidence, (model.fit_.W, model.fit_.b)
    if model.certificate_.kind != "optimal":
        assert not intercept or unit != 1.0  # means of 1 are far from such targets
        return
    near = np.append(evidence["coef_bound"], evidence["intercept_bound"]) * 1e-6
    rest = np.ones(12), np.log(years), alpha, intercept, W, b, near
    (w,), (c,) = minimum_near("amounts", X, y, *rest)
    off = [abs(Decimal(float(a)) - t) for a, t in zip(W[0], w, strict=True)]
    assert sum(o * o for o in off).sqrt() <= Decimal(float(evidence["distance_bound"]))
    assert abs(Decimal(float(b[0])) - c) <= Decimal(float(evidence["intercept_bound"]))
    if scale == unit == 1.0:
        assert_allclose(W[0], [float(t) for t in w], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("model", [GammaRegression, PoissonRegression])
def test_an_offset_is_the_logarithm_of_an_exposure(rng, model):
    X, y, years = amounts(rng)
    y = np.ceil(y)
    one = model().fit(X, y, exposure=years)
    two = model().fit(X, y, offset=np.log(years))
    assert_allclose(one.coef_, two.coef_, rtol=1e-12)
    assert_allclose(one.predict(X, exposure=2 * years), 2 * one.predict(X, exposure=years))
    assert one.score(X, y, exposure=years) > 0


def test_units_of_targets_move_the_bias(rng):
    X, y, years = amounts(rng)
    one = GammaRegression().fit(X, y, exposure=years)
    cents = GammaRegression().fit(X, 100 * y, exposure=years)
    assert_allclose(cents.coef_, one.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(cents.intercept_, one.intercept_ + np.log(100), rtol=1e-7)


def test_dependent_columns_are_told_and_have_no_standard_errors(rng):
    X, y, _ = amounts(rng)
    with pytest.warns(RankDeficientWarning, match="depend"):
        model = GammaRegression(alpha=0).fit(np.column_stack([X, X[:, 0]]), y)
    with pytest.raises(ValueError, match="depend"):
        model.summary()


def test_equal_targets_are_their_own_mean():
    model = GammaRegression(alpha=0).fit([[0.0], [1.0], [2.0]], [5.0, 5.0, 5.0])
    assert_allclose(model.predict([[9.0]]), 5.0, rtol=1e-7)
