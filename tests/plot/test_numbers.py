"""The numbers behind the pictures, against slow twins, theory, and other libraries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, confusion_matrix, roc_auc_score, roc_curve

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


def test_leverage_of_new_rows_is_that_of_the_fit(rng):
    X, new = rng.standard_normal((40, 3)), rng.standard_normal((7, 3))
    y = X.sum(axis=1) + rng.standard_normal(40)
    for bias in (True, False):
        model = adaline.LeastSquares(fit_intercept=bias).fit(X, y)
        display = plot.ResidualsDisplay.from_estimator(model, new, new.sum(axis=1))
        A, B = (np.column_stack([Z, np.ones(len(Z))]) if bias else Z for Z in (X, new))
        expected = np.einsum("ij,jk,ik->i", B, np.linalg.inv(A.T @ A), B)
        assert not display.of_the_fit
        np.testing.assert_allclose(display.leverage, expected, rtol=1e-10)


def test_dependent_columns_have_the_leverage_of_the_independent_ones(rng):
    X = rng.standard_normal((30, 2))
    y = X[:, 0] + rng.standard_normal(30)
    double = np.column_stack([X, X[:, 0] + X[:, 1], np.full(30, 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = adaline.LeastSquares().fit(double, y)
    display = plot.ResidualsDisplay.from_estimator(model, double, y)
    expected = plot.ResidualsDisplay.from_estimator(adaline.LeastSquares().fit(X, y), X, y)
    np.testing.assert_allclose(display.leverage, expected.leverage, rtol=1e-9)


values = arrays(np.float64, 30, elements=st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]))
labels = arrays(np.int64, 30, elements=st.integers(0, 1)).filter(lambda y: 0 < y.sum() < 30)


@given(values, labels)
def test_roc_with_ties_is_scikit_learns(v, y):
    display = plot.RocCurveDisplay.from_predictions(y, v)
    fpr, tpr, _ = roc_curve(y, v)
    np.testing.assert_allclose(display.fpr, fpr, atol=1e-15)
    np.testing.assert_allclose(display.tpr, tpr, atol=1e-15)
    assert display.roc_auc == pytest.approx(roc_auc_score(y, v), abs=1e-14)


def test_confusion_is_scikit_learns_and_rejects_have_a_column(rng):
    y, decided = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    display = plot.ConfusionMatrixDisplay.from_predictions(y, decided)
    np.testing.assert_array_equal(display.confusion_matrix, confusion_matrix(y, decided))
    X = rng.standard_normal((200, 2))
    truth = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    model = adaline.LogisticRegression(reject_cost=0.2).fit(X, truth)
    rejects = plot.ConfusionMatrixDisplay.from_estimator(model, X, truth)
    assert rejects.display_labels == ["0", "1", "reject"]
    assert rejects.confusion_matrix.sum() == 200
    assert rejects.confusion_matrix[:, 2].sum() == np.sum(model.predict(X) == "reject") > 0


def test_calibration_bins_are_scikit_learns_quantiles(rng):
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    display = plot.CalibrationDisplay.from_predictions(y, p, n_bins=5)
    happened, told = calibration_curve(y, p, n_bins=5, strategy="quantile")
    np.testing.assert_allclose(display.prob_pred, told, atol=1e-12)
    np.testing.assert_allclose(display.prob_true, happened, atol=1e-12)
    assert display.brier == pytest.approx(brier_score_loss(y, p))
    assert np.all((display.low <= display.prob_true) & (display.prob_true <= display.high))


def test_hulls_are_qhulls_and_classes_on_a_line_have_two_ends():
    line = [[0, 0], [1, 1], [3, 3], [2, 2]]
    square = [[5, 0], [6, 0], [6, 1], [5, 1], [5.5, 0.5]]
    display = plot.SeparabilityDisplay.from_data(line + square, [0] * 4 + [1] * 5)
    assert display.hulls[0].tolist() == [[0, 0], [3, 3]]
    assert display.hulls[1].tolist() == [[5, 0], [6, 0], [6, 1], [5, 1]]


def test_the_learning_curve_is_that_of_the_filters_measure(rng):
    from adaline import filters

    e = rng.standard_normal(500)
    display = plot.LearningCurveDisplay.from_errors({"LMS": e}, window=37)
    np.testing.assert_allclose(display.curves["LMS"], filters.learning_curve(e, 37), rtol=1e-12)


def test_the_learning_curve_starts_at_the_targets_power_and_knows_bound_and_floor(rng):
    X = rng.standard_normal((300, 2))
    y = X @ [1.0, 2.0] + 0.1 * rng.standard_normal(300)
    lms = adaline.WidrowHoff(eta=0.05, max_iter=3, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        display = plot.LearningCurveDisplay.from_estimator(lms, X, y, window=50)
    curve = display.curves["WidrowHoff"]
    assert curve[0] == y[0] ** 2  # zero weights predict zero
    trace_R = np.mean(np.sum(X**2, axis=1)) + 1
    assert display.bound == pytest.approx(2 / trace_R)
    best = adaline.LeastSquares().fit(X, y)
    assert display.floor == pytest.approx(np.mean((y - best.predict(X)) ** 2))
    assert display.eta == 0.05


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


def test_the_loss_of_a_logistic_path_is_that_of_its_trace(rng):
    x = rng.standard_normal((40, 1))
    y = (x[:, 0] + rng.standard_normal(40) > 0).astype(int)
    learner = adaline.LogisticRegression(alpha=0.7)
    display = plot.WeightPathDisplay.from_estimator(learner, x, y)
    np.testing.assert_allclose(
        display.losses * 40, adaline.trace(learner, x, y).extra["loss"], rtol=1e-9
    )


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


def test_rows_of_the_proof_cancel(rng):
    X = rng.standard_normal((60, 2))
    y = rng.integers(0, 2, 60)
    display = plot.SeparabilityDisplay.from_data(X, y)
    assert display.verdict == "overlapping"
    t = np.where(y[display.proof] == 1, 1.0, -1.0) * display.multipliers
    np.testing.assert_allclose(t @ X[display.proof], 0.0, atol=1e-12)
    assert t.sum() == pytest.approx(0.0, abs=1e-12)


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


def test_the_decided_regions_are_predictions_and_other_features_are_at_their_means(rng):
    X = rng.standard_normal((80, 3)) + np.array([0.0, 5.0, -2.0])
    y = np.argmax(X - X.mean(axis=0), axis=1)
    model = adaline.GaussianClassifier().fit(X, y)
    display = plot.DecisionDisplay.from_estimator(model, X, y, features=(2, 0), grid=11)
    # Features are (2, 0), so that x is column 2 and y column 0.
    row = np.array([[display.y[7], X[:, 1].mean(), display.x[3]]])
    assert display.decided[7, 3] == model.predict(row)[0]
    assert "1 other feature held at the mean" in display.claim
    assert len(display.wrong) == np.sum(model.predict(X) != y)


def region(display, rows):
    """What the picture decides at these places: the nearest point of its grid."""
    places = [
        np.abs(axis - rows[:, [i]]).argmin(axis=1) for i, axis in enumerate((display.x, display.y))
    ]
    return display.decided[places[1], places[0]]


MANY = {
    "two classes": (2, 6, lambda: adaline.LogisticRegression(alpha=1.0)),
    "two classes with costs": (
        2,
        6,
        lambda: adaline.LogisticRegression(alpha=1.0, costs=[[0.0, 9.0], [1.0, 0.0]]),
    ),
    "two Gaussians": (2, 5, lambda: adaline.GaussianClassifier(covariance="full")),
    "a kernel": (2, 4, lambda: adaline.KernelPerceptron(kernel="rbf", max_iter=5)),
    "three classes": (3, 6, lambda: adaline.LogisticRegression(alpha=1.0)),
    "three classes with costs": (
        3,
        6,
        lambda: adaline.LogisticRegression(alpha=1.0, costs=[[0, 1, 1], [5, 0, 1], [1, 1, 0]]),
    ),
    "five classes": (5, 4, lambda: adaline.GaussianClassifier()),
    "nine classes": (9, 3, lambda: adaline.LeastSquaresClassifier()),
    "more columns than rows": (2, 200, lambda: adaline.LogisticRegression(alpha=1.0)),
    "one column": (2, 1, lambda: adaline.LogisticRegression(alpha=1.0)),
}


@pytest.mark.parametrize("case", MANY)
@pytest.mark.filterwarnings("ignore")
def test_every_row_is_drawn_on_the_side_of_its_prediction(rng, case):
    K, p, make = MANY[case]
    X = rng.standard_normal((120, p)) * np.geomspace(1, 100, p)
    y = np.arange(120) % K
    X += rng.standard_normal((K, p))[y] * np.geomspace(1, 100, p)
    model = make().fit(X, y)
    display = plot.DecisionDisplay.from_estimator(model, X, y).plot()
    answers = model.predict(X)
    # Rows near a boundary are nearer to it than to a point of the grid: compare the others.
    step = np.array([display.x[1] - display.x[0], display.y[1] - display.y[0]])
    around = [region(display, display.rows + d * step) for d in ([1, 0], [-1, 0], [0, 1], [0, -1])]
    clear = np.all([near == around[0] for near in around], axis=0)
    assert clear.mean() > 0.5
    assert np.array_equal(around[0][clear], answers[clear])
    assert len(display.wrong) == np.sum(answers != y)
    assert display.held == 0
    if display.values is not None:
        cut = display.x[0] - display.values[0, 0]
        assert np.array_equal(display.rows[:, 0] > cut, answers == 1)


def test_rows_that_other_features_decide_are_not_shown_as_decided_here():
    """A slice through the means of many features is not where the rows are: the picture says so."""
    data = pytest.importorskip("sklearn.datasets").load_breast_cancer()
    model = adaline.LogisticRegression(alpha=1.0).fit(data.data, data.target)
    display = plot.DecisionDisplay.from_estimator(model, data.data, data.target, features=[0, 1])
    assert len(display.elsewhere) > 100
    assert f"which decide {len(display.elsewhere)} rows differently" in display.claim
    there = np.setdiff1d(np.arange(569), display.elsewhere)
    step = np.array([display.x[1] - display.x[0], 0.0])
    near = region(display, display.rows - step), region(display, display.rows + step)
    clear = there[near[0][there] == near[1][there]]
    assert np.array_equal(near[0][clear], model.predict(data.data)[clear])
    labels = [text.get_text() for text in display.plot().ax_.get_legend().get_texts()]
    assert any("decided by other features" in label for label in labels)


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
def test_ellipses_lie_at_their_mahalanobis_distance(rng, covariance):
    X = rng.standard_normal((90, 2)) @ [[1.0, 0.4], [0.0, 0.6]]
    y = np.repeat([0, 1, 2], 30)
    X[y == 1] += 3.0
    X[y == 2] *= 2.0
    model = adaline.GaussianClassifier(covariance=covariance).fit(X, y)
    display = plot.GaussianDisplay.from_estimator(model, X, y, distances=(1.0, 2.5), grid=20)
    for k in range(3):
        for d, curve in zip((1.0, 2.5), display.ellipses[k], strict=True):
            np.testing.assert_allclose(model.mahalanobis(curve.T)[:, k], d**2, rtol=1e-9)
    P = model.predict_proba([[display.x[4], display.y[9]]])[0]
    assert display.posterior[9, 4] == pytest.approx(P.max())


def test_a_feature_without_spread_has_no_distance(rng):
    X = np.column_stack([rng.standard_normal(40), np.full(40, 2.0)])
    y = (X[:, 0] > 0).astype(int)
    model = adaline.GaussianClassifier().fit(X, y)
    display = plot.GaussianDisplay.from_estimator(model, X, y).plot()
    inside = np.mean(model.mahalanobis(X)[np.arange(40), y] <= 4.0)
    assert display.claim.startswith(f"{100 * inside:.0f} % of 40 rows")


def test_ridge_minima_are_those_of_the_path_and_names_are_kept(rng):
    X = rng.standard_normal((30, 5))
    y = X[:, 0] + rng.standard_normal(30)
    model = adaline.Ridge().fit(X, y)
    display = plot.RidgePathDisplay.from_estimator(model, X, y, names=list("abcde"))
    path = model.path(None, X, y)
    assert display.best_loo == path.alphas[path.loo.argmin()]
    assert display.best_gcv == path.alphas[path.gcv.argmin()]
    assert display.names == tuple("abcde")
    # The grid's best is next to the continuous one.
    near = np.searchsorted(path.alphas, model.alpha_)
    assert abs(near - path.loo.argmin()) <= 1
    two = adaline.Ridge().fit(X, np.column_stack([y, -y]))
    second = plot.RidgePathDisplay.from_estimator(two, target=1)
    np.testing.assert_allclose(second.coef[0], -two.path().coef[0, 0], rtol=1e-9)


def test_intervals_are_those_of_the_summary_and_of_the_posterior(rng):
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, 0.0, -1.0] + rng.standard_normal(60)
    model = adaline.LeastSquares().fit(X, y)
    display = plot.CoefficientsDisplay.from_estimator(model, level=0.9)
    columns = model.summary(level=0.9).columns
    np.testing.assert_array_equal(display.low, columns["low 90%"][1:])
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


def test_a_filter_that_found_the_system_has_its_response(rng):
    x, h = rng.standard_normal(3000), np.array([1.0, -0.5, 0.25])
    rls = adaline.RLS(taps=3)
    rls.process(x, np.convolve(x, h)[:3000])
    display = plot.ResponseDisplay.from_filter(rls, truth=h)
    np.testing.assert_allclose(display.gain, display.truth_gain, atol=1e-3)


def test_a_spectrogram_shows_a_tone_where_it_is():
    n = np.arange(8000)
    tone = np.where(n < 4000, np.sin(2 * np.pi * 1000 * n / 8000), 0.0)
    display = plot.SpectrogramDisplay.from_signals(tone, 0 * tone, rate=8000.0)
    assert display.frequencies[display.before[:, 3].argmax()] == 1000.0
    assert np.isneginf(display.before[:, -1]).all()
    assert display.claim == "Nothing is left"
    display.plot()


def test_cover_curves_are_covers_fractions():
    display = plot.CoverDisplay.from_dimensions(3, n=8)
    N, F = display.curves[3]
    assert F[N == 8] == adaline.cover(8, 3).fraction == 0.5
    assert display.here == (8, 3, 0.5)
