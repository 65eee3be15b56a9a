"""Cross-validation: the predictions of scikit-learn on the same folds, counted once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import adaline
from adaline.evaluation.cross_validation import folds


def classes(rng, n=120):
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0.4, "yes", "no")


def numbers(rng, n=80):
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, -2.0, 0.0] + rng.standard_normal(n)


def test_predictions_are_those_of_scikit_learn_on_the_same_folds(rng):
    X, y = numbers(rng)
    parts = folds(y, 7)
    found = adaline.cross_validated(adaline.LeastSquares(), X, y, parts)
    expected = cross_val_predict(adaline.LeastSquares(), X, y, cv=list(parts))
    assert_allclose(found.answers.predicted, expected, rtol=1e-12)
    assert_allclose(found.quality.facts()["r2"], r2_score(y, expected), rtol=1e-12)
    assert_allclose(found.model.coef_, adaline.LeastSquares().fit(X, y).coef_, rtol=0)


def test_leaving_out_one_row_at_a_time_is_exact_leave_one_out(rng):
    X, y = numbers(rng, 40)
    found = adaline.cross_validated(adaline.Ridge(alpha=2.0), X, y, 40)
    Z = np.column_stack([np.ones(40), X])
    H = Z @ np.linalg.solve(Z.T @ Z + 2.0 * np.diag([0, 1, 1, 1]), Z.T)
    expected = y - (y - H @ y) / (1 - np.diag(H))
    assert_allclose(found.answers.predicted, expected, rtol=1e-9)
    assert "leave-one-out cross-validation, 40 rows" in found.sentence
    assert found.spread == {}


def test_sparse_rows_and_weights_go_the_same_way(rng):
    X, y = numbers(rng)
    omega = rng.random(80) + 0.5
    dense = adaline.cross_validated(adaline.Ridge(), X, y, sample_weight=omega)
    thin = adaline.cross_validated(adaline.Ridge(), sparse.csr_matrix(X), y, sample_weight=omega)
    assert_allclose(thin.answers.predicted, dense.answers.predicted, rtol=1e-8)
    plain = adaline.cross_validated(adaline.Ridge(), X, y)
    assert not np.allclose(plain.answers.predicted, dense.answers.predicted)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        adaline.cross_validated(KNeighborsClassifier(), *classes(rng), sample_weight=np.ones(120))


def test_a_class_that_a_fold_has_not_seen_has_probability_zero(rng):
    X = rng.standard_normal((60, 2))
    y = np.array(["a", "b"] * 20 + ["c"] * 20)
    found = adaline.cross_validated(adaline.GaussianClassifier(), X, y, 5, times=np.arange(60))
    assert found.rows[0] > 0  # the first span is learned from only
    assert found.answers.log_p.shape == (len(found.rows), 3)
    assert np.isneginf(found.answers.log_p).any()
    assert found.quality.facts()["log_loss"] == np.inf


WRONG_FOLDS = {
    "2 or more": {"cv": 1},
    "cv is 2.5": {"cv": 2.5},
    "both given": {"groups": [0, 1, 2, 2], "times": [0, 1, 2, 2]},
    "groups has shape": {"groups": [0, 1]},
    "groups has missing": {"groups": ["a", None, "b", "b"]},
    "times has missing": {"times": [0.0, np.nan, 1.0, 1.0]},
    "times are all equal": {"times": [1, 1, 1, 1]},
    "y has shape": {"y": [1.0]},
    "seed": {"seed": 0.5},
}


@pytest.mark.parametrize(("word", "given"), WRONG_FOLDS.items(), ids=WRONG_FOLDS)
def test_what_makes_no_folds_is_refused(word, given):
    with pytest.raises(ValueError, match=word):
        folds(**({"y": [0, 1, 0, 1]} | given))


def test_what_cannot_be_trained_is_refused(rng):
    X, y = numbers(rng)
    with pytest.raises(TypeError, match="Cannot clone"):
        adaline.cross_validated(adaline.Ridge, X, y)
    with pytest.raises(ValueError, match="y has shape"):
        adaline.cross_validated(adaline.Ridge(), X, y[:-1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        adaline.cross_validated(adaline.Ridge(), X[:, 0], y)
    with pytest.raises(IndexError, match="out of bounds"):
        adaline.cross_validated(adaline.Ridge(), X[:50], y[:50], folds(y, 3))
    labels = ["a"] * 20 + ["b"] * 20
    with pytest.raises(ValueError, match="fold 1 of 2"):
        adaline.cross_validated(
            adaline.LogisticRegression(), X[:40], labels, 2, times=np.arange(40)
        )


def target(kind, rng, n):
    return {
        "text": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
        "numbers": rng.standard_normal(n),
        "rare": (np.arange(n) % 17 == 0).astype(int),
    }[kind]


SIZES = st.integers(4, 120), st.integers(2, 12), st.integers(0, 2**32)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(["text", "numbers", "rare"]), *SIZES)
def test_every_row_is_predicted_once_and_never_learned_from_then(kind, n, k, seed):
    parts = folds(target(kind, np.random.default_rng(seed), n), k, seed=seed)
    tested = np.concatenate([test for _, test in parts])
    assert np.array_equal(np.sort(tested), np.arange(n))
    for train, test in parts:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
    sizes = [len(test) for _, test in parts]
    assert max(sizes) - min(sizes) <= 1
    assert len(parts) == min(k, n)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 30), *SIZES)
def test_no_group_is_learned_from_and_predicted(count, n, k, seed):
    rng = np.random.default_rng(seed)
    groups, y = np.append(rng.integers(0, count, n), count), rng.integers(0, 2, n + 1)
    parts = folds(y, k, groups=groups, seed=seed)
    assert len(parts) == min(k, len(np.unique(groups)))
    for train, test in parts:
        assert not set(groups[train]) & set(groups[test])
    assert np.array_equal(np.sort(np.concatenate([t for _, t in parts])), np.arange(n + 1))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), *SIZES)
def test_time_is_predicted_from_the_past(count, n, k, seed):
    rng = np.random.default_rng(seed)
    times = np.append(rng.integers(0, count, n), count)
    parts = folds(rng.standard_normal(n + 1), k, times=times)
    assert 1 <= len(parts) <= k
    for train, test in parts:
        assert times[train].max() < times[test].min()
    tested = np.concatenate([test for _, test in parts])
    assert np.array_equal(np.sort([*parts.pairs[0][0], *tested]), np.arange(n + 1))


def test_times_may_be_dates_or_text():
    days = np.array(["2024-03-01", "2024-01-01", "2024-02-01"], dtype="datetime64[D]")
    for times in (days, days.astype(str), days.astype(str).astype(object)):
        found = folds([1.0, 2.0, 3.0], 2, times=times)
        assert [test.tolist() for _, test in found] == [[2], [0]]
