"""Cross-validation: the predictions of scikit-learn on the same folds, counted once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import adaline
from adaline.evaluation.cross_validation import Folds, fitted, folds, predict_folds


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


def test_labels_and_areas_are_those_of_scikit_learn(rng):
    X, y = classes(rng)
    parts = folds(y, 5)
    found = adaline.cross_validated(adaline.LogisticRegression(), X, y, parts)
    theirs = Theirs(C=1.0, tol=1e-10)
    assert np.array_equal(found.answers.predicted, cross_val_predict(theirs, X, y, cv=list(parts)))
    won = pairs = 0.0
    for train, test in parts:  # the area compares rows of one fold
        score = theirs.fit(X[train], y[train]).decision_function(X[test])
        size = np.sum(y[test] == "yes") * np.sum(y[test] == "no")
        won, pairs = won + size * roc_auc_score(y[test], score), pairs + size
    assert_allclose(found.quality.facts()["auc"], won / pairs, rtol=1e-9)
    assert found.quality.n == len(y)
    assert len(found.per_fold) == 5
    assert found.spread["least"] <= found.quality.facts()["accuracy"] <= found.spread["largest"]


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


def test_the_model_that_came_is_not_changed(rng):
    model = adaline.LogisticRegression()
    adaline.cross_validated(model, *classes(rng))
    assert not hasattr(model, "coef_")


def test_what_cannot_be_done_is_said(rng):
    X, y = numbers(rng)
    with pytest.raises(ValueError, match="expected an estimator"):
        adaline.cross_validated(adaline.Ridge, X, y)
    with pytest.raises(ValueError, match="give one y for each row"):
        adaline.cross_validated(adaline.Ridge(), X, y[:-1])
    with pytest.raises(ValueError, match="rows beyond"):
        adaline.cross_validated(adaline.Ridge(), X[:50], y[:50], folds(y, 3))
    with pytest.raises(ValueError, match=r"fold 1 of 2 cannot be trained on .* fewer folds"):
        adaline.cross_validated(
            adaline.LogisticRegression(),
            X[:40],
            ["a"] * 20 + ["b"] * 20,
            2,
            times=np.arange(40),
        )


@pytest.mark.parametrize("learner", ["LogisticRegression", "GaussianClassifier", "Ridge"])
def test_the_report_of_a_cross_validation_says_what_it_found(rng, learner):
    pytest.importorskip("jinja2")
    X, y = numbers(rng) if learner == "Ridge" else classes(rng)
    found = adaline.cross_validated(getattr(adaline, learner)(), X, y)
    report = adaline.Report.of(found.model, X, y, cross_validated=found)
    assert report.verdict[0] == found.sentence
    facts = found.quality.facts()
    pictures = {p.key: p.display for p in report.pictures}
    if learner == "Ridge":
        assert pictures["prediction"].r2 == facts["r2"]
        assert np.array_equal(pictures["prediction"].predicted, found.answers.predicted)
    else:
        assert np.trace(pictures["confusion"].confusion_matrix) == facts["right"]
        assert pictures["roc"].roc_auc == facts["auc"]
    with pytest.raises(ValueError, match="Give the same rows"):
        adaline.Report.of(found.model, X[:50], y[:50], cross_validated=found)


def test_folds_without_an_r2_are_compared_by_their_errors(rng):
    X = rng.standard_normal((12, 1))
    y = np.repeat([0.0, 1.0, 2.0], 4)
    parts = Folds(tuple((np.flatnonzero(y != v), np.flatnonzero(y == v)) for v in (0, 1, 2)), "so")
    found = adaline.cross_validated(adaline.Ridge(alpha=1.0), X, y, parts)
    errors = [f["rmse"] for f in found.per_fold]
    assert all(f["r2"] is None for f in found.per_fold)
    assert found.spread["measure"] == "root mean squared error"
    assert (found.spread["count"], found.spread["least"]) == (3, min(errors))
    one = adaline.cross_validated(adaline.Ridge(alpha=1.0), X, y, Folds(parts.pairs[:1], "so"))
    assert one.spread["deviation"] is None
    assert str(found) == found.sentence


def test_folds_of_two_rows_have_a_spread_and_of_one_row_none(rng):
    X, y = numbers(rng, 8)
    assert adaline.cross_validated(adaline.Ridge(alpha=1.0), X, y, 4).spread["count"] == 4
    assert adaline.cross_validated(adaline.Ridge(alpha=1.0), X, y, 5).spread == {}


@pytest.mark.parametrize(
    ("model", "X", "y", "sentence"),
    [
        (adaline.Ridge(), np.ones(4), np.ones(4), r"X has shape \(4,\); expected rows and columns"),
        (adaline.Ridge(), np.ones((4, 1)), np.ones((4, 1, 1)), "give one y for each row"),
        (object(), np.ones((4, 1)), np.ones(4), "expected an estimator, such as Ridge"),
        (SimpleNamespace(fit=len), np.ones((4, 1)), np.ones(4), "expected an estimator"),
    ],
)
def test_more_that_cannot_be_done_is_said(model, X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        adaline.cross_validated(model, X, y)


def test_folds_may_reach_the_last_row_and_no_farther(rng):
    X, y = numbers(rng, 10)
    parts = folds(y, 2)
    assert adaline.cross_validated(adaline.Ridge(), X, y, parts).quality.n == 10
    with pytest.raises(ValueError, match="cv has rows beyond the 9 that X has"):
        adaline.cross_validated(adaline.Ridge(), X[:9], y[:9], parts)


def test_who_wants_to_know_hears_of_each_fold(rng):
    X, y = numbers(rng, 12)
    heard = []
    model = adaline.Ridge(alpha=1.0)
    predict_folds(model, fitted(model, X, y), X, y, folds(y, 3), after=lambda *n: heard.append(n))
    assert heard == [(1, 3), (2, 3), (3, 3)]


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


def test_each_fold_has_its_part_of_every_class(rng):
    y = np.repeat(["a", "b", "c"], [97, 30, 10])[rng.permutation(137)]
    for _, test in folds(y, 10):
        for label, count in (("a", 97), ("b", 30), ("c", 10)):
            assert abs(np.sum(y[test] == label) - count / 10) < 1


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


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y": [1.0]}, r"y has shape \(1,\); folds need two rows or more"),
        ({"y": np.zeros((2, 2, 2))}, r"y has shape \(2, 2, 2\)"),
        ({"cv": 2.5}, "cv is 2.5; expected a whole number, 2 or more"),
        ({"cv": "five"}, "cv is 'five'"),
        ({"seed": 0.5}, "seed is 0.5; expected a whole number"),
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


def test_large_groups_are_shared_out_evenly():
    """Groups of 6, 4, 3, 2 and 1 rows in two folds: 8 rows each."""
    groups = np.repeat(np.arange(5), [6, 4, 3, 2, 1])
    found = folds(np.linspace(0, 1, 16), 2, groups=groups)
    assert sorted(len(test) for _, test in found) == [8, 8]
