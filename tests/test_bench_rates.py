"""bench/bench_rates.py: its problems are what they are said to be, and its scores are scores."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

BENCH = Path(__file__).parents[1] / "bench"
GENERATED = ["Zipf, 50 words tell", "heavy tails", "drifting weights", "one class is rare"]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("bench_rates")


@pytest.mark.parametrize("name", GENERATED)
def test_rows_follow_from_the_seed_and_have_both_classes(bench, name):
    def numbers(seed):
        X = bench.split_of(name, 300, seed).train[0]
        return X.toarray() if sparse.issparse(X) else X

    at = bench.split_of(name, 300, 0)
    assert (at.train[0].shape[0], at.test[0].shape[0]) == (210, 90)
    assert set(at.train[1]) == {0, 1}
    assert np.array_equal(numbers(0), numbers(0))
    assert not np.array_equal(numbers(0), numbers(1))


def test_rows_that_drift_stay_in_order(bench):
    name = "drifting weights"
    X, y = bench.PROBLEMS[name](200, np.random.default_rng([3, *map(ord, name)]))
    at = bench.split_of(name, 200, 3)
    assert np.array_equal(np.vstack([at.train[0], at.test[0]]), X)
    assert np.array_equal(np.concatenate([at.train[1], at.test[1]]), y)


def test_the_best_setting_counts_and_is_no_worse_than_one_of_them(bench):
    who = {"adaline": [bench.automatic], "SGD": [bench.sgd], "SGD best": [bench.sgd]}
    who["SGD best"] += [lambda at: bench.sgd(at, learning_rate="invscaling", eta0=0.1, power_t=0.5)]
    scores = bench.measured("heavy tails", who, 600, 2)
    assert scores["SGD best"].loss <= scores["SGD"].loss
    assert bench.behind(scores) == scores["adaline"].loss / scores["SGD best"].loss
    assert 0.5 < scores["adaline"].accuracy <= 1.0


def test_a_score_is_the_mean_of_the_logarithms(bench):
    got = bench.score(np.array([0, 1, 1]), np.array([0.25, 0.75, 0.5]))
    assert got.loss == pytest.approx(-(2 * np.log(0.75) + np.log(0.5)) / 3)
    assert got.accuracy == pytest.approx(2 / 3)  # a half decides for class 0


def test_sparse_rows_are_named_without_their_zeros(bench):
    X = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert list(bench.named_rows(sparse.csr_matrix(X))) == [{1: 2.0}, {0: 3.0}]
    assert list(bench.named_rows(X)) == [{0: 0.0, 1: 2.0}, {0: 3.0, 1: 0.0}]
