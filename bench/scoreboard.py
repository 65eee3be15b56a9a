"""Every benchmark, and one table of what was measured.

    python bench/scoreboard.py [--full] [--out docs/benchmarks.md] [--only sequential text]

Runs each bench_*.py in a process of its own, shows what it prints, and gathers its rows: work, peer
and version, ratio, what was checked. With --out, writes the table there, beside a picture. Rows
where the peer is faster come first; peers that are not installed are named.
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
    lines = table(rows, options.full)
    print("\n".join(["", *lines, "", *said]))
    if options.out is not None:
        write(options.out, rows, lines, said)
    return 1 if missed and options.full else 0


def named(script: Path, options: argparse.Namespace) -> bool:
    return script.stem.removeprefix("bench_") in options.only


def ran(script: Path, board: Path, full: bool) -> bool:
    """One script, its output shown as it comes."""
    print(f"\n== {script.name}", flush=True)
    command = [sys.executable, str(script), *([] if full else ["--quick"])]
    done = subprocess.run(command, env=os.environ | {"ADALINE_SCOREBOARD": str(board)}, check=False)
    return done.returncode == 0


def gathered(lines: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with the notes that follow them, those we lose first; and the peers that are absent."""
    rows: list[dict[str, Any]] = []
    for line in lines:
        if line["kind"] == "row":
            rows.append(line | {"notes": []})
        elif line["kind"] == "note" and rows and rows[-1]["script"] == line["script"]:
            rows[-1]["notes"].append(line["text"])
    absent = sorted({line["peer"] for line in lines if line["kind"] == "missing"})
    return sorted(rows, key=lambda row: (row["ratio"] >= 1.0, row["script"])), absent


def is_missed(row: dict[str, Any]) -> bool:
    return bool(row["ratio"] < row["target"])


def table(rows: list[dict[str, Any]], full: bool) -> list[str]:
    """The scoreboard in Markdown; what is wanted is meant for published sizes only."""
    lines = ["| work | peer | ratio | wanted | checked |", "|---|---|---|---|---|"]
    for row in rows:
        wanted = f"{row['target']:g}" if row["target"] and full else ""
        wanted += " (missed)" if is_missed(row) and full else ""
        notes = "; ".join(row["notes"]).replace("|", "\\|")
        lines.append(f"| {row['work']} | {row['peer']} | {row['ratio']:.3g} | {wanted} | {notes} |")
    return lines


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
        said.append(f"Not in this run: {', '.join(left)}.")
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


def write(path: Path, rows: list[dict[str, Any]], lines: list[str], said: list[str]) -> None:
    """The page, and its picture where matplotlib is installed."""
    page = [
        "# Benchmarks",
        "",
        "Written by `make bench`. A ratio above 1 says that adaline is faster: medians of warm",
        "calls, taken in turns with the peer in one process. Where we lose comes first.",
        "",
        *(part for sentence in said for part in (sentence, "")),
    ]
    picture = path.with_suffix(".svg")
    if drawn(picture, rows):
        page += [f"![Ratios of time, peer over adaline]({picture.name})", ""]
    path.write_text("\n".join([*page, *lines, ""]), encoding="utf-8")


def drawn(path: Path, rows: list[dict[str, Any]]) -> bool:
    """One bar a row, on a scale where twice as fast is as far from 1 as half as fast."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "adaline", "svg.fonttype": "none"}
    from matplotlib.figure import Figure

    names = [f"{row['work']}, {row['peer']}" for row in rows][::-1]
    ratios = [row["ratio"] for row in rows][::-1]
    colours = ["#0072B2" if ratio >= 1 else "#D55E00" for ratio in ratios]
    figure = Figure(figsize=(9, 0.24 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, [ratio - 1.0 for ratio in ratios], left=1.0, color=colours)
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xlabel("time of the peer / time of adaline")
    axes.tick_params(axis="y", labelsize=7)
    axes.margins(y=0.01)
    figure.savefig(path, metadata={"Date": None})
    return True


if __name__ == "__main__":
    sys.exit(main())
