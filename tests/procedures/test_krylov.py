"""Sparse rows by products alone: the answers of dense factorisations, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline.procedures.krylov import (
    SHARE,
    CentredRows,
    is_large_and_sparse,
    iterative_least_squares,
    iterative_ridge,
)
from adaline.procedures.penalties import choose
from adaline.procedures.spectrum import estimated_penalties, spectrum_of_rows
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


@pytest.mark.parametrize("n", [3, 700])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [True, False])
def test_products_and_sizes_are_those_of_the_dense_rows(rng, n, index, weighted):
    X, Y = made(rng, n, 500)
    X.data[:: len(X.data) // 3] = -3.0
    X = sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    omega = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    s, D = CentredRows.of(rows_of(X, Y, omega if weighted else None), True), X.toarray()
    A, D = np.sqrt(omega)[:, None] * (D - omega @ D / omega.sum()), D * np.ldexp(1.0, -s.e)
    A *= np.ldexp(1.0, -s.e)
    for k in (1, 3):
        W, R = rng.standard_normal((500, k)), rng.standard_normal((n, k))
        np.testing.assert_allclose(s.times(W), A @ W, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(s.transposed(R), A.T @ R, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(s.raw_squares, omega @ D**2, rtol=1e-13)
    np.testing.assert_allclose(s.squares, np.sum(A**2, axis=0), rtol=1e-9, atol=1e-12)
    rooted = np.sqrt(omega)[:, None] * np.abs(D)
    assert np.linalg.norm(rooted, 2) <= s.norm
    bound = min(
        np.linalg.norm(rooted), np.sqrt(rooted.sum(axis=0).max() * rooted.sum(axis=1).max())
    )
    assert s.norm <= 1.02 * bound


@pytest.mark.parametrize("shape", [(60, 90), (120, 40)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 0.3, 1e3])
def test_ridge_is_the_dense_solution_within_its_bound(rng, shape, intercept, alpha):
    X, Y = made(rng, *shape, k=3)
    fit = iterative_ridge(CentredRows.of(rows_of(X, Y), intercept), np.full(3, alpha))
    error = np.linalg.norm((fit.W - dense_ridge(X, Y, alpha, intercept)).astype(float), axis=1)
    bounds = fit.certificate.evidence["error_bound"]
    assert fit.certificate.kind == "accurate"
    assert np.all(error <= bounds)
    assert np.all(bounds <= 4 * SHARE * np.linalg.norm(fit.W, axis=1))


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
    fit = iterative_ridge(s, np.array([alpha * unit**2]))
    exact = dense_ridge(X * 1.0, Y, alpha)
    if unit != 1.0:  # units are no powers of two: solve for the numbers as they came
        X = sparse.csr_array((X * unit) / unit)
        exact = dense_ridge(X, Y, alpha)
    error = np.linalg.norm((fit.W.astype(np.longdouble) * unit - exact).astype(float))
    if fit.certificate.kind == "accurate":
        slack = 1e-12 * np.linalg.norm(exact.astype(float)) if unit != 1.0 else 0.0
        assert error <= fit.certificate.evidence["error_bound"][0] * unit + slack


def test_weights_are_repetitions_and_rows_of_weight_zero_are_not_there(rng):
    X, Y = made(rng, 40, 70)
    omega = rng.integers(0, 4, 40).astype(float)
    many = np.repeat(np.arange(40), omega.astype(int))
    one = iterative_ridge(CentredRows.of(rows_of(X, Y, omega), True), np.ones(1))
    other = iterative_ridge(CentredRows.of(rows_of(X[many], Y[many]), True), np.ones(1))
    np.testing.assert_allclose(one.W, other.W, atol=2 * SHARE * np.abs(one.W).max())
    np.testing.assert_allclose(one.b, other.b, rtol=1e-7)
    np.testing.assert_allclose(one.squares, other.squares, rtol=1e-7)


def test_powers_of_two_scale_exactly(rng):
    X, Y = made(rng, 40, 70)
    plain = iterative_ridge(CentredRows.of(rows_of(X, Y), True), np.ones(1))
    scaled = iterative_ridge(
        CentredRows.of(rows_of(X * 2.0**200, Y * 2.0**-30), True), np.array([2.0**400])
    )
    np.testing.assert_allclose(np.ldexp(scaled.W, 230), plain.W, rtol=1e-7)


@pytest.mark.parametrize("shape", [(50, 90), (120, 40)])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_is_the_solution_of_least_norm(rng, shape, intercept):
    X, Y = made(rng, *shape, k=2)
    A, B = X.toarray(), Y
    if intercept:
        A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    fit = iterative_least_squares(CentredRows.of(rows_of(X, Y), intercept))
    want = (np.linalg.pinv(A, rcond=1e-10) @ B).T  # centred rows depend on each other
    np.testing.assert_allclose(fit.W, want, atol=1e-6 * np.abs(want).max())
    np.testing.assert_allclose(
        fit.squares, ((B - A @ want.T) ** 2).sum(axis=0), atol=1e-9 * (B**2).sum()
    )
    assert fit.certificate.kind == "unproven"
    assert fit.certificate.evidence["gradient_share"] <= 1e-7


def test_a_constant_target_and_an_empty_matrix_have_weights_of_zero(rng):
    X, Y = made(rng, 40, 70)
    Y[:] = 3.0
    for fit in (
        iterative_ridge(CentredRows.of(rows_of(X, Y), True), np.ones(1)),
        iterative_least_squares(CentredRows.of(rows_of(X, Y), True)),
    ):
        assert np.abs(fit.W).max() < 1e-12
        assert fit.b == pytest.approx(3.0)
    nothing = sparse.csr_array((40, 70))
    fit = iterative_ridge(
        CentredRows.of(rows_of(nothing, Y + rng.standard_normal((40, 1))), True), np.ones(1)
    )
    assert not fit.W.any()


@pytest.mark.parametrize("rule", ["gcv", "evidence"])
def test_estimated_penalties_are_near_those_of_the_spectrum(rng, rule):
    X, Y = made(rng, 250, 400, density=0.05)
    rows = rows_of(X, Y + 3 * rng.standard_normal(Y.shape))
    (alpha,), (said,) = estimated_penalties(CentredRows.of(rows, True), rule)
    (exact,) = choose(spectrum_of_rows(CentredRows.of(rows, True)), rule, None).alphas
    assert abs(np.log(alpha / exact)) < 0.5  # six random vectors; the minimum is flat
    assert "estimate" in said
    assert "Lanczos" in said


def test_leave_one_out_is_refused_with_a_way_out(rng):
    X, Y = made(rng, 40, 70)
    with pytest.raises(ValueError, match='give "auto", "gcv" or "evidence"'):
        estimated_penalties(CentredRows.of(rows_of(X, Y), True), "loo")


def test_only_large_and_sparse_rows_are_left_as_they_are():
    assert is_large_and_sparse(sparse.csr_array((2000, 5000)))
    assert is_large_and_sparse(sparse.csr_array((200_000, 100_000)))
    assert not is_large_and_sparse(sparse.csr_array((2000, 1000)))
    assert not is_large_and_sparse(sparse.csr_array((20_000, 3000)))
    assert not is_large_and_sparse(np.empty((2000, 5000)))
