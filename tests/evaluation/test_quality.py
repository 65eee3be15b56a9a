"""Labels against predictions: each number by hand, and the words that go with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

import adaline
from adaline import BayesClassifier, cross_validated
from adaline.evaluation.quality import Decisions, Errors, auc_interval, ratio_interval, wilson
from adaline.evaluation.words import class_table, quality_rows


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
    assert f["auc"] is f["auc_low"] is f["auc_high"] is None
    assert f["mean_cost"] is f["cost_of_constant"] is f["constant"] is None


def test_a_class_without_rows_and_answers_has_no_shares():
    f = decided([("a", "a"), ("b", "b")], classes="abc").facts()
    assert f["per_class"][0]["f1"] == 1.0
    c = f["per_class"][2]
    assert c["f1"] is c["precision"] is c["recall"] is c["recall_low"] is None
    assert class_table(f)[1][2] == ["c", "0", "–", "–", "–"]


def test_scores_of_two_classes_make_an_area_and_those_of_three_none():
    scores = np.array([0.1, 0.9, 0.4, 0.6])
    pairs = [("a", "a"), ("b", "b"), ("b", "a"), ("a", "b")]
    assert decided(pairs, scores=scores).facts()["auc"] == 0.75
    assert decided([*pairs, ("z", "a")], scores=np.append(scores, 9.0)).facts()["auc"] == 0.75
    assert decided(pairs, classes="abc", scores=scores).facts()["auc"] is None


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
    said = [doubt for doubt in found.warnings() if "not clearly better" in doubt]
    assert bool(said) == doubted
    if said:
        assert said[0].startswith(
            "the predictions are not clearly better than always predicting 'a'"
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


def test_labels_without_rows_and_labels_never_seen_are_warned_of():
    assert "no row has the label 'b', 'c'" in decided([("a", "a")] * 9, classes="abc").warnings()[0]
    found = decided([("a", "a"), ("b", "b")] * 20 + [("z", "a")] * 2)
    assert found.warnings()[0].startswith("2 rows have a label that the model never saw, such as")


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
    squares, spread = np.array([1.0, 0.0, 0.0, 9.0]), np.array([4.0, 1.0, 0.0, 9.0])
    low, high = ratio_interval(squares, spread)
    assert (f["r2_low"], f["r2_high"]) == pytest.approx((1 - high, 1 - low))
    low, high = ratio_interval(squares)
    assert (f["rmse_low"], f["rmse_high"]) == pytest.approx((math.sqrt(low), math.sqrt(high)))
    small = errors_of([0.0, 0.5], [0.25, 0.25]).facts()
    assert (small["worst"], small["r2"]) == (0.25, 0.0)


def test_two_targets_have_no_intervals():
    two = errors_of(np.eye(4)[:, :2], np.zeros((4, 2))).facts()
    assert (two["r2_low"], two["mae"], two["targets"]) == (None, 0.25, 2)


def test_where_one_row_makes_all_the_variance_there_is_no_interval_and_a_doubt(rng):
    """A row of totals: the delta method would call 71 % known to half a percent."""
    y = np.append(rng.normal(500, 90, 120), 60_000.0)
    found = errors_of(y, np.append(y[:-1] + rng.normal(0, 10, 120), 28_000.0))
    facts = found.facts()
    assert 0.5 < facts["r2"] < 0.8
    assert facts["r2_low"] is facts["r2_high"] is facts["rmse_low"] is None
    assert len(found.warnings()) == 1
    assert "one row has" in found.warnings()[0]
    without = errors_of(y[:-1], y[:-1] + rng.normal(0, 10, 120))
    assert without.facts()["r2_low"] > 0.9
    assert without.warnings() == []


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


def test_numbers_of_errors_are_shown_under_names_for_people():
    f = errors_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0]).facts()
    folds = {"measure": "R²", "least": 0.1234567, "largest": 0.5}
    told = dict(quality_rows({**f, "folds": folds}))
    assert told["R²"] == "0.28571"
    assert told["largest error"] == "3"
    assert told["95% interval of root mean squared error"] == (
        f"{f['rmse_low']:.3g} to {f['rmse_high']:.3g}"
    )
    assert told["R² of single folds"] == "0.123 to 0.5"
    assert "targets" not in told
    two = dict(quality_rows(errors_of(np.eye(4)[:, :2], np.zeros((4, 2))).facts()))
    assert two["targets"] == "2; numbers are means over them"
    assert not any("interval" in key for key in two)


def test_numbers_of_decisions_are_shown_under_names_for_people():
    pairs = [("a", "a")] * 1500 + [("b", "b")] * 450 + [("b", "a")] * 50
    f = decided(pairs, scores=np.r_[np.zeros(1500), np.ones(500)], costs=COSTS).facts()
    folds = {"measure": "accuracy", "least": 0.9, "largest": 0.95}
    told = dict(quality_rows({**f, "folds": folds}))
    assert told["accuracy"] == "97.5%, 1,950 of 2,000"
    assert told["always 'a'"] == "75.0%"
    assert told["accuracy of single folds"] == "90.0 to 95.0%"
    assert told["area under the ROC curve"].startswith("1.000 (95% interval 0.99")
    assert told["mean cost of a decision"] == "0.125"
    assert told["mean cost of always 'b'"] == "0.75"
    assert "rejected" not in told


@pytest.mark.parametrize(
    ("answers", "rejected", "right"),
    [("ab?", "1 of 3", "50.0%"), ("???", "3 of 3", None), ("bb?", "1 of 3", "0.0%")],
)
def test_rejections_are_told_and_what_is_right_beside_them(answers, rejected, right):
    told = dict(quality_rows(decided([("a", answer) for answer in answers]).facts()))
    assert told["rejected"] == rejected
    assert told.get("accuracy where not rejected") == right


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
    for scores in ([1.0, 2.0], [101.0, 102.0]):  # of two models: 102 > 1 and 101 > 2 are no pairs
        found.start_fold()
        found.add(np.array([0, 1]), np.array([0, 1]), scores=np.array(scores))
    assert (found.facts()["auc"], found.facts()["auc_high"]) == (1.0, 1.0)
    assert 0 < found.facts()["auc_low"] < 1


def test_the_interval_of_an_area_holds_it_about_95_times_in_100(rng):
    # Scores N(1, 1) against N(0, 1): the area is Phi(1/sqrt(2)) = 0.7602.
    held = 0
    for _ in range(600):
        a, b = rng.standard_normal(30) + 1, rng.standard_normal(40)
        low, high = auc_interval(float((a[:, None] > b).mean()), 30, 40)
        held += low <= 0.76025 <= high
    assert 0.92 < held / 600 <= 0.99


@pytest.mark.parametrize("area", [0.0, 0.5, 1.0])
def test_the_interval_holds_its_middle_and_stays_inside(area):
    low, high = auc_interval(area, 5, 8)
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
    assert class_table(facts)[1][3][2] == "–"


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
    assert "area under the ROC curve" in dict(quality_rows(found))


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


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ([1.0, 2.0], None),  # two rows
        ([0.0, 0.0, 0.0], None),
        ([1.0, 2.0, np.inf], None),
        ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
        ([1.0, 2.0, 3.0], [1.0, np.inf, 1.0]),
    ],
)
def test_a_ratio_of_nothing_has_no_interval(above, below):
    assert ratio_interval(np.array(above), None if below is None else np.array(below)) is None


def test_the_interval_of_a_ratio_by_hand():
    above, below = np.array([1.0, 2.0, 6.0]), np.array([2.0, 1.0, 3.0])
    low, high = ratio_interval(above, below)
    moves = above / 3.0 - below / 2.0
    half = 1.959963984540054 * np.sqrt(np.sum(moves**2) / 2 / 3)
    assert (low, high) == pytest.approx((1.5 * np.exp(-half), 1.5 * np.exp(half)))
    low, high = ratio_interval(above)
    half = 1.959963984540054 * np.sqrt(np.sum((above / 3.0 - 1) ** 2) / 2 / 3)
    assert (low, high) == pytest.approx((3 * np.exp(-half), 3 * np.exp(half)))


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


@pytest.mark.parametrize(("area", "m", "n"), [(0.8, 20, 30), (0.5, 5, 9), (0.99, 40, 3)])
def test_the_ends_of_an_area_are_where_its_deviation_just_reaches_it(area, m, n):
    for end in auc_interval(area, m, n):
        rows = (m + n) / 2 - 1
        spread = 1 + rows * ((1 - end) / (2 - end) + end / (1 + end))
        deviation = np.sqrt(max(end * (1 - end) * spread / (m * n), 0.0))
        assert abs(end - area) == pytest.approx(1.959963984540054 * deviation, rel=1e-9, abs=1e-12)
