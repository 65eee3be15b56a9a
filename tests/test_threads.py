"""Rows shared among threads: every row once, and the same bits with one thread or two."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from adaline import LeastSquares, Moments
from adaline._threads import over_pieces, pieces, threads


@given(st.integers(1, 10**8), st.integers(1, 2000))
def test_pieces_cover_every_row_once_and_are_few(n, q):
    cuts = pieces(n, q)
    assert cuts[0][0] == 0
    assert cuts[-1][1] == n
    assert all(a[1] == b[0] for a, b in pairwise(cuts))
    assert len(cuts) <= 8


@pytest.mark.parametrize("p", [5, 80])
def test_one_thread_and_two_give_the_same_bits(rng, p):
    X, y = rng.standard_normal((60_000, p)), rng.standard_normal(60_000)
    X = np.tile(X, (5, 1)) if p == 5 else X
    y = np.tile(y, 5) if p == 5 else y
    assert len(pieces(len(X), p + 1)) > 1
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            assert threads() == limit
            found.append((Moments.of(X, y).scatter, LeastSquares().fit(X, y)))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1].coef_, found[1][1].coef_)
    assert found[0][1].certificate_.kind == "exact"


def test_an_error_in_a_thread_reaches_the_caller():
    def work(start, stop):
        raise ValueError("told")

    with threadpool_limits(2), pytest.raises(ValueError, match="told"):
        over_pieces(work, 10**7, 3)
