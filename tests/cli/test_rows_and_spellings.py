"""Options for levels and rows: --exact-levels, --keep-total, --skip-rows and --where."""

from __future__ import annotations

import pandas as pd

REGIONS = ["West", " west", "West ", "east", "West", "EAST", "east", "north"] * 10
SIZE = [float(7 * k % 23) for k in range(80)]


def frame():
    rent = [s + 10 * (k % 8) for k, s in enumerate(SIZE)]
    return pd.DataFrame({"region": REGIONS, "size": SIZE, "rent": rent})


def test_the_command_says_it_once_and_has_the_option(command, tmp_path):
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False)
    shown = command("fit", path, "-t", "rent", "-o", tmp_path / "m.adaline")
    assert shown.code == 0
    assert (shown.out + shown.err).count("--exact-levels") == 1
    told = command("fit", path, "-t", "rent", "--exact-levels")
    assert "--exact-levels" not in told.out + told.err
    predicted = command("predict", tmp_path / "m.adaline", path)
    assert "never seen" not in predicted.err
    assert command("evaluate", tmp_path / "m.adaline", path).code == 0


def test_a_total_is_left_out_by_every_command_and_said(command, tmp_path):
    path = tmp_path / "t.csv"
    sums = pd.DataFrame([{"region": "Total", "size": sum(SIZE), "rent": frame()["rent"].sum()}])
    pd.concat([frame(), sums]).to_csv(path, index=False)
    model = tmp_path / "m.adaline"
    report = tmp_path / "r.html"
    shown = command("fit", path, "-t", "rent", "-o", model, "--report", report)
    assert (shown.out + shown.err).count("--keep-total") == 1
    assert "--keep-total" in report.read_text()
    assert "80 rows" in shown.out
    for given in (("look", path), ("compare", path, "-t", "rent"), ("evaluate", model, path)):
        assert "--keep-total" in command(*given).out
    assert "81 rows" in command("fit", path, "-t", "rent", "--keep-total").out


def test_rows_are_dropped_by_a_condition(command, tmp_path):
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False)
    for given in (("fit", path, "-t", "rent"), ("compare", path, "-t", "rent"), ("look", path)):
        assert "70 rows" in command(*given, "--where", "region != north").out
    told = command("fit", path, "-t", "rent", "--ignore", "region", "--where", "region != north")
    assert "70 rows" in told.out
    assert command("fit", path, "-t", "rent", "--where", "region").code == 3
    path.write_text("a,b,c\n1,x,2\n" + path.read_text())
    assert "region" in command("look", path, "--skip-rows", "2").out
