"""Measures under names for people: what is shown, what stands beside the sentence, and when."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.evaluation.quality import Decisions, Errors, beside, shown, words_for
from adaline.evaluation.verdict import _flattered


def decided(pairs, classes="ab", log_p=None, scores=None, **more):
    found = Decisions(list(classes), **more)
    truth, answer = (np.array(labels, dtype=object) for labels in zip(*pairs, strict=True))
    found.add(truth, answer, log_p, scores)
    return found


def errors_of(y, answer):
    found = Errors()
    found.add(np.asarray(y), np.asarray(answer))
    return found


COSTS = [[0.0, 5.0], [1.0, 0.0]]  # of deciding i where j is true


def test_without_probabilities_there_is_no_log_loss():
    f = decided([("a", "a"), ("b", "b")]).facts()
    assert f["log_loss"] is f["log_loss_of_shares"] is None
    assert "mean log loss" not in dict(shown(f))


def test_numbers_of_errors_are_shown_under_names_for_people():
    f = errors_of([0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 2.0, 2.0]).facts()
    folds = {"measure": "R²", "least": 0.1234567, "largest": 0.5}
    told = dict(shown({**f, "folds": folds}))
    assert told["R²"] == "0.28571"
    assert told["largest error"] == "3"
    assert told["95 % interval of the root mean square"] == (
        f"{f['rmse_low']:.3g} to {f['rmse_high']:.3g}"
    )
    assert told["R² of single folds"] == "0.123 to 0.5"
    assert "targets" not in told
    two = dict(shown(errors_of(np.eye(4)[:, :2], np.zeros((4, 2))).facts()))
    assert two["targets"] == "2; numbers are means over them"
    assert not any("interval" in key for key in two)


def test_numbers_of_decisions_are_shown_under_names_for_people():
    pairs = [("a", "a")] * 1500 + [("b", "b")] * 450 + [("b", "a")] * 50
    f = decided(pairs, scores=np.r_[np.zeros(1500), np.ones(500)], costs=COSTS).facts()
    folds = {"measure": "accuracy", "least": 0.9, "largest": 0.95}
    told = dict(shown({**f, "folds": folds}))
    assert told["right"] == "1,950 of 2,000, 97.5 %"
    assert told["always 'a'"] == "75.0 %"
    assert told["accuracy of single folds"] == "90.0 % to 95.0 %"
    assert told["area under the ROC curve"].startswith("1.000 (95 % interval 0.99")
    assert told["mean cost of a decision"] == "0.125"
    assert told["mean cost of always 'b'"] == "0.75"
    assert "rejected" not in told
    rough = dict(shown({**f, "auc_error": 0.0123}))
    assert rough["area under the ROC curve"].startswith("1.000, to ±0.01 (95 %")


@pytest.mark.parametrize(
    ("answers", "rejected", "right"),
    [("ab?", "1 of 3", "50.0 %"), ("???", "3 of 3", None), ("bb?", "1 of 3", "0.0 %")],
)
def test_rejections_are_told_and_what_is_right_beside_them(answers, rejected, right):
    told = dict(shown(decided([("a", answer) for answer in answers]).facts()))
    assert told["rejected"] == rejected
    assert told.get("right where not rejected") == right


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, ""),
        (
            {"auc": 0.75, "auc_low": 0.5, "auc_high": 0.9},
            "Area under the ROC curve: 0.750 (95 % interval 0.500 to 0.900).",
        ),
        (
            {"mean_cost": 0.12345, "constant": "a", "cost_of_constant": 0.45678},
            "Mean cost of a decision: 0.123; always answering 'a' would cost 0.457.",
        ),
        ({"r2_low": -0.2, "r2_high": 0.1}, "Explained variance: 95 % interval 0.0 to 10.0 %."),
        ({"r2_low": -0.2, "r2_high": 0.0}, ""),
        (
            {"folds": {"measure": "accuracy", "least": 0.5, "largest": 0.75}},
            "Single folds: 50.0 to 75.0 % right.",
        ),
        (
            {"folds": {"measure": "R²", "least": 0.5, "largest": 0.75}},
            "Single folds: 50.0 to 75.0 % explained.",
        ),
        ({"folds": {"measure": "root mean squared error", "least": 5.0, "largest": 7.5}}, ""),
    ],
)
def test_what_stands_beside_the_sentence(facts, line):
    assert beside(facts) == line


@pytest.mark.parametrize(
    ("rows", "held_out", "way", "said"),
    [
        (1, False, "", "the row it has learned from"),
        (2000, False, "", "the 2,000 rows it has learned from"),
        (2000, True, "", "2,000 held-out rows"),
        (2000, None, "", "2,000 rows"),
        (1, True, "2-fold cross-validation", "1 row in 2-fold cross-validation"),
    ],
)
def test_what_rows_are_called(rows, held_out, way, said):
    assert words_for(rows, held_out, way) == said


@pytest.mark.parametrize(
    ("rows", "held_out", "count"), [(29, True, 1), (30, True, 0), (30, False, 1), (29, False, 2)]
)
def test_fewer_than_thirty_rows_are_few(rows, held_out, count):
    said = _flattered(rows, held_out)
    assert len(said) == count
    assert any(f"only {rows} rows measure the quality" in text for text in said) == (rows < 30)
