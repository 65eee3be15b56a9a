"""The area under the ROC curve, and precision and recall: as scikit-learn counts them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

import adaline
from adaline.evaluation.intervals import of_area
from adaline.evaluation.quality import Decisions, by_class, shown
from adaline.evaluation.ranks import Ranks


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn(rng, ties):
    yes = rng.random(300) < 0.3
    v = rng.standard_normal(300) + yes
    v = np.round(v) if ties else v
    found = Ranks()
    for part in np.array_split(np.arange(300), 7):
        found.add(v[part], yes[part])
    area, off = found.area()
    assert off == 0
    assert_allclose(area, roc_auc_score(yes, v), rtol=1e-12)


def test_many_rows_are_counted_in_bins_and_the_error_is_told(rng):
    yes = rng.random(5000) < 0.3
    v = rng.standard_normal(5000) * 10.0 ** rng.integers(-3, 3, 5000) + yes
    exact = roc_auc_score(yes, v)
    found, other = Ranks(most=1000), Ranks(most=1000)
    for part in np.array_split(np.arange(5000), 9):
        found.add(v[part], yes[part])
    for part in np.array_split(rng.permutation(5000), 4):
        other.add(v[part], yes[part])
    area, off = found.area()
    assert other.area() == (area, off)
    assert abs(area - exact) <= off < 0.01


def test_bins_are_ordered_as_numbers_are():
    v = np.array([-np.inf, -1e300, -2.0, -1e-300, -0.0, 0.0, 1e-300, 1.0, 1.5, 1e300, np.inf])
    found = Ranks(most=0)
    found.add(v, np.arange(len(v)) > 5)
    assert found.area() == (1.0, 0.0)


def test_scores_of_two_models_are_not_compared():
    found = Ranks()
    found.add(np.array([1.0, 2.0]), np.array([False, True]))
    found.cut()
    found.add(np.array([101.0, 102.0]), np.array([False, True]))
    found.cut()
    assert found.area() == (1.0, 0.0)  # 102 > 1 and 101 > 2 are no pairs
    assert found.counts == (2, 2)


def test_one_class_has_no_area():
    found = Ranks()
    found.add(np.array([1.0, 2.0]), np.array([True, True]))
    assert found.area() is None


def test_the_interval_of_an_area_holds_it_about_95_times_in_100(rng):
    # Scores N(1, 1) against N(0, 1): the area is Phi(1/sqrt(2)) = 0.7602.
    held = 0
    for _ in range(600):
        a, b = rng.standard_normal(30) + 1, rng.standard_normal(40)
        low, high = of_area(float((a[:, None] > b).mean()), 30, 40)
        held += low <= 0.76025 <= high
    assert 0.92 < held / 600 <= 0.99


@pytest.mark.parametrize("area", [0.0, 0.5, 1.0])
def test_the_interval_holds_its_middle_and_stays_inside(area):
    low, high = of_area(area, 5, 8)
    assert 0 <= low <= area <= high <= 1
    assert low < high


def test_precision_and_recall_are_those_of_scikit_learn(rng):
    y, p = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    found = Decisions([0, 1, 2, 3])
    found.add(y, p)
    facts = found.facts()
    precision, recall, f1, rows = precision_recall_fscore_support(y, p, zero_division=0)
    for k, one in enumerate(facts["per_class"]):
        assert_allclose(one["precision"] or 0.0, precision[k])
        assert_allclose(one["recall"], recall[k])
        assert_allclose(one["f1"], f1[k])
        assert one["rows"] == rows[k]
        if one["precision"] is not None:
            assert one["precision_low"] <= one["precision"] <= one["precision_high"]
    assert facts["per_class"][3]["precision"] is None  # never answered
    assert by_class(facts)[1][3][2] == "–"


@pytest.mark.parametrize("learner", ["LogisticRegression", "GaussianClassifier", "Perceptron"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_verdict_tells_the_area(rng, learner):
    X = rng.standard_normal((200, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(200) > 0.4, "yes", "no")
    model = getattr(adaline, learner)().fit(X[:100], y[:100])
    found = adaline.verdict(model, X[100:], y[100:]).quality
    expected = roc_auc_score(y[100:], model.decision_function(X[100:]))
    assert_allclose(found["auc"], expected, rtol=1e-12)
    assert found["auc_low"] < found["auc"] < found["auc_high"]
    assert "area under the ROC curve" in dict(shown(found))


def test_the_most_common_label_does_not_depend_on_the_order_of_rows():
    answers = []
    for order in ([0, 1], [1, 0]):
        found = Decisions(["a", "b"])
        found.add(np.array(["a", "b"])[order], np.array(["a", "a"]))
        answers.append(found.facts()["most_common"])
    assert answers == ["a", "a"]


def test_r2_and_rmse_have_intervals_that_hold(rng):
    held = np.zeros(2)
    from adaline.evaluation.quality import Errors

    for _ in range(400):
        y = rng.standard_normal(100)
        found = Errors()
        found.add(y, y + 0.5 * rng.standard_normal(100))
        f = found.facts()
        held += f["r2_low"] <= 0.75 <= f["r2_high"], f["rmse_low"] <= 0.5 <= f["rmse_high"]
    assert np.all(held / 400 > 0.90)
    assert np.all(held / 400 < 0.985)
