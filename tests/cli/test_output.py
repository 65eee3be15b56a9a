"""Text is text: nothing in a file makes the terminal do anything, and JSON is strict."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.cli.printing.printer import aligned, strict
from adaline.cli.printing.progress import Progress, clock
from adaline.cli.printing.words import did_you_mean, with_names
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


def test_progress_tells_time_left_where_the_length_is_known_and_time_spent_where_not():
    class Printer:
        at_length = True

    class Screen:
        def __init__(self):
            self.text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    screen = Screen()
    known = Progress(Printer(), 1000, screen)
    known.rows, known._pass_began = 250, known.began - 10.0
    assert known.line(known.began) == "250 rows of about 1,000, 25 rows/s, 30 s left"
    unknown = Progress(Printer(), None, screen)
    unknown.rows, unknown._pass_began, unknown.began = 250, unknown.began - 10, unknown.began - 10
    assert unknown.line(unknown.began + 10) == "250 rows, 25 rows/s, 10 s so far"
    with unknown:
        unknown._shown -= 1.0
        unknown(300)
        unknown._shown -= 1.0
        unknown(10)
    assert "pass 2, 10 rows" in screen.text
    assert screen.text.endswith("\r")
    assert clock(75) == "1 min 15 s"


def test_progress_says_which_pass_of_how_many_and_what_is_going_on():
    class Printer:
        at_length = True

    known = Progress(Printer(), 1000, passes=20, doing="learning")
    known.rows, known._pass_began, known.pass_ = 1000 - 250, known.began - 3.0, 2
    line = known.line(known.began, 1000)
    assert line == (
        "learning, pass 2 of at most 20, 750 rows of 1,000, 250 rows/s, at most 1 min 13 s left"
    )
    steps = Progress(Printer(), 1000, passes=None)
    steps.rows, steps._pass_began = 500, steps.began - 2.0
    assert steps.line(steps.began).endswith("2 s left in this pass")
    assert steps.line(steps.began).startswith("pass 1, ")


def test_programs_may_ask_for_progress_in_lines_beside_json(monkeypatch):
    class Printer:
        at_length = False  # as with --json

    pipe = io.StringIO()
    silent = Progress(Printer(), 1000, pipe)
    silent._shown -= 1.0
    silent(250)
    assert pipe.getvalue() == ""
    monkeypatch.setenv("ADALINE_PROGRESS", "lines")
    with Progress(Printer(), 1000, pipe, doing="learning") as told:
        told._shown -= 1.0
        told(250)
        told(260)  # less than 0.2 seconds later
        told._shown -= 1.0
        told(500)
    lines = pipe.getvalue().splitlines()
    assert [line.split(" rows")[0] for line in lines] == [
        "progress: learning, 250",
        "progress: learning, 500",
    ]


def test_a_resumed_run_says_so_on_stderr(command, rents):
    tokens = ["fit", rents, "-t", "rent", "--checkpoint", "kept"]
    assert "Going on" not in command(*tokens).err
    assert "Going on from the checkpoint in kept" in command(*tokens).err
    assert "Going on" not in command(*tokens, "-q").err


def test_a_suggestion_or_the_list_of_what_there_is():
    assert did_you_mean("AGE", ["age", "size"]) == "did you mean 'age'?"
    assert did_you_mean("zzz", ["age", "size"]) == "there are 'age', 'size'."


def test_names_stand_for_the_columns_of_an_array():
    assert with_names("x0 and x12, not ax1", ["[b]"]) == "'[b]' and x12, not ax1"
