"""A fit that is killed at any moment goes on where it was and ends with the same bits.

`python campaigns/killed_fits.py 60` kills sixty times, tests/data/test_checkpoint.py a few times.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
LEARNERS = ["ridge", "gaussian", "logistic", "poisson", "widrow-hoff", "on-line logistic"]
LEARNERS += ["perceptron"]


class Forks:
    """The process of forking.py: starts fits, and kills them."""

    def __init__(self) -> None:
        # What is killed cannot remove its temporary files: they have a directory of their own.
        self.temporary = tempfile.TemporaryDirectory()
        quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        quiet["TMPDIR"] = self.temporary.name
        command = [sys.executable, "-W", "ignore", str(HERE / "forking.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=quiet, **pipes)
        assert self.process.stdout.readline().strip() == "ready"

    def run(self, job: dict, after: float | None = None) -> int:
        """How a fit ended (0, or the signal), killed so many seconds after its first saving."""
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline())
        ended = threading.Event()
        if after is not None:
            first = Path(job["checkpoint"]) / "fit.checkpoint"
            threading.Thread(target=_kill, args=(pid, first, after, ended)).start()
        status = int(self.process.stdout.readline())
        ended.set()
        return status

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)
        self.temporary.cleanup()


def _kill(pid: int, saved: Path, after: float, ended: threading.Event) -> None:
    while not saved.exists():
        if ended.wait(0.001):
            return
    if ended.wait(after):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def data(path: Path, rows: int = 3000) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 4)) + np.array([0, 5, 0, 100])
    v = (X - X.mean(axis=0)) @ [1.0, -2.0, 0.5, 1.0]
    y = v + rng.standard_normal(rows)
    c = (rng.random(rows) < 1 / (1 + np.exp(-v))).astype(float)
    np.save(path, np.column_stack([X, y, c]))


def killed(forks: Forks, folder: Path, learner: str, kills: int, dice: random.Random) -> int:
    """Kill a fit so many times, let it end, and compare; how many kills hit it after a saving."""
    data(folder / "t.npy")
    job = {"learner": learner, "path": str(folder / "t.npy"), "rows": 50, "pause": 0.0}
    straight = {**job, "checkpoint": None, "out": str(folder / "straight.npy")}
    assert forks.run(straight) == 0
    job |= {"checkpoint": str(folder / "checkpoint"), "out": str(folder / "out.npy")}
    job["pause"] = 0.002
    hits = 0
    for _ in range(kills):
        status = forks.run(job, after=dice.uniform(0.0, 0.1))
        hits += status == signal.SIGKILL and (folder / "checkpoint/fit.checkpoint").exists()
        assert status in (0, signal.SIGKILL)
        if status == 0:  # it was faster: begin anew
            assert_same(folder)
            (folder / "out.npy").unlink()
            for file in (folder / "checkpoint").iterdir():
                file.unlink()
    assert forks.run(job) == 0
    assert_same(folder)
    return hits


def assert_same(folder: Path) -> None:
    straight, found = np.load(folder / "straight.npy"), np.load(folder / "out.npy")
    assert straight.tobytes() == found.tobytes()


def campaign(kills: int) -> None:
    """Many kills, at moments that differ every time."""
    forks, dice, hits = Forks(), random.Random(), 0
    while hits < kills:
        for learner in LEARNERS:
            with tempfile.TemporaryDirectory() as folder:
                hits += killed(forks, Path(folder), learner, 4, dice)
    forks.close()
    print(f"{hits} kills, and all fits ended with the bits of an uninterrupted run.")


if __name__ == "__main__":
    campaign(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
