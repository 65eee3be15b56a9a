"""Effects of single columns: which are drawn, over which values, and what is said of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.evaluation.coefficients import Coefficients, coefficients
from adaline.evaluation.effects import Effect, effect_of_column, effects

NAMES = ["a", "b", "c", "d", "e", "f"]


def line(weights, **more):
    """A model of numbers."""
    w = np.asarray(weights, dtype=np.float64)
    return SimpleNamespace(predict=lambda X: X @ w, **more)


def classes(K, slope=1.0):
    """A model whose log-odds against class 0 are k slope times the first column."""

    def predict_proba(X):
        V = slope * X[:, :1] * np.arange(K)
        P = np.exp(V - V.max(axis=1, keepdims=True))
        return P / P.sum(axis=1, keepdims=True)

    return SimpleNamespace(predict_proba=predict_proba, classes_=np.array(list("klmnopqrs"[:K])))


def found(model, X, **more):
    return effects(model, Coefficients(), np.asarray(X), NAMES, None, **more)


@pytest.fixture
def X(rng):
    return rng.standard_normal((200, 6))


def test_the_columns_that_move_most_come_first_and_those_that_move_nothing_not(X):
    model = line([0.0, 1.0, -9.0, 3.0, 5.0, 7.0])
    assert [e.name for e in found(model, X)] == ["c", "f", "e", "d"]
    assert [e.name for e in found(model, X, most=9)] == ["c", "f", "e", "d", "b"]
    assert [e.name for e in found(model, X, most=1)] == ["c"]


def test_probabilities_that_hardly_move_are_not_drawn(X):
    """From -1 to 1 of the first column a probability moves by about slope / 2."""
    assert [e.name for e in found(classes(2, 0.02), X)] == ["a"]
    assert found(classes(2, 0.008), X) == ()


def test_what_has_no_effects():
    wide = np.zeros((5, 1001))
    wide[0] = 1.0
    assert found(line(np.ones(1001)), wide) == ()
    assert found(line([1.0]), [[1.0], [2.0]]) == ()  # two rows
    assert len(found(line([1.0]), [[1.0], [2.0], [3.0]])) == 1
    assert effects(line([1.0]), Coefficients(), sparse.csr_array(np.eye(3)), NAMES, None) == ()
    assert found(line([1.0]), [[1.0], [2.0], [np.inf]]) == ()
    silent = SimpleNamespace(predict=len, classes_=np.array([0, 1]))
    assert found(silent, np.eye(3)) == ()


def test_a_thousand_columns_are_tried():
    wide = np.zeros((3, 1000))
    wide[0] = 1.0
    names = list(map(str, range(1000)))
    assert len(effects(line(np.ones(1000)), Coefficients(), wide, names, None)) == 4


def test_values_go_from_low_to_high_and_usual_ones_a_deviation_about_the_mean():
    x = np.linspace(0.0, 100.0, 101)
    e = effect_of_column(line([2.0, 3.0]), Coefficients(), np.column_stack([x, x]), ["a", "b"], 0)
    assert (e.x[0], e.x[-1], len(e.x)) == (2.0, 98.0, 41)
    deviation = np.std(x)
    assert e.usual == pytest.approx((50.0 - deviation, 50.0 + deviation))
    np.testing.assert_allclose(e.y[:, 0], 2.0 * e.x + 3.0 * 50.0)
    assert (e.of, e.share) == (("the prediction",), False)
    low, high = (f"{v:.3g}" for v in e.usual)
    a, b = (f"{2 * v + 150:.3g}" for v in e.usual)
    assert e.sentence == f"From a {low} to {high}, the prediction goes from {a} to {b}"


def test_usual_values_stay_among_those_there_are():
    """Nine zeros and a hundred: a deviation below the mean would be negative."""
    x = np.array([0.0] * 8 + [1.0, 100.0])
    e = effect_of_column(line([1.0]), Coefficients(), x[:, None], ["a"], 0)
    assert e.usual == pytest.approx((0.0, x.mean() + x.std()))
    assert e.x[0] == 0.0
    assert e.x[-1] >= e.usual[1]
    e = effect_of_column(line([1.0]), Coefficients(), -x[:, None], ["a"], 0)
    assert e.usual == pytest.approx((-x.mean() - x.std(), 0.0))


def test_a_column_of_two_values_has_these_two():
    x = np.array([3.0, 5.0, 5.0, 5.0])[:, None]
    e = effect_of_column(line([2.0]), Coefficients(), x, ["a"], 0, "rent")
    assert (e.x.tolist(), e.usual, e.of) == ([3.0, 5.0], (3.0, 5.0), ("rent",))
    assert e.sentence == "From a 3 to 5, rent goes from 6 to 10"


def test_of_many_classes_the_six_that_change_most_are_drawn(X):
    two, six, nine = (found(classes(K), X)[0] for K in (2, 6, 9))
    assert (two.of, two.y.shape[1]) == (("l",), 1)
    assert six.of == tuple("klmnop")
    assert len(nine.of) == 6
    change = np.ptp(classes(9).predict_proba(np.outer(nine.x, [1.0, 0, 0, 0, 0, 0])), axis=0)
    assert set(nine.of) == {"klmnopqrs"[k] for k in np.argsort(-change)[:6]}
    assert nine.low is None
    assert "the probability of 'l' goes from" in two.sentence


def test_intervals_of_a_line_are_those_of_its_slope():
    x = np.linspace(0.0, 100.0, 101)[:, None]
    row = {"name": "a", "coef": 2.0, "low": 1.5, "high": 3.0}
    given = Coefficients(("coef", "low", "high"), (row,))
    e = effect_of_column(line([2.0], _intervals="values"), given, x, ["a"], 0)
    away = e.x - 50.0
    np.testing.assert_allclose(e.low[:, 0], e.y[:, 0] + np.minimum(-0.5 * away, 1.0 * away))
    np.testing.assert_allclose(e.high[:, 0], e.y[:, 0] + np.maximum(-0.5 * away, 1.0 * away))
    for kind, known in ((None, given), ("values", Coefficients())):
        assert effect_of_column(line([2.0], _intervals=kind), known, x, ["a"], 0).low is None
    half = Coefficients(("coef",), ({"name": "a", "coef": 2.0, "low": 1.0, "high": None},))
    assert effect_of_column(line([2.0], _intervals="values"), half, x, ["a"], 0).low is None


def test_the_sentence_speaks_of_what_moves_most():
    x, y = np.array([0.0, 1.0]), np.array([[0.1, 0.9], [0.6, 0.8]])
    e = Effect("dose", x, y, None, None, ("ill", "well"), (0.0, 1.0), True)
    assert e.sentence == "From dose 0 to 1, the probability of 'ill' goes from 10.0% to 60.0%"


COLUMNS = ["age", "dose", "city=Rome"]


@pytest.fixture
def rows(rng):
    X = np.column_stack([rng.normal(50, 10, 400), rng.normal(0, 1, 400), rng.integers(0, 2, 400)])
    return X, 0.1 * X[:, 0] + X[:, 1] + 2 * X[:, 2] + rng.standard_normal(400)


def test_effects_are_predictions_of_an_average_row(rows, rng):
    X, y = rows
    ridge = adaline.Ridge(alpha=1.0).fit(X, y)
    found = effects(ridge, coefficients(ridge, COLUMNS), X, COLUMNS, "rent")
    assert {e.name for e in found} == set(COLUMNS)
    for e in found:
        j, mean = COLUMNS.index(e.name), X.mean(axis=0)
        at = np.tile(mean, (len(e.x), 1))
        at[:, j] = e.x
        np.testing.assert_allclose(e.y[:, 0], ridge.predict(at))
        error = np.sqrt(ridge.posterior().covariance[j, j])
        reach = 1.959963984540054 * error * np.abs(e.x - mean[j])
        np.testing.assert_allclose(e.high[:, 0] - e.y[:, 0], reach, rtol=1e-6, atol=1e-9)
    rome = next(e for e in found if e.name == "city=Rome")
    assert rome.x.tolist() == [0.0, 1.0]
    assert "rent goes from" in rome.sentence


def test_effects_of_classes_and_counts_have_the_intervals_of_predictions(rows, rng):
    X, _ = rows
    two = adaline.LogisticRegression(alpha=1.0).fit(
        X, np.where(X[:, 1] > rng.normal(0, 1, 400), "y", "n")
    )
    e = effects(two, coefficients(two, COLUMNS), X, COLUMNS, None)[0]
    assert (e.name, e.of, e.share) == ("dose", ("y",), True)
    at = np.tile(X.mean(axis=0), (len(e.x), 1))
    at[:, 1] = e.x
    np.testing.assert_allclose(e.low[:, 0], adaline.interval(two, at).low[:, 1])
    assert "the probability of 'y' goes from" in e.sentence
    counts = adaline.PoissonRegression(alpha=0.0).fit(X, rng.poisson(np.exp(0.5 * X[:, 1])))
    e = effects(counts, coefficients(counts, COLUMNS), X, COLUMNS, "failures")[0]
    assert (e.name, e.of, e.share) == ("dose", ("failures",), False)
    assert np.all((e.low < e.y) & (e.y < e.high))
    three = adaline.GaussianClassifier("full").fit(X[:, :2], np.arange(400) % 3)
    e = effects(three, coefficients(three, COLUMNS[:2]), X[:, :2], COLUMNS[:2], None)[0]
    assert (e.y.shape[1], e.low) == (3, None)
    np.testing.assert_allclose(e.y.sum(axis=1), 1.0)
