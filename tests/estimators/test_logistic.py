"""LogisticRegression: scikit-learn and statsmodels agree, bad input is refused, and Firth helps."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from adaline import LogisticRegression, SeparableError
from adaline.errors import RankDeficientWarning


def sample(rng, n=400, p=4, K=2):
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 3, p) + rng.uniform(-2, 2, p)
    V = X @ rng.normal(size=(p, K)) / 2
    return X, np.argmax(V + rng.gumbel(size=(n, K)), axis=1)


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


def test_separable_data_have_no_maximum_likelihood_and_are_told_so():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(SeparableError, match=r"separates all 569 rows.*firth"):
        LogisticRegression(alpha=0).fit(X, y)


def test_quasi_separable_data_name_the_column_and_the_samples(rng):
    X = rng.normal(size=(200, 3))
    X[:, 2] = rng.random(200) < 0.1
    y = np.where(X[:, 2] == 1, 1, rng.random(200) < 0.5).astype(int)
    with pytest.raises(SeparableError, match=r"the classes touch: .* rows .* weights: x2\. "):
        LogisticRegression(alpha=0).fit(X, y)
    firth = LogisticRegression(alpha="firth").fit(X, y)
    assert 0 < firth.coef_[0, 2] < 6
    assert firth.certificate_.kind == "unproven"


def test_rows_of_weight_zero_do_not_overlap_and_rows_keep_their_numbers():
    X, y = np.array([[5.0], [0.0], [1.0], [1.0], [2.0]]), [0, 0, 0, 1, 1]
    with pytest.raises(SeparableError, match="rows 2 and 3 are equal with different labels"):
        LogisticRegression(alpha=0).fit(X, y, sample_weight=[0, 1, 1, 1, 1])


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


def test_too_few_steps_are_warned_about_and_unproven(rng):
    X, y = sample(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert model.certificate_.kind == "unproven"


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
