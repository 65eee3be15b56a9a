"""Learners side by side: the same folds, failures in a word, and no claim beyond the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

import adaline
from adaline.evaluation.compare import kind_of_target
from adaline.evaluation.cross_validation import folds


def test_every_learner_of_classes_is_tried(rng):
    X = rng.standard_normal((150, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(150) > 0, "yes", "no")
    found = adaline.compare(X, y)
    names = [row.name for row in found.rows]
    assert names[0] == "no model"
    assert {"logistic", "gaussian", "perceptron", "least-squares-classifier"} <= set(names)
    logistic = next(row for row in found.rows if row.name == "logistic")
    alone = adaline.cross_validated(adaline.LogisticRegression(), X, y).quality.facts()
    assert logistic.measure == alone["accuracy"]
    assert logistic.facts["auc"] == alone["auc"]
    measures = [row.measure for row in found.rows[1:] if row.measure is not None]
    assert measures == sorted(measures, reverse=True)
    assert not found.rows[0].is_as_good
    assert all(len(line) <= 80 for line in str(found).split("\n")[:-1])


def test_a_paired_difference_is_told_apart(rng):
    # Both learners err on the same rows by the same noise: pairs see the small difference.
    X = rng.standard_normal((2000, 2))
    y = X[:, 0] + 0.6 * X[:, 1] + 2 * rng.standard_normal(2000)

    class First(adaline.LeastSquares):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.column_stack([X[:, 0], 0 * X[:, 0]]), y)

    found = adaline.compare(X, y, {"both": adaline.LeastSquares(), "one": First()})
    one = next(row for row in found.rows if row.name == "one")
    assert found.best.name == "both"
    assert not one.is_as_good
    assert "significantly worse" in found.sentence


class Recited(ClassifierMixin, BaseEstimator):
    """Says what the only column holds, but for the first `wrong` rows."""

    def __init__(self, wrong=0):
        self.wrong = wrong

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        at = np.rint(X[:, 0]).astype(int)
        return np.where(at < self.wrong, 1 - at % 2, at % 2)


@pytest.mark.parametrize(("n", "wrong", "p"), [(100, 4, 0.125), (4, 4, 0.125), (100, 6, 0.03125)])
def test_few_discordant_rows_are_judged_by_the_exact_test(n, wrong, p):
    X, y = np.arange(float(n))[:, np.newaxis], np.arange(n) % 2
    found = adaline.compare(X, y, {"right": Recited(), "other": Recited(wrong)}, cv=2)
    other = next(row for row in found.rows if row.name == "other")
    assert found.best.measure - other.measure == pytest.approx(wrong / n)
    assert other.p == 2 * p  # two rows are compared with the best
    assert other.is_as_good == (p > 0.025)
    assert "McNemar" in found.sentence


def test_means_are_judged_by_the_corrected_test_of_folds(rng):
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + rng.standard_normal(60)
    parts = folds(y, 5)
    found = adaline.compare(X, y, [adaline.LeastSquares()], cv=parts)
    d = []
    for train, test in parts:
        answer = adaline.LeastSquares().fit(X[train], y[train]).predict(X[test])
        d.append(np.mean((y[test] - np.mean(y)) ** 2 - (y[test] - answer) ** 2))
    t = np.mean(d) / np.sqrt((1 / 5 + 12 / 48) * np.var(d, ddof=1))
    assert found.rows[0].p == pytest.approx(2 * stats.t.sf(t, 4), rel=1e-9)
    assert "t test" in found.sentence


def test_a_failure_is_told_and_stops_nobody(rng):
    class Broken(adaline.Ridge):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("it is broken; mend it.")

    X = rng.standard_normal((60, 2))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    found = adaline.compare(X, y, {"broken": Broken(), "ridge": adaline.Ridge()})
    assert found.best.name == "ridge"
    assert found.rows[-1].note == "failed: it is broken"
    assert "it is broken" in str(found)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["a", "b"] * 5, "classes"),
        ([0, 1] * 5, "classes"),
        ([0.5, 1.5] * 5, "classes"),
        ([1, 2, 3] * 5, "classes"),
        (np.arange(20), "counts"),
        (np.arange(20) - 3, "numbers"),
        (np.linspace(0, 1, 20), "numbers"),
    ],
)
def test_what_a_target_kind_of_target(y, kind):
    assert kind_of_target(np.asarray(y)) == kind


def test_wrong_rows_are_refused(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for wrong in (y[:19], np.column_stack([y, y])):
        with pytest.raises(ValueError, match=r"inconsistent numbers|1d array"):
            adaline.compare(X, wrong)
    with pytest.raises(ValueError, match="0 feature"):
        adaline.compare(X[:, :0], y)
    with pytest.raises(ValueError, match="NaN"):
        adaline.compare(np.where(X > 1, np.nan, X), y)
