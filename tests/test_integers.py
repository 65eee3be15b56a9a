"""Exact linear algebra: checked by fractions and by multiplying."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import integers
from adaline.integers import combination, dot

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=5))
def test_floats_become_integers_without_rounding(rows):
    A = np.array(rows)
    q = integers.least_exponents(A)
    for row, whole in zip(rows, integers.integer_rows(A, q), strict=True):
        for x, m, e in zip(row, whole, q.tolist(), strict=True):
            assert Fraction(x) == m * Fraction(2) ** e


def matrix(m, k, bits, seed):
    source = random.Random(seed)
    return [[source.getrandbits(bits) - (1 << bits - 1) for _ in range(k)] for _ in range(m)]


@pytest.mark.parametrize("bits", [2, 10, 53, 70, 300, 1500])
@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_a_null_vector_sums_rows_to_zero(bits, m):
    for seed in range(5):
        rows = matrix(m + 1, m, bits, seed)
        c = integers.null_vector(rows)
        if c is None:  # small numbers: more than one direction
            assert bits <= 10
            continue
        assert any(c)
        assert not any(combination(c, rows))


def test_independent_rows_have_no_null_vector():
    assert integers.null_vector([[1, 0, 0], [0, 1, 0], [1, 1, 1]]) is None


def test_a_null_vector_is_in_lowest_terms():
    assert integers.null_vector([[2, 0], [0, 3], [-4, -6]]) in ([2, 2, 1], [-2, -2, -1])


def test_the_null_space_has_the_right_dimension_and_is_orthogonal():
    for seed in range(20):
        rows = matrix(3, 6, 60, seed)
        rows.append([a + b for a, b in zip(rows[0], rows[1], strict=True)])
        basis = integers.null_space(rows, 6)
        assert len(basis) == 3
        assert not any(dot(row, z) for row in rows for z in basis)
        assert len(integers.independent(basis)[0]) == 3


def test_the_null_space_of_no_rows_is_everything():
    assert integers.null_space([[0, 0]], 2) == [[1, 0], [0, 1]]


def test_what_rows_span_is_told_from_what_they_do_not():
    rows = matrix(3, 5, 53, 1)
    inside = combination([3, -5, 7], rows)
    ((c, d),) = integers.in_span([inside], rows)
    assert combination(c, rows) == [d * a for a in inside]
    outside = [inside[0] + 1, *inside[1:]]
    assert integers.in_span([outside], rows) is None


def test_a_prime_that_divides_every_minor_is_noticed():
    p = integers.PRIMES[0]
    assert integers.null_vector([[p, 0], [0, p], [p, p]]) in ([1, 1, -1], [-1, -1, 1])
    assert len(integers.independent([[p, 0], [0, 1]])[0]) == 1  # a lower bound, never more


def test_solutions_with_bad_conditions_and_mixed_scales_are_exact():
    n = 9
    hilbert = [[360360 // (i + j + 1) for j in range(n)] for i in range(n)]
    hilbert[0] = [a << 900 for a in hilbert[0]]
    b = [1 << (37 * i) for i in range(n)]
    x, d = integers.Minor(hilbert).solve(b)
    assert [dot(row, x) for row in hilbert] == [d * a for a in b]


def test_too_many_unknowns_are_refused():
    with pytest.raises(OverflowError, match="1025 unknowns"):
        integers.Minor([[0] * 1025] * 1025)
