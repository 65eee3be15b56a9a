"""LogisticRegression: scikit-learn and statsmodels agree, bad input is refused, and Firth helps."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from adaline import LogisticRegression, SeparableError, data
from adaline.errors import RankDeficientWarning
from adaline.sums.objective import Objective


def sample(rng, n=400, p=4, K=2):
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 3, p) + rng.uniform(-2, 2, p)
    V = X @ rng.normal(size=(p, K)) / 2
    return X, np.argmax(V + rng.gumbel(size=(n, K)), axis=1)


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scikit_learn_s_weights_are_found(rng, K, alpha, fit_intercept):
    X, y = sample(rng, K=K)
    omega = rng.uniform(0.5, 2, len(y))
    ours = LogisticRegression(alpha=alpha, fit_intercept=fit_intercept).fit(X, y, omega)
    peer = Peer(
        C=1 / alpha, fit_intercept=fit_intercept, tol=1e-10, max_iter=5000, solver="newton-cg"
    ).fit(X, y, omega)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.coef_.shape == peer.coef_.shape
    assert ours.intercept_.shape == peer.intercept_.shape
    assert ours.n_iter_.shape == (1,)
    assert ours.certificate_.kind == "optimal"


@pytest.mark.parametrize("alpha", [1.0, 1e-6])
def test_unscaled_columns_of_real_data_are_no_trouble(alpha):
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(alpha=alpha).fit(X, y)
    assert model.certificate_.kind == "optimal"
    assert model.n_iter_[0] < 30


def test_statsmodels_finds_the_same_errors_and_deviance(rng):
    X, y = sample(rng)
    table = LogisticRegression(alpha=0).fit(X, y).summary(level=0.9)
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    np.testing.assert_allclose(table["coef"], peer.params, rtol=1e-6)
    np.testing.assert_allclose(table["std err"], peer.bse, rtol=1e-6)
    np.testing.assert_allclose(table["z"], peer.tvalues, rtol=1e-6)
    np.testing.assert_allclose(table["p"], peer.pvalues, rtol=1e-5, atol=1e-12)
    low, high = peer.conf_int(alpha=0.1).T
    np.testing.assert_allclose(table["low 90%"], low, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(table["high 90%"], high, rtol=1e-5, atol=1e-8)
    assert table["deviance"] == pytest.approx(-2 * peer.llf)
    assert table["null deviance"] == pytest.approx(-2 * peer.llnull)
    assert table["AIC"] == pytest.approx(peer.aic)
    assert table["BIC"] == pytest.approx(peer.bic)
    assert table["McFadden R²"] == pytest.approx(peer.prsquared)
    assert table.names == ("intercept", "x0", "x1", "x2", "x3")


def test_errors_of_several_classes_are_those_of_statsmodels_differences(rng):
    X, y = sample(rng, K=3)
    model = LogisticRegression(alpha=0).fit(X, y)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=100)
    W = np.column_stack([model.intercept_, model.coef_])
    np.testing.assert_allclose((W[1:] - W[0]).T, np.asarray(peer.params), atol=1e-6)
    # The errors of w_k - mean(w) follow from the covariance of the differences to class 0.
    q = X.shape[1] + 1
    C = np.zeros((3 * q, 3 * q))
    C[q:, q:] = np.asarray(peer.cov_params())
    P = np.kron(np.eye(3) - 1 / 3, np.eye(q))
    table = model.summary()
    np.testing.assert_allclose(table["std err"], np.sqrt(np.diag(P @ C @ P)), rtol=1e-5)
    assert table["deviance"] == pytest.approx(-2 * peer.llf)
    assert table["AIC"] == pytest.approx(peer.aic)
    assert table.names[0] == "0: intercept"


def test_a_penalised_summary_says_whose_errors_it_gives(rng):
    X, y = sample(rng)
    table = LogisticRegression(alpha=5.0).fit(X, y).summary()
    assert "include the penalty (alpha = 5)" in str(table)
    assert table["parameters"] < 5


def test_a_large_fit_takes_the_rows_for_its_summary(rng, monkeypatch):
    X, y = sample(rng)
    small = LogisticRegression(alpha=0).fit(X, y)
    monkeypatch.setattr("adaline.estimators.newton.AFFORDABLE_WORK", 0)
    large = LogisticRegression(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="training rows"):
        large.summary()
    np.testing.assert_allclose(
        large.summary(X=X, y=y)["std err"], small.summary()["std err"], rtol=1e-6
    )


def test_separable_data_have_no_maximum_likelihood_and_are_told_so():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(SeparableError, match=r"all 569 rows on their right side.*firth"):
        LogisticRegression(alpha=0).fit(X, y)


def test_quasi_separable_data_name_the_column_and_the_samples(rng):
    X = rng.normal(size=(200, 3))
    X[:, 2] = rng.random(200) < 0.1
    y = np.where(X[:, 2] == 1, 1, rng.random(200) < 0.5).astype(int)
    with pytest.raises(SeparableError, match=r"the classes touch: .* rows") as caught:
        LogisticRegression(alpha=0).fit(X, y)
    assert "told apart mostly by x2. " in str(caught.value)
    firth = LogisticRegression(alpha="firth").fit(X, y)
    assert 0 < firth.coef_[0, 2] < 6
    assert firth.certificate_.kind == "unproven"


def test_classes_that_one_direction_separates_are_quasi_separable_among_many():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SeparableError):
        LogisticRegression(alpha=0).fit(X, y)


def test_rows_of_weight_zero_do_not_overlap_and_rows_keep_their_numbers():
    X, y = np.array([[5.0], [0.0], [1.0], [1.0], [2.0]]), [0, 0, 0, 1, 1]
    with pytest.raises(SeparableError, match="rows 2 and 3 are equal with different labels"):
        LogisticRegression(alpha=0).fit(X, y, sample_weight=[0, 1, 1, 1, 1])


def test_classes_that_overlap_by_an_ulp_are_not_refused():
    X = np.array([[0.0], [1.0], [np.nextafter(1.0, 0.0)], [2.0]])
    with pytest.warns(ConvergenceWarning, match="overlap, so a maximum exists"):
        model = LogisticRegression(alpha=0).fit(X, [0, 0, 1, 1])
    assert model.certificate_.kind == "unproven"


def test_dependent_columns_without_a_penalty_are_warned_about(rng):
    X, y = sample(rng)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(len(X))])
    with pytest.warns(RankDeficientWarning, match="rank 5 of 7"):
        model = LogisticRegression(alpha=0).fit(X, y)
    assert model.certificate_.kind == "unproven"
    best = LogisticRegression(alpha=0).fit(X[:, :4], y)
    np.testing.assert_allclose(model.predict_proba(X), best.predict_proba(X[:, :4]), atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_the_automatic_penalty_is_near_the_best_of_true_leave_one_out(rng, K):
    X, y = sample(rng, n=60, p=6, K=K)
    model = LogisticRegression(alpha="auto").fit(X, y)
    Z = X if model.column_scale_ is None else X / model.column_scale_

    def left_out(alpha):
        p = cross_val_predict(
            LogisticRegression(alpha=alpha), Z, y, cv=LeaveOneOut(), method="predict_log_proba"
        )
        return -p[np.arange(len(y)), y].mean()

    grid = [left_out(model.alpha_ * factor) for factor in (0.03, 0.1, 0.3, 3.0, 10.0, 30.0)]
    assert left_out(model.alpha_) <= min(grid) + 0.01
    assert model.certificate_.kind == "optimal"


def test_costs_and_reject_decide_as_the_lecture_says(rng):
    X, y = sample(rng)
    plain = LogisticRegression().fit(X, y)
    costly = LogisticRegression(costs=[[0, 10], [1, 0]]).fit(X, y)
    p = plain.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(costly.predict(X), (p > 1 / 11).astype(int))
    np.testing.assert_array_equal(costly.decision_function(X) > 0, costly.predict(X) == 1)
    careful = LogisticRegression(reject_cost=0.2).fit(X, y).predict(X)
    np.testing.assert_array_equal(careful == "reject", np.minimum(p, 1 - p) > 0.2)
    assert careful.dtype == object


def test_costs_of_many_classes_are_expected_costs(rng):
    X, y = sample(rng, K=3)
    costs = 1 - np.eye(3)
    costs[0, 2] = 20
    model = LogisticRegression(costs=costs).fit(X, y)
    R = model.predict_proba(X) @ costs.T
    np.testing.assert_array_equal(model.predict(X), R.argmin(axis=1))
    np.testing.assert_allclose(model.decision_function(X), -R, atol=1e-12)


def test_log_probabilities_keep_their_tails():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    far = 1e4
    assert np.isfinite(model.predict_log_proba([[far]])).all()
    assert model.predict_log_proba([[far]])[0, 0] < -1000


def test_float32_in_is_float32_out(rng):
    X, y = sample(rng)
    model = LogisticRegression().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-4)


def test_wide_sparse_rows_have_the_weights_of_scikit_learn(rng):
    X = sparse.random(150, 2500, 0.02, format="csr", random_state=0)
    y = np.arange(150) % 2
    model = LogisticRegression(tol=1e-12, max_iter=1000).fit(X, y)
    peer = Peer(tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    assert model.certificate_.kind == "optimal"


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_raw_counts_and_unscaled_columns_of_text_are_proven_too(rng):
    words = np.minimum(rng.zipf(1.5, (300, 20)) - 1, 2399)
    starts = np.arange(0, 6001, 20)
    counts = sparse.csr_array((np.ones(6000), words.ravel(), starts), shape=(300, 2400))
    lengths = rng.standard_normal((300, 3)) * [1.0, 1e3, 1e4] + [0.0, 500.0, 0.0]
    X = sparse.csr_array(sparse.hstack([counts, sparse.csr_array(lengths)]))
    y = (rng.random(300) < 0.5).astype(int)
    model = LogisticRegression(alpha=0.1).fit(X, y)
    assert model.certificate_.kind == "optimal"
    used = X.toarray()[:, np.asarray(X.sum(axis=0)).ravel() != 0]
    dense = LogisticRegression(alpha=0.1).fit(used, y)  # by Newton's steps with a whole matrix
    assert model.fit_.value == pytest.approx(dense.fit_.value, rel=1e-7)


def test_sparse_rows_with_unsorted_duplicate_or_zero_entries_are_summed():
    data, indices, indptr = [1.0, 2.0, 1.0, 0.0, 3.0], [1, 0, 1, 0, 1], [0, 3, 4, 5, 5]
    X = sparse.csr_matrix((data, indices, indptr), shape=(4, 2))
    y = [0, 1, 1, 0]
    before = X.copy()
    ours = LogisticRegression().fit(X, y).coef_
    np.testing.assert_allclose(ours, LogisticRegression().fit(X.toarray(), y).coef_, atol=1e-9)
    assert X.nnz == before.nnz
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_allclose(ours, LogisticRegression().fit(X, y).coef_, atol=1e-12)


def test_too_few_steps_are_warned_about_and_unproven(rng):
    X, y = sample(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert model.certificate_.kind == "unproven"


def test_ctrl_c_leaves_a_model_that_predicts(rng, monkeypatch):
    X, y = sample(rng)
    sums, made = Objective.sums, []

    def interrupted(self, *given):
        made.append(1)
        if len(made) == 4:
            raise KeyboardInterrupt
        return sums(self, *given)

    monkeypatch.setattr(Objective, "sums", interrupted)
    model = LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.score(X, y) > 0.6
    assert "interrupted" in model.fit_.stopped


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1}, "alpha is -1"),
        ({"alpha": np.nan}, "alpha is nan"),
        ({"alpha": np.inf}, "alpha is inf"),
        ({"alpha": "none"}, "alpha is 'none'"),
        ({"alpha": True}, "alpha is True"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 2.5}, "max_iter is 2.5"),
        ({"tol": 0}, "tol is 0"),
        ({"tol": np.nan}, "tol is nan"),
        ({"costs": np.eye(3)}, "costs has shape"),
        ({"reject_cost": "dear"}, "reject_cost is 'dear'"),
    ],
)
def test_bad_parameters_are_refused_in_words(parameters, words):
    with pytest.raises(ValueError, match=words):
        LogisticRegression(**parameters).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_bad_rows_and_labels_are_refused_in_words():
    model = LogisticRegression()
    with pytest.raises(ValueError, match="one class"):
        model.fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match=r"row 1, column 0 \(x0\)"):
        model.fit([[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="zero sample_weight for the class 1"):
        model.fit([[0.0], [1.0]], [0, 1], [1, 0])
    with pytest.raises(ValueError, match=r"at most 100 parameters; here are 3 classes and 60"):
        LogisticRegression(alpha="firth").fit(np.eye(60), np.arange(60) % 3)
    with pytest.raises(ValueError, match="level is 2"):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).summary(level=2)


def test_columns_beyond_the_squares_of_float64_are_learned(rng):
    X, y = sample(rng, p=2)
    want = LogisticRegression(alpha=0).fit(X, y).coef_
    for unit in (1e200, 1e-200):
        found = LogisticRegression(alpha=0).fit(X * unit, y).coef_
        np.testing.assert_allclose(found * unit, want, rtol=1e-6)


def star98():
    """Counts of 303 school districts as weights, 267,611 in all; columns are nearly dependent."""
    table = sm.datasets.star98.load()
    counts, X = np.asarray(table.endog, float), np.asarray(table.exog, float)
    fit = sm.GLM(counts, sm.add_constant(X), family=sm.families.Binomial()).fit()
    y = np.repeat([1, 0], len(X))
    return np.vstack([X, X]), y, counts.T.ravel(), np.asarray(fit.params)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
def test_weights_have_eight_digits_where_columns_nearly_depend_on_each_other(make):
    """A tolerance in standard errors alone, which are large here, left 3e-6."""
    X, y, counts, params = star98()
    model = LogisticRegression(alpha=0).fit(make(X), y, sample_weight=counts)
    np.testing.assert_allclose(model.coef_[0], params[1:], rtol=3e-8)
    np.testing.assert_allclose(model.intercept_[0], params[0], rtol=3e-8)
    distance = np.linalg.norm(model.coef_[0] - params[1:])
    assert distance <= model.certificate_.evidence["distance_bound"]
    within = model.certificate_.evidence["coef_bound"]
    assert np.all(np.abs(model.coef_[0] - params[1:]) <= within + 1e-12 * np.abs(params[1:]))


def test_weights_of_three_classes_have_eight_digits(rng):
    X = rng.standard_normal((500, 4))
    X[:, 3] = X[:, :3].sum(axis=1) + 1e-3 * rng.standard_normal(500)
    y = (X[:, :3] + rng.gumbel(size=(500, 3))).argmax(axis=1)
    many = np.full(500, 5000.0)
    model = LogisticRegression(alpha=0).fit(X, y, sample_weight=many)
    exact = LogisticRegression(alpha=0, tol=1e-12).fit(X, y, sample_weight=many)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=3e-8)


@pytest.mark.parametrize("unit", [1e120, 1e170, 1e200, 1e250, 1e300])
def test_a_distance_of_zero_is_not_claimed_where_squares_underflow(rng, unit):
    X, y = sample(rng, p=2)
    model = LogisticRegression(alpha=1.0).fit(X * unit, y)
    assert model.certificate_.kind == "optimal"
    evidence, size = model.certificate_.evidence, np.abs(model.coef_).max()
    assert 1e-17 * size < evidence["distance_bound"] < 1e-3 * size
    assert np.all(evidence["coef_bound"] > 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_penalty_beyond_the_range_of_float64_is_not_called_no_penalty():
    """alpha |w|^2 of columns of 1e200 is below the range, and that of columns of 1e-200 above."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    for unit in (1e200, 1e-200):
        model = LogisticRegression(alpha=1.0).fit(X * unit, y)
        assert "without a penalty" not in model.fit_.stopped
        if model.certificate_.kind == "optimal":  # of columns that are nothing w is X't / 2
            away = abs(model.coef_[0, 0] - 3e-200)
            assert (unit, away <= model.certificate_.evidence["coef_bound"][0]) == (1e-200, True)


def test_a_summary_of_many_classes_says_what_each_is_held_against(rng):
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    assert "held against the mean of all classes" in str(LogisticRegression().fit(X, y).summary())
    assert "mean of all classes" not in str(LogisticRegression().fit(X, y > 0).summary())


def test_the_hyperplane_of_separable_classes_is_told_by_the_names_of_columns():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"heat": [0.0, 1.0, 2.0, 3.0], "acid": [1.0, 0.0, 0.0, 1.0]})
    with pytest.raises(SeparableError, match=r"hyperplane 1 heat -1\.\d+ = 0"):
        LogisticRegression(alpha=0.0).fit(X, [0, 0, 1, 1])


@pytest.mark.parametrize("weight", ["balanced", {"a": 3.0, "b": 0.5}, {"c": 2.0}])
@pytest.mark.parametrize("labels", [2, 3])
def test_class_weights_are_weights_of_the_rows(rng, weight, labels):
    X, omega = rng.standard_normal((80, 3)), rng.uniform(0.5, 2.0, 80)
    y = np.array(list("aacb" if labels == 3 else "aaac"))[rng.integers(0, 4, 80)]
    weight = {k: v for k, v in weight.items() if k in y} if isinstance(weight, dict) else weight
    for rows in (None, omega):
        own = np.ones(80) if rows is None else rows
        if weight == "balanced":
            of = {k: own.sum() / (labels * own[y == k].sum()) for k in np.unique(y)}
        else:
            of = weight
        by_hand = own * np.array([of.get(label, 1.0) for label in y])
        found = LogisticRegression(class_weight=weight).fit(X, y, rows)
        straight = LogisticRegression().fit(X, y, by_hand)
        np.testing.assert_allclose(found.coef_, straight.coef_, rtol=1e-12, atol=1e-15)
        tables = found.summary(X=X, y=y, sample_weight=rows), straight.summary()
        np.testing.assert_allclose(tables[0]["std err"], tables[1]["std err"], rtol=1e-6)
    peer = Peer(C=1.0, class_weight=weight, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(
        LogisticRegression(class_weight=weight).fit(X, y).predict_proba(X),
        peer.predict_proba(X),
        atol=1e-6,
    )


def test_class_weights_in_streams_are_obeyed_or_refused(rng, tmp_path):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 3 % 2
    dictionary, balanced = LogisticRegression(class_weight={1: 3.0}), {"class_weight": "balanced"}
    found = dictionary.partial_fit(X, y, [0, 1])
    straight = LogisticRegression().partial_fit(X, y, [0, 1], np.where(y == 1, 3.0, 1.0))
    assert found.coef_.tobytes() == straight.coef_.tobytes()
    found.learn_one(X[0], 1)
    straight.partial_fit(X[:1], [1], sample_weight=[3.0])
    assert found.coef_.tobytes() == straight.coef_.tobytes()
    with pytest.raises(ValueError, match="balanced"):
        LogisticRegression(**balanced).partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="class_weight"):
        data.fit(LogisticRegression(**balanced), np.column_stack([X, y]), "x2")
    with pytest.raises(ValueError, match="classes are"):
        LogisticRegression(class_weight={5: 1.0}).fit(X, y)
    data.save(LogisticRegression(**balanced).fit(X, y), tmp_path / "m.adaline")
    assert data.load(tmp_path / "m.adaline").class_weight == "balanced"
    data.save(LogisticRegression(class_weight={1: 2.0}).fit(X, y), tmp_path / "n.adaline")
    assert data.load(tmp_path / "n.adaline").class_weight == {1: 2.0}
