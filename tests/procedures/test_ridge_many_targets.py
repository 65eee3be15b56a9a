"""Ridge of many targets, a penalty for each: as if alone, within bounds that rationals check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose
from scipy import sparse

from adaline import Ridge
from adaline.procedures.penalties import NODES, leave_one_out, vertices
from adaline.procedures.ridge import ridge_by_target
from adaline.procedures.spectrum import spectrum_of_moments
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows
from reference import exact_least_squares, ill_conditioned

MANY = 70  # above the 64 targets up to which each is treated alone


def rows_of(X, Y, weights=None):
    return Rows.of(X, Y, weights)


def moments_of(rows):
    return Moments.of(rows.X, rows.Y, rows.omega if len(rows.omega) else None)


def draw(rng, n, p, k=MANY):
    X = rng.standard_normal((n, p)) * rng.uniform(0.8, 1.2, p) + rng.uniform(-3, 3, p)
    noise = rng.uniform(0.1, 30.0, k)
    return X, X @ rng.standard_normal((p, k)) + noise * rng.standard_normal((n, k)) + 3


@pytest.mark.parametrize("kind", ["none", "counts", "fractions", "sparse", "a far row"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalties", ["shared", "few", "own"])
def test_leave_one_out_of_many_is_that_of_each_alone(rng, kind, intercept, penalties):
    n, p = 400, 5
    X, Y = draw(rng, n, p)
    if kind == "a far row":
        X[7] *= 1e4
    omega = {"counts": rng.integers(0, 4, n).astype(float), "fractions": rng.uniform(0, 3, n)}
    omega = omega.get(kind)
    X = sparse.csr_array(np.where(X > 0, X, 0.0)) if kind == "sparse" else X
    rows = rows_of(X, Y, omega)
    f = spectrum_of_moments(moments_of(rows), intercept)
    lam = np.geomspace(1e-3 * f.s.min(), 1e3 * f.s.max(), 6)[:, None]
    if penalties != "shared":
        lam = lam * rng.uniform(0.5, 2, MANY)
    if penalties == "few":
        lam = lam[:, rng.integers(0, 3, MANY)]
    together = leave_one_out(f, rows, lam)
    rtol = (
        1e-6 if kind == "a far row" else 1e-9
    )  # of its 1 - h, about 1e-8, rounding leaves 8 digits
    for t in range(0, MANY, 9):
        one = rows_of(X, Y[:, t], omega)
        alone = spectrum_of_moments(moments_of(one), intercept)
        column = alone.in_units(np.ldexp(lam[:, min(t, lam.shape[1] - 1)], 2 * f.e))
        found = leave_one_out(alone, one, column[:, None])[:, 0]
        assert_allclose(together[:, t], found, rtol=rtol)


@pytest.mark.parametrize("later", ["alike", "of other leverages", "a far row", "hardly any"])
def test_leave_one_out_is_the_formula_whatever_rows_come_later(rng, later):
    X, Y = draw(rng, 2500, 8)
    if later == "hardly any":
        X, Y = X[:870], Y[:870]
    X[:, 1:] *= np.geomspace(1.0, 0.1, 7)
    if later == "of other leverages":
        X[:862, 4:] *= 1e-3
    elif later == "a far row":
        X[2000] *= 1e3
    rows = rows_of(X, Y)
    f = spectrum_of_moments(moments_of(rows), True)
    lam = np.geomspace(1e-3 * f.s.min(), 1e3 * f.s.max(), 40)[:, None]
    together = leave_one_out(f, rows, lam)
    Z = (X - X.mean(axis=0)) * 2.0**-f.e
    R = (Y - Y.mean(axis=0)) * np.ldexp(1.0, -f.e_y)
    for i in range(0, 40, 3):
        hat = Z @ np.linalg.solve(Z.T @ Z + lam[i, 0] * np.eye(8), Z.T)
        left = (R - hat @ R) / (1 - 1 / len(Z) - np.diag(hat))[:, None]
        rtol = 1e-7 if later == "a far row" else 1e-11  # of its 1 - h, rounding leaves few digits
        assert_allclose(together[i], (left**2).mean(axis=0), rtol=rtol)


@pytest.mark.parametrize("rule", ["loo", "gcv", "evidence"])
def test_many_targets_find_the_penalties_and_weights_that_each_finds_alone(rng, rule):
    X, Y = draw(rng, 150, 4)
    Y[:, 5], Y[:, 6] = X @ np.ones(4), 2.5  # least squares, and a constant
    together = Ridge(rule).fit(X, Y)
    for t in range(0, MANY):
        alone = Ridge(rule).fit(X, Y[:, t])
        assert_allclose(together.alpha_[t], alone.alpha_, rtol=1e-6)
        # A minimum is flat: its place is known to half the digits of the errors, or less.
        assert_allclose(together.coef_[t], alone.coef_, rtol=1e-6, atol=1e-12)
        assert_allclose(together.intercept_[t], alone.intercept_, rtol=1e-6, atol=1e-9)
    assert together.alpha_[5] == 0
    assert f"of {MANY} targets" in together.certificate_.statement


def test_columns_of_many_units_are_measured_in_deviations_for_many_targets_too(rng):
    X, Y = draw(rng, 150, 4)
    X = X * [1.0, 100.0, 1e-3, 7.0]
    together = Ridge().fit(X, Y)
    assert together.column_scale_ is not None
    penalties = together.alpha_[:, None] * together.column_scale_**2
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    for t in range(0, MANY, 7):
        w = np.linalg.solve(A.T @ A + np.diag(penalties[t]), A.T @ B[:, t])
        assert_allclose(together.coef_[t], w, rtol=1e-9)


@pytest.mark.parametrize("exponent", [0, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_bound_contains_the_exact_solution(rng, exponent, weighted):
    X = ill_conditioned(rng, 30, 3, 10.0**exponent) + 1.0
    Y = X @ rng.standard_normal((3, MANY)) + rng.standard_normal((30, MANY))
    weights = rng.uniform(0.1, 2.0, 30) if weighted else None
    rows = rows_of(X, Y, weights)
    alphas = 10.0 ** rng.uniform(-9, 3, MANY)
    fit = ridge_by_target(moments_of(rows), rows, alphas, lambda a: a, True)
    bounds = fit.certificate.evidence["error_bound"]
    assert bounds.shape == (3, MANY)
    assert np.isfinite(bounds).all()
    for t in range(0, MANY, 3):
        exact = exact_least_squares(X, Y[:, t], weights, True, alphas[t])
        for w, truth, bound in zip(fit.W[t], exact[:3], bounds[:, t], strict=True):
            assert abs(Fraction(float(w)) - truth) <= Fraction(float(bound))
        assert_allclose(fit.b[t], float(exact[3]), rtol=1e-6)
        r = Y[:, t] - X @ fit.W[t] - fit.b[t]
        omega = 1.0 if weights is None else weights
        assert_allclose(fit.squares[t], (omega * r**2).sum(), rtol=1e-6)


def test_a_penalty_for_each_column_is_in_the_bound_too(rng):
    X = rng.standard_normal((20, 3)) * [1.0, 30.0, 1e-2]
    Y = X @ rng.standard_normal((3, MANY)) + rng.standard_normal((20, MANY))
    units, alphas = np.array([1.1, 29.0, 0.013]), rng.uniform(0.1, 9.0, MANY)
    rows = rows_of(X, Y)
    fit = ridge_by_target(moments_of(rows), rows, alphas, lambda a: a * units**2, False)
    bounds = fit.certificate.evidence["error_bound"]
    for t in range(0, MANY, 5):
        # A penalty is a row of its own: y = 0 at the unit vector of the column, with its weight.
        weights = np.append(np.ones(20), alphas[t] * units**2)
        exact = exact_least_squares(
            np.vstack([X, np.eye(3)]), np.append(Y[:, t], np.zeros(3)), weights, False
        )
        for w, truth, bound in zip(fit.W[t], exact, bounds[:, t], strict=True):
            assert abs(Fraction(float(w)) - truth) <= Fraction(float(bound))
    assert fit.certificate.evidence["digits"] > 7


def test_targets_without_proof_from_moments_are_corrected_by_the_rows(rng):
    X = ill_conditioned(rng, 40, 3, 1e8)
    Y = X @ rng.standard_normal((3, MANY)) + 1e-9 * rng.standard_normal((40, MANY))
    rows = rows_of(X, Y)
    alphas = np.where(np.arange(MANY) % 2, 1e-25, 1.0) * rng.uniform(1, 2, MANY)
    alphas[[2, 4]] = 0.0
    fit = ridge_by_target(moments_of(rows), rows, alphas, lambda a: a, True)
    assert fit.certificate.kind == "accurate"
    for t in (0, 1, 2, 3, 69):
        exact = [float(e) for e in exact_least_squares(X, Y[:, t], None, True, alphas[t])]
        assert_allclose(fit.W[t], exact[:3], rtol=1e-6 if alphas[t] > 1e-3 else 1e-14)


def test_the_lowest_place_of_each_polynomial_is_found(rng):
    x = chebyshev.chebpts1(NODES)
    centres = np.array([-1.5, -0.999, -0.3, 0.0, 0.123456789, 0.7, 2.0])
    F = (x[:, None] - centres) ** 2 + 0.1 * (x[:, None] - centres) ** 4
    assert_allclose(vertices(F), np.clip(centres, -1, 1), atol=1e-8)
    assert_allclose(vertices(1e-30 * F + 5e-31), np.clip(centres, -1, 1), atol=1e-8)
    waves = np.cos(5 * x)[:, None] + 0.1 * x[:, None] * [1.0, -1.0]
    fine = np.linspace(-1, 1, 200_001)
    truth = [fine[np.argmin(np.cos(5 * fine) + 0.1 * fine * s)] for s in (1.0, -1.0)]
    assert_allclose(vertices(waves), truth, atol=2e-5)  # sixteen points of cos(5 x), and a grid
    assert vertices(np.ones((16, 1))).tolist() == [0.0]
