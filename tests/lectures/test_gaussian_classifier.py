"""The linear Gaussian classifier of the lectures, formula by formula.

Lecture 003, section 5.8 (maximum likelihood, Mahalanobis distance), 5.9 (gamma and beta) and
lecture 004 (posterior as a single-layer network, priors); lecture 000 (costs and xi).
"""

from __future__ import annotations

import numpy as np
import pytest

from adaline import GaussianClassifier, decisions


def two_classes(rng, n=400):
    """Two overlapping Gaussian clouds with one covariance, classes -1 and +1."""
    mix = np.array([[1.0, 0.6], [0.0, 0.8]])
    y = np.where(rng.random(n) < 0.3, 1, -1)
    return rng.normal(size=(n, 2)) @ mix + np.where(y > 0, 1.0, -0.5)[:, None], y


def by_the_book(X, y):
    """mu_k, Sigma and p(c_k) of (5.33), (5.34) and (5.36), and Sigma^-1."""
    labels = np.unique(y)
    mu = np.array([X[y == label].mean(axis=0) for label in labels])
    sigma = sum(
        np.outer(x - mu[k], x - mu[k]) for k, label in enumerate(labels) for x in X[y == label]
    ) / len(X)
    return mu, sigma, np.array([np.mean(y == label) for label in labels]), np.linalg.inv(sigma)


def test_means_covariance_and_priors_are_those_of_greatest_likelihood(rng):
    X, y = two_classes(rng)
    mu, sigma, p, _ = by_the_book(X, y)
    model = GaussianClassifier().fit(X, y)
    np.testing.assert_allclose(model.means_, mu, rtol=1e-13)
    np.testing.assert_allclose(model.covariance_, sigma, rtol=1e-12)
    np.testing.assert_allclose(model.priors_, p, rtol=1e-15)


def test_w_and_w0_are_the_lectures(rng):
    X, y = two_classes(rng)
    mu, _, p, inverse = by_the_book(X, y)
    one, two = 1, 0  # the lecture's class 1 is classes_[1]
    w = inverse @ (mu[one] - mu[two])
    w0 = (
        -mu[one] @ inverse @ mu[one] / 2 + mu[two] @ inverse @ mu[two] / 2 + np.log(p[one] / p[two])
    )
    model = GaussianClassifier().fit(X, y)
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-11)
    np.testing.assert_allclose(model.intercept_, [w0], rtol=1e-11)


def test_the_posterior_is_the_logistic_function_of_a_single_neuron(rng):
    X, y = two_classes(rng)
    model = GaussianClassifier().fit(X, y)
    a = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-a)), rtol=1e-11)
    np.testing.assert_allclose(model.decision_function(X), a, rtol=1e-10, atol=1e-12)
    assert np.array_equal(model.predict(X), np.where(a > 0, 1, -1))


def test_three_classes_follow_bayes_theorem_with_gaussian_densities(rng):
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + np.array([[0, 0], [2, 0], [0, 3]])[y]
    mu, sigma, p, inverse = by_the_book(X, y)
    d = X[:, None, :] - mu
    distance = np.einsum("nki,ij,nkj->nk", d, inverse, d)
    joint = p * np.exp(-distance / 2) / (2 * np.pi * np.sqrt(np.linalg.det(sigma)))
    model = GaussianClassifier().fit(X, y)
    np.testing.assert_allclose(model.mahalanobis(X), distance, rtol=1e-10)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10, atol=1e-300)


def test_with_equal_priors_the_nearest_mean_wins_in_mahalanobis_distance(rng):
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + np.array([[0, 0], [2, 0], [0, 3]])[y]
    model = GaussianClassifier(priors=np.full(3, 1 / 3)).fit(X, y)
    assert np.array_equal(model.predict(X), model.mahalanobis(X).argmin(axis=1))


def test_priors_move_the_boundary_by_the_logarithm_of_their_ratio(rng):
    """Lecture 004 draws p(C1) = p(C2) and p(C1) = 3/4, p(C2) = 1/4."""
    X, y = two_classes(rng)
    equal = GaussianClassifier(priors=[0.5, 0.5]).fit(X, y)
    moved = GaussianClassifier(priors=[0.25, 0.75]).fit(X, y)
    assert np.array_equal(equal.coef_, moved.coef_)
    np.testing.assert_allclose(moved.intercept_ - equal.intercept_, [np.log(3.0)], rtol=1e-12)


@pytest.mark.parametrize("costs", [[[0, 10], [1, 0]], [[-1, 4], [2, 0.5]]])
def test_costs_decide_class_1_where_the_likelihood_ratio_exceeds_xi(rng, costs):
    """Lecture 000: its class 1 is index 0 here, and c12 = costs[0, 1]."""
    X, y = two_classes(rng)
    model = GaussianClassifier(costs=costs).fit(X, y)
    distance = model.mahalanobis(X)
    log_ratio = (distance[:, 1] - distance[:, 0]) / 2
    xi = decisions.threshold(model.priors_, costs)
    expected = np.where(log_ratio > np.log(xi), -1, 1)
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(model.decision_function(X) > 0, expected == 1)
    np.testing.assert_allclose(
        model.decision_function(X), np.log(xi) - log_ratio, rtol=1e-8, atol=1e-10
    )


def test_swapping_the_labels_flips_the_sign(rng):
    X, y = two_classes(rng)
    model, swapped = GaussianClassifier().fit(X, y), GaussianClassifier().fit(X, -y)
    np.testing.assert_allclose(swapped.coef_, -model.coef_, rtol=1e-13)
    np.testing.assert_allclose(swapped.intercept_, -model.intercept_, rtol=1e-12)
