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


@pytest.mark.parametrize("name", adaline.__all__)
def test_every_public_name_resolves(name):
    try:
        getattr(adaline, name)
    except (ImportError, AttributeError) as error:
        pytest.fail(f"adaline promises {name!r} in __all__ and cannot give it: {error}")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Perceptrum"):
        adaline.Perceptrum  # noqa: B018


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
    assert 'pip install "adaline[cli]"' in answer.stderr
    assert "Traceback" not in answer.stderr
