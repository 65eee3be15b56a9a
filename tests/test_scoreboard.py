"""docs/benchmarks.md is what bench/board_page.py writes, and its rows can be read again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def board():
    spec = importlib.util.spec_from_file_location("board_page", ROOT / "bench" / "board_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(script, ratio, **others):
    return {"script": f"bench_{script}.py", "ratio": ratio} | others


def example():
    return [
        row("ridge", 0.5, work="w", peer="p", target=1.0, notes=["|w| is 1", "two"]),
        row("block_filters", 30.0, work="v", peer="q", target=0.0, notes=[]),
    ]


def test_what_is_written_is_read_again(board):
    text = board.page(example(), ["Said."], True, None)
    first, second = board.rows_of(text)
    assert first == example()[1]
    assert second == example()[0] | {"notes": ["|w| is 1; two"]}
    assert board.page(board.rows_of(text), ["Said."], True, None) == text


def test_losses_come_before_all_rows_and_missed_targets_are_named(board):
    text = board.page(example(), [], True, None)
    lost, every = text.split("## Every row")
    assert "| ridge | w | p | 0.5 |" in lost
    assert "| v |" not in lost
    assert "| 0.5 | 1 (missed) |" in every


def test_the_published_page_is_what_the_generator_writes(board):
    text = PAGE.read_text(encoding="utf-8")
    said = [line for line in text.split("## How it was measured\n")[1].splitlines() if line]
    assert len(board.rows_of(text)) > 100
    assert board.page(board.rows_of(text), said, True, "benchmarks.svg") == text


def test_the_picture_fits_a_screen(board, tmp_path):
    pytest.importorskip("matplotlib")
    rows = board.rows_of(PAGE.read_text(encoding="utf-8"))
    assert board.draw(tmp_path / "board.svg", rows)
    height = float((tmp_path / "board.svg").read_text().split('height="')[1].split("pt")[0])
    assert height < 500  # points
