"""Vectors by hand: what the compiled functions answer is what numpy answers for short arrays."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from adaline import LMS, NLMS
from adaline._jit import kernel
from adaline._jit.lanes import (
    conj,
    four,
    last,
    load,
    minus,
    multiply_add,
    plus,
    spread,
    store,
    sums,
    times,
    width,
)

KINDS = ["float32", "float64", "complex64", "complex128"]
each_kind = pytest.mark.parametrize("kind", KINDS)


@kernel
def arithmetic(a, b, i, number, out):
    """Every function of the vectors of a and b from i on; sums and the last number are returned."""
    v, w, n = load(a, i), load(b, i), width(a)
    store(out, 0, plus(v, w))
    store(out, n, minus(v, w))
    store(out, 2 * n, times(v, w))
    store(out, 3 * n, multiply_add(v, conj(w), spread(a, number)))
    return sums(v, w, times(v, w), conj(v)), last(w), multiply_add(a[0], b[0], a[1])


@kernel
def widened(a, i, out):
    store(out, 0, four(a, i))


def numbers(rng, kind, count=24):
    real, imaginary = rng.standard_normal((2, count))
    return (real + 1j * imaginary if kind[0] == "c" else real).astype(kind)


@each_kind
@pytest.mark.parametrize("i", [0, 1, 3, 8])
def test_vectors_count_like_numpy_from_any_place_of_an_array(kind, i, rng):
    a, b, n = numbers(rng, kind), numbers(rng, kind), 8 if kind == "float32" else 4
    out = np.zeros(4 * n, kind)
    added, end, product = arithmetic(a, b, np.uintp(i), 0.5, out)
    v, w = a[i : i + n], b[i : i + n]
    # A few roundings of numbers about one.
    near = 8 * np.finfo(kind).eps
    assert np.array_equal(out[: 2 * n], [*(v + w), *(v - w)])  # one rounding, the same
    assert np.allclose(out[2 * n :], [*(v * w), *(v * w.conj() + 0.5)], rtol=near, atol=near)
    assert np.allclose(added, [v.sum(), w.sum(), (v * w).sum(), v.conj().sum()], atol=4 * near)
    assert end == w[-1]
    assert np.isclose(product, a[0] * b[0] + a[1], atol=near)


@each_kind
def test_four_numbers_become_doubles_without_a_rounding(kind, rng):
    a = numbers(rng, kind)
    out = np.zeros(4, np.result_type(kind, np.float64))
    widened(a, np.uintp(5), out)
    assert np.array_equal(out, a[5:9])


@each_kind
def test_infinity_and_nan_stay_in_their_place(kind):
    a = np.array([np.inf, 1, np.nan, 2, 3, 4, 5, 6], kind)
    n = 8 if kind == "float32" else 4
    out = np.zeros(4 * n, kind)
    arithmetic(a, np.zeros_like(a), np.uintp(0), 0.0, out)
    assert np.array_equal(np.isfinite(out[:n]), np.isfinite(a[:n]))


def test_filters_without_a_compiler_filter_the_same(rng, tmp_path):
    signals = {kind: [numbers(rng, kind, 60), numbers(rng, kind, 60)] for kind in KINDS}
    code = (
        "import sys, numpy as np; from adaline import LMS, NLMS; "
        "filtered = [{kind + str(f): f.process(*signal) for f in (LMS(7, 0.01), NLMS(9))}"
        " for kind, signal in np.load(sys.argv[1]).items()]; "
        "np.savez(sys.argv[2], **filtered[0] | filtered[1] | filtered[2] | filtered[3])"
    )
    given, got = tmp_path / "given.npz", tmp_path / "got.npz"
    np.savez(given, **signals)
    subprocess.run(
        [sys.executable, "-c", code, str(given), str(got)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    slow = np.load(got)
    for kind, signal in signals.items():
        for f in (LMS(7, 0.01), NLMS(9)):
            compiled = f.process(*signal)
            # Sums of ten products in another order, and updates that forget their rounding.
            near = 300 * np.finfo(kind).eps
            assert np.allclose(slow[kind + str(f)], compiled, rtol=0, atol=near)
