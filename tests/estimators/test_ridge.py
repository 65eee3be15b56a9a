"""Ridge: scikit-learn's numbers at a fixed alpha, and a penalty that finds itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge as Peer

from adaline import LeastSquares, Ridge, interval

RULES = ["auto", "loo", "gcv", "evidence"]


def draw(rng, n, p, k=None, noise=1.0):
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3, p) + rng.uniform(-5, 5, p)
    shape = () if k is None else (k,)
    return X, X @ rng.standard_normal((p, *shape)) + noise * rng.standard_normal((n, *shape)) + 3


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 6), (9, 30), (20, 20)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_coefficients_agree_with_scikit_learn(rng, alpha, intercept, weighted, n, p, make):
    X, y = draw(rng, n, p, k=2)
    X = np.where(X > 0, X, 0.0)
    weights = rng.uniform(0.1, 3, n) if weighted else None
    ours = Ridge(alpha, fit_intercept=intercept).fit(make(X), y, sample_weight=weights)
    peer = Peer(alpha, fit_intercept=intercept, solver="svd").fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-10, atol=1e-10 * np.abs(peer.coef_).max())
    assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-9)
    assert_allclose(ours.predict(make(X)), peer.predict(X), rtol=1e-9, atol=1e-9)


def test_more_than_a_thousand_columns_never_meet_in_a_square_matrix(rng):
    X, y = draw(rng, 20, 3000)
    model = Ridge().fit(X, y)
    assert model.moments_ is None
    peer = Peer(float(model.alpha_), solver="svd").fit(X, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-8, atol=1e-8 * np.abs(peer.coef_).max())
    assert model.path([1.0], X, y).loo.shape == (1,)
    _, std = model.predict(X[:2], return_std=True)
    assert np.isfinite(std).all()
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.forget(X, y)


# The penalty


def test_a_perfect_fit_is_least_squares_and_says_so(rng):
    X, y = draw(rng, 30, 3, noise=0.0)
    for rule in RULES:
        model = Ridge(rule).fit(X, y)
        assert model.alpha_ == 0
        assert "this is least squares" in model.fit_.stopped


# Streams


def test_leaving_out_has_no_streaming_methods_and_other_rules_have():
    """Tools ask with hasattr whether an estimator can stream."""
    for method in ("partial_fit", "forget", "fit_moments"):
        assert not hasattr(Ridge("loo"), method)
        assert not hasattr(Ridge("loo").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0]), method)
        assert all(hasattr(Ridge(rule), method) for rule in ("auto", "gcv", "evidence", 1.0))
        assert callable(getattr(Ridge, method))
    assert hasattr(Ridge("loo").set_params(alpha="gcv"), "partial_fit")


# The path


def test_the_path_tells_coefficients_errors_and_degrees_of_freedom(rng):
    X, y = draw(rng, 40, 4)
    path = Ridge(5.0).fit(X, y).path([0.0, 1.0, 1e12], X, y)
    assert_allclose(path.dof, [5.0, path.dof[1], 1.0], atol=1e-6)
    peer = Peer(1.0, solver="cholesky").fit(X, y)
    assert_allclose(path.coef[1], peer.coef_, rtol=1e-10)
    assert_allclose(path.intercept[1], peer.intercept_, rtol=1e-10)
    frame = path.to_frame()
    assert list(frame.columns) == [
        "alpha",
        "dof",
        "gcv",
        "loo",
        "intercept",
        "x0",
        "x1",
        "x2",
        "x3",
    ]
    assert Ridge(5.0).fit(X, y).path().loo is None


# The Bayesian reading


@pytest.mark.parametrize(("n", "p"), [(40, 3), (6, 10)])
def test_the_posterior_is_bayes_rule_written_out(rng, n, p):
    X, y = draw(rng, n, p)
    model = Ridge(2.0).fit(X, y)
    posterior = model.posterior()
    A = np.column_stack([X, np.ones(n)])
    inverse = np.linalg.inv(A.T @ A + np.diag([2.0] * p + [0.0]))
    r, dof = y - model.predict(X), np.trace(A @ inverse @ A.T)
    assert_allclose(posterior.noise, r @ r / (n - dof), rtol=1e-8)
    assert_allclose(posterior.prior, posterior.noise / 2, rtol=1e-12)
    assert_allclose(posterior.mean, model.coef_)
    whole = posterior.noise * inverse
    assert_allclose(posterior.covariance, whole[:p, :p], rtol=1e-7, atol=1e-9 * whole.max())
    new = rng.standard_normal((5, p)) * 10
    mean, std = model.predict(new, return_std=True)
    B = np.column_stack([new, np.ones(5)])
    assert_allclose(mean, model.predict(new))
    assert_allclose(std**2, posterior.noise + np.sum(B @ whole * B, axis=1), rtol=1e-7)


@pytest.mark.filterwarnings("ignore::adaline.errors.RankDeficientWarning")
def test_without_a_penalty_dependent_columns_have_no_posterior(rng):
    X, y = draw(rng, 20, 2)
    with pytest.raises(ValueError, match="no proper posterior"):
        Ridge(0.0).fit(X[:, [0, 0, 1]], y).posterior()
    with pytest.raises(ValueError, match="no degrees of freedom"):
        Ridge(0.0).fit(X[:3], y[:3]).posterior()
    assert Ridge(0.0).fit(X, y).evidence().value == -np.inf


# Bad input


@pytest.mark.parametrize("alpha", ["auto", "gcv", 2.0])
def test_the_summary_is_the_posterior_with_the_penalty(rng, alpha):
    X, y = draw(rng, 40, 3)
    X = X + 5.0
    model = Ridge(alpha).fit(X, y)
    table, given = model.summary(0.9), model.posterior()
    assert table["alpha"] == model.alpha_
    assert_allclose(table["coef"], [model.intercept_, *model.coef_])
    assert_allclose(table["std err"][1:], np.sqrt(np.diag(given.covariance)))
    assert_allclose(table["high 90%"] - table["coef"], 1.6448536269514722 * table["std err"])
    # The mean of y is sure to noise / n, and the slopes add their errors on the way to x = 0.
    mean = X.mean(axis=0)
    about = given.noise / 40 + mean @ given.covariance @ mean
    assert table["std err"][0] == pytest.approx(np.sqrt(about))
    assert ("minimises" in str(table)) == isinstance(alpha, str)


def test_too_few_rows_are_not_called_dependent_columns(rng):
    X, y = rng.standard_normal((3, 3)), rng.standard_normal(3)
    model = LeastSquares().fit(X, y)
    for asked in (model.summary, lambda: interval(model, X)):
        with pytest.raises(ValueError, match="3 rows cannot determine 4"):
            asked()
    with pytest.raises(ValueError, match="dependent"):
        LeastSquares().fit(np.ones((9, 2)) * np.arange(9)[:, None], np.arange(9)).summary()
