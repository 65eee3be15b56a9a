"""GaussianClassifier: laws, peers, bad input. The contract is in test_contract.py."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.fixes import parse_version

from adaline import GaussianClassifier, RankDeficientWarning

KINDS = ["shared", "full", "diagonal"]


def clouds(rng, n=400, p=4, classes=3):
    """Overlapping, correlated classes of different size."""
    shares = np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    y = rng.choice(classes, n, p=shares)
    mix = np.eye(p) + rng.normal(size=(p, p)) / 2
    return rng.normal(size=(n, p)) @ mix * (1 + 0.2 * y[:, None]) + rng.normal(size=(classes, p))[
        y
    ], y


def same(one, other, X, Z=None, rtol=1e-8):
    """Whether two models give the same log-probabilities, for X and for Z in other units."""
    np.testing.assert_allclose(
        other.predict_log_proba(X if Z is None else Z),
        one.predict_log_proba(X),
        rtol=rtol,
        atol=rtol,
    )
    return True


@pytest.mark.parametrize("solver", ["lsqr", "svd"])
def test_shared_covariance_agrees_with_linear_discriminant_analysis(rng, solver):
    if solver == "svd" and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("its covariance is divided by n - K; greatest likelihood divides by n")
    X, y = clouds(rng)
    model, peer = (
        GaussianClassifier().fit(X, y),
        LinearDiscriminantAnalysis(solver=solver).fit(X, y),
    )
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-11)
    assert np.array_equal(model.predict(X), peer.predict(X))
    assert model.coef_.shape == peer.coef_.shape
    # The discriminants of classes differ by what all classes share; their differences do not.
    np.testing.assert_allclose(np.diff(model.coef_, axis=0), np.diff(peer.coef_, axis=0), rtol=1e-8)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X))


def test_full_covariance_agrees_with_quadratic_discriminant_analysis(rng):
    X, y = clouds(rng)
    model = GaussianClassifier("full").fit(X, y)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.means_, peer.means_, rtol=1e-12)
    # Greatest likelihood divides by n_k; some releases of scikit-learn divide by n_k - 1.
    more = np.array([np.trace(S) for S in peer.covariance_]) / np.trace(
        model.covariance_, axis1=1, axis2=2
    )
    np.testing.assert_allclose(
        model.covariance_ * more[:, None, None], peer.covariance_, rtol=1e-10
    )
    log_det = np.linalg.slogdet(peer.covariance_)[1]
    joint = np.log(model.priors_) - (model.mahalanobis(X) / more + log_det) / 2
    np.testing.assert_allclose(joint, peer.decision_function(X), rtol=1e-9, atol=1e-9)
    if np.allclose(more, 1, rtol=1e-12):
        assert np.array_equal(model.predict(X), peer.predict(X))


def test_diagonal_covariance_agrees_with_naive_bayes(rng):
    X, y = clouds(rng)
    model, peer = GaussianClassifier("diagonal").fit(X, y), GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.covariance_, peer.var_, rtol=1e-11)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_are_left_out_without_a_word(rng, kind):
    X, y = clouds(rng)
    wide = np.column_stack([X[:, :2], np.full(len(X), 1e8 + 0.1), X[:, 2:], np.zeros(len(X))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, plain = GaussianClassifier(kind).fit(wide, y), GaussianClassifier(kind).fit(X, y)
    assert same(plain, model, X, wide)
    assert model.certificate_.kind == "optimal"


def test_dependent_columns_are_named_and_regularised(rng):
    X, y = clouds(rng)
    table = pd.DataFrame(np.column_stack([X, X[:, 0] - 2 * X[:, 1]]), columns=[*"abcd", "sum"])
    for kind in ("shared", "full"):
        with pytest.warns(RankDeficientWarning, match="singular covariance.*: (a|b|sum)"):
            model = GaussianClassifier(kind).fit(table, y)
        assert np.all(model.ridge_ == pytest.approx(2.0**-20, rel=1e-3))
        assert model.certificate_.kind == "unproven"
        assert "singular" in str(model.certificate_)
        # The ridge is small beside the spread, so what can be told is told as without the column.
        agree = model.predict(table) == GaussianClassifier(kind).fit(X, y).predict(X)
        assert np.mean(agree) > 0.99
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianClassifier(shrinkage="auto").fit(table, y)
    assert 0 < model.shrinkage_ < 1
    assert model.ridge_ == 0


def test_ledoit_wolf_is_that_of_the_standardised_rows(rng):
    X, y = clouds(rng, n=60)
    residual = np.empty_like(X)
    for k in range(3):
        residual[y == k] = X[y == k] - X[y == k].mean(axis=0)
    Z = residual / residual.std(axis=0)
    expected = ledoit_wolf(Z, assume_centered=True)[1]
    model = GaussianClassifier(shrinkage="auto").fit(X, y)
    assert model.shrinkage_ == pytest.approx(expected, rel=1e-10)
    S = residual.T @ residual / len(X)
    expected = (1 - model.shrinkage_) * S + model.shrinkage_ * np.diag(np.diag(S))
    np.testing.assert_allclose(model.covariance_, expected, rtol=1e-11)
    full = GaussianClassifier("full", shrinkage="auto").fit(X, y)
    for k in range(3):
        z = residual[y == k] / residual[y == k].std(axis=0)
        expected = ledoit_wolf(z, assume_centered=True)[1]
        assert full.shrinkage_[k] == pytest.approx(expected, rel=1e-10)
    counts = rng.integers(0, 3, len(X))
    weighted = GaussianClassifier("full", shrinkage="auto").fit(X, y, counts)
    repeated = GaussianClassifier("full", shrinkage="auto").fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts)
    )
    np.testing.assert_allclose(weighted.shrinkage_, repeated.shrinkage_, rtol=1e-10)


def test_a_class_not_seen_yet_is_never_predicted(rng):
    X, y = clouds(rng)
    model = GaussianClassifier("full").partial_fit(X, y, classes=[0, 1, 2, 3])
    assert model.priors_[3] == 0
    assert np.isnan(model.means_[3]).all()
    assert set(model.predict(X)) <= {0, 1, 2}
    assert model.certificate_.kind == "unproven"
    assert "no rows yet" in model.certificate_.statement
    with pytest.raises(ValueError, match="have a prior but no rows"):
        GaussianClassifier(priors=[0.25] * 4).partial_fit(X, y, classes=[0, 1, 2, 3])


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_a_row_too_far_from_every_class_has_no_posterior(rng, kind):
    """1e200, where the columns are of 1e-200: no float64 tells how many deviations that is."""
    X, y = clouds(rng)
    model = GaussianClassifier(kind).fit(1e-200 * X, y)
    far = np.full((1, 4), 1e200)
    assert np.isinf(model.mahalanobis(far)).all()
    for method in (model.predict_proba, model.predict, model.decision_function):
        with pytest.raises(ValueError, match="so far from every class"):
            method(far)
