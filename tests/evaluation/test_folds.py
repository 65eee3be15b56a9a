"""Folds: every row once, classes, groups and times as they should be, in any order of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline.evaluation.folds import _strata, folds, share_out

kinds = st.sampled_from(["classes", "text", "numbers", "rare"])


def target(kind, rng, n):
    return {
        "classes": rng.integers(0, 3, n),
        "text": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
        "numbers": rng.standard_normal(n),
        "rare": (np.arange(n) % 17 == 0).astype(int),
    }[kind]


@settings(deadline=None, max_examples=60)
@given(kinds, st.integers(2, 120), st.integers(2, 12), st.integers(0, 2**32))
def test_every_row_is_predicted_once_and_never_learned_from_then(kind, n, k, seed):
    rng = np.random.default_rng(seed)
    y = target(kind, rng, n)
    found = folds(y, k, seed=seed)
    tested = np.concatenate([test for _, test in found])
    assert np.array_equal(np.sort(tested), np.arange(n))
    for train, test in found:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
    sizes = [len(test) for _, test in found]
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == min(k, n)


@settings(deadline=None, max_examples=60)
@given(kinds, st.integers(4, 120), st.integers(2, 10), st.integers(0, 2**32))
def test_the_order_of_rows_changes_no_fold(kind, n, k, seed):
    rng = np.random.default_rng(seed)
    y, order = target(kind, rng, n), rng.permutation(n)
    for more in ({}, {"groups": rng.integers(0, 7, n)}, {"times": rng.integers(0, 9, n)}):
        try:
            found = folds(y, k, seed=seed, **more)
        except ValueError:
            continue
        mixed = {key: value[order] for key, value in more.items()}
        again = folds(y[order], k, seed=seed, places=order, **mixed)
        assert [set(test) for _, test in found] == [set(order[test]) for _, test in again]


def test_each_fold_has_its_part_of_every_class(rng):
    y = np.repeat(["a", "b", "c"], [97, 30, 10])[rng.permutation(137)]
    for _, test in folds(y, 10):
        for label, count in (("a", 97), ("b", 30), ("c", 10)):
            assert abs(np.sum(y[test] == label) - count / 10) < 1


def test_each_fold_has_its_part_of_small_and_large_numbers(rng):
    y = rng.standard_normal(200)
    for _, test in folds(y, 10):
        below = np.searchsorted(np.sort(y), y[test]) // 10
        assert np.array_equal(np.sort(below), np.arange(20))


def test_seeds_make_other_folds(rng):
    for y in (rng.standard_normal(60), rng.integers(0, 2, 60), np.arange(60)):
        a, b = (folds(y, 5, seed=s).pairs[0][1].tolist() for s in (0, 1))
        assert a != b


@settings(deadline=None, max_examples=60)
@given(st.integers(4, 100), st.integers(2, 30), st.integers(2, 8), st.integers(0, 2**32))
def test_no_group_is_learned_from_and_predicted(n, count, k, seed):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, count, n), rng.integers(0, 2, n)
    different = len(np.unique(groups))
    if different < 2:
        with pytest.raises(ValueError, match="one group"):
            folds(y, k, groups=groups)
        return
    found = folds(y, k, groups=groups, seed=seed)
    assert len(found) == min(k, different)
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
    assert np.array_equal(np.sort(np.concatenate([t for _, t in found])), np.arange(n))


def test_groups_are_spread_by_class(rng):
    groups = np.repeat(np.arange(40), 5)
    y = np.repeat(np.arange(40) % 4 == 0, 5)
    for _, test in folds(y, 5, groups=groups):
        assert 0.1 < y[test].mean() < 0.4


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 100), st.integers(1, 40), st.integers(2, 8), st.integers(0, 2**32))
def test_time_is_predicted_from_the_past(n, count, k, seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, count, n)
    if len(np.unique(times)) < 2:
        with pytest.raises(ValueError, match="one time"):
            folds(times, k, times=times)
        return
    found = folds(rng.standard_normal(n), k, times=times)
    assert 1 <= len(found) <= k
    tested = [test for _, test in found]
    assert len(np.unique(np.concatenate(tested))) == sum(map(len, tested))
    for train, test in found:
        assert len(train)
        assert times[train].max() < times[test].min()
    first = found.pairs[0][0]
    assert len(first) + sum(map(len, tested)) == n


def test_times_may_be_dates_or_text():
    days = np.array(["2024-03-01", "2024-01-01", "2024-02-01"], dtype="datetime64[D]")
    for times in (days, days.astype(str), days.astype(str).astype(object)):
        found = folds([1.0, 2.0, 3.0], 2, times=times)
        assert [test.tolist() for _, test in found] == [[2], [0]]


def test_what_makes_no_folds_is_refused_in_words():
    with pytest.raises(ValueError, match="2 or more"):
        folds([0, 1, 1], 1)
    with pytest.raises(ValueError, match="both given"):
        folds([0, 1, 1], 2, groups=[0, 1, 2], times=[0, 1, 2])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\)"):
        folds([0, 1, 1], 2, groups=[0, 1])
    with pytest.raises(ValueError, match="missing values"):
        folds([0, 1, 1], 2, groups=["a", None, "b"])
    with pytest.raises(ValueError, match="missing values"):
        folds([0, 1, 1], 2, times=[0.0, np.nan, 1.0])


@settings(deadline=None, max_examples=60)
@given(kinds, st.integers(2, 200), st.sampled_from([0.1, 0.2, 0.25, 0.5]), st.integers(0, 2**32))
def test_a_share_is_held_out_of_every_class(kind, n, share, seed):
    rng = np.random.default_rng(seed)
    y, order = target(kind, rng, n), rng.permutation(n)
    out = share_out(y, share, seed=seed)
    assert abs(out.sum() - share * n) <= 0.5
    if kind != "numbers" and len(np.unique(y)) * 3 <= n:
        for label in np.unique(y):
            assert abs(out[y == label].sum() - share * np.sum(y == label)) <= 1
    assert np.array_equal(share_out(y[order], share, seed=seed, places=order), out[order])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y": [1.0]}, r"y has shape \(1,\); folds need two rows or more"),
        ({"y": np.zeros((2, 2, 2))}, r"y has shape \(2, 2, 2\)"),
        ({"cv": 2.5}, "cv is 2.5; expected how many folds there are, 2 or more"),
        ({"cv": "five"}, "cv is 'five'"),
        ({"seed": 0.5}, "seed is 0.5; expected a whole number"),
        ({"places": [0, 1]}, r"places has shape \(2,\); expected 4 whole numbers"),
        ({"places": [0.0, 1.0, 2.0, 3.0]}, "expected 4 whole numbers"),
    ],
)
def test_folds_of_nothing_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        folds(**({"y": [0, 1, 0, 1]} | given))


def test_folds_say_what_they_are():
    y = np.arange(6.0)
    assert folds(y, 2).way == "2-fold cross-validation"
    assert folds(y, 6).way == folds(y, 60).way == "leave-one-out cross-validation"
    assert folds(y, 5).way == "5-fold cross-validation"
    groups = [0, 0, 1, 1, 2, 2]
    assert folds(y, 9, groups=groups).way == "3-fold cross-validation over 3 groups"
    assert folds(y, 2, times=y).way == "2 spans of time predicted from what came before"
    assert folds(y, 9, times=groups).way == "2 spans of time predicted from what came before"
    one = folds(y, 3, times=[0, 1, 1, 1, 1, 1])
    assert one.way == "1 span of time predicted from what came before"
    assert [a.tolist() for a in one.pairs[0]] == [[0], [1, 2, 3, 4, 5]]


def test_a_time_of_very_many_rows_is_one_span():
    found = folds(np.arange(12.0), 3, times=[0] * 9 + [1, 2, 3])
    assert [len(test) for _, test in found] == [3]
    assert found.pairs[0][0].tolist() == list(range(9))
    even = folds(np.arange(8.0), 3, times=np.arange(8))
    assert [test.tolist() for _, test in even] == [[2, 3], [4, 5], [6, 7]]


def test_large_groups_are_shared_out_evenly():
    """Groups of 6, 4, 3, 2 and 1 rows in two folds: 8 rows each."""
    groups = np.repeat(np.arange(5), [6, 4, 3, 2, 1])
    found = folds(np.linspace(0, 1, 16), 2, groups=groups)
    assert sorted(len(test) for _, test in found) == [8, 8]


def test_thirty_classes_are_balanced_over_groups_and_thirty_one_are_not():
    for K, balanced in ((30, True), (31, False)):
        y = np.repeat(np.arange(K), 10)
        assert (np.ptp(_strata(y)) > 0) == balanced
