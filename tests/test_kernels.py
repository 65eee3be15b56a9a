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
from adaline.kernels.double_double import double_double
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
    g, low, squares = double_double.gradient_dense(
        X, NONE2, np.ones(3), y, 1.0, omega, w, np.zeros(3), b, 0.0
    )
    rows = [rationals(row) for row in X]
    exact = exact_gradient(rows, y, omega if weighted else np.ones(n), w, b)
    for high, tail, truth in zip(g, low, exact, strict=True):
        assert abs(Fraction(high) + Fraction(tail) - truth) <= 100 * n * U**2
    r = y - X @ w - b
    assert squares == pytest.approx(np.sum((omega if weighted else 1) * r**2), rel=1e-13)


def test_the_gradient_sees_the_low_parts_of_the_samples(rng):
    X, y, w = rng.standard_normal((40, 2)), rng.standard_normal(40), rng.standard_normal(2)
    low = X * rng.uniform(-U, U, (40, 2))
    g, tail, _ = double_double.gradient_dense(
        X, low, np.ones(2), y, 1.0, NONE, w, np.zeros(2), 0.0, 0.0
    )
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
    rest = (np.ones(4), y, 1.0, omega, w, np.zeros(4), 0.3, 0.0)
    dense = double_double.gradient_dense(X, NONE2, *rest)
    thin = double_double.gradient_sparse(S.data, S.indices, S.indptr, *rest)
    assert all(np.array_equal(a, b) for a, b in zip(dense, thin, strict=True))


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
    arguments = (X, NONE2, np.ones(2), y, 1.0, NONE, w, np.zeros(2), 0.1, 0.0)
    code = (
        "import numpy as np, sys; from adaline.kernels.double_double import double_double; "
        "d = np.load(sys.argv[1]); "
        "g, low, s = double_double.gradient_dense(d['X'], np.empty((0, 0)), np.ones(2), d['y'], "
        "1.0, np.empty(0), d['w'], np.zeros(2), 0.1, 0.0); "
        "print(' '.join(v.hex() for v in [*g, *low, s]))"
    )
    np.savez(tmp_path / "data.npz", X=X, y=y, w=w)
    slow = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data.npz")],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    g, low, s = double_double.gradient_dense(*arguments)
    assert slow == [float(v).hex() for v in [*g, *low, s]]
