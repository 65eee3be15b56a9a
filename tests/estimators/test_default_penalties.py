"""The default of a command must work on every table: bounded, silent where all is well."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score

import adaline
from adaline import LeastSquares, LogisticRegression, Ridge, load, save


def silently_fitted(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(alpha="auto").fit(X, y)
    assert model.certificate_.kind == "optimal"
    assert np.isfinite(model.alpha_)
    return model


@pytest.mark.parametrize(("rows", "least"), [(load_breast_cancer, 0.975), (load_wine, 0.975)])
def test_units_do_not_spoil_well_known_tables(rows, least):
    X, y = rows(return_X_y=True)
    assert cross_val_score(LogisticRegression("auto"), X, y, cv=5).mean() > least


def test_many_classes_and_features_have_an_automatic_penalty():
    X, y = load_digits(return_X_y=True)  # 10 classes, 64 features, some of them constant
    some = np.arange(len(y)) % 3 == 0
    model = silently_fitted(X[some], y[some])
    assert model.score(X[~some], y[~some]) > 0.94


@pytest.mark.parametrize("K", [2, 3, 6])
def test_classes_far_apart_are_no_trouble(rng, K):
    y = np.repeat(np.arange(K), 20)
    X = np.column_stack([10.0 * y + rng.random(len(y)), 1e5 * rng.random(len(y))])
    model = silently_fitted(X, y)
    assert model.score(X, y) > 0.95


def test_setosa_is_separable_and_no_trouble():
    X, y = load_iris(return_X_y=True)
    assert silently_fitted(X, y == 0).score(X, y == 0) == 1.0
    assert silently_fitted(X, y).score(X, y) > 0.96


def test_noise_gets_weights_near_zero(rng):
    X, y = rng.standard_normal((80, 4)) * [1, 10, 100, 1000], rng.integers(0, 2, 80)
    model = silently_fitted(X, y)
    assert np.ptp(model.predict_proba(X)[:, 1]) < 0.6


@pytest.mark.parametrize(
    "change", [lambda X: X, lambda X: X * 1e-160, lambda X: np.c_[X, X], lambda X: np.c_[X, X**0]]
)
@pytest.mark.parametrize("model", [LeastSquares(), Ridge(), Ridge("gcv"), Ridge("evidence")])
def test_exact_fits_are_silent(rng, change, model):
    X = rng.integers(-5, 6, (20, 3)).astype(float)
    y = X @ [1.0, 2.0, 3.0] + 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", adaline.RankDeficientWarning)
        model.fit(change(X), y)
        for method in ("summary", "posterior", "evidence", "path"):
            try:
                getattr(model, method, lambda: None)()
            except ValueError:  # dependent columns, or no degrees of freedom: told in a sentence
                continue
        np.testing.assert_allclose(model.predict(change(X)), y, atol=1e-6)


def test_ridge_names_constant_and_dependent_columns_and_does_not_advise_ridge(rng):
    X = rng.standard_normal((50, 3))
    X = np.column_stack([X, np.full(50, 0.1), X[:, 0] + X[:, 1]])
    y = X[:, 0] + rng.standard_normal(50)
    model = Ridge().fit(X, y)
    said = " ".join(adaline.verdict(model, X, y, names=list("abcde")).warnings)
    assert "constant columns: d." in said
    assert re.search(r"variance inflation .*: a \(.*\), b \(.*\), e \(", said)
    assert "use ridge" not in said
    near = np.column_stack([X[:, :3], X[:, 0] + 1e-9 * rng.standard_normal(50)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = Ridge(1e-20).fit(near, y)
    assert "use ridge" not in " ".join(adaline.verdict(small, near, y).warnings)


def test_no_variance_of_a_posterior_is_negative(rng):
    for k in range(20):
        X = rng.standard_normal((30, 3))
        near = np.column_stack([X, X[:, 0] + 10.0**-k * rng.standard_normal(30), X[:, 1]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Ridge(10.0 ** (-2 * k)).fit(near, X[:, 0] + rng.standard_normal(30))
        assert (np.diag(model.posterior().covariance) > 0).all()


@pytest.mark.parametrize("make", [Ridge, lambda: LogisticRegression("auto")])
def test_files_from_before_units_were_chosen_load(rng, tmp_path, make):
    X = rng.standard_normal((40, 3))
    model = make().fit(X, (X[:, 0] + rng.standard_normal(40) > 0).astype(int))
    assert model.column_scale_ is None
    del model.column_scale_
    save(model, tmp_path / "old.adaline")
    back = load(tmp_path / "old.adaline")
    assert back.column_scale_ is None
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
