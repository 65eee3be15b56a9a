"""What another system or processor lacks: simulated here, or found by reading the source.

Windows has no fork, no numbers of users and no modes of files, and opens text in its own encoding;
other processors have no fused multiply-add, no vectors of four, or no long double beyond float64.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adaline import LMS, Moments
from adaline.sums.rows import Rows

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# Modules, and names of os and signal, that Windows does not have.
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
POSIX_NAMES = [
    "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "sched_getaffinity",
    "register_at_fork", "killpg", "setsid", "mkfifo", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC",
]  # fmt: skip


def opens_text_in_the_encoding_of_the_system(call: ast.AST) -> bool:
    """Whether a call opens, reads or writes text and names no encoding."""
    if not isinstance(call, ast.Call):
        return False
    name, words = ast.unparse(call.func), ast.unparse(call)
    if name in {"open", "fdopen"} or name.endswith(("read_text", "write_text")):
        return (
            "utf-8" not in words and "encoding" not in words and not re.search("'[rwax+]+b", words)
        )
    return False


def test_text_is_read_and_written_in_a_named_encoding():
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in SOURCES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if opens_text_in_the_encoding_of_the_system(call)
    ]
    assert not found, "give encoding='utf-8': Windows has another one"
    assert opens_text_in_the_encoding_of_the_system(ast.parse("open(a)", mode="eval").body)


WITHOUT_POSIX = f"""
import os, signal, sys
import numba, scipy.optimize, sklearn.linear_model  # they are not our subject
for name in {POSIX_NAMES!r}:
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "SIGPIPE", "setitimer", "alarm"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in {sorted(POSIX_MODULES)!r}:
    sys.modules[name] = None
import numpy as np, adaline, adaline.data
for name in adaline.__all__:
    getattr(adaline, name)
for name in adaline.data.__all__:
    getattr(adaline.data, name)
import adaline.cli
rng = np.random.default_rng(0)
X = rng.standard_normal((50, 2))
model = adaline.Ridge().fit(X, X[:, 0])
adaline.save(model, sys.argv[1])
adaline.save(model, sys.argv[1])  # over itself
assert np.array_equal(adaline.load(sys.argv[1]).predict(X), model.predict(X))
"""


def test_everything_is_imported_fitted_and_saved_without_posix(tmp_path):
    command = [sys.executable, "-c", WITHOUT_POSIX, str(tmp_path / "m.adaline")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr


GENERIC = """
import sys
import numpy as np
from adaline import LMS, Moments
from adaline.sums.rows import Rows
d = np.load(sys.argv[1])
X, y, theta = d["X"], d["y"], d["theta"]
found = Rows.of(X, y).gradient(np.ones(3), np.zeros(1, np.int64), theta, 0.0 * theta)
scatter, filtered = Moments.of(X, y).scatter, LMS(7, 0.01).process(y, y)[0]
exact = np.concatenate([found.g.ravel(), found.low.ravel(), found.squares])
np.savez(sys.argv[2], exact=exact, scatter=scatter, filtered=filtered)
"""


@pytest.mark.slow  # compiles for another processor
def test_a_processor_without_fused_products_and_wide_vectors_gives_the_same(rng, tmp_path):
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    theta = np.append(rng.standard_normal(2), 0.1)[:, None]
    np.savez(tmp_path / "given.npz", X=X, y=y, theta=theta)
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-c", GENERIC, tmp_path / "given.npz", tmp_path / "got.npz"]
    subprocess.run(command, env=os.environ | generic, check=True)
    got, m = np.load(tmp_path / "got.npz"), Moments.of(X, y)
    of_one = np.zeros(1, np.int64), theta, 0.0 * theta
    exact = Rows.of(X, y).gradient(np.ones(3), *of_one)
    exact = np.concatenate([exact.g.ravel(), exact.low.ravel(), exact.squares])
    # A fused product is one rounding everywhere: by the processor, or by the C library.
    assert got["exact"].tolist() == exact.tolist()
    assert np.all(np.abs(got["scatter"] - m.scatter) <= 2 * np.outer(m.rounding, m.rounding))
    near = 300 * np.finfo(float).eps  # sums of ten products in another order
    np.testing.assert_allclose(got["filtered"], LMS(7, 0.01).process(y, y)[0], rtol=0, atol=near)
