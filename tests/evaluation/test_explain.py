"""`explain` and `interval`: contributions that add up; intervals of statsmodels that hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import adaline
from adaline.data import Encoding, Prepared, blocks
from model_zoo import MODELS, X, Y, made, rows_for, three, two, y

LINEAR = [
    name
    for name in MODELS
    if name.startswith(
        ("Ridge", "LeastSquares", "Logistic", "Perceptron", "Adaline", "Widrow", "HoK", "Sigm")
    )
    and "several" not in name
    and name not in ("LeastSquares, table", "LeastSquares, float32")  # two targets
] + ["GaussianClassifier", "GaussianClassifier, 3", "PoissonRegression", "GammaRegression"]


def adds_up(found, dtype=np.float64):
    size = np.abs(found.parts).sum(axis=1) + np.abs(found.base)
    off = np.abs(found.base + found.parts.sum(axis=1) - found.score)
    return np.all(off <= 1e4 * np.finfo(dtype).eps * size)


@pytest.mark.parametrize("name", LINEAR)
def test_parts_add_up(name):
    model = made(name)
    rows = rows_for(name, model)
    found = adaline.explain(model, rows)
    assert adds_up(found, getattr(model.coef_, "dtype", np.float64))
    assert found.parts.shape == (rows.shape[0], model.n_features_in_)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (adaline.LeastSquares(), y),
        (adaline.GaussianClassifier(), three),
        (adaline.LogisticRegression(), two),
    ],
)
def test_the_base_is_the_score_of_the_average_row(model, target):
    average = adaline.explain(model.fit(X, target), X)
    assert np.allclose(average.about, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert average.is_about_the_average


def test_of_many_classes_the_predicted_one_is_held_against_the_runner_up():
    model = adaline.LogisticRegression().fit(X, three)
    found, p = adaline.explain(model, X), model.predict_proba(X)
    order = np.argsort(p, axis=1)
    assert np.array_equal(found.against, model.classes_[order[:, -2]])
    n = np.arange(len(p))
    assert np.allclose(found.score, np.log(p[n, order[:, -1]] / p[n, order[:, -2]]))


def test_levels_of_a_text_are_explained_as_one_column():
    table = pl.DataFrame(
        {"size": X[:, 0], "colour": np.array(["red", "blue", "green"])[three // 10 - 1]}
    )
    encoding = Encoding.learn(table)
    rows = np.concatenate([encoding.encode(block) for block in blocks(table)])
    model = adaline.LeastSquares().fit(rows, y)
    found = adaline.explain(Prepared(encoding, model), table)
    assert found.names == ("size", "colour")
    whole = adaline.explain(model, rows)
    assert np.allclose(found.parts[:, 1], whole.parts[:, 1:].sum(axis=1))
    assert adds_up(found)
    assert np.array_equal(found.parts, adaline.explain(model, rows, encoding=encoding).parts)


@pytest.mark.parametrize("name", ["BayesClassifier", "GaussianClassifier, full", "Ridge, several"])
def test_what_has_no_such_parts_is_refused_with_a_sentence(name):
    with pytest.raises(ValueError, match="no contributions"):
        adaline.explain(made(name), X)


def test_a_rejected_row_is_explained_by_its_likeliest_class():
    model = adaline.LogisticRegression().fit(X, three)
    plain = adaline.explain(model, X)
    model.predict = lambda rows: np.full(len(rows), -1)  # as if every row were rejected
    rejected = adaline.explain(model, X)
    assert np.array_equal(rejected.score, plain.score)
    assert np.array_equal(rejected.against, plain.against)


sm = pytest.importorskip("statsmodels.api")
Z = (X - X.mean(axis=0)) / X.std(axis=0)  # statsmodels' own digits need columns of one size
counts = np.abs(y).round()


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_least_squares_has_statsmodels_intervals(level):
    frame = sm.OLS(y, sm.add_constant(Z)).fit().get_prediction(sm.add_constant(Z))
    frame = frame.summary_frame(alpha=1 - level)
    for model in (adaline.LeastSquares(), adaline.Ridge(0.0)):
        found = adaline.interval(model.fit(X, y), X, level)
        assert np.allclose(found.low, frame["obs_ci_lower"], rtol=1e-9)
        assert np.allclose(found.high, frame["obs_ci_upper"], rtol=1e-9)
        assert found.of == "a new value"


def test_least_squares_without_a_bias_and_with_two_targets():
    model = adaline.LeastSquares(fit_intercept=False).fit(X, Y)
    found = adaline.interval(model, X)
    for k in range(2):
        frame = sm.OLS(Y[:, k], X).fit().get_prediction(X).summary_frame()
        assert np.allclose(found.low[:, k], frame["obs_ci_lower"], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_newtons_learners_have_statsmodels_intervals_of_means(kind):
    # 1e-6: statsmodels stops at a relative change of the deviance of 1e-13, the root of it in w.
    family = sm.families.Binomial() if kind == "logistic" else sm.families.Poisson()
    truth = (two == "yes").astype(float) if kind == "logistic" else counts
    frame = sm.GLM(truth, sm.add_constant(Z), family=family).fit(tol=1e-13)
    frame = frame.get_prediction(sm.add_constant(Z)).summary_frame(alpha=0.1)
    learner = adaline.LogisticRegression if kind == "logistic" else adaline.PoissonRegression
    model = learner(alpha=0).fit(X, two if kind == "logistic" else counts)
    found = adaline.interval(model, X, 0.9)
    low, high = (
        (found.low, found.high) if kind == "poisson" else (found.low[:, 1], found.high[:, 1])
    )
    assert np.allclose(low, frame["mean_ci_lower"], rtol=1e-6)
    assert np.allclose(high, frame["mean_ci_upper"], rtol=1e-6)


def test_new_values_are_in_their_intervals_as_often_as_said(rng):
    # 4000 new values, of 200 fits: 0.9 -+ 0.03 is far beyond three standard errors.
    held = {"LeastSquares": 0, "Ridge": 0}
    for _ in range(200):
        A, w = rng.standard_normal((15, 3)), rng.standard_normal(3)
        new = rng.standard_normal((20, 3))
        t, s = (rows @ w + 2 + rng.standard_normal(len(rows)) for rows in (A, new))
        for model in (adaline.LeastSquares(), adaline.Ridge("evidence")):
            found = adaline.interval(model.fit(A, t), new, 0.9)
            held[type(model).__name__] += np.count_nonzero((found.low <= s) & (s <= found.high))
    assert abs(held["LeastSquares"] / 4000 - 0.9) < 0.03
    assert abs(held["Ridge"] / 4000 - 0.9) < 0.04  # the penalty is estimated, too


def test_what_has_no_theory_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="no theory"):
        adaline.interval(made("Perceptron"), X)
    rows = np.column_stack([X, X[:, 0]])
    with pytest.warns(adaline.RankDeficientWarning):
        dependent = adaline.LeastSquares().fit(rows, y)
    with pytest.raises(ValueError, match="dependent"):
        adaline.interval(dependent, rows)
    with pytest.raises(ValueError, match="no degree of freedom"):
        adaline.interval(adaline.LeastSquares().fit(X[:4], y[:4]), X)
    changed = adaline.LeastSquares().fit(X, y)
    changed.coef_ = np.full(3, 7.0)
    with pytest.raises(ValueError, match="changed after the fit"):
        adaline.interval(changed, X)
