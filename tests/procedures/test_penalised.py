"""Ridge of many columns without an inverse: the digits and certificates of the way with one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline import LeastSquares, Moments, Ridge, _threads
from adaline.kernels.double_double import double_double
from adaline.linalg import UNIT
from adaline.procedures.least_squares import closed_form, penalised
from adaline.procedures.least_squares.closed_form import least_squares
from adaline.procedures.least_squares.gradients import (
    additions,
    additions_of_pieces,
    doubt_of_residuals,
    gradients,
)
from adaline.procedures.least_squares.penalised import penalised_least_squares
from adaline.procedures.ridge.by_target import _solved
from adaline.tiles import Rows
from reference import exact_least_squares, solve_exactly

NONE = np.empty(0)


def rows_of(X, Y, omega=NONE):
    return Rows(X, Y.reshape(len(Y), -1), omega, np.empty((0, 0)))


def solved(rows, ridge, intercept=True):
    weights = rows.omega if len(rows.omega) else None
    m = Moments.of(rows.X, rows.Y, weights)
    return penalised_least_squares(m, rows, intercept, ridge)


def check(fit, t, exact):
    """Whether the bounds of the certificate are true, and an exact one is rounded correctly."""
    found = np.append(fit.W[t], fit.b[t])[: len(exact)]
    bounds = fit.certificate.evidence["error_bound"][:, t]
    for value, truth, bound in zip(found, exact, bounds, strict=True):
        assert abs(Fraction(value) - truth) <= Fraction(float(bound))
        if fit.certificate.kind == "exact":
            assert value == float(truth)


@pytest.fixture
def few(monkeypatch):
    """As if few columns were many: rational arithmetic takes long."""
    monkeypatch.setattr(penalised, "MANY", 1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_are_true_in_rational_arithmetic(rng, few, intercept, weighted):
    kinds = 0
    for p in (1, 3, 6):
        X = rng.standard_normal((12, p))
        shapes = (
            X,
            np.vander(np.linspace(1.0, 2.0, 12), p),
            X * 10.0 ** rng.integers(-9, 9, p),
            X + 1e4,
            np.column_stack([X[:, 1:], X[:, :1], X[:, 0] * 2.0]),
            sparse.csr_array(np.where(X > 0.3, X, 0.0)),
        )
        for Z in shapes:
            dense = Z.toarray() if sparse.issparse(Z) else Z
            y = np.column_stack([dense.sum(axis=1) + rng.standard_normal(12), rng.random(12)])
            omega = rng.integers(0, 4, 12).astype(float) if weighted else NONE
            alpha = float(0.01 * (dense**2).sum())
            fit = solved(rows_of(Z, y, omega), alpha, intercept)
            if fit is None:
                continue
            kinds += 1
            for t in range(2):
                weights = omega if weighted else None
                check(fit, t, exact_least_squares(dense, y[:, t], weights, intercept, alpha))
    assert kinds >= 15


def test_a_penalty_for_each_column_is_taken_as_it_is(rng, few):
    X, y = rng.standard_normal((9, 3)) * [1e3, 1.0, 1e-3], rng.standard_normal(9)
    ridge = np.array([1e5, 0.3, 1e-7])
    fit = solved(rows_of(X, y), ridge, intercept=False)
    A = [[Fraction(v) for v in row] for row in X.tolist()]
    G = [[sum(r[i] * r[j] for r in A) for j in range(3)] for i in range(3)]
    for j in range(3):
        G[j][j] += Fraction(ridge[j])
    c = [sum(r[i] * Fraction(t) for r, t in zip(A, y.tolist(), strict=True)) for i in range(3)]
    assert fit.certificate.kind == "exact"
    check(fit, 0, solve_exactly(G, c))


@pytest.fixture
def wide_table(rng):
    X = rng.standard_normal((400, 260)) + 2.0
    Y = X[:, :3] + rng.standard_normal((400, 3))
    return X, Y


@pytest.mark.parametrize("form", ["dense", "csr", "float32", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_columns_have_the_weights_that_an_inverse_gives(
    wide_table, rng, monkeypatch, form, intercept
):
    X, Y = wide_table
    omega = rng.uniform(0.5, 2.0, len(X)) if form == "weighted" else NONE
    X = X.astype(np.float32) if form == "float32" else X
    X = sparse.csr_array(np.where(X > 2.0, X, 0.0)) if form == "csr" else X
    rows = rows_of(X, Y, omega)
    m = Moments.of(X, Y, omega if len(omega) else None)
    ours = least_squares(m, rows, intercept=intercept, ridge=10.0)
    monkeypatch.setattr(closed_form, "penalised_least_squares", lambda *_: None)
    theirs = least_squares(m, rows, intercept=intercept, ridge=10.0)
    assert ours.root is None  # so these are two ways
    assert theirs.root is not None
    assert ours.certificate.kind == theirs.certificate.kind == "exact"
    np.testing.assert_array_equal(ours.W, theirs.W)
    np.testing.assert_array_equal(ours.b, theirs.b)
    np.testing.assert_allclose(ours.squares, theirs.squares, rtol=1e-13)
    np.testing.assert_allclose(ours.condition, theirs.condition, rtol=0.5)
    assert 0 < ours.certificate.evidence["contraction"] < 1e-3
    np.testing.assert_allclose(ours.W_low, theirs.W_low, atol=2.0**-58 * np.abs(ours.W).max())


def test_a_target_has_the_bits_that_it_has_alone(wide_table):
    X, Y = wide_table
    m, rows = Moments.of(X, Y), rows_of(X, Y)
    together = penalised_least_squares(m, rows, True, 1.0)
    for t in range(3):
        alone = _solved(m, rows, np.array([t]), 1.0, True)
        np.testing.assert_array_equal(together.W[t], alone.W[0])
        np.testing.assert_array_equal(together.W_low[t], alone.W_low[0])
        assert together.squares[t] == alone.squares[0]


def test_threads_change_no_bit(rng, monkeypatch):
    X = rng.standard_normal((9000, 260))  # in three pieces
    y = X[:, 0] + rng.standard_normal(9000)
    found = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(_threads, "threads", lambda threads=threads: threads)
        with threadpool_limits(min(threads, 2)):
            fit = Ridge(1.0).fit(X, y).fit_
        assert fit.root is None
        found.append((fit.W, fit.W_low, fit.b, fit.b_low, fit.squares))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_pass_over_the_rows_is_shared_among_threads(wide_table, monkeypatch):
    """BLAS is held to one thread for the steps between two passes, not for the passes."""
    seen, true = [], gradients

    def spy(*given):
        seen.append(_threads.threads())
        return true(*given)

    monkeypatch.setattr(penalised, "gradients", spy)
    monkeypatch.setattr(_threads, "cores", lambda: 2)
    with threadpool_limits(2):
        solved(rows_of(*wide_table), 1.0)
        most = _threads.threads()
    assert seen
    assert set(seen) == {most}


def test_small_penalties_few_columns_and_low_parts_need_an_inverse(wide_table):
    X, Y = wide_table
    rows = rows_of(X, Y)
    squares = float(((X - X.mean(axis=0)) ** 2).sum(axis=0).max())
    assert solved(rows, 1.001 * squares * 2.0**-14) is not None
    assert solved(rows, 0.9 * squares * 2.0**-14) is None
    assert solved(rows, 0.0) is None
    assert solved(rows_of(X[:, :255], Y), 1.0) is None
    assert solved(replace(rows, X_low=np.zeros(X.shape)), 1.0) is None
    assert solved(rows, np.append(np.ones(259), 0.0)) is None
    fit = Ridge(1e-9).fit(X, Y[:, 0]).fit_
    assert (fit.certificate.kind, fit.root is None) == ("exact", False)


def test_what_is_not_proven_is_left_to_an_inverse(wide_table, monkeypatch):
    """A factor that is far off leaves too much; the weights are then found in the other way."""
    X, Y = wide_table
    true, expected = penalised.cholesky, Ridge(1.0).fit(X, Y[:, 0]).coef_
    for spoiled in (lambda R: 2.0 * R, lambda R: None):
        monkeypatch.setattr(penalised, "cholesky", lambda G, f=spoiled, **_: f(true(G)))
        assert solved(rows_of(X, Y), 1.0) is None
        np.testing.assert_array_equal(Ridge(1.0).fit(X, Y[:, 0]).coef_, expected)


def test_a_target_that_is_constant_and_columns_that_are(wide_table):
    X, Y = wide_table
    X = X.copy()
    X[:, 7] = 3.0
    model = Ridge(1.0).fit(X, np.full(len(X), 5.0))
    np.testing.assert_array_equal(model.coef_, np.zeros(260))
    assert model.intercept_ == 5.0
    model = Ridge(1.0).fit(X, Y[:, 0])
    assert abs(model.coef_[7]) < 1e-28
    assert model.certificate_.kind == "accurate"
    assert "1 of them zero to rounding" in model.certificate_.statement
    assert model.fit_.root is None


def test_standard_errors_of_least_squares_keep_their_inverse(wide_table):
    X, Y = wide_table
    assert LeastSquares().fit(X, Y[:, 0]).fit_.root is not None


def test_residuals_of_long_rows_are_within_their_doubt(rng):
    """One row: the sum of residuals is its residual. Cancelling products are the hardest."""
    p, worst = 600, 0.0
    for _ in range(30):
        x = rng.standard_normal(p) * 10.0 ** rng.uniform(-3, 3, p)
        theta = rng.standard_normal(p + 1) / np.append(x, 1.0)
        low = theta * rng.uniform(-UNIT, UNIT, p + 1)
        y = np.array([[float(x @ theta[:p] + theta[p])]])
        rows = rows_of(x[None], y)
        ones = np.ones(p)
        at = theta[:, None], low[:, None]
        g, g_low, _ = gradients(rows, np.array([0]), ones, np.ones(1), *at)
        whole = [Fraction(a) + Fraction(b) for a, b in zip(theta, low, strict=True)]
        exact = Fraction(y[0, 0]) - sum(
            Fraction(a) * b for a, b in zip([*x.tolist(), 1.0], whole, strict=True)
        )
        error = abs(Fraction(g[p, 0]) + Fraction(g_low[p, 0]) - exact)
        size = abs(y[0, 0]) + float(np.abs(np.append(x, 1.0)) @ np.abs(theta))
        doubt = doubt_of_residuals(rows, p, size)
        assert error <= Fraction(doubt)
        worst = max(worst, float(error) / (UNIT**2 * size))
    assert worst > 0.1  # so that there is something to bound


def test_doubt_of_residuals_counts_lanes_of_long_rows_only(rng):
    X = rng.standard_normal((3, 300))
    long, few = rows_of(X, X[:, 0]), rows_of(X[:, :100], X[:, 0])
    lanes = double_double.LANES
    assert doubt_of_residuals(long, 300, 1.0) == 2 * (10 + 2 * lanes) ** 2 * UNIT**2
    assert doubt_of_residuals(few, 100, 1.0) == 2 * 103**2 * UNIT**2
    assert doubt_of_residuals(rows_of(sparse.csr_array(X), X[:, 0]), 300, 1.0) == (
        2 * 303**2 * UNIT**2
    )


def test_sums_of_pieces_have_fewer_additions():
    assert additions_of_pieces(200, 300) == additions(200, 300)
    cuts = _threads.pieces(100_000, 301)
    assert len(cuts) > 5
    assert additions_of_pieces(100_000, 300) == additions(cuts[0][1], 300) + 2 * len(cuts)


def exact_wide_ridge(X, y, alpha, intercept):
    """w = A'(AA' + alpha)^-1 y and b as fractions: n equations in the place of p."""
    A, t = [[Fraction(v) for v in row] for row in X.tolist()], [Fraction(v) for v in y.tolist()]
    n, p = X.shape
    mean = [sum(row[j] for row in A) / n if intercept else Fraction(0) for j in range(p)]
    about = sum(t) / n if intercept else Fraction(0)
    A = [[v - m for v, m in zip(row, mean, strict=True)] for row in A]
    K = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in A] for r in A]
    for i in range(n):
        K[i][i] += Fraction(alpha)
    c = solve_exactly(K, [v - about for v in t])
    w = [sum(c[i] * A[i][j] for i in range(n)) for j in range(p)]
    b = about - sum(m * v for m, v in zip(mean, w, strict=True))
    return [*w, b] if intercept else w


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("units", ["even", "uneven"])
def test_long_rows_are_true_in_rational_arithmetic(rng, intercept, units):
    """Few rows of 300 columns have an exact solution within a second."""
    X, y = rng.standard_normal((8, 300)), rng.standard_normal(8) + 3.0
    X[:, ::7] += 50.0
    if units == "uneven":
        X = np.ldexp(X, rng.integers(-3, 4, 300))
    alpha = float(0.01 * (X**2).sum(axis=0).max())
    fit = solved(rows_of(X, y), alpha, intercept)
    assert fit.certificate.kind == "exact"
    check(fit, 0, exact_wide_ridge(X, y, alpha, intercept))
