"""What a proof of separability says of itself, word by word."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import Separability, separability

NO_BOUNDARY = (
    "Even if rows may lie on the boundary, no boundary works, except one that every row lies on."
)


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
    rows = "has all 9 rows on their right side, the closest at distance 0.25."
    assert hyperplane(weights, intercept) == f"the hyperplane {formula} = 0 {rows}"


def test_a_linear_machine_is_told_by_its_classes():
    found = proof("separable", "abc", 1, weights=((1, 2), (3, 4)), margin=0.5)
    assert found.explain() == (
        "a linear machine gives each of the 9 rows to its own one of 3 classes, the closest at "
        "distance 0.5 from where another would win."
    )
    assert str(found).startswith("separable: a linear machine")


def obstacle(rows, multipliers, labels=(0, 1), duplicates=(), verdict="overlapping"):
    found = proof(
        verdict, labels, rows=rows, multipliers=multipliers, duplicates=duplicates, sentence="late"
    )
    return found.explain()


def times(multipliers):
    return f"each times its label's sign and the positive weights {multipliers}, sum to zero"


def test_rows_that_sum_to_zero_are_listed_with_their_multipliers():
    found = obstacle(((1, 1), (2, 0), (5, 0)), (2, 1, 1))
    blocked = "so no hyperplane can have them all on its right side"
    assert found == f"rows 1, 2 and 5, {times('2, 1, 1')}, {blocked}. {NO_BOUNDARY}"
    found = obstacle(((1, "b"), (2, "a")), (1, 1), "abc")
    blocked = "so no linear machine can have them all on their right sides"
    assert found == f"rows 1 and 2, {times('1, 1')}, {blocked}. {NO_BOUNDARY}"


def test_long_multipliers_are_told_as_shares():
    rows = ((0, 1), (1, 0))
    assert times("999999, 1") in obstacle(rows, (999_999, 1))
    assert times("about 0.5, 0.5") in obstacle(rows, (10**6, 10**6))
    assert times("about 0.75, 0.25") in obstacle(rows, (3 * 10**400, 10**400))


def test_of_many_rows_six_are_named():
    six = tuple((i, 1) for i in range(6))
    assert times("1, 1, 1, 1, 1, 1") in obstacle(six, (1,) * 6)
    found = obstacle((*six, (6, 0)), (1,) * 7)
    signed = "each times its label's sign and a positive weight, sum to zero"
    assert f"7 rows (0, 1, 2, 3, 4, 5, ...), {signed}," in found


def test_one_row_is_zero():
    found = obstacle(((4, 1),), (1,))
    assert found.startswith(
        "row 4 is zero in every column, so no hyperplane can have it on its right side."
    )
    touching = separability([[0.0, 0.0], [1.0, 1.0]], [0, 1], fit_intercept=False)
    assert "but this row is on it: the classes touch." in touching.explain()


def test_equal_rows_are_named_first_where_they_are_the_obstacle():
    apart = "are equal with different labels, so no hyperplane separates them"
    found = obstacle(((1, 1), (2, 0)), (1, 1), duplicates=((1, 2),))
    assert found == f"rows 1 and 2 {apart}. {NO_BOUNDARY}"
    found = obstacle(((1, 1), (2, 0)), (1, 1), duplicates=((3, 4), (1, 2)))
    assert found == f"rows 1 and 2 {apart}. {NO_BOUNDARY}"
    found = obstacle(((1, 1), (2, 0), (5, 0)), (2, 1, 1), duplicates=((1, 2),))
    assert found == f"rows 1 and 2 {apart}; and rows 1, 2 and 5, {times('2, 1, 1')}. {NO_BOUNDARY}"
    found = obstacle(((1, 1), (2, 0)), (1, 1), duplicates=((3, 4),))
    assert found == f"rows 3 and 4 {apart}; and rows 1 and 2, {times('1, 1')}. {NO_BOUNDARY}"


def test_of_three_classes_equal_rows_are_named_only_where_they_are_the_obstacle():
    found = obstacle(((1, "b"), (2, "a")), (1, 1), "abc", duplicates=((1, 2),))
    apart = "so no linear machine separates them"
    assert found.startswith(f"rows 1 and 2 are equal with different labels, {apart}. Even")
    found = obstacle(((1, "b"), (2, "a")), (1, 1), "abc", duplicates=((3, 4),))
    assert found.startswith("rows 1 and 2, each times")
    # One row told from two classes, and its twin from one: three pairs of two rows.
    rows = ((1, "b"), (1, "c"), (2, "a"))
    found = obstacle(rows, (1, 1, 1), "abc", duplicates=((1, 2),))
    assert f"{apart}; and rows 1, 1 and 2, each times" in found


def test_touching_classes_are_told_from_overlapping_ones():
    two = obstacle(((1, 1), (2, 0)), (1, 1), verdict="quasi-separable")
    assert two.endswith(
        "A hyperplane with no row on its wrong side exists, but these rows are on it: the classes "
        "touch."
    )
    three = obstacle(((1, "b"), (2, "a")), (1, 1), "abc", verdict="quasi-separable")
    assert three.endswith(
        "A linear machine that puts no row on a wrong side exists, but it leaves these rows "
        "undecided: their classes touch or overlap."
    )


def test_what_is_undecided_says_why():
    nothing = obstacle((), (), verdict="undecided")
    assert nothing == "it is not decided whether a hyperplane separates the classes: late."
    half = obstacle(((1, 1), (2, 0)), (1, 1), verdict="undecided")
    assert "right side. So they are not separable. If rows may lie on the boundary" in half
    assert half.endswith("that not every row lies on: late.")


def test_weights_in_floats_have_unit_length_whatever_their_size():
    for unit in (1, 10**400):
        found = proof("separable", (0, 1), 2, weights=((-7 * unit, 3 * unit, -4 * unit),))
        assert found.coef.tolist() == pytest.approx([0.6, -0.8], rel=1e-15)
        assert found.intercept == pytest.approx(-1.4, rel=1e-15)
    machine = proof("separable", "abc", 2, False, weights=((3, 4), (0, -1)))
    assert machine.coef.tolist() == [[0.0, 0.0], [0.6, 0.8], [0.0, -0.2]]
    assert machine.intercept.tolist() == [0.0, 0.0, 0.0]
    assert not np.signbit(machine.coef[2, 0])
    assert proof("undecided").coef is None
    assert proof("undecided").intercept is None


def test_columns_are_called_by_their_names():
    found = separability([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert "heat" in found.explain(["heat", "acid"])
    assert found.explain() == found.explain(["x0", "x1"])


@pytest.mark.parametrize("names", [["heat"], "ab", 3, ["heat", 1], [], {"heat": 1, "acid": 2}])
def test_names_that_do_not_fit_are_refused(names):
    found = separability([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=r"names=.*expected a list of 2 texts"):
        found.explain(names)
