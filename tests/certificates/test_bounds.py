"""How far the minimum is said to be, at any theta: held against the minimum in decimals.

What makes proofs false is tried in turn: nearly equal columns, weights over 40 orders, products
that underflow, penalties of nothing and of everything, near separation, offsets, several classes.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import inf, log1p

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates.bounds import Matrix, Thin, distance, optimality, regular
from adaline.procedures.newton import newton
from adaline.sums.losses import Gamma, Logistic, Poisson, Softmax
from adaline.sums.objective import Objective
from reference_losses import NoMinimum, minimum_near

KINDS = {
    "two": "classes",
    "three": "classes",
    "five": "classes",
    "counts": "counts",
    "gamma": "amounts",
}
OUTPUTS = {"three": 3, "five": 5}
CASES = {  # X (n, p), weights; n is 10
    "plain": lambda rng: (rng.standard_normal((10, 2)), None),
    "units": lambda rng: (rng.standard_normal((10, 2)) * [1e-9, 1e6] + [0, 3e6], None),
    "ends": lambda rng: (rng.standard_normal((10, 2)) * [1e-150, 1e150], None),
    "nearly equal": lambda rng: (near(rng, 10.0 ** -rng.uniform(2, 9)), None),
    "weights": lambda rng: (rng.integers(1, 3, (10, 2)) * 1.0, 10.0 ** rng.uniform(-20, 20, 10)),
    "tiny weights": lambda rng: (rng.standard_normal((10, 1)), 10.0 ** -rng.uniform(295, 320, 10)),
    "far": lambda rng: (rng.standard_normal((10, 2)) + 1e8, None),
}


def near(rng, far):
    x = rng.standard_normal((10, 1)).round(2)
    return np.column_stack([x, x + far * rng.standard_normal((10, 1)).round(1)])


def problem(rng, kind, X, omega, alpha, intercept=True, form=np.asarray):
    """The objective, and what the minimum in decimals needs."""
    n, K = len(X), OUTPUTS.get(kind, 1)
    weights = np.ones(n) if omega is None else np.maximum(omega, 5e-324)
    offset = rng.uniform(-5, 5, n) if kind in ("counts", "gamma") else np.zeros(n)
    if kind in ("counts", "gamma"):
        y = rng.poisson(3.0, n) + 1.0
        loss, t = Poisson() if kind == "counts" else Gamma(), y
    else:
        y = rng.permutation(np.arange(n) % max(K, 2))
        loss, t = (Logistic(), 2.0 * y - 1.0) if K == 1 else (Softmax(), y)
    given = np.empty(0) if omega is None else weights
    more = offset if offset.any() else np.empty(0)
    of = Objective.of(loss, form(X), t, given, alpha, intercept, K=K, offset=more)
    return of, (KINDS[kind], X, y, weights, offset, alpha, intercept)


def metrics(of, theta):
    """Every lower bound on the Hessian at theta that there is."""
    K, q = of.K, of.q
    joint = of.sums(theta, "joint")
    yield "joint", Matrix.of(regular(joint.H, of.K), joint, 0.0, K)
    step = 1e-3 * np.ones_like(theta) * (np.arange(K)[:, None] + 1)
    before = of.sums(theta + step, "joint")
    moved = 2.01 * float((np.abs(step) @ before.top).max())
    yield "earlier", Matrix.of(regular(before.H, of.K), before, moved, K)
    if K > 1:
        least = of.sums(theta, "least")
        yield "least", Matrix.of(least.H, least, 0.0, K)
    else:
        some = of.every(2).sums(theta, "joint")
        yield "some rows", Matrix.of(some.H, some, 0.0, K)
    if of.penalty[: q - 1].all():
        thin = of.sums(theta, "thin")
        with np.errstate(all="ignore"):
            yield "thin", Thin.of(thin, of.farthest(thin), of.penalty, of.intercept, K)


def holds(certificate, W, b, truth, biases, intercept):
    """Whether a minimum in decimals is as near as is said."""
    e, total = certificate.evidence, Decimal(0)
    for w, true, c, own in zip(W, truth, b, biases, strict=True):
        off = [abs(Decimal(float(a)) - t) for a, t in zip(w, true, strict=True)]
        if any(d > Decimal(float(m)) for d, m in zip(off, e["coef_bound"], strict=True)):
            return False
        if intercept and abs(Decimal(float(c)) - own) > Decimal(float(e["intercept_bound"])):
            return False
        total += sum((d * d for d in off), Decimal(0))
    return total.sqrt() <= Decimal(float(e["distance_bound"]))


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1.0, 1e10])
def test_the_minimum_is_within_the_bound_of_any_point(rng, kind, case, alpha):
    X, omega = CASES[case](rng)
    intercept = bool(rng.integers(4))
    form = sparse.csr_array if rng.integers(3) == 0 else np.asarray
    of, exact = problem(rng, kind, X, omega, alpha, intercept, form)
    found = newton(of, 200)
    truth = None
    for size in (0.0, 1e-12, 1e-4, 0.1):
        theta = found.theta + size * rng.standard_normal(found.theta.shape)
        if not intercept:
            theta[:, -1] = 0.0
        theta -= theta.mean(axis=0) * (of.K > 1)
        W, b = of.rows.original(theta)
        if not intercept:
            b = 0.0 * b
        sums = of.sums(theta)
        for name, metric in metrics(of, theta):
            certificate = optimality(metric and distance(metric, sums), sums, theta, of.rows)
            if certificate.kind != "optimal" or not np.isfinite(W).all():
                continue
            if truth is None:
                e = certificate.evidence
                accuracy = np.append(e["coef_bound"], e["intercept_bound"]) * 1e-6
                if not np.isfinite(accuracy).all():
                    continue
                try:
                    truth = minimum_near(*exact, found.W, found.b * intercept, accuracy)
                except NoMinimum:
                    pytest.fail(f"{name}: no minimum is where one is said to be")
            assert holds(certificate, W, b, *truth, intercept), (name, size)
    if case == "plain" and alpha == 1.0:
        assert truth is not None  # bounds that are never finite would hold, too


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_values_move_no_faster_than_is_said_and_metrics_are_below_the_hessian(rng, kind, intercept):
    """On a way d of length 1 values, or differences of them, move by at most rho."""
    X = rng.standard_normal((60, 3)) * [1.0, 30.0, 0.1] + [0.0, 9.0, 0.0]
    of, _ = problem(rng, kind, X, None, 0.3, intercept)
    K, q = of.K, of.q
    theta = 0.5 * rng.standard_normal((K, q)) * ([1.0] * (q - 1) + [float(intercept)])
    H = of.sums(theta, "joint").H
    for name, metric in metrics(of, theta):
        rho = metric.fastest(of.rows.top)
        for _ in range(200):
            d = rng.standard_normal((K, q)) * 10.0 ** rng.uniform(-2, 2, q)
            d -= d.mean(axis=0) * (K > 1)
            d[:, -1] *= intercept
            # |d| in the metric is sup d'g over |g| = 1: a lower bound by any g, exact at g = M d.
            d /= np.sqrt(d.ravel() @ H @ d.ravel())  # longer than 1 in a metric below H
            V = of.rows.project(d.T)
            assert np.max(np.ptp(V, axis=1) if K > 1 else np.abs(V)) <= rho * (1 + 1e-9), name
            g = (H @ d.ravel()).reshape(K, q)
            assert metric.length(g) >= 1 - 1e-9, name  # H^-1 is at most M^-1
        assert metric.doubt(np.full(q, 0.1), K) >= metric.length(0.1 * np.sign(d)) * (1 - 1e-9)


@pytest.mark.parametrize("K", [2, 3, 4])
def test_rho_of_classes_is_over_their_differences(rng, K):
    """Two classes that move against each other part twice as fast as each moves."""
    A = rng.standard_normal((K * 2, K * 2))
    A[2:4] = -A[:2]
    metric = Matrix(A, 1.0, K, 2)
    parts = A.reshape(K, 2, -1)
    top = np.array([1.0, 2.0])
    corners = [np.array([s, 2 * t]) for s in (-1, 1) for t in (-1, 1)]
    fastest = max(
        np.linalg.norm((parts[k] - parts[m]).T @ z)
        for z in corners
        for k in range(K)
        for m in range(k)
    )
    assert fastest <= metric.fastest(top) * (1 + 1e-12)
    alone = max(np.linalg.norm(part.T @ z) for z in corners for part in parts)
    assert fastest > 1.05 * alone
    assert Matrix(np.eye(2), 1.0, K, 2).fastest(top) == pytest.approx(np.sqrt(2) * np.sqrt(5))


@pytest.mark.parametrize("far", [0.0, 1e-17, 1e-12, 1e-9])
@pytest.mark.parametrize("kind", ["two", "three", "counts"])
def test_a_matrix_that_is_singular_to_rounding_proves_nothing(rng, kind, far):
    x = rng.standard_normal(10)
    of, _ = problem(rng, kind, np.column_stack([x, x + far * rng.standard_normal(10)]), None, 0.0)
    for _, metric in metrics(of, np.zeros((of.K, of.q))):
        assert metric is None
    sums = of.sums(np.zeros((of.K, of.q)))
    certificate = optimality(None, sums, np.zeros((of.K, of.q)), of.rows)
    assert certificate.kind == "unproven"
    assert "distance_bound" not in certificate.evidence


def test_curvature_that_underflow_may_have_taken_proves_nothing(rng):
    of, _ = problem(rng, "two", rng.standard_normal((10, 2)), None, 1e-3)
    theta = np.array([[0.0, 0.0, 800.0]])  # curvatures of exp(-800)
    assert not any(metric for name, metric in metrics(of, theta) if name != "earlier")
    sums = of.sums(np.zeros((1, 3)), "joint")
    for bad in (np.nan, np.inf, 0.0):
        assert Matrix.of(sums.H * bad, sums, 0.0, 1) is None
    assert Matrix.of(sums.H, sums, 31.0, 1) is None
    assert Matrix.of(sums.H, replace(sums, off=9.0), 0.0, 1) is None


class Known:
    """Lengths and speeds as given."""

    def __init__(self, nu, rho):
        self.nu, self.rho = nu, rho

    def length(self, G):
        return self.nu

    def doubt(self, rounding, K):
        return 0.0

    def fastest(self, top):
        return self.rho

    def deviations(self):
        return np.array([[2.0, 3.0]])


@pytest.mark.parametrize(("nu", "rho"), [(0.5, 0.25), (0.9, 0.9), (0.2, 3.0), (1e-9, 0.0)])
def test_delta_is_that_of_the_theorem(rng, nu, rho):
    of, _ = problem(rng, "two", rng.standard_normal((10, 1)), None, 1.0)
    sums = of.sums(np.zeros((1, 2)))
    found = distance(Known(nu, rho), sums)
    exact = -log1p(-nu * rho) / rho if rho else nu
    assert exact <= found.delta <= 1.3 * exact
    assert distance(Known(1.0, 1.0), sums).delta == inf
    assert not distance(Known(np.nan, 1.0), sums).proven
    certificate = optimality(found, sums, np.zeros((1, 2)), of.rows)
    assert certificate.evidence["coef_bound"][0] >= found.delta * 2.0 * of.rows.scale[0]
    assert optimality(distance(Known(2.0, 1.0), sums), sums, np.zeros((1, 2)), of.rows).kind == (
        "unproven"
    )


@pytest.mark.parametrize("h", [0.0, 0.5])
def test_without_a_matrix_lengths_are_those_that_the_matrix_gives(rng, h):
    alpha, mean = rng.uniform(0.1, 2.0, 4), rng.standard_normal(4) * (h > 0)
    metric, z = Thin(alpha, mean, h, 3.0, 4.0, 1), np.append(mean, 1.0)
    M = np.diag(np.append(alpha, 0.0)) + h * np.outer(z, z)
    M[-1, -1] += h == 0.0
    inverse, g = 4.0 * np.linalg.inv(M), rng.standard_normal((1, 5))
    g[0, -1] *= h > 0
    assert metric.length(g) == pytest.approx(np.sqrt(g[0] @ inverse @ g[0]))
    own = np.sqrt(np.diag(inverse))
    assert metric.deviations()[0, :4] == pytest.approx(own[:4])
    assert metric.deviations()[0, 4] >= own[4] * (h > 0) * (1 - 1e-12)
    rounding = rng.uniform(0.0, 1.0, 5)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 5)).reshape(5, -1).T
    worst = max(metric.length(s[None] * rounding) for s in signs)
    assert worst * (1 - 1e-12) <= metric.doubt(rounding, 1) <= 1.001 * worst
    assert metric.doubt(rounding, 4) == pytest.approx(2.0 * metric.doubt(rounding, 1))
