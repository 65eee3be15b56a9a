"""What a proof of separability says of itself, word by word."""

from __future__ import annotations

import pytest

from adaline import Separability, separability


def proof(verdict, labels=(0, 1), features=2, intercept=True, **more):
    """A proof as it might come from a file, with just the fields that are told."""
    return Separability(verdict, labels, 9, features, intercept, "0" * 64, **more)


def hyperplane(weights, intercept=True):
    features = len(weights) - intercept
    found = proof("separable", (0, 1), features, intercept, weights=(weights,), margin=0.25)
    return found.explain()


@pytest.mark.parametrize(
    ("weights", "intercept", "formula"),
    [
        ((-10, 3, 4), True, "0.6 x0 +0.8 x1 -2"),
        ((0, -3, 4), True, "-0.6 x0 +0.8 x1"),
        ((5, 0, 0, 1), True, "1 x2 +5"),
        ((3, 0, -4), False, "0.6 x0 -0.8 x2"),
        ((0, 0), True, "0"),
        ((0, 3, 4, 0, 0, 0, 0), True, "0.6 x0 +0.8 x1"),
        ((0, 3, 4, 0, 0, 0, 0, 0), True, "w'x + b"),
        ((3, 4, 0, 0, 0, 0, 0), False, "w'x"),
    ],
)
def test_a_hyperplane_of_few_columns_is_written_out(weights, intercept, formula):
    rows = "separates all 9 rows, the closest at distance 0.25."
    assert hyperplane(weights, intercept) == f"the hyperplane {formula} = 0 {rows}"


@pytest.mark.parametrize(
    ("verdict", "labels", "words"),
    [
        ("overlapping", (0, 1), "no hyperplane"),
        ("overlapping", "abc", "no linear machine"),
        ("quasi-separable", (0, 1), "classes touch"),
        ("quasi-separable", "abc", "touch or overlap"),
        ("undecided", (0, 1), "not separable"),
    ],
)
def test_rows_that_sum_to_zero_are_listed_with_their_multipliers(verdict, labels, words):
    rows = ((1, labels[1]), (2, labels[0]), (5, labels[0]))
    found = proof(verdict, labels, rows=rows, multipliers=(2, 1, 1), sentence="late").explain()
    assert found.startswith("rows 1, 2 and 5, ")
    assert "weights 2, 1, 1, sum to zero" in found
    assert words in found


def test_what_is_undecided_says_why():
    assert proof("undecided", sentence="late").explain().endswith("late.")


def test_columns_are_called_by_their_names():
    found = separability([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert "heat" in found.explain(["heat", "acid"])
    assert found.explain() == found.explain(["x0", "x1"])
