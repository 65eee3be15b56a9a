"""Ridge, LeastSquares and LeastSquaresClassifier on large sparse rows, wide rows, many targets."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquares, Moments, Ridge
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


def test_what_needs_eigenvalues_is_refused_where_there_are_too_many_rows(rng):
    X = sparse.csr_array(sparse.random_array((3500, 4000), density=0.005, rng=rng))
    model = Ridge(1.0).fit(X, rng.standard_normal(3500))
    for ask in (model.path, model.posterior, model.evidence):
        with pytest.raises(ValueError, match="by products alone"):
            ask()


def test_the_rule_sees_a_sample_where_there_are_too_many_rows(rng):
    X = sparse.csr_array(sparse.random_array((3500, 4000), density=0.005, rng=rng))
    y = X @ rng.standard_normal(4000) + rng.standard_normal(3500)
    model = Ridge().fit(X, y)
    assert "of 3500 rows, alpha minimises the leave-one-out error" in model.fit_.stopped
    assert model.alpha_ > 0
    assert model.certificate_.kind == "accurate"
    assert Ridge().fit(X, y).alpha_ == model.alpha_


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


def test_moments_with_nan_are_refused(rng):
    m = Moments.of(rng.standard_normal((20, 3)), rng.standard_normal((20, 2)))
    scatter = m.scatter.copy()
    scatter[0, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LeastSquares().fit_moments(replace(m, scatter=scatter))
