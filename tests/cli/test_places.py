"""Where the command runs changes nothing that it says: path, umask, time zone, cores, home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux names cores and umasks")
def test_a_fit_says_the_same_with_blanks_in_the_path_one_core_and_no_home(rents, tmp_path):
    def fitted(folder, **environment):
        folder.mkdir()
        shutil.copy(rents, folder / "rents.csv")
        own = (
            "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); os.umask(0o077)\n"
        )
        program = "from adaline.cli import main; main()"
        tokens = ["fit", "rents.csv", "-t", "rent", "-o", "m.adaline", "--report", "r.html"]
        done = subprocess.run(
            [sys.executable, "-c", (own if environment else "") + program, *tokens],
            cwd=folder,
            env=os.environ | {"PYTHONUTF8": "1"} | environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, (folder / "m.adaline").read_bytes()

    plain = fitted(tmp_path / "plain")
    there = fitted(tmp_path / "b l a n k s", TZ="Pacific/Auckland", HOME="/dev/null/home")
    assert there == plain
