"""Every Python block of README.md and docs/*.md runs, and prints what the page says it prints.

The blocks of a page run in order and share their names. A block ```text directly after a
Python block is its output, compared as a doctest with ELLIPSIS and NORMALIZE_WHITESPACE.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```$)?", re.M | re.S)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Line number, code and expected output of each Python block."""
    text = page.read_text(encoding="utf-8")
    return [
        (text[: found.start(1)].count("\n") + 1, found[1], found[2])
        for found in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_the_python_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    for line, code, expected in blocks(page):
        # Empty lines in front, so that a traceback points into the page.
        program = compile("\n" * (line - 1) + code, str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(program, names)
        if expected is not None:
            assert doctest.OutputChecker().check_output(expected, printed.getvalue(), LOOSELY), (
                f"{page.name}:{line} prints\n{printed.getvalue()}\nand the page says\n{expected}"
            )


def test_the_readme_has_examples():
    assert blocks(ROOT / "README.md")
