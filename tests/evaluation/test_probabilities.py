"""Probabilities at their word: Cox's slope against statsmodels, and the verdicts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adaline.evaluation.diagnostics import calibration
from adaline.evaluation.quality import miss_to_alarm_ratio, thresholds


def drawn(rng, n=1500, times=1.0, more=0.0):
    """Rows whose log-odds are v / times - more, where v is told."""
    v = rng.normal(0, 1.5, n)
    return rng.random(n) < 1 / (1 + np.exp(-(v / times - more))), v


def test_the_slope_is_that_of_a_logistic_regression_on_the_log_odds(rng):
    sm = pytest.importorskip("statsmodels.api")
    yes, v = drawn(rng, times=1.5, more=0.2)
    twin = sm.Logit(yes.astype(float), sm.add_constant(v)).fit(disp=0)
    found = calibration(yes, v).numbers
    assert found["slope"] == pytest.approx(twin.params[1], rel=1e-8)
    low, high = twin.conf_int()[1]
    assert found["slope_low"] == pytest.approx(low, rel=1e-7)
    assert found["slope_high"] == pytest.approx(high, rel=1e-7)
    p = 1 / (1 + np.exp(-v))
    assert found["z"] == pytest.approx(np.sum(yes - p) / np.sqrt(np.sum(p * (1 - p))))


@pytest.mark.parametrize(
    ("times", "more", "words"),
    [
        (1.0, 0.0, "are calibrated"),
        (2.5, 0.0, "too near to 0 and 1"),
        (0.5, 0.0, "too near to each other"),
        (1.0, 0.6, "too high on average"),
    ],
)
def test_each_fault_has_its_word(rng, times, more, words):
    found = calibration(*drawn(rng, times=times, more=more))
    assert words in found.sentence
    assert found.fine == (words == "are calibrated")


def scored(rng, n=200):
    v = np.round(rng.normal(0, 2, n), 1)  # ties
    return rng.random(n) < 1 / (1 + np.exp(-v)), v


def test_counts_are_those_of_each_threshold(rng):
    yes, v = scored(rng)
    found = thresholds(yes, 1 / (1 + np.exp(-v)), "ill")
    p = 1 / (1 + np.exp(-v))
    for t in (0.0, 0.1, 0.5, 0.77, 1.0, *np.unique(p)[::20]):
        above = p > t
        assert found.at(float(t)) == (int(np.sum(above & yes)), int(np.sum(above & ~yes)))
    assert found.at(p.max()) == (0, 0)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 7.0])
def test_costs_are_the_sum_of_what_errors_cost(rng, ratio):
    yes, v = scored(rng)
    p = 1 / (1 + np.exp(-v))
    found = thresholds(yes, 1 / (1 + np.exp(-v)), "ill")

    def cost(t):
        return np.mean(np.where(yes & (p <= t), ratio, 0.0) + (~yes & (p > t)))

    assert found.mean_cost(ratio, 1 / (1 + ratio)) == pytest.approx(cost(1 / (1 + ratio)))
    assert found.constant_cost(ratio) == pytest.approx(min(ratio * yes.mean(), 1 - yes.mean()))


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
    assert miss_to_alarm_ratio(SimpleNamespace(costs=costs)) == ratio
    assert miss_to_alarm_ratio(object()) == 1.0
