"""Files on a cluster: the bits of one process, whoever dies, sleeps or loses tasks meanwhile.

`make cluster` kills far more workers, and cuts connections.
"""

from __future__ import annotations

import operator
import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import polars as pl
import pytest

from slow_blocks import bits, plain_moments, slow_moments

pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from adaline import (
    DataError,
    GaussianClassifier,
    LeastSquares,
    LogisticRegression,
    Perceptron,
)
from adaline.data import blocks, cluster, fit, look, workers
from adaline.sums.mapreduce import mapreduce
from kill_campaign import Killing
from worker_crew import crew

INPUTS = ["a", "b", "c"]
LEARNERS = {
    "least squares": (LeastSquares(), "y"),
    "gaussian": (GaussianClassifier(), "label"),
    "logistic of three": (LogisticRegression(), "k"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return files(tmp_path_factory.mktemp("files"), 3)


def files(place, count: int):
    """Parquet files of four row groups each."""
    for k in range(count):
        table(k).write_parquet(place / f"part.{k:02}.parquet", row_group_size=100)
    return place


def table(k: int, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(k)
    centre = np.array([0.0, 5.0, 100.0])
    X = rng.standard_normal((rows, 3)) + centre
    y = (X - centre) @ [1.0, -2.0, 0.5] + 3.0 + rng.standard_normal(rows)
    label, k = np.where(y > 3.0, "yes", "no"), np.digitize(y, [1.0, 4.0])
    names = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "label": label, "k": k}
    return pl.DataFrame(names)


def weights(model) -> bytes:
    return np.ravel(model.coef_).tobytes() + np.ravel(model.intercept_).tobytes()


@pytest.mark.parametrize(("learner", "target"), LEARNERS.values(), ids=LEARNERS)
def test_a_cluster_gives_the_bits_of_one_process(folder, client, threads, learner, target):
    source = blocks(folder, rows=100)
    here = fit(learner, source, target, columns=INPUTS)
    proof, bits_here = here.certificate_.statement, weights(here)
    for there in (client, threads):
        model = fit(learner, source, target, client=there, columns=INPUTS)
        assert weights(model) == bits_here
        assert model.certificate_.statement == proof


def test_text_files_are_opened_cut_and_studied_by_the_workers(tmp_path, client):
    for k in range(3):
        table(k).write_csv(tmp_path / f"{k}.csv")
    here = weights(fit(LeastSquares(), tmp_path, "y"))
    assert weights(fit(LeastSquares(), tmp_path, "y", client=client)) == here
    assert str(look(tmp_path, "y")) == str(look(tmp_path, "y", jobs=workers(client)))


def test_this_process_stays_small(threads):
    """However many descriptors there are, few are handed out before their parts come back."""
    given, taken = [], []

    def descriptors():
        for k in range(3000):
            given.append(k)
            assert len(given) - sum(taken) < 32 * 2 * 4 + 64
            yield k

    for part, of in workers(threads).parts(abs, descriptors(), operator.add, 0):
        taken.append(of)
        assert part >= 0
    assert sum(taken) == 3000
    assert len(taken) < 600  # branches, not single blocks


# Workers that die, sleep or lose their tasks.


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
    who = workers(client, **options)
    return bits(mapreduce(slow_moments, range(count), operator.add, who))


@contextmanager
def meanwhile(*events):
    """Call functions after so many seconds each; all are over at the end."""
    timers = [threading.Timer(after, *call) for after, *call in events]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.join()


def test_killed_workers_change_no_bit(both):
    """The second dies while the first is being replaced, so that nobody may be left."""
    client, crew = both
    with Killing(crew, iter([0.3, 0.01, 0.3, 0.2, 0.2]), random.Random(0)) as killing:
        found = summed(client, 120)
    assert killing.hits == 5
    assert found == straight(120)


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


def test_who_comes_late_is_welcome():
    with crew(0) as (alone, workers_of):
        with pytest.raises(TimeoutError, match="no sign of life"):
            summed(alone, 8, timeout=1.0)
        with meanwhile((0.5, setattr, (workers_of, "size", 1))):
            assert summed(alone, 8, timeout=100.0) == straight(8)


def test_cancelled_tasks_are_done_again(both):
    """A client that has lost the scheduler for a moment finds its tasks cancelled."""
    client, _ = both

    def cancel() -> None:
        for key in list(client.futures):
            client.futures[key].cancel()

    with meanwhile(*((0.1 + 0.05 * k, cancel) for k in range(8))):
        assert summed(client, 40) == straight(40)


def dies_five_times_at_3(log, seed: int) -> int:
    if seed == 3:
        with open(log, "a") as file:
            file.write("died\n")
        if log.read_text().count("died") <= 5:
            os._exit(1)
    return seed


def test_a_task_whose_workers_are_taken_away_five_times_is_computed_again(crew_of_two, tmp_path):
    """As on machines that may be taken away; Dask alone gives up after the fourth death."""
    client, _ = crew_of_two
    function = partial(dies_five_times_at_3, tmp_path / "log")
    assert mapreduce(function, range(5), operator.add, workers(client)) == 10


def dies_at_3(seed: int) -> int:
    if seed == 3:
        os._exit(1)
    return seed


def test_blocks_that_kill_their_workers_are_named(crew_of_two):
    client, _ = crew_of_two
    with pytest.raises(DataError, match="died again and again"):
        mapreduce(dies_at_3, range(5), operator.add, workers(client))


def fails_at_3(log, number: int) -> int:
    """Notes every try of number 3, which fails."""
    if number == 3:
        with open(log, "a") as file:
            file.write("tried\n")
        raise DataError("number 3 is bad.")
    return number


def test_a_bad_block_is_tried_three_times_and_leaves_no_task_behind(threads, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(DataError, match="number 3 is bad"):
        mapreduce(partial(fails_at_3, log), range(50), operator.add, workers(threads))
    assert log.read_text().count("tried") == 3
    until = time.monotonic() + 60
    while threads.run_on_scheduler(count_tasks) and time.monotonic() < until:
        time.sleep(0.02)
    assert threads.run_on_scheduler(count_tasks) == 0


def count_tasks(dask_scheduler) -> int:
    return sum(key.startswith("compute_branch") for key in map(str, dask_scheduler.tasks))


# Files that cannot be read.


def test_a_row_that_is_no_number_is_named_with_its_file(tmp_path, threads):
    files(tmp_path, 3)
    bad = table(2).with_columns(y=pl.when(pl.int_range(pl.len()) != 250).then("y"))
    bad.write_parquet(tmp_path / "part.02.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"row 250 of .*02\.parquet"):
        fit(LeastSquares(), tmp_path, "y", columns=INPUTS, client=threads)


# What cannot be done, and clusters of this machine.


def test_what_cannot_be_done_on_a_cluster_is_refused(folder, threads):
    for learner, source, given, error, words in (
        (Perceptron(), folder, {"client": threads}, ValueError, "learns the rows in their order"),
        (LeastSquares(), table(0), {"client": threads}, ValueError, "memory of this process"),
        (LeastSquares(), folder, {"client": threads, "jobs": 2}, ValueError, "both given"),
        (LeastSquares(), folder, {"client": "tcp://here:1"}, TypeError, r"distributed\.Client"),
    ):
        with pytest.raises(error, match=words):
            fit(learner, source, "label", columns=INPUTS, **given)
    for address, words in (("nowhere", "names no cluster"), ("local:none", "expected local:N")):
        with pytest.raises(DataError, match=words), cluster(address):
            pass


def listening() -> list:
    """Where this process and its children listen."""
    psutil = pytest.importorskip("psutil")
    every = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return [at.laddr for one in every for at in one.net_connections() if at.status == "LISTEN"]


def variables() -> dict:
    """The environment, but for marks of Dask that change nothing for this process."""
    marks = {"PYTHONHASHSEED", "__DASK_PARENT_PID", "DASK_PARENT"}
    return {name: value for name, value in os.environ.items() if name not in marks}


@pytest.mark.filterwarnings("error:Port 8787")
def test_a_local_cluster_listens_on_loopback_only_and_leaves_the_environment_alone(folder):
    before = set(listening())  # of other clusters of this process
    environment = variables()
    with cluster("local:1") as client:
        assert client.scheduler.address.startswith("tcp://127.0.0.1:")
        assert {address.ip for address in set(listening()) - before} == {"127.0.0.1"}
        assert variables() == environment  # OMP_NUM_THREADS=1 is for the workers only
        assert client.run(os.getenv, "OMP_NUM_THREADS").popitem()[1] == "1"
        found = fit(LeastSquares(), folder, "y", columns=INPUTS, client=client)
    assert variables() == environment
    assert weights(found) == weights(fit(LeastSquares(), folder, "y", columns=INPUTS))
