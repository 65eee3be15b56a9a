"""Compiled loops against the same sums in rational arithmetic."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from adaline._jit.processor import fma_exactly
from adaline.kernels.double_double import double_double, long_rows
from reference import rationals

U = 2.0**-53
NONE, NONE2 = np.empty(0), np.empty((0, 0))
numbers = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(numbers, numbers)
def test_two_sum_loses_nothing(a, b):
    high, low = double_double.two_sum(a, b)
    assert Fraction(high) + Fraction(low) == Fraction(a) + Fraction(b)


@given(numbers, numbers)
def test_two_product_loses_nothing(a, b):
    high, low = double_double.two_product(a, b)
    assert high == a * b
    assert Fraction(high) + Fraction(low) == Fraction(a) * Fraction(b)


@given(numbers, numbers, numbers)
def test_the_product_error_is_what_a_fused_multiply_add_gives_without_a_compiler(a, b, c):
    high, low = double_double.two_product(a, b)
    assert low == fma_exactly(a, b, -high)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(), st.integers(-3, 3))
def test_a_fused_multiply_add_without_a_compiler_rounds_once(a, b, c, ulps):
    """Also where c takes nearly all of the product away."""
    for third in (c, -(a * b) * (1.0 + ulps * 2.0**-52)):
        if not all(np.isfinite([a, b, third])):
            continue
        exact = Fraction(a) * Fraction(b) + Fraction(third)
        found = fma_exactly(a, b, third)
        try:
            assert found == float(exact)
        except OverflowError:
            assert found == (np.inf if exact > 0 else -np.inf)


def one_target(y, w, b, omega=NONE):
    """The last arguments of `gradients_dense` for one target y (n,), at w and b."""
    theta = np.append(w, b)[None]
    return y[:, None], np.zeros(1, np.int64), np.ones(1), omega, theta, np.zeros(theta.shape)


def exact_gradient(X, y, omega, w, b):
    r = [
        t - Fraction(b) - sum(v * u for v, u in zip(row, rationals(w), strict=True))
        for row, t in zip(X, rationals(y), strict=True)
    ]
    r = [o * v for o, v in zip(rationals(omega), r, strict=True)]
    columns = zip(*X, strict=True)
    return [*(sum(a * v for a, v in zip(c, r, strict=True)) for c in columns), sum(r)]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_keeps_thirty_digits(rng, n, weighted):
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    w, b = rng.standard_normal(3), 0.7
    omega = rng.uniform(0, 2, n) if weighted else NONE
    of_y = one_target(y, w, b, omega)
    (g,), (low,), (squares,) = double_double.gradients_dense(X, NONE2, np.ones(3), *of_y)
    rows = [rationals(row) for row in X]
    exact = exact_gradient(rows, y, omega if weighted else np.ones(n), w, b)
    for high, tail, truth in zip(g, low, exact, strict=True):
        assert abs(Fraction(high) + Fraction(tail) - truth) <= 100 * n * U**2
    r = y - X @ w - b
    assert squares == pytest.approx(np.sum((omega if weighted else 1) * r**2), rel=1e-13)


def test_the_gradient_sees_the_low_parts_of_the_samples(rng):
    X, y, w = rng.standard_normal((40, 2)), rng.standard_normal(40), rng.standard_normal(2)
    low = X * rng.uniform(-U, U, (40, 2))
    of_y = one_target(y, w, 0.0)
    (g,), (tail,), _ = double_double.gradients_dense(X, low, np.ones(2), *of_y)
    rows = [
        [a + b for a, b in zip(rationals(high), rationals(rest), strict=True)]
        for high, rest in zip(X, low, strict=True)
    ]
    for high, rest, truth in zip(
        g, tail, exact_gradient(rows, y, np.ones(40), w, 0.0), strict=True
    ):
        assert abs(Fraction(high) + Fraction(rest) - truth) <= 1e4 * U**2


def test_dense_and_sparse_gradients_are_the_same_bits(rng):
    X = rng.standard_normal((70, 4)) * (rng.random((70, 4)) < 0.4)
    S = sparse.csr_array(X)
    y, w, omega = rng.standard_normal(70), rng.standard_normal(4), rng.random(70)
    rest = np.ones(4), *one_target(y, w, 0.3, omega)
    dense = double_double.gradients_dense(X, NONE2, *rest)
    thin = double_double.gradients_sparse(S.data, S.indices, S.indptr, *rest)
    assert all(np.array_equal(a, b) for a, b in zip(dense, thin, strict=True))


@pytest.mark.parametrize("p", [1, 30, 31, 32, 33, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_long_rows_keep_thirty_digits(rng, p, weighted):
    n, k = 20, 3
    X, Y = rng.standard_normal((n, p)), rng.standard_normal((n, k + 1))
    omega = rng.uniform(0, 2, n) if weighted else NONE
    theta, which = rng.standard_normal((k, p + 1)), np.array([2, 0, 3])
    low = theta * rng.uniform(-U, U, theta.shape)
    given = np.full(p, 0.5), Y, which, np.full(k, 4.0), omega
    g, tail, squares = long_rows.gradients_long(X, *given, theta, low)
    rows = [2 * [a / 2 for a in rationals(row)] for row in X]  # once for theta, once for low
    for t in range(k):
        y = 4.0 * Y[:, which[t]]
        w, b = np.append(theta[t, :-1], low[t, :-1]), Fraction(theta[t, -1]) + Fraction(low[t, -1])
        exact = exact_gradient(rows, y, omega if weighted else np.ones(n), w, b)[p:]
        for high, rest, truth in zip(g[t], tail[t], exact, strict=True):
            assert abs(Fraction(high) + Fraction(rest) - truth) <= 100 * n * p * U**2
        r = y - X @ theta[t, :-1] / 2 - theta[t, -1]
        assert squares[t] == pytest.approx(np.sum((omega if weighted else 1) * r**2), rel=1e-12)


def test_gradients_of_long_rows_do_not_depend_on_other_targets(rng):
    X, Y, theta = (rng.standard_normal(shape) for shape in ((9, 70), (9, 3), (3, 71)))
    low = theta * 1e-17
    together = long_rows.gradients_long(
        X, np.ones(70), Y, np.arange(3), np.ones(3), NONE, theta, low
    )
    for t in range(3):
        of_one = np.array([t]), np.ones(1), NONE, theta[t : t + 1], low[t : t + 1]
        alone = long_rows.gradients_long(X, np.ones(70), Y, *of_one)
        assert all(np.array_equal(a[t], b[0]) for a, b in zip(together, alone, strict=True))


def test_monomials_keep_the_powers_in_double_double():
    x = np.array([[-8.78], [0.1], [3.3]])
    parent, factor = np.array([-1, 0, 1, 2]), np.zeros(4, dtype=np.int64)
    high, low = np.empty((3, 4)), np.empty((3, 4))
    double_double.monomials(x, parent, factor, high, low)
    for i in range(3):
        for k in range(4):
            truth = Fraction(x[i, 0]) ** (k + 1)
            assert abs(Fraction(high[i, k]) + Fraction(low[i, k]) - truth) <= 8 * U**2 * abs(truth)


def test_kernels_without_a_compiler_give_the_same_bits(rng, tmp_path):
    X, y, w = rng.standard_normal((5, 2)), rng.standard_normal(5), rng.standard_normal(2)
    names = "X", "X_low", "scale", "Y", "which", "y_scale", "omega", "theta", "theta_low"
    arguments = X, NONE2, np.ones(2), *one_target(y, w, 0.1)
    code = (
        "import numpy as np, sys; from adaline.kernels.double_double import double_double; "
        "d = np.load(sys.argv[1]); "
        f"parts = double_double.gradients_dense(*(d[name] for name in {names})); "
        "print(' '.join(v.hex() for part in parts for v in part.ravel()))"
    )
    np.savez(tmp_path / "data.npz", **dict(zip(names, arguments, strict=True)))
    slow = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data.npz")],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    parts = double_double.gradients_dense(*arguments)
    assert slow == [float(v).hex() for part in parts for v in part.ravel()]
