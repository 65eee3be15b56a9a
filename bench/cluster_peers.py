"""Least squares and logistic regression of dask-ml and of Spark MLlib, for bench_cluster.py.

    python bench/cluster_peers.py "logistic dask-ml" FOLDER FEW

No line of ours is imported, so that the interpreter may be one that has only the peer. Prints CPU
seconds of the process and all its children (workers, scheduler, JVM), seconds, and coefficients.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

P = 50
NAMES = [f"x{j}" for j in range(P)]
TARGETS = {"squares": "y", "logistic": "c"}
Work = Callable[[], dict[str, Any]]


def memory_of(process: Any) -> float:
    """Resident megabytes of a process."""
    return float(process.memory_info().rss / 2**20)


def tree() -> tuple[float, float]:
    """CPU seconds of this process and its children, and the largest child in megabytes."""
    import psutil

    me = psutil.Process()
    every = [me, *me.children(recursive=True)]
    spent = sum(sum(one.cpu_times()[:2]) for one in every)
    return spent, max([0.0, *map(memory_of, every[1:])])


def timed(work: Work, warm: Work | None = None) -> dict[str, Any]:
    """What a piece of work cost, after a small one that loads what it needs."""
    if warm is not None:
        warm()
    before, began = tree()[0], time.perf_counter()
    answer = work()
    spent = time.perf_counter() - began
    after, largest = tree()
    return {"cpu": after - before, "wall": spent, "worker": largest, "answer": answer}


def read_group(path: str, group: int, names: list[str]) -> np.ndarray:
    """A row group as an array."""
    from pyarrow import parquet

    return parquet.ParquetFile(path).read_row_group(group, columns=names).to_pandas().to_numpy()


def dask_array(folder: str, names: list[str]) -> Any:
    """Row groups as chunks. `dask.dataframe` would fuse those of the columns of y and not those of
    X, after which dask-ml stops with "lost dependencies" (dask 2026.8).
    """
    import dask.array as da
    from dask import delayed
    from pyarrow import parquet

    chunks = []
    for path in sorted(Path(folder).glob("*.parquet")):
        footer = parquet.read_metadata(path)
        for g in range(footer.num_row_groups):
            shape = footer.row_group(g).num_rows, len(names)
            chunks.append(da.from_delayed(delayed(read_group)(str(path), g, names), shape, float))
    return da.concatenate(chunks)


@contextmanager
def dask_ml(name: str) -> Iterator[Callable[[str], Work]]:
    """Fits of dask-ml by Newton's steps, on dask arrays of the files, with two workers."""
    from dask_ml import linear_model
    from distributed import Client, LocalCluster

    learners = {"squares": linear_model.LinearRegression}
    kind = learners.get(name, linear_model.LogisticRegression)

    def of(folder: str) -> Work:
        def work() -> dict[str, Any]:
            rows = dask_array(folder, [*NAMES, TARGETS[name]])
            X, y = rows[:, :P], rows[:, P]
            model = kind(solver="newton", C=1.0).fit(X, y)
            return {"coef": np.ravel(model.coef_).tolist(), "b": float(model.intercept_)}

        return work

    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **where) as here, Client(here):
        yield of


@contextmanager
def spark(name: str) -> Iterator[Callable[[str], Work]]:
    """Fits of Spark MLlib with local[2]."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "8g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")

    def of(folder: str) -> Work:
        def work() -> dict[str, Any]:
            table = session.read.parquet(folder)
            rows = VectorAssembler(inputCols=NAMES, outputCol="features").transform(table)
            rows = rows.select("features", TARGETS[name])
            if name == "squares":
                model = LinearRegression(labelCol="y", solver="normal").fit(rows)
            else:  # the same penalty as ours, |w|^2 / 2, whose loss is a sum and no mean
                given = {"regParam": 1.0 / table.count(), "standardization": False}
                model = LogisticRegression(labelCol="c", tol=1e-9, maxIter=100, **given).fit(rows)
            return {"coef": model.coefficients.toArray().tolist(), "b": float(model.intercept)}

        return work

    try:
        yield of
    finally:
        session.stop()


def main() -> None:
    name, _, peer = sys.argv[1].partition(" ")
    with {"dask-ml": dask_ml, "Spark MLlib": spark}[peer](name) as work:
        print(json.dumps(timed(work(sys.argv[2]), work(sys.argv[3]))))


if __name__ == "__main__":
    main()
