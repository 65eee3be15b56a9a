"""Leave-one-out losses of many penalties from one matrix, beside those of a matrix each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit

from adaline.linalg import tridiagonal
from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton import _penalty_search as search
from adaline.procedures.newton._pooled_leverages import PooledLeverages, _turned
from adaline.procedures.newton.curvature import hessians
from adaline.procedures.newton.newton import newton, newton_auto


def table(rng, kind, n=900, p=280):
    """Rows and labels that a few columns tell, with noise."""
    X = rng.normal(size=(n, p))
    if kind == "correlated":
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + 0.4 * X[:, j]
    if kind == "factors":
        X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + 0.2 * X
    if kind == "heavy":
        X *= np.sqrt(3.0 / rng.chisquare(3, n))[:, None]
    if kind == "units":
        X *= 10.0 ** rng.uniform(-1, 1, p)
    v = X[:, ::10] @ rng.normal(size=len(X[0, ::10]))
    v = v / v.std() + rng.normal(size=n)
    return X, (v > (2.0 if kind == "rare" else 0.0)).astype(int)


def families(rng, each=6, copies=150, p=300):
    """Rows that are nearly copies of others: a row without which its family tells all."""
    X = np.repeat(rng.normal(size=(copies, p)), each, axis=0)
    codes = np.repeat(rng.integers(0, 2, copies), each)
    return X + 0.05 * rng.normal(size=X.shape), codes


def loss_of(X, codes, weights=(), intercept=True):
    return logistic_loss(X, codes, 2, np.asarray(weights, dtype=float), 1.0, intercept)


def pooled_of(loss, units=None):
    root = loss.room()
    loss.at(np.zeros((1, len(loss.penalty))), root)
    return PooledLeverages.of(loss.with_penalty(1.0, units), loss.gram(root), root * root)


def minimum(loss, alpha, units=None):
    """The objective, its minimum, and the slopes of the rows there."""
    here = loss.with_penalty(alpha, units)
    theta, root = newton(here, 100, 1e-8).theta, here.room()
    here.at(theta, root)
    return here, theta, root


def by_rows(here, theta, root):
    """The slow twin: z'H^-1 z of each row by the inverse of the Hessian there."""
    rows = np.column_stack([here.X * here.scale - here.shift, np.ones(here.n)])
    rows[:, -1] *= here.intercept
    omega = here.omega if len(here.omega) else np.ones(here.n)
    v = rows @ theta[0]
    d = expit(v) * expit(-v)
    H = (rows * (omega * d)[:, None]).T @ rows + np.diag(here.penalty)
    H[-1, -1] += not here.intercept
    B = np.minimum(omega, 1.0) * np.sum((rows @ np.linalg.inv(H)) * rows, axis=1)
    m = here.target * v
    moved = B * expit(-m) / (1.0 - B * d)
    return float(omega @ np.logaddexp(0.0, moved - m)) / omega.sum()


@pytest.mark.parametrize(("dtype", "eps"), [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_a_tridiagonal_form_solves_with_any_multiple_of_the_identity(rng, dtype, eps):
    rows = rng.normal(size=(50, 40)) * 3.0 ** rng.uniform(-1, 1, 40)
    S, b = rows.T @ rows, rng.normal(size=40)
    found = tridiagonal(S.astype(dtype))
    top = np.linalg.eigvalsh(S)[-1]
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(S), atol=eps * top)
    for t in (0.01 * top, top, 100.0 * top):
        expected = np.linalg.solve(S + t * np.eye(40), b)
        found_norm = np.linalg.norm(found.solve(t, b) - expected)
        assert found_norm <= eps * (top / t + 1.0) * np.linalg.norm(expected)
        forms = found.forms(t, found.rotated(rows.T))
        expected = np.sum(rows * np.linalg.solve(S + t * np.eye(40), rows.T).T, axis=1)
        np.testing.assert_allclose(forms, expected, rtol=eps * (top / t + 1.0))


def test_a_matrix_that_is_not_finite_has_no_tridiagonal_form():
    assert tridiagonal(np.array([[np.inf, 0.0], [0.0, 1.0]])) is None


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("measured", [True, False])
def test_pooled_curvature_is_the_inverse_of_its_matrix(rng, intercept, measured):
    X, codes = table(rng, "units", 120, 30)
    units = X.std(axis=0) if measured else None
    loss = loss_of(X + 3.0, codes, rng.uniform(0.5, 2.0, 120), intercept)
    pooled, here = pooled_of(loss, units), loss.with_penalty(7.0, units)
    pooled = replace(pooled, rough=_turned(pooled.S, pooled.some))
    root = loss.room()
    loss.at(np.zeros((1, 31)), root)
    H = 0.3 * loss.gram(root) + np.diag(here.penalty)
    g = np.append(rng.normal(size=30), 2.0 if intercept else 0.0)
    np.testing.assert_allclose(H @ pooled.curvature(7.0, 0.3).solve(g[None])[0], g, atol=1e-9)


def test_small_penalties_are_told_by_more_digits(rng):
    X, codes = table(rng, "plain", 400, 60)
    loss = loss_of(X + 100.0 * rng.normal(size=(400, 1)), codes)
    pooled, top = pooled_of(loss), pooled_of(loss).rough[0].values[-1]
    root = loss.room()
    loss.at(np.zeros((1, 61)), root)
    t = 1e-8 * top
    H = loss.gram(root) + np.diag(loss.with_penalty(t).penalty)
    g = np.append(rng.normal(size=60), 2.0)
    np.testing.assert_allclose(H @ pooled.curvature(t, 1.0).solve(g[None])[0], g, atol=1e-5)


@pytest.mark.parametrize("kind", ["plain", "correlated", "factors", "heavy", "units", "rare"])
def test_pooled_leverages_give_about_the_loss_of_rows_left_out_one_by_one(rng, kind):
    X, codes = table(rng, kind)
    loss = loss_of(X, codes)
    units = X.std(axis=0) if kind == "units" else None
    pooled = pooled_of(loss, units)
    for decade in (1.0, 0.0, -1.0, -2.0):
        alpha = 10.0**decade * (
            loss.weight if units is not None else np.median(X.var(axis=0)) * 900
        )
        here, theta, root = minimum(loss, alpha, units)
        found, _ = pooled.leave_one_out(here, theta, root, alpha)
        assert found == pytest.approx(by_rows(here, theta, root), rel=0.02)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_of_weight_two_are_two_rows(rng, intercept):
    X, codes = table(rng, "plain")
    weights = rng.integers(1, 4, len(X)).astype(float)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    once, many = (
        loss_of(X, codes, weights, intercept),
        loss_of(X[twice], codes[twice], intercept=intercept),
    )
    many = replace(many, scale=once.scale, shift=once.shift)
    found = []
    for loss in (once, many):
        here, theta, root = minimum(loss, 50.0)
        found.append(pooled_of(loss).leave_one_out(here, theta, root, 50.0)[0])
    here, theta, root = minimum(once, 50.0)
    assert found[0] == pytest.approx(by_rows(here, theta, root), rel=0.02)
    assert found[1] == pytest.approx(found[0], rel=0.02)


def searched(loss, monkeypatch):
    """Penalty and units; searches; and how many losses were found by the leverages of each row."""
    made, counted, of, by = [], [], search._Search.of, search.leave_one_out
    monkeypatch.setattr(
        search._Search, "of", classmethod(lambda _, *args: made.append(of(*args)) or made[-1])
    )
    monkeypatch.setattr(search, "leave_one_out", lambda *args: counted.append(1) or by(*args))
    fit, penalty = newton_auto(loss, 100, 1e-8)
    assert fit.certificate.kind == "optimal"
    return penalty, made, len(counted)


@pytest.mark.parametrize("kind", ["plain", "correlated", "factors", "heavy", "units", "rare"])
def test_one_matrix_finds_the_least_loss_of_rows_left_out_one_by_one(rng, kind, monkeypatch):
    loss = loss_of(*table(rng, kind))
    (alpha, units), searches, counted = searched(loss, monkeypatch)
    assert counted <= len(searches)

    def score(factor):
        return by_rows(*minimum(loss, factor * alpha, units))

    least = min(score(10.0**decade) for decade in (-1.0, -0.5, -0.2, -0.1, 0.1, 0.2, 0.5, 1.0))
    assert score(1.0) <= least + 5e-4
    assert min(found.least() for found in searches) == pytest.approx(score(1.0), rel=search._AGREED)


def test_a_check_moves_all_losses_and_not_that_of_the_best_alone(rng, monkeypatch):
    before = []
    check = search._Search.check
    monkeypatch.setattr(
        search._Search, "check", lambda self: before.append(dict(self.scores)) or check(self)
    )
    _, (found,), _ = searched(loss_of(*table(rng, "plain")), monkeypatch)
    moved = [found.scores[decade] - told for decade, told in before[0].items()]
    assert len(moved) > 4
    assert moved[0] != 0.0
    np.testing.assert_allclose(moved, moved[0], atol=1e-14)


def test_where_rows_are_not_like_draws_each_gets_its_own_leverage(rng, monkeypatch):
    loss = loss_of(*families(rng))
    pooled = pooled_of(loss)
    here, theta, root = minimum(loss, 10.0)
    exact = by_rows(here, theta, root)
    assert abs(pooled.leave_one_out(here, theta, root, 10.0)[0] - exact) > 0.05 * exact
    (alpha, units), searches, counted = searched(loss, monkeypatch)
    assert counted > len(searches)

    def score(factor):
        return by_rows(*minimum(loss, factor * alpha, units))

    assert score(1.0) <= min(score(0.1), score(10.0)) + 1e-3


def test_rows_of_csr_find_the_penalty_of_dense_ones(rng):
    X, codes = table(rng, "plain", 700, 260)
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    (dense, _), (sparse, _) = (
        newton_auto(loss_of(rows, codes), 100, 1e-8)[1] for rows in (X, csr_array(X))
    )
    assert sparse == pytest.approx(dense, rel=1e-3)


def test_units_do_not_matter_where_columns_are_tiny_or_huge(rng):
    X, codes = table(rng, "plain", 700, 260)
    found = [
        newton_auto(loss_of(unit * X, codes), 100, 1e-8)[1][0] / unit**2
        for unit in (1.0, 2.0**-100, 2.0**100)
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


@pytest.mark.parametrize(("n", "p", "K"), [(300, 30, 2), (200, 300, 2), (600, 280, 3)])
def test_narrow_and_wide_tables_and_many_classes_are_searched_by_the_leverages_of_each_row(
    rng, n, p, K, monkeypatch
):
    X, codes = rng.normal(size=(n, p)), rng.integers(0, K, n)
    loss = logistic_loss(X, codes, K, np.empty(0), 1.0, True)
    monkeypatch.setattr(search.PooledLeverages, "of", None)
    assert search._Search.of(search._sample(loss), None, None).pooled is None
    search.best_penalty(loss, lambda here, start, known, nu: (None, None, False))


def test_losses_by_rows_are_those_of_the_search(rng):
    here, theta, root = minimum(loss_of(*table(rng, "plain", 300, 40)), 20.0)
    found = search.leave_one_out(here, theta, root, hessians(here, root))
    assert by_rows(here, theta, root) == pytest.approx(found, rel=1e-9)


def test_leverages_of_both_matrices_have_the_sum_that_the_eigenvalues_tell(rng):
    loss = loss_of(*table(rng, "heavy", 600, 100))
    pooled, (_, _, root) = pooled_of(loss), minimum(loss, 20.0)
    c, g = pooled._pooled(root * root, 20.0)
    assert c < 0.8
    values = np.linalg.eigvalsh(pooled.S)
    for x in (c * pooled.D0 * g, root * root * g):
        assert np.sum(x / (1.0 + x)) == pytest.approx(
            np.sum(values / (values + 20.0 / c)), rel=1e-3
        )


def test_where_factors_are_behind_all_columns_length_says_little_of_small_penalties(rng):
    X, codes = table(rng, "factors")
    loss = loss_of(X, codes)
    alpha = 1e-3 * np.median(X.var(axis=0)) * 900
    here, theta, root = minimum(loss, alpha)
    found, _ = pooled_of(loss).leave_one_out(here, theta, root, alpha)
    assert found == pytest.approx(by_rows(here, theta, root), rel=5e-3)
