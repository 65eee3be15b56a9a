"""The numbers behind the pictures, against slow twins, theory, and other libraries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import adaline
from adaline import plot


def test_leverage_cook_and_standardised_residuals_are_those_of_statsmodels(rng):
    sm = pytest.importorskip("statsmodels.api")
    X = rng.standard_normal((50, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 5e3, 0.0, 2.0]
    y = X @ [1.0, 1e-3, 1e3, 0.0] + rng.standard_normal(50)
    display = plot.ResidualsDisplay.from_estimator(adaline.LeastSquares().fit(X, y), X, y)
    influence = sm.OLS(y, sm.add_constant(X)).fit().get_influence()
    # statsmodels loses some digits with these means and scales.
    np.testing.assert_allclose(display.leverage, influence.hat_matrix_diag, rtol=1e-8)
    np.testing.assert_allclose(
        display.standardised, influence.resid_studentized_internal, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(display.cook, influence.cooks_distance[0], rtol=1e-6, atol=1e-12)


def test_rejects_have_a_column_of_the_confusion_matrix(rng):
    X = rng.standard_normal((200, 2))
    truth = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    model = adaline.LogisticRegression(reject_cost=0.2).fit(X, truth)
    rejects = plot.ConfusionMatrixDisplay.from_estimator(model, X, truth)
    assert rejects.display_labels == ["0", "1", "reject"]
    assert rejects.confusion_matrix.sum() == 200
    assert rejects.confusion_matrix[:, 2].sum() == np.sum(model.predict(X) == "reject") > 0


LEARNERS = {
    "online LMS": adaline.WidrowHoff(eta=0.05, max_iter=4, tol=0),
    "batch LMS": adaline.WidrowHoff(eta=0.3, max_iter=4, tol=0, mode="batch"),
    "perceptron": adaline.Perceptron(max_iter=30),
    "sigmoid": adaline.SigmoidPerceptron(phi="logistic", max_iter=5, tol=0),
    "logistic": adaline.LogisticRegression(alpha=0.5),
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_the_path_ends_where_the_learner_ends_and_lies_on_the_surface(rng, learner):
    x = rng.standard_normal((30, 1))
    y = (x[:, 0] + 0.3 * rng.standard_normal(30) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = adaline.trace(learner, x, y)
        display = plot.WeightPathDisplay.from_estimator(learner, x, y)
    last = steps.W_after[-1], steps.b_after[-1]
    assert display.path[-1] == pytest.approx([float(last[0].ravel()[0]), float(last[1][0])])
    assert display.path[0] == pytest.approx([0.0, 0.0], abs=1.0)
    # The nearest point of the grid has about the error of the path's end.
    w, b = display.path[-1]
    i, j = int(np.argmin(np.abs(display.y - b))), int(np.argmin(np.abs(display.x - w)))
    off_by_one_cell = np.abs(np.gradient(display.surface)).max()
    assert abs(display.surface[i, j] - display.losses[-1]) <= 2 * off_by_one_cell
    assert display.losses.min() >= 0


def test_margins_of_a_separating_line_are_those_of_max_margin(rng):
    X = np.vstack([rng.random((15, 2)), rng.random((15, 2)) + 1.5])
    y = np.repeat(["a", "b"], 15)
    best = adaline.max_margin(X, y)
    shown = plot.SeparabilityDisplay.from_data(X, y)
    assert shown.verdict == "separable"
    assert shown.margin == best.margin
    assert np.linalg.norm(shown.nearest[1] - shown.nearest[0]) == pytest.approx(2 * best.margin)
    model = adaline.Perceptron().fit(X, y)
    display = plot.DecisionDisplay.from_estimator(model, X, y)
    v = model.decision_function(X) / np.linalg.norm(model.coef_)
    assert display.distance == pytest.approx(np.abs(v).min())
    assert display.distance <= best.margin * (1 + 1e-12)
    assert set(display.closest) == {np.argmin(np.abs(v[:15])), 15 + np.argmin(np.abs(v[15:]))}


def test_three_classes_and_touching_classes_are_told_rightly():
    touch = plot.SeparabilityDisplay.from_data(
        [[0, 0], [1, 0], [1, 0], [2, 0], [0, 1]], [0, 0, 1, 1, 0]
    )
    assert touch.verdict == "quasi-separable"
    assert "only touch" in touch.claim
    corners = [[0, 0], [0, 1], [5, 0], [5, 1], [2, 9], [3, 9]]
    three = plot.SeparabilityDisplay.from_data(corners, [0, 0, 1, 1, 2, 2])
    assert three.claim.startswith("Separable by a linear machine")
    assert three.plot().ax_.get_legend() is not None


def test_the_decided_regions_are_predictions(rng):
    X = rng.standard_normal((80, 2)) + np.array([0.0, 5.0])
    y = np.argmax(X - X.mean(axis=0), axis=1)
    model = adaline.GaussianClassifier(covariance="full").fit(X, y)
    display = plot.DecisionDisplay.from_estimator(model, X, y)
    assert display.decided[7, 3] == model.predict([[display.x[3], display.y[7]]])[0]
    assert len(display.wrong) == np.sum(model.predict(X) != y)


def region(display, rows):
    """What the picture decides at these places: the nearest point of its grid."""
    places = [
        np.abs(axis - rows[:, [i]]).argmin(axis=1) for i, axis in enumerate((display.x, display.y))
    ]
    return display.decided[places[1], places[0]]


Logistic = adaline.LogisticRegression
MANY = {
    "two classes": (2, 6, Logistic(alpha=1.0)),
    "two classes with costs": (2, 6, Logistic(alpha=1.0, costs=[[0.0, 9.0], [1.0, 0.0]])),
    "a kernel": (2, 4, adaline.KernelPerceptron(kernel="rbf", max_iter=5)),
    "three with costs": (3, 6, Logistic(alpha=1.0, costs=[[0, 1, 1], [5, 0, 1], [1, 1, 0]])),
    "nine classes": (9, 3, adaline.LeastSquaresClassifier()),
    "more columns than rows": (2, 200, Logistic(alpha=1.0)),
    "one column": (2, 1, Logistic(alpha=1.0)),
}


@pytest.mark.parametrize(("K", "p", "model"), MANY.values(), ids=MANY)
@pytest.mark.filterwarnings("ignore")
def test_every_row_is_drawn_on_the_side_of_its_prediction(rng, K, p, model):
    X = rng.standard_normal((120, p)) * np.geomspace(1, 100, p)
    y = np.arange(120) % K
    X += rng.standard_normal((K, p))[y] * np.geomspace(1, 100, p)
    model = clone(model).fit(X, y)
    display = plot.DecisionDisplay.from_estimator(model, X, y).plot()
    answers = model.predict(X)
    # Strips have boundaries at their sides alone, and rows keep away from these.
    assert np.array_equal(region(display, display.rows), answers)
    assert len(display.wrong) == np.sum(answers != y)


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
def test_ellipses_lie_at_their_mahalanobis_distance(rng, covariance):
    X = rng.standard_normal((90, 2)) @ [[1.0, 0.4], [0.0, 0.6]]
    y = np.repeat([0, 1, 2], 30)
    X[y == 1] += 3.0
    X[y == 2] *= 2.0
    model = adaline.GaussianClassifier(covariance=covariance).fit(X, y)
    display = plot.GaussianDisplay.from_estimator(model, X, y)
    for k in range(3):
        for d, curve in zip((1.0, 2.0), display.ellipses[k], strict=True):
            np.testing.assert_allclose(model.mahalanobis(curve.T)[:, k], d**2, rtol=1e-9)
    P = model.predict_proba([[display.x[4], display.y[9]]])[0]
    np.testing.assert_allclose(display.posterior[:, 9, 4], P)


def test_a_feature_without_spread_has_no_distance(rng):
    X = np.column_stack([rng.standard_normal(40), np.full(40, 2.0)])
    y = (X[:, 0] > 0).astype(int)
    model = adaline.GaussianClassifier().fit(X, y)
    display = plot.GaussianDisplay.from_estimator(model, X, y).plot()
    inside = np.mean(model.mahalanobis(X)[np.arange(40), y] <= 4.0)
    assert display.claim.startswith(f"{100 * inside:.0f}% of 40 rows")


def test_intervals_are_those_of_the_summary_and_of_the_posterior(rng):
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, 0.0, -1.0] + rng.standard_normal(60)
    model = adaline.LeastSquares().fit(X, y)
    display = plot.CoefficientsDisplay.from_estimator(model)
    columns = model.summary().columns
    np.testing.assert_array_equal(display.low, columns["low 95%"][1:])
    scaled = plot.CoefficientsDisplay.from_estimator(model, X)
    np.testing.assert_allclose(scaled.coef, model.coef_ * X.std(axis=0))
    ridge = adaline.Ridge().fit(X, y)
    spread = np.sqrt(np.diag(ridge.posterior().covariance))
    shown = plot.CoefficientsDisplay.from_estimator(ridge)
    np.testing.assert_allclose(shown.high - shown.coef, 1.959964 * spread, rtol=1e-6)
    logistic = adaline.LogisticRegression(fit_intercept=False).fit(X, y > 0)
    assert plot.CoefficientsDisplay.from_estimator(logistic).low.shape == (3,)
    adaline_ = adaline.Adaline().fit(X, y > 0)
    assert plot.CoefficientsDisplay.from_estimator(adaline_).low is None


def test_eigenvalues_are_those_of_R(rng):
    X = rng.standard_normal((50, 3)) * [1.0, 10.0, 100.0]
    display = plot.EigenvalueDisplay.from_data(X, fit_intercept=False)
    expected = np.linalg.eigvalsh(X.T @ X / 50)[::-1]
    np.testing.assert_allclose(display.eigenvalues, expected, rtol=1e-10)
    assert display.bound == pytest.approx(adaline.stable_rate(X, False).one_sample)
    twice = plot.EigenvalueDisplay.from_data(np.column_stack([X, X[:, 0]]))
    assert np.isinf(twice.spread)
    assert "infinite" in twice.plot().claim


def test_the_response_of_complex_weights_is_that_of_their_conjugate():
    w = np.array([1.0, 0.5j])
    display = plot.ResponseDisplay.from_weights(w, rate=100.0)
    n = np.arange(2)
    for f, gain in zip(display.frequencies[::100], display.gain[::100], strict=True):
        H = np.sum(w.conj() * np.exp(-2j * np.pi * f / 100.0 * n))
        assert gain == pytest.approx(20 * np.log10(abs(H)))
    assert display.plot().ax_[0].get_ylabel().endswith("(real part)")
    silent = plot.ResponseDisplay.from_weights([0.0, 0.0]).plot()
    assert "nothing passes" in silent.claim
