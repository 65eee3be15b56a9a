"""The cache of compiled kernels follows calls across files."""

from __future__ import annotations

import os
import subprocess
import sys

_KERNEL = "from adaline._jit import kernel\nfrom {} import {}\n@kernel\ndef {}(x):\n    return {}\n"


def test_an_edit_in_a_file_that_kernels_are_made_from_is_an_empty_cache(tmp_path):
    (tmp_path / "called.py").write_text(_KERNEL.format("constant", "C", "f", "x + C"))
    (tmp_path / "calling.py").write_text(_KERNEL.format("called", "f", "g", "f(x)"))
    (tmp_path / "outer.py").write_text(_KERNEL.format("calling", "g", "h", "g(x)"))
    places = {"PYTHONPATH": str(tmp_path), "ADALINE_CACHE_DIR": str(tmp_path / "cache")}
    told = []
    for number in (1, 2, 2):
        (tmp_path / "constant.py").write_text(f"C = {number}\n")
        work = "import outer; print(outer.h(10), sum(outer.h.stats.cache_hits.values()))"
        told.append(
            subprocess.run(
                [sys.executable, "-c", work],
                env={**os.environ, **places},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
        )
    assert told == [["11", "0"], ["12", "0"], ["12", "1"]]
