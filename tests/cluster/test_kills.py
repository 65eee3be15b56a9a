"""Workers that die, sleep or lose their tasks: the same bits. `make cluster` kills far more."""

from __future__ import annotations

import operator
import os
import random
import signal
import threading
import time

import pytest

from slow_blocks import bits, plain_moments, slow_moments

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from adaline.distributed.executor import Workers  # noqa: E402
from adaline.sums.mapreduce import mapreduce  # noqa: E402
from kill_campaign import Killing  # noqa: E402


@pytest.fixture
def both(crew_of_two):
    """The client and its crew, once both workers are there."""
    client, crew = crew_of_two
    while len(client.nthreads()) < 2:
        time.sleep(0.02)
    return client, crew


def straight(count: int) -> bytes:
    return bits(mapreduce(plain_moments, range(count), operator.add))


def summed(client, count: int, **options) -> bytes:
    who = Workers(client, **options)
    return bits(mapreduce(slow_moments, range(count), operator.add, who))


def test_five_killed_workers_change_no_bit(both):
    """The second dies while the first is being replaced, so that nobody may be left."""
    client, crew = both
    pauses = iter([0.3, 0.01, 0.3, 0.2, 0.2])
    with Killing(crew, pauses, random.Random(0)) as killing:
        found = summed(client, 120)
    assert killing.hits == 5
    assert found == straight(120)


def test_a_paused_worker_is_not_waited_for(both):
    client, crew = both
    stopped = crew.pids()[0]
    timer = threading.Timer(0.3, os.kill, (stopped, signal.SIGSTOP))
    timer.start()
    try:
        found = summed(client, 40)
    finally:
        timer.join()
        os.kill(stopped, signal.SIGCONT)
    assert found == straight(40)


def test_a_paused_worker_may_come_back_meanwhile(both):
    """Others have done its tasks by then; what it returns late changes nothing."""
    client, crew = both
    stopped = crew.pids()[0]
    timers = [
        threading.Timer(after, os.kill, (stopped, what))
        for after, what in ((0.2, signal.SIGSTOP), (1.4, signal.SIGCONT))
    ]
    for timer in timers:
        timer.start()
    try:
        found = summed(client, 80)
    finally:
        for timer in timers:
            timer.join()
    assert found == straight(80)


def test_workers_that_give_no_sign_of_life_are_waited_for_as_long_as_was_said(both):
    """The scheduler counts them as there for minutes: they are stopped, or a cable is cut."""
    client, crew = both
    stopped = crew.pids()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError, match="no sign of life"):
            summed(client, 40, timeout=3.0)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert summed(client, 8) == straight(8)


def test_another_comes_where_the_only_worker_was_killed(both):
    client, crew = both
    crew.kill_all(leaving=1)

    def replace_the_last() -> None:
        crew.kill_all()
        crew.size = 1

    timer = threading.Timer(0.3, replace_the_last)
    timer.start()
    try:
        found = summed(client, 40)
    finally:
        timer.join()
        crew.size = 2
    assert found == straight(40)


def test_cancelled_tasks_are_done_again(both):
    """A client that has lost the scheduler for a moment finds its tasks cancelled."""
    client, _ = both

    def cancel() -> None:
        for key in list(client.futures):
            client.futures[key].cancel()

    timers = [threading.Timer(0.1 + 0.05 * k, cancel) for k in range(8)]
    for timer in timers:
        timer.start()
    found = summed(client, 40)
    for timer in timers:
        timer.join()
    assert found == straight(40)


def test_a_client_need_not_be_the_default_one(both):
    client, _ = both
    with pytest.raises(ValueError, match="No clients found"):
        distributed.default_client()
    assert summed(client, 8) == straight(8)
