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


def test_any_cutting_of_the_stream_gives_the_same_weights(data):
    X, y = data
    whole = LeastSquares().fit(X, y)
    for size in (1, 7, 33, 80):
        model = LeastSquares()
        for i in range(0, 80, size):
            model.partial_fit(X[i : i + size], y[i : i + size])
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-11)
        np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-11)


def test_a_stream_says_how_many_digits_it_holds(data):
    X, y = data
    model = LeastSquares().partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    claimed = model.certificate_.evidence["digits"]
    exact = np.array(exact_least_squares(X, y)[:3], dtype=float)
    assert claimed > 8
    assert np.max(np.abs(model.coef_ / exact - 1)) <= 10.0**-claimed


def test_forgetting_rows_is_never_having_seen_them(data):
    X, y = data
    model = LeastSquares().fit(X, y).forget(X[50:], y[50:])
    want = LeastSquares().fit(X[:50], y[:50])
    np.testing.assert_allclose(model.coef_, want.coef_, rtol=1e-11)
    assert model.moments_.rows == 50


def test_fit_then_partial_fit_goes_on_from_the_fit(data):
    X, y = data
    model = LeastSquares().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(model.coef_, LeastSquares().fit(X, y).coef_, rtol=1e-11)


def test_moments_and_triangles_from_elsewhere_give_the_same_model(data):
    X, y = data
    want = LeastSquares().fit(X, y)
    for statistics in (Moments.of(X, y), Triangle.of(X, y)):
        model = LeastSquares().fit_moments(statistics)
        np.testing.assert_allclose(model.predict(X), want.predict(X), rtol=1e-11)
        np.testing.assert_allclose(model.summary()["t"], want.summary()["t"], rtol=1e-9)


def test_float32_in_float32_out(data):
    X, y = data
    model = LeastSquares().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.predict(X.astype(np.float32)).dtype == np.float32
    want = LeastSquares().fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_array_equal(model.coef_, want.coef_.astype(np.float32))


@pytest.mark.parametrize("kind", [int, bool, np.uint8])
def test_integers_and_booleans_are_numbers(rng, kind):
    X = rng.integers(0, 2, (40, 3)).astype(kind)
    y = rng.standard_normal(40)
    want = LeastSquares().fit(X.astype(float), y)
    assert np.array_equal(LeastSquares().fit(X, y).coef_, want.coef_)


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


def test_summary_without_intercept_agrees_with_statsmodels(data):
    sm = pytest.importorskip("statsmodels.api")
    X, y = data
    ours, theirs = LeastSquares(fit_intercept=False).fit(X, y).summary(), sm.OLS(y, X).fit()
    np.testing.assert_allclose(ours["std err"], theirs.bse, rtol=1e-10)
    assert ours["R²"] == pytest.approx(theirs.rsquared, rel=1e-10)
    assert ours["F"] == pytest.approx(theirs.fvalue, rel=1e-9)


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


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_aic_and_bic_are_those_of_statsmodels(data, rng, bias, weighted):
    """A weight counts rows, as if they were repeated; WLS would count it as a variance."""
    sm = pytest.importorskip("statsmodels.api")
    X, y = data
    counts = rng.integers(0, 4, len(y)) if weighted else np.ones(len(y), int)
    rows = np.repeat(np.arange(len(y)), counts)
    Z = sm.add_constant(X) if bias else X
    theirs = sm.OLS(y[rows], Z[rows]).fit()
    ours = LeastSquares(fit_intercept=bias).fit(X, y, sample_weight=counts).summary()
    assert ours["log-likelihood"] == pytest.approx(theirs.llf, rel=1e-11)
    assert ours["AIC"] == pytest.approx(theirs.aic, rel=1e-11)
    assert ours["BIC"] == pytest.approx(theirs.bic, rel=1e-11)
    np.testing.assert_allclose(ours["std err"], theirs.bse, rtol=1e-10)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_summary_says_where_standard_errors_have_few_digits(rng, bias):
    X = rng.standard_normal((50, 2))
    X[:, 1] = X[:, 0] + 1e-6 * X[:, 1]
    y = X[:, 0] + rng.standard_normal(50)
    model = LeastSquares(fit_intercept=bias)
    assert "standard errors" not in str(model.fit(X, y).summary())
    stream = LeastSquares(fit_intercept=bias).partial_fit(X, y).summary()
    assert "standard errors, t and intervals have at least about 3 digits" in str(stream)
    off = np.abs(stream["std err"] / model.summary()["std err"] - 1)
    assert off.max() < 1e-3


def test_summary_prints_as_text_frame_and_html(data):
    X, y = data
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b<script>", "c"])
    table = LeastSquares().fit(frame, y).summary()
    assert "intercept" in str(table)
    assert "exact:" in str(table)
    assert list(table.to_frame().index) == ["intercept", "a", "b<script>", "c"]
    assert "<script>" not in table.to_html()
    with pytest.raises(KeyError, match="there are"):
        table["nonsense"]


def test_a_perfect_fit_has_no_noise_and_says_so_without_warnings():
    table = LeastSquares().fit([[1.0], [2.0], [3.0], [4.0]], [3.0, 5.0, 7.0, 9.0]).summary()
    assert table["coef"].tolist() == [1.0, 2.0]
    assert table["residual std dev"] == 0.0
    assert table["R²"] == 1.0


def test_as_many_rows_as_coefficients_leave_no_standard_errors():
    table = LeastSquares().fit([[1.0], [2.0]], [1.0, 3.0]).summary()
    assert np.isnan(table["std err"]).all()


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


def test_the_dummy_trap_is_a_dependence_not_a_disaster(rng):
    X = np.eye(3)[rng.integers(0, 3, 60)]
    y = rng.standard_normal(60)
    with pytest.warns(RankDeficientWarning):
        model = LeastSquares().fit(X, y)
    means = np.array([y[X[:, j] == 1].mean() for j in range(3)])
    np.testing.assert_allclose(model.predict(np.eye(3)), means, rtol=1e-12)


def test_one_row_gives_its_own_value():
    model = LeastSquares().fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]]).tolist() == [3.0]
    assert model.rank_ == 0


def test_a_failed_partial_fit_loses_nothing(data):
    X, y = data
    model = LeastSquares().partial_fit(X, y)
    before = model.coef_.copy(), model.moments_
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        model.partial_fit(bad, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="2 targets"):
        model.partial_fit(X, np.column_stack([y, y]))
    assert np.array_equal(model.coef_, before[0])
    assert model.moments_ is before[1]
    model.predict(X)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": np.full((4, 2), np.inf)}, "row 0, column 0"),
        ({"X": np.empty((0, 2)), "y": []}, "0 sample"),
        ({"y": [1.0, np.nan, 2.0, 3.0]}, "y contains NaN"),
        ({"y": [1.0, 2.0]}, "X has 4 rows and y has shape"),
        ({"y": ["a", "b", "c", "d"]}, "needs numbers"),
        ({"y": np.array([None, "b", "c", "d"], dtype=object)}, "needs numbers"),
        ({"sample_weight": [1, -1, 1, 1]}, "[Nn]egative"),
        ({"sample_weight": [0, 0, 0, 0]}, "zero for every row"),
        ({"sample_weight": [1, 1]}, "sample_weight"),
        ({"X": [["a", "b"]] * 4}, "could not convert|dtype"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(rng, change, sentence):
    good = {"X": rng.standard_normal((4, 2)), "y": [1.0, 2.0, 3.0, 5.0], "sample_weight": None}
    with pytest.raises(ValueError, match=sentence):
        LeastSquares().fit(**(good | change))


def test_forgetting_what_was_never_seen_is_refused(data):
    X, y = data
    model = LeastSquares().fit(X, y)
    with pytest.raises(ValueError, match="not among the rows"):
        model.forget(X[:1] + 1e6, y[:1])
    with pytest.raises(ValueError, match="would leave none"):
        model.forget(X, y)


def test_columns_scaled_1e_150_to_1e150_give_the_same_predictions(data):
    X, y = data
    units = np.array([1e-150, 1.0, 1e150])
    want = LeastSquares().fit(X, y).predict(X)
    model = LeastSquares().fit(X * units, y)
    np.testing.assert_allclose(model.predict(X * units), want, rtol=1e-12)
    np.testing.assert_allclose(
        LeastSquares().partial_fit(X * units, y).predict(X * units), want, rtol=1e-10
    )


def test_sparse_rows_give_the_same_bits_as_dense(rng):
    X = rng.standard_normal((60, 4)) * (rng.random((60, 4)) < 0.3)
    y = rng.standard_normal(60)
    dense, thin = LeastSquares().fit(X, y), LeastSquares().fit(sparse.csr_matrix(X), y)
    assert np.array_equal(dense.coef_, thin.coef_)
    assert dense.intercept_ == thin.intercept_


def test_without_refinement_the_certificate_claims_less_and_is_still_right(data):
    X, y = data
    fast, full = LeastSquares(refine=False).fit(X, y), LeastSquares().fit(X, y)
    assert fast.certificate_.evidence["digits"] < full.certificate_.evidence["digits"]
    claimed = fast.certificate_.evidence["digits"]
    assert np.max(np.abs(fast.coef_ / full.coef_ - 1)) <= 10.0**-claimed


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


def test_columns_whose_sums_no_machine_holds_are_refused():
    X = sparse.csr_matrix((200_000, 100_000))
    with pytest.raises(ValueError, match="GiB"):
        LeastSquares().partial_fit(X, np.zeros(200_000))
    assert not LeastSquares().fit(X, np.zeros(200_000)).coef_.any()  # products alone suffice


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_column_that_varies_only_in_rows_of_weight_zero_is_constant(rng, fit_intercept):
    X, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    weights = np.ones(12)
    weights[:4] = 0.0
    X[4:, 1] = 0.0
    with pytest.warns(RankDeficientWarning, match="x1 is constant"):
        model = LeastSquares(fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    assert model.coef_[1] == 0.0
    want = LeastSquares(fit_intercept=fit_intercept).fit(X[4:, [0, 2]], y[4:])
    np.testing.assert_allclose(model.coef_[[0, 2]], want.coef_, rtol=1e-12)


def test_wide_columns_of_many_units_are_fitted_and_not_cut(rng):
    units = 10.0 ** np.linspace(-8, 8, 70)
    X, y = rng.standard_normal((40, 70)) * units, rng.standard_normal(40)
    model = LeastSquares(fit_intercept=False).fit(X, y)
    assert model.rank_ == 40
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


def test_constant_columns_of_as_few_rows_as_columns_have_no_rank():
    model = LeastSquares().fit([[1.0, 0.0], [1.0, 0.0]], [0.0, 3.0])
    assert model.rank_ == 0
    assert model.coef_.tolist() == [0.0, 0.0]
    assert model.intercept_ == 1.5


def test_a_square_system_is_solved_exactly(rng):
    X, y = rng.standard_normal((6, 6)) * 10.0 ** np.linspace(-8, 8, 6), rng.standard_normal(6)
    model = LeastSquares(fit_intercept=False).fit(X, y)
    exact = exact_least_squares(X, y, intercept=False)
    assert model.coef_.tolist() == [float(v) for v in exact]
    assert model.certificate_.kind == "exact"


def test_targets_whose_squares_overflow_leave_the_weights_alone(rng):
    X = rng.standard_normal((30, 3))
    model = LeastSquares().fit(X, (X @ [1.0, 2.0, 3.0] + 1.0) * 1e200)
    np.testing.assert_allclose(model.coef_, np.array([1.0, 2.0, 3.0]) * 1e200, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("heavy", [1e30, 1e60, 1e100])
def test_a_row_that_outweighs_all_others_does_not_drown_them(rng, p, heavy):
    """The plane goes through that row, and the others decide its slope."""
    X = rng.standard_normal((30, p))
    y, omega = X.sum(axis=1) + rng.standard_normal(30), np.ones(30)
    omega[3] = heavy
    slope = np.linalg.lstsq(X - X[3], y - y[3], rcond=None)[0]
    for model in (LeastSquares(), LeastSquares(refine=False), Ridge(0.0)):
        model.fit(X, y, omega)
        np.testing.assert_allclose(model.coef_, slope, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, y[3] - X[3] @ slope, rtol=1e-9)
        assert model.certificate_.kind in ("exact", "accurate")
        assert model.certificate_.evidence["digits"] >= 9


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


def test_a_constant_column_stays_constant_in_a_stream_that_forgets(rng):
    X = np.column_stack([rng.standard_normal(60), np.full(60, 0.1)])
    model, y = LeastSquares(), X[:, 0] + 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).forget(X[:5], y[:5])
    np.testing.assert_allclose(model.coef_, [1.0, 0.0], atol=1e-12)
    assert "drowned" not in model.certificate_.evidence
