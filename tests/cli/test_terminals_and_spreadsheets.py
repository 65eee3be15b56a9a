"""What is written for a terminal does not steer it, and what is written for a spreadsheet can be
disarmed."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest

from adaline.cli.export import escape_controls

EVIL = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\x1b]0;owned\x07", "\x9b31m", "plain", "-5", "a\tb"]


@pytest.fixture
def evil(command, tmp_path, rng):
    """A table whose text and names are hostile, and a model of it."""
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "=name", "y"])
        for i in range(90):
            x = rng.normal()
            rows.writerow([x, EVIL[i % len(EVIL)], "=yes()" if x > 0 else "\x1b[31mno"])
    found = command("fit", "t.csv", "-t", "y", "--ignore", "=name", "-o", "m.adaline")
    assert found.code == 0, found.err
    return command


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("end", ["csv", "tsv"])
def test_formulas_are_counted_and_disarmed_where_asked(evil, tmp_path, end):
    tokens = ["predict", "m.adaline", "t.csv", "--keep", "=name", "--keep", "x", "-o", f"p.{end}"]
    found = evil(*tokens)
    assert "--disarm" in found.out
    first = (tmp_path / f"p.{end}").read_text(encoding="utf-8")
    assert first.startswith("=name")  # as it came, for programs
    found = evil(*tokens, "--disarm")
    assert "--disarm" not in found.out
    separator = "," if end == "csv" else "\t"
    with open(tmp_path / f"p.{end}", newline="", encoding="utf-8") as file:
        names, *rows = list(csv.reader(file, delimiter=separator))
    assert names[0] == "'=name"
    for row, came in zip(rows, EVIL * 10, strict=True):
        armed = came[0] in "=+-@" and came != "-5"
        assert row[0] == (f"'{came}" if armed else came)
        float(row[1])  # a number stays one
        float(row[3])


def test_predictions_on_a_terminal_are_shown_and_not_obeyed(evil, tmp_path, monkeypatch, capsys):
    came = evil("predict", "m.adaline", "t.csv", "--keep", "=name").out
    assert "\x1b" in came  # a pipe gets the bytes as they are
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for more in ([], ["--format", "tsv"], ["--format", "ndjson"], ["--json"]):
        shown = evil("predict", "m.adaline", "t.csv", "--keep", "=name", "-q", *more).out
        assert shown.replace("\n", "").replace("\t", "").isprintable()


def test_json_on_a_terminal_is_the_same_json(rng):
    text = json.dumps(
        {"a": "\x1b[2J\x9b\u202e\U000e0001", "b": ["x"]}, ensure_ascii=False, indent=1
    )
    shown = escape_controls(text)
    assert json.loads(shown) == json.loads(text)
    assert shown.replace("\n", "").isprintable()
    assert np.all([c not in shown for c in "\x9b\u202e"])
