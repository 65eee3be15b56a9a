"""Ridge, LeastSquares and LeastSquaresClassifier on large sparse rows, wide rows, many targets."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquares, LeastSquaresClassifier, Moments, Ridge
from adaline.data import load, save


@pytest.fixture
def large(rng):
    """1200 x 3000 with 20 nonzeros a row, columns of very different frequency."""
    n, p = 1200, 3000
    columns = (p * rng.random((n, 20)) ** 3).astype(int)
    at = np.repeat(np.arange(n), 20), columns.ravel()
    X = sparse.csr_array(sparse.coo_array((rng.random(n * 20) + 0.1, at), shape=(n, p)))
    w = rng.standard_normal(p)
    return X, X @ w + 0.3 * rng.standard_normal(n) + 5.0


def test_sparse_ridge_is_dense_ridge(large):
    X, y = large
    model, dense = Ridge(1.0).fit(X, y), Ridge(1.0).fit(X.toarray(), y)
    assert "conjugate gradients" in model.fit_.stopped
    bound = model.certificate_.evidence["error_bound"][0]
    assert np.linalg.norm(model.coef_ - dense.coef_) <= bound
    assert bound < 1e-7 * np.linalg.norm(dense.coef_)
    assert model.intercept_ == pytest.approx(dense.intercept_, rel=1e-6)
    assert model.moments_ is None


def test_float32_rows_are_certified_as_delivered(large):
    X, y = large
    X = X.astype(np.float32)
    model, dense = Ridge(1.0).fit(X, y), Ridge(1.0).fit(X.astype(np.float64), y)
    assert model.coef_.dtype == np.float32
    error = np.linalg.norm(model.coef_.astype(float) - dense.coef_)
    both = (m.certificate_.evidence["error_bound"][0] for m in (model, dense))
    assert error <= sum(both)


def test_path_and_posterior_are_still_there_and_files_hold_the_same(large, tmp_path):
    X, y = large
    X, y = sparse.hstack([X[:360], sparse.csr_array((360, 3000))], format="csr"), y[:360]
    model = Ridge(1.0).fit(X, y)
    assert "conjugate gradients" in model.fit_.stopped
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    save(model, tmp_path / "m.adaline")
    twins.append(load(tmp_path / "m.adaline"))
    want = model.path([1.0, 10.0])
    np.testing.assert_allclose(want.coef[0], model.coef_, atol=1e-6)
    for twin in twins:
        assert np.array_equal(twin.coef_, model.coef_)
        assert np.array_equal(twin.path([1.0, 10.0]).coef, want.coef)
        _, std = twin.predict(X[:3].toarray(), return_std=True)
        assert np.all(std > 0)


def test_rows_that_the_caller_changes_later_do_not_change_the_path(rng):
    X, y = rng.standard_normal((30, 1200)), rng.standard_normal(30)
    for kind in (np.asarray, sparse.csr_array):
        Z = kind(X.copy())
        model, twin = Ridge(1.0).fit(Z, y), Ridge(1.0).fit(kind(X.copy()), y)
        (Z if kind is np.asarray else Z.data)[:] = 0.0
        np.testing.assert_array_equal(model.path([2.0]).coef, twin.path([2.0]).coef)


def test_what_needs_eigenvalues_is_refused_where_there_are_too_many_rows(rng):
    X = sparse.csr_array(sparse.random_array((3500, 4000), density=0.005, rng=rng))
    model = Ridge(1.0).fit(X, rng.standard_normal(3500))
    for ask in (model.path, model.posterior, model.evidence):
        with pytest.raises(ValueError, match="by products alone"):
            ask()
    with pytest.raises(ValueError, match='give "auto"'):
        Ridge("loo").fit(X, np.arange(3500.0))


def test_the_rule_is_estimated_where_there_are_too_many_rows(rng):
    X = sparse.csr_array(sparse.random_array((3500, 4000), density=0.005, rng=rng))
    y = X @ rng.standard_normal(4000) + rng.standard_normal(3500)
    model = Ridge().fit(X, y)
    assert "an estimate of the generalised cross-validation error" in model.fit_.stopped
    assert model.alpha_ > 0
    assert model.certificate_.kind == "accurate"
    assert Ridge().fit(X, y).alpha_ == model.alpha_


def test_the_classifier_reaches_its_targets_on_sparse_rows(large):
    X, y = large
    labels = np.where(y > np.median(y), "spam", "ham")
    X, labels = X[:750], labels[:750]
    model = LeastSquaresClassifier().fit(X, labels)
    dense = LeastSquaresClassifier().fit(X.toarray(), labels)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X), atol=1e-5)
    assert model.certificate_.kind == dense.certificate_.kind
    again = LeastSquaresClassifier().fit(X, labels, sample_weight=np.full(750, 3.0))
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-6 * np.abs(model.coef_).max())


def test_memory_stays_below_that_of_a_dense_row_block(rng):
    n, p = 8000, 30_000
    X = sparse.random_array((n, p), density=1e-3, rng=rng, data_sampler=rng.standard_normal)
    X = sparse.csr_array(X)
    y = rng.standard_normal(n)
    tracemalloc.start()
    Ridge(1.0).fit(X, y)
    LeastSquares().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6  # X itself has 3 MB; a matrix of n x n numbers has 500


def test_a_fit_that_does_not_end_is_told(rng, monkeypatch):
    monkeypatch.setattr("adaline.procedures.krylov.MOST_STEPS", 3)
    X = sparse.csr_array(sparse.random_array((1500, 2000), density=0.01, rng=rng))
    with pytest.warns(Warning, match="after 3 steps"):
        LeastSquares().fit(X, rng.standard_normal(1500))


@pytest.mark.parametrize("shape", [(20, 1500), (90, 1200)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_wide_ridge_by_one_factor_is_that_by_a_spectrum(rng, shape, fit_intercept, weighted):
    X, Y = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    omega = rng.integers(0, 3, shape[0]).astype(float) if weighted else None
    one = Ridge(0.7, fit_intercept=fit_intercept).fit(X, Y, omega)
    other = Ridge([0.7, 0.7000000000000001], fit_intercept=fit_intercept).fit(X, Y, omega)
    assert one.certificate_.kind == other.certificate_.kind == "accurate"
    apart = np.linalg.norm(one.coef_[0] - other.coef_[0])
    assert apart <= 2 * one.certificate_.evidence["error_bound"][0] + 1e-16
    assert one.certificate_.evidence["digits"] > 14


def test_minimum_norm_through_the_gram_matrix_is_the_pseudoinverse(rng):
    X, y = rng.standard_normal((80, 1300)) + 3.0, rng.standard_normal(80)
    X[0] += 50.0  # a first row far from the others
    model = LeastSquares().fit(X, y)
    A = X - X.mean(axis=0)
    want = np.linalg.pinv(A, rcond=1e-10) @ (y - y.mean())  # centred rows depend on each other
    np.testing.assert_allclose(model.coef_, want, atol=1e-12 * np.abs(want).max())


def test_products_of_many_targets_are_not_kept_and_nothing_else_is_lost(rng, tmp_path):
    X = rng.standard_normal((200, 6))
    Y = X @ rng.standard_normal((6, 80)) + rng.standard_normal((200, 80))
    m = Moments.of(X, Y)
    assert np.isnan(m.scatter_yy[~np.eye(80, dtype=bool)]).all()
    centred = Y - Y.mean(axis=0)
    np.testing.assert_allclose(np.diag(m.scatter_yy), (centred**2).sum(axis=0), rtol=1e-12)
    parts = Moments.of(X[:90], Y[:90]) + Moments.of(X[90:], Y[90:])
    np.testing.assert_allclose(parts.scatter_xy, m.scatter_xy, rtol=1e-9, atol=1e-9)
    one = LeastSquares().fit(X, Y)
    alone = LeastSquares().fit(X, Y[:, 7])
    assert np.array_equal(one.coef_[7], alone.coef_)
    save(one, tmp_path / "m.adaline")
    back = load(tmp_path / "m.adaline").partial_fit(X, Y)
    np.testing.assert_allclose(back.coef_, one.coef_, rtol=1e-9)
    ridge = Ridge(2.0).fit(X, Y)
    assert ridge.certificate_.evidence["digits"] > 8
    np.testing.assert_allclose(ridge.coef_[3], Ridge(2.0).fit(X, Y[:, 3]).coef_, rtol=1e-9)


def test_refused_files_hold_nan_elsewhere(rng, tmp_path):
    from dataclasses import replace

    m = Moments.of(rng.standard_normal((20, 3)), rng.standard_normal((20, 2)))
    scatter = m.scatter.copy()
    scatter[0, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"scatter|Moments"):
            save(replace(m, scatter=scatter), tmp_path / "m.adaline")
