"""Posteriors of two classes take one exponential a row; those of more take K."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.estimators.costs import log_posterior, posterior


def by_definition(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0, 400.0])
def test_two_classes_are_as_three_of_which_one_is_impossible(rng, spread):
    scores = spread * rng.standard_normal((1000, 2))
    three = np.column_stack([scores, np.full(1000, -np.inf)])
    np.testing.assert_allclose(posterior(scores), posterior(three)[:, :2], rtol=1e-14)
    np.testing.assert_allclose(posterior(scores), by_definition(scores), rtol=1e-14)
    odds = posterior(scores[:, 1] - scores[:, 0])
    np.testing.assert_allclose(odds, by_definition(scores), rtol=1e-12, atol=1e-307)
    logs = np.exp(log_posterior(scores.copy()))  # which takes the place of the scores
    np.testing.assert_allclose(logs, posterior(scores), rtol=1e-12)


@pytest.mark.parametrize("v", [699.0, 701.0, 740.0, 1e5, 1e308, np.inf])
def test_classes_far_apart_are_sure_and_the_small_probability_is_kept(v):
    with np.errstate(under="ignore", over="ignore"):
        small = np.exp(-v)
    first, second = posterior(np.array([[0.0, -v], [-v, 0.0]]))
    assert first[0] == second[1] == 1.0
    np.testing.assert_allclose([first[1], second[0]], small, rtol=1e-14, atol=5e-324)


def test_a_row_does_not_feel_its_neighbours(rng):
    scores = rng.standard_normal((100, 2)) * 10
    far = np.vstack([scores, [[0.0, 1e4]], [[-1e308, 1e308]]])
    assert np.array_equal(posterior(far)[:100], posterior(scores))
    assert np.array_equal(posterior(scores[7:8])[0], posterior(scores)[7])
