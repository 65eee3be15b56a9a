"""docs/benchmarks.md is what bench/board_page.py writes of the rows that are read from it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"


def test_the_published_page_is_what_the_generator_writes():
    spec = importlib.util.spec_from_file_location("board_page", ROOT / "bench" / "board_page.py")
    board = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(board)
    text = PAGE.read_text(encoding="utf-8")
    said = [line for line in text.split("## How it was measured\n")[1].splitlines() if line]
    assert len(board.rows_of(text)) > 100
    assert board.page(board.rows_of(text), said, True, "benchmarks.svg") == text
