"""Learners side by side: the same folds, failures in a word, and no claim beyond the rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

import adaline
from adaline.evaluation import compare as compare_module
from adaline.evaluation.compare import suits
from adaline.evaluation.folds import folds


def test_every_learner_of_classes_is_tried(rng):
    X = rng.standard_normal((150, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(150) > 0, "yes", "no")
    found = adaline.compare(X, y, time_limit=1e6)  # a slow machine leaves none away
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


def test_numbers_and_counts_have_their_learners(rng):
    X = rng.standard_normal((100, 2))
    found = adaline.compare(X, X[:, 0] + rng.standard_normal(100))
    assert {row.name for row in found.rows} == {
        "no model",
        "least-squares",
        "ridge",
        "widrow-hoff",
    }
    assert found.measure == "R²"
    counts = adaline.compare(X, rng.poisson(np.exp(1 + X[:, 0])))
    assert "poisson" in {row.name for row in counts.rows}


def test_a_paired_difference_is_told_apart_where_intervals_are_not(rng):
    # Both learners err on the same rows by the same noise: pairs see the small difference.
    X = rng.standard_normal((2000, 2))
    y = X[:, 0] + 0.5 * X[:, 1] + 2 * rng.standard_normal(2000)

    class First(adaline.LeastSquares):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.column_stack([X[:, 0], 0 * X[:, 0]]), y)

    found = adaline.compare(X, y, {"both": adaline.LeastSquares(), "one": First()})
    one = next(row for row in found.rows if row.name == "one")
    assert found.best.name == "both"
    assert not one.is_as_good
    assert one.high > found.best.low
    assert "behind by more than chance" in found.sentence


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
    assert other.behind == wrong / n
    assert other.p == 2 * p  # two rows are compared with the best
    assert other.is_as_good == (p > 0.025)
    assert "McNemar" in found.sentence


def test_no_model_is_the_best_constant_for_the_rows_predicted(rng):
    # The majority of a training fold would be wrong for every row that is left out alone.
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    found = adaline.compare(X, y, [adaline.GaussianClassifier()], cv=20)
    assert found.rows[0].measure == 0.5
    numbers = adaline.compare(X, X[:, 0], [adaline.LeastSquares()], cv=20)
    assert numbers.rows[0].measure == pytest.approx(0, abs=1e-12)


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


def test_noise_is_said_to_be_noise(rng):
    X, y = rng.standard_normal((120, 3)), np.arange(120) % 2
    found = adaline.compare(X, y, "classes")
    assert "no model" in found.sentence


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


def test_a_slow_learner_is_left_out(rng):
    X = rng.standard_normal((60, 2))
    found = adaline.compare(X, X[:, 0] * 1.5, [adaline.Ridge()], time_limit=1e-9)
    assert found.rows[1].note.startswith("too slow")
    assert found.best is None


def test_learners_without_weights_say_so(rng):
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] > 0).astype(int)
    learners = {"logistic": adaline.LogisticRegression(), "neighbours": KNeighborsClassifier()}
    found = adaline.compare(X, y, learners, sample_weight=rng.random(60))
    notes = {row.name: row.note for row in found.rows}
    assert notes["neighbours"] == "takes no weights"
    assert notes["logistic"] == ""


def test_what_the_rows_behind_the_best_means(rng):
    X = rng.standard_normal((90, 2))
    y = np.where(X[:, 0] + rng.standard_normal(90) > 0, 1, 0)
    found = adaline.compare(X, y, [adaline.LogisticRegression(), adaline.Perceptron()])
    best = found.best
    for row in found.rows:
        if row.behind is not None:
            assert_allclose(row.behind, best.measure - row.measure, atol=1e-12)
            assert 0 <= row.p <= 1


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
        (list(range(10)) * 3, "classes"),  # ten values, three rows each
        (list(range(10)) * 3 + [10] * 3, "counts"),
        ([*range(10), *range(10), *range(9)], "counts"),  # less than three rows each
        ([0.5, 1.5, 2.5] * 5, "numbers"),
        ([-1, *range(20)], "numbers"),
        ([True, False, True], "classes"),
    ],
)
def test_what_a_target_suits(y, kind):
    assert suits(np.asarray(y)) == kind


def test_wrong_learners_are_refused(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for wrong in ("clases", 3, ["ridge"]):
        with pytest.raises(ValueError, match="expected estimators"):
            adaline.compare(X, y, wrong)
    with pytest.raises(ValueError, match="time_limit"):
        adaline.compare(X, y, time_limit=0)


def test_wrong_rows_are_refused(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for wrong in (y[:19], np.column_stack([y, y])):
        with pytest.raises(ValueError, match="X has 20 rows and y has shape"):
            adaline.compare(X, wrong)
    with pytest.raises(ValueError, match=r"X has shape \(20, 0\)"):
        adaline.compare(X[:, :0], y)
    with pytest.raises(ValueError, match="NaN"):
        adaline.compare(np.where(X > 1, np.nan, X), y)


@pytest.mark.parametrize("wrong", [adaline.Ridge, "ridge", SimpleNamespace(fit=len), None])
def test_learners_that_are_none_are_refused(rng, wrong):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for learners in ([wrong], {"one": wrong}):
        with pytest.raises(ValueError, match=r"learners holds .*; expected estimators, such as"):
            adaline.compare(X, y, learners)


def test_a_single_column_sparse_rows_and_whole_numbers_are_taken(rng):
    x = rng.integers(0, 9, (40, 1))
    y = x[:, 0] + rng.standard_normal(40)
    dense, thin = (
        adaline.compare(rows, y, [adaline.Ridge(alpha=1.0)]) for rows in (x, sparse.csr_array(x))
    )
    assert thin.best.measure == pytest.approx(dense.best.measure, rel=1e-9)


def test_learners_are_called_by_their_command_their_class_or_their_settings(rng):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    found = adaline.compare(X, y, [adaline.GaussianClassifier(), KNeighborsClassifier()])
    assert {row.name for row in found.rows} == {"no model", "gaussian", "KNeighborsClassifier"}
    twice = [adaline.Ridge(alpha=1.0), adaline.Ridge(alpha=2.0)]
    found = adaline.compare(X, X[:, 0], twice)
    assert {row.name for row in found.rows} == {"no model", "Ridge(alpha=1.0)", "Ridge(alpha=2.0)"}


def test_seeds_beyond_what_learners_take_are_folded():
    made = compare_module._made(adaline.Perceptron, 2**32 + 5)
    assert made.random_state == 5
    assert not hasattr(compare_module._made(adaline.LeastSquares, 7), "random_state")


def test_learners_that_compare_each_row_with_each_are_not_tried_on_many(rng, monkeypatch):
    monkeypatch.setattr(compare_module, "_PAIRS", 50)
    X = rng.standard_normal((51, 60))
    y = np.arange(51) % 2
    models = [adaline.KernelPerceptron(max_iter=2), adaline.LogisticRegression()]
    many, few = (adaline.compare(X[:n], y[:n], models, cv=2) for n in (51, 50))
    notes = {row.name: row.note for row in many.rows}
    assert notes == {
        "no model": "",
        "kernel-perceptron": "not tried: more than 50 rows",
        "logistic": "",
    }
    assert {row.note for row in few.rows} == {""}


def test_a_learner_that_is_always_wrong_comes_last(rng):
    class Wrong(adaline.LogisticRegression):
        def predict(self, X):
            return 1 - super().predict(X)

    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    found = adaline.compare(X, y, {"wrong": Wrong(), "right": adaline.LogisticRegression()})
    assert [row.name for row in found.rows] == ["no model", "right", "wrong"]
    assert found.rows[2].measure == 0.0


def test_numbers_are_behind_by_root_mean_squares(rng):
    X = rng.standard_normal((80, 2))
    y = 0.01 * (X[:, 0] + rng.standard_normal(80))
    found = adaline.compare(
        X, y, {"one": adaline.LeastSquares(), "other": adaline.Ridge(alpha=50.0)}
    )
    best = found.best.facts["rmse"]
    for row in found.rows:
        if row.behind is not None:
            assert row.behind == pytest.approx(row.facts["rmse"] - best, rel=1e-9, abs=1e-15)
            assert 0 <= row.p <= 1


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("It broke. Mend it.", "It broke"),
        ("It broke; mend it.", "It broke"),
        ("It broke\nhere", "It broke"),
    ],
)
def test_a_failure_is_told_in_few_words(text, short):
    assert compare_module._short(ValueError(text)) == short
