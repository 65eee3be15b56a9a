"""A page runs in an environment that has only what the page says to install.

A page names extras in a line `pip install '.[cli,io]'`; a page without such a line is for readers
who have installed `all`. Other packages that a page needs are named in a line `pip install name`.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from test_docs import commands
from test_readme import PAGES, blocks

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = re.compile(r"pip install ([^\n`#]+)")
IMPORTED_AS = {"python-calamine": "python_calamine", "scikit-learn": "sklearn"}
# What some of our names load when they are used, and scikit-learn's tables.
NEEDED_BY = {
    r"adaline\.plot|from adaline import plot|plot\.\w+Display": "matplotlib",
    r"write_report": "jinja2",
    r"as_frame=True|\.to_frame\(": "pandas",
    r"to=\"onnx\"": "onnx",
}


def package(requirement: str) -> str:
    """What a requirement is imported as."""
    name = re.split(r"[\s<>=!~;\[]", requirement)[0]
    return IMPORTED_AS.get(name, name)


def packages(requirement: str) -> set[str]:
    """The same, with the extras that are named after a package: dask[distributed]."""
    more = re.search(r"\[(.*)\]", requirement)
    return {package(requirement), *(more[1].split(",") if more else [])}


def brought_by(extra: str) -> set[str]:
    """Packages of an extra, and of the extras it stands for."""
    found: set[str] = set()
    for line in PROJECT["optional-dependencies"][extra]:
        others = re.fullmatch(r"adaline\[(.*)\]", line)
        found |= set().union(*map(brought_by, others[1].split(","))) if others else packages(line)
    return found


def installed(page: Path) -> set[str]:
    """What is there after the lines of the page that install something."""
    found = {package(line) for line in PROJECT["dependencies"]} | {"adaline"}
    words = [w for line in INSTALL.findall(page.read_text(encoding="utf-8")) for w in line.split()]
    extras = [
        e
        for w in words
        if (m := re.fullmatch(r"['\"]?\.\[(.*)\]['\"]?", w))
        for e in m[1].split(",")
    ]
    for extra in extras or ["all"]:
        found |= brought_by(extra)
    named = {w for w in words if w[0] not in ".'\"-"}
    return found | named | ({"pandas"} if "statsmodels" in named else set())


def needed(page: Path) -> set[str]:
    """Packages that the Python, the pictures and the commands of the page load."""
    found: set[str] = set()
    for block in blocks(page):
        for node in ast.walk(ast.parse(block.code)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
        found |= {name for pattern, name in NEEDED_BY.items() if re.search(pattern, block.code)}
    for command, _ in commands(page):
        found |= {"cyclopts", "rich"} | ({"jinja2"} if "--report" in command else set())
    return found - set(sys.stdlib_module_names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_what_a_page_says_to_install_is_enough_to_run_it(page):
    assert sorted(needed(page) - installed(page)) == []


def messages() -> list[tuple[str, str, str]]:
    """(file, extra, what is needed) of every message that names an extra by `MissingExtra.of`."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func).endswith("MissingExtra.of")
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[2], ast.Constant)
            ):
                found.append((path.name, node.args[0].value, node.args[2].value))
    return found


def test_an_extra_that_a_message_names_brings_what_is_missing():
    assert len(messages()) >= 7
    for file, extra, needs in messages():
        wanted = {IMPORTED_AS.get(name, name) for name in needs.split(" or ")}
        # Dask brings fsspec, and its distributed.
        assert wanted & (brought_by(extra) | {"fsspec"}), (
            f"{file}: [{extra}] does not bring {needs}"
        )


def test_pyarrow_comes_with_the_command_and_with_files():
    assert "pyarrow" in brought_by("io") & brought_by("cli")
    assert "polars" not in brought_by("all")
    others = set(PROJECT["optional-dependencies"]) - {"all", "dev", "export"}
    assert not any("onnx" in brought_by(extra) for extra in others)
    every = set().union(*(brought_by(e) for e in others - {"bench", "docs"})) | brought_by("export")
    assert brought_by("all") == every
