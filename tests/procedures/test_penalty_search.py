"""The search for the penalty of least approximate leave-one-out loss, and what it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton import _penalty_search as search
from adaline.procedures.newton.curvature import EXACT, depth, hessians, root_of, with_other_penalty
from adaline.procedures.newton.newton import newton, newton_auto, penalties_by_loss
from adaline.procedures.newton.rows import class_leverages, leverages


def table(rng, n, p, K, spread=1.0):
    """Rows of K classes, columns of deviations from 1 / spread to spread."""
    X = rng.normal(size=(n, p))
    V = X[:, : min(p, 4)] @ rng.normal(size=(min(p, 4), K)) + rng.gumbel(size=(n, K))
    return X * spread ** rng.uniform(-1, 1, p), np.argmax(V, axis=1)


def loss_of(rng, n, p, K, weights=(), spread=1.0, intercept=True):
    X, codes = table(rng, n, p, K, spread)
    return logistic_loss(X, codes, K, np.asarray(weights, dtype=float), 1.0, intercept)


def rows_of(loss):
    """(z, 1) of all rows."""
    return np.column_stack([loss.X * loss.scale - loss.shift, np.ones(loss.n)])


@pytest.mark.parametrize("p", [3, 70, 200])
@pytest.mark.parametrize("triangle", [True, False])
def test_leverages_are_lengths_of_rows(rng, p, triangle):
    loss = loss_of(rng, 300, p, 2)
    A = rng.normal(size=(p + 1, p + 1))
    A = np.triu(A) if triangle else A
    expected = np.sum((rows_of(loss) @ A) ** 2, axis=1)
    np.testing.assert_allclose(leverages(loss, np.empty(0), A), expected, rtol=1e-12)


@pytest.mark.parametrize("triangle", [True, False])
@pytest.mark.parametrize(("n", "p"), [(40, 3), (700, 30)])
def test_leverages_of_classes_are_blocks_of_the_inverse(rng, n, p, triangle):
    loss = loss_of(rng, n, p, 3)
    q = p + 1
    A = rng.normal(size=(3 * q, 3 * q))
    A = np.triu(A) if triangle else A
    inverse, Z = (A @ A.T).reshape(3, q, 3, q), rows_of(loss)
    expected = np.einsum("ij,kjml,il->ikm", Z, inverse, Z)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(class_leverages(loss, A), expected, atol=1e-11 * scale)


@pytest.mark.parametrize(("p", "K"), [(6, 2), (6, 3), (EXACT // 3, 4)])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_hessian_of_one_penalty_gives_that_of_another(rng, p, K, intercept):
    weights = rng.uniform(0.5, 2.0, 400)
    before = loss_of(rng, 400, p, K, weights, intercept=intercept).with_penalty(30.0)
    after = before.with_penalty(2.0)
    root = before.room()
    before.at(0.1 * rng.normal(size=(before.K, p + 1)), root)
    found = with_other_penalty(hessians(before, root), before.penalty, after)
    g = rng.normal(size=(before.K, p + 1))
    if not intercept:
        g[:, -1] = 0.0
    g -= g.mean(axis=0) if before.K > 1 else 0.0  # what all classes share has no meaning
    roots = tuple(root_of(H, depth(after)) for H in hessians(after, root))
    expected = type(found)(roots, len(roots) == 1).solve(g)
    np.testing.assert_allclose(found.solve(g), expected, rtol=1e-8, atol=1e-10)


def counted(loss, monkeypatch):
    """Losses by decade of each search, in the order in which they were tried."""
    tried = []
    of = search._Search.of
    monkeypatch.setattr(
        search._Search, "of", classmethod(lambda _, *args: tried.append(of(*args)) or tried[-1])
    )
    penalties_by_loss(loss, 100)
    return [found.scores for found in tried]


def test_a_search_in_other_units_begins_where_the_first_found_the_best(rng, monkeypatch):
    first, second = map(list, counted(loss_of(rng, 300, 8, 2, spread=10.0), monkeypatch))
    assert first[0] == search._FIRST
    assert second[0] < search._FIRST
    assert len(second) < len(first)


def test_a_scan_ends_where_decades_are_no_better(rng, monkeypatch):
    X, codes = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
    codes[:60] = X[:60, 0] > 0
    loss = logistic_loss(X, codes, 2, np.empty(0), 1.0, True)
    (scores,) = counted(loss, monkeypatch)
    best = min((d for d in scores if d == round(d)), key=scores.__getitem__)
    assert min(scores) == best - search._WORSE > search._LEAST


def test_all_decades_are_tried_where_columns_outnumber_the_rows(rng, monkeypatch):
    searches = counted(loss_of(rng, 60, 100, 2, spread=10.0), monkeypatch)
    for tried in searches:
        assert set(range(-5, search._FIRST + 1)) <= set(tried)


@pytest.mark.parametrize(("n", "p", "K"), [(300, 8, 2), (300, 8, 3), (200, 90, 4), (40, 60, 2)])
def test_the_best_penalty_is_a_minimum_of_the_loss_of_rows_left_out_one_by_one(rng, n, p, K):
    loss = loss_of(rng, n, p, K, spread=3.0)
    fit, (alpha, units) = newton_auto(loss, 100, 1e-8)
    assert fit.certificate.kind == "optimal"

    def score(factor):
        here = loss.with_penalty(factor * alpha, units)
        found = newton(here, 100, 1e-8)
        root = here.room()
        here.at(found.theta, root)
        return search.leave_one_out(here, found.theta, root, hessians(here, root))

    assert score(1.0) <= min(score(0.1), score(10.0)) + 1e-3
