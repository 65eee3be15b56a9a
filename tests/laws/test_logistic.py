"""Laws of logistic regression: labels, units, weights, order, and the lecture's Gaussian limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline import GaussianClassifier, LogisticRegression

seeds = st.integers(0, 2**32 - 1)
CLOSE = 1e-6  # twice the distance that tol = 1e-8 leaves for these sizes, with room


def sample(seed, n=60, p=3, K=2):
    """Overlapping classes, all of them present."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    y = np.arange(n) % K
    return X + 0.3 * X.std(axis=0) * y[:, None], y


@settings(max_examples=20, deadline=None)
@given(seed=seeds, alpha=st.sampled_from([0.1, 1.0, 10.0]))
def test_swapping_the_labels_flips_the_sign(seed, alpha):
    X, y = sample(seed)
    one, other = (LogisticRegression(alpha=alpha).fit(X, t) for t in (y, 1 - y))
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(one.intercept_, -other.intercept_, rtol=1e-9, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]))
def test_dense_and_sparse_rows_give_the_same_weights(seed, K):
    X, y = sample(seed, K=K)
    X[np.abs(X) < 1] = 0.0
    dense, csr = (LogisticRegression().fit(form, y) for form in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(csr.intercept_, dense.intercept_, rtol=1e-9, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]))
def test_a_weight_is_a_repetition(seed, K):
    X, y = sample(seed, K=K)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:K] = 1
    model = LogisticRegression().fit(X, y, sample_weight=times)
    again = LogisticRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    V, W = model.decision_function(X), again.decision_function(X)
    np.testing.assert_allclose(V, W, rtol=CLOSE, atol=CLOSE)


def weighted_and_repeated(make, seed, K, n=60):
    """The same fit by whole weights, zero among them, and by repeated rows."""
    X, y = sample(seed, n, K=K)
    times = np.random.default_rng(seed).integers(0, 6, len(y))
    times[:K] = 1
    rows = np.repeat(np.arange(n), times)
    return X, make().fit(X, y, sample_weight=times), make().fit(X[rows], y[rows])


@settings(max_examples=15, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]), bias=st.booleans())
def test_a_weight_is_a_repetition_for_automatic_penalties(seed, K, bias):
    """Leaving out one row means one of the copies that a weight stands for."""

    def make():
        return LogisticRegression(alpha="auto", fit_intercept=bias)

    X, model, again = weighted_and_repeated(make, seed, K)
    # The search compares scores at the same penalties, so the same one wins.
    assert model.alpha_ == pytest.approx(again.alpha_, rel=1e-9)
    V, W = model.decision_function(X), again.decision_function(X)
    np.testing.assert_allclose(V, W, rtol=CLOSE, atol=CLOSE)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]))
def test_a_weight_is_a_repetition_for_firth_s_likelihood(seed, K):
    X, model, again = weighted_and_repeated(lambda: LogisticRegression("firth"), seed, K)
    V, W = model.decision_function(X), again.decision_function(X)
    np.testing.assert_allclose(V, W, rtol=CLOSE, atol=CLOSE)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]))
def test_automatic_penalties_are_the_same_for_dense_and_sparse_rows(seed, K):
    X, y = sample(seed, K=K)
    X[np.abs(X) < 1] = 0.0
    dense, csr = (LogisticRegression("auto").fit(form, y) for form in (X, sparse.csr_matrix(X)))
    assert dense.alpha_ == pytest.approx(csr.alpha_, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_units_of_columns_do_not_matter_without_a_penalty(seed):
    X, y = sample(seed)
    units = 10.0 ** np.random.default_rng(seed).integers(-6, 7, 3)
    plain, scaled = (LogisticRegression(alpha=0).fit(rows, y) for rows in (X, X * units))
    V, W = plain.decision_function(X), scaled.decision_function(X * units)
    np.testing.assert_allclose(V, W, rtol=CLOSE, atol=CLOSE)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, K=st.sampled_from([2, 3]))
def test_the_order_of_rows_does_not_matter(seed, K):
    X, y = sample(seed, K=K)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = LogisticRegression().fit(X, y), LogisticRegression().fit(X[order], y[order])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=CLOSE, atol=CLOSE)


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_two_classes_by_softmax_are_two_classes_by_the_logistic_function(seed):
    """Softmax weights w1 = -w0 = w/2 cost half the penalty: alpha doubles."""
    X, y = sample(seed)
    binary = LogisticRegression(alpha=1.0).fit(X, y)
    rare = np.append(y, 2)  # a third class that a tiny weight all but removes
    X3, omega = np.vstack([X, X.mean(axis=0)]), np.append(np.ones(len(y)), 1e-9)
    W = LogisticRegression(alpha=2.0).fit(X3, rare, omega).coef_
    np.testing.assert_allclose(W[1] - W[0], binary.coef_[0], rtol=1e-4, atol=1e-5)


def test_gamma_and_beta_are_the_gaussian_classifier_s_in_the_limit(rng):
    """(5.40), (5.41): both estimate the same log-odds, and differ by sampling errors alone."""
    n, m = 200_000, np.array([[0.0, 0.0], [1.0, -0.5]])
    S = np.array([[1.0, 0.4], [0.4, 2.0]])
    y = (rng.random(n) < 0.3).astype(int)
    X = rng.multivariate_normal([0, 0], S, n) + m[y]
    beta = np.linalg.solve(S, m[1] - m[0])
    gamma = np.log(0.3 / 0.7) - m[1] @ np.linalg.solve(S, m[1]) / 2
    logistic = LogisticRegression(alpha=0).fit(X, y)
    gauss = GaussianClassifier().fit(X, y)
    error = logistic.summary()["std err"]
    assert np.all(np.abs(logistic.coef_[0] - beta) < 4 * error[1:])
    assert abs(logistic.intercept_[0] - gamma) < 4 * error[0]
    assert np.all(np.abs(logistic.coef_ - gauss.coef_) < 4 * error[1:])
    assert abs(logistic.intercept_[0] - gauss.intercept_[0]) < 4 * error[0]


@pytest.mark.parametrize("K", [2, 3])
def test_the_proof_s_gradient_is_the_gradient(rng, K):
    X, y = sample(3, K=K)
    model = LogisticRegression().fit(X, y)
    T = np.eye(K)[y] - model.predict_proba(X)
    T = T[:, 1:] if K == 2 else T
    slope = np.column_stack([T.T @ X - model.coef_, T.sum(axis=0)])
    claimed = model.certificate_.evidence["gradient_norm"]
    assert np.linalg.norm(slope) < 2 * claimed + 1e-9
