"""Two samples of rows against scipy's tests, and the sentence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adaline.evaluation import drift as drift_module
from adaline.evaluation.drift import Drift, drift


def test_distances_are_kolmogorov_and_smirnovs(rng):
    A, B = rng.standard_normal((300, 3)), np.array([0.0, 0.05, 2.0]) + rng.standard_normal((120, 3))
    A[:, 0], B[:, 0] = np.round(A[:, 0], 1), np.round(B[:, 0], 1)  # ties
    found = drift(A, B, ["a", "b", "c"])
    for j in range(3):
        twin = stats.ks_2samp(A[:, j], B[:, j])
        assert found.distance[j] == pytest.approx(twin.statistic, abs=1e-12)
        # Stephens' formula is an approximation: a tenth of p, or nothing where p is nothing.
        assert found.p[j] == pytest.approx(min(3 * twin.pvalue, 1.0), rel=0.15, abs=1e-6)
    assert found.moved == ["c"]


def test_columns_of_two_values_are_compared_by_their_shares(rng):
    a, b = rng.random(400) < 0.3, rng.random(200) < 0.5
    found = drift(a[:, None].astype(float), b[:, None].astype(float), ["flag"])
    table = [[a.sum(), 400 - a.sum()], [b.sum(), 200 - b.sum()]]
    assert found.p[0] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert found.distance[0] == pytest.approx(abs(a.mean() - b.mean()))


def test_equal_rows_do_not_drift_and_constant_columns_say_nothing(rng):
    X = np.column_stack([rng.standard_normal(500), np.ones(500)])
    found = drift(X[::2], X[1::2], ["a", "one"])
    assert found.moved == []
    assert found.distance[1] == 0.0
    assert "are like the 250 rows learned from" in found.sentence


def test_false_alarms_are_rare(rng):
    """A hundred pairs of samples of ten columns: at most a few per cent may differ by chance."""
    found = [
        drift(rng.random((80, 10)), rng.random((40, 10)), list("abcdefghij")).moved
        for _ in range(100)
    ]
    assert sum(map(bool, found)) <= 5


def test_the_sentence_names_the_columns_that_moved(rng):
    A, B = rng.standard_normal((300, 2)), np.array([5.0, 0.0]) + rng.standard_normal((100, 2))
    said = drift(A, B, ["age", "dose"]).sentence
    assert "differ from the 300 rows learned from: age, mean " in said
    assert "dose" not in said


def test_sparse_rows_and_single_rows_are_not_compared(rng):
    from scipy import sparse

    X = rng.standard_normal((10, 2))
    assert drift(sparse.csr_array(X), X, ["a", "b"]) is None
    assert drift(X, X[:1], ["a", "b"]) is None


def told(p, distance=None, means=((1.23456, 2.0), (3.45678, 4.0))):
    names = tuple("abcdefg"[: len(p)])
    distance = np.full(len(p), 0.5) if distance is None else np.asarray(distance)
    means = np.resize(np.asarray(means), (2, len(p)))
    return Drift(names, distance, np.asarray(p), means, (1000, 200))


@pytest.mark.parametrize(
    ("p", "distance", "moved"),
    [
        ([0.0099], [0.2], ["a"]),
        ([0.01], [0.2], []),
        ([0.001], [0.1], []),  # sure, but a trifle
        ([0.001], [0.1001], ["a"]),
        ([0.002, 0.001], [0.2, 0.2], ["b", "a"]),  # the surest first
        ([0.001, 0.001], [0.2, 0.3], ["b", "a"]),  # of equally sure ones the larger
    ],
)
def test_columns_move_where_they_differ_surely_and_by_more_than_a_trifle(p, distance, moved):
    assert told(p, distance).moved == moved


@pytest.mark.parametrize(
    ("count", "end"), [(3, ""), (4, "; and 1 column more"), (5, "; and 2 columns more")]
)
def test_three_columns_that_moved_are_named(count, end):
    means = np.array([np.arange(count) + 0.23456, np.arange(count) + 10.0])
    said = Drift(tuple("abcde"[:count]), np.full(count, 0.5), np.zeros(count), means, (1000, 200))
    assert said.sentence == (
        "The 200 rows that measure the quality differ from the 1,000 rows learned from: a, mean 10 "
        f"instead of 0.235; b, mean 11 instead of 1.23; c, mean 12 instead of 2.23{end}. The "
        "quality is that of such rows, and may be another for others."
    )


@pytest.mark.parametrize(
    ("p", "many"),
    [([0.5], "the column"), ([0.9, 0.5], "2 columns"), ([0.9, 0.5, 0.7], "3 columns")],
)
def test_rows_that_are_alike_are_told_with_the_column_that_differs_most(p, many):
    name = "b" if len(p) > 1 else "a"
    assert told(p).sentence == (
        "The 200 rows that measure the quality are like the 1,000 rows learned from: of "
        f"{many}, {name} differs most, by 50.0 % of the rows (p = 0.5, all columns taken into "
        "account)."
    )


def test_two_rows_and_a_thousand_columns_are_compared(rng):
    X = rng.standard_normal((2, 1000))
    found = drift(X, X + 1, list(map(str, range(1000))))
    assert found.p.max() == 1.0
    assert drift(rng.standard_normal((2, 1001)), X, []) is None
    assert drift(X[:, :1], X[:1, :1], ["a"]) is None
    np.testing.assert_allclose(found.means, [X.mean(axis=0), X.mean(axis=0) + 1])


def test_of_very_many_rows_evenly_spaced_ones_are_compared(monkeypatch):
    monkeypatch.setattr(drift_module, "_ROWS", 5)
    X = np.arange(9.0)[:, None]
    assert drift_module._some(X).ravel().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert drift_module._some(X[:5]) is not None
    assert len(drift_module._some(X[:5])) == 5


def test_a_constant_column_is_as_likely_as_can_be():
    found = drift(np.ones((3, 1)), np.ones((4, 1)), ["one"])
    assert (found.distance[0], found.p[0]) == (0.0, 1.0)
