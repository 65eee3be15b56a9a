"""The logistic loss in blocks: slow twin, finite differences, sparse rows, parts that add up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline.kernels.losses.links import ROWS, exponentials
from adaline.losses.logistic import logistic_loss
from adaline.objective import MANY, UNPACKED
from reference_logistic import loss_and_gradient


def rows(rng, n=150, p=4, K=2):
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    return X, rng.integers(0, K, n), rng.uniform(0.5, 2, n)


def theta_for(loss, W, b):
    """Weights in the units of the procedure."""
    return np.column_stack([W / loss.scale, b + W @ (loss.shift / loss.scale)])


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix, np.asfortranarray])
def test_loss_and_gradient_are_those_of_the_slow_twin(rng, K, weighted, form):
    X, codes, omega = rows(rng, K=K)
    X = np.asarray(X, dtype=np.float32 if form is np.float32 else np.float64)
    given = X if form is np.float32 else form(X)
    omega = omega if weighted else np.empty(0)
    W, b = rng.normal(size=(1 if K == 2 else K, 4)) / 10, rng.normal(size=1 if K == 2 else K)
    loss = logistic_loss(given, codes, K, omega, 0.0, True)
    here = loss.at(theta_for(loss, W, b))
    f, gW, gb = loss_and_gradient(X, codes, K, W, b, omega if weighted else None)
    assert here.f == pytest.approx(f, rel=1e-12)
    back = here.g[:, :-1] / loss.scale + here.g[:, -1:] * (loss.shift / loss.scale)
    np.testing.assert_allclose(back, gW, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(here.g[:, -1], gb, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("K", [2, 4])
def test_the_gradient_is_the_slope_of_the_value(rng, K):
    X, codes, omega = rows(rng, K=K)
    loss = logistic_loss(X, codes, K, omega, 0.7, True)
    theta = rng.normal(size=(loss.K, 5)) / 3
    d = rng.normal(size=theta.shape)
    h = 1e-5
    slope = (loss.at(theta + h * d).f - loss.at(theta - h * d).f) / (2 * h)
    assert slope == pytest.approx(float(np.sum(loss.at(theta).g * d)), rel=1e-7)


def test_curvature_is_the_slope_of_the_gradient(rng):
    X, codes, omega = rows(rng)
    loss = logistic_loss(X, codes, 2, omega, 0.0, True)
    theta, d, h = rng.normal(size=(1, 5)) / 3, rng.normal(size=(1, 5)), 1e-6
    root = np.empty(len(X))
    loss.at(theta, root)
    change = (loss.at(theta + h * d).g - loss.at(theta - h * d).g) / (2 * h)
    np.testing.assert_allclose(loss.gram(root) @ d[0], change[0], rtol=1e-6)


@pytest.mark.parametrize("p", [3, UNPACKED + 10])
def test_sparse_rows_unpacked_or_not_give_the_dense_sums(rng, p):
    X = sparse.random(300, p, 0.1, format="csr", random_state=0)
    codes = rng.integers(0, 2, 300)
    W, b = rng.normal(size=(1, p)), rng.normal(size=1)
    of = [logistic_loss(form, codes, 2, np.empty(0), 0.3, True) for form in (X, X.toarray())]
    values = [loss.at(theta_for(loss, W, b)).f for loss in of]
    assert values[0] == pytest.approx(values[1], rel=1e-13)


def test_parts_of_the_rows_add_up(rng):
    X, codes, _ = rows(rng, n=1000)
    whole = logistic_loss(X, codes, 2, np.empty(0), 0.0, False)
    W, b = rng.normal(size=(1, 4)) / 10, np.zeros(1)
    parts = [
        logistic_loss(X[part], codes[part], 2, np.empty(0), 0.0, False)
        for part in np.split(np.arange(1000), [100, 333])
    ]
    total = sum(part.at(theta_for(part, W, b)).f for part in parts)
    assert total == pytest.approx(whole.at(theta_for(whole, W, b)).f, rel=1e-13)


def test_one_thread_and_two_give_the_same_bits(rng):
    X, codes, _ = rows(rng, n=600_000)
    loss = logistic_loss(X, codes, 2, np.empty(0), 0.0, True)
    theta = rng.normal(size=(1, 5))
    found = []
    for count in (1, 2):
        with threadpool_limits(count):
            found.append(loss.at(theta))
    assert found[0].f == found[1].f
    assert np.array_equal(found[0].g, found[1].g)


def test_exponentials_are_right_to_the_last_digits():
    a = np.concatenate([[0.0, 1e-300, 700.0, 1e9], np.linspace(0, 690, ROWS - 4)])
    e, whole = np.empty(ROWS), np.empty(ROWS)
    exponentials(a, whole, e)
    np.testing.assert_allclose(e, np.exp(-np.minimum(a, 700.0)), rtol=5e-16)


def test_large_values_neither_overflow_nor_lose_the_loss():
    X = np.array([[-1e5], [1e5]])
    loss = logistic_loss(X, np.array([1, 0]), 2, np.empty(0), 0.0, False)
    assert loss.at(theta_for(loss, np.array([[1.0]]), np.zeros(1))).f == pytest.approx(2e5)


@pytest.mark.parametrize("p", [5, 80])
@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("K", [2, 3])
def test_a_gram_matrix_of_some_rows_is_theirs(rng, p, stride, K):
    X, root = rng.standard_normal((3001, p)) + 1.0, rng.uniform(0.1, 0.5, 3001)
    loss = logistic_loss(X, np.arange(3001) % K, K, np.empty(0), 1.0, True)
    Z = (
        np.column_stack([X * loss.scale - loss.shift, np.ones(3001)])[::stride]
        * root[::stride, None]
    )
    G = loss.gram(root, stride)
    np.testing.assert_allclose(G, Z.T @ Z, rtol=1e-12, atol=1e-11)
    np.testing.assert_array_equal(G, G.T)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array, np.asfortranarray])
def test_rows_of_a_small_table_are_centred_once_for_all_gram_matrices(rng, form, intercept):
    X, codes, _ = rows(rng)
    X = form(X)
    loss = logistic_loss(X, codes, 2, np.empty(0), 1.0, intercept)
    Z = (X.toarray() if form is sparse.csr_array else X) * loss.scale - loss.shift
    Z = np.column_stack([Z, np.ones(150) if intercept else np.zeros(150)])
    for root in rng.uniform(0.1, 0.5, (2, 150)):  # the first leaves the rows as they were
        expected = (Z * root[:, None]).T @ (Z * root[:, None])
        expected[-1, -1] += not intercept
        G = loss.gram(root)
        np.testing.assert_allclose(G, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(G, G.T)
    np.testing.assert_array_equal(loss.with_penalty(7.0).gram(root), G)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray])
def test_one_thread_and_two_sum_the_same_bits_in_any_layout(rng, K, form):
    X = form(rng.standard_normal((30_000, 70)))
    loss = logistic_loss(X, np.arange(30_000) % K, K, np.empty(0), 1.0, True)
    theta = 0.1 * rng.standard_normal((loss.K, 71))
    found = []
    for count in (1, 2):
        with threadpool_limits(limits=count):
            here = loss.at(theta)
            found.append((here.f, here.g, loss.gram(np.ones(30_000), 7)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_long_rows_are_summed_like_those_of_the_slow_twin(rng, weighted, form):
    X = rng.standard_normal((MANY // 13, MANY + 3)).astype(form)  # blocks do not fit evenly
    codes, omega = rng.integers(0, 2, len(X)), rng.uniform(0.5, 2, len(X))
    omega = omega if weighted else np.empty(0)
    loss = logistic_loss(X, codes, 2, omega, 0.0, True)
    assert loss.is_wide
    W, b = rng.normal(size=(1, X.shape[1])) / 30, rng.normal(size=1)
    root = loss.room()
    here = loss.at(theta_for(loss, W, b), root)
    f, gW, gb = loss_and_gradient(X.astype(np.float64), codes, 2, W, b, omega if weighted else None)
    assert here.f == pytest.approx(f, rel=1e-12)
    back = here.g[:, :-1] / loss.scale + here.g[:, -1:] * (loss.shift / loss.scale)
    np.testing.assert_allclose(back, gW, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(here.g[:, -1], gb, rtol=1e-10, atol=1e-10)
    v = X.astype(np.float64) @ W[0] + b
    slope = np.exp(-np.abs(v)) / (1.0 + np.exp(-np.abs(v))) ** 2
    np.testing.assert_allclose(root**2, slope * (omega if weighted else 1.0), rtol=1e-10)
