"""Whatever a table holds, a command ends with an answer or with one sentence."""

from __future__ import annotations

import csv
import random

import pytest

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
@pytest.mark.parametrize("seed", range(16))
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
