"""Files that cannot be read, and sums that cannot be right: one error, which says where."""

from __future__ import annotations

import operator
import time
from functools import partial

import numpy as np
import polars as pl
import pytest

pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from adaline import DataError, LeastSquares
from adaline.data import fit
from adaline.distributed.executor import RETRIES, Workers
from adaline.sums.mapreduce import mapreduce

INPUTS = ["a", "b"]


@pytest.fixture
def folder(tmp_path):
    """Four files of four row groups."""
    place = tmp_path / "files"
    place.mkdir()
    for k in range(4):
        write(place / f"{k}.parquet", k)
    return place


def write(path, seed: int, bad_row: int | None = None) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(4000)
    if bad_row is not None:
        y[bad_row] = np.nan
    names = {"a": X[:, 0], "b": X[:, 1], "y": y, "k": (y > 0).astype(int)}
    pl.DataFrame(names).write_parquet(path, row_group_size=1000)


def weights(model) -> bytes:
    return model.coef_.tobytes() + np.ravel(model.intercept_).tobytes()


def spoil_second_group(path) -> None:
    from pyarrow import parquet

    column = parquet.read_metadata(path).row_group(1).column(0)
    with open(path, "r+b") as file:
        file.seek(column.data_page_offset)
        file.write(b"\xff" * 200)


def test_a_row_that_is_no_number_is_named_with_file_and_row_group(folder, threads):
    write(folder / "2.parquet", 2, bad_row=2500)
    with pytest.raises(DataError, match=r"row 2500 \(row group 2\) of .*2\.parquet"):
        fit(LeastSquares(), folder, "y", columns=INPUTS, client=threads)


def test_a_row_group_that_is_damaged_is_named_with_file_and_rows(folder, threads):
    spoil_second_group(folder / "1.parquet")
    said = r"1\.parquet: rows 1000 to 2000 \(row group 1\) cannot be read"
    with pytest.raises(DataError, match=said):
        fit(LeastSquares(), folder, "y", columns=INPUTS, client=threads)


def test_a_file_that_goes_away_is_named_and_what_was_summed_is_kept(tmp_path, threads):
    """Moved back, the same call goes on from its checkpoint and ends with the same bits."""
    folder, away = tmp_path / "files", tmp_path / "away.parquet"
    folder.mkdir()
    for k in range(16):  # more than are under way with four workers
        write(folder / f"{k:02}.parquet", k)
    straight = weights(fit(LeastSquares(), folder, "y", columns=INPUTS))
    given = {"columns": INPUTS, "client": threads, "checkpoint": tmp_path / "kept", "every": 0.0}

    def move_the_last(done, whole):
        if not away.exists():
            (folder / "15.parquet").rename(away)

    with pytest.raises((DataError, FileNotFoundError), match=r"15\.parquet"):
        fit(LeastSquares(), folder, "y", progress=move_the_last, **given)
    away.rename(folder / "15.parquet")
    rows = []
    model = fit(LeastSquares(), folder, "y", progress=lambda done, _: rows.append(done), **given)
    assert min(rows) > 4000  # the first file is not read again
    assert weights(model) == straight


def fails_at_3(log, number: int) -> int:
    """Notes every try of number 3, which fails."""
    if number == 3:
        with open(log, "a") as file:
            file.write("tried\n")
        raise DataError("number 3 is bad.")
    return number


def test_a_bad_block_is_tried_so_often_and_leaves_no_task_behind(threads, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(DataError, match="number 3 is bad"):
        mapreduce(partial(fails_at_3, log), range(50), operator.add, Workers(threads))
    assert log.read_text().count("tried") == 1 + RETRIES
    until = time.monotonic() + 60
    while threads.run_on_scheduler(_tasks) and time.monotonic() < until:
        time.sleep(0.02)
    assert threads.run_on_scheduler(_tasks) == 0


def _tasks(dask_scheduler) -> int:
    return sum(key.startswith("compute_branch") for key in map(str, dask_scheduler.tasks))
