"""What every benchmark shares: medians, threads, peak memory, and one line a comparison.

Ours and the peer run in turns in one process, so that a busy machine slows both. Where
`ADALINE_SCOREBOARD` names a file, every line goes there too, for `scoreboard.py`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

Work = Callable[[], Any]


def seconds(f: Work) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def median_seconds(f: Work, repeats: int = 5) -> float:
    """Median wall-clock seconds of warm calls; one call before them is not counted."""
    f()
    return statistics.median(seconds(f) for _ in range(repeats))


@contextmanager
def threads(n: int) -> Iterator[None]:
    """At most n threads in BLAS and OpenMP."""
    with threadpool_limits(limits=n):
        yield


def peak_megabytes(f: Work) -> float:
    """Most resident memory during f beyond that before it; NaN where Linux does not tell."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # memory kept from earlier work would hide new needs
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
        before = _status("VmRSS")
        f()
        return (_status("VmHWM") - before) / 1024
    except (OSError, AttributeError):
        return float("nan")


def _status(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found.group(1)) if found else 0


def head() -> None:
    """The titles of `row`."""
    print(f"{'work':<40} {'peer':<12} {'ours':>9} {'peer':>9} {'ratio':>7} {'target':>7}")


def row(name: str, peer: str, ours_s: float, peer_s: float, target: float) -> bool:
    """Print one comparison; true where the target is met."""
    ratio = peer_s / ours_s
    verdict = "ok" if ratio >= target else "MISSED"
    times = f"{ours_s * 1e3:7.1f}ms {peer_s * 1e3:7.1f}ms"
    print(f"{name:<40} {peer:<12} {times} {ratio:6.1f}x {target:6.1f}x  {verdict}", flush=True)
    numbers = {"ours_s": ours_s, "peer_s": peer_s, "ratio": ratio, "target": target}
    _record("row", work=name, peer=peer, **numbers)
    return ratio >= target


def note(text: str) -> None:
    """Print what was checked about the rows above: same answer, memory, accuracy."""
    print(f"    {text}", flush=True)
    _record("note", text=text)


def missing(peer: str, how: str = "") -> None:
    """Say that a peer is not installed, so that it is not compared."""
    print(f"    {peer} is missing: {how or f'pip install {peer}'} brings it.", flush=True)
    _record("missing", peer=peer)


def _record(kind: str, **what: Any) -> None:
    board = os.environ.get("ADALINE_SCOREBOARD")
    if board:
        with Path(board).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"kind": kind, "script": Path(sys.argv[0]).name} | what) + "\n")


def compare(
    name: str, ours: Work, peer: Work, target: float, repeats: int = 5, peer_name: str = ""
) -> bool:
    """Medians of both, taken in turns, and the row that tells them."""
    ours(), peer()
    pairs = [(seconds(ours), seconds(peer)) for _ in range(repeats)]
    ours_s, peer_s = (statistics.median(times) for times in zip(*pairs, strict=True))
    return row(name, peer_name, ours_s, peer_s, target)
