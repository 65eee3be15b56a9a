"""A loss summed over rows: value, slope and curvature of any kind of rows, and their rounding."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from adaline.sums.losses import Gamma, Logistic, Poisson, Softmax
from adaline.sums.objective import Objective
from adaline.sums.scaled_rows import MANY, ScaledRows
from reference_logistic import loss_and_gradient

CASES = {"logistic": 1, "softmax": 3, "poisson": 1, "gamma": 1}
FORMS = {
    "dense": np.asarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
}


def objective(rng, case="logistic", n=150, p=4, form="dense", alpha=0.7, intercept=True, **more):
    """Rows of columns of several sizes, means and weights; float32 holds the same numbers."""
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    X, K = X.astype(np.float32).astype(np.float64), CASES[case]
    omega = rng.uniform(0.5, 2.0, n) if more.get("weighted", True) else np.empty(0)
    if case in ("logistic", "softmax"):
        y = rng.integers(0, max(K, 2), n)
        loss, t = (Logistic(), 2.0 * y - 1.0) if K == 1 else (Softmax(), y)
        return Objective.of(loss, FORMS[form](X), t, omega, alpha, intercept, K=K), X, y, omega
    y, offset = rng.poisson(2.0, n) + 1.0, rng.standard_normal(n)
    loss = Poisson() if case == "poisson" else Gamma()
    of = Objective.of(loss, FORMS[form](X), y, omega, alpha, intercept, offset=offset)
    return of, X, y, omega


def theta_of(rng, of):
    theta = rng.standard_normal((of.K, of.q)) / np.sqrt(of.q)
    theta[:, -1] *= of.intercept
    return theta


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_loss_and_gradient_are_those_of_the_slow_twin(rng, K, weighted, form):
    case = "logistic" if K == 2 else "softmax"
    of, X, y, omega = objective(rng, case, form=form, alpha=0.0, weighted=weighted)
    W, b = rng.normal(size=(of.K, 4)) / 10, rng.normal(size=of.K)
    sums = of.sums(of.rows.theta(W, b))
    f, gW, gb = loss_and_gradient(X, y, K, W, b, omega if weighted else None)
    scale, shift, unit = of.rows.scale, of.rows.shift, of.rows.unit
    assert sums.f * unit == pytest.approx(f, rel=1e-12)
    back = (sums.g[:, :-1] + sums.g[:, -1:] * shift) / scale * unit
    np.testing.assert_allclose(back, gW, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(sums.g[:, -1] * unit, gb, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_and_curvatures_are_derivatives(rng, case, intercept):
    of, *_ = objective(rng, case, intercept=intercept)
    theta, d, h = theta_of(rng, of), theta_of(rng, of), 1e-6
    up, down = (of.sums(theta + s * h * d) for s in (1, -1))
    here = of.sums(theta, "joint")
    assert (up.f - down.f) / (2 * h) == pytest.approx(float(np.sum(here.g * d)), rel=1e-6)
    change = (here.H @ d.ravel()).reshape(d.shape)
    np.testing.assert_allclose((up.g - down.g) / (2 * h), change, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_curvatures_of_classes_are_sums_over_rows(rng, intercept, form):
    of, *_ = objective(rng, "softmax", form=form, intercept=intercept)
    K, q = of.K, of.q
    theta = theta_of(rng, of)
    P, Z = of.curvatures(theta), of.rows.project(np.eye(q))
    omega = of.rows.omega
    joint = sum(
        o * np.kron(np.diag(p) - np.outer(p, p), np.outer(z, z))
        for o, p, z in zip(omega, P, Z, strict=True)
    ) + np.diag(np.tile(of.penalty, K))
    bias = np.diag(np.append(np.zeros(q - 1), 0.0 if intercept else 1.0))
    penalty = np.diag(of.penalty) + bias
    close = {"rtol": 1e-10, "atol": 1e-10}
    found = of.sums(theta, "joint").H
    np.testing.assert_allclose(found, joint + np.kron(np.eye(K), bias), **close)
    blocks = [(Z * (omega * p * (1 - p) * K / (K - 1))[:, None]).T @ Z + penalty for p in P.T]
    np.testing.assert_allclose(of.sums(theta, "blocks").H, blocks, **close)
    least = (Z * (omega * P.min(axis=1))[:, None]).T @ Z
    np.testing.assert_allclose(of.sums(theta, "least").H, least + penalty, **close)
    apart = np.kron(np.eye(K) - 1 / K, np.eye(q))
    lower = np.kron(np.eye(K), of.sums(theta, "least").H)
    if intercept:  # a lower bound on what differs between classes
        assert np.linalg.eigvalsh(apart @ (joint - lower) @ apart)[0] > -1e-10


@pytest.mark.parametrize("case", CASES)
def test_a_block_of_a_file_has_its_share_of_the_sums(rng, case):
    of, X, _, omega = objective(rng, case, n=1000)
    theta, rows = theta_of(rng, of), of.rows
    bare = of.with_penalty(0.0)
    parts = []
    for part in np.split(np.arange(1000), [100, 333, 334]):
        units = ScaledRows(
            *(
                [
                    getattr(rows, n)
                    for n in ("X", "y", "omega", "offset", "intercept", "scale", "shift")
                ]
            ),
            np.empty(0),
            rows.deviation,
            rows.unit,
        )
        offset = rows.offset[part] if len(rows.offset) else rows.offset
        block = units.with_rows(X[part], rows.y[part], omega[part], offset)
        parts.append(Objective(block, of.loss, of.K, 0 * of.penalty).bare_sums(theta, "joint"))
    total, whole = reduce(operator.add, parts), bare.bare_sums(theta, "joint")
    assert (total.n, total.weight) == (1000, pytest.approx(whole.weight))
    assert total.f == pytest.approx(whole.f, rel=1e-13)
    np.testing.assert_allclose(total.H, whole.H, rtol=1e-11, atol=1e-10)
    assert np.all(np.abs(total.g - whole.g) <= total.rounding + whole.rounding)
    assert np.all(total.top <= 1.02 * whole.top)


@pytest.mark.parametrize("shape", [(30_000, 70), (900, MANY + 3)])
@pytest.mark.parametrize("case", ["logistic", "softmax"])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_one_thread_and_two_give_the_same_bits(rng, case, form, shape):
    of, *_ = objective(rng, case, *shape, form=form)
    theta, found = theta_of(rng, of), []
    for count in (1, 2):
        with threadpool_limits(limits=count):
            sums = of.sums(theta, "least" if shape[1] < MANY else "thin")
            found.append((sums.f, sums.g, sums.H))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
@pytest.mark.parametrize("shape", [(150, 4), (700, 400), (60, MANY + 3)])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e4])
def test_rounding_of_the_gradient_stays_below_its_bound(rng, case, form, shape, size):
    """Against long doubles, of columns that are constant or far from zero too."""
    if np.finfo(np.longdouble).nmant < 60:
        pytest.skip("no long doubles here")
    of, X, _, _ = objective(rng, case, *shape, form=form)
    rows = of.rows
    theta = size * theta_of(rng, of)
    if case in ("poisson", "gamma"):
        theta *= min(1.0, 20.0 / max(1.0, np.abs(of.values(theta)).max()))
    sums = of.sums(theta)
    Z = np.column_stack([X.astype(np.longdouble) * rows.scale - rows.shift, np.ones(len(X))])
    V = Z @ theta.T.astype(np.longdouble)
    V += rows.offset[:, None] if len(rows.offset) else 0.0
    if case == "softmax":
        P = np.exp(V - V.max(axis=1, keepdims=True))
        R = P / P.sum(axis=1, keepdims=True) - np.eye(3)[rows.y]
    else:
        v, t = V[:, 0], rows.y
        R = {
            "logistic": lambda: -t * np.exp(-np.logaddexp(0, t * v)),
            "poisson": lambda: np.exp(v) - t,
            "gamma": lambda: 1 - t * np.exp(-v),
        }[case]()[:, None]
    exact = (R * rows.weights[:, None]).T @ Z + of.penalty * theta
    assert np.all(np.abs(sums.g - exact) <= sums.rounding)


def test_a_row_of_certain_class_costs_its_distance_and_no_overflow():
    X, y = np.array([[-1e5], [1e5]]), np.array([1.0, -1.0])
    of = Objective.of(Logistic(), X, y, np.empty(0), 0.0, False)
    assert of.sums(of.rows.theta(np.array([[1.0]]), np.zeros(1))).f == pytest.approx(2e5)


@pytest.mark.parametrize("K", [1, 3])
def test_products_with_the_curvature_are_the_change_of_the_gradient(rng, K):
    X = sparse.random_array((300, MANY + 50), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 3, 300) if K == 3 else rng.choice([-1.0, 1.0], 300)
    omega = rng.uniform(0.5, 2.0, 300)
    of = Objective.of(Softmax() if K == 3 else Logistic(), X, y, omega, 0.5, True, K=K)
    theta, d, h = 0.1 * theta_of(rng, of), theta_of(rng, of), 1e-5
    change = (of.sums(theta + h * d).g - of.sums(theta - h * d).g) / (2 * h)
    np.testing.assert_allclose(of.products(theta)(d), change, atol=1e-7 * np.abs(change).max())
