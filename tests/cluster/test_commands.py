"""The command on a cluster: where the cluster is, and what Ctrl-C and kill -9 leave behind."""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import polars as pl
import pytest

pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from adaline import DataError
from adaline.data import cluster
from worker_crew import a_process, slow_command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """So many files that a pass takes a while where every part is paused after."""
    place = tmp_path_factory.mktemp("files")
    for k in range(12):
        rng = np.random.default_rng(k)
        X = rng.standard_normal((200, 3))
        y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(200)
        names = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
        pl.DataFrame(names).write_parquet(place / f"{k:02}.parquet")
    return place


def words(folder, out, *more) -> list[str]:
    files = f"{folder}/*.parquet"
    return ["fit", files, "-t", "y", "--only", "a,b,c", "-m", "ridge", "--out", str(out), *more]


@pytest.fixture
def done_here(folder, tmp_path):
    """The model file that this process writes without a cluster."""
    out = tmp_path / "here.adaline"
    run(words(folder, out, "--checkpoint", str(tmp_path / "alone")))
    return out.read_bytes()


def run(tokens: list[str]) -> None:
    from adaline.cli import main

    with pytest.raises(SystemExit) as ended:
        main(tokens)
    assert ended.value.code == 0


@pytest.mark.parametrize("way", ["address", "scheduler file"])
def test_the_command_fits_on_a_cluster(folder, client, tmp_path, done_here, way):
    address = client.scheduler.address
    if way == "scheduler file":
        # As a scheduler writes it at its start; the client's own writer fails once tasks have run.
        told = {"type": "Scheduler", "address": address, "services": {}, "workers": {}}
        (tmp_path / "scheduler.json").write_text(json.dumps(told))
        address = str(tmp_path / "scheduler.json")
    out = tmp_path / "there.adaline"
    run(words(folder, out, "--cluster", address))
    assert out.read_bytes() == done_here


BROKEN = {"no JSON": "{", "no address": "{}", "no text": "[1]", "another's": '{"address": 3}'}
BROKEN["gone"] = '{"address": "tcp://127.0.0.1:9"}'


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_file_that_leads_to_no_scheduler_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "scheduler.json"
    path.write_text(text)
    with (
        pytest.raises(DataError, match=r"no scheduler|names no cluster"),
        cluster(str(path), timeout=1.0),
    ):
        pass


def test_a_stopped_command_leaves_its_checkpoint_and_nothing_running(
    folder, crew_of_two, tmp_path, done_here
):
    """Even where no worker answers: both are stopped while the command ends."""
    client, crew = crew_of_two
    out, kept, said = tmp_path / "there.adaline", tmp_path / "kept", tmp_path / "said"
    tokens = words(folder, out, "--cluster", client.scheduler.address, "--checkpoint", str(kept))
    process = a_process(slow_command, tokens, 0.3, said)
    while not list(kept.glob("*.checkpoint")) and process.is_alive():
        time.sleep(0.01)
    stopped = crew.pids()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        os.kill(process.pid, signal.SIGINT)
        process.join(300)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert process.exitcode == 130
    assert "resumes" in said.read_text()
    assert "Traceback" not in said.read_text()
    assert not out.exists()
    until = time.monotonic() + 60
    while client.run_on_scheduler(_tasks) and time.monotonic() < until:
        time.sleep(0.02)
    assert client.run_on_scheduler(_tasks) == 0
    run(tokens)
    assert out.read_bytes() == done_here


def _tasks(dask_scheduler) -> int:
    return sum(str(key).startswith("compute_branch") for key in dask_scheduler.tasks)
