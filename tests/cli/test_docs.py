"""The commands of docs/command.md run, and print what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.filterwarnings("ignore")
def test_the_commands_of_the_page_run_in_order(command, tmp_path):
    for file in (ROOT / "examples" / "data").glob("*.csv"):
        shutil.copy(file, tmp_path)
    found, compared = None, 0
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "text":  # what the last command has printed
            assert doctest.OutputChecker().check_output(text, found.out, LOOSELY), found.out
            compared += 1
            continue
        for line in text.splitlines():
            program, *tokens = shlex.split(line)
            assert program == "adaline"
            found = command(*tokens)
            assert found.code == (1 if tokens[0] == "separable" else 0), found.err
    assert compared == 2
