"""Firth's penalty for two classes and more: tables by hand, slopes by differences, symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from adaline import LogisticRegression
from adaline.procedures.firth import firth
from adaline.sums.objective import logistic_objective

NONE = np.empty(0)


def sample(rng, n=40, p=2, K=3):
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    return X, np.r_[np.arange(K), rng.integers(0, K, n - K)]


@pytest.mark.parametrize("cells", [[[4, 0, 3], [1, 5, 2]], [[9, 0, 0], [0, 7, 0]], [[1, 1, 1]] * 2])
def test_a_half_is_added_to_every_cell_of_a_table_of_three_classes(cells):
    cells = np.array(cells)
    X = np.repeat([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], cells.ravel())[:, None]
    y = np.repeat([0, 1, 2, 0, 1, 2], cells.ravel())
    if len(np.unique(y)) < 3:  # a class that never came is not among the classes of a fit
        fit = firth(logistic_objective(X, y, 3, NONE, 0.0, True))
        V = np.array([[0.0], [1.0]]) @ fit.W.T + fit.b
        p = np.exp(V) / np.exp(V).sum(axis=1, keepdims=True)
    else:
        p = LogisticRegression("firth").fit(X, y).predict_proba([[0.0], [1.0]])
    want = (cells + 0.5) / (cells + 0.5).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, want, atol=1e-6)


@pytest.mark.parametrize("cells", [(7, 0, 3, 9), (5, 2, 1, 8), (10, 10, 1, 1), (4, 0, 0, 6)])
def test_a_half_is_added_to_every_cell_of_a_table_of_two_classes(cells):
    a, b, c, d = cells
    X = np.repeat([1.0, 1.0, 0.0, 0.0], cells)[:, None]
    model = LogisticRegression("firth").fit(X, np.repeat([1, 0, 1, 0], cells))
    odds = (a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5))
    assert model.coef_[0, 0] == pytest.approx(np.log(odds), abs=1e-6)
    assert model.intercept_[0] == pytest.approx(np.log((c + 0.5) / (d + 0.5)), abs=1e-6)


def test_separated_classes_have_finite_weights_a_search_over_the_criterion_agrees_with():
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    model = LogisticRegression("firth", tol=1e-10).fit(X, y)
    Z = np.column_stack([X[:, 0], np.ones(9)])

    def criterion(free):
        V = np.column_stack([np.zeros(9), Z @ free.reshape(2, 2).T])
        P = np.exp(V - V.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        H = np.zeros((4, 4))
        for z, p in zip(Z, P[:, 1:], strict=True):
            H += np.kron(np.diag(p) - np.outer(p, p), np.outer(z, z))
        return -np.log(P[np.arange(9), y]).sum() - 0.5 * np.linalg.slogdet(H)[1]

    theta = np.column_stack([model.coef_, model.intercept_])
    ours = criterion((theta[1:] - theta[0]).ravel())
    start = (theta[1:] - theta[0]).ravel() + 0.3
    best = minimize(
        criterion, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-12}
    )
    assert ours <= best.fun + 1e-9
    assert model.fit_.outcome == "converged"
    assert np.isfinite(model.summary()["std err"]).all()


def test_too_many_parameters_and_dependent_columns_are_refused_in_words(rng):
    X, y = sample(rng, p=60, n=200)
    with pytest.raises(ValueError, match="here are 3 classes and 60"):
        firth(logistic_objective(X, y, 3, NONE, 0.0, True))
    X = np.column_stack([X[:, 0], 2 * X[:, 0]])
    with pytest.raises(ValueError, match="columns depend on others"):
        firth(logistic_objective(X, y, 3, NONE, 0.0, True))
