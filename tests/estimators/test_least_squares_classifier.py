"""LeastSquaresClassifier: two classes, K classes, margins, streams and what it may claim."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from adaline import LeastSquaresClassifier, Moments


def two_gaussians(rng, n, means=((0.0, 0.0), (2.0, 1.0)), covariance=((2.0, 0.8), (0.8, 1.0))):
    L = np.linalg.cholesky(covariance)
    X = np.vstack([rng.standard_normal((n, 2)) @ L.T + mean for mean in means])
    return X, np.repeat([0, 1], n)


def test_the_direction_is_fishers_when_all_margins_are_one(rng):
    X, y = two_gaussians(rng, 200)
    X0, X1 = X[y == 0], X[y == 1]
    within = np.cov(X0.T, ddof=0) * len(X0) + np.cov(X1.T, ddof=0) * len(X1)
    fisher = np.linalg.solve(within, X1.mean(0) - X0.mean(0))
    w = LeastSquaresClassifier().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), fisher / np.linalg.norm(fisher), rtol=1e-12)


def test_k_classes_are_the_linear_machine_of_k_pseudoinverses(rng):
    X = rng.standard_normal((90, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    model = LeastSquaresClassifier().fit(X, y)
    A = np.linalg.pinv(np.column_stack([np.ones(90), X])) @ (y[:, None] == ["a", "b", "c"])
    np.testing.assert_allclose(model.intercept_, A[0], rtol=1e-11)
    np.testing.assert_allclose(model.coef_, A[1:].T, rtol=1e-11)
    scores = np.column_stack([np.ones(90), X]) @ A
    assert np.array_equal(model.predict(X), np.array(["a", "b", "c"])[scores.argmax(axis=1)])


def test_separation_is_claimed_only_beyond_rounding():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    assert LeastSquaresClassifier().fit(X, y).certificate_.kind == "separable"
    X = np.array([[1.0], [1.0], [2.0], [2.0]])
    certificate = LeastSquaresClassifier().fit(X, [0, 1, 0, 1]).certificate_
    assert certificate.kind == "undecided"
    assert "undecided" in certificate.statement


def test_moments_of_signs_make_a_classifier(rng):
    X, y = two_gaussians(rng, 50)
    m = Moments.of(X, np.where(y == 1, 1.0, -1.0))
    model = LeastSquaresClassifier().fit_moments(m, classes=["no", "yes"])
    want = LeastSquaresClassifier().fit(X, y)
    assert np.array_equal(model.predict(X) == "yes", want.predict(X) == 1)


def test_large_sparse_rows_are_solved_by_products_unless_all_digits_are_asked_for(rng):
    X = sparse.csr_array(sparse.random_array((5000, 500), density=0.02, rng=rng))
    y = (X @ rng.standard_normal(500) > 0).astype(int)
    quick, full = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier(refine=True).fit(X, y)
    assert quick.moments_ is None
    assert full.moments_ is not None
    assert full.fit_.certificate.kind in ("exact", "accurate")
    np.testing.assert_allclose(quick.coef_, full.coef_, atol=1e-6 * np.abs(full.coef_).max())
