"""Numbers of verdicts by hand, and each word beside the number it stands for."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from adaline import GammaRegression, LogisticRegression, PoissonRegression, Ridge
from adaline.evaluation import calibration, drift, drivers
from adaline.evaluation._decisions import Decisions
from adaline.evaluation._errors import Errors
from adaline.evaluation.cross_validation import cross_validated


def decided(pairs, classes=("a", "b"), **more):
    found = Decisions(list(classes), **more)
    truth, answer = (np.array(labels) for labels in zip(*pairs, strict=True))
    found.add(truth, answer)
    return found


def test_shares_are_of_all_rows():
    facts = decided([("a", "a")] * 6 + [("b", "a")] * 3 + [("b", "b")]).facts()
    assert facts["most_common"] == "a"
    assert facts["most_common_share"] == 0.6
    assert facts["accuracy"] == 0.7


def test_an_area_that_is_not_known_exactly_widens_its_interval():
    found = decided([("a", "a"), ("b", "b")] * 20)
    found.ranks = SimpleNamespace(area=lambda: (0.7, 0.05), counts=(20, 20))
    facts = found.facts()
    found.ranks = SimpleNamespace(area=lambda: (0.7, 0.0), counts=(20, 20))
    sharp = found.facts()
    assert facts["auc_low"] == pytest.approx(sharp["auc_low"] - 0.05)
    assert facts["auc_high"] == pytest.approx(sharp["auc_high"] + 0.05)
    assert sharp["auc_low"] < 0.7 < sharp["auc_high"]


def test_costs_are_counted_on_rows_whose_label_and_answer_have_one():
    pairs = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"), ("c", "a"), ("a", None)]
    costs = [[0.0, 5.0], [1.0, 0.0]]  # of deciding i where j is true
    facts = decided(pairs, costs=costs).facts()
    assert facts["mean_cost"] == (1.0 + 5.0) / 4


@pytest.mark.parametrize(("wrong", "doubted"), [(1, False), (9, True)])
def test_decisions_that_cost_more_than_a_constant_are_doubted(wrong, doubted):
    pairs = [("a", "a")] * 20 + [("b", "b")] * 10 + [("a", "b")] * wrong
    found = decided(pairs, costs=[[0.0, 1.0], [2.0, 0.0]])
    assert any("would cost no more" in doubt for doubt in found.doubts()) == doubted
    assert not any("not clearly better" in doubt for doubt in found.doubts())


def test_ten_rows_are_enough_for_a_doubt_and_labels_without_a_row_are_named():
    guesses = [("a", "a")] * 5 + [("b", "a")] * 5
    assert "not clearly better" in decided(guesses).doubts()[0]
    assert decided(guesses[1:]).doubts() == []
    told = decided(guesses, classes="abc").doubts()
    assert told[-1].startswith("no row has the label 'c':")
    strange = decided([*guesses, ("z", "a")]).doubts()
    assert strange[-1].endswith("they count as wrong. Learn from rows of every class.")
    assert strange[-1].startswith("1 row has a label that the model never saw, such as 'z'")


def test_errors_of_two_targets_are_means_over_both():
    found = Errors()
    y = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 1.0]])
    found.add(y, y + np.array([1.0, -3.0]))
    facts = found.facts()
    assert facts["mae"] == 2.0
    assert facts["rmse"] == pytest.approx(math.sqrt(5.0))
    assert facts["r2"] == pytest.approx(np.mean([1 - 3 / 2, 1 - 27 / 0.5]))


def test_small_spreads_have_an_r2():
    found = Errors()
    y = np.array([[0.0], [0.1], [0.2]])
    found.add(y, y + 0.01)
    assert found.facts()["r2"] == pytest.approx(1 - 3e-4 / 0.02)


@pytest.mark.parametrize(("n", "m"), [(4, 5), (30, 40)])
def test_p_values_of_few_rows_are_corrected(rng, n, m):
    """Stephens' approximation of the exact p-value is good to some hundredths."""
    a, b = rng.standard_normal(n), rng.standard_normal(m) + 0.8
    d, p = drift._compared(a, b)
    exact = stats.ks_2samp(a, b, method="exact")
    assert d == pytest.approx(exact.statistic)
    root = math.sqrt(n * m / (n + m))
    assert p == pytest.approx(stats.kstwobign.sf((root + 0.12 + 0.11 / root) * d), rel=1e-9)
    assert p == pytest.approx(exact.pvalue, abs=0.1)


@pytest.mark.parametrize(
    ("z", "low", "high", "kind"),
    [
        (2.5, 0.5, 1.5, "too low"),
        (calibration.NORMAL_95, 0.5, 1.5, "right"),
        (0.0, 0.5, 1.0, "right"),
        (0.0, 1.0, 1.5, "right"),
        (0.0, 0.5, math.inf, "unknown"),
        (-2.5, 0.5, 1.5, "too high"),
        (0.0, 0.5, 1.5, "right"),
        (0.0, 0.5, 0.9, "too sure"),
        (0.0, 1.1, 1.5, "too timid"),
        (0.0, math.nan, 1.5, "unknown"),
    ],
)
def test_kinds_of_calibration(z, low, high, kind):
    assert calibration._kind(100, z, low, high) == kind


def test_ratios_beyond_a_million_are_told_by_their_side():
    assert drivers._times(14.0) == "more than a million"
    assert drivers._times(-14.0) == "less than a millionth"
    assert drivers._times(math.log(100.0)) == "100"


def test_an_effect_may_be_none_where_zero_is_inside_its_interval():
    assert drivers._may_be_none({"low": -1.0, "high": 1.0})
    assert not drivers._may_be_none({"low": 0.5, "high": 1.0})
    assert not drivers._may_be_none({"low": None, "high": 1.0})
    assert not drivers._may_be_none({"high": 1.0})


ROW = {"coef": math.log(2.0), drivers.PER_SD: math.log(3.0)}


def test_an_effect_is_told_for_a_step_or_a_switch():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    odds = LogisticRegression().fit(X, y)
    assert (
        drivers._said(odds, ROW, None, None) == "1 instead of 0 multiplies the odds of 'yes' by 2"
    )
    assert drivers._said(odds, ROW, 1.5, None) == "1.5 more multiplies the odds of 'yes' by 3"
    rate = PoissonRegression().fit(X, [1, 2, 1, 2])
    assert drivers._said(rate, ROW, 1.5, "calls") == "1.5 more multiplies the rate of calls by 3"
    assert drivers._said(rate, ROW, 1.5, None) == "1.5 more multiplies the rate by 3"
    mean = GammaRegression().fit(X, [1.0, 2.0, 1.0, 2.0])
    assert drivers._said(mean, ROW, 1.5, "cost") == "1.5 more multiplies the mean of cost by 3"
    line = Ridge().fit(X, [1.0, 2.0, 3.0, 4.0])
    assert drivers._said(line, ROW, 1.5, "rent") == "1.5 more goes with 1.1 more rent"
    score = SimpleNamespace(classes_=["no", "yes"])
    assert drivers._said(score, ROW, 1.5, None).endswith("1.1 towards 'yes'")
    down = {"coef": -1.0, drivers.PER_SD: -1.0}
    assert drivers._said(score, down, 1.5, None).endswith("1 towards 'no'")


def test_errors_of_differences_are_those_of_the_covariance(rng):
    """Var(a - b) = Var a + Var b - 2 Cov(a, b)."""
    A = rng.standard_normal((6, 6))
    C = (A @ A.T).reshape(3, 2, 3, 2)  # three classes, two columns
    model = SimpleNamespace(_information=SimpleNamespace(covariance=C), classes_=[0, 1, 2])
    high, low = np.array([2, 0]), np.array([1, 2])
    found = drivers._errors_of_differences(model, high, low)
    for j in range(2):
        c = np.zeros((3, 2))
        c[high[j], j], c[low[j], j] = 1.0, -1.0
        assert found[j] == pytest.approx(math.sqrt(c.ravel() @ (A @ A.T) @ c.ravel()))


def test_the_spread_of_folds_is_that_of_their_measures(rng):
    X = rng.standard_normal((60, 2))
    found = cross_validated(Ridge(), X, X @ [1.0, 2.0] + rng.standard_normal(60))
    measures = [fold["r2"] for fold in found.per_fold]
    assert found.spread["deviation"] == pytest.approx(np.std(measures, ddof=1))
    assert found.spread["least"] == min(measures)
    assert found.spread["largest"] == max(measures)
    with pytest.raises(ValueError, match="X has 60 rows and y has shape"):
        cross_validated(Ridge(), X, np.zeros(59))
