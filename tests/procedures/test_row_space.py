"""Rows longer than they are many: the minimum over as many numbers as rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline import LogisticRegression, PoissonRegression


def wide_rows(rng, n=40, p=2500, spread=None):
    X = rng.standard_normal((n, p))
    if spread is not None:
        X *= spread
    t = np.where(X[:, :20].sum(axis=1) + rng.standard_normal(n) > 0, 1, 0)
    t[:2] = 0, 1
    return X, t


def steepness(X, codes, omega, w, b, alpha=1.0, bias=True):
    """|gradient| of the penalised loss over that at zero, in extended precision."""
    x, t = np.asarray(X, dtype=np.longdouble), np.where(codes == 1, 1.0, -1.0)
    o = np.ones(len(t)) if omega is None else omega

    def gradient(w, b):
        r = -t * o / (1.0 + np.exp(t * (x @ w + b)))
        return np.append(x.T @ r + alpha * w, r.sum() if bias else 0.0)

    whole = np.linalg.norm(gradient(w.astype(np.longdouble), np.longdouble(b)).astype(float))
    return whole / np.linalg.norm(gradient(0 * w, 0.0).astype(float))


CASES = {
    "plain": lambda X: X,
    "far from zero": lambda X: X + 100.0,
    "units of their own": lambda X: X * np.logspace(-1, 1, X.shape[1]),
    "a constant column": lambda X: np.column_stack([np.full(len(X), 3.0), X]),
    "columns of Fortran": np.asfortranarray,
    "rows given twice": lambda X: np.vstack([X, X])[: len(X)],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_long_rows_are_learned_to_a_tiny_gradient(rng, case, weighted, bias):
    X, codes = wide_rows(rng)
    X = CASES[case](X)
    omega = rng.uniform(0.5, 2.0, len(X)) if weighted else None
    model = LogisticRegression(fit_intercept=bias).fit(X, codes, omega)
    hard = case == "far from zero" and not bias  # rounding hides how far the minimum is
    assert model.certificate_.kind == "optimal" or hard
    assert steepness(X, codes, omega, model.coef_[0], model.intercept_[0], bias=bias) < 1e-7


@pytest.mark.parametrize("n", [30, 530])
def test_the_proven_distance_holds(rng, n):
    X, codes = wide_rows(rng, n=n, p=2100)
    model = LogisticRegression().fit(X, codes)
    finer = LogisticRegression(tol=1e-12, max_iter=1000).fit(X, codes)
    away = np.linalg.norm(model.coef_ - finer.coef_)
    assert away <= model.certificate_.evidence["distance_bound"]
    assert away < 1e-5 * np.linalg.norm(finer.coef_)


def test_columns_of_very_different_sizes_are_proven(rng):
    X, codes = wide_rows(rng, n=530, p=2100, spread=np.geomspace(30.0, 1e-3, 2100))
    model = LogisticRegression().fit(X, codes)
    assert model.certificate_.kind == "optimal"
    assert steepness(X, codes, None, model.coef_[0], model.intercept_[0]) < 1e-7


@pytest.mark.parametrize("K", [3, 4])
def test_several_classes_of_long_rows(rng, K):
    X, _ = wide_rows(rng)
    codes = rng.integers(0, K, len(X))
    codes[:K] = range(K)
    model = LogisticRegression().fit(X, codes)
    P = model.predict_proba(X)
    g = (P - np.eye(K)[codes]).T @ X + model.coef_
    assert np.linalg.norm(g) < 1e-6 * np.linalg.norm(X)
    assert model.certificate_.kind == "optimal"


def test_counts_of_long_rows(rng):
    X = rng.standard_normal((30, 2100)) / 10
    y = rng.poisson(np.exp(X[:, :5].sum(axis=1)))
    model = PoissonRegression(alpha=1.0).fit(X, y)
    r = model.predict(X) - y
    assert np.linalg.norm(X.T @ r + model.coef_) < 1e-6 * np.linalg.norm(X.T @ y)


def test_dense_and_sparse_long_rows_agree(rng):
    X, codes = wide_rows(rng)
    X[rng.random(X.shape) < 0.95] = 0.0
    dense = LogisticRegression().fit(X, codes)
    packed = LogisticRegression().fit(sparse.csr_matrix(X), codes)
    np.testing.assert_allclose(dense.coef_, packed.coef_, atol=1e-5)


def test_the_bits_do_not_depend_on_threads(rng):
    X, codes = wide_rows(rng, n=600, p=2100)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(LogisticRegression().fit(X, codes).coef_)
    np.testing.assert_array_equal(*found)
