"""Marks the boxes of output that are tables, which a narrow screen must scroll and not wrap."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

MIN_TABLE_LINES = 3


def mark_tables(app: Any, doctree: nodes.document, name: str) -> None:
    """Give `columns` as a class to each box of text whose lines are mostly columns."""
    for box in doctree.findall(nodes.literal_block):
        lines = [line for line in box.astext().splitlines() if line.strip()]
        aligned = [line for line in lines if re.search(r"\S {2,}\S", line)]
        text = box.get("language") in ("text", "none", "default")
        if text and len(aligned) >= MIN_TABLE_LINES and 2 * len(aligned) >= len(lines):
            box["classes"].append("columns")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", mark_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
