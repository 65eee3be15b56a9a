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
from adaline.evaluation.compare import NO_MODEL, Compared, Comparison, kind_of_target
from adaline.evaluation.cross_validation import folds


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
    y = X[:, 0] + 0.6 * X[:, 1] + 2 * rng.standard_normal(2000)

    class First(adaline.LeastSquares):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.column_stack([X[:, 0], 0 * X[:, 0]]), y)

    found = adaline.compare(X, y, {"both": adaline.LeastSquares(), "one": First()})
    one = next(row for row in found.rows if row.name == "one")
    assert found.best.name == "both"
    assert not one.is_as_good
    assert one.high > found.best.low
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
def test_what_a_target_kind_of_target(y, kind):
    assert kind_of_target(np.asarray(y)) == kind


def test_wrong_learners_are_refused(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for wrong in ("clases", 3, ["ridge"]):
        with pytest.raises(ValueError, match="learners"):
            adaline.compare(X, y, wrong)
    with pytest.raises(ValueError, match="time_limit"):
        adaline.compare(X, y, time_limit=0)


def test_wrong_rows_are_refused(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for wrong in (y[:19], np.column_stack([y, y])):
        with pytest.raises(ValueError, match="X has shape"):
            adaline.compare(X, wrong)
    with pytest.raises(ValueError, match=r"X has shape \(20, 0\)"):
        adaline.compare(X[:, :0], y)
    with pytest.raises(ValueError, match="NaN"):
        adaline.compare(np.where(X > 1, np.nan, X), y)


@pytest.mark.parametrize("wrong", [adaline.Ridge, "ridge", SimpleNamespace(fit=len), None])
def test_learners_that_are_none_are_refused(rng, wrong):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for learners in ([wrong], {"one": wrong}):
        with pytest.raises(ValueError, match=r"learners holds .*; expected estimators"):
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


def row(name, measure, p=None, seconds=0.1234, **facts):
    facts = {"auc": 0.87654, "rmse": 1.23456} | facts
    ends = (None, None) if measure is None else (measure - 0.1, measure + 0.1)
    return Compared(name, measure, *ends, None if p is None else 0.1, p, seconds, facts)


def compared(*rows, measure="accuracy"):
    return Comparison(rows, measure, 1000, "10-fold cross-validation")


FAR, NEAR = 0.01234, 0.5


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        ((FAR, FAR, FAR), "The others are significantly worse (exact McNemar test)."),
        ((FAR, NEAR, FAR), "not significantly better than second (exact McNemar test)"),
        ((FAR, NEAR, NEAR), "not significantly better than second, third (exact"),
        ((NEAR, NEAR, FAR), "not significantly better than no model (exact McNemar test, p = 0.5)"),
        ((FAR, 0.0501, FAR), "not significantly better than second (exact"),
    ],
)
def test_the_best_is_told_with_those_that_cannot_be_told_from_it(behind, words):
    nothing, second, third = behind
    found = compared(
        row(NO_MODEL, 0.5, nothing),
        row("first", 0.8),
        row("second", 0.7, second),
        row("third", 0.6, third),
    )
    assert found.best.name == "first"
    assert found.sentence.startswith("Best: first, accuracy 80.0% (10-fold cross-validation, 1,000")
    assert words in found.sentence


@pytest.mark.parametrize(
    "rows",
    [
        [row(NO_MODEL, 0.5)],
        [row(NO_MODEL, 0.5), row("a", 0.5, NEAR)],
        [row(NO_MODEL, 0.5), row("a", 0.4, NEAR)],
        [row(NO_MODEL, 0.5), Compared("a", note="failed: no")],
        [row(NO_MODEL, -0.1), row("a", -0.2, NEAR)],
        [row(NO_MODEL, 0.0), row("a", 0.0, NEAR)],
    ],
)
def test_a_learner_that_does_not_beat_no_model_is_not_the_best(rows):
    found = compared(*rows)
    assert found.best is None
    assert found.sentence.startswith("No learner does better than no model")


def test_a_learner_as_good_as_the_mean_of_new_rows_can_be_the_best():
    """Without a model R² is negative on rows whose mean is another."""
    found = compared(row(NO_MODEL, -0.1, FAR), row("a", 0.0), measure="R²")
    assert found.best.name == "a"
    assert "R² 0.0%" in found.sentence


def test_cells_of_classes():
    found = compared(
        row(NO_MODEL, 0.5, FAR, seconds=None, auc=None),
        row("first", 0.8),
        Compared("broken", note="failed: no"),
    )
    head, rows = found.cells()
    assert head == ["learner", "accuracy", "95% interval", "AUC", "p (McNemar)", "fit, s"]
    assert rows == [
        [NO_MODEL, "50.0%", "40.0 to 60.0%", "", "0.0123", ""],
        ["first", "80.0%", "70.0 to 90.0%", "0.877", "best", "0.12"],
        ["broken", "", "", "", "failed: no", ""],
    ]
    assert str(found).endswith(f"\n\n{found.sentence}")
    lines = str(compared(row(NO_MODEL, 0.05, FAR), row("first", 1.0))).split("\n")
    assert lines[1].startswith("no model      5.0%  ")  # names to the left, numbers to the right
    assert lines[2].startswith("first       100.0%  ")


def test_cells_of_numbers_and_of_three_classes():
    numbers = compared(row(NO_MODEL, 0.0, 1e-9), row("a", 0.5), row("b", 0.4), measure="R²")
    head, rows = numbers.cells()
    assert head[3:] == ["RMSE", "p (t test)", "fit, s"]
    assert rows[0][3:5] == ["1.23", "< 0.0001"]
    assert rows[2][4] == ""  # not the best, and not compared with it
    three = compared(row(NO_MODEL, 0.5, FAR, auc=None), row("a", 0.8, auc=None))
    head, rows = three.cells()
    assert head == ["learner", "accuracy", "95% interval", "p (McNemar)", "fit, s"]
    assert rows[1] == ["a", "80.0%", "70.0 to 90.0%", "best", "0.12"]


@pytest.mark.parametrize("ends", [(None, 0.5), (0.5, None)])
def test_without_both_ends_there_is_no_interval(ends):
    one = Compared("a", 0.5, *ends, None, None, 1.0, {"auc": None})
    assert compared(row(NO_MODEL, 0.5), one).cells()[1][1][2] == ""
