"""Kernels compile once, whatever becomes of the cache, and run as Python where numba is missing."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline.jit import fma

FIT = """
import sys, warnings
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    import adaline
    assert "numba" not in sys.modules
    X = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]]
    for rows in (X, [[2 * x for x in row] for row in X]):
        model = adaline.Perceptron(fit_intercept=False, keep=KEEP).fit(rows, [-1, 1, 1, 1])
        filtered = adaline.NLMS(2).process([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert model.coef_.tolist() == [[2.0, 2.0, -2.0]], model.coef_
print(sum("Kernels" in str(one.message) for one in heard))
"""


def fit(cache: Path, before: str = "", keep: str = "last") -> int:
    """Fit and filter in a process of its own; how many warnings there were of the cache."""
    done = subprocess.run(
        [sys.executable, "-c", before + FIT.replace("KEEP", repr(keep))],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nothing is printed of a short first call
    return int(done.stdout)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    assert fit(folder) == 0
    return folder


def test_compiled_code_is_kept_and_used(filled):
    files = {path: path.stat().st_mtime_ns for path in filled.rglob("*.nb?")}
    assert any("learn_perceptron" in path.name for path in files)
    assert fit(filled) == 0
    assert {path: path.stat().st_mtime_ns for path in filled.rglob("*.nb?")} == files


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["cut short", "garbled"])
def test_damaged_files_cost_a_warning_and_no_fit(filled, tmp_path, kind, damage):
    folder, rng = shutil.copytree(filled, tmp_path / "cache"), np.random.default_rng(0)
    for path in folder.rglob(f"*.{kind}"):
        data = path.read_bytes()
        left = {"cut short": data[: len(data) // 2], "garbled": rng.bytes(len(data))}
        path.write_bytes(left[damage])
    assert fit(folder) == 1


def test_a_full_disk_costs_a_warning_and_no_fit(tmp_path):
    pytest.importorskip("resource")
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    )
    assert fit(tmp_path, limit) == 1


def test_a_folder_that_cannot_be_written_to_costs_no_fit(tmp_path):
    (tmp_path / "file").touch()
    assert fit(tmp_path / "file" / "cache") == 0  # numba takes the next place
    closed = (  # nor can any other be written to; for root, no mode closes a folder
        "import os, tempfile\n"
        "def refuse(*_, **__): raise PermissionError(13, 'read-only')\n"
        "os.makedirs = os.mkdir = tempfile.TemporaryFile = refuse\n"
    )
    assert fit(tmp_path / "closed", closed) <= 1


HIDDEN = "import sys; sys.modules['numba'] = None\n"


def test_without_numba_there_is_one_warning():
    program = HIDDEN + FIT.replace("KEEP", "'last'").replace('"numba" not in sys.modules', "True")
    program = program.replace('"Kernels"', '"Without numba"')
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize(
    "selected",
    [
        ["tests/lectures"],
        ["src/adaline/estimators", "src/adaline/filters", "src/adaline/procedures"],
        pytest.param(
            ["tests/estimators/test_contract.py", "-k", "Adaline or Ridge"], marks=pytest.mark.slow
        ),
    ],
    ids=["lectures", "doctests", "contract"],
)
def test_without_numba_all_is_the_same(selected):
    run = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    options = ["-q", "-x", "-p", "no:cacheprovider", "--doctest-modules"]
    options += ["-Wignore:Without numba:RuntimeWarning"]
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN + run, *options, *selected],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@given(st.floats(), st.floats(), st.floats())
def test_a_fused_multiply_add_rounds_once(a, b, c):
    """Also where c takes nearly all of the product away."""
    for third in (c, -(a * b), math.nextafter(-(a * b), 0.0)):
        if all(map(math.isfinite, (a, b, third))):
            exact = Fraction(a) * Fraction(b) + Fraction(third)
            try:
                assert fma(a, b, third) == float(exact)
            except OverflowError:
                assert fma(a, b, third) == (math.inf if exact > 0 else -math.inf)
        else:
            expected = a * b + third
            assert fma(a, b, third) == expected or math.isnan(expected)
