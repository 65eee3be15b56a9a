"""Rows longer than they are many: the minimum over as many numbers as rows."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LogisticRegression


def wide_rows(rng, n=40, p=2500, spread=None):
    X = rng.standard_normal((n, p))
    if spread is not None:
        X *= spread
    t = np.where(X[:, :20].sum(axis=1) + rng.standard_normal(n) > 0, 1, 0)
    t[:2] = 0, 1
    return X, t


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
def test_few_long_rows_are_learned_within_the_proven_distance(rng, case, weighted, bias):
    X, codes = wide_rows(rng)
    X = CASES[case](X)
    omega = rng.uniform(0.5, 2.0, len(X)) if weighted else None
    model = LogisticRegression(fit_intercept=bias).fit(X, codes, omega)
    finer = LogisticRegression(tol=1e-12, max_iter=1000, fit_intercept=bias).fit(X, codes, omega)
    away = np.linalg.norm(model.coef_ - finer.coef_)
    assert away < 1e-5 * np.linalg.norm(finer.coef_)
    hard = case == "far from zero" and not bias  # rounding hides how far the minimum is
    assert model.certificate_.kind == "optimal" or hard
    assert hard or away <= model.certificate_.evidence["distance_bound"]


def test_more_long_rows_are_within_it_too(rng):
    X, codes = wide_rows(rng, n=530, p=2100)
    model = LogisticRegression().fit(X, codes)
    finer = LogisticRegression(tol=1e-12, max_iter=1000).fit(X, codes)
    away = np.linalg.norm(model.coef_ - finer.coef_)
    assert away <= model.certificate_.evidence["distance_bound"]


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
