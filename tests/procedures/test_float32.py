"""Steps with rows in float32: the minimum and its proof are those of the rows as they are."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from adaline.losses.logistic import logistic_loss
from adaline.losses.poisson import poisson_loss
from adaline.procedures.newton import _float32, _stride
from adaline.procedures.newton.curvature import hessians
from adaline.procedures.newton.newton import newton

NONE = np.empty(0)


def table(rng, kind="even", n=2700, p=400):
    """Rows of columns that are independent, follow each other, or differ in size and mean."""
    X = rng.standard_normal((n, p))
    if kind == "chain":
        for j in range(1, p):
            X[:, j] = 0.98 * X[:, j - 1] + np.sqrt(1 - 0.98**2) * X[:, j]
    V = X @ rng.normal(size=p) / np.sqrt(p) + rng.logistic(size=n)
    if kind == "sizes":
        X = X * 10.0 ** rng.uniform(-60, 60, p)
    if kind == "far":
        X = X + rng.uniform(-1e6, 1e6, p)
    return X, (V > 0).astype(np.int64)


def gradient(X, codes, alpha, W, b):
    """Of the penalised loss, by numpy."""
    r = 1.0 / (1.0 + np.exp(-(X @ W[0] + b[0]))) - codes
    return np.append(X.T @ r + alpha * W[0], r.sum())


def without_rounding(loss, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(_float32, "_LEAST", 2**60)
        assert _float32.rounded(loss) is None
        return newton(loss, **options)


@pytest.mark.parametrize("alpha", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("kind", ["even", "chain", "far"])
def test_the_minimum_is_that_of_the_rows_as_they_are(rng, monkeypatch, kind, alpha):
    X, codes = table(rng, kind)
    loss = logistic_loss(X, codes, 2, NONE, alpha, True)
    assert _stride.is_dear(loss)
    assert _float32.rounded(loss) is not None
    fit, exact = newton(loss), without_rounding(loss, monkeypatch)
    assert (fit.outcome, fit.certificate.kind) == ("converged", "optimal")
    bounds = [f.certificate.evidence["distance_bound"] for f in (fit, exact)]
    assert np.linalg.norm(fit.W - exact.W) <= sum(bounds)
    assert bounds[0] <= 1e-3 * np.linalg.norm(fit.W)


@pytest.mark.parametrize("kind", ["even", "chain", "far"])
@pytest.mark.parametrize("offset", [False, True])
def test_counts_are_learned_with_rounded_rows_too(rng, monkeypatch, kind, offset):
    """Their steps begin with a bias, the logarithm of the mean, and weights of zero."""
    X, _ = table(rng, kind)
    v = (X - X.mean(axis=0)) @ rng.standard_normal(X.shape[1]) / 30
    exposure = rng.uniform(-1.0, 1.0, len(X)) if offset else NONE
    y = rng.poisson(np.exp(v + (exposure if offset else 0.0))).astype(np.float64)
    loss = poisson_loss(X, y, NONE, exposure, 1.0, True)
    used, of = [], _float32.rounded
    monkeypatch.setattr(_float32, "rounded", lambda loss: used.append(of(loss)) or used[-1])
    fit = newton(loss)
    assert used[0] is not None
    exact = without_rounding(loss, monkeypatch)
    assert (fit.outcome, fit.certificate.kind) == ("converged", "optimal")
    bounds = [f.certificate.evidence["distance_bound"] for f in (fit, exact)]
    assert np.linalg.norm(fit.W - exact.W) <= sum(bounds)
    assert bounds[0] <= 1e-3 * np.linalg.norm(fit.W)


def test_columns_that_leave_float32_do_no_harm(rng):
    X, codes = table(rng, "sizes")
    fit = newton(logistic_loss(X, codes, 2, NONE, 1.0, True))
    assert (fit.outcome, fit.certificate.kind) == ("converged", "optimal")


@pytest.mark.parametrize("max_iter", [0, 1, 3, 9, 100])
def test_what_is_told_is_of_the_rows_as_they_are(rng, max_iter):
    X, codes = table(rng)
    fit = newton(logistic_loss(X, codes, 2, NONE, 1.0, True), max_iter=max_iter)
    told, g = fit.certificate.evidence["gradient_norm"], gradient(X, codes, 1.0, fit.W, fit.b)
    # Rounding of sums of 2700 terms; g of rounded rows would be off by 1e-5 of it and more.
    assert told == pytest.approx(np.linalg.norm(g), rel=1e-9, abs=1e-9)
    margins = (2 * codes - 1) * (X @ fit.W[0] + fit.b[0])
    value = np.logaddexp(0.0, -margins).sum() + 0.5 * fit.W[0] @ fit.W[0]
    assert fit.value == pytest.approx(value, rel=1e-13)


def test_steps_may_be_interrupted_while_rows_are_rounded(rng):
    X, codes = table(rng)
    steps = newton.steps(logistic_loss(X, codes, 2, NONE, 1.0, True))
    for _ in range(4):
        next(steps)
    with pytest.raises(StopIteration) as end:
        steps.throw(KeyboardInterrupt)
    fit = end.value.value
    g = np.linalg.norm(gradient(X, codes, 1.0, fit.W, fit.b))
    assert fit.certificate.evidence["gradient_norm"] == pytest.approx(g, rel=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_hessian_in_float32_has_five_digits(rng, intercept):
    X, codes = table(rng)
    loss = logistic_loss(X, codes, 2, rng.uniform(0.5, 2.0, len(X)), 1.0, intercept)
    root = loss.room()
    theta = np.append(0.1 * rng.standard_normal(X.shape[1]), 0.3 * intercept)[None]
    loss.at(theta, root)
    rows = _float32.rounded(loss)
    known = _float32.rough_curvature(rows, root)
    g = np.append(rng.standard_normal(X.shape[1]), 1.0 * intercept)[None]
    H = hessians(loss, root)[0]
    assert np.linalg.norm(H @ known.solve(g)[0] - g[0]) < 1e-5 * np.linalg.norm(g)
    errors = np.sqrt(np.diagonal(np.linalg.inv(H)))
    np.testing.assert_allclose(known.deviations()[:-1], errors[:-1], rtol=1e-4)
    assert not np.any(known.solve(0.0 * g))
    np.testing.assert_allclose(known.solve(1e-60 * g), 1e-60 * known.solve(g), rtol=1e-5)


def test_dependent_columns_get_a_hessian_in_float64(rng, monkeypatch):
    X, codes = table(rng)
    X[:, 200:] = X[:, :200]
    loss = logistic_loss(X, codes, 2, NONE, 1e-9, True)
    rows, root = _float32.rounded(loss), loss.room()
    loss.at(np.zeros((1, 401)), root)
    assert _float32.rough_curvature(rows, root) is None
    fit, exact = newton(loss), without_rounding(loss, monkeypatch)
    # The last digits decide why such steps end; the least loss is the same, and nothing is proven.
    np.testing.assert_allclose(fit.value, exact.value, rtol=1e-12)
    assert fit.certificate.kind == exact.certificate.kind == "unproven"


@pytest.mark.parametrize("n", [2700, 5000])
def test_any_number_of_threads_gives_the_same_bits(rng, n):
    X, codes = table(rng, "chain", n, 500)
    fits = []
    for limit in (1, 2, 5):
        with threadpool_limits(limit):
            fits.append(newton(logistic_loss(X, codes, 2, NONE, 1.0, True)).W)
    assert all(np.array_equal(W, fits[0]) for W in fits)
