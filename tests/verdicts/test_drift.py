"""Two samples of rows against scipy's tests, and the sentence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adaline.verdicts.drift import drift


def test_distances_are_kolmogorov_and_smirnovs(rng):
    A, B = rng.standard_normal((300, 3)), np.array([0.0, 0.3, 2.0]) + rng.standard_normal((120, 3))
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
