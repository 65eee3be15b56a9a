"""Moments against rational arithmetic: right, within their own bounds, and mergeable."""

from __future__ import annotations

import dataclasses
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from adaline import Moments
from reference import exact_moments

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
        for j in range(q):
            error = abs(Fraction(m.scatter[i, j]) * unit[i] * unit[j] - scatter[i][j])
            bound = Fraction(m.rounding[i]) * Fraction(m.rounding[j]) * unit[i] * unit[j]
            assert error <= bound, (i, j, float(error), float(bound))
    return True


@given(blocks)
def test_moments_are_exact_within_the_bounds_they_carry(A):
    assert within_its_bounds(Moments.of(A[:, :2], A[:, 2]), A)


@given(blocks, blocks, blocks)
def test_moments_of_parts_add_up_within_their_bounds(A, B, C):
    parts = [Moments.of(block[:, :2], block[:, 2]) for block in (A, B, C)]
    assert within_its_bounds(parts[0] + (parts[1] + parts[2]), np.vstack([A, B, C]))


@given(blocks, blocks)
def test_what_is_forgotten_was_never_seen(A, B):
    whole = Moments.of(A[:, :2], A[:, 2]) + Moments.of(B[:, :2], B[:, 2])
    left = whole - Moments.of(B[:, :2], B[:, 2])
    assert left.rows == len(A)
    assert within_its_bounds(left, A)


@given(blocks, st.data())
def test_a_weight_counts_a_row_that_often(A, data):
    counts = data.draw(arrays(int, len(A), elements=st.integers(0, 3)))
    weighted = Moments.of(A[:, :2], A[:, 2], counts)
    if counts.sum() == 0:
        assert weighted.rows == 0
        return
    assert within_its_bounds(weighted, A, counts)
    repeated = np.repeat(A, counts, axis=0)
    assert within_its_bounds(weighted, repeated)


def test_forgetting_a_monster_leaves_bounds_that_admit_the_damage():
    A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]])
    monster = np.array([[1e12, -1e12]])
    left = Moments.of(A[:, :1], A[:, 1]) + Moments.of(monster[:, :1], monster[:, 1])
    left = left - Moments.of(monster[:, :1], monster[:, 1])
    assert within_its_bounds(left, A)
    assert left.rounding[0] > 1e3 * Moments.of(A[:, :1], A[:, 1]).rounding[0]


def test_an_offset_of_1e8_costs_no_more_than_the_data_have_lost():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3)) + 1e8
    m = Moments.of(A[:, :2], A[:, 2])
    _, _, scatter = exact_moments(A)
    error = max(abs(m.scatter[i, j] - float(scatter[i][j])) for i in range(3) for j in range(3))
    assert error / np.max(m.scatter) < 1e-13
    assert within_its_bounds(m, A)


@pytest.mark.parametrize("scale", [1e-150, 1e-170, 1e-200, 1e150])
def test_units_of_1e_150_neither_overflow_nor_vanish(rng, scale):
    A = rng.standard_normal((40, 3)) * [scale, 1.0, 1 / scale]
    m = Moments.of(A[:, :2], A[:, 2])
    assert within_its_bounds(m, A)
    parts = Moments.of(A[:9, :2], A[:9, 2]) + Moments.of(A[9:, :2], A[9:, 2])
    assert within_its_bounds(parts, A)


def test_dense_sparse_float32_fortran_and_strided_rows_give_the_same(rng):
    X = np.round(rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.5), 2).astype(np.float32)
    y = X[:, 0].astype(float)
    want = Moments.of(X.astype(float), y)
    wide = np.zeros((200, 10), dtype=np.float32)
    wide[:, ::2] = X
    read_only = X.copy()
    read_only.setflags(write=False)
    for same in (
        X,
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        np.asfortranarray(X),
        wide[:, ::2],
        read_only,
    ):
        got = Moments.of(same, y)
        assert np.array_equal(got.mean, want.mean)
        assert np.array_equal(got.scatter, want.scatter)


def test_duplicate_and_unsorted_entries_of_a_csr_matrix_add_up():
    S = sparse.csr_matrix(
        (np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), (1, 2)
    )
    assert Moments.of(S).mean_x.tolist() == [2.0, 5.0]
    assert S.nnz == 3, "the caller's matrix was changed"


def test_blocks_merge_in_a_tree_that_depends_on_their_number_alone(rng):
    A = rng.standard_normal((1000, 3))
    cut = [A[i : i + 100] for i in range(0, 1000, 100)]
    once = Moments.over((block[:, :2], block[:, 2]) for block in cut)
    again = Moments.over((block[:, :2], block[:, 2]) for block in cut)
    assert np.array_equal(once.scatter, again.scatter)
    np.testing.assert_allclose(once.scatter, Moments.of(A[:, :2], A[:, 2]).scatter, rtol=1e-12)


def test_extra_memory_does_not_grow_with_the_rows(rng):
    X, y = rng.standard_normal((200_000, 10)), rng.standard_normal(200_000)
    Moments.of(X[:5000], y[:5000])  # enough rows that the kernel is loaded
    tracemalloc.start()
    Moments.of(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6  # X is 16 MB


def test_the_caller_s_rows_are_never_modified(rng):
    X, y, weights = rng.standard_normal((30, 2)), rng.standard_normal(30), rng.random(30)
    before = X.copy(), y.copy(), weights.copy()
    Moments.of(X, y, weights)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X, y, weights), strict=True))


def test_rows_never_seen_cannot_be_forgotten():
    m = Moments.of([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="cannot forget 3 rows"):
        m - Moments.of([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not among the rows"):
        m - Moments.of([[50.0]], [1.0])


def test_moments_of_other_shapes_do_not_merge():
    m = Moments.of([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="do not merge"):
        m + Moments.of([[1.0, 2.0]], [1.0])
    with pytest.raises(TypeError, match="Moments"):
        m + 3


@pytest.mark.parametrize(
    ("X", "y", "weights", "sentence"),
    [
        ([1.0, 2.0], None, None, "expected \\(rows, features\\)"),
        ([[1.0]], [1.0, 2.0], None, "equal lengths"),
        ([[1.0]], [1.0], [1.0, 1.0], "one a row"),
        ([[1.0]], [1.0], [-1.0], "must be >= 0"),
        ([[1.0]], [1.0], [np.nan], "must be >= 0"),
    ],
)
def test_bad_rows_are_refused_with_a_sentence(X, y, weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        Moments.of(np.array(X), y, weights)


def test_no_blocks_are_an_error():
    with pytest.raises(ValueError, match="no blocks"):
        Moments.over([])


@pytest.mark.parametrize("weighted", [True, False])
def test_moments_of_few_nonzeros_are_those_of_dense_rows(rng, weighted):
    X = sparse.csr_array(sparse.random_array((3000, 300), density=0.004, rng=rng))
    y = rng.standard_normal((3000, 2)) + 1e3
    omega = rng.integers(0, 3, 3000).astype(float) if weighted else None
    thin, dense = Moments.of(X, y, omega), Moments.of(X.toarray(), y, omega)
    doubt = np.outer(thin.rounding, thin.rounding) + np.outer(dense.rounding, dense.rounding)
    known = np.isfinite(thin.scatter)  # all but products of one target with the other
    assert np.count_nonzero(~known) == 2
    assert np.all((np.abs(thin.scatter - dense.scatter) <= doubt)[known])
    assert np.all(np.abs(thin.mean - dense.mean) <= thin.mean_rounding + dense.mean_rounding)
    np.testing.assert_allclose(thin.scatter, dense.scatter, rtol=1e-10, atol=1e-9)


def test_a_constant_column_among_few_nonzeros_has_no_scatter(rng):
    X = sparse.lil_array((3000, 300))
    X[:, 7] = 0.1
    X[np.arange(3000), rng.integers(8, 300, 3000)] = 1.0
    m = Moments.of(sparse.csr_array(X), rng.standard_normal(3000))
    assert m.scatter_xx[7, 7] == 0.0


@pytest.mark.parametrize("far", [3, 100, 101, 700])
def test_other_units_are_powers_of_two_without_rounding(rng, far):
    """Near units are multiplied by, far ones are added to exponents: no bit tells which."""
    m = Moments.of(rng.standard_normal((40, 70)), rng.standard_normal(40))
    shift = rng.integers(-far, far + 1, 71)
    shift[0] = far
    for size in (1.0, 2.0**-450, 2.0**450):  # ordinary squares, and others
        grown = dataclasses.replace(m, scatter=m.scatter * size)
        with np.errstate(over="ignore", under="ignore"):
            found = grown.in_units(shift).scatter
            expected = np.ldexp(grown.scatter, -shift[:, None] - shift)
        np.testing.assert_array_equal(found, expected)
