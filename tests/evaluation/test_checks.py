"""Checks, drivers, effects and doubts about rows: what is said of which model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import adaline
from adaline.evaluation.answers import answers
from adaline.evaluation.checks import Rows, checks
from adaline.evaluation.coefficients import coefficients, spreads_of
from adaline.evaluation.drivers import drivers
from adaline.evaluation.effects import effects
from adaline.evaluation.sample import doubts_of_rows
from adaline.evaluation.verdict import judged

NAMES = ["age", "dose", "city=Rome"]


@pytest.fixture
def rows(rng):
    X = np.column_stack([rng.normal(50, 10, 400), rng.normal(0, 1, 400), rng.integers(0, 2, 400)])
    return X, 0.1 * X[:, 0] + X[:, 1] + 2 * X[:, 2] + rng.standard_normal(400)


def told(model, X, names=NAMES, target="rent"):
    spreads = spreads_of(X)
    return drivers(model, coefficients(model, names, spreads), X, spreads, target, names)


def test_a_verdict_looks_at_residuals_and_at_single_rows(rows):
    X, y = rows
    model = adaline.LeastSquares().fit(X, y)
    held_out = adaline.verdict(model, X, y)
    keys = ["linearity", "spread", "normality", "independence"]
    assert [c.key for c in held_out.checks] == [*keys, "leakage"]
    learned = adaline.verdict(model, X, y, held_out=False)
    assert [c.key for c in learned.checks] == [*keys, "influence", "leakage"]
    assert all(c.word == "fine" for c in learned.checks)


def test_a_row_that_decides_and_rows_from_elsewhere_are_warned_of(rows):
    X, y = rows
    y = y.copy()
    y[3], X[3, 1] = 4000.0, 30.0
    model = adaline.LeastSquares().fit(X[:200], y[:200])
    elsewhere = np.array([30.0, 0.0, 0.0]) + X[200:]
    tested = answers(model, elsewhere)
    found = judged(
        model,
        None,
        held_out=True,
        names=NAMES,
        learned=Rows(X[:200], y[:200]),
        tested=Rows(elsewhere, y[200:], said=tested),
        target="rent",
    )
    assert any(
        "a single row moves the fit" in w and "rent 4,000 and dose 30" in w for w in found.warnings
    )
    assert any("differ from the 200 rows learned from: age" in w for w in found.warnings)


def test_probabilities_are_checked_of_two_and_of_more_classes(rows, rng):
    X, _ = rows
    for K in (2, 3):
        y = np.clip(np.round(X[:, 1] + rng.standard_normal(400)), 0, K - 1).astype(int)
        model = adaline.LogisticRegression(alpha=1.0).fit(X[:200], y[:200])
        found = adaline.verdict(model, X[200:], y[200:]).checks
        assert [c.key for c in found] == ["calibration", "leakage"]
        assert found[0].fine is not None
        p = model.predict_proba(X[200:])
        best = p[:, 1] if K == 2 else p.max(axis=1)
        assert found[0].numbers["told"] == pytest.approx(best.mean())
        happened = y[200:] == (1 if K == 2 else model.predict(X[200:]))
        assert found[0].numbers["happened"] == pytest.approx(np.mean(happened))
        assert found[0].title == (
            "Probabilities of '1'" if K == 2 else "Probabilities of the likeliest class"
        )
    silent = adaline.Perceptron(max_iter=5)
    with pytest.warns(ConvergenceWarning):
        silent.fit(X[:200], y[:200] > 0)
    found = adaline.verdict(silent, X[200:], y[200:] > 0).checks
    assert [c.key for c in found] == ["leakage"]


def test_sparse_rows_and_several_targets_have_fewer_checks(rows):
    from scipy import sparse

    X, y = rows
    S = sparse.csr_array(X)
    found = adaline.verdict(adaline.LeastSquares().fit(S, y), S, y, held_out=False)
    assert "influence" not in [c.key for c in found.checks]
    Y = np.column_stack([y, -y])
    assert adaline.verdict(adaline.LeastSquares().fit(X, Y), X, Y, held_out=False).checks == ()
    assert checks(adaline.LeastSquares().fit(X, y), NAMES) == ()


def test_drivers_of_several_classes_name_the_two_that_a_column_tells_apart(rng):
    X = rng.standard_normal((600, 3)) * [2.0, 1.0, 1.0]
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + rng.normal(0, 1, 600), [-1, 1])]
    model = adaline.LogisticRegression(alpha=1.0).fit(X, y)
    said = told(model, X, ["size", "noise", "more noise"])
    low, top = model.coef_[0, 0], model.coef_[2, 0]
    ratio = np.exp((top - low) * spreads_of(X)[0])
    shown = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    assert said[0].endswith(f"more multiplies the odds of 'top' against 'low' by {shown}.")
    assert "may or may not have an effect of their own: " in said[-1]
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


def test_effects_are_predictions_of_an_average_row(rows, rng):
    X, y = rows
    ridge = adaline.Ridge(alpha=1.0).fit(X, y)
    found = effects(ridge, coefficients(ridge, NAMES), X, NAMES, "rent")
    assert {e.name for e in found} == set(NAMES)
    assert [e.move for e in found] == sorted((e.move for e in found), reverse=True)
    for e in found:
        j, mean = NAMES.index(e.name), X.mean(axis=0)
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
    e = effects(two, coefficients(two, NAMES), X, NAMES, None)[0]
    assert (e.name, e.of, e.share) == ("dose", ("y",), True)
    at = np.tile(X.mean(axis=0), (len(e.x), 1))
    at[:, 1] = e.x
    np.testing.assert_allclose(e.low[:, 0], adaline.interval(two, at).low[:, 1])
    assert "the probability of 'y' goes from" in e.sentence
    counts = adaline.PoissonRegression(alpha=0.0).fit(X, rng.poisson(np.exp(0.5 * X[:, 1])))
    e = effects(counts, coefficients(counts, NAMES), X, NAMES, "failures")[0]
    assert (e.name, e.of, e.share) == ("dose", ("failures",), False)
    assert np.all((e.low < e.y) & (e.y < e.high))
    three = adaline.GaussianClassifier("full").fit(X[:, :2], np.arange(400) % 3)
    e = effects(three, coefficients(three, NAMES[:2]), X[:, :2], NAMES[:2], None)[0]
    assert (e.y.shape[1], e.low) == (3, None)
    np.testing.assert_allclose(e.y.sum(axis=1), 1.0)


def test_rows_that_are_few_rare_or_numbered_are_doubted(rng):
    X = rng.standard_normal((100, 3))
    assert doubts_of_rows(X, np.arange(100) % 2, NAMES, True) == []
    assert "30 columns are few" in doubts_of_rows(rng.random((100, 30)), None, NAMES, False)[0]
    y = np.where(np.arange(100) < 3, "ill", "well")
    assert (
        "only 3 of 100 rows learned from are 'ill', 3.0 %" in doubts_of_rows(X, y, NAMES, True)[0]
    )
    X[:, 1] = np.arange(7.0, 107.0)
    assert "dose goes up by 1" in doubts_of_rows(X, None, NAMES, False)[0]
