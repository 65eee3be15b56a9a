"""Tables as people have them, through the command: nothing is used or dropped in silence."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.datasets import load_iris

N = 120
RNG = np.random.default_rng(5)
SHARE = RNG.uniform(5, 95, N).round(1)
SIZE = RNG.normal(size=N).round(3)


def written(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    columns = {"": range(1, 151)}
    columns |= {f"x {k}": data.data[:, k] for k in range(4)}
    columns["Species"] = [data.target_names[t] for t in data.target]
    return written(tmp_path / "iris.csv", columns)


def test_row_numbers_are_ignored_and_used_if_asked(command, iris):
    shown = command("look", iris, "-t", "Species").out
    assert "use 4 of them" in shown
    assert "left out: counts the rows" in shown
    assert command("look", iris, "--target", "Specie").code == 2
    assert "Ignored: ''" in command("fit", iris, "-t", "Species").out
    # A row number would prove that any classes in order are separable.
    verdicts = [
        command("separable", iris, "-t", "Species", *more, "--json").json["verdict"]
        for more in ([], ["--use", ""])
    ]
    assert verdicts[1] == "separable" != verdicts[0]


def test_readings_are_told_and_overruled(command, tmp_path):
    price = [f"${2 * v:.2f}" for v in SHARE]
    path = written(tmp_path / "t.csv", {"share": [f"{v}%" for v in SHARE], "price": price})
    tokens = ["fit", path, "-t", "price", "-m", "least-squares", "-o", "m.adaline"]
    assert "'share' as percent; 'price' as numbers in $" in command(*tokens).out
    kept = command("predict", "m.adaline", path, "--keep", "share").out
    assert kept.splitlines()[1].startswith(f"{SHARE[0]}%,")
    text = command("fit", path, "-t", "price", "--text", "share", "--use", "share", "--json").json
    assert len(text["coefficients"]) > 50
    days = [f"{1 + k % 28:02}/{1 + k // 28:02}/2024" for k in range(N)]
    path = written(tmp_path / "t.csv", {"sold": days, "x": SIZE, "y": SHARE})
    assert "'sold' as dates, day first" in command("fit", path, "-t", "y").out
    for notation in ("mdy", "xyz"):
        assert command("fit", path, "-t", "y", "--date", f"sold={notation}").code == 3


def test_missing_values_are_counted_dropped_or_refused(command, tmp_path):
    gone = np.arange(N) % 5 == 0
    columns = {
        "a": ["?" if g else v for g, v in zip(gone, SIZE, strict=True)],
        "w": ["" if g else "xy"[k % 2] for k, g in enumerate(gone)],
        "y": ["" if k % 40 == 1 else v for k, v in enumerate(SHARE)],
    }
    path = written(tmp_path / "t.csv", columns)
    shown = command("fit", path, "-t", "y", "-v").out
    for words in ("3 rows without a target", "24 in 'a' (imputed", "24 in 'w' (treated as"):
        assert words in shown
    refused = command("fit", path, "-t", "y", "--missing", "refuse")
    assert (refused.code, "--missing drop" in refused.err) == (3, True)
    new = written(tmp_path / "new.csv", {"w": ["", "x", "z"], "a": ["1.5", "?", ""]})
    assert "skipped" in command("fit", path, "-t", "y", "--missing", "drop", "-o", "d.adaline").out
    lines = command("predict", "d.adaline", new).out.splitlines()[1:]
    assert lines == ['""'] * 3


def test_new_categories_are_counted_or_refused(command, tmp_path):
    path = written(tmp_path / "t.csv", {"code": ["007", "008", "x9"] * 40, "y": SIZE})
    assert command("fit", path, "-t", "y", "-o", "m.adaline").code == 0
    new = written(tmp_path / "new.csv", {"code": ["007", "008", "009", "7"]})
    assert "2 in 'code'" in command("predict", "m.adaline", new).err
    assert command("predict", "m.adaline", new, "--unknown", "refuse").code == 3
    truth = written(tmp_path / "truth.csv", {"code": ["007", "x9", "zz"], "y": [1.0, 2.0, 3.0]})
    assert command("evaluate", "m.adaline", truth, "--json").json["unknown"] == {"code": 1}


def test_columns_are_named_with_commas_and_wildcards(command, tmp_path):
    columns = {f"x{k}": RNG.normal(size=N).round(2) for k in range(3)} | {"z": SHARE, "y": SIZE}
    path = written(tmp_path / "t.csv", columns)

    def names(*tokens):
        found = command("fit", path, "-t", "y", "-m", "least-squares", "--json", *tokens)
        assert found.code == 0, found.err
        return [row["name"] for row in found.json["coefficients"]][1:]

    assert names("--ignore", "x0,z") == ["x1", "x2"]
    assert names("--ignore", "x*") == ["z"]
    assert names("--only", "x?", "--ignore", "x1") == ["x0", "x2"]
    assert names("--ignore", "*0", "--ignore", "*z") == ["x1", "x2"]
    assert command("fit", path, "-t", "y", "--ignore", "y").code == 2
    assert "did you mean" in command("fit", path, "-t", "y", "--only", "x9").err


def test_columns_that_a_model_does_not_use_cannot_stop_it(command, tmp_path):
    path, other = tmp_path / "t.csv", tmp_path / "o.csv"
    path.write_text("a,b\n" + "".join(f"{i % 17},{i % 17 + i % 3}\n" for i in range(60)))
    assert command("fit", path, "-t", "b", "-o", "m.adaline").code == 0
    body = "".join(f"{i % 17},{i},{i % 17 + i % 3}\n" for i in range(1100))
    other.write_text("a,note,b\n" + body + "3,oh,4\n")  # `note` is numbers in its first rows
    assert command("predict", "m.adaline", other, "-o", "p.csv").code == 0
    assert command("evaluate", "m.adaline", other).code == 0
    kinds = ["<5", "6", "7"]  # labels that may happen to be digits
    path.write_text("a,b\n" + "".join(f"{i % 17},{kinds[i % 3]}\n" for i in range(90)))
    assert command("fit", path, "-t", "b", "-o", "m.adaline").code == 0
    other.write_text("a,b\n" + "".join(f"{i % 17},{kinds[1 + i % 2]}\n" for i in range(40)))
    assert command("evaluate", "m.adaline", other).code == 0


REGIONS = ["West", " west", "West ", "east", "West", "EAST", "east", "north"] * 10
RENTS = [float(7 * k % 23) + 10 * (k % 8) for k in range(80)]


def test_totals_and_spellings_are_told_and_kept_if_asked(command, tmp_path):
    columns = {"region": REGIONS, "size": np.arange(80.0), "rent": RENTS}
    total = {"region": "Total", "size": sum(columns["size"]), "rent": sum(RENTS)}
    columns = {key: [*values, total[key]] for key, values in columns.items()}
    path = written(tmp_path / "t.csv", columns)
    fit = ("fit", path, "-t", "rent", "-o", "m.adaline")
    assert "81 training rows" in command(*fit, "--keep-total").out
    shown = command(*fit).out
    assert "80 training rows" in shown
    assert shown.count("--exact-levels") == 1
    assert "--exact-levels" not in command("fit", path, "-t", "rent", "--exact-levels").out
    told = ("look", path), ("compare", path, "-t", "rent"), ("evaluate", "m.adaline", path)
    assert all("--keep-total" in command(*tokens).out for tokens in told)
    path.write_text("a,b,c\n1,x,2\n" + path.read_text())
    assert "region" in command("look", path, "--skip-rows", "2").out
