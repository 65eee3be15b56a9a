"""Weights of float32 rows that moments prove: those that rows in double-double would give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquares, LeastSquaresClassifier, Ridge
from adaline.certificates.digits import bound_of_bias
from adaline.procedures.least_squares import closed_form
from reference import exact_least_squares
from reference_claims import digits_hold

FROM_MOMENTS = "solved in closed form from moments."


@pytest.fixture
def short(monkeypatch):
    """As if few rows were many: rational arithmetic takes long."""
    monkeypatch.setattr(closed_form, "_LONG", 0)


def without_moments(monkeypatch, model, *arrays):
    with monkeypatch.context() as patch:
        patch.setattr(closed_form, "_LONG", 2**60)
        return model.fit(*arrays)


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
def test_claims_are_true_in_rational_arithmetic(rng, short, kind, weighted):
    by_moments = 0
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
        if model.fit_.stopped.lower() == FROM_MOMENTS:
            by_moments += 1
            assert model.certificate_.kind == "exact"
    assert by_moments > (0 if kind == "constant" else 5)


def test_large_tables_have_the_same_weights_and_errors_without_a_second_pass(rng, monkeypatch):
    X = rng.standard_normal((30_000, 10)).astype(np.float32)
    y = X @ rng.standard_normal(10) + rng.standard_normal(len(X)) + 1.0
    for make in (LeastSquares, lambda: Ridge(1.0), Ridge):
        model = make().fit(X, y)
        assert model.fit_.stopped.lower().endswith(FROM_MOMENTS)
        assert model.certificate_.kind == "exact"
        twin = without_moments(monkeypatch, make(), X, y)
        assert "double-double" in twin.fit_.stopped
        assert np.array_equal(model.coef_, twin.coef_)
        assert model.intercept_ == twin.intercept_
        assert model.coef_.dtype == np.float32
        # Squares have nine digits by the test in float32_from_moments; here far more.
        assert np.allclose(model.fit_.squares, twin.fit_.squares, rtol=1e-11, atol=0)
        assert np.allclose(model.fit_.W, twin.fit_.W, rtol=1e-9, atol=0)
    plain, twin = LeastSquares().fit(X, y), without_moments(monkeypatch, LeastSquares(), X, y)
    for name, column in twin.summary().columns.items():
        found = plain.summary().columns[name]
        assert np.allclose(found, column, rtol=1e-8, atol=1e-300, equal_nan=True), name


def test_sparse_rows_and_classes_have_the_weights_of_dense_rows(rng, short):
    X = rng.standard_normal((200, 3)).astype(np.float32) * (rng.random((200, 3)) < 0.5)
    y = (X @ [1.0, -1.0, 0.5] + rng.standard_normal(200) > 0).astype(int)
    for make in (LeastSquares, LeastSquaresClassifier):
        dense, thin = make().fit(X, y), make().fit(sparse.csr_array(X), y)
        assert np.array_equal(dense.coef_, thin.coef_)
        assert dense.fit_.stopped == thin.fit_.stopped == FROM_MOMENTS


def test_residuals_that_vanish_are_measured_on_the_rows(rng, short):
    """Moments lose as many digits of the squared residuals as these are smaller than y'y."""
    X = rng.standard_normal((50, 3)).astype(np.float32)
    y = X.astype(np.float64) @ [1.0, 2.0, 3.0] + 1e-5 * rng.standard_normal(50)
    fit = LeastSquares().fit(X, y).fit_
    assert "double-double" in fit.stopped
    w = [float(v) for v in exact_least_squares(X, y)]
    squares = ((y - X.astype(np.float64) @ w[:3] - w[3]) ** 2).sum()
    assert np.isclose(fit.squares[0], squares, rtol=1e-9)


def test_rows_of_float64_are_corrected_as_before(rng, short):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    assert "double-double" in LeastSquares().fit(X, y).fit_.stopped


def test_the_bound_of_the_bias_holds_wherever_weights_and_means_lie_within_theirs(rng):
    for _ in range(100):
        mean, w = (
            rng.standard_normal(4) * 10.0 ** rng.uniform(-3, 3, 4),
            rng.standard_normal((3, 1)),
        )
        doubt, bounds = 1e-6 * np.abs(rng.standard_normal(4)), 1e-6 * rng.random((3, 1))
        b = mean[3:] - mean[:3] @ w
        bound = bound_of_bias(mean, doubt, w, bounds)
        for _ in range(20):
            exact = mean + doubt * rng.choice([-1, 1], 4)
            at = w + bounds * rng.choice([-1, 1], (3, 1))
            assert abs(exact[3:] - exact[:3] @ at - b) <= bound
