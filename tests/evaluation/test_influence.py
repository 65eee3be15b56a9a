"""Single rows: leverage and Cook's distance against statsmodels, changes against fits without."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.evaluation.influence import influence, influence_sentence


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((60, 3)) * [1.0, 50.0, 0.02] + [0.0, 1000.0, 3.0]
    y = X @ [1.0, 0.02, 30.0] + rng.standard_normal(60)
    return X, y


def test_least_squares_has_the_distances_of_statsmodels(rows):
    sm = pytest.importorskip("statsmodels.api")
    X, y = rows
    twin = sm.OLS(y, sm.add_constant(X)).fit().get_influence()
    found = influence(adaline.LeastSquares().fit(X, y), X, y)
    np.testing.assert_allclose(found.leverage, twin.hat_matrix_diag, rtol=1e-7)
    np.testing.assert_allclose(found.cook, twin.cooks_distance[0], rtol=1e-7)
    np.testing.assert_allclose(-found.changes[0], twin.dfbeta[found.rows[0]][1:], rtol=1e-7)
    assert found.exact
    assert found.parameters == pytest.approx(4)


def test_one_step_distances_of_two_classes_and_of_counts_are_those_of_statsmodels(rng):
    sm = pytest.importorskip("statsmodels.api")
    X = rng.standard_normal((80, 2))
    v = X @ [1.0, -0.5] + 0.3
    two = rng.random(80) < 1 / (1 + np.exp(-v))
    for model, y, family in (
        (adaline.LogisticRegression(alpha=0), two, sm.families.Binomial()),
        (adaline.PoissonRegression(alpha=0), rng.poisson(np.exp(v)), sm.families.Poisson()),
    ):
        fit = sm.GLM(np.asarray(y, dtype=float), sm.add_constant(X), family=family).fit()
        twin = fit.get_influence()
        found = influence(model.fit(X, y), X, y)
        # Ours divides by the dispersion where counts vary more than Poisson says.
        scale = max(fit.pearson_chi2 / fit.df_resid, 1.0) if "Poisson" in str(family) else 1.0
        np.testing.assert_allclose(found.leverage, twin.hat_matrix_diag, rtol=1e-5)
        np.testing.assert_allclose(found.cook * scale, twin.cooks_distance[0], rtol=1e-4)
        assert not found.exact


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 5.0, "auto"])
def test_ridge_without_a_row_is_what_the_change_says(rows, alpha, intercept):
    X, y = rows
    model = adaline.Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y)
    found = influence(model, X, y)
    # A fit without the row that keeps the penalty of each column.
    unit = np.ones(3) if model.column_scale_ is None else model.column_scale_
    for i, change in zip(found.rows, found.changes, strict=True):
        rest = np.arange(60) != i
        again = adaline.Ridge(model.alpha_, fit_intercept=intercept).fit(X[rest] / unit, y[rest])
        np.testing.assert_allclose(model.coef_ + change, again.coef_ / unit, rtol=1e-6)


def test_weights_count_as_rows_that_are_left_out_whole(rows, rng):
    X, y = rows
    w = rng.uniform(0.5, 2.0, 60)
    found = influence(adaline.LeastSquares().fit(X, y, sample_weight=w), X, y, w)
    i = found.rows[0]
    rest = np.arange(60) != i
    again = adaline.LeastSquares().fit(X[rest], y[rest], sample_weight=w[rest])
    whole = adaline.LeastSquares().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(whole.coef_ + found.changes[0], again.coef_, rtol=1e-7)


def test_a_penalised_logistic_step_is_near_the_fit_without_the_row(rng):
    X = rng.standard_normal((200, 2))
    y = rng.random(200) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = adaline.LogisticRegression(alpha=2.0).fit(X, y)
    found = influence(model, X, y)
    rest = np.arange(200) != found.rows[0]
    again = adaline.LogisticRegression(alpha=2.0).fit(X[rest], y[rest])
    change = again.coef_[0] - model.coef_[0]
    assert np.linalg.norm(found.changes[0] - change) < 0.1 * np.linalg.norm(change)


def test_the_sentence_names_a_row_that_decides_and_what_it_does(rows):
    X, y = rows
    names = ["a", "b", "c"]
    calm = influence(adaline.LeastSquares().fit(X, y), X, y)
    assert influence_sentence(calm, adaline.LeastSquares().fit(X, y), X, y, names).startswith(
        "No single row"
    )
    X, y = X.copy(), y.copy()
    X[7, 0], y[7] = 40.0, -500.0
    model = adaline.LeastSquares().fit(X, y)
    found = influence(model, X, y)
    assert found.decisive.tolist()[0] == 7
    said = influence_sentence(found, model, X, y, names, "rent")
    rest = np.arange(60) != 7
    without = adaline.LeastSquares().fit(X[rest], y[rest]).coef_
    assert "rent -500 and a 40" in said
    assert any(f"{w:.3g} instead of" in said for w in without)


def test_what_has_no_closed_form_has_no_influence(rows, rng):
    from scipy import sparse

    X, y = rows
    three = np.arange(60) % 3
    assert influence(adaline.LogisticRegression(alpha=1.0).fit(X, three), X, three) is None
    squares = adaline.LeastSquaresClassifier().fit(X, y > y.mean())
    assert influence(squares, X, y > y.mean()) is None
    S = sparse.csr_array(X)
    assert influence(adaline.LeastSquares().fit(S, y), S, y) is None
    Y = np.column_stack([y, -y])
    assert influence(adaline.LeastSquares().fit(X, Y), X, Y) is None
    same = np.column_stack([X, X[:, 0]])  # dependent columns: the row decides what it can
    with pytest.warns(adaline.RankDeficientWarning):
        model = adaline.LeastSquares().fit(same, y)
    assert influence(model, same, y).parameters == pytest.approx(4)
