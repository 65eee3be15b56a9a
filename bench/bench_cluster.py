"""Two workers of a Dask cluster beside one process of ours, dask-ml and Spark MLlib.

    python bench/bench_cluster.py [--quick] [--rows N] [--folder DIR] [--only NAME ...]
        [--peers PYTHON] [--memory MIB]

Every piece of work runs in a process of its own, which starts its cluster, warms it up, and tells
the CPU seconds of itself and all its children (scheduler, workers), the seconds, and the most
memory of a worker. Files are generated once, in a temporary folder (1.7 GB; --quick makes them a
twentieth). `--peers` names an interpreter that has dask-ml or pyspark (which needs a JVM); what it
has not is named as missing.
"""

from __future__ import annotations

import argparse
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
from cluster_peers import timed

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
        return {"coef": np.ravel(found.coef_).tolist(), "b": float(np.ravel(found.intercept_)[0])}

    return work


def nothing(_: int) -> int:
    return 1


def empty_blocks(count: int, client: Any) -> Any:
    """So many descriptors through the scheduler, and what that adds to the client's memory."""
    import operator

    from adaline.distributed.clusters import Workers
    from adaline.sums.mapreduce import mapreduce

    def work() -> Any:
        before = memory()
        total = mapreduce(nothing, range(count), operator.add, Workers(client))
        return {"total": total, "grown": memory() - before}

    return work


def memory() -> float:
    """Resident megabytes of this process."""
    import psutil

    return psutil.Process().memory_info().rss / 2**20


def most_of_a_worker(client: Any) -> float:
    """The most megabytes that any worker has had since it began."""
    return max(client.run(high_water).values())


def high_water() -> float:
    """The most resident megabytes of this process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def sums(p: int, client: Any) -> Any:
    """Bytes of the moments of p columns, and seconds of a merge of two."""
    import pickle

    from adaline import Moments

    rng = np.random.default_rng(0)
    a, b = (Moments.of(rng.standard_normal((100, p)), rng.standard_normal(100)) for _ in range(2))

    def work() -> Any:
        began = time.process_time()
        for _ in range(5):
            a + b
        spent = (time.process_time() - began) / 5
        return {"bytes": len(pickle.dumps(a)), "merge": spent}

    return work


def set_limit(memory: int, dask_worker: Any) -> None:
    """Let a worker, or the nanny that would end it, allow so many bytes."""
    dask_worker.memory_manager.memory_limit = memory


def job(what: str, folder: str, few: str, memory: int = 0) -> dict[str, Any]:
    """One piece of work, by its name; workers are limited to so many MiB of memory."""
    from adaline.data import cluster

    name, _, where = what.partition(" ")
    if where == "one process":
        return timed(ours(name, folder), ours(name, few))
    if name == "sums":
        return timed(sums(int(where), None))
    with cluster("local:2") as client:
        for nanny in (False, True):
            if memory:
                client.run(set_limit, memory * 2**20, nanny=nanny)
        if where == "cluster":
            found = timed(ours(name, folder, client), ours(name, few, client))
            return found | {"worker": most_of_a_worker(client)}
        return timed(empty_blocks(int(where), client), empty_blocks(100, client))


def in_a_process(what: str, folder: Path, few: Path, memory: int = 0) -> dict[str, Any]:
    """The job in a process of its own; `memory` is the limit of its workers."""
    command = [sys.executable, "-W", "ignore", __file__, "--job", what, str(folder), str(few)]
    return answer_of(what, [*command, *(["--memory", str(memory)] if memory else [])])


def of_a_peer(python: str, what: str, folder: Path, few: Path) -> dict[str, Any]:
    script = str(Path(__file__).with_name("cluster_peers.py"))
    return answer_of(what, [python, "-W", "ignore", script, what, str(folder), str(few)])


def answer_of(what: str, command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def excess(folder: Path, name: str, ours_: dict[str, Any], peer: dict[str, Any]) -> float:
    """How far the loss of a peer is above ours, as a share of ours."""
    import polars as pl

    total = {"ours": 0.0, "peer": 0.0}
    for path in sorted(folder.glob("*.parquet")):
        table = pl.read_parquet(path)
        X = table.select([f"x{j}" for j in range(P)]).to_numpy()
        y = table["y" if name == "squares" else "c"].to_numpy()
        for who, model in (("ours", ours_), ("peer", peer)):
            v = X @ np.array(model["coef"]) + model["b"]
            loss = (y - v) ** 2 if name == "squares" else np.logaddexp(0.0, (1.0 - 2.0 * y) * v)
            total[who] += float(loss.sum())
    if name == "logistic":
        for who, model in (("ours", ours_), ("peer", peer)):
            total[who] += 0.5 * float(np.square(model["coef"]).sum())
    return total["peer"] / total["ours"] - 1.0


def fits(name: str, words: str, n: int, folder: Path, few: Path, options: Any) -> None:
    """One kind of fit: our cluster beside one process, and beside the peers."""
    alone = in_a_process(f"{name} one process", folder, few)
    two = in_a_process(f"{name} cluster", folder, few, options.memory)
    work = f"{words}, {n:,} x {P}, 2 workers"
    # The target is at most 1.3 times the CPU of one process.
    row(work, "one process", two["cpu"], alone["cpu"], 1 / 1.3)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    note(
        f"same bits: {alone['answer'] == two['answer']}; wall {alone['wall']:.1f} s alone, "
        f"{two['wall']:.1f} s with two workers of at most {two['worker']:.0f} MB; "
        f"{size / 1e6 / two['cpu']:.0f} MB of files a CPU second."
    )
    for peer, package in (("dask-ml", "dask_ml"), ("Spark MLlib", "pyspark")):
        asked = [options.peers, "-c", f"import {package}"]
        if subprocess.run(asked, capture_output=True, check=False).returncode:
            missing(peer)
            continue
        found = of_a_peer(options.peers, f"{name} {peer}", folder, few)
        row(work, peer, two["cpu"], found["cpu"], 10.0)
        apart = excess(folder, name, two["answer"], found["answer"])
        note(f"its loss is {apart:.1e} of ours above ours; wall {found['wall']:.1f} s.")


def compare(place: Path, n: int, count: int, options: Any) -> None:
    folder, few = folder_of(place / f"rows{n}", n), folder_of(place / "few", FILES * 4 * 500)
    head()
    for name, words in (("squares", "least squares"), ("logistic", "logistic, gap 1e-8")):
        if not options.only or name in options.only:
            fits(name, words, n, folder, few, options)
    if not options.only or "sums" in options.only:
        for p in (100, 500, 2000):
            found = in_a_process(f"sums {p}", folder, few)["answer"]
            note(
                f"sums of {p} columns: {found['bytes'] / 1e6:.2f} MB, merged in "
                f"{found['merge'] * 1e3:.1f} ms."
            )
    if not options.only or "empty" in options.only:
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
    parser.add_argument("--only", nargs="*", default=[], help="squares, logistic, sums, empty")
    parser.add_argument("--peers", default=sys.executable, help="an interpreter that has peers")
    parser.add_argument("--memory", type=int, default=0, help="limit of a worker in MiB")
    parser.add_argument("--job", nargs=3, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job is not None:
        print(json.dumps(job(*options.job, options.memory)))
        return
    n, count = (200_000, BLOCKS // 10) if options.quick else (4_000_000, BLOCKS)
    with tempfile.TemporaryDirectory() as place:
        compare(options.folder or Path(place), options.rows or n, count, options)


if __name__ == "__main__":
    main()
