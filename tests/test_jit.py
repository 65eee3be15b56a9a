"""The cache of compiled kernels follows calls across files."""

from __future__ import annotations

import os
import subprocess
import sys

_CALLED = "from adaline._jit import kernel\n@kernel\ndef f(x):\n    return x + {}\n"
_CALLING = (
    "from adaline._jit import kernel\nfrom called import f\n@kernel\ndef g(x):\n    return f(x)\n"
)
_OUTER = (
    "from adaline._jit import kernel\nfrom calling import g\n@kernel\ndef h(x):\n    return g(x)\n"
)


def test_an_edit_in_a_file_whose_kernels_are_called_is_an_empty_cache(tmp_path):
    (tmp_path / "calling.py").write_text(_CALLING)
    (tmp_path / "outer.py").write_text(_OUTER)
    places = {"PYTHONPATH": str(tmp_path), "ADALINE_CACHE_DIR": str(tmp_path / "cache")}
    told = []
    for number in (1, 2, 2):
        (tmp_path / "called.py").write_text(_CALLED.format(number))
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
