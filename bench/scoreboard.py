"""Every benchmark, and one table of what was measured.

    python bench/scoreboard.py [--full] [--out docs/benchmarks.md] [--only sequential text]

Runs each bench_*.py in a process of its own, shows what it prints, and gathers its rows: work, peer
and version, ratio, what was checked. With --out, writes a page there, beside a picture; rows of
scripts that did not run stay as they are on the page. Peers that are not installed are named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from board_page import Row, draw, is_missed, page, rows_of, table

HERE = Path(__file__).parent
PEERS = [
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "glum",
    "statsmodels",
    "river",
    "vowpalwabbit",
    "padasip",
    "adafilt",
    "pyroomacoustics",
    "polars",
]


def main() -> int:
    """Run, gather, write; 1 where a row, or a script's own check, missed its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="published sizes; quick ones otherwise")
    parser.add_argument("--out", type=Path, default=None, help="a Markdown file to write")
    parser.add_argument("--only", nargs="*", default=[], help="scripts by name, without bench_")
    parser.add_argument("--note", action="append", default=[], help="a sentence for the page")
    options = parser.parse_args()
    every = sorted(HERE.glob("bench_*.py"))
    scripts = [script for script in every if not options.only or named(script, options)]
    left = [script.stem for script in every if script not in scripts]
    with tempfile.TemporaryDirectory() as folder:
        board = Path(folder, "board.jsonl")
        board.touch()
        failed = {script.stem for script in scripts if not ran(script, board, options.full)}
        lines = [json.loads(line) for line in board.read_text(encoding="utf-8").splitlines()]
    rows, absent = gathered(lines)
    missed = sorted(failed | {Path(row["script"]).stem for row in rows if is_missed(row)})
    said = [*told(absent, missed, left, options.full), *options.note]
    print("\n".join(["", *table(rows, options.full), "", *said]))
    if options.out is not None:
        kept = earlier(options.out, {script.name for script in scripts})
        write(options.out, [*rows, *kept], said, options.full)
    return 1 if missed and options.full else 0


def named(script: Path, options: argparse.Namespace) -> bool:
    return script.stem.removeprefix("bench_") in options.only


def ran(script: Path, board: Path, full: bool) -> bool:
    """One script, its output shown as it comes."""
    print(f"\n== {script.name}", flush=True)
    command = [sys.executable, str(script), *([] if full else ["--quick"])]
    done = subprocess.run(command, env=os.environ | {"ADALINE_SCOREBOARD": str(board)}, check=False)
    return done.returncode == 0


def gathered(lines: list[dict[str, Any]]) -> tuple[list[Row], list[str]]:
    """Rows with the notes that follow them, those we lose first; and the peers that are absent."""
    rows: list[Row] = []
    for line in lines:
        if line["kind"] == "row":
            rows.append(line | {"notes": []})
        elif line["kind"] == "note" and rows and rows[-1]["script"] == line["script"]:
            rows[-1]["notes"].append(line["text"])
    absent = sorted({line["peer"] for line in lines if line["kind"] == "missing"})
    return sorted(rows, key=lambda row: (row["ratio"] >= 1.0, row["script"])), absent


def earlier(path: Path, ran: set[str]) -> list[Row]:
    """Rows that the page has already, of scripts that are not in this run."""
    if not path.exists():
        return []
    return [row for row in rows_of(path.read_text(encoding="utf-8")) if row["script"] not in ran]


def told(absent: list[str], missed: list[str], left: list[str], full: bool) -> list[str]:
    """What ran, where, beside which versions, and what is missing."""
    versions = [f"{name} {version}" for name in PEERS if (version := installed(name))]
    said = [
        f"{'Published' if full else 'Quick'} sizes; {os.cpu_count()} cores, {processor()}, "
        f"{platform.system()}, Python {platform.python_version()}.",
        f"Peers: {', '.join(versions)}.",
    ]
    if absent:
        said.append(f"Not installed, and so not compared: {', '.join(absent)}.")
    if left:
        said.append(
            f"Not in this run, and kept from an earlier one where it had rows: {', '.join(left)}."
        )
    if missed and full:
        said.append(f"Targets were missed in: {', '.join(missed)}.")
    return said


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name, where Linux tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def write(path: Path, rows: list[Row], said: list[str], full: bool) -> None:
    """The page, and its picture where matplotlib is installed."""
    picture = path.with_suffix(".svg")
    name = picture.name if draw(picture, rows) else None
    path.write_text(page(rows, said, full, name), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
