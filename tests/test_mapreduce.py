"""One map-reduce: the tree depends on the blocks alone, and a run can stop and go on."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.sums import threads
from adaline.sums.mapreduce import Reduction, mapreduce
from adaline.sums.moments import Moments


def bracketed(a: str, b: str) -> str:
    return f"({a}{b})"


@given(st.integers(1, 70), st.data())
def test_a_run_that_stops_anywhere_goes_on_to_the_same_tree(n, data):
    names = [chr(97 + i % 26) for i in range(n)]
    whole = mapreduce(str, names, bracketed)
    cut = data.draw(st.integers(0, n))
    first = Reduction(bracketed)
    for name in names[:cut]:
        first.push(name)
    again = Reduction(bracketed, first.count, list(first.waiting))
    assert mapreduce(str, names, bracketed, reduction=again) == whole
    assert whole.replace("(", "").replace(")", "") == "".join(names)
    assert len(first.waiting) == bin(cut).count("1")


def _part(seed: int, size: int) -> Moments:
    return Moments.of(np.random.default_rng(seed).standard_normal((size, 4)))


def test_two_processes_give_the_same_bits():
    work = functools.partial(_part, size=100)
    one, two = (mapreduce(work, range(11), operator.add, jobs=jobs) for jobs in (1, 2))
    assert one.scatter.tobytes() == two.scatter.tobytes()
    assert one.mean.tobytes() == two.mean.tobytes()


def _threads_of(_: int) -> list[int]:
    threads.cores = lambda: 64  # in a process of its own
    return [threads.threads()]


def test_processes_share_the_threads(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    told = mapreduce(_threads_of, range(2), operator.add, jobs=2)
    assert max(told) <= 4


def _fails(seed: int) -> int:
    raise ZeroDivisionError(f"block {seed}")


def test_an_error_in_a_process_comes_home():
    with pytest.raises(ZeroDivisionError, match="block 0"):
        mapreduce(_fails, range(5), operator.add, jobs=2)
