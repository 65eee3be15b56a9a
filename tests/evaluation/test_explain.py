"""`explain`: what columns contribute, and that the contributions add up."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import adaline
from adaline.data import Encoding, Prepared, blocks
from model_zoo import MODELS, S, X, made, rows_for, three, two, y

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


def test_regressors_explain_their_prediction_and_two_classes_their_decision():
    ridge, logistic = adaline.Ridge().fit(X, y), adaline.LogisticRegression().fit(X, two)
    assert np.array_equal(adaline.explain(ridge, X).score, ridge.predict(X))
    assert np.array_equal(adaline.explain(logistic, X).score, logistic.decision_function(X))
    assert adaline.explain(ridge, X).of == "the prediction"
    assert adaline.explain(logistic, X).of == "log-odds"


def test_the_base_is_the_score_of_the_average_row():
    found = adaline.explain(adaline.LeastSquares().fit(X, y), X)
    assert np.allclose(found.about, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert np.allclose(found.base, y.mean())
    for model, target in (
        (adaline.GaussianClassifier(), three),
        (adaline.LogisticRegression(), two),
    ):
        average = adaline.explain(model.fit(X, target), X)
        assert np.allclose(average.about, X.mean(axis=0), rtol=1e-12, atol=1e-12)
        assert average.is_about_the_average
    assert np.allclose(found.parts.sum(axis=0), 0.0, atol=1e-8)
    blind = adaline.Perceptron(max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = adaline.explain(blind.fit(X, two), X)
    assert not found.is_about_the_average
    assert np.allclose(found.base, blind.intercept_[0])


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


def test_sparse_rows_and_costs_are_explained_too():
    model = adaline.LogisticRegression(costs=[[0.0, 3.0], [1.0, 0.0]]).fit(S, two)
    found = adaline.explain(model, S)
    assert adds_up(found)
    p = model.predict_proba(S)
    assert np.allclose(found.score, np.log(p[:, 1] / p[:, 0]))


@pytest.mark.parametrize("name", ["BayesClassifier", "GaussianClassifier, full", "Ridge, several"])
def test_what_has_no_such_parts_is_refused_with_a_sentence(name):
    with pytest.raises(ValueError, match="no contributions that add up"):
        adaline.explain(made(name), X)


def test_what_is_explained_is_named():
    of = {
        adaline.LeastSquares(): ("the prediction", y),
        adaline.PoissonRegression(): ("the logarithm of the prediction", np.abs(y).round()),
        adaline.LogisticRegression(): ("log-odds", two),
        adaline.LeastSquaresClassifier(): ("score", two),
    }
    for model, (words, target) in of.items():
        found = adaline.explain(model.fit(X, target), X, ["a", "b", "c"])
        assert (found.of, found.names) == (words, ("a", "b", "c"))


def test_a_rejected_row_is_explained_by_its_likeliest_class():
    model = adaline.LogisticRegression().fit(X, three)
    plain = adaline.explain(model, X)
    model.predict = lambda rows: np.full(len(rows), -1)  # as if every row were rejected
    rejected = adaline.explain(model, X)
    assert np.array_equal(rejected.score, plain.score)
    assert np.array_equal(rejected.against, plain.against)


@pytest.mark.filterwarnings("ignore:overflow")  # of the prediction itself
def test_contributions_beyond_float64_are_refused():
    model = adaline.LeastSquares().fit(X, y)
    with pytest.raises(ValueError, match="leave the range of float64; rescale the columns"):
        adaline.explain(model, np.full((1, 3), 1e308) * np.sign(model.coef_) * 1.7)
