"""Single rows: leverage and Cook's distance against statsmodels, changes against fits without."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import adaline
from adaline.evaluation.influence import Influence, influence, sentence


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
    assert sentence(calm, adaline.LeastSquares().fit(X, y), X, y, names).startswith("No single row")
    X, y = X.copy(), y.copy()
    X[7, 0], y[7] = 40.0, -500.0
    model = adaline.LeastSquares().fit(X, y)
    found = influence(model, X, y)
    assert found.decisive.tolist()[0] == 7
    said = sentence(found, model, X, y, names, "rent")
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


def told(cook, changes=((0.5, -2.0),), exact=True, coef=(1.0, 4.0), X=None, y=None):
    """The sentence of rows with these distances."""
    cook = np.asarray(cook)
    n, rows = len(cook), np.argsort(-cook, kind="stable")[:5]
    found = Influence(np.zeros(n), cook, rows, np.resize(changes, (len(rows), 2)), 2.0, exact)
    model = SimpleNamespace(coef_=np.array(coef))
    X = np.zeros((n, 2)) if X is None else X
    y = np.arange(n) + 0.123456 if y is None else y
    return sentence(found, model, X, y, ["a", "b"], "rent")


@pytest.mark.parametrize(
    ("cook", "start"),
    [
        ([0.1, 1.0, 0.2], "No single row decides: leaving any one of them out moves little; the l"),
        ([0.1, 1.01, 0.2], "A single row moves the fit; the largest Cook's distance is 1."),
        ([0.1, 1.2345, 2.3456], "2 rows each move the fit; the largest Cook's distance is 2.3. "),
        ([2.0] * 4 + [0.1] * 3, "4 rows each move the fit"),
        ([2.0] * 5 + [0.1] * 3, "5 rows each move the fit"),
        ([2.0] * 7, "5 rows each move the fit"),
    ],
)
def test_rows_that_decide_are_counted(cook, start):
    assert told(cook).startswith(start)


def test_the_coefficient_that_changes_most_in_its_own_size_is_told():
    said = told([0.0, 0.0, 2.0])
    assert said.endswith(
        "That row has rent 2.123. Without it, the coefficient of a would be 1.5 instead of 1. See "
        "whether it is right."
    )
    # Half of 1 or of 4: the larger share counts, unless the coefficient is nothing.
    more = told([2.0, 0.0], changes=((0.5, -2.4),), exact=False)
    assert "the coefficient of b would be about 1.6 instead of 4." in more
    nothing = told([2.0, 0.0], changes=((1e-3, 0.4),), coef=(1e-4, 4.0))
    assert "the coefficient of b would be 4.4 instead of 4." in nothing


def test_a_row_that_is_far_out_is_told_with_its_column():
    X = np.zeros((9, 2))
    X[4, 1] = 9.0
    cook = np.where(np.arange(9) == 4, 2.0, 0.0)
    assert " and b 9, where the mean is 1. Without it" in told(cook, X=X)
    even = np.resize([[0.0, 1.0], [0.0, -1.0]], (9, 2))
    assert "where the mean is" not in told(cook, X=even)
    words = np.array(["ill"] * 9)
    assert "That row has rent 'ill' and b 9" in told(cook, X=X, y=words)


@pytest.mark.parametrize(
    ("n", "p", "known"),
    [(3, 1, True), (2, 1, False), (303, 300, True), (304, 301, False)],
)
def test_few_columns_and_three_rows_have_an_influence(rng, n, p, known):
    X = rng.standard_normal((n, p))
    y = X[:, 0] + rng.standard_normal(n)
    model = adaline.Ridge(alpha=1.0).fit(X, y)
    assert (influence(model, X, y) is not None) == known


def test_a_row_that_is_met_exactly_has_no_distance():
    """Without row 3 nothing is known of its column: there is no fit to compare with."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    y = np.array([0.0, 1.1, 1.9, 5.0, 3.2])
    found = influence(adaline.LeastSquares().fit(X, y), X, y)
    assert found.leverage[3] == pytest.approx(1.0)
    assert found.cook[3] == 0.0
    assert np.all(found.cook[[0, 1, 2, 4]] > 0)


def test_units_of_columns_change_no_distance(rows):
    X, y = rows
    one = influence(adaline.LeastSquares().fit(X, y), X, y)
    for times in (1e-200, 1e150):
        other = influence(adaline.LeastSquares().fit(X * times, y), X * times, y)
        np.testing.assert_allclose(other.cook, one.cook, rtol=1e-6)
        np.testing.assert_allclose(other.changes * times, one.changes, rtol=1e-6)


def test_firths_penalty_has_no_influence(rng):
    X = rng.standard_normal((40, 2))
    y = np.arange(40) % 2
    model = adaline.LogisticRegression(alpha="firth").fit(X, y)
    assert influence(model, X, y) is None
    assert influence(adaline.LogisticRegression(alpha=0).fit(X, y), X, y) is not None
