"""Starting is quick: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import adaline

HEAVY = ["dask", "matplotlib", "numba", "pandas", "polars", "pyarrow", "scipy", "sklearn"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    # Without bytecode every import compiles again, and we would measure the compiler.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_importing_adaline_loads_nothing_heavy():
    answer = run("-c", f"import adaline, sys; print(*[m for m in {HEAVY} if m in sys.modules])")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split() == []


def test_filters_load_neither_sparse_matrices_nor_scikit_learn():
    unneeded = ["scipy.sparse", "sklearn"]
    work = "import adaline, sys; adaline.NLMS(4); adaline.RLS(4); adaline.LMS(4)\n"
    answer = run("-c", f"{work}print(*[m for m in {unneeded} if m in sys.modules])")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split() == []


def test_help_takes_less_than_300_milliseconds_of_cpu():
    resource = pytest.importorskip("resource")

    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def cost() -> float:
        before = cpu()
        answer = run("-m", "adaline", "--help")
        assert answer.returncode == 0, answer.stderr
        assert "demo" in answer.stdout
        return cpu() - before

    cost()  # writes the bytecode
    # The best of five: what else the machine does must not fail the test.
    assert min(cost() for _ in range(5)) < 0.3


def test_version_is_the_package_version():
    assert run("-m", "adaline", "--version").stdout.strip() == adaline.__version__


def test_without_the_extra_the_command_says_what_to_install():
    hide = "import sys; sys.modules['cyclopts'] = None; from adaline.cli import main; main()"
    answer = run("-c", hide)
    assert answer.returncode == 2
    assert adaline.MissingExtra.how_to_install("cli") in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_penalised_logistic_fit_loads_fewer_than_30_files(tmp_path, monkeypatch):
    """Penalty searches, tables, streams and the exact simplex load only where they are asked for.

    The `__init__` of a folder that holds nothing but its docstring is no file to read. Nothing is
    compiled yet, so that what helps the compiler counts, too.
    """
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    program = (
        "import ast, sys\n"
        "import adaline\n"
        "before = set(sys.modules)\n"
        "X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]\n"
        "model = adaline.LogisticRegression(alpha=1.0).fit(X, [0, 0, 1, 0, 1, 1])\n"
        "assert model.certificate_.kind == 'optimal'\n"
        "model.predict_proba(X)\n"
        "for name in sorted(set(sys.modules) - before):\n"
        "    if name.split('.')[0] == 'adaline':\n"
        "        text = open(sys.modules[name].__file__, encoding='utf-8').read()\n"
        "        if len(ast.parse(text).body) > 1:\n"
        "            print(name)\n"
    )
    answer = run("-c", program)
    assert answer.returncode == 0, answer.stderr
    files = answer.stdout.split()
    assert "adaline.procedures.newton" in files
    assert len(files) < 30, files
