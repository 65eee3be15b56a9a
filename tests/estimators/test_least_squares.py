"""LeastSquares as a user meets it: fit, stream, forget, summary, warnings and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from adaline import (
    IllConditionedWarning,
    LeastSquares,
    LeastSquaresClassifier,
    Moments,
    RankDeficientWarning,
    Ridge,
    Triangle,
)
from reference import exact_least_squares


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1] + [5.0, 0.0, -3.0]
    return X, X @ [1.0, -0.2, 3.0] + 0.5 * rng.standard_normal(80) + 7.0


def test_a_stream_says_how_many_digits_it_holds(data):
    X, y = data
    model = LeastSquares().partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    claimed = model.certificate_.evidence["digits"]
    exact = np.array(exact_least_squares(X, y)[:3], dtype=float)
    assert claimed > 8
    assert np.max(np.abs(model.coef_ / exact - 1)) <= 10.0**-claimed


def test_moments_and_triangles_from_elsewhere_give_the_same_model(data):
    X, y = data
    want = LeastSquares().fit(X, y)
    for statistics in (Moments.of(X, y), Triangle.of(X, y)):
        model = LeastSquares().fit_moments(statistics)
        np.testing.assert_allclose(model.predict(X), want.predict(X), rtol=1e-11)
        np.testing.assert_allclose(model.summary()["t"], want.summary()["t"], rtol=1e-9)


def test_summary_agrees_with_statsmodels(data):
    sm = pytest.importorskip("statsmodels.api")
    X, y = data
    ours = LeastSquares().fit(X, y).summary(level=0.9)
    theirs = sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(ours["coef"], theirs.params, rtol=1e-10)
    np.testing.assert_allclose(ours["std err"], theirs.bse, rtol=1e-10)
    np.testing.assert_allclose(ours["p"], theirs.pvalues, rtol=1e-7, atol=1e-300)
    np.testing.assert_allclose(
        np.column_stack([ours["low 90%"], ours["high 90%"]]), theirs.conf_int(0.1), rtol=1e-9
    )
    assert ours["R²"] == pytest.approx(theirs.rsquared, rel=1e-11)
    assert ours["adjusted R²"] == pytest.approx(theirs.rsquared_adj, rel=1e-11)
    assert ours["F"] == pytest.approx(theirs.fvalue, rel=1e-9)
    assert ours["p of F"] == pytest.approx(theirs.f_pvalue, rel=1e-6)
    inflation = pytest.importorskip("statsmodels.stats.outliers_influence")
    vif = [inflation.variance_inflation_factor(sm.add_constant(X), j) for j in (1, 2, 3)]
    np.testing.assert_allclose(ours["VIF"][1:], vif, rtol=1e-9)


def test_a_summary_says_how_weights_count_and_how_to_have_those_of_variances(data, rng):
    """Weights that sum to 1 leave no degrees of freedom, and weights of 11 make small errors."""
    sm = pytest.importorskip("statsmodels.api")
    X, y = data
    w = rng.uniform(0.5, 20.0, len(y))
    theirs = sm.WLS(y, sm.add_constant(X), weights=w).fit()
    ours = LeastSquares().fit(X, y, sample_weight=w).summary()
    assert f"weights count rows: {len(y)} rows of weight {w.sum():g} in all" in ours.notes[-1]
    assert "divide them by their mean" in ours.notes[-1]
    scaled = LeastSquares().fit(X, y, sample_weight=w / w.mean()).summary()
    np.testing.assert_allclose(scaled["std err"], theirs.bse, rtol=1e-9)
    for plain in (scaled, LeastSquares().fit(X, y).summary()):
        assert not any("weights count" in note for note in plain.notes)


def test_dependent_columns_are_named_in_a_warning(rng):
    import pandas as pd

    X = pd.DataFrame(rng.standard_normal((30, 2)), columns=["a", "b"])
    X["sum"], X["five"] = X["a"] + X["b"], 5.0
    with pytest.warns(RankDeficientWarning, match="sum|a is a combination of .*five is constant"):
        model = LeastSquares().fit(X, rng.standard_normal(30))
    assert model.rank_ == 2
    assert model.coef_[3] == 0.0
    with pytest.raises(ValueError, match="drop the dependent columns"):
        model.summary()


def test_a_nearly_singular_problem_is_solved_and_warned_about(rng):
    X = rng.standard_normal((30, 2))
    X = np.column_stack([X, X[:, 0] + 1e-12 * rng.standard_normal(30)])
    y = rng.standard_normal(30)
    with pytest.warns(IllConditionedWarning, match="scaled condition number"):
        model = LeastSquares().fit(X, y)
    exact = np.array(exact_least_squares(X, y), dtype=float)
    np.testing.assert_allclose([*model.coef_, model.intercept_], exact, rtol=1e-13)


def test_forgetting_what_was_never_seen_is_refused(data):
    X, y = data
    model = LeastSquares().fit(X, y)
    with pytest.raises(ValueError, match="negative sum"):
        model.forget(X[:1] + 1e6, y[:1])
    with pytest.raises(ValueError, match="would leave none"):
        model.forget(X, y)


def test_so_many_columns_that_no_moments_are_made(rng):
    X, y = rng.standard_normal((30, 1500)), rng.standard_normal(30)
    model = LeastSquares().fit(X, y)
    assert model.moments_ is None
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    want = np.linalg.pinv(X - X.mean(0), rcond=1e-10) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, want, atol=1e-13)
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.partial_fit(X, y)
    assert np.array_equal(LeastSquares().fit(sparse.csr_matrix(X), y).coef_, model.coef_)


def test_where_weights_leave_no_digit_a_warning_says_so(rng):
    X = rng.standard_normal((30, 2))
    omega = np.ones(30)
    omega[3] = 1e60
    with pytest.warns((IllConditionedWarning, RankDeficientWarning)):
        model = LeastSquares(fit_intercept=False).fit(X, X.sum(axis=1), omega)
    assert model.certificate_.kind == "unproven"


@pytest.mark.parametrize(
    "model", [LeastSquares(), LeastSquares(False), Ridge(1.0), LeastSquaresClassifier()], ids=str
)
@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_digits_lost_to_a_forgotten_outlier_are_told_not_hidden(rng, model):
    X = rng.standard_normal((200, 2))
    model.partial_fit(X, np.sign(X[:, 0]))
    far = 1e15 * np.array([[1.0, 1.0], [-1.0, 2.0]])
    model.partial_fit(far, [1.0, -1.0])
    with pytest.warns(IllConditionedWarning, match="rounding has left no digit of x0, x1"):
        model.forget(far, [1.0, -1.0])
    assert model.certificate_.kind in ("unproven", "undecided")
    assert model.fit_.certificate.kind == "unproven"
    assert "rounding has left no digit" in model.fit_.certificate.statement


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_targets_of_zero_have_weights_that_are_proven_to_be_zero(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LeastSquares().fit(scale * np.array([[0.0], [1.0], [4.0]]), np.zeros(3))
    assert model.certificate_.kind in ("exact", "accurate")
    assert model.coef_[0] == model.intercept_ == 0.0
