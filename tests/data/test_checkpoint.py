"""Checkpoints: damage is found, the one before is used, and another run is refused."""

from __future__ import annotations

import os
import random

import numpy as np
import polars as pl
import pytest

from adaline import LeastSquares, LogisticRegression, PoissonRegression, Ridge, WidrowHoff
from adaline.data import blocks, fit
from adaline.errors import DataError
from killed_fits import LEARNERS, Forks, killed


class Stopped(Exception):
    """Raised by whoever looks on, in the place of a crash."""


def stop_after(blocks_: int):
    seen = []

    def look(done: int, total: int | None) -> None:
        seen.append(done)
        if len(seen) == blocks_:
            raise Stopped

    return look


@pytest.fixture
def path(rng, tmp_path):
    X = rng.standard_normal((1000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(1000)
    file = tmp_path / "t.csv"
    inputs = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    t = rng.uniform(0.5, 2.0, 1000)
    n = rng.poisson(t * np.exp(X @ [0.3, -0.2, 0.1]))
    pl.DataFrame({**inputs, "y": y, "k": y > 0, "n": n, "t": t}).write_csv(file)
    return file


COLUMNS = ["a", "b", "c"]


def run(learner, path, tmp_path, stop=None, target="y", **options):
    look = None if stop is None else stop_after(stop)
    where = {"checkpoint": tmp_path / "run", "every": 0.0, "progress": look}
    return fit(learner, blocks(path, rows=40), target, columns=COLUMNS, **where, **options)


def stopped(learner, path, tmp_path, stop, **options):
    with pytest.raises(Stopped):
        run(learner, path, tmp_path, stop, **options)


CASES = {
    "ridge": (Ridge, "y", {}),
    "logistic": (LogisticRegression, "k", {}),
    "poisson": (PoissonRegression, "n", {"exposure": "t"}),
    "widrow-hoff": (WidrowHoff, "y", {"passes": 3}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stop", [2, 17, 30, 51, 60])
def test_a_stopped_run_goes_on_and_reads_only_the_rest(path, tmp_path, case, stop):
    learner, target, options = CASES[case]
    whole = fit(learner(), blocks(path, rows=40), target, columns=COLUMNS, **options)
    try:
        run(learner(), path, tmp_path, stop, target=target, **options)
    except Stopped:
        heard: list[int] = []
        again = fit(
            learner(),
            blocks(path, rows=40),
            target,
            columns=COLUMNS,
            checkpoint=tmp_path / "run",
            progress=lambda done, total: heard.append(done),
            **options,
        )
        assert again.coef_.tobytes() == whole.coef_.tobytes()
        assert not heard or stop <= 2 or heard[0] > 80 or len(heard) < 60
    once_more = run(learner(), path, tmp_path, target=target, **options)
    assert once_more.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_checkpoint_is_refused(path, tmp_path, damage):
    stopped(Ridge(), path, tmp_path, 9)
    file = tmp_path / "run" / "fit.checkpoint"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes({"cut": data[:-7], "flip": data, "empty": b""}[damage])
    with pytest.raises(DataError, match=r"damaged .* empty that directory"):
        run(Ridge(), path, tmp_path)


def test_another_file_learner_target_or_cutting_is_refused(path, tmp_path):
    stopped(Ridge(alpha=1.0), path, tmp_path, 9)
    for change in (Ridge(alpha=2.0), LeastSquares()):
        with pytest.raises(DataError, match="the learner changed"):
            run(change, path, tmp_path)
    where = {"checkpoint": tmp_path / "run"}
    with pytest.raises(DataError, match="the data changed"):
        fit(Ridge(alpha=1.0), blocks(path, rows=50), "y", columns=COLUMNS, **where)
    with pytest.raises(DataError, match="the columns changed"):
        fit(Ridge(alpha=1.0), blocks(path, rows=40), "a", columns=["b", "c"], **where)
    text = path.read_text()
    path.write_text(text[:-40] + text[-40:].replace("1", "2", 1))
    with pytest.raises(DataError, match="the data changed"):
        run(Ridge(alpha=1.0), path, tmp_path)
    path.write_text(text)
    run(Ridge(alpha=1.0), path, tmp_path)


@pytest.fixture(scope="module")
def forks():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    process = Forks()
    yield process
    process.close()


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_killed_fit_ends_with_the_same_bits(forks, tmp_path, learner):
    # A kill before the first saving proves nothing, and a loaded machine is slow to save.
    assert killed(forks, tmp_path, learner, 4, random.Random(learner)) >= 1
