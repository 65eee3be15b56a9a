"""What a newcomer sees first: `make demo`, which runs `adaline demo`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(folder):
    """What the demo prints on a terminal that knows ASCII only, in a checkout."""
    sample = folder / "examples" / "data" / "pumps.csv"
    sample.parent.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "data" / "pumps.csv", sample)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "TMPDIR": str(folder)}
    # The command beside this Python is on the path, as in an environment that is activated.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    answer = subprocess.run(
        [sys.executable, "-m", "adaline", "demo"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    return answer.stdout


def test_the_demo_is_about_60_lines_of_at_most_80_columns_of_ascii(shown):
    lines = shown.splitlines()
    assert len(lines) <= 65
    assert max(map(len, lines)) <= 80
    assert "?" not in shown.replace("fail?", "").replace("XOR?", "")  # nothing was replaced


def test_the_demo_begins_with_a_table_and_shows_a_proof_a_sound_and_a_perceptron(shown):
    titles = re.findall(r"^\d\. (\w+ ?\w+)", shown, flags=re.M)
    assert titles == ["A table", "A proof", "Sound", "Every step"]
    assert "cross-validation" in shown
    assert re.search("failed = (yes|no), with probability 0", shown)
    assert "overlapping" in shown
    before, after = (float(x) for x in re.findall(r"(-?\d+\.\d) dB", shown))
    assert before < 0 < 20 < after
    assert "pass 2 made no correction" in shown
    labels = re.findall(r"^ *([\w ,]+):", shown, flags=re.M)
    assert len(labels) == len(set(labels))
    assert "exact: the exact" not in shown


def test_a_command_that_the_demo_shows_can_be_pasted(shown, folder):
    [command] = re.findall(r"^\$ adaline (.*)$", shown, flags=re.M)
    again = subprocess.run(
        [sys.executable, "-m", "adaline", *command.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr


def test_the_demo_leaves_nothing_but_the_report_that_it_names(shown, folder):
    assert sorted(path.name for path in folder.iterdir()) == ["examples", "pumps.html"]
    assert "The report is a web page: pumps.html" in shown


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_demo_installs_what_the_demo_needs_and_no_tools_of_developers(tmp_path):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def steps(target: str) -> str:
        command = ["make", "-n", target]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout

    assert ".[cli,report]" in steps("demo")
    assert "[dev]" not in steps("demo")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".demo").touch()
    assert "pip" not in steps("demo")
    assert ".[dev]" in steps("test")
