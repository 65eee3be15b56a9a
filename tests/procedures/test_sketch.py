"""Steps without a matrix of columns x columns: few steps, the same minimum, and proofs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from adaline.losses.logistic import logistic_loss
from adaline.losses.poisson import poisson_loss
from adaline.procedures.newton import _newton_state, _stride
from adaline.procedures.newton._sketch import sketch
from adaline.procedures.newton.newton import newton

NONE = np.empty(0)


def table(rng, kind="even", n=900, p=300, K=2):
    """Rows of columns that are independent, share a cause, follow each other, or differ in size."""
    X = rng.standard_normal((n, p))
    if kind == "cause":
        X = np.sqrt(0.4) * X + np.sqrt(0.6) * rng.standard_normal((n, 1))
    elif kind == "chain":
        for j in range(1, p):
            X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1 - 0.95**2) * X[:, j]
    elif kind == "sizes":
        X = X * 10.0 ** rng.uniform(-2, 2, p) + rng.uniform(-5, 5, p)
    V = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(p, K)) / np.sqrt(p)
    return X, np.argmax(V + 0.5 * rng.gumbel(size=V.shape), axis=1)


def begun(loss):
    theta, root = loss.loss.start(loss), loss.room()
    loss.at(theta, root)
    return theta, root


def made_of_matrices(loss, monkeypatch):
    """The same fit, with a Hessian from the first step on."""
    with monkeypatch.context() as patch:
        patch.setattr(_stride, "_DEAR", np.inf)
        return newton(loss)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["even", "cause", "chain", "sizes"])
def test_without_a_matrix_the_minimum_is_the_same(rng, monkeypatch, kind, alpha):
    X, codes = table(rng, kind)
    loss = logistic_loss(X, codes, 2, NONE, alpha, True)
    assert _stride.is_dear(loss)
    fit, exact = newton(loss), made_of_matrices(loss, monkeypatch)
    assert fit.outcome == "converged"
    assert fit.certificate.kind == "optimal"
    both = fit.certificate.evidence["distance_bound"] + exact.certificate.evidence["distance_bound"]
    assert np.linalg.norm(fit.W - exact.W) <= both
    assert fit.certificate.evidence["distance_bound"] < 0.01 * np.linalg.norm(fit.W)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, np.float32, np.asfortranarray])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_any_form_of_rows_is_learned_without_a_matrix(rng, monkeypatch, form, K, intercept):
    X, codes = table(rng, "cause", K=K)
    X[rng.random(X.shape) < 0.5] = 0.0
    omega = rng.uniform(0.0, 2.0, len(X))
    loss = logistic_loss(form(X), codes, K, omega, 2.0, intercept)
    fit, exact = newton(loss), made_of_matrices(loss, monkeypatch)
    assert fit.certificate.kind == exact.certificate.kind == "optimal"
    both = fit.certificate.evidence["distance_bound"] + exact.certificate.evidence["distance_bound"]
    assert np.linalg.norm(fit.W - exact.W) <= both


def test_counts_are_learned_without_a_matrix(rng, monkeypatch):
    X, _ = table(rng, "cause")
    y = rng.poisson(np.exp(X @ rng.normal(size=300) / 40)).astype(float)
    loss = poisson_loss(X, y, NONE, NONE, 1.0, True)
    fit, exact = newton(loss), made_of_matrices(loss, monkeypatch)
    assert fit.certificate.kind == "optimal"
    both = fit.certificate.evidence["distance_bound"] + exact.certificate.evidence["distance_bound"]
    assert np.linalg.norm(fit.W - exact.W) <= both


def test_a_common_cause_is_found_in_a_few_rows(rng):
    X, codes = table(rng, "cause", n=4000)
    loss = logistic_loss(X, codes, 2, NONE, 1.0, True)
    known = sketch(loss, begun(loss)[1], loss.loss.start(loss))
    V, less = known.along
    assert V.shape[1] == len(less) == 1
    H = loss.gram(np.full(len(X), 0.5)) + np.diag(loss.penalty)
    g = H[:1]  # mostly along the cause
    exact = np.linalg.solve(H, g[0])
    assert g[0] @ known.solve(g)[0] < 5 * (g[0] @ exact)
    assert g[0] @ (g[0] / known.diagonal) > 100 * (g[0] @ exact)  # what the diagonal would say
    errors = np.sqrt(np.diagonal(np.linalg.inv(H)))[:-1]
    np.testing.assert_allclose(known.deviations()[:-1], errors, rtol=0.3)


def test_chance_is_not_taken_for_a_cause(rng):
    X, codes = table(rng, "even", n=4000)
    loss = logistic_loss(X, codes, 2, NONE, 1.0, True)
    known = sketch(loss, begun(loss)[1], loss.loss.start(loss))
    assert known.along[0].shape[1] == 0


@pytest.mark.parametrize(("kind", "p"), [("even", 300), ("cause", 800), ("sizes", 300)])
def test_no_matrix_is_made_where_few_steps_suffice(rng, monkeypatch, kind, p):
    def refused(*_):
        raise AssertionError("a matrix was made")

    X, codes = table(rng, kind, 3000, p)
    loss = logistic_loss(X, codes, 2, NONE, 1.0, True)
    monkeypatch.setattr(_newton_state, "curvature", refused)
    monkeypatch.setattr(_newton_state, "curvature_bound", refused)
    fit = newton(loss)
    assert fit.certificate.kind == "optimal"
    assert fit.steps < 50


def test_a_matrix_is_made_where_steps_without_it_are_slow(rng, monkeypatch):
    X, codes = table(rng, "chain", n=3000)
    loss = logistic_loss(X, codes, 2, NONE, 1e-3, True)
    made, curvature = [], _newton_state.curvature

    def counted(*rest):
        made.append(1)
        return curvature(*rest)

    monkeypatch.setattr(_newton_state, "curvature", counted)
    fit = newton(loss)
    assert made
    assert fit.certificate.kind == "optimal"
    assert fit.steps < 60


@pytest.mark.parametrize("kind", ["cause", "chain"])
def test_where_no_matrix_is_possible_l_bfgs_keeps_what_it_learned(rng, monkeypatch, kind):
    """It needs no more gradients than scipy's, which never begins anew."""
    monkeypatch.setattr("adaline.objective.MANY", 100)
    X, codes = table(rng, kind, n=3100)
    loss = logistic_loss(X, codes, 2, NONE, 1.0, True)
    fit = newton(loss, max_iter=1000)
    assert fit.certificate.kind == "optimal"
    theta, root = begun(loss)
    units = np.sqrt(0.25 * loss.length**2 + loss.penalty)

    def scaled(u):
        here = loss.at((u / units)[None], root)
        return here.f, here.g[0] / units

    size = np.abs(loss.at(fit.theta, root).g[0] / units).max()
    peer = minimize(
        scaled,
        theta[0],
        jac=True,
        method="L-BFGS-B",
        options={"gtol": size, "ftol": 0.0, "maxiter": 1000, "maxcor": 20},
    )
    assert fit.steps <= 1.3 * peer.nfev


def test_rows_that_do_not_converge_are_learned_from_their_own_side(rng, monkeypatch):
    monkeypatch.setattr("adaline.objective.MANY", 100)
    X, codes = table(rng, "chain", n=1100)
    loss = logistic_loss(X, codes, 2, NONE, 1e-2, True)
    fit = newton(loss, max_iter=10)
    assert fit.outcome == "converged"
    assert fit.certificate.kind == "optimal"
    exact = newton(loss, max_iter=1000)
    bounds = [found.certificate.evidence["distance_bound"] for found in (fit, exact)]
    assert np.linalg.norm(fit.W - exact.W) <= sum(bounds)


def test_columns_of_any_size_leave_the_sketch_positive(rng):
    X, codes = table(rng, "cause")
    X[:, :3] *= [1e-150, 1e150, 0.0]
    loss = logistic_loss(X, codes, 2, NONE, 1.0, True)
    known = sketch(loss, begun(loss)[1], loss.loss.start(loss))
    g = rng.standard_normal((5, 301)) * loss.length
    assert np.all(np.isfinite(known.solve(g)))
    assert np.all((g * known.solve(g)).sum(axis=1) > 0)
    assert newton(loss).certificate.kind == "optimal"


@pytest.mark.parametrize("kind", ["cause", "chain"])
def test_threads_change_no_bit(rng, kind):
    X, codes = table(rng, kind, n=3000)
    loss = logistic_loss(X, codes, 2, NONE, 0.1, True)
    fits = []
    for count in (1, 2):
        with threadpool_limits(count):
            fits.append(newton(loss))
    assert np.array_equal(fits[0].W, fits[1].W)
    assert fits[0].certificate.evidence["value"] == fits[1].certificate.evidence["value"]
