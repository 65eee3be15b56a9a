"""Newton's procedure against the minimum in long doubles, whichever model of curvature it takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline import LogisticRegression, PoissonRegression
from adaline.data import blocks, fit
from adaline.procedures.newton import newton
from adaline.procedures.steps import finished
from adaline.sums.objective import logistic_objective
from reference_logistic import minimum

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


def steepness(X, y, alpha, model):
    """|gradient| of the penalised loss by numpy, over that of zero weights."""
    Z = np.asarray(X.todense()) if sparse.issparse(X) else np.asarray(X, dtype=np.longdouble)
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    V, T = Z @ W.T + b, np.asarray(y)[:, None]
    if isinstance(model, PoissonRegression):
        R, R0 = np.exp(V) - T, np.exp(0 * V) - T
    elif len(W) == 1:
        R, R0 = 1 / (1 + np.exp(-V)) - T, 0.5 - T
    else:
        own, e = np.eye(len(W))[y], np.exp(V - V.max(axis=1, keepdims=True))
        R, R0 = e / e.sum(axis=1, keepdims=True) - own, 1 / len(W) - own
    gradients = [
        np.column_stack([r.T @ Z + alpha * w, r.sum(axis=0)]) for r, w in ((R, W), (R0, 0))
    ]
    return float(np.linalg.norm(gradients[0]) / np.linalg.norm(gradients[1]))


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


def test_a_poor_point_is_within_its_bound_or_nothing_is_claimed(rng):
    X, codes = sample(rng)
    W, _ = minimum(X, codes, 2, 1.0)
    claimed = 0
    for steps in range(1, 8):
        fit = newton(logistic_objective(X, codes, 2, NONE, 1.0, True), max_iter=steps)
        if fit.certificate.kind == "optimal":
            claimed += 1
            away = float(np.linalg.norm((W - fit.W).astype(float)))
            assert away <= fit.certificate.evidence["distance_bound"]
        else:
            assert "too large" in fit.certificate.statement
    assert claimed >= 2


SHAPES = {  # each takes another model of the curvature first
    "a start from a sample": (30_000, 5, 2),
    "a sample and classes": (12_000, 70, 5),
    "a matrix for each class": (2000, 70, 5),
    "L-BFGS before a matrix": (2700, 300, 2),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["even", "cause", "chain", "heavy", "dummies"])
def test_fits_of_every_size_are_proven_and_near_a_zero_gradient(rng, shape, kind):
    n, p, K = SHAPES[shape]
    X, y = table(rng, kind, n, p, K)
    model = LogisticRegression(alpha=1.0).fit(X, y)
    assert model.fit_.outcome == "converged"
    assert model.certificate_.kind == "optimal"
    assert model.certificate_.evidence["distance_bound"] < 0.01 * np.linalg.norm(model.coef_)
    assert steepness(X, y, 1.0, model) < 1e-5


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["even", "chain", "far"])
def test_counts_and_two_classes_are_the_same_from_memory_and_from_passes(rng, kind, alpha):
    X, y = table(rng, kind, 900, 60)
    counts = rng.poisson(np.exp(np.clip((X - X.mean(axis=0)) @ np.full(60, 0.05), -3, 3)))
    for learner, target in ((LogisticRegression, y), (PoissonRegression, counts)):
        inside = learner(alpha).fit(X, target)
        passed = fit(learner(alpha), blocks(np.column_stack([X, target]), rows=97), "x60")
        assert within(inside, passed)
        assert f"{passed.certificate_.evidence['passes']} passes" in passed.fit_.stopped


def test_columns_whose_sizes_leave_float32_do_no_harm(rng):
    X, y = table(rng, "sizes", 2700, 60)
    model = LogisticRegression().fit(X, y)
    assert (model.fit_.outcome, model.certificate_.kind) == ("converged", "optimal")


def test_units_and_offsets_of_columns_do_not_matter(rng):
    X, codes = sample(rng, n=1000, p=4)
    units, offset = np.array([1e6, 1e-3, 1.0, 1e8]), np.array([0.0, 10.0, 1e8, 0.0])
    plain = LogisticRegression(alpha=0).fit(X, codes)
    other = LogisticRegression(alpha=0).fit(X * units + offset, codes)
    # The offset of 1e8 leaves about nine digits of the third column.
    np.testing.assert_allclose(other.coef_ * units, plain.coef_, rtol=1e-6)
    assert other.certificate_.kind == "optimal"


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


@pytest.mark.parametrize("K", [2, 3])
def test_ctrl_c_leaves_the_last_complete_step(rng, K):
    X, codes = sample(rng, K=K)
    loss = logistic_objective(X, codes, K, NONE, 1.0, True)

    def hear(done, here):
        if done == 2:
            raise KeyboardInterrupt

    found = finished(newton.steps(loss), hear)
    assert (found.outcome, found.steps) == ("interrupted", 2)
    np.testing.assert_array_equal(found.W, newton(loss, max_iter=2).W)


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
@pytest.mark.parametrize("noise", [1.0, 0.01])
def test_classes_near_certainty_are_proven(rng, alpha, noise):
    X, codes = sample(rng, K=5, noise=noise)
    codes[:5] = range(5)  # without rows of a class its bias has no minimum
    model = LogisticRegression(alpha, max_iter=1000).fit(X, codes)
    assert model.certificate_.kind == "optimal"
    assert steepness(X, codes, alpha, model) < 1e-6


def test_a_rare_class_does_not_loosen_the_proof(rng):
    """A bound by the least probability of each row, that of the rare class, would prove little."""
    X, codes = sample(rng, n=3000)
    codes[rng.choice(3000, 6, replace=False)] = 2
    table = np.column_stack([X, codes])
    inside = LogisticRegression(0.1).fit(X, codes)
    passed = fit(LogisticRegression(0.1), blocks(table, rows=500), "x3")
    assert within(inside, passed)
    assert max(m.certificate_.evidence["distance_bound"] for m in (inside, passed)) <= 1e-4


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


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
@pytest.mark.parametrize("unit", [1e-150, 1e-5, 1e120])
def test_units_of_all_columns_of_text_change_nothing_but_units(rng, alpha, intercept, unit):
    """Some of the columns have no entry at all."""
    X = sparse_rows(rng, n=200)
    v = X @ rng.standard_normal(2100)
    y = (4 * v / v.std() + 1.0 + rng.logistic(size=200) > 0).astype(int)
    plain = LogisticRegression(alpha, fit_intercept=intercept).fit(X, y)
    other = LogisticRegression(alpha * unit**2, fit_intercept=intercept).fit(X * unit, y)
    assert plain.certificate_.kind == other.certificate_.kind == "optimal"
    np.testing.assert_allclose(other.coef_ * unit, plain.coef_, atol=1e-5)
    assert steepness(X, y, alpha, plain) < 1e-5 or not intercept


@pytest.mark.parametrize("places", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_width_of_indices_and_of_numbers_in_csr_changes_nothing(rng, places, kind):
    X, y = sparse_rows(rng, n=100), np.arange(100) % 2
    X = X.astype(np.float32).astype(np.float64)  # the same numbers in both
    want = LogisticRegression().fit(X, y)
    other = X.astype(kind)
    other.indices, other.indptr = other.indices.astype(places), other.indptr.astype(places)
    for part in (other.data, other.indices, other.indptr):
        part.setflags(write=False)
    model = LogisticRegression().fit(other, y)
    if kind is np.float64:
        np.testing.assert_array_equal(model.coef_, want.coef_)
    np.testing.assert_allclose(model.fit_.W, want.fit_.W, atol=1e-6)


def test_empty_and_equal_rows_are_rows_like_others(rng):
    X, y = rng.standard_normal((30, 4)), np.arange(30) % 2
    X[5:12], X[20:] = 0.0, X[19]
    for intercept in (True, False):
        models = [
            LogisticRegression(fit_intercept=intercept).fit(form(X), y)
            for form in (sparse.csr_array, np.asarray)
        ]
        assert within(*models)
    empty = LogisticRegression().fit(sparse.csr_array((4, 3)), [1, 1, 1, 0])
    assert not empty.coef_.any()
    assert empty.intercept_[0] == pytest.approx(np.log(3.0))


@pytest.mark.parametrize("shape", [(12_000, 70, 2), (12_000, 70, 5), (2700, 400, 2)])
def test_any_number_of_threads_gives_the_same_bits(rng, shape):
    X, y = table(rng, "chain", *shape)
    fits = []
    for limit in (1, 2, 5):
        with threadpool_limits(limit):
            fits.append(LogisticRegression().fit(X, y).coef_)
    assert all(np.array_equal(W, fits[0]) for W in fits)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unit", [1e-30, 1e-200])
@pytest.mark.filterwarnings("error::RuntimeWarning:adaline")
def test_columns_that_are_nothing_beside_their_penalty_are_fitted(rng, unit, intercept):
    """A Newton decrement of zero is one like others."""
    X, y = unit * rng.standard_normal((40, 400)), np.arange(40) % 2
    model = LogisticRegression(alpha=1.0, fit_intercept=intercept).fit(X, y)
    # Values are nothing beside 1, so that slopes are halves and w = X'(y - 1/2).
    off, bound = np.abs(model.coef_[0] - X.T @ (y - 0.5)), model.certificate_.evidence["coef_bound"]
    assert np.all(off <= bound + 1e-9 * unit)
    assert model.certificate_.kind == "optimal"


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unit", [1e-290, 1e-200, 1e-150, 1e150, 1e250])
def test_units_of_weights_and_penalty_change_no_minimum(rng, unit, intercept, K):
    X = rng.standard_normal((60, 5))
    y = np.argmax(X[:, :K] + rng.gumbel(size=(60, K)), axis=1)
    W, b = minimum(X, y, K, 1.0, intercept=intercept)
    model = LogisticRegression(alpha=unit, fit_intercept=intercept, tol=1e-5)
    model.fit(X, y, sample_weight=np.full(60, unit))
    assert model.certificate_.kind == "optimal"
    e = model.certificate_.evidence
    off = np.abs(model.coef_ - np.asarray(W, dtype=np.float64).reshape(model.coef_.shape))
    assert np.all(off <= e["coef_bound"] + 1e-15)
    assert np.linalg.norm(off) <= e["distance_bound"] + 1e-15
    assert e["distance_bound"] < 1e-3
    both = model.intercept_ - np.asarray(b, dtype=np.float64)
    assert np.all(np.abs(both - both.mean() * (K > 2)) <= e["intercept_bound"] + 1e-15)
