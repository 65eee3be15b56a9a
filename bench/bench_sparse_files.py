"""Logistic regression on folders of sparse text files beside Vowpal Wabbit, at equal held-out loss.

    python bench/bench_sparse_files.py [--rows 200000] [--words 100000] [--folder DIR] [--quick]

Two sets of documents. Generated: words by Zipf's law, about 80 different ones a document as counts,
labels that one word in ten tells something about. Real: five lines each of the Python sources of
numpy and scipy (one class) and of scikit-learn (the other), as counts of hashed words and pairs.
The same rows are written as LIBSVM and as Vowpal Wabbit's text, every fifth row held out.

Every fit runs in a process of its own, and tells its CPU seconds after its imports, reading of
text included; ours and the peer's take turns, and medians are compared. The loss of the held-out
rows is measured afterwards. Vowpal Wabbit (adaptive steps, its default) gets a grid of passes over
its cache and of penalties; we get one pass on-line, ten passes, and a grid of tolerances, with one
penalty. A row compares the cheapest fits of both whose held-out loss is at most that of Vowpal
Wabbit's best, and then of its first pass. A tolerance of 10 proves nothing of use: such a fit only
stops early. Real text has so small a penalty that a proof takes hundreds of passes, which are left
out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bench import head, missing, note, row
from scipy import sparse

FILES = 4
BITS = 18  # of Vowpal Wabbit's table of weights
ROUGH = ["online", "1e1", "m1"]
PROVEN = ["1e-1", "1e-4", "1e-8"]
PASSES = ["1", "3", "10"]
PENALTIES = ["0", "1e-7"]  # of Vowpal Wabbit; alpha / rows makes it diverge


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


def sources(words: int) -> tuple[Any, Any]:
    """Real text: which library five lines of Python come from; (n, words) counts, and -1 or +1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    texts: list[str] = []
    labels: list[int] = []
    for package, label in (("numpy", 1), ("scipy", 1), ("sklearn", -1)):
        found = importlib.util.find_spec(package)
        for path in sorted(Path(str(found and found.origin)).parent.rglob("*.py")):
            lines = path.read_text(errors="replace").split("\n")
            parts = ["\n".join(lines[i : i + 5]) for i in range(0, len(lines), 5)]
            texts += [part for part in parts if len(part.split()) >= 8]
            labels += [label] * (len(texts) - len(labels))
    options: dict[str, Any] = {"alternate_sign": False, "norm": None, "ngram_range": (1, 2)}
    X = HashingVectorizer(n_features=words, **options).transform(texts)
    order = np.random.default_rng(0).permutation(len(texts))
    X = sparse.csr_matrix(X)[order]
    X.sort_indices()
    return X, np.array(labels)[order]


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
    who, setting, p, alpha = what.split(",")
    if who == "ours":
        return ours(setting, int(p), float(alpha), folder, out)
    from vowpalwabbit import Workspace

    before = time.process_time()
    passes, l2 = setting.split("/")
    cache = out.with_suffix(".cache")
    options = f"--loss_function logistic -b {BITS} --passes {passes} --l2 {l2}"
    files = f"-d {folder / 'rows.vw'} --cache_file {cache} -k"
    machine = Workspace(f"{options} --holdout_off --quiet {files}")
    spent = time.process_time() - before
    constant = 11650396 % 2**BITS  # where Vowpal Wabbit keeps its bias
    w = [machine.get_weight(j) for j in range(1, int(p) + 1)]
    np.save(out, np.array([*w, machine.get_weight(constant)]))
    machine.finish()
    return {"cpu": spent, "said": f"{passes} passes", "proof": ""}


def ours(setting: str, p: int, alpha: float, folder: Path, out: Path) -> dict[str, Any]:
    """A fit of ours: "online" is one pass, "m1" max_iter=1, ten passes, and else a tolerance."""
    from adaline import LogisticRegression
    from adaline.data import fit

    before = time.process_time()
    options: dict[str, Any] = {"online": True} if setting == "online" else {}
    given = {"max_iter": 1} if setting == "m1" else {}
    given |= {"tol": float(setting)} if setting not in ("m1", "online") else {}
    model = fit(LogisticRegression(alpha=alpha, **given), str(folder / "*.svm"), **options)
    spent = time.process_time() - before
    w = np.append(model.coef_, np.zeros(p - model.n_features_in_))
    np.save(out, np.append(w, model.intercept_))
    return {"cpu": spent, "said": model.fit_.stopped, "proof": model.certificate_.statement}


def measured(what: str, folder: Path, held: tuple[Any, Any]) -> dict[str, Any]:
    """A fit in a process of its own, and its held-out loss."""
    out = folder / "weights.npy"
    command = [sys.executable, __file__, "--job", what, "--folder", str(folder), "--out", str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    X, y = held
    theta = np.load(out)
    found["loss"] = float(np.logaddexp(0.0, -y * (X @ theta[:-1] + theta[-1])).mean())
    return found


def medians(jobs: list[str], folder: Path, held: tuple[Any, Any], repeats: int) -> dict[str, Any]:
    """Every job, in turns."""
    runs = [{what: measured(what, folder, held) for what in jobs} for _ in range(repeats)]
    found: dict[str, Any] = {}
    for what in jobs:
        found[what] = runs[0][what] | {"cpu": statistics.median(run[what]["cpu"] for run in runs)}
        cpu, loss, said = (found[what][key] for key in ("cpu", "loss", "said"))
        note(f"{what:<28} {cpu:7.2f} CPU s, held-out loss {loss:.5f}, {said}")
    return found


def compared(
    name: str, X: Any, y: Any, alpha: float, settings: list[str], folder: Path, repeats: int
) -> None:
    """Both on these rows, at equal held-out loss."""
    n, p = X.shape
    held = np.arange(n) % 5 == 0
    folder = written(folder / f"{name}_{n}_{p}", X[~held], y[~held])
    size = sum(path.stat().st_size for path in folder.glob("*.svm")) / 2**20
    each = X.nnz / n
    note(f"{name}: {(~held).sum()} rows, {p} columns, {each:.0f} entries a row, {size:.0f} MB")
    test = X[held], y[held]
    there = importlib.util.find_spec("vowpalwabbit") is not None
    own = [f"ours,{setting},{p},{alpha}" for setting in settings]
    rival = [f"vw,{k}/{l2},{p},0" for k in PASSES for l2 in PENALTIES] if there else []
    measured(own[0], folder, test), measured(own[1], folder, test)  # loads the kernels
    found = medians(own + rival, folder, test, repeats)
    note(found[own[-1]]["proof"])
    if not there:
        missing("vowpalwabbit")
        return
    best = min((found[what] for what in rival), key=lambda one: one["loss"])
    for title, peer in ((f"{name} text {n * 4 // 5} x {p}", best), ("...", found[rival[0]])):
        good = [found[what]["cpu"] for what in own if found[what]["loss"] <= peer["loss"]]
        of = "best" if peer is best else "first pass"
        if good:
            row(f"{title}, VW's {of}, {peer['loss']:.4f}", "VW", min(good), peer["cpu"], 1.0)
        else:
            note(f"MISSED: no fit of ours has a held-out loss of {peer['loss']:.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
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
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        compared("generated", *documents(n, p), 10.0, ROUGH + PROVEN, folder, given.repeats)
        compared("source", *sources(2**17), 1.0, ROUGH, folder, given.repeats)


if __name__ == "__main__":
    main()
