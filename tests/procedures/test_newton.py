"""Newton's procedure against the minimum in long doubles, whichever model of curvature it takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline import LogisticRegression, PoissonRegression
from adaline.data import blocks, fit
from adaline.procedures.newton import newton
from adaline.sums.objective import logistic_objective
from reference_losses import minimum_in_long_doubles as minimum

NONE = np.empty(0)


def sample(rng, n=200, p=3, K=2, noise=1.0):
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    V = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(p, K)) / np.sqrt(p / 3)
    return X, np.argmax(V + noise * rng.gumbel(size=(n, K)), axis=1)


def table(rng, kind, n, p, K=2):
    """Columns that are independent or related, differ in size and mean, or hardly vary."""
    X = rng.standard_normal((n, p))
    if kind == "cause":
        X = np.sqrt(0.4) * X + np.sqrt(0.6) * rng.standard_normal((n, 1))
    elif kind == "chain":
        for j in range(1, p):
            X[:, j] = 0.98 * X[:, j - 1] + np.sqrt(1 - 0.98**2) * X[:, j]
    elif kind == "heavy":
        X = rng.standard_t(2.5, X.shape) * np.exp(rng.standard_normal(p))
    V = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(p, K)) / np.sqrt(p)
    if kind == "sizes":
        X = X * 10.0 ** rng.uniform(-60, 60, p)
    if kind == "far":
        X = X + rng.uniform(-1e6, 1e6, p)
    if kind == "dummies":
        X = (np.linspace(0.0, 2.8, p) < X).astype(float)  # the last are there in one of 400 rows
    return X, np.argmax(V + 0.5 * rng.gumbel(size=V.shape), axis=1)


def within(one, two):
    """Whether two proven fits are as near to each other as both proofs say."""
    away = one.coef_ - two.coef_
    bounds = [m.certificate_.evidence["distance_bound"] for m in (one, two)]
    assert one.certificate_.kind == two.certificate_.kind == "optimal"
    return np.linalg.norm(away) <= sum(bounds)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_minimum_is_within_the_proven_distance(rng, K, alpha, intercept):
    X, codes = sample(rng, K=K)
    omega = rng.uniform(0.5, 2, len(X))
    model = LogisticRegression(alpha, fit_intercept=intercept).fit(X, codes, omega)
    W, b = minimum(X, codes, K, alpha, omega, intercept)
    found, bias = model.coef_, model.intercept_
    if K > 2:
        W, b, found, bias = (a - a.mean(axis=0) for a in (W, b, found, bias))
    evidence = model.certificate_.evidence
    assert model.certificate_.kind == "optimal"
    assert model.fit_.outcome == "converged"
    assert np.all(np.abs(W - found) <= evidence["coef_bound"] + 1e-14)
    assert np.all(np.abs(b - bias) <= evidence["intercept_bound"] + 1e-14)
    assert float(np.linalg.norm((W - found).astype(float))) <= evidence["distance_bound"]
    assert evidence["distance_bound"] < 1e-4 * (1 + np.abs(W).max())


def test_separable_and_quasi_separable_rows_are_told_apart_from_a_minimum(rng):
    line, ties = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0])[:, None]
    cases = {
        "separated": (line, [0, 0, 0, 1, 1, 1], 100),
        "converged": (line, [0, 0, 1, 0, 1, 1], 100),
        "quasi": (ties, [0, 0, 0, 1, 1, 1], 100),
        "max_iter": (*sample(rng), 1),
    }
    for outcome, (X, codes, max_iter) in cases.items():
        loss = logistic_objective(X, np.array(codes), 2, NONE, 0.0, True)
        found = newton(loss, max_iter)
        assert found.outcome == outcome
        assert (found.certificate.kind == "optimal") == (outcome == "converged")


@pytest.mark.parametrize("K", [2, 3])
def test_columns_that_depend_on_others_are_one_choice_among_many(rng, K):
    X, codes = sample(rng, K=K)
    X = np.column_stack([X, X[:, 0]])
    fits = [newton(logistic_objective(X, codes, K, NONE, alpha, True)) for alpha in (0.0, 1e-300)]
    table = np.column_stack([X, codes])
    with pytest.warns(match="columns depend on others"):
        fits.append(fit(LogisticRegression(alpha=0), blocks(table, rows=50), "x4").fit_)
    for found in fits:
        assert found.rank < found.theta.size
        assert found.certificate.kind == "unproven"


def sparse_rows(rng, n=700, p=2100, spread=0.0):
    """CSR rows of some twenty entries, columns of sizes 10^-spread to 10^spread."""
    X = sparse.random_array((n, p), density=20 / p, rng=rng, format="csr")
    X.data *= (10.0 ** rng.uniform(-spread, spread, p))[X.indices]
    return X


@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("K", [2, 4, "counts"])
@pytest.mark.parametrize("intercept", [True, False])
def test_long_sparse_rows_are_proven_whatever_the_sizes_of_the_columns(rng, spread, K, intercept):
    X = sparse_rows(rng, spread=spread)
    counts = K == "counts"
    y = rng.poisson(1.0, 700) if counts else rng.integers(0, K, 700)
    model = (PoissonRegression if counts else LogisticRegression)(fit_intercept=intercept)
    omega = rng.uniform(0.5, 2.0, 700)
    model.fit(X, y, omega)
    assert model.fit_.outcome == "converged"
    assert model.certificate_.kind == "optimal"
    if spread == 0.0:
        assert within(model, type(model)(fit_intercept=intercept).fit(X.toarray(), y, omega))


@pytest.mark.parametrize("shape", [(12_000, 70, 2), (12_000, 70, 5), (2700, 400, 2)])
def test_any_number_of_threads_gives_the_same_bits(rng, shape):
    X, y = table(rng, "chain", *shape)
    fits = []
    for limit in (1, 2, 5):
        with threadpool_limits(limit):
            fits.append(LogisticRegression().fit(X, y).coef_)
    assert all(np.array_equal(W, fits[0]) for W in fits)
