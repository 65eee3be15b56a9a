"""Rows shared among threads: every row once, and the same bits with one thread or two."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from adaline import LeastSquares, LogisticRegression, Moments
from adaline._threads import one_blas_thread, over_pieces, pieces, threads


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


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def overlapped(first, second):
    """Two threads: the first leaves while the second is still inside."""
    entered, left = Event(), Event()

    def outer():
        with first:
            entered.set()
            left.wait(10)

    def inner():
        entered.wait(10)
        with second:
            left.set()
            thread.join(10)

    thread, other = Thread(target=outer), Thread(target=inner)
    thread.start(), other.start()
    thread.join(10), other.join(10)


def test_limits_of_two_threads_that_overlap_are_lifted_in_the_end():
    before = blas_threads()
    overlapped(one_blas_thread(3), one_blas_thread(3))
    assert blas_threads() == before


def test_blas_has_one_thread_as_long_as_anyone_is_inside():
    with threadpool_limits(2):
        before = blas_threads()
        one, other = one_blas_thread(3), one_blas_thread(3)
        one.__enter__()
        other.__enter__()
        assert set(blas_threads()) == {1}
        one.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        other.__exit__(None, None, None)
        assert blas_threads() == before


def test_an_error_inside_lifts_the_limit():
    with threadpool_limits(2):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), one_blas_thread(3):
            1 / 0  # noqa: B018
        assert blas_threads() == before


def test_who_is_inside_uses_one_thread_and_others_as_many_as_before():
    told = []
    with threadpool_limits(2), one_blas_thread(3):
        assert threads() == 1
        other = Thread(target=lambda: told.append(threads()))
        other.start()
        other.join()
    assert told == [2]


def test_pieces_inside_pieces_use_the_thread_they_are_in():
    with threadpool_limits(2):
        assert set(over_pieces(lambda i, j: threads(), 10**7, 3)) == {1}
        assert threads() == 2


def test_concurrent_fits_leave_blas_as_it_was(rng):
    X = rng.standard_normal((300_000, 5))
    y = X @ np.arange(5.0) + rng.standard_normal(300_000) > 0
    with threadpool_limits(2):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            coefs = list(pool.map(lambda _: LogisticRegression().fit(X, y).coef_, range(8)))
        assert blas_threads() == before
    assert all(np.array_equal(coefs[0], coef) for coef in coefs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_is_inside_has_all_threads_again():
    entered, done = Event(), Event()

    def stay():
        with one_blas_thread(3):
            entered.set()
            done.wait(10)

    with threadpool_limits(2):
        before = blas_threads()
        other = Thread(target=stay)
        other.start()
        entered.wait(10)
        child = os.fork()
        if child == 0:
            fine = blas_threads() == before and threads() == 2
            with one_blas_thread(3):
                fine = fine and set(blas_threads()) == {1}
            os._exit(0 if fine and blas_threads() == before else 1)
        status = os.waitpid(child, 0)[1]
        done.set()
        other.join()
        assert os.waitstatus_to_exitcode(status) == 0
        assert blas_threads() == before
