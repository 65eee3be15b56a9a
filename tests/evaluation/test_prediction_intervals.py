"""`interval`: against statsmodels, by simulation, and through model files."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adaline
from model_zoo import MODELS, X, Y, made, three, two, y

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


def test_three_classes_have_bounds_where_every_contrast_is_at_its_end():
    model = adaline.LogisticRegression(alpha=0.5).fit(X, three)
    found, p = adaline.interval(model, X), model.predict_proba(X)
    assert np.all((found.low < p) & (p < found.high))
    known, x = model._information, X[7]
    z, C = np.append(x - known.centre, 1.0), known.covariance.reshape(3, 4, 3, 4)
    v, odds = model.coef_ @ x + model.intercept_, {"low": 0.0, "high": 0.0}
    for j in (1, 2):  # the rivals of class 0
        c = np.zeros((3, 4))
        c[j], c[0] = z, -z
        error = np.sqrt(np.einsum("ki,kilj,lj->", c, C, c))
        odds["low"] += np.exp(v[j] - v[0] + 1.959963984540054 * error)
        odds["high"] += np.exp(v[j] - v[0] - 1.959963984540054 * error)
    assert np.allclose(found.low[7, 0], 1 / (1 + odds["low"]), rtol=1e-9)
    assert np.allclose(found.high[7, 0], 1 / (1 + odds["high"]), rtol=1e-9)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("apart", [0.0, 3.0, 30.0])
def test_low_of_a_class_and_high_of_another_are_one_at_most(rng, K, apart):
    y = np.arange(90) % K
    A = rng.standard_normal((90, 2)) + apart * np.column_stack([np.cos(y), np.sin(y)])
    model = adaline.LogisticRegression(alpha=1e-3).fit(A, y)
    far = np.vstack([A, 100 * A, 1e4 * A])
    found, p = adaline.interval(model, far), model.predict_proba(far)
    assert np.all((found.low <= p * (1 + 1e-9)) & (p <= found.high * (1 + 1e-9)))
    both = found.low[:, :, None] + found.high[:, None, :]
    assert both[:, ~np.eye(K, dtype=bool)].max() <= 1 + 1e-12


def test_probabilities_of_three_classes_are_in_their_intervals_at_least_as_often_as_said(rng):
    W, at, held = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([[0.5, -0.3]]), []
    truth = np.exp(at @ W.T) / np.exp(at @ W.T).sum()
    for _ in range(200):
        A = rng.standard_normal((150, 2))
        t = np.argmax(A @ W.T + rng.gumbel(size=(150, 3)), axis=1)
        found = adaline.interval(adaline.LogisticRegression(alpha=0).fit(A, t), at, 0.9)
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.all(np.mean(held, axis=0) >= 0.85)  # 0.9, less three deviations of 200 draws
    assert np.mean(held) <= 0.99


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


def test_probabilities_are_in_their_intervals_as_often_as_said(rng):
    held, w = 0, np.array([1.0, -0.5])
    at = rng.standard_normal((10, 2))
    p = 1 / (1 + np.exp(-(at @ w)))
    for _ in range(100):
        A = rng.standard_normal((300, 2))
        t = rng.random(300) < 1 / (1 + np.exp(-(A @ w)))
        found = adaline.interval(adaline.LogisticRegression(alpha=0).fit(A, t), at, 0.9)
        held += np.count_nonzero((found.low[:, 1] <= p) & (p <= found.high[:, 1]))
    assert abs(held / 1000 - 0.9) < 0.06


KEPT = ["LogisticRegression", "LogisticRegression, 3", "LogisticRegression, firth"]
KEPT += ["PoissonRegression", "LeastSquares", "LeastSquares, table", "LeastSquares, triangle"]
KEPT += [name for name in MODELS if name.startswith("Ridge")]


@pytest.mark.parametrize("name", KEPT)
def test_a_model_file_keeps_what_intervals_need(name, tmp_path):
    model = made(name)
    adaline.save(model, tmp_path / "m.adaline")
    back = adaline.load(tmp_path / "m.adaline")
    rows = np.zeros((2, model.n_features_in_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, again = adaline.interval(model, rows), adaline.interval(back, rows)
    assert np.array_equal(found.low, again.low)
    assert np.array_equal(found.high, again.high)


@pytest.mark.parametrize("name", ["LogisticRegression, stream", "LogisticRegression, wide"])
def test_a_fit_that_kept_no_covariance_says_so(name):
    with pytest.raises(ValueError, match="kept no covariance"):
        adaline.interval(made(name), np.zeros((2, made(name).n_features_in_)))


def test_files_of_an_older_version_have_no_covariance_and_say_so(tmp_path):
    from dataclasses import replace

    model = adaline.LogisticRegression().fit(X, two)
    model._information = replace(model._information, covariance=None, centre=None)
    adaline.save(model, tmp_path / "m.adaline")
    back = adaline.load(tmp_path / "m.adaline")
    assert back.summary().columns["std err"] is not None
    with pytest.raises(ValueError, match="kept no covariance"):
        adaline.interval(back, X)


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


def test_sparse_rows_have_the_same_intervals():
    from scipy import sparse

    for model in (adaline.LeastSquares().fit(X, y), adaline.LogisticRegression().fit(X, two)):
        dense, thin = (adaline.interval(model, rows) for rows in (X, sparse.csr_array(X)))
        assert np.allclose(dense.low, thin.low, rtol=1e-9)


@pytest.mark.parametrize("wrong", [adaline.Ridge(), object(), None])
def test_what_has_not_learned_is_refused(wrong):
    for ask in (adaline.interval, adaline.explain):
        with pytest.raises(ValueError, match="expected a fitted estimator: fit it first"):
            ask(wrong, X)
