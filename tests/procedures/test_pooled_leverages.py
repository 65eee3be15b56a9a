"""Leave-one-out losses of many penalties from one matrix, beside those of a matrix each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from adaline.linalg import tridiagonal
from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton import _penalty_search as search
from adaline.procedures.newton._pooled_leverages import PooledLeverages
from adaline.procedures.newton.curvature import hessians
from adaline.procedures.newton.newton import newton, newton_auto


def table(rng, kind, n=900, p=280):
    """Rows and labels that a few columns tell, with noise."""
    X = rng.normal(size=(n, p))
    if kind == "correlated":
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + 0.4 * X[:, j]
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


def test_a_tridiagonal_form_solves_with_any_multiple_of_the_identity(rng):
    rows = rng.normal(size=(50, 40)) * 10.0 ** rng.uniform(-2, 2, 40)
    S, b = rows.T @ rows, rng.normal(size=40)
    found = tridiagonal(S)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(S), atol=1e-12 * S.max())
    for t in (1e-2, 1.0, 1e4):
        expected = np.linalg.solve(S + t * np.eye(40), b)
        np.testing.assert_allclose(found.solve(t, b), expected, rtol=1e-6, atol=1e-9)


def test_a_matrix_that_is_not_finite_has_no_tridiagonal_form():
    assert tridiagonal(np.array([[np.inf, 0.0], [0.0, 1.0]])) is None


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("measured", [True, False])
def test_pooled_curvature_is_the_inverse_of_its_matrix(rng, intercept, measured):
    X, codes = table(rng, "units", 120, 30)
    units = X.std(axis=0) if measured else None
    loss = loss_of(X + 3.0, codes, rng.uniform(0.5, 2.0, 120), intercept)
    pooled, here = pooled_of(loss, units), loss.with_penalty(7.0, units)
    root = loss.room()
    loss.at(np.zeros((1, 31)), root)
    H = 0.3 * loss.gram(root) + np.diag(here.penalty)
    g = np.append(rng.normal(size=30), 2.0 if intercept else 0.0)
    np.testing.assert_allclose(H @ pooled.curvature(7.0, 0.3).solve(g[None])[0], g, atol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "correlated", "heavy", "units", "rare"])
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


@pytest.mark.parametrize("kind", ["plain", "correlated", "heavy", "units", "rare"])
def test_one_matrix_finds_the_least_loss_of_rows_left_out_one_by_one(rng, kind, monkeypatch):
    loss = loss_of(*table(rng, kind))
    (alpha, units), searches, counted = searched(loss, monkeypatch)
    assert counted <= len(searches)

    def score(factor):
        return by_rows(*minimum(loss, factor * alpha, units))

    least = min(score(10.0**decade) for decade in (-1.0, -0.5, -0.2, 0.2, 0.5, 1.0))
    assert score(1.0) <= least + 1e-3


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


@pytest.mark.parametrize(("n", "p", "K"), [(300, 30, 2), (200, 300, 2), (600, 280, 3)])
def test_narrow_and_wide_tables_and_many_classes_are_searched_by_the_leverages_of_each_row(
    rng, n, p, K, monkeypatch
):
    X, codes = rng.normal(size=(n, p)), rng.integers(0, K, n)
    loss = logistic_loss(X, codes, K, np.empty(0), 1.0, True)
    monkeypatch.setattr(search.PooledLeverages, "of", None)
    assert search._Search.of(search._sample(loss), None, None).pooled is None
    search.best_penalty(loss, lambda here, start, known: (None, None, False))


def test_losses_by_rows_are_those_of_the_search(rng):
    here, theta, root = minimum(loss_of(*table(rng, "plain", 300, 40)), 20.0)
    found = search.leave_one_out(here, theta, root, hessians(here, root))
    assert by_rows(here, theta, root) == pytest.approx(found, rel=1e-9)
