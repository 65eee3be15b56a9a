"""Writes the report that docs/command.md shows, by the command that the page shows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sphinx.util import logging

logger = logging.getLogger(__name__)
PUMPS = Path(__file__).parents[2] / "examples" / "data" / "pumps.csv"


def write_report(app: Any, failed: Exception | None) -> None:
    """`adaline fit pumps.csv --target failed --report report.html`, beside the pages."""
    if failed is not None or app.builder.format != "html":
        return
    report = Path(app.outdir, "_static", "report.html").resolve()
    command = [sys.executable, "-m", "adaline", "fit", PUMPS.name, "--target", "failed", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, PUMPS.name).write_bytes(PUMPS.read_bytes())
        done = subprocess.run(
            [*command, "--report", str(report)], cwd=folder, capture_output=True, text=True
        )
    if done.returncode != 0:
        logger.warning("no report for the page about the command: %s", done.stderr)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
