"""The largest margin against every face of the hulls in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adaline.kernels import hulls
from adaline.procedures import max_margin as procedure
from adaline.procedures.max_margin import max_margin
from reference_margins import squared_margin

OPTIONS = {"tol": 1e-12, "max_iter": 10_000}


def sample(rng, kind):
    n, p = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, p))
    if kind == "grid":
        X = rng.integers(-2, 3, (n, p)).astype(float)
    t = np.where(X[:, 0] + 0.1 * rng.standard_normal() > 0, 1.0, -1.0)
    t[0], t[-1] = 1.0, -1.0
    if kind == "thin":
        X[:, 0] += t * 10.0 ** rng.integers(-9, 1)
    if kind == "scale":
        X *= 10.0 ** rng.integers(-100, 100)
    if kind == "offset":
        X += 1e8 * rng.integers(-1, 2)
    if kind == "units":
        X *= 10.0 ** rng.integers(-4, 4, p)
    return X, t


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["plain", "grid", "thin", "scale", "offset", "units"])
def test_the_interval_contains_the_exact_margin(rng, kind, bias):
    answered = 0
    for _ in range(25):
        X, t = sample(rng, kind)
        square = squared_margin(X.tolist(), t.tolist(), bias)
        found = max_margin(X, t, bias=bias, **OPTIONS)
        assert (1 + bias) ** 2 * Fraction(found.upper) ** 2 >= square
        if found.lower > 0:
            assert (1 + bias) ** 2 * Fraction(found.lower) ** 2 <= square
            answered += 1
        else:  # no margin, or one that is rounding beside the data
            size = np.abs(X - bias * X[0]).max()
            assert square == 0 or float(square / Fraction(size) ** 2) ** 0.5 < 1e-7
        assert found.lower <= found.upper
    assert answered >= 5


@pytest.mark.parametrize("bias", [True, False])
def test_sparse_rows_that_are_not_unpacked_give_the_same(rng, bias, monkeypatch):
    X = rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.4)
    t = np.where(np.arange(60) % 2, 1.0, -1.0)
    X[:, 0] += 4 * t
    dense = max_margin(X, t, bias=bias, **OPTIONS)
    monkeypatch.setattr(procedure, "UNPACKED", 0)
    thin = max_margin(sparse.csr_array(X), t, bias=bias, **OPTIONS)
    assert thin.margin == pytest.approx(dense.margin, rel=1e-12)
    np.testing.assert_allclose(thin.w, dense.w, atol=1e-10)
    assert thin.b == pytest.approx(dense.b, abs=1e-10)


def test_supports_are_at_the_margin_and_all_others_are_farther(rng):
    X = rng.standard_normal((500, 5))
    t = np.where(X @ [1, 2, 0, -1, 0.5] > 0, 1.0, -1.0)
    X += 0.2 * t[:, None] * np.array([1, 2, 0, -1, 0.5])
    found = max_margin(X, t, bias=True, **OPTIONS)
    distance = t * (X @ found.w + found.b)
    np.testing.assert_allclose(distance[found.support], found.margin, rtol=1e-10)
    assert distance.min() >= found.margin * (1 - 1e-10)
    apart = found.positive - found.negative
    np.testing.assert_allclose(apart, 2 * found.margin * found.w, atol=1e-10)
    for side in (1.0, -1.0):
        assert found.weights[t[found.support] == side].sum() == pytest.approx(1.0)


def test_more_columns_than_rows_pose_no_problem(rng):
    X, t = rng.standard_normal((12, 300)), np.where(np.arange(12) % 2, 1.0, -1.0)
    found = max_margin(X, t, bias=True, **OPTIONS)
    assert (found.upper - found.lower) / found.upper < 1e-10
    assert len(found.support) == 12


def test_a_rounded_bias_is_counted_in_the_margin():
    """At 1e16 the hyperplane halfway has no float64 bias: b is a whole, and even, number."""
    X, t = np.array([[1e16], [1e16 + 2]]), np.array([-1.0, 1.0])
    found = max_margin(X, t, bias=True, **OPTIONS)
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-14
    assert Fraction(found.margin) == min(
        Fraction(float(x)) * Fraction(found.w[0]) * int(s) + Fraction(found.b) * int(s)
        for x, s in zip(X[:, 0], t, strict=True)
    )


def many_decide(rng, n=320, p=200):
    """Rows of which most decide: the kind that `many_rows` is for."""
    X = rng.standard_normal((n, p))
    w = rng.standard_normal(p)
    t = np.where(X @ w > 0, 1.0, -1.0)
    return X + 0.1 * t[:, None] * w / np.linalg.norm(w), t


MANY = [(kind, bias) for kind in ("plain", "wide", "equal rows", "overlapping") for bias in (0, 1)]
MANY += [("one against all", True)]


def many_of(kind, rng):
    X, t = many_decide(rng, p=400 if kind == "wide" else 200)
    if kind == "equal rows":
        X[160:], t[160:] = X[:160], t[:160]
    if kind == "overlapping":
        t = np.where(rng.random(len(t)) < 0.5, 1.0, -1.0)
        X = X[:, :90]
    if kind == "one against all":
        t = np.where(np.arange(len(t)) == 3, 1.0, -1.0)
        X[3] += 1.0
    return X, t


@pytest.mark.parametrize(("kind", "bias"), MANY)
def test_where_many_rows_decide_equations_find_what_wolfe_finds(rng, monkeypatch, kind, bias):
    X, t = many_of(kind, rng)
    quick = max_margin(X, t, bias=bias, **OPTIONS)
    monkeypatch.setattr(procedure, "solve_deciding_rows", lambda *_: (None, 0))
    slow = max_margin(X, t, bias=bias, **OPTIONS)
    if kind == "overlapping":
        assert max(quick.lower, slow.lower) <= 0.0 <= min(quick.upper, slow.upper)
        return
    if kind != "equal rows":  # which depend on each other, so that weights are not unique
        assert quick.iterations < slow.iterations / 4
        assert set(quick.support) == set(slow.support)
    assert max(quick.lower, slow.lower) <= min(quick.upper, slow.upper)
    assert quick.upper - quick.lower <= 1e-10 * quick.upper
    np.testing.assert_allclose(quick.w, slow.w, atol=1e-9)


@pytest.mark.parametrize(("kind", "bias"), [case for case in MANY if case[0] != "overlapping"])
def test_equations_of_the_deciding_rows_end_where_no_row_is_nearer(rng, kind, bias):
    X, t = many_of(kind, rng)
    weights, _ = procedure.solve_deciding_rows(X, t, bool(bias), 1e-12, 100)
    assert weights is not None
    assert (weights >= 0.0).all()
    z = (t * weights) @ X
    h = t * (X @ z)
    sides = (t > 0, t < 0) if bias else (t != 0,)
    assert [weights[side].sum() for side in sides] == pytest.approx([1.0] * len(sides))
    assert z @ z - sum(h[side].min() for side in sides) <= 2e-12 * (z @ z)


def test_equations_that_find_no_end_are_given_up(rng):
    X, t = many_of("overlapping", rng)
    assert procedure.solve_deciding_rows(X, t, True, 1e-12, 100)[0] is None


def test_data_too_ill_conditioned_for_inner_products_are_given_up_and_solved_by_wolfe(rng):
    """Columns of which some are 1e-9 of the others: their squares are rounding in G."""
    X, t = many_decide(rng)
    X[:, 20:] *= 1e-9
    found = max_margin(X, t, bias=True, **OPTIONS)
    assert found.lower <= found.upper
    assert procedure.solve_deciding_rows(X - X.mean(axis=0), t, True, 1e-12, 100)[0] is None


def test_steps_between_two_rows_shorten_z_and_keep_weights_convex(rng):
    X, t = many_decide(rng, 60, 30)
    G, weights = X @ X.T, np.where(t > 0, 1.0 / np.sum(t > 0), 1.0 / np.sum(t < 0))
    h, before = t * (G @ (t * weights)), np.inf
    for _ in range(50):
        assert hulls.approach(G, t, weights, h, 1e-12, 1) == 1
        assert (weights >= 0).all()
        for side in (t > 0, t < 0):
            assert weights[side].sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(h, t * (G @ (t * weights)), rtol=1e-9, atol=1e-9)
        square = float(np.sum(((t * weights) @ X) ** 2))
        assert square < before
        before = square
    assert hulls.approach(G, t, weights, h, 1e-6, 10**6) < 10**6
    below = sum(h[side].min() for side in (t > 0, t < 0))
    assert weights @ h - below <= 1.001e-6 * (weights @ h)
