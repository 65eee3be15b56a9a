"""Whatever a table holds, even a damaged one, a command ends with an answer or with one sentence.

The long campaigns are `make fuzz` and `make tables FOLDER=...`.
"""

from __future__ import annotations

import csv
import io
import os
import random
import re
import warnings
from pathlib import Path

import pytest

import damaged_files

KINDS = {
    "numbers": lambda r: f"{r.gauss(0, 1):.3f}",
    "of any size": lambda r: repr(r.gauss(0, 1) * 10 ** r.choice([0, 3, -3, 150, -150, 300])),
    "whole": lambda r: str(r.randint(0, r.choice([1, 2, 9, 1000]))),
    "constant": lambda r: "1",
    "text": lambda r: r.choice(["a", "b", "\x1b[31m", "[red]", "", "NA", "é", "x,y", 'q"q', "1e5"]),
    "two": lambda r: r.choice(["yes", "no"]),
    "gaps": lambda r: r.choice(["", "1", "2.5", "-3"]),
    "odd": lambda r: r.choice(["nan", "inf", "1", "-0.0", "1e400", "5e-324"]),
}
NAMES = ["a", "intercept", "name", "coef", "prediction", "x0", "x1", "p(yes)", "é", "[b]z", "t\x1b"]
MODELS = [None, None, "least-squares", "logistic", "gaussian", "perceptron", "widrow-hoff"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(8))
def test_any_table_ends_in_an_answer_or_a_sentence(command, tmp_path, seed):
    r = random.Random(seed)
    kinds = [r.choice(list(KINDS.values())) for _ in range(r.randint(2, 6))]
    names = [f"{r.choice(NAMES)}{j}" for j in range(len(kinds))]
    with open(tmp_path / "d.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names)
        rows = r.choice([1, 3, 20, 60, 120])
        table.writerows([[kind(r) for kind in kinds] for _ in range(rows)])
    target, model = r.choice(names), r.choice(MODELS)
    missing = ["--missing", r.choice(["refuse", "drop", "mean"])]
    asked = ["--model", model] if model else []
    for tokens in (
        ["fit", "d.csv", "-t", target, "-o", "m.adaline", *asked, *missing],
        ["predict", "m.adaline", "d.csv"],
        ["evaluate", "m.adaline", "d.csv"],
        ["separable", "d.csv", "-t", target, "--proof", "p.json", *missing],
        ["check-proof", "p.json", "d.csv"],
        ["path", "d.csv", "-t", target, *missing],
        ["trace", "d.csv", "-t", target, "--passes", "3", *missing],
    ):
        found = command(*tokens, "--json")
        assert found.code in (0, 1, 2, 3), (tokens, found.err)
        assert all(c.isprintable() or c == "\n" for c in found.err)
        if found.code in (0, 1):
            assert found.json["command"] == tokens[0]
        else:
            assert len(found.err.splitlines()) == 1


def test_damaged_files_end_in_a_sentence(tmp_path, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert damaged_files.campaign(tmp_path, rng, each=6) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize(
    ("end", "tokens"),
    [(end, "fit PIPE -t y") for end in ("csv", "csv.gz", "json", "xlsx", "parquet", "npy", "svm")]
    + [("wav", "filter PIPE -r PIPE -o o.wav"), ("adaline", "info PIPE")]
    + [("json", "check-proof PIPE o.csv")],
)
def test_a_named_pipe_is_refused_at_once(command, tmp_path, end, tokens):
    os.mkfifo(tmp_path / f"t.{end}")
    found = command(*tokens.replace("PIPE", f"t.{end}").split())
    assert found.code == 3
    assert re.search(r"pipe it as stdin|to a file first", found.err)


def test_a_checkpoint_that_is_a_directory_is_told(command, pumps, tmp_path):
    (tmp_path / "saved" / "fit.checkpoint").mkdir(parents=True)
    found = command("fit", pumps, "-t", "failed", "--checkpoint", "saved")
    assert found.code == 3
    assert "is a directory" in found.err


BAD = {"defect", "refused", "row number", "contradiction", "not converged", "warned"}


@pytest.mark.parametrize("part", range(4))
def test_real_tables_are_learned_measured_and_predicted(part):
    pytest.importorskip("pandas")
    folder = Path(pytest.importorskip("statsmodels").__file__).parent
    real_tables = pytest.importorskip("real_tables")
    paths, log = sorted(folder.glob("datasets/*/*.csv")), io.StringIO()
    assert len(paths) > 20
    counts = real_tables.campaign(paths[part::4], 0, log)
    assert counts["fits"] > 3
    assert not BAD & set(counts), log.getvalue()
