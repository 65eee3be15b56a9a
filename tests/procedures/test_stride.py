"""How many rows a curvature is worth, and what is shrunk of it."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton import _stride
from adaline.procedures.newton.curvature import curvature


def loss_of(rng, n, p, mix=None, alpha=1.0):
    X = rng.standard_normal((n, p))
    X = X if mix is None else X @ mix
    codes = (X[:, 0] + rng.logistic(size=n) > 0).astype(np.int64)
    return logistic_loss(X, codes, 2, np.empty(0), alpha, True)


def test_more_rows_cost_more_and_leave_fewer_passes(rng):
    loss = loss_of(rng, 4000, 50)
    some = [1, 2, 5, 10, 20]
    prices = [_stride.price(loss, e) for e in some]
    expected_passes = [_stride.expected_passes(loss, e, 15.0) for e in some]
    assert prices == sorted(prices, reverse=True)
    assert expected_passes == sorted(expected_passes)
    assert _stride.expected_passes(loss, 20, 15.0, 0.1) < _stride.expected_passes(loss, 20, 15.0)
    assert _stride.expected_passes(loss, 4000, 15.0) == np.inf


def test_few_rows_are_all_summed_and_many_thinned_the_more_the_less_columns_are_related(
    rng, monkeypatch
):
    loss = loss_of(rng, 30_000, 50)
    assert _stride.best_stride(loss, 15.0) == _stride.proof_rows(loss) == 1
    monkeypatch.setattr(_stride, "WORK", 0.0)
    dense, loose = (_stride.best_stride(loss, 15.0, a, far=True) for a in (np.inf, 0.0))
    assert 1 < dense <= loose
    assert 1 < _stride.proof_rows(loss) <= 30_000 // (_stride.FEWEST * 51)


@pytest.mark.parametrize(("n", "sums"), [(250, 1), (5000, 2)])
def test_rows_are_sampled_only_where_there_is_a_choice(rng, monkeypatch, n, sums):
    """With five rows a column all are summed, whatever a sample of them would tell."""
    monkeypatch.setattr(_stride, "WORK", 0.0)
    loss, made = loss_of(rng, n, 50), []
    gram = type(loss).gram
    monkeypatch.setattr(type(loss), "gram", lambda *a: made.append(1) or gram(*a))
    curvature(loss, np.zeros((1, 51)), np.full(n, 0.5), 15.0)
    assert len(made) == sums


def test_chance_is_taken_off_the_correlations(rng):
    Z = rng.standard_normal((500, 40))
    # Of independent columns nothing but chance is left: a few standard deviations of 40 x 40 / 500.
    assert _stride.correlations(Z.T @ Z, 500) < 0.3
    related = Z + 2.0 * Z[:, :1]
    assert _stride.correlations(related.T @ related, 500) > 500


def test_shrinking_keeps_the_diagonal_and_leaves_columns_that_depend_on_others_alone(rng):
    Z = rng.standard_normal((100, 40))
    G, penalty = Z.T @ Z, np.append(np.ones(39), 0.0)
    H, was = _stride.shrunk(G, penalty, 0.01)
    assert was
    np.testing.assert_array_equal(np.diagonal(H), np.diagonal(G) + penalty)
    off = ~np.eye(40, dtype=bool)
    assert np.all(np.abs(H[off]) <= np.abs(G[off]))
    assert np.linalg.cond(H) < np.linalg.cond(G + np.diag(penalty))
    for other, chance in ((np.zeros(40), 0.01), (penalty, 1e-6)):
        H, was = _stride.shrunk(G, other, chance)
        assert not was
        np.testing.assert_array_equal(H, G + np.diag(other))


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_thinned_curvatures_measure_steps_nearly_as_all_rows_do(rng, monkeypatch, alpha):
    monkeypatch.setattr(_stride, "WORK", 0.0)
    mix = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(80), np.arange(80)))).T
    loss = loss_of(rng, 20_000, 80, mix, alpha)
    root = np.full(20_000, 0.5)
    theta = np.zeros((1, 81))
    whole, some = (curvature(loss, theta, root, 15.0, stride) for stride in (1, 10))
    assert some.shrunk == (alpha > 0)  # without a penalty the rank must stay to be seen
    assert (some.slopes is None) == some.shrunk
    g = rng.standard_normal((1, 81))
    # Marchenko and Pastur: within (1 + s)^2 of each other for s^2 = 81 (1 / 2000 - 1 / 20000).
    ratio = np.sum(g * some.solve(g)) / np.sum(g * whole.solve(g))
    assert 0.6 < ratio < 1.7
