"""Two workers of a Dask cluster beside one process of ours, and beside dask-ml.

    python bench/bench_cluster.py [--quick] [--rows N] [--folder DIR] [--only NAME ...]

Every piece of work runs in a process of its own, which starts its cluster, warms it up, and tells
the CPU seconds of itself and all its children (scheduler, workers), the seconds, and the most
memory of a worker. Files are generated once, in a temporary folder (1.7 GB; --quick makes them a
twentieth). Spark needs a JVM and is not run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bench import head, missing, note, row
from bench_files import rows

P = 50
FILES = 8
BLOCKS = 100_000  # empty blocks that a scheduler is given


def folder_of(place: Path, n: int) -> Path:
    """Eight Parquet files of n rows in all, with a target y and a class c."""
    import pyarrow as pa
    from pyarrow import parquet

    place.mkdir(parents=True, exist_ok=True)
    names = [*(f"x{j}" for j in range(P)), "y", "c"]
    for k in range(FILES):
        path = place / f"part.{k}.parquet"
        if path.exists():
            continue
        schema = pa.schema([(name, pa.float64()) for name in names])
        with parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as out:
            for g in range(4):
                columns = rows(n // FILES // 4, P, 4 * k + g)
                out.write_table(pa.table({name: columns[name] for name in names}))
    return place


# Work, each in a process of its own --------------------------------------------------------------


def learner(name: str) -> tuple[Any, str]:
    import adaline

    return (
        (adaline.LeastSquares(), "y") if name == "squares" else (adaline.LogisticRegression(), "c")
    )


def ours(name: str, folder: str, client: Any = None) -> Any:
    """A fit of ours; the one before it loads the kernels."""
    from adaline.data import fit

    model, target = learner(name)
    columns = [f"x{j}" for j in range(P)]

    def work() -> Any:
        found = fit(model, f"{folder}/*.parquet", target, columns=columns, client=client)
        return {"coef": np.ravel(found.coef_).tolist()}

    return work


def dask_ml(name: str, folder: str) -> Any:
    """The peer on dask arrays of the same files, whose lengths it must be told."""
    import dask.dataframe as dd
    from dask_ml import linear_model

    table = dd.read_parquet(f"{folder}/*.parquet", split_row_groups=True)
    X = table[[f"x{j}" for j in range(P)]].to_dask_array(lengths=True)
    y = table["y" if name == "squares" else "c"].to_dask_array(lengths=True)
    kinds = {"squares": linear_model.LinearRegression, "logistic": linear_model.LogisticRegression}

    def work() -> Any:
        model = kinds[name](solver="newton" if name == "logistic" else "admm", C=1.0)
        return {"coef": np.ravel(model.fit(X, y).coef_).tolist()}

    return work


def nothing(_: int) -> int:
    return 1


def empty_blocks(count: int, client: Any) -> Any:
    """So many descriptors through the scheduler, and what that adds to the client's memory."""
    import operator

    from adaline.distributed.workers import Workers
    from adaline.mapreduce import mapreduce

    def work() -> Any:
        before = memory()
        total = mapreduce(nothing, range(count), operator.add, Workers(client))
        return {"total": total, "grown": memory() - before}

    return work


def memory() -> float:
    """Resident megabytes of this process."""
    import psutil

    return psutil.Process().memory_info().rss / 2**20


def tree() -> tuple[float, float]:
    """CPU seconds of this process and its children, and the largest child in megabytes."""
    import psutil

    me = psutil.Process()
    every = [me, *me.children(recursive=True)]
    spent = sum(sum(one.cpu_times()[:2]) for one in every)
    return spent, max([0.0, *(one.memory_info().rss / 2**20 for one in every[1:])])


def timed(work: Any, warm: Any = None) -> dict[str, Any]:
    if warm is not None:
        warm()
    before, began = tree()[0], time.perf_counter()
    answer = work()
    spent = time.perf_counter() - began
    after, largest = tree()
    return {"cpu": after - before, "wall": spent, "worker": largest, "answer": answer}


def job(what: str, folder: str, few: str) -> dict[str, Any]:
    """One piece of work, by its name."""
    from adaline.data import cluster

    name, _, where = what.partition(" ")
    if where == "one process":
        return timed(ours(name, folder), ours(name, few))
    with cluster("local:2") as client:
        if where == "cluster":
            return timed(ours(name, folder, client), ours(name, few, client))
        if where == "dask-ml":
            return timed(dask_ml(name, folder), dask_ml(name, few))
        return timed(empty_blocks(int(where), client), empty_blocks(100, client))


def in_a_process(what: str, folder: Path, few: Path) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", __file__, "--job", what, str(folder), str(few)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(place: Path, n: int, count: int, only: list[str]) -> None:
    folder, few = folder_of(place / f"rows{n}", n), folder_of(place / "few", FILES * 4 * 500)
    peers = importlib.util.find_spec("dask_ml") is not None
    head()
    for name, words in (("squares", "least squares"), ("logistic", "logistic, gap 1e-8")):
        if only and name not in only:
            continue
        alone, two = (in_a_process(f"{name} {w}", folder, few) for w in ("one process", "cluster"))
        same = alone["answer"] == two["answer"]
        # The target is at most 1.3 times the CPU of one process.
        row(f"{words}, {n:,} x {P}, 2 workers", "one process", two["cpu"], alone["cpu"], 1 / 1.3)
        note(
            f"same bits: {same}; wall {alone['wall']:.1f} s alone, {two['wall']:.1f} s with two "
            f"workers of at most {two['worker']:.0f} MB."
        )
        if peers:
            peer = in_a_process(f"{name} dask-ml", folder, few)
            row(f"{words}, {n:,} x {P}, 2 workers", "dask-ml", two["cpu"], peer["cpu"], 10.0)
    if not peers:
        missing("dask-ml")
    missing("Spark MLlib", "a JVM and pyspark")
    if not only or "empty" in only:
        found = in_a_process(f"empty {count}", folder, few)
        note(
            f"{count:,} empty blocks through the scheduler in {found['wall']:.1f} s "
            f"({found['cpu']:.1f} CPU s); the client grew by {found['answer']['grown']:.1f} MB."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=None, help="rows of the files, all together")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--only", nargs="*", default=[], help="squares, logistic, empty")
    parser.add_argument("--job", nargs=3, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job is not None:
        print(json.dumps(job(*options.job)))
        return
    n, count = (200_000, BLOCKS // 10) if options.quick else (4_000_000, BLOCKS)
    with tempfile.TemporaryDirectory() as place:
        compare(options.folder or Path(place), options.rows or n, count, options.only)


if __name__ == "__main__":
    main()
