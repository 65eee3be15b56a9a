"""Little work is done by Python, with the bits of the compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from adaline import LeastSquares
from adaline._jit import little
from adaline.kernels.double_double import corrections, double_double, long_rows, products
from adaline.kernels.sums import sums

SIZES = [1.0, 1e-160, 1e150]


def _same(kernel, arguments, changed):
    """Whether a kernel changes its last arguments to the same bits, compiled and not."""
    ours = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    theirs = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
    with np.errstate(all="ignore"):
        little.uncompiled(kernel)(*ours)
    kernel(*theirs)
    for a, b in zip(ours[-changed:], theirs[-changed:], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


def _targets(rng, n, p, k, size):
    Y, theta = rng.standard_normal((n, k)) * size, rng.standard_normal((k, p + 1)) * size
    sums_of = np.zeros((k, p + 1)), np.zeros((k, p + 1))
    return Y, np.arange(k), np.full(k, 2.0), theta, theta * 1e-17, *sums_of


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_have_the_bits_of_the_kernel(rng, size, weighted):
    n, p, k = 45, 3, 2
    X = rng.standard_normal((n, p)) * [size, 1.0, 1.0 / size]
    omega = rng.uniform(0.0, 2.0, n) if weighted else np.empty(0)
    Y, which, y_scale, *at = _targets(rng, n, p, k, size)
    room = double_double._room(n, p, k, True)
    start = X, X * 1e-17, np.full(p, 0.5)
    _same(double_double._gradients_dense, (*start, Y, which, y_scale, omega, *at, *room), 9)
    S = sparse.csr_array(np.where(abs(X) > abs(X).mean(axis=0), X, 0.0))
    room = double_double._room(n, p, k, False)
    start = S.data, S.indices, S.indptr, np.full(p, 0.5)
    _same(double_double._gradients_sparse, (*start, Y, which, y_scale, omega, *at, *room), 9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_long_rows_have_the_bits_of_the_kernel(rng, size, weighted):
    n, c, k, lanes = 5, 2, 2, long_rows.LANES
    p = c * lanes - 3
    X, Y = rng.standard_normal((n, p)) * size, rng.standard_normal((n, k)) * size
    omega = rng.uniform(0.0, 2.0, n) if weighted else np.empty(0)
    theta, x = rng.standard_normal((k, c, lanes)) * size, np.zeros((c, lanes))
    room = x, np.empty((2, lanes)), np.zeros(theta.shape), np.zeros(theta.shape), np.zeros(k)
    given = X, np.full(p, 0.5), Y, np.arange(k), np.full(k, 2.0), omega, theta, theta * 1e-17
    _same(long_rows._gradients_long, (*given, *room), 3)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_corrections_and_tiles_have_the_bits_of_the_kernels(rng, size):
    p, k, n = 6, 3, 20
    T, g = np.tril(rng.standard_normal((p, p))), rng.standard_normal((k, p + 1)) * size
    mean, room = rng.standard_normal(p), (np.zeros(p), np.zeros((k, p + 1)))
    _same(corrections._first_guess, (T, mean, 7.0, g, *room), 2)
    ridge, lengths = rng.uniform(0.0, 1.0, p), rng.uniform(1.0, 2.0, p + 1)
    added = g, g * 1e-17, rng.uniform(1.0, 2.0, k) * size, 40
    at = [rng.standard_normal((k, p + 1)) * size for _ in range(4)]
    of_y = rng.uniform(1.0, 2.0, (3, k)) * [[size], [size], [1.0]]
    room = np.zeros(k), np.zeros((3, k), np.bool_), np.zeros((7, p + 1))
    for intercept in (True, False):
        normal = T, mean, ridge, lengths, 7.0, 0.1, intercept
        _same(corrections._correct, (*normal, *added, *at, *of_y, *room), 10)
    A, Y = rng.standard_normal((70, p)) * size, rng.standard_normal((70, k))
    lanes = np.zeros((1, p + 1, products.LANES)), np.zeros((1, p + 1, products.LANES))
    _same(products._add_products, (A, Y, *lanes, np.zeros(products.LANES)), 3)
    five = [rng.standard_normal(p) * size for _ in range(5)]
    _same(double_double._minus_product, (*five, np.empty(p), np.empty(p)), 2)
    X, Y = (rng.standard_normal((n, p)) * size).astype(np.float32), rng.standard_normal((n, k))
    scale, shift = np.full(p + k, 0.25), rng.standard_normal(p + k)
    root = rng.uniform(0.0, 1.0, n)
    _same(sums._fill_dense, (X, Y, root, scale, shift, np.zeros((n, p + k + 1))), 1)


class _Kernel:
    """As much of a kernel as the choice looks at; uncompiled."""

    overloads = None
    _cache = None

    @staticmethod
    def py_func():
        return "by Python"

    def __call__(self):
        return "compiled"


def test_work_is_compiled_when_it_is_much_or_goes_on_or_the_user_says_so(monkeypatch):
    monkeypatch.setattr(little, "_spent", [0.0])
    monkeypatch.delenv("ADALINE_COMPILE", raising=False)
    kernel = _Kernel()
    assert little.for_work(kernel, 10)() == "by Python"
    assert little.for_work(kernel, 10**6)() == "compiled"
    monkeypatch.setenv("ADALINE_COMPILE", "always")
    assert little.for_work(kernel, 10)() == "compiled"
    monkeypatch.delenv("ADALINE_COMPILE")
    little._spent[0] = 60.0
    assert little.for_work(kernel, 10)() == "compiled"
    little._spent[0] = 0.0
    kernel.overloads = {"float64": "machine code"}
    assert little.for_work(kernel, 10)() == "compiled"


def test_the_first_fit_of_a_small_table_compiles_nothing_and_has_the_same_bits(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0] + np.random.default_rng(1).standard_normal(60)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    cache = tmp_path / "kernels"
    program = (
        "import sys, numpy as np, adaline; t = np.load(sys.argv[1]);"
        "print(adaline.LeastSquares().fit(t['X'], t['y']).coef_.tobytes().hex())"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "table.npz")],
        env={**os.environ, "ADALINE_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == LeastSquares().fit(X, y).coef_.tobytes().hex()
    assert not cache.exists() or not any(cache.iterdir())


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [0, 2])
def test_numpy_fills_tiles_with_the_bits_of_the_kernel(rng, kind, weighted, k):
    n, p = 70, 5
    X, Y = rng.standard_normal((n, p)).astype(kind), rng.standard_normal((n, k))
    root = rng.uniform(0.0, 2.0, n) if weighted else np.empty(0)
    scale, shift = rng.uniform(0.5, 2.0, p + k), rng.standard_normal(p + k)
    ours, theirs = np.empty((n, p + k + 1)), np.empty((n, p + k + 1))
    sums._fill_by_numpy(X, Y, root, scale, shift, ours)
    sums._fill_dense(X, Y, root, scale, shift, theirs)
    np.testing.assert_array_equal(ours, theirs)


def test_sums_of_arrays_are_those_of_the_kernel_and_say_nothing_of_infinities():
    a, b = np.array([1.0, 1e308, np.inf, 1.0]), np.array([2.0**-60, 1e308, -np.inf, -0.0])
    with np.errstate(all="raise"):
        ours = double_double.two_sums(a, b)
    theirs = np.array([double_double.two_sum(x, y) for x, y in zip(a, b, strict=True)]).T
    np.testing.assert_array_equal(np.array(ours), theirs)


def test_numpy_serves_for_more_work_than_python_until_the_kernel_is_compiled(monkeypatch):
    asked = []

    class Kernel:
        overloads: dict = {}  # noqa: RUF012 (never changed)
        _cache = None

    def by_numpy():
        asked.append("numpy")

    monkeypatch.setattr(little, "uncompiled", lambda kernel: lambda: asked.append("python"))
    monkeypatch.setattr(little, "_spent", [0.0])
    monkeypatch.delenv("ADALINE_COMPILE", raising=False)
    monkeypatch.setattr(little.numba.config, "DISABLE_JIT", 0)
    much = little._LITTLE * 10
    assert little.for_work(Kernel, much) is Kernel
    little.for_work(Kernel, much, by_numpy)()
    little.for_work(Kernel, 10)()
    assert asked == ["numpy", "python"]
    assert little.for_work(Kernel, much * little._BY_NUMPY, by_numpy) is Kernel
    monkeypatch.setattr(Kernel, "overloads", {"float64": 1})
    assert little.for_work(Kernel, 10, by_numpy) is Kernel
