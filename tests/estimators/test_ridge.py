"""Ridge: scikit-learn's numbers at a fixed alpha, and a penalty that finds itself."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge as Peer

from adaline import LeastSquares, Moments, Ridge, interval
from adaline.data import fit as fit_stream
from adaline.errors import MissingExtra

RULES = ["auto", "loo", "gcv", "evidence"]


def draw(rng, n, p, k=None, noise=1.0):
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3, p) + rng.uniform(-5, 5, p)
    shape = () if k is None else (k,)
    return X, X @ rng.standard_normal((p, *shape)) + noise * rng.standard_normal((n, *shape)) + 3


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 6), (9, 30), (20, 20)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_coefficients_agree_with_scikit_learn(rng, alpha, intercept, weighted, n, p, make):
    X, y = draw(rng, n, p, k=2)
    X = np.where(X > 0, X, 0.0)
    weights = rng.uniform(0.1, 3, n) if weighted else None
    ours = Ridge(alpha, fit_intercept=intercept).fit(make(X), y, sample_weight=weights)
    peer = Peer(alpha, fit_intercept=intercept, solver="svd").fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-10, atol=1e-10 * np.abs(peer.coef_).max())
    assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-9)
    assert_allclose(ours.predict(make(X)), peer.predict(X), rtol=1e-9, atol=1e-9)


def test_a_fixed_penalty_comes_with_all_its_digits_proven(rng):
    model = Ridge(1.0).fit(*draw(rng, 100, 5))
    assert model.certificate_.kind == "exact"
    assert model.certificate_.evidence["digits"] > 15


def test_more_than_a_thousand_columns_never_meet_in_a_square_matrix(rng):
    X, y = draw(rng, 20, 3000)
    model = Ridge().fit(X, y)
    assert model.moments_ is None
    peer = Peer(float(model.alpha_), solver="svd").fit(X, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-8, atol=1e-8 * np.abs(peer.coef_).max())
    assert model.path([1.0], X, y).loo.shape == (1,)
    _, std = model.predict(X[:2], return_std=True)
    assert np.isfinite(std).all()
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.forget(X, y)


def test_many_columns_with_nan_name_the_place(rng):
    X, y = draw(rng, 5, 2000)
    X[3, 7] = np.nan
    with pytest.raises(ValueError, match="row 3, column 7"):
        Ridge().fit(X, y)


def test_no_penalty_on_a_wide_problem_is_the_least_norm_solution(rng):
    X, y = draw(rng, 10, 2000)
    model = Ridge(0.0).fit(X, y)
    w = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    assert_allclose(model.coef_, w, atol=1e-12 * np.abs(w).max())
    assert model.certificate_.kind == "unproven"


def test_wide_targets_with_and_without_a_penalty_are_solved_side_by_side(rng):
    X, Y = draw(rng, 10, 25, k=2)
    both = Ridge([0.0, 1.0]).fit(X, Y)
    w = np.linalg.lstsq(X - X.mean(axis=0), Y[:, 0] - Y[:, 0].mean(), rcond=None)[0]
    assert_allclose(both.coef_[0], w, rtol=1e-8, atol=1e-10)
    assert_allclose(both.coef_[1], Ridge(1.0).fit(X, Y[:, 1]).coef_, rtol=1e-12)


def test_wide_sparse_rows_have_the_same_deviations(rng):
    X, y = draw(rng, 8, 30)
    X = np.where(X > 2, X, 0.0)
    dense, csr = Ridge(1.0).fit(X, y), Ridge(1.0).fit(sparse.csr_array(X), y)
    new = sparse.csr_array(X[:3])
    assert_allclose(csr.predict(new, return_std=True), dense.predict(X[:3], return_std=True))


# The penalty


def test_auto_is_within_five_percent_of_refitting_without_each_row(rng):
    X, y = draw(rng, 25, 8, noise=8.0)
    alphas = np.geomspace(1e-3, 1e5, 400)
    errors = np.zeros(len(alphas))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        A, t = X[rest] - X[rest].mean(axis=0), y[rest] - y[rest].mean()
        penalised = A.T @ A + alphas[:, None, None] * np.eye(8)
        W = np.linalg.solve(penalised, np.tile(A.T @ t, (400, 1))[:, :, None])[:, :, 0]
        errors += (y[i] - y[rest].mean() - W @ (X[i] - X[rest].mean(axis=0))) ** 2
    assert_allclose(Ridge().fit(X, y).alpha_, alphas[np.argmin(errors)], rtol=0.05)


@pytest.mark.parametrize("rule", RULES)
def test_units_change_the_penalty_but_no_prediction(rng, rule):
    X, y = draw(rng, 40, 5, noise=10.0)
    here, there = Ridge(rule).fit(X, y), Ridge(rule).fit(X * 1e-3, y * 700)
    assert_allclose(there.alpha_, here.alpha_ * 1e-6, rtol=1e-6)
    assert_allclose(there.predict(X * 1e-3), 700 * here.predict(X), rtol=1e-7)


def test_each_target_finds_its_own_penalty(rng):
    X = rng.standard_normal((50, 4))
    Y = X @ rng.standard_normal((4, 3)) + rng.standard_normal((50, 3)) * [0.1, 1.0, 10.0]
    for rule in RULES:
        together = Ridge(rule).fit(X, Y)
        assert together.alpha_.shape == (3,)
        for t in range(3):
            alone = Ridge(rule).fit(X, Y[:, t])
            assert_allclose(together.alpha_[t], alone.alpha_, rtol=1e-8)
            assert_allclose(together.coef_[t], alone.coef_, rtol=1e-8)
    fixed = Ridge([1.0, 2.0, 3.0]).fit(X, Y)
    assert_allclose(fixed.coef_[2], Ridge(3.0).fit(X, Y[:, 2]).coef_)
    assert "of 3 targets" in fixed.certificate_.statement


def test_some_positive_penalty_generalises_better_than_least_squares():
    # Lecture, section 5.2: "there always exists a positive lambda" with a smaller error.
    rng = np.random.default_rng(52)
    p, X_new = 15, np.random.default_rng(1).standard_normal((2000, 15))
    errors = np.zeros(3)
    for _ in range(50):
        w = 0.3 * rng.standard_normal(p)
        X = rng.standard_normal((25, p))
        y = X @ w + rng.standard_normal(25)
        models = [Ridge(0.0), Ridge(3.0), Ridge()]
        errors += [np.mean((m.fit(X, y).predict(X_new) - X_new @ w) ** 2) for m in models]
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[0]


def test_a_perfect_fit_is_least_squares_and_says_so(rng):
    X, y = draw(rng, 30, 3, noise=0.0)
    for rule in RULES:
        model = Ridge(rule).fit(X, y)
        assert model.alpha_ == 0
        assert "this is least squares" in model.fit_.stopped


def test_targets_without_a_signal_get_weights_of_about_zero():
    X = np.array([[-1.0], [-1.0], [1.0], [1.0]] * 5)
    y = np.array([1.0, -1.0, 1.0, -1.0] * 5)
    for rule in RULES:
        model = Ridge(rule).fit(X, y)
        assert abs(model.coef_[0]) < 1e-6
        assert "infinite penalties" in model.fit_.stopped


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("rule", RULES)
def test_a_constant_target_is_predicted(rng, rule, n):
    X = rng.standard_normal((n, 3))
    model = Ridge(rule).fit(X, np.full(n, 1e6 + 0.1))
    assert_allclose(model.predict(X), 1e6 + 0.1, rtol=1e-15)


def test_constant_columns_get_no_weight(rng):
    X, y = np.full((20, 2), 3.3), rng.standard_normal(20)
    model = Ridge().fit(X, y)
    assert_allclose(model.coef_, 0.0, atol=1e-15)
    assert_allclose(model.predict(X), y.mean())
    assert "no column of X varies" in model.fit_.stopped


@pytest.mark.parametrize("rule", RULES)
def test_duplicated_columns_share_their_weight_without_a_warning(rng, rule):
    X, y = draw(rng, 40, 2, noise=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Ridge(rule).fit(X[:, [0, 0, 1]], y)
    assert_allclose(model.coef_[0], model.coef_[1], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("shape", [(30, 3), (3, 5)])
def test_huge_and_tiny_units_are_no_trouble(rng, scale, shape):
    X, y = draw(rng, *shape)
    usual, strange = Ridge("gcv").fit(X, y), Ridge("gcv").fit(X * scale, y)
    assert_allclose(strange.predict(X * scale), usual.predict(X), rtol=1e-6)


def test_single_precision_in_single_precision_out(rng):
    X, y = draw(rng, 40, 3)
    model = Ridge().fit(X.astype(np.float32), y)
    mean, std = model.predict(X.astype(np.float32), return_std=True)
    assert {model.coef_.dtype, mean.dtype, std.dtype} == {np.dtype(np.float32)}
    assert_allclose(model.coef_, Ridge().fit(X, y).coef_, rtol=1e-4)


def test_dense_and_sparse_choose_the_same_penalty(rng):
    for n, p in [(50, 4), (8, 30)]:
        X, y = draw(rng, n, p, noise=5.0)
        X = np.where(X > 2, X, 0.0)
        for rule in RULES:
            dense, csr = Ridge(rule).fit(X, y), Ridge(rule).fit(sparse.csr_array(X), y)
            assert_allclose(csr.predict(X), dense.predict(X), rtol=1e-6, atol=1e-6)


# Streams


@pytest.mark.parametrize("rule", ["auto", "gcv", "evidence", 2.0])
def test_blocks_give_the_same_as_all_rows_at_once(rng, rule):
    X, y = draw(rng, 90, 4, noise=5.0)
    stream = Ridge(rule)
    for block in np.array_split(np.arange(90), 7):
        stream.partial_fit(X[block], y[block])
    batch = Ridge("gcv" if rule == "auto" else rule).fit(X, y)
    assert_allclose(stream.alpha_, batch.alpha_, rtol=1e-8)
    assert_allclose(stream.coef_, batch.coef_, rtol=1e-8)
    assert_allclose(Ridge(rule).fit_moments(Moments.of(X, y)).coef_, batch.coef_, rtol=1e-8)


def test_forgetting_undoes_a_block(rng):
    X, y = draw(rng, 60, 4, noise=5.0)
    model = Ridge().partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).forget(X[40:], y[40:])
    assert_allclose(model.coef_, Ridge("gcv").fit(X[:40], y[:40]).coef_, rtol=1e-8)


def test_leaving_out_needs_the_rows_and_says_so(rng):
    X, y = draw(rng, 20, 2)
    model = Ridge("loo")
    with pytest.raises(AttributeError, match="partial_fit") as refused:
        model.partial_fit(X, y)
    assert '"gcv", "evidence", "auto"' in str(refused.value.__cause__)
    assert not hasattr(model, "moments_")
    with pytest.raises(AttributeError, match="fit_moments"):
        model.fit_moments(Moments.of(X, y))
    with pytest.raises(ValueError, match="needs them all"):
        fit_stream(Ridge("loo"), np.column_stack([X, y]), "x2")


def test_leaving_out_has_no_streaming_methods_and_other_rules_have():
    """Tools ask with hasattr whether an estimator can stream."""
    for method in ("partial_fit", "forget", "fit_moments"):
        assert not hasattr(Ridge("loo"), method)
        assert not hasattr(Ridge("loo").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0]), method)
        assert all(hasattr(Ridge(rule), method) for rule in ("auto", "gcv", "evidence", 1.0))
        assert callable(getattr(Ridge, method))
    assert hasattr(Ridge("loo").set_params(alpha="gcv"), "partial_fit")


# The path


def test_the_path_tells_coefficients_errors_and_degrees_of_freedom(rng):
    X, y = draw(rng, 40, 4)
    path = Ridge(5.0).fit(X, y).path([0.0, 1.0, 1e12], X, y)
    assert_allclose(path.dof, [5.0, path.dof[1], 1.0], atol=1e-6)
    peer = Peer(1.0, solver="cholesky").fit(X, y)
    assert_allclose(path.coef[1], peer.coef_, rtol=1e-10)
    assert_allclose(path.intercept[1], peer.intercept_, rtol=1e-10)
    frame = path.to_frame()
    assert list(frame.columns) == [
        "alpha",
        "dof",
        "gcv",
        "loo",
        "intercept",
        "x0",
        "x1",
        "x2",
        "x3",
    ]
    assert Ridge(5.0).fit(X, y).path().loo is None


def test_the_path_of_several_targets_has_a_line_for_each(rng):
    X, Y = draw(rng, 40, 3, k=2)
    path = Ridge().fit(X, Y).path()
    assert path.coef.shape == (50, 2, 3)
    assert path.to_frame().shape == (100, 8)


def test_the_minimum_of_the_path_is_where_the_rule_is(rng):
    X, y = draw(rng, 40, 6, noise=10.0)
    for rule in ("loo", "gcv"):
        model = Ridge(rule).fit(X, y)
        near = model.alpha_ * np.array([0.99, 1.0, 1.01])
        errors = getattr(model.path(near, X, y), rule)
        assert np.argmin(errors) == 1


def test_a_path_of_other_rows_is_refused(rng):
    X, y = draw(rng, 40, 3)
    model = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="Give the same rows"):
        model.path([1.0], X[:30], y[:30])
    with pytest.raises(ValueError, match="y together with X"):
        model.path([1.0], X)


def test_a_frame_without_pandas_says_what_to_install(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install"):
        Ridge(1.0).fit(*draw(rng, 10, 2)).path([1.0]).to_frame()


# The Bayesian reading


@pytest.mark.parametrize(("n", "p"), [(40, 3), (6, 10)])
def test_the_posterior_is_bayes_rule_written_out(rng, n, p):
    X, y = draw(rng, n, p)
    model = Ridge(2.0).fit(X, y)
    posterior = model.posterior()
    A = np.column_stack([X, np.ones(n)])
    inverse = np.linalg.inv(A.T @ A + np.diag([2.0] * p + [0.0]))
    r, dof = y - model.predict(X), np.trace(A @ inverse @ A.T)
    assert_allclose(posterior.noise, r @ r / (n - dof), rtol=1e-8)
    assert_allclose(posterior.prior, posterior.noise / 2, rtol=1e-12)
    assert_allclose(posterior.mean, model.coef_)
    whole = posterior.noise * inverse
    assert_allclose(posterior.covariance, whole[:p, :p], rtol=1e-7, atol=1e-9 * whole.max())
    new = rng.standard_normal((5, p)) * 10
    mean, std = model.predict(new, return_std=True)
    B = np.column_stack([new, np.ones(5)])
    assert_allclose(mean, model.predict(new))
    assert_allclose(std**2, posterior.noise + np.sum(B @ whole * B, axis=1), rtol=1e-7)


def test_predictive_deviations_cover_as_often_as_they_say():
    rng = np.random.default_rng(3)
    inside = 0.0
    for _ in range(100):
        w = rng.standard_normal(5)
        X, X_new = rng.standard_normal((30, 5)), rng.standard_normal((50, 5))
        model = Ridge("evidence").fit(X, X @ w + rng.standard_normal(30))
        mean, std = model.predict(X_new, return_std=True)
        inside += np.mean(np.abs(X_new @ w + rng.standard_normal(50) - mean) < 1.96 * std) / 100
    assert 0.92 < inside < 0.97


def test_at_greatest_evidence_both_estimates_of_the_noise_agree(rng):
    X, y = draw(rng, 50, 4)
    model = Ridge("evidence").fit(X, y)
    found = model.evidence()
    assert_allclose(found.best_alpha, model.alpha_, rtol=1e-8)
    assert_allclose(found.value, found.best_value)
    assert Ridge(model.alpha_ * 2).fit(X, y).evidence().value < found.value
    r = y - model.predict(X)
    pooled = (r @ r + model.alpha_ * model.coef_ @ model.coef_) / 49
    assert_allclose(model.posterior().noise, pooled, rtol=1e-6)


@pytest.mark.parametrize(("n", "p", "alpha"), [(60, 4, "evidence"), (12, 700, 0.3), (30, 30, 1e-6)])
@pytest.mark.parametrize("k", [None, 2])
def test_deviations_of_weights_are_roots_of_the_posterior_variances(rng, n, p, alpha, k):
    X, y = draw(rng, n, p) if k is None else draw(rng, n, p, k=k)
    model = Ridge(alpha).fit(X, y)
    variances = np.diagonal(model.posterior().covariance, axis1=-2, axis2=-1)
    # (p^2 r) sums of numbers below one, in another order
    assert_allclose(model.posterior_std(), np.sqrt(variances), rtol=1e-9)
    scaled = Ridge("auto").fit(X * 10.0 ** (np.arange(p) % 5), y)
    variances = np.diagonal(scaled.posterior().covariance, axis1=-2, axis2=-1)
    assert_allclose(scaled.posterior_std(), np.sqrt(variances), rtol=1e-9)


def test_several_targets_have_several_posteriors(rng):
    X, Y = draw(rng, 40, 3, k=2)
    model = Ridge("evidence").fit(X, Y)
    assert model.posterior().covariance.shape == (2, 3, 3)
    assert model.evidence().value.shape == (2,)
    _, std = model.predict(X, return_std=True)
    alone = Ridge("evidence").fit(X, Y[:, 1])
    assert_allclose(std[:, 1], alone.predict(X, return_std=True)[1], rtol=1e-7)
    assert_allclose(model.posterior().covariance[1], alone.posterior().covariance, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::adaline.errors.RankDeficientWarning")
def test_without_a_penalty_dependent_columns_have_no_posterior(rng):
    X, y = draw(rng, 20, 2)
    with pytest.raises(ValueError, match="no proper posterior"):
        Ridge(0.0).fit(X[:, [0, 0, 1]], y).posterior()
    with pytest.raises(ValueError, match="no degrees of freedom"):
        Ridge(0.0).fit(X[:3], y[:3]).posterior()
    assert Ridge(0.0).fit(X, y).evidence().value == -np.inf


# Bad input


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (-1.0, "finite number >= 0"),
        (np.nan, "finite number >= 0"),
        (np.inf, "finite number >= 0"),
        ([1.0, -1.0], "finite number >= 0"),
        ([[1.0]], "finite number >= 0"),
        (None, "finite number >= 0"),
        ({"a": 1}, "expected numbers"),
        ("best", '"auto", "loo", "gcv" or "evidence"'),
        ([1.0, 2.0, 3.0], "one for each target"),
    ],
)
def test_a_senseless_penalty_is_refused_in_a_sentence(rng, alpha, words):
    X, Y = draw(rng, 20, 2, k=2)
    with pytest.raises(ValueError, match=words):
        Ridge(alpha).fit(X, Y)


def test_rows_of_zero_weight_do_not_exist(rng):
    for n, p in [(30, 3), (10, 20)]:
        X, y = draw(rng, n, p, noise=5.0)
        weights = np.where(np.arange(n) % 3 == 0, 0.0, 1.0)
        some = weights > 0
        for rule in RULES:
            ours = Ridge(rule).fit(X, y, sample_weight=weights)
            assert_allclose(ours.coef_, Ridge(rule).fit(X[some], y[some]).coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="zero for every row"):
        Ridge().fit(X, y, sample_weight=np.zeros(n))


def test_the_path_of_a_constant_column_is_flat(rng):
    y = rng.standard_normal(5)
    path = Ridge().fit(np.ones((5, 1)), y).path(None, np.ones((5, 1)), y)
    assert not path.coef.any()
    np.testing.assert_allclose(path.intercept, y.mean())


@pytest.mark.parametrize("alpha", ["auto", "gcv", 2.0])
def test_the_summary_is_the_posterior_with_the_penalty(rng, alpha):
    X, y = draw(rng, 40, 3)
    X = X + 5.0
    model = Ridge(alpha).fit(X, y)
    table, given = model.summary(0.9), model.posterior()
    assert table["alpha"] == model.alpha_
    assert_allclose(table["coef"], [model.intercept_, *model.coef_])
    assert_allclose(table["std err"][1:], np.sqrt(np.diag(given.covariance)))
    assert_allclose(table["high 90%"] - table["coef"], 1.6448536269514722 * table["std err"])
    # The mean of y is sure to noise / n, and the slopes add their errors on the way to x = 0.
    mean = X.mean(axis=0)
    about = given.noise / 40 + mean @ given.covariance @ mean
    assert table["std err"][0] == pytest.approx(np.sqrt(about))
    assert ("minimises" in str(table)) == isinstance(alpha, str)


def test_the_summary_of_each_target_is_that_of_it_alone(rng):
    X, Y = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    both, one = Ridge(3.0).fit(X, Y).summary(target=1), Ridge(3.0).fit(X, Y[:, 1]).summary()
    for column in ("coef", "std err"):
        assert_allclose(both[column], one[column])
    with pytest.raises(ValueError, match="target"):
        Ridge(3.0).fit(X, Y).summary(target=2)


@pytest.mark.parametrize("learner", [Ridge(), Ridge(1e-300), LeastSquares()])
def test_after_a_perfect_fit_no_zero_is_sure_to_have_an_effect(rng, learner):
    X = rng.standard_normal((60, 5))
    for y in (2.0 * X[:, 0] + 1.0, 2e-100 * X[:, 0]):
        table = learner.fit(X, y).summary()
        sure = (table["low 95%"] > 0) | (table["high 95%"] < 0)
        assert sure[1:].tolist() == [True] + [False] * 4


def test_too_few_rows_are_not_called_dependent_columns(rng):
    X, y = rng.standard_normal((3, 3)), rng.standard_normal(3)
    model = LeastSquares().fit(X, y)
    for asked in (model.summary, lambda: interval(model, X)):
        with pytest.raises(ValueError, match="3 rows cannot determine 4"):
            asked()
    with pytest.raises(ValueError, match="dependent"):
        LeastSquares().fit(np.ones((9, 2)) * np.arange(9)[:, None], np.arange(9)).summary()
