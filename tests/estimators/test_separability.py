"""`separability`: labels, weights, containers, and every kind of bad input."""

from __future__ import annotations

from adaline import separability

AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1]


def test_rows_of_weight_zero_do_not_count():
    X, y = [[0.0], [5.0], [1.0], [3.0], [4.0]], [0, 0, 0, 1, 1]
    weights = [1, 0, 2, 1, 0.5]
    assert separability(X, y).verdict == "overlapping"
    found = separability(X, y, sample_weight=weights)
    assert found.verdict == "separable"
    assert found.check(X, y, weights)
    assert not found.check(X, y)
    assert found.n_rows == 4


def test_duplicates_with_different_labels_are_named():
    X, y = [[0, 1], [2, 2], [3, 1], [2, 2], [5, 5]], [0, 0, 1, 1, 1]
    found = separability(X, y)
    assert found.duplicates == ((1, 3),)
    assert "rows 1 and 3 are equal with different labels" in found.explain()


def test_pairs_of_classes_and_the_linear_machine():
    X, y = [[0.0], [1.0], [2.0]], ["low", "middle", "top"]
    found = separability(X, y)
    assert found.verdict == "separable"  # max of three lines, by their slopes
    assert set(found.pairwise) == {("low", "middle"), ("low", "top"), ("middle", "top")}
    assert {part.verdict for part in found.pairwise.values()} == {"separable"}
    assert found.coef.shape == (3, 1)
    assert found.intercept.shape == (3,)
    assert not separability(X, y, pairwise=False).pairwise


def test_pairs_can_be_separable_where_no_linear_machine_is():
    # Each two classes are apart, but going round the middle needs more than one winner a direction.
    X = [[0, 2], [0, -2], [3, 1], [3, -1], [-1, 0], [1, 0]]
    y = [0, 1, 0, 1, 2, 2]
    found = separability(X, y)
    assert {part.verdict for part in found.pairwise.values()} == {"separable"}
    assert found.check(X, y)


def test_without_an_intercept_the_plane_goes_through_the_origin():
    X, y = [[1.0], [2.0]], [0, 1]
    assert separability(X, y).verdict == "separable"
    found = separability(X, y, fit_intercept=False)
    assert found.verdict == "overlapping"
    assert found.check(X, y)
    assert separability([[-1.0], [2.0]], y, fit_intercept=False).intercept == 0.0


def test_no_time_is_undecided_and_the_proof_of_nothing_holds():
    found = separability(*AND, time_limit=0)
    assert found.verdict == "undecided"
    assert found.margin is None
    assert found.coef is None
    assert found.check(*AND)
