"""Tables of weights, and effects of single columns: which, over which values, in which words."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.evaluation.coefficients import Coefficients, coefficients, describe_effects, effects


def table(weights, heads=("coef",), intercept=True, **more):
    rows = [{"name": "intercept", "coef": 100.0}] if intercept else []
    rows += [{"name": f"x{j}", "coef": w} for j, w in enumerate(weights)]
    return Coefficients(heads, tuple(rows), **more)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("most", "kept"), [(3, [0, 1, 2]), (2, [0, 2]), (1, [2])])
def test_the_largest_weights_are_shown_in_their_order(intercept, most, kept):
    cells, notes = table([-2.0, 1.0, 3.0], intercept=intercept).cells(most)
    names = [line[0] for line in cells]
    assert names == ["intercept"] * intercept + [f"x{j}" for j in kept]
    assert notes == ([] if most == 3 else [f"The {most} largest of 3 coefficients."])


@pytest.mark.parametrize("intercept", [True, False])
def test_sizes_are_told_of_columns_and_not_of_the_intercept(rng, intercept):
    X = rng.standard_normal((50, 2))
    y = rng.random(50) < 1 / (1 + np.exp(-X[:, 0]))
    model = adaline.LogisticRegression(alpha=0, fit_intercept=intercept).fit(X, y)
    found = coefficients(model, ["a", "b"], X)
    weights = found.rows[1:] if intercept else found.rows
    assert [row["name"] for row in weights] == ["a", "b"]
    np.testing.assert_allclose(
        [r["per sd"] for r in weights], model.coef_[0] * X.std(axis=0, ddof=1)
    )
    np.testing.assert_allclose([r["odds ratio"] for r in weights], np.exp(model.coef_[0]))
    if intercept:
        assert "per sd" not in found.rows[0]
    assert coefficients(model, ["a", "b"]).more == ("odds ratio",)
    assert "per sd" not in coefficients(model, ["a", "b"]).rows[-1]


def test_a_summary_gives_its_columns_and_its_notes_but_not_the_certificate(rng):
    X = rng.standard_normal((50, 2))
    model = adaline.LeastSquares().fit(X, X @ [1.0, 2.0] + rng.standard_normal(50))
    found, given = coefficients(model, ["a", "b"]), model.summary()
    assert found.notes == tuple(n for n in given.notes if n != str(model.certificate_))
    assert str(model.certificate_) not in found.notes
    for head, column in (("low", "low 95%"), ("high", "high 95%"), ("std err", "std err")):
        assert [row[head] for row in found.rows] == np.asarray(given.columns[column]).tolist()


def test_several_targets_and_classes_have_a_column_each(rng):
    X = rng.standard_normal((40, 2))
    targets = adaline.LeastSquares().fit(X, rng.standard_normal((40, 2)))
    found = coefficients(targets, ["a", "b"])
    assert found.heads == ("target 0", "target 1")
    assert found.rows[0]["target 1"] == targets.intercept_[1]
    assert found.rows[2]["target 0"] == targets.coef_[0, 1]
    squares = adaline.LeastSquaresClassifier().fit(X, np.arange(40) % 3)
    found = coefficients(squares, ["a", "b"])
    assert found.heads == ("0", "1", "2")
    assert found.notes[0].startswith("No standard errors")


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


def test_uncertain_coefficients_are_listed_and_others_described(rng):
    X = rng.standard_normal((400, 3))
    y = X @ [1.0, -3.0, 0.0] + 0.1 * rng.standard_normal(400)
    model, names = adaline.LeastSquares().fit(X, y), list("abc")
    table = coefficients(model, names)
    texts = describe_effects(effects(model, table, X, names, "rent"), table)
    assert [text[:6] for text in texts] == ["From b", "From a", "The 95"]
    assert texts[-1].endswith("include zero: c.")
