"""Real tables, used as a newcomer would: fit, predict and evaluate, beside scikit-learn's pipeline.

    python campaigns/real_tables.py FOLDER [--most 200] [--seed 0] [--log FILE]

Each CSV file of the folder is cut in two at random. The command learns from one part and is
measured on the other; so is the pipeline that a data scientist would write (impute, one-hot,
scale, ridge or logistic regression). What a user must not meet is printed, and counted:

    defect         the command ended with a traceback
    refused        a file that the pipeline takes
    row number     a column that counts rows was learned from
    worse          clearly less accurate than the pipeline, on the same rows
    contradiction  `fit` and `separable` do not agree about the same rows
    not converged  learning with the default settings did not end
    warned         a warning of NumPy or another library reached the user
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adaline.cli import run_command

ROWS, COLUMNS = 2000, 60  # of a table, at most
CLASSES = 10  # different values that make a target a class
CLEARLY = 0.05  # of accuracy or R² that ours may be below the pipeline's


@dataclass(frozen=True)
class Finding:
    """Something that a user should not have met."""

    what: str
    table: str
    target: str
    words: str

    def __str__(self) -> str:
        return f"{self.what:14} {self.table} --target {self.target!r}: {self.words}"


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


def run(*tokens: object) -> Answer:
    """The command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    given = [str(token) for token in tokens]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command(given)
    return Answer(code, out.getvalue(), err.getvalue())


def read(path: Path, seed: int) -> pd.DataFrame | None:
    """The table as text, every field as it is in the file; None for what is no table."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=20 * ROWS)
    except (ValueError, UnicodeDecodeError):
        return None
    named = [str(n) for n in table.columns]
    named = ["" if n.startswith("Unnamed: 0") else n for n in named]  # as it is in the file
    table.columns = pd.Index(named)
    if len(table) < 20 or not 2 <= table.shape[1] <= COLUMNS or len(set(named)) < len(named):
        return None
    if len(table) > ROWS:
        places = np.random.default_rng(seed).choice(len(table), ROWS, replace=False)
        table = table.iloc[np.sort(places)]
    return table


def targets(table: pd.DataFrame) -> list[str]:
    """The last column, and the last one with few values, as people learn them."""
    found = []
    names = [n for n in table.columns if not is_row_number(n, table)]
    few = [n for n in names if 2 <= table[n].nunique() <= CLASSES]
    for name in [*names[-1:], *few[-1:]]:
        if name not in found and (table[name] != "").sum() >= 20 and table[name].nunique() > 1:
            found.append(name)
    return found


def is_row_number(name: str, table: pd.DataFrame) -> bool:
    """Whether a column counts the rows, or is one of R's or pandas' numbers of rows."""
    values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        return False
    if name.lower() in ("", "rownames", "unnamed: 0"):
        return len(np.unique(values)) == len(values)
    return bool(np.all(np.diff(values) == 1) and values[0] in (0, 1))


def parts(table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three quarters to learn from, and a quarter to measure with."""
    drawn = np.random.default_rng(seed).random(len(table)) < 0.75
    return table[drawn], table[~drawn]


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """What pandas makes of the same text."""
    text = io.StringIO()
    table.to_csv(text, index=False, quoting=csv.QUOTE_MINIMAL)
    text.seek(0)
    found = pd.read_csv(text, low_memory=False)
    found.columns = table.columns
    return found


def pipeline_quality(
    learned: pd.DataFrame, rest: pd.DataFrame, target: str, classes: bool
) -> float | None:
    """Accuracy or R² of scikit-learn's usual pipeline; None where it cannot."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    both = typed(pd.concat([learned, rest]))
    a, b = both.iloc[: len(learned)], both.iloc[len(learned) :]
    a, b = a[a[target].notna()], b[b[target].notna()]
    names = [
        n
        for n in learned.columns
        if n != target and not is_row_number(n, pd.concat([learned, rest]).sort_index())
    ]
    numbers = [n for n in names if pd.api.types.is_numeric_dtype(both[n].dtype)]
    numbers = [n for n in numbers if a[n].notna().any()]
    words = [n for n in names if n not in numbers and a[n].notna().any()]
    if not numbers and not words:
        return None
    number = make_pipeline(SimpleImputer(), StandardScaler())
    word = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    made = ColumnTransformer([("number", number, numbers), ("word", word, words)])
    end = LogisticRegression(max_iter=1000) if classes else RidgeCV(np.logspace(-3, 3, 13))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_pipeline(made, end).fit(a.astype({n: str for n in words}), a[target])
            return float(model.score(b.astype({n: str for n in words}), b[target]))
    except (ValueError, TypeError):
        return None


def our_quality(facts: dict[str, Any]) -> float | None:
    quality = facts["quality"]
    return quality.get("accuracy", quality.get("r2"))


def tried(path: Path, table: pd.DataFrame, target: str, folder: Path) -> Iterator[Finding]:
    """Everything that a newcomer would do with a table, and what went wrong."""
    seed = zlib.crc32(f"{path.name} {target}".encode())
    learned, rest = parts(table, seed)
    files = folder / "learn.csv", folder / "rest.csv", folder / "m.adaline"
    learned.to_csv(files[0], index=False)
    rest.to_csv(files[1], index=False)

    def finding(what: str, words: str) -> Finding:
        return Finding(what, path.name, target, " ".join(words.split())[:300])

    fit = run("fit", files[0], "--target", target, "--json", "--out", files[2])
    classes = typed(table)[target]
    is_class = classes.nunique() <= CLASSES or not pd.api.types.is_numeric_dtype(classes.dtype)
    if fit.code:
        peer = pipeline_quality(learned, rest, target, is_class)
        if fit.code == 4 or peer is not None:
            yield finding("defect" if fit.code == 4 else "refused", fit.err)
        return
    facts = fit.json
    yield from _judged(facts, learned, table, finding)
    for tokens in (
        ("predict", files[2], files[1], "--out", folder / "p.csv"),
        ("evaluate", files[2], files[1], "--json"),
    ):
        answer = run(*tokens)
        if answer.code:
            yield finding("defect" if answer.code == 4 else "refused", f"{tokens[0]}: {answer.err}")
    if answer.code:
        return
    ours = our_quality(answer.json)
    is_class = "accuracy" in answer.json["quality"]
    peer = pipeline_quality(learned, rest, target, is_class)
    n = answer.json["quality"]["rows"]
    if ours is not None and peer is not None:
        spread = 2 * np.sqrt(max(peer * (1 - peer), 0.0) / n) if is_class else 0.1
        if max(ours, 0.0) < max(peer, 0.0) - CLEARLY - spread:
            yield finding("worse", f"{ours:.3f} against {peer:.3f} on {n} rows")
    if is_class and len(learned) <= 500 and table[target].nunique() <= CLASSES:
        yield from _proven(files[0], target, facts, finding)


def _judged(
    facts: dict[str, Any], learned: pd.DataFrame, table: pd.DataFrame, finding: Any
) -> Iterator[Finding]:
    used = {str(row["name"]) for row in facts["coefficients"]}
    for name in learned.columns:
        said = any(repr(name) in text for text in facts["warnings"])
        if is_row_number(name, learned) and name in used and not said:
            yield finding("row number", f"{name!r} has a weight")
    if facts["converged"] is False:
        yield finding("not converged", str(facts["stopped"]))
    foreign = ("encountered in", "RuntimeWarning", "invalid value", "lbfgs", "overflow")
    for text in facts["warnings"]:
        if any(word in text for word in foreign):
            yield finding("warned", text)


def _proven(path: Path, target: str, facts: dict[str, Any], finding: Any) -> Iterator[Finding]:
    """`fit` and `separable` about the same rows."""
    answer = run("separable", path, "--target", target, "--json")
    if answer.code not in (0, 1):
        yield finding("defect" if answer.code == 4 else "refused", f"separable: {answer.err}")
        return
    said, found = facts["separability"], answer.json
    same_rows = facts["data"]["rows_learned_from"] == found["rows"]
    verdicts = {said["verdict"] if said and same_rows else "undecided", found["verdict"]}
    if len(verdicts - {"undecided"}) > 1:
        yield finding("contradiction", f"fit: {said['verdict']}, not {found['verdict']}")
    if len(found["labels"]) > 2 and "hyperplane" in found["sentence"].split(":")[0]:
        yield finding("contradiction", found["sentence"])


def campaign(paths: list[Path], seed: int, log: Any) -> Counter[str]:
    """All tables; the counts of what was found."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            table = read(path, seed)
            if table is None:
                counts["skipped"] += 1
                continue
            counts["tables"] += 1
            for target in targets(table):
                counts["fits"] += 1
                start = time.perf_counter()
                for found in tried(path, table, target, Path(folder)):
                    counts[found.what] += 1
                    print(found, file=log, flush=True)
                if (seconds := time.perf_counter() - start) > 20:
                    counts["slow"] += 1
                    print(f"slow           {path.name} {target!r}: {seconds:.0f} s", file=log)
    return counts


def main() -> None:
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("folder", type=Path)
    asked.add_argument("--most", type=int, default=10**9)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--log", type=argparse.FileType("w"), default=sys.stdout)
    given = asked.parse_args()
    paths = sorted(given.folder.rglob("*.csv"))
    if len(paths) > given.most:
        order = np.random.default_rng(given.seed).permutation(len(paths))[: given.most]
        paths = [paths[i] for i in np.sort(order)]
    print(dict(campaign(paths, given.seed, given.log)))


if __name__ == "__main__":
    main()
