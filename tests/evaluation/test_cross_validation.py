"""Cross-validation: the predictions of scikit-learn on the same folds, counted once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import adaline
from adaline.evaluation.cross_validation import fitted, measured
from adaline.evaluation.folds import Folds, folds


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
    assert "40 rows in leave-one-out cross-validation" in found.sentence
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
    with pytest.raises(ValueError, match=r"fold 1 of 2 cannot be learned from .* fewer folds"):
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
        assert np.trace(pictures["confusion"].counts) == facts["right"]
        assert pictures["roc"].area == facts["auc"]
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
    measured(model, fitted(model, X, y), X, y, folds(y, 3), after=lambda *n: heard.append(n))
    assert heard == [(1, 3), (2, 3), (3, 3)]
