"""Logistic regression on folders of sparse text files beside Vowpal Wabbit, at equal held-out loss.

    python bench/bench_sparse_files.py [--rows 200000] [--words 100000] [--folder DIR] [--quick]

Generated documents: words by Zipf's law, about 80 different ones a document as counts, labels that
one word in ten tells something about. The same rows are written as LIBSVM and as Vowpal Wabbit's
text, every fifth row held out. Every fit runs in a process of its own and tells its CPU seconds,
reading included; the loss of the held-out rows is measured afterwards. Vowpal Wabbit gets a grid of
passes (over its cache) and penalties, we ten passes, and a grid of tolerances, with one penalty. A
row compares the cheapest fits of both whose held-out loss is at most that of Vowpal Wabbit's best.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bench import head, missing, note, row
from scipy import sparse

ALPHA = 10.0
FILES = 4
SETTINGS = ["m1", "1e-1", "1e-4", "1e-8"]
PASSES = [1, 3, 10]


def documents(n: int, p: int, seed: int = 0) -> tuple[Any, Any]:
    """Word counts (n, p) and labels -1 or +1."""
    rng = np.random.default_rng(seed)
    length = rng.poisson(108, n) + 1  # about 80 different words
    share = np.cumsum(1.0 / (np.arange(1, p + 1) + 2.7) ** 1.05)
    words = np.searchsorted(share / share[-1], rng.random(int(length.sum()))).astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(length)])
    X = sparse.csr_matrix((np.ones(len(words)), words, ends), shape=(n, p))
    X.sum_duplicates()
    w = rng.standard_normal(p) * (rng.random(p) < 0.1)
    w[:50] *= 0.1  # the most frequent words say little
    v = X @ w
    v = (v - np.median(v)) * (3.0 / np.std(v))
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-v)), 1, -1)


def written(place: Path, X: Any, y: Any) -> Path:
    """Both kinds of text; rows that are there already stay."""
    place.mkdir(parents=True, exist_ok=True)
    if (place / "rows.vw").exists():
        return place
    with (place / "rows.vw.new").open("w") as other:
        for k in range(FILES):
            with (place / f"part.{k}.svm").open("w") as own:
                for i in range(k * len(y) // FILES, (k + 1) * len(y) // FILES):
                    at = slice(X.indptr[i], X.indptr[i + 1])
                    pairs = zip((X.indices[at] + 1).tolist(), X.data[at].tolist(), strict=True)
                    text = " ".join(f"{j}:{int(v)}" for j, v in pairs)
                    own.write(f"{y[i]} {text}\n")
                    other.write(f"{y[i]} | {text}\n")
    os.replace(place / "rows.vw.new", place / "rows.vw")
    return place


def job(what: str, folder: Path, out: Path) -> dict[str, Any]:
    """One fit, by its name and setting; its weights are saved."""
    who, setting, p = what.split(",")
    before = time.process_time()
    if who == "ours":
        from adaline import LogisticRegression
        from adaline.data import fit

        # "m1" is max_iter=1: ten passes, after which nothing is proven.
        given = {"max_iter": int(setting[1:])} if setting[0] == "m" else {"tol": float(setting)}
        model = fit(LogisticRegression(alpha=ALPHA, **given), str(folder / "*.svm"))
        spent = time.process_time() - before
        w = np.append(model.coef_, np.zeros(int(p) - model.n_features_in_))
        np.save(out, np.append(w, model.intercept_))
        return {"cpu": spent, "said": model.fit_.stopped, "proof": model.certificate_.statement}
    from vowpalwabbit import Workspace

    passes, l2 = setting.split("/")
    cache = out.with_suffix(".cache")
    options = f"--loss_function logistic -b 18 --passes {passes} --l2 {l2} --holdout_off --quiet"
    machine = Workspace(f"{options} -d {folder / 'rows.vw'} --cache_file {cache} -k")
    spent = time.process_time() - before
    constant = 11650396 % 2**18  # where Vowpal Wabbit keeps its bias
    w = [machine.get_weight(j) for j in range(1, int(p) + 1)]
    np.save(out, np.array([*w, machine.get_weight(constant)]))
    machine.finish()
    return {"cpu": spent, "said": f"{passes} passes", "proof": ""}


def measured(what: str, folder: Path, held: tuple[Any, Any]) -> dict[str, Any]:
    """A fit in a process of its own, and its held-out loss."""
    out = folder / "weights.npy"
    command = [sys.executable, __file__, "--job", what, "--folder", str(folder), "--out", str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    X, y = held
    theta = np.load(out)
    found["loss"] = float(np.logaddexp(0.0, -y * (X @ theta[:-1] + theta[-1])).mean())
    note(
        f"{what:<24} {found['cpu']:7.1f} CPU s, held-out loss {found['loss']:.5f}, {found['said']}"
    )
    return found


def compared(n: int, p: int, folder: Path) -> None:
    X, y = documents(n, p)
    held = np.arange(n) % 5 == 0
    folder = written(folder / f"sparse_{n}_{p}", X[~held], y[~held])
    size = sum(path.stat().st_size for path in folder.glob("*.svm")) / 2**20
    words = X.nnz / n
    note(f"{(~held).sum()} rows, {p} columns, {words:.0f} entries a row, {size:.0f} MB of text")
    test = X[held], y[held]
    measured(f"ours,m1,{p}", folder, test)  # loads the kernels
    ours = [measured(f"ours,{setting},{p}", folder, test) for setting in SETTINGS]
    note(ours[-1]["proof"])
    if importlib.util.find_spec("vowpalwabbit") is None:
        missing("vowpalwabbit")
        return
    penalties = ["0", "1e-7"]  # ALPHA / rows makes it diverge
    theirs = [
        measured(f"vw,{k}/{l2},{p}", folder, test) for k in PASSES for l2 in penalties
    ]  # fmt: skip
    best = min(one["loss"] for one in theirs)
    peer = min(one["cpu"] for one in theirs if one["loss"] <= best)
    name = f"text {n * 4 // 5} x {p}, held-out loss {best:.4f}"
    good = [one["cpu"] for one in ours if one["loss"] <= best]
    if good:
        row(name, "VW", min(good), peer, 1.0)
    else:
        note(f"MISSED: no fit of ours has a held-out loss of {best:.5f}")
    once = theirs[0]
    good = [one["cpu"] for one in ours if one["loss"] <= once["loss"]]
    if good:
        row(f"... of its first pass, {once['loss']:.4f}", "VW", min(good), once["cpu"], 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--job")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(job(given.job, given.folder, given.out)))
        return
    head()
    n, p = (20_000, 20_000) if given.quick else (given.rows, given.words)
    if given.folder is not None:
        compared(n, p, given.folder)
        return
    with tempfile.TemporaryDirectory() as made:
        compared(n, p, Path(made))


if __name__ == "__main__":
    main()
