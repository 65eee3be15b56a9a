"""Moments against rational arithmetic: right, within their own bounds, and mergeable."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from adaline import Moments
from reference import exact_moments, scatter_is_within

entries = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3))
blocks = st.integers(1, 12).flatmap(lambda n: arrays(float, (n, 3), elements=entries))


def within_its_bounds(m, rows, weights=None):
    """Whether mean and scatter differ from the exact ones by no more than m says they may."""
    n, mean, scatter = exact_moments(rows, weights)
    assert m.weight == pytest.approx(float(n), rel=1e-14)
    q = len(mean)
    unit = [Fraction(2) ** int(e) for e in m.exponent]
    for i in range(q):
        error = abs(Fraction(m.mean[i]) * unit[i] - mean[i])
        assert error <= Fraction(m.mean_rounding[i]) * unit[i]
    return scatter_is_within(m.scatter, scatter, m.rounding, unit)


@given(blocks, blocks, blocks)
def test_moments_of_parts_add_up_within_their_bounds(A, B, C):
    parts = [Moments.of(block[:, :2], block[:, 2]) for block in (A, B, C)]
    assert within_its_bounds(parts[0], A)
    assert within_its_bounds(parts[0] + (parts[1] + parts[2]), np.vstack([A, B, C]))


def test_dense_sparse_float32_fortran_and_strided_rows_give_the_same(rng):
    X = np.round(rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.5), 2).astype(np.float32)
    y = X[:, 0].astype(float)
    want = Moments.of(X.astype(float), y)
    wide = np.zeros((200, 10), dtype=np.float32)
    wide[:, ::2] = X
    forms = [X, sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), wide[:, ::2]]
    X.setflags(write=False)
    for form in forms:
        got = Moments.of(form, y)
        assert np.array_equal(got.mean, want.mean)
        assert np.array_equal(got.scatter, want.scatter)


def test_extra_memory_does_not_grow_with_the_rows(rng):
    X, y = rng.standard_normal((200_000, 10)), rng.standard_normal(200_000)
    Moments.of(X[:5000], y[:5000])  # enough rows that the kernel is loaded
    tracemalloc.start()
    Moments.of(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6  # X is 16 MB


def test_rows_never_seen_cannot_be_forgotten():
    m = Moments.of([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="cannot forget 3 rows"):
        m - Moments.of([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="negative sum of squares"):
        m - Moments.of([[50.0]], [1.0])
