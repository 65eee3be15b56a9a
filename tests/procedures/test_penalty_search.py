"""alpha="auto" is the penalty of least approximate leave-one-out loss, by a slow twin of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from adaline import LogisticRegression


def table(rng, kind="plain", n=300, p=8, K=2):
    """Rows and labels that a few columns tell, with noise."""
    X = rng.normal(size=(n, p))
    if kind == "correlated":
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + 0.4 * X[:, j]
    if kind == "factors":
        X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + 0.2 * X
    if kind == "heavy":
        X *= np.sqrt(3.0 / rng.chisquare(3, n))[:, None]
    if kind == "families":  # rows that are nearly copies of others
        X = np.repeat(X[: n // 6], 6, axis=0) + 0.05 * rng.normal(size=(n // 6 * 6, p))
    some = min(max(p // 10, 4), p)
    V = X[:, :some] @ rng.normal(size=(some, K))
    V = V / V.std(axis=0) + 0.5 * rng.gumbel(size=V.shape)
    if kind == "rare":
        V[:, 0] += 2.0
    if kind == "units":
        X *= 10.0 ** rng.uniform(-1, 1, p)
    return X, np.argmax(V, axis=1)


def score(X, y, omega, model, factor):
    """Mean loss of the rows, each after one Newton step from the fit to that without it."""
    d = 1.0 if model.column_scale_ is None else model.column_scale_
    alpha, intercept, Z = model.alpha_ * factor, model.fit_intercept, X / d
    fit = LogisticRegression(alpha, fit_intercept=intercept, tol=1e-10).fit(Z, y, omega)
    omega = np.ones(len(y)) if omega is None else omega
    W, b = fit.coef_, fit.intercept_
    if len(W) == 1:  # two classes are two neurons of half the weights each
        W, b = np.vstack([-W, W]) / 2, np.r_[-b, b] / 2
        alpha = 2 * alpha
    K, q = len(W), Z.shape[1] + intercept
    Z = np.column_stack([Z, np.ones(len(Z))]) if intercept else Z
    V = Z @ (np.column_stack([W, b]) if intercept else W).T
    P, T = softmax(V, axis=1), np.eye(K)[y]
    H = np.kron(np.eye(K), np.diag([alpha] * (q - intercept) + [0.0] * intercept))
    for k in range(K):
        for m in range(K):
            c = omega * P[:, k] * ((k == m) - P[:, m])
            H[k * q : (k + 1) * q, m * q : (m + 1) * q] += (Z * c[:, None]).T @ Z
    # What all classes share changes nothing: any curvature of it will do.
    H += np.kron(np.ones((K, K)), np.diag(np.diag(H).reshape(K, q).mean(axis=0)))
    C = np.linalg.inv(H).reshape(K, q, K, q)
    total = 0.0
    for z, v, p, t, o in zip(Z, V, P, T, omega, strict=True):
        B = min(o, 1.0) * np.einsum("j,kjml,l->km", z, C, z)
        S = np.diag(p) - np.outer(p, p)
        moved = np.linalg.solve(np.eye(K) - B @ S, B @ (p - t))
        total -= o * (log_softmax(v + moved) @ t)
    return total / omega.sum()


def is_best(X, y, model, omega=None, slack=1e-3):
    here = score(X, y, omega, model, 1.0)
    return all(here <= score(X, y, omega, model, f) + slack for f in (0.1, 0.3, 3.0, 10.0))


KINDS = ["plain", "correlated", "factors", "heavy", "families", "rare", "units"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_no_other_penalty_is_better(rng, kind, intercept):
    X, y = table(rng, kind)
    model = LogisticRegression("auto", fit_intercept=intercept).fit(X, y)
    assert model.certificate_.kind == "optimal"
    assert is_best(X, y, model)


@pytest.mark.parametrize(("n", "p", "K"), [(300, 8, 3), (120, 30, 4), (40, 60, 2), (60, 90, 2)])
def test_nor_is_it_of_several_classes_and_more_columns_than_rows(rng, n, p, K):
    X, y = table(rng, "units", n, p, K)
    model = LogisticRegression("auto").fit(X, y)
    assert model.certificate_.kind == "optimal"
    assert is_best(X, y, model)


def test_separable_classes_have_a_penalty_and_finite_weights(rng):
    X = rng.standard_normal((80, 3))
    model = LogisticRegression("auto").fit(X, (X[:, 0] > 0).astype(int))
    assert model.alpha_ > 0
    assert model.certificate_.kind == "optimal"
