"""`separability`: labels, weights, containers, and every kind of bad input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import Separability, separability

AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1]
XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]


def test_and_is_separable_and_xor_is_not():
    assert separability(*AND).verdict == "separable"
    assert separability(*XOR).verdict == "overlapping"
    assert isinstance(separability(*AND), Separability)


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [0, 1], [False, True], [-1.0, 1.0], [10**12, 3], np.array(["a", "b"], object)],
    ids=str,
)
def test_any_labels(labels):
    X, codes = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    y = [labels[c] for c in codes]
    found = separability(X, y)
    assert found.verdict == "separable"
    assert found.check(X, y)
    assert Separability.from_json(found.to_json()).check(X, y)
    assert found.labels == tuple(sorted(labels))


def test_the_last_label_is_the_positive_side():
    found = separability([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    assert found.coef[0] > 0
    assert 1.0 < -found.intercept < 3.0


def test_rows_of_weight_zero_do_not_count():
    X, y = [[0.0], [5.0], [1.0], [3.0], [4.0]], [0, 0, 0, 1, 1]
    weights = [1, 0, 2, 1, 0.5]
    assert separability(X, y).verdict == "overlapping"
    found = separability(X, y, sample_weight=weights)
    assert found.verdict == "separable"
    assert found.check(X, y, weights)
    assert not found.check(X, y)
    assert found.n_rows == 4


def test_rows_keep_their_numbers_where_others_do_not_count():
    X, y = [[9.0], [0.0], [1.0], [2.0]], [1, 0, 1, 0]
    found = separability(X, y, sample_weight=[0, 1, 1, 1])
    assert [i for i, _ in found.rows] == [1, 2, 3]
    assert found.check(X, y, [0, 5, 5, 5])


def test_dense_and_sparse_have_the_same_verdict_and_fingerprint(rng):
    X = rng.integers(-1, 2, (40, 5)).astype(float)
    for y in (rng.integers(0, 2, 40), rng.integers(0, 3, 40)):
        dense, csr = separability(X, y), separability(sparse.csc_array(X), y)
        assert (dense.verdict, dense.fingerprint) == (csr.verdict, csr.fingerprint)
        assert csr.check(X, y)
        assert dense.check(sparse.coo_matrix(X), y)


def test_duplicates_with_different_labels_are_named():
    X, y = [[0, 1], [2, 2], [3, 1], [2, 2], [5, 5]], [0, 0, 1, 1, 1]
    found = separability(X, y)
    assert found.duplicates == ((1, 3),)
    assert "rows 1 and 3 are equal with different labels" in found.explain()


def test_an_overlap_is_explained_in_a_sentence():
    text = separability(*XOR).explain()
    assert text.startswith("rows 0, 1, 2 and 3, each times its label's sign")
    assert "no hyperplane can have them all on its right side" in text


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


def test_rows_that_are_all_equal_overlap():
    found = separability(np.full((4, 2), 0.1), [0, 1, 0, 1])
    assert found.verdict == "overlapping"
    assert found.duplicates
    assert separability(np.zeros((2, 1)), [0, 1]).verdict == "overlapping"


def test_containers(rng):
    X = rng.standard_normal((30, 4))
    y = (X[:, 0] > 0).astype(int)
    truth = separability(X, y).to_json()
    read_only = X.copy()
    read_only.flags.writeable = False
    wide = np.zeros((30, 8))
    wide[:, ::2] = X
    for same in (read_only, wide[:, ::2], np.asfortranarray(X), X.tolist(), pd.DataFrame(X)):
        assert separability(same, y).to_json() == truth
    assert separability(X, pd.Series(y)).to_json() == truth
    assert separability(X, y[:, None]).to_json() == truth


def test_float32_and_small_integers_are_taken_as_they_are(rng):
    X = rng.standard_normal((30, 2)).astype(np.float32)
    y = rng.integers(0, 2, 30)
    assert separability(X, y).to_json() == separability(X.astype(float), y).to_json()
    whole = rng.integers(0, 9, (30, 2))
    assert separability(whole, y).to_json() == separability(whole.astype(float), y).to_json()
    assert separability(whole > 4, y).check((whole > 4).astype(float), y)


@pytest.mark.parametrize(
    "labels",
    [(5, 7), (-3, 4), (-3, -1), (10, 1010), (10, 1011), (-5, 2000), (2**62, 2**62 + 1)],
)
@pytest.mark.parametrize("kind", [np.int64, object])
def test_labels_are_told_as_they_came(labels, kind):
    low, high = labels
    y = np.array([low, low, low, high], dtype=kind)
    found = separability(AND[0], y)
    assert found.labels == labels
    assert found.check(AND[0], y)


@pytest.mark.parametrize("kind", [np.longdouble, object, np.int64, np.uint64])
def test_numbers_that_float64_holds_are_taken_and_others_are_refused(kind):
    if kind is np.longdouble and np.finfo(kind).nmant <= 52:
        pytest.skip("longdouble is float64 here")
    X = np.array([[2**53], [2**53 + 2], [0], [1]], dtype=kind)
    assert separability(X, [1, 1, 0, 0]).verdict == "separable"
    if kind is not np.uint64:
        assert separability(-X, [1, 1, 0, 0]).verdict == "separable"
    X[0, 0] += 1
    with pytest.raises(ValueError, match="float64 would round"):
        separability(X, [1, 1, 0, 0])


def test_input_is_never_changed(rng):
    X = sparse.csr_matrix(rng.integers(0, 2, (20, 3)).astype(float))
    before = X.copy()
    separability(X, rng.permutation([0, 1] * 10))
    assert (before != X).nnz == 0


INF, NAN = float("inf"), float("nan")
WRONG = {
    "one class": (([[0.0], [1.0]], [1, 1]), "one class"),
    "NaN": (([[NAN], [1.0]], [0, 1]), "NaN|infinity"),
    "infinity": (([[INF], [1.0]], [0, 1]), "NaN|infinity"),
    "NaN in CSR": ((sparse.csr_matrix([[NAN], [1.0]]), [0, 1]), "NaN|infinity"),
    "no rows": ((np.empty((0, 2)), []), "at least one row"),
    "no columns": ((np.empty((2, 0)), [0, 1]), "one feature"),
    "a vector": (([0.0, 1.0], [0, 1]), "reshape"),
    "lengths": (([[0.0], [1.0]], [0, 1, 1]), "2 rows"),
    "complex": (([[1j], [1.0]], [0, 1]), "Complex"),
    "words": (([["a"], ["b"]], [0, 1]), "numbers"),
    "rounded integers": (([[2**53 + 1], [0]], [0, 1]), "float64 would round"),
    "fractions": (([[Fraction(1, 3)], [Fraction(1)]], [0, 1]), "float64 would round"),
    "huge integers": (([[10**400], [0]], [0, 1]), "numbers"),
    "real labels": (([[0.0], [1.0]], [0.5, 1.5]), "real numbers"),
    "NaN labels": (([[0.0], [1.0]], [NAN, 1.0]), "every row needs a label"),
    "None labels": (([[0.0], [1.0]], np.array([None, "a"], object)), "every row needs a label"),
    "pandas' NA": (([[0.0], [1.0]], pd.Series(["a", pd.NA])), "every row needs a label"),
    "mixed labels": (([[0.0], [1.0]], np.array([1, "a"], object)), "no order"),
    "label objects": (([[0.0], [1.0]], np.array([{}, "a"], object)), "neither strings"),
}


@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
def test_bad_data_are_refused_in_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        separability(*arguments)


@pytest.mark.parametrize("weights", [[1, -1], [1, NAN], [1, INF], [0, 0], [1], [1, 0]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ValueError, match=r"sample_weight|one class"):
        separability([[0.0], [1.0]], [0, 1], sample_weight=weights)


@pytest.mark.parametrize("limit", [-1.0, NAN])
def test_bad_time_limits_are_refused(limit):
    with pytest.raises(ValueError, match="time_limit"):
        separability(*AND, time_limit=limit)


def test_no_time_is_undecided_and_the_proof_of_nothing_holds():
    found = separability(*AND, time_limit=0)
    assert found.verdict == "undecided"
    assert found.margin is None
    assert found.coef is None
    assert found.check(*AND)


def test_pairs_that_ran_out_of_time_name_the_limit_that_was_given(rng, monkeypatch):
    clock = iter(range(10**6))  # a second a look
    monkeypatch.setattr("time.thread_time", lambda: next(clock))
    X, y = rng.standard_normal((300, 12)), np.arange(300) % 3
    found = separability(X, y, pairwise=True, time_limit=2.5)
    told = [part.sentence for part in found.pairwise.values() if part.verdict == "undecided"]
    assert told
    assert set(told) == {"the time limit of 2.5 s was over"}
