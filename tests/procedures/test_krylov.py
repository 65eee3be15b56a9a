"""Sparse rows by products alone: the answers of dense factorisations, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline.procedures.krylov import (
    CentredRows,
    solve_by_products,
)
from adaline.sums.rows import Rows


def made(rng, n, p, density=0.1, k=1):
    X = sparse.random_array((n, p), density=density, rng=rng, data_sampler=rng.standard_normal)
    X = sparse.csr_array(X)
    w = rng.standard_normal((p, k))
    return X, X @ w + 0.5 * rng.standard_normal((n, k)) + 2.0


def rows_of(X, Y, omega=None):
    return Rows.of(X, Y, omega)


def dense_ridge(X, Y, alpha, intercept=True, omega=None):
    """The normal equations in extended precision, by Cholesky's recursion."""
    omega = np.ones(len(Y)) if omega is None else omega
    A, B = X.toarray().astype(np.longdouble), Y.astype(np.longdouble)
    if intercept:
        A, B = A - omega @ A / omega.sum(), B - omega @ B / omega.sum()
    S = A.T @ (omega[:, None] * A) + np.diag(np.full(A.shape[1], np.longdouble(alpha)))
    c, p = A.T @ (omega[:, None] * B), len(S)
    L = np.zeros_like(S)
    for j in range(p):
        L[j:, j] = S[j:, j] - L[j:, :j] @ L[j, :j]
        L[j:, j] /= np.sqrt(L[j, j])
    for j in range(p):
        c[j] = (c[j] - L[j, :j] @ c[:j]) / L[j, j]
    for j in reversed(range(p)):
        c[j] = (c[j] - L[j + 1 :, j] @ c[j + 1 :]) / L[j, j]
    return c.T


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-6, 1e-2, 1.0, 1e4]),
    st.sampled_from([1e-100, 1e-3, 1.0, 1e5, 1e100]),
    st.sampled_from([0.0, 1.0, 1e4]),
)
def test_bounds_never_lie(seed, alpha, unit, offset):
    rng = np.random.default_rng(seed)
    X, Y = made(rng, 25, 30, density=0.2)
    X.data = X.data * 10.0 ** rng.uniform(-3, 3, 30)[X.indices] + offset
    Y = (Y + offset) * 1e3
    s = CentredRows.of(rows_of(X * unit, Y), True)
    fit = solve_by_products(s, np.array([alpha * unit**2]))
    exact = dense_ridge(X * 1.0, Y, alpha)
    if unit != 1.0:  # units are no powers of two: solve for the numbers as they came
        X = sparse.csr_array((X * unit) / unit)
        exact = dense_ridge(X, Y, alpha)
    error = np.linalg.norm((fit.W.astype(np.longdouble) * unit - exact).astype(float))
    if fit.certificate.kind == "accurate":
        slack = 1e-12 * np.linalg.norm(exact.astype(float)) if unit != 1.0 else 0.0
        assert error <= fit.certificate.evidence["error_bound"][0] * unit + slack


@pytest.mark.parametrize("shape", [(50, 90), (120, 40)])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_is_the_solution_of_least_norm(rng, shape, intercept):
    X, Y = made(rng, *shape, k=2)
    A, B = X.toarray(), Y
    if intercept:
        A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    fit = solve_by_products(CentredRows.of(rows_of(X, Y), intercept), np.zeros(Y.shape[1]))
    want = (np.linalg.pinv(A, rcond=1e-10) @ B).T  # centred rows depend on each other
    np.testing.assert_allclose(fit.W, want, atol=1e-6 * np.abs(want).max())
    np.testing.assert_allclose(
        fit.squares, ((B - A @ want.T) ** 2).sum(axis=0), atol=1e-9 * (B**2).sum()
    )
    assert fit.certificate.kind == "unproven"
    assert fit.certificate.evidence["gradient_share"] <= 1e-7
