"""LeastSquaresClassifier: two classes, K classes, margins, streams and what it may claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquaresClassifier, Moments


def two_gaussians(rng, n, means=((0.0, 0.0), (2.0, 1.0)), covariance=((2.0, 0.8), (0.8, 1.0))):
    L = np.linalg.cholesky(covariance)
    X = np.vstack([rng.standard_normal((n, 2)) @ L.T + mean for mean in means])
    return X, np.repeat([0, 1], n)


def test_the_direction_is_fishers_when_all_margins_are_one(rng):
    X, y = two_gaussians(rng, 200)
    X0, X1 = X[y == 0], X[y == 1]
    within = np.cov(X0.T, ddof=0) * len(X0) + np.cov(X1.T, ddof=0) * len(X1)
    fisher = np.linalg.solve(within, X1.mean(0) - X0.mean(0))
    w = LeastSquaresClassifier().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), fisher / np.linalg.norm(fisher), rtol=1e-12)


def test_in_large_samples_it_approaches_the_bayes_discriminant(rng):
    """w'x + b approaches P(c1|x) - P(c0|x) in mean square, hence the best linear fit to it."""
    X, y = two_gaussians(rng, 200_000)
    C = np.array([[2.0, 0.8], [0.8, 1.0]])
    direction = np.linalg.solve(C, [2.0, 1.0])
    posterior = 1 / (1 + np.exp(-(X @ direction - direction @ [1.0, 0.5])))
    A = np.column_stack([X, np.ones(len(X))])
    best, *_ = np.linalg.lstsq(A, 2 * posterior - 1)
    model = LeastSquaresClassifier().fit(X, y)
    # The two fits differ by the noise of the labels, of order 1/sqrt(400,000).
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], best, atol=8e-3)
    np.testing.assert_allclose(
        model.coef_[0, 0] / model.coef_[0, 1], direction[0] / direction[1], rtol=0.05
    )


def test_k_classes_are_the_linear_machine_of_k_pseudoinverses(rng):
    X = rng.standard_normal((90, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    model = LeastSquaresClassifier().fit(X, y)
    A = np.linalg.pinv(np.column_stack([np.ones(90), X])) @ (y[:, None] == ["a", "b", "c"])
    np.testing.assert_allclose(model.intercept_, A[0], rtol=1e-11)
    np.testing.assert_allclose(model.coef_, A[1:].T, rtol=1e-11)
    scores = np.column_stack([np.ones(90), X]) @ A
    assert np.array_equal(model.predict(X), np.array(["a", "b", "c"])[scores.argmax(axis=1)])


def test_swapping_the_labels_flips_the_sign(rng):
    X, y = two_gaussians(rng, 40)
    one, other = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X, 1 - y)
    assert np.array_equal(one.coef_, -other.coef_)
    assert np.array_equal(one.intercept_, -other.intercept_)


def test_separation_is_claimed_only_beyond_rounding():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    assert LeastSquaresClassifier().fit(X, y).certificate_.kind == "separable"
    X = np.array([[1.0], [1.0], [2.0], [2.0]])
    certificate = LeastSquaresClassifier().fit(X, [0, 1, 0, 1]).certificate_
    assert certificate.kind == "undecided"
    assert "undecided" in certificate.statement


def test_a_stream_with_margins_equals_its_batch(rng):
    X, y = two_gaussians(rng, 50)
    order = rng.permutation(100)
    X, y, margins = X[order], y[order], rng.uniform(0.5, 2, 100)
    stream = LeastSquaresClassifier()
    for i in range(0, 100, 30):
        part = slice(i, i + 30)
        stream.partial_fit(X[part], y[part], classes=[0, 1], margins=margins[part])
    want = LeastSquaresClassifier().fit(X, y, margins=margins)
    np.testing.assert_allclose(stream.coef_, want.coef_, rtol=1e-11)
    assert stream.certificate_.kind == "undecided"
    stream.forget(X[60:], y[60:], margins=margins[60:])
    want = LeastSquaresClassifier().fit(X[:60], y[:60], margins=margins[:60])
    np.testing.assert_allclose(stream.coef_, want.coef_, rtol=1e-10)


def test_moments_of_signs_make_a_classifier(rng):
    X, y = two_gaussians(rng, 50)
    m = Moments.of(X, np.where(y == 1, 1.0, -1.0))
    model = LeastSquaresClassifier().fit_moments(m, classes=["no", "yes"])
    want = LeastSquaresClassifier().fit(X, y)
    assert np.array_equal(model.predict(X) == "yes", want.predict(X) == 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"margins": [1, 1]}, "one a sample"),
        ({"margins": [1, 1, 0, 1]}, r"margins\[2\] is 0.0"),
        ({"margins": [1, 1, np.nan, 1]}, "margins contains NaN"),
        ({"y": [1, 1, 1, 1]}, "one class"),
        ({"y": [0.1, 0.2, 0.3, 0.4]}, "Unknown label type"),
        ({"y": [0, 1]}, "4 rows and y has 2"),
    ],
)
def test_bad_margins_and_labels_are_refused(options, sentence):
    good = {"X": [[6, 9], [5, 7], [5, 9], [0, 10]], "y": [1, 1, -1, -1]}
    with pytest.raises(ValueError, match=sentence):
        LeastSquaresClassifier().fit(**(good | options))


def test_a_label_never_announced_is_refused():
    model = LeastSquaresClassifier().partial_fit([[0.0], [1.0]], ["a", "b"], classes=["a", "b"])
    with pytest.raises(ValueError, match="'c', which is not among the classes"):
        model.partial_fit([[2.0]], ["c"])
    with pytest.raises(ValueError, match="cannot change"):
        model.partial_fit([[2.0]], ["a"], classes=["a", "b", "c"])


def test_very_wide_rows_are_classified_without_p_by_p_sums(rng):
    X, y = rng.standard_normal((40, 1500)), np.arange(40) % 3
    model = LeastSquaresClassifier().fit(sparse.csr_matrix(X), y)
    assert model.moments_ is None
    assert model.certificate_.kind == "separable"
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.partial_fit(X, y)


def test_large_sparse_rows_are_solved_by_products_unless_all_digits_are_asked_for(rng):
    X = sparse.csr_array(sparse.random_array((5000, 500), density=0.02, rng=rng))
    y = (X @ rng.standard_normal(500) > 0).astype(int)
    quick, full = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier(refine=True).fit(X, y)
    assert quick.moments_ is None
    assert full.moments_ is not None
    assert full.fit_.certificate.kind in ("exact", "accurate")
    np.testing.assert_allclose(quick.coef_, full.coef_, atol=1e-6 * np.abs(full.coef_).max())
