"""Labels against predictions: each number by hand, and the words that go with it."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from adaline import BayesClassifier, cross_validated
from adaline.evaluation.intervals import wilson
from adaline.evaluation.quality import Decisions, by_class


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
    assert f["log_loss_of_shares"] == pytest.approx(
        -(4 / 6) * math.log(4 / 6) - (2 / 6) * math.log(2 / 6)
    )
    assert f["labels"] == ["a", "b", "z"]
    assert f["answers"] == ["a", "b", "z", "?"]
    assert f["confusion"] == [[3, 1, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    b = f["per_class"][1]
    assert (b["rows"], b["answers"], b["precision"], b["recall"]) == (2, 3, 1 / 3, 1 / 2)
    assert b["f1"] == pytest.approx(2 * 1 / (2 + 3))
    assert f["auc"] is f["auc_low"] is f["auc_high"] is f["auc_error"] is None
    assert f["mean_cost"] is f["cost_of_constant"] is f["constant"] is None


def test_a_class_without_rows_and_answers_has_no_shares():
    f = decided([("a", "a"), ("b", "b")], classes="abc").facts()
    assert f["per_class"][0]["f1"] == 1.0
    c = f["per_class"][2]
    assert c["f1"] is c["precision"] is c["recall"] is c["recall_low"] is None
    assert by_class(f)[1][2] == ["c", "0", "–", "–", "–"]


def test_scores_of_two_classes_make_an_area_and_those_of_three_none():
    scores = np.array([0.1, 0.9, 0.4, 0.6])
    pairs = [("a", "a"), ("b", "b"), ("b", "a"), ("a", "b")]
    assert decided(pairs, scores=scores).facts()["auc"] == 0.75
    assert decided([*pairs, ("z", "a")], scores=np.append(scores, 9.0)).facts()["auc"] == 0.75
    assert decided(pairs, classes="abc", scores=scores).facts()["auc"] is None


def test_an_area_has_an_interval_inside_zero_and_one():
    found = decided([("a", "a"), ("b", "b")] * 3, scores=np.array([0.0, 1.0] * 3))
    f = found.facts()
    assert (f["auc"], f["auc_high"], f["auc_error"]) == (1.0, 1.0, 0.0)
    assert 0 < f["auc_low"] < 1
    wrong = decided([("b", "a"), ("a", "b")] * 3, scores=np.array([0.0, 1.0] * 3)).facts()
    assert (wrong["auc"], wrong["auc_low"]) == (0.0, 0.0)
    found.ranks = SimpleNamespace(area=lambda: (0.99, 0.05), counts=(20, 20))
    assert found.facts()["auc_high"] == 1.0


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
    doubted = any("would cost no more" in doubt for doubt in found.doubts())
    assert doubted == (cost >= constant)


def test_costs_of_rows_that_have_none_are_unknown():
    f = decided([("z", "?")], costs=COSTS).facts()
    assert (f["mean_cost"], f["cost_of_constant"]) == (None, None)


@pytest.mark.parametrize(
    ("right", "wrong", "doubted"), [(9, 1, True), (70, 10, True), (75, 5, False), (4, 5, False)]
)
def test_predictions_no_better_than_a_constant_are_doubted(right, wrong, doubted):
    """A fifth of the rows are b; ten rows are the fewest of which anything is said."""
    n = right + wrong
    truth = ["b"] * (n // 5) + ["a"] * (n - n // 5)
    answer = [("b" if t == "a" else "a") if i < wrong else t for i, t in enumerate(truth)]
    found = decided(list(zip(truth, answer, strict=True)))
    said = [doubt for doubt in found.doubts() if "not clearly better" in doubt]
    assert bool(said) == doubted
    if said:
        assert said[0].startswith(
            "the predictions are not clearly better than always answering 'a'"
        )


@pytest.mark.parametrize(("classes", "end"), [("abcdef", ""), ("abcdefg", ", ...")])
def test_labels_without_rows_are_named_up_to_five(classes, end):
    found = decided([("a", "a")] * 9, classes=classes)
    assert found.doubts() == [
        f"no row has the label 'b', 'c', 'd', 'e', 'f'{end}: nothing is known about the quality "
        "there."
    ]


@pytest.mark.parametrize(("count", "start"), [(1, "1 row has a label"), (2, "2 rows have labels")])
def test_labels_that_the_model_never_saw_are_counted(count, start):
    found = decided([("a", "a"), ("b", "b")] * 20 + [("z", "a")] * count)
    assert found.doubts() == [
        f"{start} that the model never saw, such as 'z'; they count as wrong. Learn from rows of "
        "every class."
    ]


def test_the_sentence_of_decisions_has_its_numbers():
    said = decided([("a", "a")] * 6 + [("b", "a")] * 2 + [("b", "b")] * 2).sentence("ten rows")
    low, high = wilson(0.8, 10)
    assert said == (
        f"Right for 80.0 % of ten rows (95 % interval {100 * low:.1f} to {100 * high:.1f} %); "
        "always answering 'a' would be right for 60.0 %."
    )


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
