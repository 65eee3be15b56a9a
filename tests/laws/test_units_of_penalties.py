"""Automatic penalties: what units the columns come in must not spoil the fit, nor its proof."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.linear_model import Ridge as SkRidge

from adaline import LogisticRegression, Moments, Ridge
from adaline.procedures.newton import newton
from adaline.sums.objective import logistic_objective
from reference import decimals, dot, solve_exactly
from reference_losses import exact_minimum

RULES = ["loo", "gcv", "evidence"]


def table(rng, n=60, p=8, noise=2.0):
    """Columns of equal worth in units that differ by a factor of 10,000."""
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2, 2, p) + 3.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, Z @ rng.standard_normal(p) + noise * rng.standard_normal(n)


def in_deviations(make, draw, seeds=40):
    """The first model that chose units of standard deviations, with its rows."""
    for seed in range(seeds):
        X, y = draw(np.random.default_rng(seed))
        model = make().fit(X, y)
        if model.column_scale_ is not None:
            return model, X, y
    raise AssertionError("no table needed other units")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_in_deviations_is_ridge_on_standardised_columns(rule, intercept):
    model, X, y = in_deviations(lambda: Ridge(rule, fit_intercept=intercept), table)
    d = X.std(axis=0) if intercept else np.sqrt(np.mean(X**2, axis=0))
    assert_allclose(model.column_scale_, d, rtol=1e-12)
    other = SkRidge(model.alpha_, fit_intercept=intercept).fit(X / d, y)
    assert_allclose(model.coef_, other.coef_ / d, rtol=1e-9)
    path = model.path([model.alpha_], X, y)
    assert_allclose(path.coef[0], model.coef_, rtol=1e-9)
    posterior = model.posterior()
    assert posterior.prior.shape == d.shape
    assert_allclose(posterior.prior, posterior.noise / (model.alpha_ * d**2))
    rest = X[:5] - (X.mean(axis=0) if intercept else 0.0)
    spread = np.einsum("ij,jk,ik->i", rest, posterior.covariance, rest)
    _, std = model.predict(X[:5], return_std=True)
    assert_allclose(std**2, posterior.noise * (1 + intercept / len(y)) + spread, rtol=1e-8)


@pytest.mark.parametrize("make", [Ridge, lambda: Ridge("evidence")])
def test_other_units_change_nothing_where_deviations_are_chosen(make):
    model, X, y = in_deviations(make, table)
    for seed in range(20):
        c = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, X.shape[1])
        other = make().fit(X * c, y)
        if other.column_scale_ is not None:
            assert_allclose(other.alpha_, model.alpha_, rtol=1e-6)
            assert_allclose(other.predict(X * c), model.predict(X), rtol=1e-7)
            assert_allclose(other.coef_ * c, model.coef_, rtol=1e-6)


def test_a_number_is_a_penalty_in_the_columns_own_units(rng):
    X, y = table(rng)
    model = Ridge(2.0).fit(X, y)
    assert model.column_scale_ is None
    assert_allclose(model.coef_, SkRidge(2.0).fit(X, y).coef_, rtol=1e-8)
    assert LogisticRegression(2.0).fit(X, y > y.mean()).column_scale_ is None


def test_columns_of_like_deviations_stay_as_they_are(rng):
    X = rng.standard_normal((50, 4))
    assert Ridge().fit(X, X[:, 0] + rng.standard_normal(50)).column_scale_ is None
    assert LogisticRegression("auto").fit(X, X[:, 0] > 0).column_scale_ is None


@pytest.mark.parametrize("rule", ["gcv", "evidence"])
def test_moments_choose_the_same_units_as_rows(rule):
    model, X, y = in_deviations(lambda: Ridge(rule), table)
    whole = Ridge(rule).fit_moments(Moments.of(X, y))
    parts = Ridge(rule).partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    for other in (whole, parts):
        assert_allclose(other.column_scale_, model.column_scale_, rtol=1e-12)
        assert_allclose(other.coef_, model.coef_, rtol=1e-6)


def nearly_exact_ridge(X, y, penalty):
    """w of |y - Xw - b|^2 + sum penalty_j w_j^2 to about 90 digits, by the n x n side."""
    rows, targets = [decimals(row) for row in X], decimals(y)
    n, penalty = len(rows), decimals(penalty)
    mean = [sum(column) / n for column in zip(*rows, strict=True)]
    centre = sum(targets) / n
    rows = [[a - m for a, m in zip(row, mean, strict=True)] for row in rows]
    over = [[a / c for a, c in zip(row, penalty, strict=True)] for row in rows]
    G = [[dot(a, c) + (i == j) for j, c in enumerate(over)] for i, a in enumerate(rows)]
    dual = solve_exactly(G, [t - centre for t in targets])
    return [dot(dual, [row[j] for row in over]) for j in range(X.shape[1])]


@pytest.mark.parametrize(("n", "p"), [(9, 3), (5, 8), (4, 1030)])
def test_the_certificate_is_about_the_penalty_of_each_column(n, p):
    def draw(rng):
        X, y = table(rng, n, p)
        return np.round(X, 4), np.round(y, 4)

    model, X, y = in_deviations(Ridge, draw)
    evidence = model.certificate_.evidence
    assert model.certificate_.kind in ("exact", "accurate")
    with localcontext() as context:
        context.prec = 100
        exact = nearly_exact_ridge(X, y, model.alpha_ * model.column_scale_**2)
        off = [abs(Decimal(float(a)) - e) for a, e in zip(model.coef_, exact, strict=True)]
        bounds = [Decimal(float(b)) for b in np.ravel(evidence["error_bound"])]
        if p > 1024:
            assert sum(d * d for d in off) <= max(bounds) ** 2
        else:
            assert all(d <= b for d, b in zip(off, bounds[:p], strict=True))


def test_logistic_weights_in_units_are_as_near_as_is_said(rng):
    X, units = np.round(rng.standard_normal((20, 2)), 2), np.array([4.0, 0.125])
    t = np.where(X[:, 0] + rng.standard_normal(20) > 0, 1.0, -1.0)
    loss = logistic_objective(X, (t > 0).astype(np.int64), 2, np.empty(0), 1.0, True)
    fit = newton(loss.with_penalty(0.5, units))
    best, _ = exact_minimum("classes", X / units, t > 0, 0.5)
    off = [abs(float(a) - float(b) / u) for a, b, u in zip(fit.W[0], best, units, strict=True)]
    assert fit.certificate.kind == "optimal"
    assert np.hypot(*off) <= fit.certificate.evidence["distance_bound"] + 1e-15


@pytest.mark.parametrize("K", [2, 3])
def test_logistic_in_deviations_is_logistic_on_standardised_columns(K):
    def draw(rng):
        X, v = table(rng, 120, 5, noise=3.0)
        return X, np.digitize(v, np.quantile(v, np.arange(1, K) / K))

    model, X, y = in_deviations(lambda: LogisticRegression("auto"), draw)
    d = X.std(axis=0)
    assert_allclose(model.column_scale_, d, rtol=1e-12)
    other = SkLogistic(C=1 / model.alpha_, tol=1e-10, max_iter=10_000).fit(X / d, y)
    assert_allclose(model.predict_proba(X), other.predict_proba(X / d), atol=1e-5)
    assert model.certificate_.kind == "optimal"
    z = model.summary(X=X, y=y).columns["z"]
    assert_allclose(z, model.summary().columns["z"], rtol=1e-6)
    c = 10.0 ** np.array([-3.0, 2.0, 0.5, -1.0, 1.0])
    moved = LogisticRegression("auto").fit(X * c, y)
    if moved.column_scale_ is not None:
        assert_allclose(moved.predict_proba(X * c), model.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_wide_rows_find_their_penalty(rng, form):
    X = rng.standard_normal((60, 2300)) * (rng.random((60, 2300)) < 0.05)
    y = (X[:, :40].sum(axis=1) + 0.1 * rng.standard_normal(60) > 0).astype(int)
    model = LogisticRegression("auto").fit(form(X), y)
    assert model.alpha_ > 0
    assert model.certificate_.kind == "optimal"
