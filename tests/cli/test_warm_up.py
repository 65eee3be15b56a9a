"""`adaline warm-up`: what would be compiled at first use is compiled now, and kept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.slow  # compiles
def test_what_is_compiled_is_kept(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "adaline", "warm-up"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Ready" in done.stdout
    kept = {path.name.split("-")[0].split(".")[0] for path in tmp_path.rglob("*.nbc")}
    assert {"sequential", "automatic_rates", "kernel_perceptron"} <= kept
