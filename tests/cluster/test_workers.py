"""Files on a cluster: the same bits as in one process. Who is killed meanwhile: test_kills."""

from __future__ import annotations

import operator
import os
import signal
import threading
import time

import numpy as np
import polars as pl
import pytest

from slow_blocks import bits, plain_moments

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from adaline import (  # noqa: E402
    DataError,
    GaussianClassifier,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    PoissonRegression,
    Ridge,
)
from adaline.data import blocks, cluster, fit, look, workers  # noqa: E402
from adaline.distributed.executor import Workers  # noqa: E402
from adaline.sums.mapreduce import mapreduce  # noqa: E402
from worker_crew import a_process, checkpointed_fit, crew  # noqa: E402

INPUTS = ["a", "b", "c"]
LEARNERS = {
    "least squares": (LeastSquares(), "y"),
    "ridge": (Ridge(), "y"),
    "linear machine": (LeastSquaresClassifier(), "k"),
    "gaussian": (GaussianClassifier(), "label"),
    "logistic of three": (LogisticRegression(), "k"),
    "poisson": (PoissonRegression(), "k"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    for k in range(3):
        table(k).write_parquet(place / f"part.{k}.parquet", row_group_size=100)
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
    options = {"columns": INPUTS}
    here = fit(learner, source, target, **options)
    proof, bits_here = here.certificate_.statement, weights(here)
    for there in (client, threads):
        model = fit(learner, source, target, client=there, **options)
        assert weights(model) == bits_here
        assert model.certificate_.statement == proof


def test_one_two_and_four_workers_give_the_same_bits(folder, crew_of_two):
    client, workers_of = crew_of_two
    source = blocks(folder, rows=50)
    here = weights(fit(LogisticRegression(), source, "label", columns=INPUTS))
    try:
        for size in (1, 2, 4):
            workers_of.kill_all(leaving=min(size, 2))
            workers_of.size = size
            while len(client.nthreads()) != size:
                time.sleep(0.02)
            there = fit(LogisticRegression(), source, "label", columns=INPUTS, client=client)
            assert weights(there) == here
    finally:
        workers_of.kill_all(leaving=2)
        workers_of.size = 2


def test_text_files_are_opened_cut_and_studied_by_the_workers(tmp_path, client):
    for k in range(3):
        table(k).write_csv(tmp_path / f"{k}.csv")
    here, there = (
        fit(LeastSquares(), tmp_path, "y"),
        fit(LeastSquares(), tmp_path, "y", client=client),
    )
    assert weights(here) == weights(there)
    assert str(look(tmp_path, "y")) == str(look(tmp_path, "y", jobs=workers(client)))


def test_the_tree_does_not_depend_on_who_is_ready_first(client, threads):
    straight = mapreduce(plain_moments, range(83), operator.add)
    for there in (client, threads):
        found = mapreduce(plain_moments, range(83), operator.add, Workers(there))
        assert bits(found) == bits(straight)


def test_this_process_stays_small(threads):
    """However many descriptors there are, few are handed out before their parts come back."""
    given, taken = [], []

    def descriptors():
        for k in range(3000):
            given.append(k)
            assert len(given) - sum(taken) < 32 * 2 * 4 + 64
            yield k

    for part, of in Workers(threads).parts(abs, descriptors(), operator.add, 0):
        taken.append(of)
        assert part >= 0
    assert sum(taken) == 3000
    assert len(taken) < 600  # branches, not single blocks


def test_a_block_that_kills_its_workers_is_named(crew_of_two):
    """Dask gives such a task up; we try once more, and then say which block it was."""
    client, _ = crew_of_two
    with pytest.raises(DataError, match=r"workers that were given 3 .* died again and again"):
        mapreduce(_dies_at_3, range(5), operator.add, Workers(client))


def _dies_at_3(seed: int) -> int:
    if seed == 3:
        os._exit(1)
    return seed


def test_nobody_is_waited_for_longer_than_was_said(folder):
    with crew(0) as (alone, workers_of):
        with pytest.raises(TimeoutError, match="no sign of life"):
            fit(LeastSquares(), folder, "y", columns=INPUTS, client=alone, timeout=1.0)
        # Who comes late is welcome: never is a number of workers waited for.
        timer = threading.Timer(0.5, setattr, (workers_of, "size", 1))
        timer.start()
        model = fit(LeastSquares(), folder, "y", columns=INPUTS, client=alone, timeout=100.0)
        assert weights(model) == weights(fit(LeastSquares(), folder, "y", columns=INPUTS))


def test_a_killed_client_goes_on_from_its_checkpoint(folder, client, tmp_path):
    out = tmp_path / "out.npy"
    given = client.scheduler.address, folder, tmp_path / "checkpoint", out

    first = a_process(checkpointed_fit, *given, 0.05)
    while not (tmp_path / "checkpoint/fit.checkpoint").exists() and first.is_alive():
        time.sleep(0.01)
    time.sleep(0.3)
    first.kill()
    first.join(20)
    assert first.exitcode == -signal.SIGKILL
    assert not out.exists()
    second = a_process(checkpointed_fit, *given, 0.0)
    second.join(100)
    straight = fit(LogisticRegression(), blocks(folder, rows=100), "label", columns=INPUTS)
    assert np.load(out).tobytes() == weights(straight)


def test_what_cannot_be_done_on_a_cluster_is_refused(folder, threads):
    with pytest.raises(ValueError, match="learns the rows in their order"):
        fit(Perceptron(), folder, "label", columns=INPUTS, client=threads)
    with pytest.raises(ValueError, match="in the memory of this process"):
        fit(LeastSquares(), table(0), "y", columns=INPUTS, client=threads)
    with pytest.raises(ValueError, match="both given"):
        fit(LeastSquares(), folder, "y", columns=INPUTS, client=threads, jobs=2)
    with pytest.raises(TypeError, match=r"expected a distributed\.Client"):
        fit(LeastSquares(), folder, "y", columns=INPUTS, client="tcp://127.0.0.1:8786")
    with pytest.raises(DataError, match="names no cluster"), cluster("nowhere"):
        pass
    with pytest.raises(DataError, match="expected local:N"), cluster("local:none"):
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
