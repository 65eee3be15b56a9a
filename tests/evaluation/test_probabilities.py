"""Probabilities at their word: Cox's slope against statsmodels, and the verdicts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from adaline.evaluation.probabilities import calibration, miss_to_alarm_ratio, thresholds


def drawn(rng, n=1500, times=1.0, more=0.0):
    """Rows whose log-odds are v / times - more, where v is told."""
    v = rng.normal(0, 1.5, n)
    return rng.random(n) < 1 / (1 + np.exp(-(v / times - more))), v


def test_the_slope_is_that_of_a_logistic_regression_on_the_log_odds(rng):
    sm = pytest.importorskip("statsmodels.api")
    yes, v = drawn(rng, times=1.5, more=0.2)
    twin = sm.Logit(yes.astype(float), sm.add_constant(v)).fit(disp=0)
    found = calibration(yes, v)
    assert found.slope == pytest.approx(twin.params[1], rel=1e-8)
    low, high = twin.conf_int()[1]
    assert found.slope_low == pytest.approx(low, rel=1e-7)
    assert found.slope_high == pytest.approx(high, rel=1e-7)
    p = 1 / (1 + np.exp(-v))
    assert found.z == pytest.approx(np.sum(yes - p) / np.sqrt(np.sum(p * (1 - p))))


@pytest.mark.parametrize(
    ("times", "more", "kind"),
    [(1.0, 0.0, "right"), (2.5, 0.0, "too sure"), (0.5, 0.0, "too timid"), (1.0, 0.6, "too high")],
)
def test_each_fault_has_its_word(rng, times, more, kind):
    found = calibration(*drawn(rng, times=times, more=more))
    assert found.kind == kind
    words = {"right": "calibrated", "too sure": "too near to 0 and 1"}
    assert words.get(kind, "probabilities are too") in found.sentence


def test_chance_alone_is_seldom_called_a_fault(rng):
    kinds = [calibration(*drawn(rng, 300)).kind for _ in range(100)]
    assert kinds.count("right") >= 82  # two tests at 95 %: about 90 are expected


@pytest.mark.parametrize(
    ("yes", "v"),
    [
        ([True] * 30, np.linspace(-1, 1, 30)),  # one class
        ([False] * 15 + [True] * 15, np.linspace(-1, 1, 30)),  # separable: no slope
        ([True, False] * 15, np.ones(30)),  # one probability for all
        ([True, False], [1.0, -1.0]),
        ([True, False] * 15, np.full(30, np.inf)),
    ],
)
def test_what_cannot_be_checked_is_unknown(yes, v):
    found = calibration(yes, v)
    assert found.kind == "unknown"
    assert "Too few rows to check" in found.sentence


@pytest.mark.parametrize(("no", "yes", "kind"), [(9, 30, "unknown"), (10, 30, "right")])
@pytest.mark.parametrize("swapped", [False, True])
def test_ten_rows_of_each_outcome_are_enough(no, yes, kind, swapped):
    y = np.array([False] * no + [True] * yes)
    p = np.where(np.arange(no + yes) % 2, 0.7, 0.8)  # both about as often as it happened
    v = np.log(p / (1 - p))
    found = calibration(~y, -v) if swapped else calibration(y, v)
    assert found.kind == kind
    assert (found.rows, found.happened) == (no + yes, (no if swapped else yes) / (no + yes))


def test_few_rows_far_from_their_probabilities_have_a_z():
    """A spread of sqrt(0.75) rows is one to divide by."""
    found = calibration([True, False, True], np.zeros(3))
    assert found.z == pytest.approx(0.5 / np.sqrt(0.75))


def test_probabilities_of_one_in_a_billion_that_fail_every_other_time_are_too_sure():
    """Curvatures of 1e-9 a row are small, but not nothing."""
    yes, v = np.arange(200) % 2 == 0, np.where(np.arange(200) % 4 < 2, 20.0, -20.0)
    found = calibration(yes, v)
    assert (found.kind, round(found.slope, 9)) == ("too sure", 0.0)


def scored(rng, n=200):
    v = np.round(rng.normal(0, 2, n), 1)  # ties
    return rng.random(n) < 1 / (1 + np.exp(-v)), v


def test_counts_are_those_of_each_threshold(rng):
    yes, v = scored(rng)
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
    yes, v = scored(rng)
    p = 1 / (1 + np.exp(-v))
    found = thresholds(yes, v, "ill")

    def cost(t):
        return np.mean(np.where(yes & (p <= t), ratio, 0.0) + (~yes & (p > t)))

    assert found.mean_cost(ratio) == pytest.approx(cost(1 / (1 + ratio)))
    assert found.constant_cost(ratio) == pytest.approx(min(ratio * yes.mean(), 1 - yes.mean()))


def test_one_class_has_no_thresholds(rng):
    assert thresholds([True, True], [0.0, 1.0]) is None


def test_certain_probabilities_are_counted(rng):
    found = thresholds([True, False, True], [np.inf, -np.inf, 800.0], "ill")
    assert found.at(0.5) == (2, 0)


def test_shares_at_each_threshold_by_hand():
    found = thresholds([True, True, False, False, False], np.log([4.0, 1.5, 1.5, 0.25, 0.25]))
    np.testing.assert_allclose(found.thresholds, [0.0, 0.2, 0.6, 0.8])
    assert found.recall.tolist() == [1.0, 1.0, 0.5, 0.0]
    np.testing.assert_allclose(found.precision, [2 / 5, 2 / 3, 1.0, np.nan])


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
