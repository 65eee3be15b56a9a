"""Text is text: nothing in a file makes the terminal do anything, and JSON is strict."""

from __future__ import annotations

import csv
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.cli import printing
from adaline.cli.options import Common
from adaline.cli.printing import Progress, aligned, strict, with_names
from adaline.evaluation.words import plain

EVIL = ["[bold red]a[/]\x1b]0;owned\x07", "b\nnew\tline", "\x1b[2J\x9b31m‮wol", "[link=http://x]y"]


@pytest.fixture
def hostile(tmp_path, rng):
    """Column names and levels that a terminal or rich would obey."""
    path = tmp_path / "hostile.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(EVIL)
        for _ in range(120):
            level = str(rng.choice(["\x1b[31mred", "[green]g[/green]", "ok"]))
            rows.writerow([rng.normal(), level, rng.normal(), rng.choice(["\x1b[5mA", "[b]B"])])
    return path


def test_hostile_names_and_labels_are_printed_as_plain_text(command, hostile):
    for tokens in (
        ["fit", hostile, "-t", EVIL[3], "-o", "m.adaline"],
        ["info", "m.adaline"],
        ["evaluate", "m.adaline", hostile],
        ["separable", hostile, "-t", EVIL[3]],
        ["path", hostile, "-t", EVIL[0]],
        ["trace", hostile, "-t", EVIL[3], "--rows", "2"],
        ["fit", hostile, "-t", "a"],
    ):
        found = command(*tokens)
        assert found.code in (0, 1, 2), found.err
        shown = (found.out + found.err).replace("\n", "")
        assert all(c.isprintable() for c in shown)
        if tokens[:2] == ["info", "m.adaline"]:
            assert "[bold red]a[/]\\x1b]0;owned\\x07" in shown


def test_hostile_names_survive_in_json_and_csv(command, hostile):
    found = command("fit", hostile, "-t", EVIL[3], "-o", "m.adaline", "--json")
    assert found.json["target"] == EVIL[3]
    assert found.out.isascii()
    told = command("predict", "m.adaline", hostile, "--keep", EVIL[1], "--json").json
    assert told["columns"][0] == EVIL[1]


@given(st.text())
def test_plain_text_is_always_printable(text):
    assert plain(text).isprintable()


@given(st.lists(st.lists(st.text(max_size=80), min_size=2, max_size=2), min_size=1, max_size=5))
def test_tables_have_one_line_a_row(rows):
    lines = aligned(rows)
    assert len(lines) == len(rows)
    assert all(line.isprintable() for line in lines)


def test_strict_json_has_no_nan_no_infinity_and_no_numpy():
    given_ = {"a": np.float64("nan"), "b": [np.inf, np.int64(3)], "c": np.array([1.0, np.nan])}
    assert strict(given_) == {"a": None, "b": [None, 3], "c": [1.0, None]}


def test_progress_has_the_time_left_where_the_length_is_known():
    known = Progress(Common(), 1000, passes=20, doing="learning")
    began = time.monotonic()
    known(750)
    line = known.line(began + 3.0)
    assert line.startswith("learning, pass 1 of at most 20, 750 rows of 1,000, ")
    assert line.endswith("0:00:01 left in this pass") or line.endswith("0:00:00 left in this pass")
    known(10)
    assert "pass 2 of at most 20" in known.line(began + 4.0)
    unknown = Progress(Common())
    unknown(250)
    assert unknown.line(began + 75.0).endswith("so far")


def test_programs_may_ask_for_progress_in_lines_beside_json(monkeypatch, capsys):
    def read_twice():
        monkeypatch.setattr(printing, "REFRESH", 0.0)
        with Progress(Common(json=True), 1000, doing="learning") as shown:
            shown(250)
            shown(500)
        return capsys.readouterr().err.splitlines()

    assert read_twice() == []
    monkeypatch.setenv("ADALINE_PROGRESS", "lines")
    assert [line.split(" rows")[0] for line in read_twice()] == [
        "progress: learning, 250",
        "progress: learning, 500",
    ]


def test_a_resumed_run_says_so_on_stderr(command, rents):
    tokens = ["fit", rents, "-t", "rent", "--checkpoint", "kept"]
    assert "Going on" not in command(*tokens).err
    assert "Going on from the checkpoint in kept" in command(*tokens).err
    assert "Going on" not in command(*tokens, "-q").err


def test_names_stand_for_the_columns_of_an_array():
    assert with_names("x0 and x12, not ax1", ["[b]"]) == "'[b]' and x12, not ax1"
