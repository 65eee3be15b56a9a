"""The rules that choose a penalty, against what they claim to compute."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import multivariate_normal

from adaline.procedures.krylov import CentredRows
from adaline.procedures.penalties import gcv, leave_one_out, minus_evidence
from adaline.procedures.ridge import spectrum_of_moments, spectrum_of_rows, wide_ridge
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from reference import exact_least_squares

GRID = np.array([1e-3, 0.1, 2.0, 50.0, 1e4])
SHAPES = [(25, 4), (8, 20), (15, 15)]


def draw(rng, n, p, k=1):
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3, p) + rng.uniform(-5, 5, p)
    return X, X @ rng.standard_normal((p, k)) + rng.standard_normal((n, k)) + 3


def rows_of(X, y, weights=None):
    return Rows.of(X, y, weights)


def spectrum_of(rows, intercept):
    if rows.n <= rows.p:
        return spectrum_of_rows(CentredRows.of(rows, intercept))
    return spectrum_of_moments(
        Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None), intercept
    )


def plain_ridge(X, y, alpha, omega, intercept):
    """(w, b) from the normal equations, as the lecture has them."""
    mean, mean_y = (omega @ X, omega @ y) if intercept else (0 * X[0], 0 * y[0])
    mean, mean_y = mean / omega.sum(), mean_y / omega.sum()
    A = (X - mean) * omega[:, None]
    w = np.linalg.solve(A.T @ (X - mean) + alpha * np.eye(X.shape[1]), A.T @ (y - mean_y))
    return w, mean_y - mean @ w


def left_out(X, y, alpha, omega, intercept):
    """Refit without one copy of each row (the whole row where it weighs less than one)."""
    total = 0.0
    for i in np.flatnonzero(omega):
        fewer = omega.copy()
        fewer[i] -= min(1.0, omega[i])
        w, b = plain_ridge(X, y, alpha, fewer, intercept)
        total = total + omega[i] * (y[i] - X[i] @ w - b) ** 2
    return total / omega.sum()


@pytest.mark.parametrize("kind", ["none", "counts", "fractions", "small"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_leave_one_out_is_what_refitting_without_each_row_gives(rng, n, p, intercept, kind):
    X, y = draw(rng, n, p, k=2)
    omega = {
        "none": np.ones(n),
        "counts": rng.integers(0, 4, n).astype(float),
        "fractions": rng.uniform(0, 3, n),
        "small": rng.uniform(0, 1 / n, n),
    }[kind]
    rows = rows_of(X, y, None if kind == "none" else omega)
    f = spectrum_of(rows, intercept)
    found = leave_one_out(f, rows, f.in_units(GRID)[:, None])
    truth = [left_out(X, y, alpha, omega, intercept) for alpha in GRID]
    # At alpha = 1e-3 the refitting itself loses digits to the condition number.
    assert_allclose(np.ldexp(found, 2 * f.e_y), truth, rtol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_gcv_is_the_formula_with_the_hat_matrix(rng, n, p, intercept):
    X, y = draw(rng, n, p)
    f = spectrum_of(rows_of(X, y), intercept)
    centre = np.eye(n) - intercept * np.ones((n, n)) / n
    A = centre @ X
    for alpha in GRID:
        hat = A @ np.linalg.solve(A.T @ A + alpha * np.eye(p), A.T) + (np.eye(n) - centre)
        r = y[:, 0] - hat @ y[:, 0]
        truth = (r @ r / n) / (1 - np.trace(hat) / n) ** 2
        found = np.ldexp(gcv(f, f.in_units([[alpha]])), 2 * f.e_y)[0, 0]
        assert_allclose(found, truth, rtol=1e-8)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_evidence_with_bias_is_the_density_integrated_over_a_flat_bias(rng, n, p):
    X, y = draw(rng, n, p)
    f = spectrum_of(rows_of(X, y), True)
    for alpha in [0.1, 2.0, 50.0]:
        C = np.eye(n) + X @ X.T / alpha
        # By Bayes' rule p(y) = p(y | b) / p(b | y) at any b; b | y is normal about its mean.
        inverse = np.linalg.inv(C)
        precision, ones = inverse.sum(), np.ones(n)
        b = ones @ inverse @ y[:, 0] / precision
        r = y[:, 0] - b
        variance = r @ inverse @ r / (n - 1)
        joint = multivariate_normal.logpdf(r, cov=variance * C)
        truth = joint + 0.5 * np.log(2 * np.pi * variance / precision)
        assert_allclose(-minus_evidence(f, f.in_units([[alpha]]), f.e_y)[0, 0], truth, rtol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("spectral", [True, False])
def test_the_bound_of_a_wide_fit_contains_the_exact_solution(rng, alpha, intercept, make, spectral):
    X, y = draw(rng, 5, 7)
    X = np.where(X > 0, X, 0.0)
    omega = np.array([1.0, 2.0, 0.5, 1.0, 0.0])
    rows = rows_of(make(X), y, omega)
    A = CentredRows.of(rows, intercept)
    fit = wide_ridge(A, rows, np.array([alpha]), spectrum_of_rows(A) if spectral else None)
    exact = exact_least_squares(X, y[:, 0], omega, intercept, alpha)[:7]
    error = [
        float(e - w) for e, w in zip(exact, map(_fraction, fit.W[0], fit.W_low[0]), strict=True)
    ]
    bound = fit.certificate.evidence["error_bound"][0]
    assert np.linalg.norm(error) <= bound
    assert fit.certificate.evidence["digits"] > 12
    assert np.array_equal(fit.W[0], [float(e) for e in exact])  # correctly rounded


def _fraction(high, low):
    return Fraction(float(high)) + Fraction(float(low))
