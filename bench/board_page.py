"""The page of the scoreboard: a picture that fits a screen, what we lose, and all rows folded.

A row is a dictionary: script, work, peer, ratio, target (0 where there is none), notes. What
`page` writes, `rows_of` reads again, so that a run of some scripts keeps the rows of the others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

Row = dict[str, Any]
BLUE, ORANGE = "#0072B2", "#D55E00"
LEAD = """A ratio is the time of the peer divided by ours: above 1, adaline is faster. Times are
medians of warm calls, taken in turns with the peer in one process. The page is written by
`make bench`."""
MAP = """Dense, small, wide and sparse tables have a map of their own: [small, wide and sparse
tables](wide-small-sparse.md)."""


def is_missed(row: Row) -> bool:
    return bool(row["ratio"] < row["target"])


def subject(row: Row) -> str:
    """What a script measures, by its name: bench_least_squares.py is about least squares."""
    return Path(row["script"]).stem.removeprefix("bench_").replace("_", " ")


def by_subject(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each subject, in the order they were measured."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=subject):
        found.setdefault(subject(row), []).append(row)
    return found


def table(rows: list[Row], full: bool) -> list[str]:
    """Rows in Markdown; what is wanted is meant for published sizes only."""
    lines = ["| work | peer | ratio | wanted | checked |", "|---|---|---|---|---|"]
    for row in rows:
        wanted = f"{row['target']:g}" if row["target"] and full else ""
        wanted += " (missed)" if is_missed(row) and full else ""
        notes = "; ".join(row["notes"]).replace("|", "\\|")
        lines.append(f"| {row['work']} | {row['peer']} | {row['ratio']:.3g} | {wanted} | {notes} |")
    return lines


def losses(rows: list[Row]) -> list[str]:
    """The rows where the peer is faster, the largest loss first."""
    lost = sorted((row for row in rows if row["ratio"] < 1.0), key=lambda row: float(row["ratio"]))
    lines = ["| subject | work | peer | ratio |", "|---|---|---|---|"]
    for row in lost:
        lines.append(f"| {subject(row)} | {row['work']} | {row['peer']} | {row['ratio']:.3g} |")
    return lines


def page(rows: list[Row], said: list[str], full: bool, picture: str | None) -> str:
    """The page in Markdown, with HTML only to fold the long tables."""
    lines = ["# Benchmarks", "", LEAD, "", MAP, ""]
    if picture is not None:
        lines += [f"![Ratios by subject, a dot for each row]({picture})", ""]
    lines += ["## Where we lose", "", *losses(rows), "", "## Every row", ""]
    for name, its in by_subject(rows).items():
        ratios = [row["ratio"] for row in its]
        spread = f"{min(ratios):.3g} to {max(ratios):.3g}"
        count = f"{len(its)} rows" if len(its) > 1 else "1 row"
        lines += [f"<details><summary>{name}: {count}, ratio {spread}</summary>", ""]
        lines += [*table(its, full), "", "</details>", ""]
    lines += ["## How it was measured", "", *(part for line in said for part in (line, ""))]
    return "\n".join(lines)


def rows_of(text: str) -> list[Row]:
    """The rows of a page that `page` has written."""
    rows: list[Row] = []
    for name, body in re.findall(r"<summary>(.+?): .*?</summary>\n(.*?)</details>", text, re.S):
        for line in body.strip().splitlines()[2:]:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            work, peer, ratio, wanted, notes = cells
            target = float(wanted.split()[0]) if wanted else 0.0
            kept = [notes.replace("\\|", "|")] if notes else []
            script = f"bench_{name.replace(' ', '_')}.py"
            row = {"script": script, "work": work, "peer": peer, "ratio": float(ratio)}
            rows.append(row | {"target": target, "notes": kept})
    return rows


def draw(path: Path, rows: list[Row]) -> bool:
    """A line a subject, a dot a row; twice as fast is as far from 1 as half as fast."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "adaline", "svg.fonttype": "none"}
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator

    groups = by_subject(rows)
    figure = Figure(figsize=(7.2, 0.3 * len(groups) + 1.1), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(1e-3, 1.0, color=ORANGE, alpha=0.08, linewidth=0)
    for height, its in enumerate(reversed(groups.values())):
        ratios = [row["ratio"] for row in its]
        colours = [BLUE if ratio >= 1 else ORANGE for ratio in ratios]
        axes.scatter(ratios, [height] * len(ratios), c=colours, s=26, alpha=0.65, linewidths=0)
    axes.set_yticks(range(len(groups)), [f"{k} ({len(v)})" for k, v in reversed(groups.items())])
    axes.set_xscale("log")
    every = [row["ratio"] for row in rows]
    axes.set_xlim(min(0.5, 0.7 * min(every)), 1.5 * max(every))
    axes.xaxis.set_major_locator(LogLocator(10.0))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.axvline(1.0, color="black", linewidth=1)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("time of the peer / time of adaline (orange: the peer is faster)")
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    return True
