"""The clock of time limits counts what this thread works, and nothing else."""

from __future__ import annotations

import threading
import time

import numba
import pytest

from adaline._jit.working_time import working_time


def _busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_work_of_this_thread_counts():
    begun = working_time()
    _busy(0.05)
    assert working_time() - begun >= 0.05


def test_sleep_and_other_threads_do_not_count():
    begun = working_time()
    other = threading.Thread(target=_busy, args=(0.2,))
    other.start()
    other.join()
    time.sleep(0.1)
    assert working_time() - begun < 0.1


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_compiling_does_not_count():
    def part(x):
        return x * x

    inner = numba.njit(part)  # not `kernel`, which would be on disk the second time

    def whole(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += inner(x[i])
        return total

    begun, all_begun = working_time(), time.thread_time()
    numba.njit(whole).compile("float64(float64[:])")
    took, counted = time.thread_time() - all_begun, working_time() - begun
    assert took > 0.02
    assert 0.0 <= counted < 0.2 * took
    begun = working_time()
    _busy(0.05)  # and the clock goes on afterwards
    assert working_time() - begun >= 0.05
