"""One correction by the kernel is the formulas of the certificate and of the lecture, in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.digits import gamma
from adaline.kernels.double_double.corrections import correct, first_guess
from adaline.linalg import UNIT, inverse_cholesky
from reference import after_correction

P, K, WEIGHT, ALPHA = 6, 3, 40.0, 1e-3


@pytest.fixture
def normal(rng):
    A = rng.standard_normal((40, P))
    W = inverse_cholesky(A.T @ A)
    return W, rng.standard_normal(P), rng.uniform(0.0, 1.0, P), rng.uniform(1.0, 2.0, P + 1)


def _pass(rng):
    g, theta = rng.standard_normal((K, P + 1)), rng.standard_normal((K, P + 1))
    sums = g, 1e-17 * g, rng.uniform(1.0, 2.0, K), 50
    at = theta, 1e-17 * theta, np.full(g.shape, np.inf), np.full(g.shape, 1e-16)
    return sums, at, [rng.uniform(1.0, 2.0, K), np.full(K, np.inf), np.full(K, 30.0)]


def _twin(normal, sums, at, lengths_y):
    """The step of (w, b), its bounds and |W'g| by matrices; targets are columns."""
    W, mean, ridge, lengths = normal
    g, theta = sums[0].T.copy(), at[0].T
    noise = 8 * sums[3] * UNIT**2 * np.outer(lengths, sums[2])
    noise[:P] += np.abs(mean)[:, None] * noise[P] + 4 * UNIT**2 * np.abs(np.outer(mean, g[P]))
    noise += 4 * UNIT**2 * np.abs(g)
    g[:P] -= np.outer(mean, g[P])
    noise += 4 * UNIT**2 * np.abs(g)
    noise[:P] += 4 * UNIT**2 * ridge[:, None] * np.abs(theta[:P])
    g[:P] -= ridge[:, None] * theta[:P]
    noise += UNIT * np.abs(g) + 1e-290
    doubt = 2 * (P + 3) ** 2 * UNIT**2 * (lengths_y + lengths @ np.abs(theta))
    whole = np.zeros((P + 1, P + 1))
    whole[:P, :P], whole[P, P] = W, WEIGHT**-0.5
    bound = after_correction(whole, ALPHA, g, noise, doubt)
    u = W.T @ g[:P]
    step = np.vstack([W @ u, g[P] / WEIGHT - mean @ (W @ u)])
    row = np.sqrt(np.sum((mean @ W) ** 2) + 1 / WEIGHT)
    moved, sizes = np.abs(step[:P]), np.abs(W) @ np.abs(u)
    own = gamma(P + 4) * (np.abs(g[P]) / WEIGHT + np.abs(mean) @ (moved + sizes))
    bound[P] = bound[P] * np.sqrt(WEIGHT) * row + own + gamma(P + 2) * (np.abs(mean) @ moved)
    return g, step, bound, np.linalg.norm(u, axis=0)


def test_a_correction_is_that_of_the_formulas(rng, normal):
    sums, at, of_y = _pass(rng)
    before, squares = at[0].copy(), of_y[2].copy()
    g, step, bound, length = _twin(normal, sums, at, of_y[0])
    W, *columns = normal
    pull, close, still, away = correct(W.T.copy(), *columns, WEIGHT, ALPHA, True, sums, at, of_y)
    np.testing.assert_allclose(at[0], before + step.T, rtol=1e-13)
    np.testing.assert_allclose(at[2], bound.T, rtol=1e-12)
    np.testing.assert_allclose(pull, length, rtol=1e-13)
    less = (step[:P] * g[:P]).sum(axis=0) + g[P] ** 2 / WEIGHT
    np.testing.assert_allclose(of_y[2], squares - less, rtol=1e-12)
    assert not np.any([close, still, away])


def test_a_step_that_leads_away_is_not_made_and_leaves_its_bound(rng, normal):
    sums, at, of_y = _pass(rng)
    of_y[1][1] = 1e-9  # an earlier step has left less of the second target than this one finds
    before = [a.copy() for a in at]
    W, *columns = normal
    *_, away = correct(W.T.copy(), *columns, WEIGHT, ALPHA, True, sums, at, of_y)
    assert away.tolist() == [False, True, False]
    np.testing.assert_array_equal(at[0][1], before[0][1])
    assert np.isfinite(at[2]).all(axis=1).tolist() == [True, False, True]


def test_without_a_bias_there_is_none_to_correct(rng, normal):
    sums, at, of_y = _pass(rng)
    W, *columns = normal
    correct(W.T.copy(), *columns, WEIGHT, ALPHA, False, sums, at, of_y)
    assert not np.any([part[:, P] for part in at[:3]])


def test_no_step_is_close_and_still_and_a_useless_factor_proves_nothing(rng, normal):
    (g, low, reach, n), at, of_y = _pass(rng)
    W, mean, _, lengths = normal
    columns = mean, np.zeros(P), lengths  # no penalty that pulls
    sums = 0.0 * g, 0.0 * low, 0.0 * reach, n
    _, close, still, _ = correct(W.T.copy(), *columns, WEIGHT, ALPHA, True, sums, at, of_y)
    assert np.all([close, still])
    correct(W.T.copy(), *columns, WEIGHT, 1.5, True, (g, low, reach, n), at, of_y)
    assert np.isinf(at[2]).all()


def test_the_first_guess_solves_the_normal_equations(rng, normal):
    W, mean, *_ = normal
    G = rng.standard_normal((K, P + 1))
    found = first_guess(W.T.copy(), mean, WEIGHT, G)
    np.testing.assert_allclose(found[:, :P], G[:, :P] @ W @ W.T, rtol=1e-12)
    np.testing.assert_allclose(found[:, P], G[:, P] / WEIGHT - found[:, :P] @ mean, rtol=1e-12)
