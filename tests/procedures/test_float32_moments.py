"""Weights of float32 rows: corrected until only one float32 is within the bounds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquares, LeastSquaresClassifier, Ridge
from reference import exact_least_squares
from reference_claims import digits_hold


def rows(rng, kind, n=12, p=3):
    """float32 rows: plain, of very different units, far from zero, or nearly collinear."""
    X = rng.standard_normal((n, p))
    if kind == "units":
        X *= 10.0 ** rng.integers(-25, 25, p)
    if kind == "far":
        X += 10.0 ** rng.uniform(0, 5, p)
    if kind == "collinear":
        X[:, 0] = X[:, 1] + 10.0 ** rng.uniform(-5, -1) * X[:, 0]
    if kind == "constant":
        X[:, 0] = 3.0
    return X.astype(np.float32)


@pytest.mark.parametrize("kind", ["plain", "units", "far", "collinear", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_claims_are_true_in_rational_arithmetic(rng, kind, weighted):
    for i in range(60):
        X, alpha, bias = rows(rng, kind), float(rng.choice([0.0, 1e-3, 1.0])), bool(i % 3)
        if kind == "constant" and alpha == 0.0:
            continue
        y = X @ (rng.standard_normal(3) / np.abs(X).max(axis=0)) + rng.standard_normal(len(X))
        y *= 10.0 ** float(rng.choice([0, 0, -30, 30, -150, 150]))
        omega = rng.uniform(0.1, 3.0, len(X)) if weighted else np.ones(len(X))
        model = Ridge(alpha, fit_intercept=bias) if alpha else LeastSquares(fit_intercept=bias)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X, y, sample_weight=omega if weighted else None)
        if np.isfinite(model.coef_).all():
            assert digits_hold(model, X, y, omega, bias, alpha) is not False


def test_sparse_rows_and_classes_have_the_weights_of_dense_rows(rng):
    X = rng.standard_normal((200, 3)).astype(np.float32) * (rng.random((200, 3)) < 0.5)
    y = (X @ [1.0, -1.0, 0.5] + rng.standard_normal(200) > 0).astype(int)
    for make in (LeastSquares, LeastSquaresClassifier):
        dense, thin = make().fit(X, y), make().fit(sparse.csr_array(X), y)
        assert np.array_equal(dense.coef_, thin.coef_)
        assert dense.fit_.stopped == thin.fit_.stopped


def test_residuals_that_vanish_are_measured_on_the_rows(rng):
    """Moments lose as many digits of the squared residuals as these are smaller than y'y."""
    X = rng.standard_normal((50, 3)).astype(np.float32)
    y = X.astype(np.float64) @ [1.0, 2.0, 3.0] + 1e-5 * rng.standard_normal(50)
    fit = LeastSquares().fit(X, y).fit_
    assert "double-double" in fit.stopped
    w = [float(v) for v in exact_least_squares(X, y)]
    squares = ((y - X.astype(np.float64) @ w[:3] - w[3]) ** 2).sum()
    assert np.isclose(fit.squares[0], squares, rtol=1e-9)


def test_rows_of_float64_are_corrected_as_before(rng):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    assert "double-double" in LeastSquares().fit(X, y).fit_.stopped
