"""The column space is a projector, and the iterations are those of the slow twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from adaline.procedures import ho_kashyap as module
from adaline.procedures.ho_kashyap import Dense, Sparse, column_space, ho_kashyap
from reference_ho_kashyap import ho_kashyap as twin


def projection(X, c, omega, intercept):
    """root A A^+ c by numpy, A = root (1, X)."""
    root = np.sqrt(omega)[:, None]
    A = root * (np.column_stack([np.ones(len(X)), X]) if intercept else X)
    return A @ np.linalg.lstsq(A, c, rcond=None)[0]


SHAPES = [(30, 4), (4, 30), (12, 12), (12, 11), (1, 3), (40, 1)]


@pytest.fixture(params=["dense", "csr", "thin"])
def spaced(request, monkeypatch):
    """A way to make the space of X: dense, unpacked CSR, or CSR that stays sparse."""
    if request.param == "thin":
        monkeypatch.setattr(module, "UNPACKED", 0)

    def space(X, omega, intercept):
        form = X if request.param == "dense" else sparse.csr_array(X)
        made = column_space(form, omega, intercept)
        assert isinstance(made, Sparse if request.param == "thin" else Dense)
        return made

    return space


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rank", ["full", "deficient"])
def test_it_projects_on_the_columns_and_finds_weights(spaced, rng, shape, intercept, rank):
    X = rng.standard_normal(shape)
    if rank == "deficient" and shape[1] > 2:
        X[:, 1], X[:, 2] = 2 * X[:, 0] - 1, 0.0
    omega, c = rng.uniform(0.5, 2, shape[0]), rng.standard_normal(shape[0])
    space = spaced(X, omega, intercept)
    v = space.values(space.coordinates(c))
    np.testing.assert_allclose(v, projection(X, c, omega, intercept), atol=1e-9)
    w, b = space.weights(space.coordinates(c))
    np.testing.assert_allclose(np.sqrt(omega) * (X @ w + b), v, atol=1e-9)
    assert b == 0.0 or intercept


def test_of_many_weights_it_gives_the_shortest_in_the_user_s_units(rng):
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 6)) * [1, 10, 1e-3, 5, 1, 1]
    c = rng.standard_normal(20)
    space = column_space(X, np.empty(0), True)
    w, _ = space.weights(space.coordinates(c))
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(w, np.linalg.pinv(centred, rcond=1e-10) @ c, rtol=1e-8)


@pytest.mark.parametrize("shape", [(25, 3), (3, 25)])
def test_offsets_and_units_cost_no_digits(rng, shape):
    X = rng.integers(-8, 9, shape) * 2.0**-10
    c = rng.standard_normal(shape[0])
    plain = column_space(X, np.empty(0), True)
    far = column_space((X + 2.0**27) * 2.0 ** rng.integers(-300, 300, shape[1]), np.empty(0), True)
    want = plain.values(plain.coordinates(c))
    np.testing.assert_allclose(far.values(far.coordinates(c)), want, atol=1e-13)


def test_sparse_rows_with_two_long_sides_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr(module, "UNPACKED", 0)
    monkeypatch.setattr(module, "SIDE", 5)
    with pytest.raises(ValueError, match="6 rows and 7 columns; Ho-Kashyap factorises"):
        column_space(sparse.csr_array(np.eye(6, 7)), np.empty(0), True)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("start", [True, False])
def test_the_iterations_are_those_of_the_slow_twin(spaced, rng, intercept, start):
    ends = set()
    for _ in range(25):
        n, p = int(rng.integers(4, 30)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, p))
        t = np.where(X[:, 0] + rng.choice([0.0, 0.5]) * rng.standard_normal(n) > 0.1, 1.0, -1.0)
        b = rng.uniform(0.5, 2.0, n)
        a = rng.standard_normal(p + intercept) if start else None
        space = spaced(X, np.ones(n), intercept)
        first = None
        if start:
            w, bias = a[int(intercept) :], float(a[0]) if intercept else 0.0
            first = w, bias, X @ w + bias
        run = ho_kashyap(space, t, b, np.ones(n), first, max_iter=60)
        k, want, margins, e, end = twin(X, t, a, b, max_iter=60, intercept=intercept)
        assert (run.k, run.end) == (k, end)
        found = [run.bias, *run.w] if intercept else run.w
        np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(run.margins, margins, rtol=1e-8)
        np.testing.assert_allclose(run.errors, e, atol=1e-8)
        ends.add(end)
    assert ends == {"separated", "balanced", "iterations"}


def test_a_proof_that_fails_is_asked_for_again_with_less_tolerance(rng):
    X = rng.standard_normal((30, 2))
    t = np.where(X[:, 0] + 0.3 * rng.standard_normal(30) > 0, 1.0, -1.0)
    space, one, seen = column_space(X, np.empty(0), True), np.ones(30), []

    def never(balance):
        assert np.all(balance >= 0)
        seen.append(balance)
        return False

    run = ho_kashyap(space, t, one, one, tol=1e-2, proof=never, max_iter=20_000)
    assert run.end == "balanced"  # nothing but rounding is left of the positive errors
    assert len(seen) > 5
    Y = t[:, None] * np.column_stack([one, X])
    imbalance = [np.abs(Y.T @ balance).max() for balance in seen]
    assert imbalance[-1] < 1e-6 * imbalance[0]


def test_margins_never_fall_and_errors_shrink(rng):
    X, t = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    space, one = column_space(X, np.empty(0), True), np.ones(40)
    steps = ho_kashyap.steps(space, t, one, one, max_iter=100)
    seen = [(b, Ya - b) for _, here in steps for _, _, b, Ya in [here.state()]]
    for (b, e), (b_next, e_next) in pairwise(seen):
        assert np.all(b_next >= b)
        assert np.linalg.norm(e_next) <= np.linalg.norm(e) * (1 + 1e-14)
