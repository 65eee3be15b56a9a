"""Steps by products with the Hessian, for wide sparse rows of counts and of several classes."""

import numpy as np
import pytest
from scipy import sparse

from adaline import LogisticRegression, PoissonRegression
from adaline.losses.logistic import logistic_loss
from adaline.losses.poisson import poisson_loss
from adaline.procedures.newton import _by_products
from adaline.procedures.newton._by_products import HessianProducts, is_worth_products
from adaline.procedures.newton.newton import newton
from adaline.row_sums.objective_sums import MANY

N, P, K = 700, MANY + 100, 4
NONE = np.empty(0)


def rows(rng, spread=0.0):
    """CSR rows of some twenty entries, columns of sizes 10^-spread to 10^spread."""
    X = sparse.random_array((N, P), density=20 / P, rng=rng, format="csr")
    X.data *= (10.0 ** rng.uniform(-spread, spread, P))[X.indices]
    return X


def losses(rng, X, alpha=1.0):
    """With weights and with a bias, and without both."""
    omega, codes, counts = rng.uniform(0.5, 2.0, N), rng.integers(0, K, N), rng.poisson(1.0, N)
    counts = counts.astype(np.float64)
    for weights, bias in ((omega, True), (NONE, False)):
        yield logistic_loss(X, codes, K, weights, alpha, bias)
        yield poisson_loss(X, counts, weights, NONE, alpha, bias)


def test_a_product_is_the_change_of_the_gradient(rng):
    for loss in losses(rng, rows(rng)):
        theta, d = rng.standard_normal((2, loss.K, P + 1)) * 0.1
        if not loss.intercept:
            theta[:, -1] = d[:, -1] = 0.0
        root, h = loss.room(), 1e-5
        change = (loss.at(theta + h * d).g - loss.at(theta - h * d).g) / (2 * h)
        loss.at(theta, root)
        products = HessianProducts(loss, 1.0)
        found, room = np.empty((P + 1, loss.K)), np.empty((P + 1, loss.K))
        products._multiply(np.ascontiguousarray(d.T), products._curvature(root), found, room)
        # Central differences are off by h^2 and by rounding over h: about 1e-10.
        np.testing.assert_allclose(found.T, change, atol=1e-7 * np.abs(change).max())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("of_indices", [np.int32, np.int64])
def test_compiled_products_of_classes_are_those_of_scipy(rng, monkeypatch, kind, of_indices):
    X = rows(rng, 2.0).astype(kind)
    X.indices, X.indptr = X.indices.astype(of_indices), X.indptr.astype(of_indices)
    for loss in losses(rng, X):
        products, root = HessianProducts(loss, 1.0), loss.room()
        loss.at(rng.standard_normal((loss.K, P + 1)) * 0.1, root)
        d, found = rng.standard_normal((P + 1, loss.K)), np.empty((2, P + 1, loss.K))
        for Hd, few in zip(found, (2**62, 0), strict=True):
            monkeypatch.setattr(_by_products, "_FEW", few)
            products._multiply(d, products._curvature(root), Hd, np.empty_like(d))
        # Sums of at most 700 products, in another order: some hundred times rounding.
        np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-13 * np.abs(found).max())


@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_fits_are_proven_whatever_the_sizes_of_the_columns(rng, spread):
    for loss in losses(rng, rows(rng, spread)):
        assert is_worth_products(loss)
        fit = newton(loss)
        assert fit.outcome == "converged"
        assert fit.certificate.kind == "optimal"
        start = loss.at(loss.loss.start(loss))
        assert np.linalg.norm(loss.at(fit.theta).g) < 1e-5 * np.linalg.norm(start.g)


def test_where_products_are_slow_l_bfgs_goes_on(rng, monkeypatch):
    monkeypatch.setattr(_by_products, "_MOST", 3)
    loss = next(losses(rng, rows(rng)))
    states = [state for _, state in newton.steps(loss)]
    assert states[-1].products.slow
    assert states[-1].pairs
    assert newton(loss).certificate.kind == "optimal"


def test_without_a_penalty_and_of_dense_rows_there_are_no_products(rng):
    X = rows(rng)
    assert not any(is_worth_products(loss) for loss in losses(rng, X, alpha=0.0))
    assert not any(is_worth_products(loss) for loss in losses(rng, X.toarray()))


def test_one_penalty_for_dense_and_sparse_rows(rng):
    X, codes, counts = rows(rng), rng.integers(0, K, N), rng.poisson(1.0, N)
    for model, y in ((LogisticRegression(), codes), (PoissonRegression(), counts)):
        fits = [model.fit(Z, y).fit_ for Z in (X, X.toarray())]
        bound = sum(fit.certificate.evidence["distance_bound"] for fit in fits)
        assert np.linalg.norm(fits[0].W - fits[1].W) <= bound


def test_a_minimum_is_left_as_it_is(rng):
    loss = next(losses(rng, rows(rng)))
    theta, root = newton(loss, 100, 1e-8).theta, loss.room()
    here = loss.at(theta, root)
    flat = type(here)(here.f, np.zeros_like(here.g), here.least, here.slopes, here.size)
    assert not HessianProducts(loss, 1e-3).direction(flat, root).any()
