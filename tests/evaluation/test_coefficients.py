"""Tables of weights: which heads, which rows, and how each cell is written."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.evaluation.coefficients import (
    Coefficients,
    coefficients,
    drivers,
    standard_deviations,
)


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


def test_of_several_classes_the_largest_of_a_row_counts():
    rows = ({"name": "a", "u": 1.0, "v": -5.0}, {"name": "b", "u": 2.0, "v": None})
    cells, _ = Coefficients(("u", "v"), rows).cells(1)
    assert cells == [["a", "1", "-5"]]
    assert Coefficients(("u", "v"), rows).cells(2)[0][1] == ["b", "2", "–"]
    # Where there is a weight, its errors do not count.
    rows = ({"name": "a", "coef": 1.0, "std err": 9.0}, {"name": "b", "coef": 2.0, "std err": 0.1})
    assert Coefficients(("coef", "std err"), rows).cells(1)[0][0][0] == "b"


def test_an_empty_table_has_no_cells():
    assert Coefficients().cells(3) == ([], [])
    assert Coefficients().in_full == Coefficients()


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        ({"u": 1.23456}, "1.235"),
        ({"u": 1.23456, "std err u": 0.0123456}, "1.23 ± 0.012"),
        ({"u": 1.23456, "std err u": np.nan}, "1.235"),
        ({"u": 1.23456, "std err u": None}, "1.235"),
        ({}, "–"),
    ],
)
def test_a_cell_has_its_standard_error(row, cell):
    cells, _ = Coefficients(("u",), ({"name": "a"} | row,)).cells(5)
    assert cells == [["a", cell]]


def test_a_p_value_is_told_as_one():
    cells, _ = Coefficients(("p",), ({"name": "a", "p": 1e-9},)).cells(5)
    assert cells == [["a", "< 0.0001"]]


def test_in_full_shows_sizes_and_not_tests_of_chance():
    found = table([1.0], ("coef", "std err", "low", "high", "p"), notes=("n",), more=("per sd",))
    full = found.in_full
    assert full.heads == ("coef", "low", "high", "per sd")
    assert full.titles == ["coef", "low 95%", "high 95%", "per sd"]
    assert full.notes[0] == "n"
    assert full.notes[1].startswith("per sd")
    other = Coefficients(("u", "v"), more=("odds ratio",)).in_full
    assert other.heads == ("u", "v", "odds ratio")
    assert found.more != ()
    assert full.more == ()


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
def test_deviations_of_columns(of):
    X = np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]])
    np.testing.assert_allclose(
        standard_deviations(of(X)), [np.std(X[:, 0], ddof=1), 0.0], atol=1e-7
    )
    np.testing.assert_allclose(standard_deviations(of(X[:2])), [np.sqrt(2.0), 0.0], atol=1e-7)
    assert standard_deviations(of(X[:1])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("intercept", [True, False])
def test_sizes_are_told_of_columns_and_not_of_the_intercept(rng, intercept):
    X = rng.standard_normal((50, 2))
    y = rng.random(50) < 1 / (1 + np.exp(-X[:, 0]))
    model = adaline.LogisticRegression(alpha=0, fit_intercept=intercept).fit(X, y)
    found = coefficients(model, ["a", "b"], np.array([2.0, 3.0]))
    weights = found.rows[1:] if intercept else found.rows
    assert [row["name"] for row in weights] == ["a", "b"]
    np.testing.assert_allclose([r["per sd"] for r in weights], model.coef_[0] * [2.0, 3.0])
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


def test_weights_without_a_theory_are_bare(rng):
    X = rng.standard_normal((30, 2))
    model = adaline.LeastSquaresClassifier().fit(X, X[:, 0] > 0)
    found = coefficients(model, ["a", "b"])
    assert found.heads == ("coef",)
    assert [row["coef"] for row in found.rows] == [model.intercept_[0], *model.coef_[0]]
    assert found.notes[0].startswith("No confidence intervals")


def test_models_that_are_no_weighted_sum_have_an_empty_table():
    assert coefficients(SimpleNamespace(), ["a"]) == Coefficients()
    bare = SimpleNamespace(coef_=np.ones((1, 3)), intercept_=0.0)
    assert coefficients(bare, ["a"]) == Coefficients()
    assert len(coefficients(bare, ["a", "b", "c"]).rows) == 4


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


@pytest.mark.parametrize(("alpha", "told"), [(0.5, "(alpha = 0.5)"), (0.0, None)])
def test_standard_errors_of_classes_say_that_they_include_the_penalty(rng, alpha, told):
    X, y = rng.standard_normal((90, 2)), np.arange(90) % 3
    model = adaline.LogisticRegression(alpha=alpha).fit(X, y)
    note = coefficients(model, ["a", "b"]).notes[0]
    assert note.startswith("± are standard errors")
    assert ("they include the penalty" in note) == (told is not None)
    assert told is None or told in note


def test_ridge_has_credible_intervals(rng):
    X = rng.standard_normal((50, 2))
    model = adaline.Ridge(alpha=1.0).fit(X, X @ [1.0, 2.0] + rng.standard_normal(50))
    found, given = coefficients(model, ["a", "b"]), model.posterior()
    row, error = found.rows[2], np.sqrt(given.covariance[1, 1])
    half = 1.959963984540054 * error
    assert (row["coef"], row["std err"]) == (given.mean[1], error)
    assert (row["low"], row["high"]) == pytest.approx((given.mean[1] - half, given.mean[1] + half))
    assert found.rows[0]["coef"] == float(model.intercept_)
    assert found.rows[0]["low"] < found.rows[0]["coef"] < found.rows[0]["high"]


def told(model, X, names, target="rent"):
    return drivers(model, coefficients(model, names), X, target, names)


def test_drivers_of_several_classes_name_the_two_that_a_column_tells_apart(rng):
    X = rng.standard_normal((600, 3)) * [2.0, 1.0, 1.0]
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + rng.normal(0, 1, 600), [-1, 1])]
    model = adaline.LogisticRegression(alpha=1.0).fit(X, y)
    said = told(model, X, ["size", "noise", "more noise"])
    low, top = model.coef_[0, 0], model.coef_[2, 0]
    ratio = np.exp((top - low) * standard_deviations(X)[0])
    shown = f"{ratio:.3g}"
    assert said[0].endswith(f"more multiplies the odds of 'top' against 'low' by {shown}.")
    assert "may or may not have an effect of their own" in said[-1]
    squares = adaline.LeastSquaresClassifier().fit(X, y)
    assert "moves the score by" in told(squares, X, ["size", "noise", "more noise"])[0]


def test_coefficients_of_several_classes_have_the_standard_errors_of_the_summary(rng):
    X = rng.standard_normal((90, 2))
    y = np.array(["a", "b", "c"])[np.arange(90) % 3]
    for intercept in (True, False):
        model = adaline.LogisticRegression(alpha=1.0, fit_intercept=intercept).fit(X, y)
        found = coefficients(model, ["u", "v"])
        errors = model.summary().columns["std err"].reshape(3, -1)[:, -2:]
        assert [found.rows[2]["std err b"], found.rows[1]["std err c"]] == [
            errors[1, 1],
            errors[2, 0],
        ]
        cells, _ = found.cells(10)
        assert cells[1][1] == f"{model.coef_[0, 0]:.3g} ± {errors[0, 0]:.2g}"
        assert "standard errors" in found.notes[0]


def test_the_largest_five_drivers_are_told_the_largest_first_and_uncertain_ones_listed(rng):
    X = rng.standard_normal((400, 7))
    X[:, 6] = rng.integers(0, 2, 400)
    y = X @ [1.0, -3.0, 2.0, 6.0, -5.0, 4.0, 0.0] + 0.1 * rng.standard_normal(400)
    model, names = adaline.LeastSquares().fit(X, y), list("abcdefg")
    said = told(model, X, names)
    assert [text[:2] for text in said] == ["d:", "e:", "f:", "b:", "c:"]
    assert said[0].endswith(" more rent.")
    assert said[1].endswith(" less rent.")
    few = told(adaline.LeastSquares().fit(X[:, [0, 6]], y), X[:, [0, 6]], ["a", "g"])
    assert few[-1] == "These may or may not have an effect of their own, given the others: g."
    switch = told(adaline.LeastSquares().fit(X, y + 99 * X[:, 6]), X, names)
    assert switch[0].startswith("g: 1 instead of 0 goes with 9")
    assert told(model, None, names) == ()


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (adaline.LogisticRegression(), "multiplies the odds of 'yes' by"),
        (adaline.PoissonRegression(), "multiplies the rate of rent by"),
        (adaline.GammaRegression(), "multiplies the mean of rent by"),
        (adaline.LeastSquaresClassifier(), "towards 'yes'"),
    ],
)
def test_drivers_speak_of_what_the_model_predicts(rng, learner, words):
    X = rng.standard_normal((200, 2))
    y = np.exp(X[:, 0] + 0.1 * rng.standard_normal(200))
    if learner._learns == "classes":
        y = np.where(X[:, 0] + 0.1 * rng.standard_normal(200) > 0, "yes", "no")
    elif learner._learns == "counts":
        y = rng.poisson(np.exp(X[:, 0]))
    assert words in told(learner.fit(X, y), X, ["a", "b"])[0]
