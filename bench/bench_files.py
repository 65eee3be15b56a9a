"""Files: what a fit costs beside reading alone, scikit-learn's load and fit, and Vowpal Wabbit.

    python bench/bench_files.py [--quick] [--folder DIR] [--only NAME ...]

Every piece of work runs in a process of its own, which tells its CPU seconds (all threads, after
imports and a small warm-up) and its peak memory. Files are generated once, in a temporary folder
(about 20 GB; --quick makes them a tenth).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bench import head, note, row

GAP = 1e-8
LIMIT = 2**30  # bytes of address space for a file eight times as large


# Files ------------------------------------------------------------------------------------------


def rows(n: int, p: int, seed: int) -> dict[str, np.ndarray]:
    """Columns correlated 0.9 with their neighbours, a target y, and a class c of the model."""
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(99).standard_normal(p) / np.sqrt(p)
    X = rng.standard_normal((p, n))
    for j in range(1, p):
        X[j] = 0.9 * X[j - 1] + np.sqrt(1 - 0.81) * X[j]
    v = w @ X
    y, c = v + rng.standard_normal(n), rng.random(n) < 1 / (1 + np.exp(-2 * v))
    return {**{f"x{j}": X[j] for j in range(p)}, "y": y, "c": c.astype(float)}


def parquet(path: Path, n: int, p: int, target: str, group: int = 131072) -> Path:
    """Row groups of so many rows, packed as polars does by default."""
    if not path.exists():
        import pyarrow as pa
        from pyarrow import parquet as files

        names = [*(f"x{j}" for j in range(p)), target]
        schema = pa.schema([(name, pa.float64()) for name in names])
        with files.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as out:
            for k, start in enumerate(range(0, n, group)):
                columns = rows(min(group, n - start), p, k)
                out.write_table(pa.table({name: columns[name] for name in names}))
    return path


def csv(path: Path, n: int, p: int, target: str, digits: int | None = None) -> Path:
    if not path.exists():
        import polars as pl

        names = [*(f"x{j}" for j in range(p)), target]
        with path.open("wb") as out:
            for k, start in enumerate(range(0, n, 131072)):
                columns = rows(min(131072, n - start), p, k)
                table = pl.DataFrame({name: columns[name] for name in names})
                table.write_csv(out, include_header=k == 0, float_precision=digits)
    return path


def vw(path: Path, source: Path) -> Path:
    """The rows of a CSV file as Vowpal Wabbit's text."""
    if not path.exists():
        with source.open() as lines, path.open("w") as out:
            names = next(lines).rstrip().split(",")[:-1]
            for line in lines:
                *x, c = line.rstrip().split(",")
                pairs = " ".join(f"{n}:{v}" for n, v in zip(names, x, strict=True))
                out.write(f"{1 if float(c) > 0 else -1} | {pairs}\n")
    return path


# Work, each in a process of its own --------------------------------------------------------------


def read_parquet(path: str) -> Any:
    import polars as pl

    return lambda: sum(len(part) for part in pl.scan_parquet(path).collect_batches())


def read_csv(path: str) -> Any:
    import polars as pl

    return lambda: sum(len(part) for part in pl.scan_csv(path).collect_batches())


def ours(name: str, target: str, path: str, **options: Any) -> Any:
    """A fit of ours, its kernels loaded beforehand: fewer rows are summed by numpy."""
    import polars as pl

    import adaline
    from adaline.data import blocks, fit

    columns = rows(100_000, 3, 0)
    few = pl.DataFrame({key: columns[key] for key in ("x0", "x1", "x2", target)})
    known = {} if target == "y" else {"classes": [0, 1]}
    blocks(path)  # loads pyarrow, as reading alone has loaded polars
    fit(getattr(adaline, name)(), blocks(few, rows=50_000), target, **known | options)

    def work() -> Any:
        model = fit(getattr(adaline, name)(), path, target, **known | options)
        return {
            "coef": np.ravel(model.coef_).tolist(),
            "bias": float(np.ravel(model.intercept_)[0]),
        }

    return work


def limited(path: str, limit: int) -> Any:
    """Ridge within so much address space, libraries included."""
    work = ours("Ridge", "y", path)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return work


def sklearn(name: str, target: str, path: str, options: dict[str, Any]) -> Any:
    """Load with polars, which is faster than pandas, then fit."""
    import polars as pl
    from sklearn import linear_model

    def work() -> Any:
        table = pl.read_parquet(path)
        X, y = table.drop(target).to_numpy(), table[target].to_numpy()
        model = getattr(linear_model, name)(**options).fit(X, y)
        return {
            "coef": np.ravel(model.coef_).tolist(),
            "bias": float(np.ravel(model.intercept_)[0]),
        }

    return work


def wabbit(path: str, p: int) -> Any:
    from vowpalwabbit import Workspace

    def work() -> Any:
        learner = Workspace(f"-d {path} --loss_function logistic --quiet")
        coef = [learner.get_weight_from_name(f"x{j}") for j in range(p)]
        return {"coef": coef, "bias": learner.get_weight_from_name("Constant")}

    return work


WORK = {
    "read_parquet": read_parquet,
    "read_csv": read_csv,
    "ours": ours,
    "limited": limited,
    "sklearn": sklearn,
    "wabbit": wabbit,
}


def child(job: dict[str, Any]) -> None:
    work = WORK[job["work"]](*job["args"], **job["options"])
    start = time.process_time()
    answer = work()
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": cpu, "peak": peak, "answer": answer}))


def measured(work: str, *args: Any, **options: Any) -> dict[str, Any]:
    """CPU seconds, peak megabytes and the answer of one piece of work."""
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if work == "limited":
        quiet |= {
            "MALLOC_ARENA_MAX": "1",
            "POLARS_MAX_THREADS": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }
    job = json.dumps({"work": work, "args": args, "options": options})
    command = [sys.executable, __file__, "--child", job]
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{work} {args} failed:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def in_turns(repeats: int, *works: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The run of least CPU of each, taken in turns."""
    runs = [[measured(*work[:-1], **work[-1]) for work in works] for _ in range(repeats)]
    return [min(found, key=lambda run: run["cpu"]) for found in zip(*runs, strict=True)]


# Claims -------------------------------------------------------------------------------------------


def beside_reading(folder: Path, n: int, repeats: int) -> None:
    """Ridge at most 1.5 times the CPU of reading with polars alone; below 600 MB."""
    for kind, make in (("parquet", parquet), ("csv", csv)):
        path = str(make(folder / f"n20.{kind}", n, 20, "y"))
        work = ("ours", "Ridge", "y", path, {})
        fit, read = in_turns(repeats, work, (f"read_{kind}", path, {}))
        row(f"ridge, {n:.0e}x20 {kind}", "reading", fit["cpu"], read["cpu"], 1 / 1.5)
        note(f"peak {fit['peak']:.0f} MB (target < 600), reading alone {read['peak']:.0f} MB")


def one_pass_stream(folder: Path, n: int) -> None:
    """A learner of rows in order: below 500 MB."""
    path = str(parquet(folder / "n20.parquet", n, 20, "y"))
    found = measured("ours", "WidrowHoff", "y", path)
    note(
        f"WidrowHoff over {n:.0e}x20 parquet: {found['cpu']:.1f} s, peak {found['peak']:.0f} MB "
        "(target < 500)"
    )


def beside_sklearn(folder: Path, n: int, repeats: int) -> None:
    """Least squares 4 times, logistic regression 2 times less CPU than load and fit."""
    path = str(parquet(folder / "n50y.parquet", n, 50, "y"))
    work = ("ours", "LeastSquares", "y", path, {})
    fit, peer = in_turns(repeats, work, ("sklearn", "LinearRegression", "y", path, {"options": {}}))
    row(f"least squares, {n:.0e}x50 parquet", "scikit-learn", fit["cpu"], peer["cpu"], 4.0)
    apart = np.max(np.abs(np.subtract(fit["answer"]["coef"], peer["answer"]["coef"])))
    note(
        f"weights apart {apart:.1e}; peak {fit['peak']:.0f} MB, scikit-learn {peer['peak']:.0f} MB"
    )
    path = str(parquet(folder / "n50c.parquet", n, 50, "c"))
    work = ("ours", "LogisticRegression", "c", path, {})
    peers = {
        "lbfgs": {"tol": 1e-6, "max_iter": 1000},
        "newton-cholesky": {"solver": "newton-cholesky", "tol": 1e-6},
    }
    for name, options in peers.items():
        works = work, ("sklearn", "LogisticRegression", "c", path, {"options": options})
        fit, peer = in_turns(repeats, *works)
        row(f"logistic, {n:.0e}x50 parquet", name, fit["cpu"], peer["cpu"], 2.0)
        gap = loss_of(path, fit["answer"]) / loss_of(path, peer["answer"]) - 1
        note(
            f"our loss above {name}'s: {gap:.1e} of it (target <= {GAP:.0e}); peak "
            f"{fit['peak']:.0f} MB, scikit-learn {peer['peak']:.0f} MB"
        )


def loss_of(path: str, answer: dict[str, Any], alpha: float = 1.0) -> float:
    """The penalised logistic loss of all rows."""
    from adaline.data import blocks

    w, total = np.array(answer["coef"]), 0.0
    for block in blocks(path):
        *x, c = (column.values for column in block.columns)
        t = 2.0 * c - 1.0
        v = answer["bias"] + sum(a * column for a, column in zip(w, x, strict=True))
        total += float(np.logaddexp(0.0, -t * v).sum())
    return total + 0.5 * alpha * float(w @ w)


def larger_than_memory(folder: Path, n: int) -> None:
    """A file eight times the address space that the process may have."""
    path = parquet(folder / "large.parquet", n, 50, "y", group=32768)
    size = path.stat().st_size
    found = measured("limited", str(path), LIMIT)
    note(
        f"ridge over {size / 2**30:.2f} GiB within RLIMIT_AS = {LIMIT / 2**30:.2f} GiB "
        f"({size / LIMIT:.1f} times): {found['cpu']:.1f} s, peak {found['peak']:.0f} MB resident"
    )


def beside_wabbit(folder: Path, n: int, repeats: int) -> None:
    """The same logistic job from text: less CPU at no worse loss on rows not seen."""
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        note("vowpalwabbit is missing: pip install vowpalwabbit brings it.")
        return
    text = csv(folder / "text.csv", n, 20, "c", digits=5)
    theirs = str(vw(folder / "text.vw", text))
    online = ("ours", "LogisticRegression", "c", str(text), {"online": True})
    newton = ("ours", "LogisticRegression", "c", str(text), {})
    fit, exact, peer = in_turns(repeats, online, newton, ("wabbit", theirs, 20, {}))
    row(f"logistic on-line, {n:.0e}x20 text", "VW", fit["cpu"], peer["cpu"], 1.0)
    note(f"by Newton, with a proof: {exact['cpu']:.1f} s, {peer['cpu'] / exact['cpu']:.1f}x")
    new = rows(200_000, 20, 10**6)
    X, t = np.column_stack([new[f"x{j}"] for j in range(20)]), 2.0 * new["c"] - 1.0
    losses = [
        float(np.logaddexp(0.0, -t * (X @ run["answer"]["coef"] + run["answer"]["bias"])).mean())
        for run in (fit, exact, peer)
    ]
    note("loss on 200,000 new rows: on-line {:.6f}, Newton {:.6f}, VW {:.6f}".format(*losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the files are, or will be kept")
    parser.add_argument("--only", nargs="*", help="read, stream, sklearn, memory, vw")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
        return
    share = 10 if options.quick else 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        only = options.only or ["read", "stream", "sklearn", "memory", "vw"]
        head()
        if "read" in only:
            beside_reading(folder, 10**7 // share, options.repeats)
        if "stream" in only:
            one_pass_stream(folder, 10**7 // share)
        if "sklearn" in only:
            beside_sklearn(folder, 4 * 10**6 // share, options.repeats)
        if "memory" in only:
            larger_than_memory(folder, 24 * 10**6 // share)
        if "vw" in only:
            beside_wabbit(folder, 2 * 10**6 // share, options.repeats)


if __name__ == "__main__":
    main()
