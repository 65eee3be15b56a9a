"""Decisions at every threshold, against counting them one by one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adaline.evaluation.thresholds import ratio_of, thresholds


def drawn(rng, n=200):
    v = np.round(rng.normal(0, 2, n), 1)  # ties
    return rng.random(n) < 1 / (1 + np.exp(-v)), v


def test_counts_are_those_of_each_threshold(rng):
    yes, v = drawn(rng)
    found = thresholds(yes, v, "ill")
    p = 1 / (1 + np.exp(-v))
    for t in (0.0, 0.1, 0.5, 0.77, 1.0, *np.unique(p)[::20]):
        above = p > t
        assert found.at(float(t)) == (int(np.sum(above & yes)), int(np.sum(above & ~yes)))
    assert found.recall[0] == 1.0
    assert found.hits[-1] == found.alarms[-1] == 0
    assert np.isnan(found.precision[-1])


@pytest.mark.parametrize("ratio", [0.5, 1.0, 7.0])
def test_costs_are_the_sum_of_what_errors_cost(rng, ratio):
    yes, v = drawn(rng)
    p = 1 / (1 + np.exp(-v))
    found = thresholds(yes, v, "ill")
    priced = found.priced(ratio)

    def cost(t):
        return np.mean(np.where(yes & (p <= t), ratio, 0.0) + (~yes & (p > t)))

    assert priced.cost == pytest.approx(cost(1 / (1 + ratio)))
    assert priced.best_cost == pytest.approx(min(cost(t) for t in (0.0, *p)))
    assert cost(priced.best) == pytest.approx(priced.best_cost)
    assert priced.constant == pytest.approx(min(ratio * yes.mean(), 1 - yes.mean()))
    assert priced.best_cost <= min(priced.cost, priced.constant) + 1e-12


def test_one_class_has_no_thresholds(rng):
    assert thresholds([True, True], [0.0, 1.0]) is None


def test_certain_probabilities_are_counted(rng):
    found = thresholds([True, False, True], [np.inf, -np.inf, 800.0], "ill")
    assert found.at(0.5) == (2, 0)
    assert "finds 2 of its 2 rows" in found.sentence


def test_shares_at_each_threshold_by_hand():
    found = thresholds([True, True, False, False, False], np.log([4.0, 1.5, 1.5, 0.25, 0.25]))
    np.testing.assert_allclose(found.thresholds, [0.0, 0.2, 0.6, 0.8])
    assert found.recall.tolist() == [1.0, 1.0, 0.5, 0.0]
    np.testing.assert_allclose(found.false_alarms, [1.0, 1 / 3, 0.0, 0.0])
    np.testing.assert_allclose(found.precision, [2 / 5, 2 / 3, 1.0, np.nan])


def test_the_best_threshold_lies_between_probabilities():
    found = thresholds([True, False, False], np.log([4.0, 1.5, 0.25]))
    assert found.priced(1.0).best == pytest.approx((0.6 + 0.8) / 2)
    upside_down = thresholds([True, False, False], np.log([0.25, 1.5, 4.0]))
    assert upside_down.priced(1.0).best == pytest.approx((0.8 + 1.0) / 2)  # answer it never


def test_the_sentence_says_what_a_lower_threshold_finds():
    odds = np.log([2.0, 0.25, 0.25, 0.1, 2.0, 0.25, 0.1])
    found = thresholds([True] * 4 + [False] * 3, odds, "ill")
    assert found.sentence == (
        "Answering 'ill' from a probability of 50 % on finds 1 of its 4 rows, with 1 false alarm "
        "among 3 others. Where a miss costs five false alarms, answer it from 17 % on: 3 found, 2 "
        "false alarms."
    )


@pytest.mark.parametrize(
    ("costs", "ratio"),
    [
        (None, 1.0),
        ([[0.0, 5.0], [2.0, 1.0]], 2.0),  # a miss costs 5 - 1 more than a hit, an alarm 2
        ([[1.0, 5.0], [3.0, 0.0]], 2.5),
        ([[0.0, 5.0], [0.0, 0.0]], 1.0),
        ([[0.0, 0.0], [2.0, 0.0]], 1.0),
    ],
)
def test_how_many_false_alarms_a_miss_costs(costs, ratio):
    assert ratio_of(SimpleNamespace(costs=costs)) == ratio
    assert ratio_of(object()) == 1.0
