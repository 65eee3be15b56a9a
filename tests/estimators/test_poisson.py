"""Regression of counts: slow twin, statsmodels, scikit-learn, exposures, and what is proven."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor

from adaline import PoissonRegression
from adaline.errors import RankDeficientWarning
from reference_poisson import poisson as twin


def counts(rng, n=120, p=3, exposure=False):
    X = rng.standard_normal((n, p)) * rng.uniform(0.2, 5.0, p) + rng.uniform(-3, 3, p)
    years = rng.uniform(0.5, 4.0, n) if exposure else np.ones(n)
    w = rng.normal(size=p) / (3 * X.std(axis=0))
    return X, rng.poisson(years * np.exp((X - X.mean(axis=0)) @ w + 0.5)), years


@pytest.mark.parametrize("alpha", [0.0, 2.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_those_of_the_slow_twin(rng, alpha, intercept):
    X, y, years = counts(rng, n=40, exposure=True)
    omega = rng.uniform(0.5, 2.0, 40)
    model = PoissonRegression(alpha=alpha, fit_intercept=intercept)
    model.fit(X, y, omega, exposure=years)
    w, b = twin(X, y, alpha, np.log(years), omega, intercept)
    assert_allclose(model.coef_, [float(v) for v in w], rtol=1e-8, atol=1e-10)
    assert_allclose(model.intercept_, float(b), rtol=1e-8, atol=1e-10)


def test_a_summary_is_that_of_statsmodels(rng):
    X, y, years = counts(rng, n=300, exposure=True)
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


def test_penalty_and_score_are_those_of_scikit_learn(rng):
    X, y, _ = counts(rng, n=500)
    ours = PoissonRegression(alpha=3.0).fit(X, y)
    peer = PoissonRegressor(alpha=3.0 / 500, solver="newton-cholesky", tol=1e-12).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-7)
    assert_allclose(ours.score(X, y), peer.score(X, y), rtol=1e-9)


@pytest.mark.parametrize("p", [4, 300])
def test_sparse_rows_give_the_weights_of_dense_ones(rng, p):
    X = sparse.random(500, p, 0.05, format="csr", random_state=0)
    y = rng.poisson(np.exp(np.asarray(X[:, :3].sum(axis=1)).ravel()))
    dense = PoissonRegression().fit(X.toarray(), y)
    thin = PoissonRegression().fit(X, y)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
    assert thin.certificate_.kind == dense.certificate_.kind == "optimal"


def test_very_many_columns_are_learned_through_the_rows(rng):
    X = rng.standard_normal((60, 2500))
    y = rng.poisson(np.exp(X[:, 0]))
    model = PoissonRegression(alpha=10.0).fit(X, y)
    assert model.certificate_.kind == "optimal"
    mean = model.predict(X)
    assert_allclose(X.T @ (mean - y) + 10.0 * model.coef_, 0.0, atol=1e-4 * y.sum())


def test_weights_are_repetition(rng):
    X, y, _ = counts(rng, n=60)
    omega = rng.integers(0, 4, 60)
    one = PoissonRegression().fit(X, y, omega)
    two = PoissonRegression().fit(np.repeat(X, omega, axis=0), np.repeat(y, omega))
    assert_allclose(one.coef_, two.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(one.summary()["std err"], two.summary()["std err"], rtol=1e-7)


def test_an_offset_is_the_logarithm_of_an_exposure(rng):
    X, y, years = counts(rng, exposure=True)
    one = PoissonRegression().fit(X, y, exposure=years)
    two = PoissonRegression().fit(X, y, offset=np.log(years))
    assert_allclose(one.coef_, two.coef_, rtol=1e-12)
    assert_allclose(one.predict(X, exposure=2 * years), 2 * one.predict(X, exposure=years))
    assert one.score(X, y, exposure=years) > 0


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-100, 1e-8, 1.0, 1e8, 1e100]),
    st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    st.booleans(),
)
def test_the_claim_holds_for_the_exact_minimum(seed, scale, alpha, single):
    """The true minimum, to 50 digits, is as near as the certificate says."""
    rng = np.random.default_rng(seed)
    X, y, years = counts(rng, n=12, p=2, exposure=True)
    X = X * scale
    X = X.astype(np.float32) if single and 1e-30 < scale < 1e30 else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoissonRegression(alpha=alpha).fit(X, y, offset=np.log(years))
    if model.certificate_.kind != "optimal":
        return
    w, b = twin(X, y, alpha, np.log(years), digits=60)
    found = model.certificate_.evidence
    off = [abs(Decimal(float(a)) - t) for a, t in zip(model.fit_.W[0], w, strict=True)]
    assert sum(o * o for o in off).sqrt() <= Decimal(float(found["distance_bound"]))
    assert abs(Decimal(float(model.fit_.b[0])) - b) <= Decimal(float(found["intercept_bound"]))


def test_what_has_no_maximum_is_not_called_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 0, 5]
    with pytest.warns(
        ConvergenceWarning, match="without bound"
    ):  # means of the zeros shrink for ever
        model = PoissonRegression(alpha=0).fit(X, y)
    assert model.certificate_.kind == "unproven"
    assert PoissonRegression(alpha=1).fit(X, y).certificate_.kind == "optimal"


def test_dependent_columns_are_told(rng):
    X, y, _ = counts(rng)
    with pytest.warns(RankDeficientWarning, match="depend on others"):
        PoissonRegression(alpha=0).fit(np.column_stack([X, X[:, 0]]), y)


def test_large_counts_and_long_offsets_neither_overflow_nor_stall():
    X = np.array([[0.0], [1.0], [2.0]])
    model = PoissonRegression(alpha=0).fit(X, [1e8, 2e8, 4e8])
    assert_allclose(model.coef_, np.log(2.0), rtol=1e-10)
    model = PoissonRegression(alpha=0).fit(X, [1, 2, 4], offset=[500.0, 500.0, 500.0])
    assert_allclose(model.intercept_, -500.0, rtol=1e-10)


@pytest.mark.parametrize(
    ("y", "more", "words"),
    [
        ([1, -1, 0], {}, "y is -1.0 in row 1"),
        ([0, 0, 0], {}, "every count in y is zero"),
        ([1, 2], {}, "3 rows"),
        ([[1, 2], [1, 1], [0, 1]], {}, "one count a row"),
        ([1, 2, 3], {"exposure": [1, 0, 1]}, "exposure is 0 in row 1"),
        ([1, 2, 3], {"exposure": [1, 1]}, "exposure has shape"),
        ([1, 2, 3], {"offset": [0, np.nan, 0]}, "offset is nan in row 1"),
        ([1, 2, 3], {"offset": ["a", "b", "c"]}, "offset"),
        ([1, 2, 3], {"offset": [0, 0, 0], "exposure": [1, 1, 1]}, "give one"),
    ],
)
def test_bad_counts_and_exposures_are_refused_in_words(y, more, words):
    with pytest.raises(ValueError, match=words):
        PoissonRegression().fit([[0.0], [1.0], [2.0]], y, **more)


@pytest.mark.parametrize(
    "parameter", [{"alpha": -1}, {"alpha": "auto"}, {"max_iter": 0}, {"tol": 0}]
)
def test_bad_parameters_are_refused_by_name(parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        PoissonRegression(**parameter).fit([[0.0], [1.0]], [1, 2])


def test_weights_that_grow_without_bound_are_why_there_are_no_standard_errors():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]), [0, 0, 0, 1, 3, 1]
    with pytest.warns(ConvergenceWarning, match="without bound"):
        model = PoissonRegression(alpha=0).fit(X, y)
    for rows in ({}, {"X": X, "y": y}):
        with pytest.raises(ValueError, match=r"without bound.* larger alpha"):
            model.summary(**rows)
