"""Labels against predictions: each number by hand, and the words that go with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from adaline import BayesClassifier, cross_validated
from adaline.evaluation.quality import Decisions, Errors, wilson


def decided(pairs, classes="ab", log_p=None, scores=None, **more):
    found = Decisions(list(classes), **more)
    truth, answer = (np.array(labels, dtype=object) for labels in zip(*pairs, strict=True))
    found.add(truth, answer, log_p, scores)
    return found


COSTS = [[0.0, 5.0], [1.0, 0.0]]  # of deciding i where j is true


def test_every_number_of_decisions_by_hand():
    """Four rows of a, two of b, one of a label nobody learned; one answer is a rejection."""
    pairs = [("a", "a")] * 3 + [("a", "b"), ("b", "b"), ("b", "?"), ("z", "b")]
    p = np.full((7, 2), 0.5)
    p[0] = 0.9, 0.1
    p[4] = 0.2, 0.8
    f = decided(pairs, log_p=np.log(p)).facts()
    low, high = wilson(4 / 7, 7)
    assert (f["rows"], f["right"], f["accuracy"], f["rejected"]) == (7, 4, 4 / 7, 1)
    assert (f["accuracy_low"], f["accuracy_high"]) == (low, high)
    assert f["balanced_accuracy"] == pytest.approx((3 / 4 + 1 / 2 + 0) / 3)
    assert (f["most_common"], f["most_common_share"]) == ("a", 4 / 7)
    # Six rows have a label with a probability.
    assert f["log_loss"] == pytest.approx(-(math.log(0.9) + math.log(0.8) + 4 * math.log(0.5)) / 6)
    assert f["labels"] == ["a", "b", "z"]
    assert f["answers"] == ["a", "b", "z", "?"]
    assert f["confusion"] == [[3, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    b = f["per_class"][1]
    assert (b["rows"], b["answers"], b["precision"], b["recall"]) == (2, 3, 1 / 3, 1 / 2)
    assert b["f1"] == pytest.approx(2 * 1 / (2 + 3))
    assert f["auc"] is None
    assert f["mean_cost"] is f["cost_of_constant"] is f["constant"] is None


@pytest.mark.parametrize(
    ("rows", "cost", "constant", "best"),
    [
        ({"aa": 8, "ab": 2}, 2 / 10, 0.0, "a"),
        ({"aa": 5, "ba": 5}, 25 / 10, 5 / 10, "b"),
        ({"aa": 20, "ba": 1, "bb": 1}, 5 / 22, 10 / 22, "a"),
        ({"aa": 5, "ba": 1}, 5 / 6, 5 / 6, "a"),  # both constants cost the same: the first
    ],
)
def test_costs_of_decisions_and_of_the_best_constant(rows, cost, constant, best):
    found = decided([tuple(pair) for pair, n in rows.items() for _ in range(n)], costs=COSTS)
    f = found.facts()
    assert (f["mean_cost"], f["cost_of_constant"]) == pytest.approx((cost, constant))
    assert f["constant"] == best
    doubted = any("would cost no more" in doubt for doubt in found.warnings())
    assert doubted == (cost >= constant)


@pytest.mark.parametrize(("right", "doubted"), [(14, True), (16, False)])
def test_predictions_no_better_than_a_constant_are_doubted(right, doubted):
    truth = ["a", "b"] * 10
    answer = [t if i < right else "a" if t == "b" else "b" for i, t in enumerate(truth)]
    quality = decided(list(zip(truth, answer, strict=True)))
    assert any("not clearly better" in doubt for doubt in quality.warnings()) == doubted


@pytest.mark.parametrize("costs", [None, [[0.0, 3.0], [1.0, 0.0]]])
def test_rejected_rows_cost_what_a_rejection_costs(rng, costs):
    y = np.repeat(["ill", "well"], 60)
    X = rng.standard_normal((120, 2)) + (y == "ill")[:, None]
    model = BayesClassifier("gaussian", costs=costs, reject_cost=0.2)
    found = cross_validated(model, X, y, 5)
    answer = found.answers.predicted
    price = np.array([[0.0, 1.0], [1.0, 0.0]] if costs is None else costs)
    i, j = ((labels == "well").astype(int) for labels in (answer, y))
    cost = np.where(answer == "reject", 0.2, price[i, j])
    assert np.any(answer == "reject")
    assert found.quality.facts()["mean_cost"] == pytest.approx(cost.mean())


def errors_of(y, answer):
    found = Errors()
    found.add(np.asarray(y), np.asarray(answer))
    return found


def parts_of(y, answer, *cuts):
    found = Errors()
    for part in np.split(np.arange(len(y)), cuts):
        found.add(np.asarray(y)[part], np.asarray(answer)[part])
    return found


def test_every_number_of_errors_by_hand():
    found = errors_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0])
    found.add(np.zeros(0), np.zeros(0))
    f = found.facts()
    assert parts_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0], 1, 3).facts() == pytest.approx(f)
    assert (f["rows"], f["targets"], f["worst"], f["mae"]) == (4, 1, 3.0, 1.0)
    assert f["rmse"] == pytest.approx(math.sqrt(10 / 4))
    assert f["rmse_of_mean"] == pytest.approx(math.sqrt(14 / 4))
    assert f["r2"] == pytest.approx(1 - 10 / 14)
    small = errors_of([0.0, 0.5], [0.25, 0.25]).facts()
    assert (small["worst"], small["r2"]) == (0.25, 0.0)


@pytest.mark.parametrize(
    ("y", "answer", "start", "doubted"),
    [
        ([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0], "Explains 28.6% of the variance (x", False),
        ([0.0, 2.0], [1.0, 1.0], "Explains nothing", True),
        ([0.0, 2.0], [2.0, 2.0], "Explains nothing", True),
        ([1.0, 1.0], [2.0, 2.0], "Root mean squared error 1 (x); all targets are equal", False),
        ([1e200, -1e200], [0.0, 0.0], "Root mean squared error inf (x)", False),
    ],
)
def test_the_sentence_of_errors(y, answer, start, doubted):
    found = errors_of(y, answer)
    assert found.sentence("x").startswith(start)
    assert bool(found.warnings()) == doubted


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn_in_each_fold(rng, ties):
    yes = rng.random(300) < 0.3
    v = rng.standard_normal(300) + yes
    v = np.round(v) if ties else v
    found = Decisions([False, True])
    for part in np.array_split(np.arange(300), 7):
        found.add(yes[part], yes[part], scores=v[part])
    assert found.facts()["auc"] == pytest.approx(roc_auc_score(yes, v), rel=1e-12)
    found = Decisions([0, 1])
    # Scores of two models: 102 > 1 and 101 > 2 are no pairs.
    for fold, scores in enumerate(([1.0, 2.0], [101.0, 102.0])):
        found.add(np.array([0, 1]), np.array([0, 1]), scores=np.array(scores), fold=fold)
    assert found.facts()["auc"] == 1.0


def test_wilsons_interval_by_hand_and_at_its_ends():
    z2, n, s = 1.959963984540054**2, 40, 0.3
    low, high = wilson(s, n)
    # Wilson's ends are the roots of (s - q)^2 = z^2 q (1 - q) / n.
    for q in (low, high):
        assert (s - q) ** 2 == pytest.approx(z2 * q * (1 - q) / n)
    assert low < s < high
    for n in range(1, 2001):  # rounding must leave the share itself inside
        assert wilson(0.0, n)[0] == 0.0
        assert wilson(1.0, n)[1] == 1.0


def test_r2_has_intervals_that_hold_unless_one_row_has_all_the_variance(rng):
    held = 0
    for _ in range(400):
        y = rng.standard_normal(100)
        facts = errors_of(y, y + 0.5 * rng.standard_normal(100)).facts()
        held += facts["r2_low"] <= 0.75 <= facts["r2_high"]
    assert 0.90 < held / 400 < 0.985
    total = errors_of(np.append(y, 6000.0), np.append(y + 0.1, 3000.0)).facts()
    assert total["r2_low"] is total["r2_high"] is None
