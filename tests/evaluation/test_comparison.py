"""A table of learners: what stands in each cell, and the sentence below it."""

from __future__ import annotations

import pytest

from adaline.evaluation.comparison import NOTHING, Compared, Comparison


def row(name, measure, p=None, seconds=0.1234, **facts):
    facts = {"auc": 0.87654, "rmse": 1.23456} | facts
    ends = (None, None) if measure is None else (measure - 0.1, measure + 0.1)
    return Compared(name, measure, *ends, None if p is None else 0.1, p, seconds, facts)


def compared(*rows, measure="accuracy"):
    return Comparison(rows, measure, 1000, "10-fold cross-validation")


FAR, NEAR = 0.01234, 0.5
ROWS = "1,000 rows in 10-fold cross-validation"


@pytest.mark.parametrize(
    ("behind", "end"),
    [
        (
            (FAR, FAR, FAR),
            "The others are behind by more than chance explains (exact McNemar test).",
        ),
        (
            (FAR, NEAR, FAR),
            "These rows cannot tell it from second (exact McNemar test): take the one you",
        ),
        ((FAR, NEAR, NEAR), "These rows cannot tell it from second, third (exact"),
        (
            (NEAR, NEAR, FAR),
            "These rows cannot tell it from no model (exact McNemar test, p = 0.5).",
        ),
        ((FAR, 0.0501, FAR), "These rows cannot tell it from second (exact McNemar test): take"),
    ],
)
def test_the_best_is_told_with_those_that_cannot_be_told_from_it(behind, end):
    nothing, second, third = behind
    found = compared(
        row(NOTHING, 0.5, nothing),
        row("first", 0.8),
        row("second", 0.7, second),
        row("third", 0.6, third),
    )
    assert found.best.name == "first"
    start = f"Best: first, which is right for 80.0 % of {ROWS}. "
    assert found.sentence.startswith(start + end)


def test_of_numbers_the_best_explains_variance():
    found = compared(row(NOTHING, 0.0, FAR), row("ridge", 0.8), measure="R²")
    assert found.sentence.startswith(
        f"Best: ridge, which explains 80.0 % of the variance of {ROWS}"
    )


@pytest.mark.parametrize(
    "rows",
    [
        [row(NOTHING, 0.5)],
        [row(NOTHING, 0.5), row("a", 0.5, NEAR)],
        [row(NOTHING, 0.5), row("a", 0.4, NEAR)],
        [row(NOTHING, 0.5), Compared("a", note="failed: no")],
        [row(NOTHING, -0.1), row("a", -0.2, NEAR)],
        [row(NOTHING, 0.0), row("a", 0.0, NEAR)],
    ],
)
def test_a_learner_that_does_not_beat_no_model_is_not_the_best(rows):
    found = compared(*rows)
    assert found.best is None
    assert found.sentence == f"No learner does better than no model on {ROWS}."


def test_a_learner_as_good_as_the_mean_of_new_rows_can_be_the_best():
    """Without a model R² is negative on rows whose mean is another."""
    found = compared(row(NOTHING, -0.1, FAR), row("a", 0.0), measure="R²")
    assert found.best.name == "a"
    assert "explains 0.0 % of the variance" in found.sentence


def test_cells_of_classes():
    found = compared(
        row(NOTHING, 0.5, FAR, seconds=None, auc=None),
        row("first", 0.8),
        Compared("broken", note="failed: no"),
    )
    head, rows = found.cells()
    assert head == ["learner", "accuracy", "95 % interval", "AUC", "p (McNemar)", "fit, s"]
    assert rows == [
        [NOTHING, "50.0 %", "40.0 to 60.0 %", "", "0.0123", ""],
        ["first", "80.0 %", "70.0 to 90.0 %", "0.877", "best", "0.12"],
        ["broken", "", "", "", "failed: no", ""],
    ]
    assert str(found).endswith(f"\n\n{found.sentence}")
    lines = str(compared(row(NOTHING, 0.05, FAR), row("first", 1.0))).split("\n")
    assert lines[1].startswith("no model     5.0 %  ")  # names to the left, numbers to the right
    assert lines[2].startswith("first      100.0 %  ")


def test_cells_of_numbers_and_of_three_classes():
    numbers = compared(row(NOTHING, 0.0, 1e-9), row("a", 0.5), row("b", 0.4), measure="R²")
    head, rows = numbers.cells()
    assert head[3:] == ["RMSE", "p (t test)", "fit, s"]
    assert rows[0][3:5] == ["1.23", "< 0.0001"]
    assert rows[2][4] == ""  # not the best, and not compared with it
    three = compared(row(NOTHING, 0.5, FAR, auc=None), row("a", 0.8, auc=None))
    head, rows = three.cells()
    assert head == ["learner", "accuracy", "95 % interval", "p (McNemar)", "fit, s"]
    assert rows[1] == ["a", "80.0 %", "70.0 to 90.0 %", "best", "0.12"]


@pytest.mark.parametrize("ends", [(None, 0.5), (0.5, None)])
def test_without_both_ends_there_is_no_interval(ends):
    one = Compared("a", 0.5, *ends, None, None, 1.0, {"auc": None})
    assert compared(row(NOTHING, 0.5), one).cells()[1][1][2] == ""
