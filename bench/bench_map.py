"""Every learner on every shape that users have, beside the peer's fastest setting of equal quality.

    python bench/bench_map.py [--quick] [--only ridge csr] [--repeats 5] [--limit 30]
    python bench/bench_map.py --cells bench/cells.txt [--record]

A cell is a learner (`map_learners.py`) and a shape (`map_data.py`). Of the peer's settings those
count whose gradient (beside LIBLINEAR, whose gap) is as small as `WORST` in `map_quality.py` asks;
the fastest of them is taken, and ours and it run in turns: one thread, CPU time, medians of warm
calls. A cell that takes longer than the limit is stopped. Losses come first. Where we lose, or its
gradient is far coarser than ours, the line below says what the peer's answer is worth: how many
digits of its largest coefficients agree with ours, which are proven, and the ratio to its fastest
setting whose gradient is as small as rounding lets. Predictions, DataFrames, searches by folds
(`map_uses.py`) and learners that see one row at a time (`map_online.py`) follow.

With --cells only the cells of that file are measured, and the ratios recorded there stand in place
of targets; the geometric means over exactly these cells compare one commit with another. --record
writes the ratios measured into the file, those of cells that were not measured stay.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import map_online
import map_uses
import numpy as np
from _bench import head, note, row, threads
from map_data import LARGEST, data, parsed
from map_learners import LEARNERS
from map_quality import EXACT, KINDS, SINGLE, WORST, digits, proven, squared
from map_timing import cpu, in_turns, limited

USES = {"predict": map_uses.predictions, "tables": map_uses.tables, "searches": map_uses.searches}


def cell(name: str, shape: str, repeats: int, answers: Any) -> None:
    """Measure one cell, and put what was found into the queue."""
    warnings.simplefilter("ignore")
    learner = LEARNERS[name]
    X, y = data(shape, learner.targets)
    with threads(1):
        found = {}
        for setting, make in learner.settings(shape).items():
            model = make()
            took = cpu(partial(model.fit, X, y))
            if took < 1.0:
                took = min(took, cpu(partial(model.fit, X, y)))
            found[setting] = took, learner.gradient(X, y, model)
        worst = WORST[learner.gradient]
        worst = max(worst, SINGLE) if X.dtype == np.float32 else worst
        good = {s: f for s, f in found.items() if f[1] <= worst} or found
        best = min(good, key=lambda s: good[s][0])
        answers.put(("peer", best, found[best]))
        ours, peer = learner.ours(), learner.peers[best]()
        first = cpu(partial(ours.fit, X, y))
        answers.put(("first", first, learner.gradient(X, y, ours)))
        few = repeats if first < 4 else 1
        ours_s, peer_s = in_turns(partial(ours.fit, X, y), partial(peer.fit, X, y), few)
        if learner.gradient is squared:
            answers.put(("digits", digits(ours, peer, X), proven(ours)))
        exact = {s: f for s, f in good.items() if f[1] <= EXACT}
        if ours_s > peer_s and found[best][1] > EXACT and exact:
            surer = min(exact, key=lambda s: exact[s][0])
            twin = learner.peers[surer]()
            pair = in_turns(partial(ours.fit, X, y), partial(twin.fit, X, y), few)
            answers.put(("surer", surer, exact[surer][1], pair[1] / pair[0]))
        answers.put(("done", ours_s, peer_s))


def measured(name: str, shape: str, options: argparse.Namespace) -> list[Any]:
    """(work, peer, ours, peer's seconds, remark) of a cell."""
    print(f"{name}, {shape} ...", end="\r", file=sys.stderr, flush=True)
    limit = options.limit * (3.0 if parsed(shape).n >= 1_000_000 else 1.0)
    told = {t[0]: t[1:] for t in limited(cell, limit, name, shape, options.repeats)}
    if "peer" not in told:
        print(f"{name}, {shape}: the peer did not end within the limit", file=sys.stderr)
        return []
    best, (seconds, gradient) = told["peer"]
    what = KINDS.get(LEARNERS[name].gradient, "gradient: peer {:.0e}, ours {:.0e}")
    remark = "ours not within the limit"
    if "first" in told:
        remark = what.format(gradient, told["first"][1])
    if np.isfinite(told.get("digits", (np.nan, np.nan))).all():
        remark += "; digits: peer {:.1f}, ours {:.1f}, proven".format(*told["digits"])
    if "surer" in told:
        remark += "; {} has gradient {:.0e}: {:.2f}x".format(*told["surer"])
    times = told.get("done", (told["first"][0] if "first" in told else limit, seconds))
    return [(title(name, shape), best, *times, remark)]


def title(name: str, shape: str) -> str:
    """The name of a cell in the output and in files of cells."""
    return f"{name.removesuffix(' of K')} {shape}"


def wanted(options: argparse.Namespace, cells: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The cells that the options name."""
    return [
        (name, shape)
        for name, learner in LEARNERS.items()
        for shape in learner.shapes
        if all(part.lower() in f"{name} {shape}".lower() for part in options.only)
        and not (options.quick and shape in LARGEST)
        and (not options.cells or title(name, shape) in cells)
    ]


def read_cells(file: Path) -> dict[str, list[str]]:
    """The recorded ratio, its commit and its date, of each cell; NaN where none was recorded."""
    lines = file.read_text(encoding="utf-8").splitlines()
    fields = [line.split(maxsplit=3) for line in lines if line and not line.startswith("#")]
    return {name: told for *told, name in fields}


def write_cells(file: Path, cells: dict[str, list[str]], ratios: dict[str, float]) -> None:
    """Write the ratios measured into the file; other cells keep theirs."""
    git = ["git", "-C", str(file.parent), "log", "-1", "--format=%h", "--", ":/src"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    now = {c: [f"{r:.3f}", commit, str(datetime.date.today())] for c, r in ratios.items()}
    header = [
        "# Cells of bench_map.py that users have: CPU time of the peer over ours, last commit",
        "# that changed src, date and cell. Compare ratios on one and the same machine;",
        "# they differ by a tenth between runs.",
    ]
    lines = ["{:>7}  {} {}  ".format(*told) + name for name, told in (cells | now).items()]
    file.write_text("\n".join([*header, *lines, ""]), encoding="utf-8")


def compare_with_recorded(recorded: dict[str, float], ratios: dict[str, float]) -> None:
    """Geometric means over the cells that were measured now and before, and what is slower."""
    both = {c: (r, recorded[c]) for c, r in ratios.items() if recorded[c] > 0}
    if both:
        now, before = zip(*both.values(), strict=True)
        means = [statistics.geometric_mean(side) for side in (now, before)]
        slower = [sum(r >= 1 for r in side) for side in (now, before)]
        much = sum(was / r > 1.25 for r, was in both.values())
        print(
            f"{len(both)} of {len(recorded)} cells: geometric mean {means[0]:.2f}x, recorded "
            f"{means[1]:.2f}x; {slower[0]} not slower than the peer, recorded {slower[1]}; "
            f"{much} more than 1.25 times slower than recorded"
        )


def main() -> int:
    """The map, losses first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the largest shapes")
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        help=f"cells whose name holds all of these; {', '.join(USES)}, on-line",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=40.0, help="seconds a cell may take")
    parser.add_argument("--cells", type=Path, help="a file of cells: measure only these")
    parser.add_argument("--record", action="store_true", help="write the ratios into that file")
    options = parser.parse_args()
    if options.record and not options.cells:
        parser.error("--record needs --cells FILE.")
    cells = read_cells(options.cells) if options.cells else {}
    recorded = {name: float(told[0]) for name, told in cells.items()}
    found: list[Any] = []
    for name, shape in wanted(options, cells):
        found += measured(name, shape, options)
    works = {name: partial(map_uses.measured, uses) for name, uses in USES.items()}
    works["on-line"] = partial(map_online.measured, options.quick)
    for name, work in works.items():
        if not options.only or name in options.only:
            told = limited(work, 5 * options.limit, options.repeats, cells)
            found += [t[1:] for t in told if t[0] == "row"]
            if not (told and told[-1][0] == "done"):
                print(f"{name}: not all of it within the limit", file=sys.stderr)
    head()
    met = []
    for work, peer, ours_s, peer_s, remark in sorted(found, key=lambda f: f[3] / f[2]):
        met.append(row(work, peer, ours_s, peer_s, recorded.get(work, 1.0)))
        if remark:
            note(remark)
    if options.cells:
        ratios = {work: peer_s / ours_s for work, _, ours_s, peer_s, _ in found}
        compare_with_recorded(recorded, ratios)
        if options.record:
            write_cells(options.cells, cells, ratios)
        absent = [] if options.only else sorted(cells.keys() - ratios)
        if absent:
            print("not measured:", "; ".join(absent), file=sys.stderr)
        return 1 if absent else 0
    return 0 if all(met) or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
