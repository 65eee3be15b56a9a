"""Temporary Arrow files: rows that were parsed, or that come once, are read from there again.

Text files and streams of blocks put their record batches there, and map them into memory.
"""

from __future__ import annotations

import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from adaline.errors import refuse_beyond_memory
from adaline.sums.mapreduce import Executor

SCRATCH = math.inf  # bytes of temporary files, unless a user sets a limit
REMEMBERED = 4  # texts whose record batches a process remembers, heads included
_remembered: dict[str, list[Any]] = {}


def remembered(key: str, make: Callable[[], list[Any]]) -> list[Any]:
    """What was made for this key a moment ago, or is made now."""
    if (batches := _remembered.get(key)) is None:
        batches = make()
        for old in list(_remembered)[: 1 - REMEMBERED]:  # threads may do so, too
            _remembered.pop(old, None)
        _remembered[key] = batches
    return batches


@dataclass(frozen=True)
class Scratch:
    """A folder of temporary files, which processes of one machine share."""

    size: float  # bytes, at most
    folder: str


@contextmanager
def kept_in(size: float, who: int | Executor) -> Iterator[Scratch | None]:
    """A folder for as long as a fit lasts; None on a cluster, whose machines share none."""
    if not isinstance(who, int):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="adaline-", ignore_cleanup_errors=True) as folder:
        try:
            yield Scratch(size, folder)
        finally:
            _remembered.clear()  # what is mapped into memory takes room even if removed


def put_in_file(
    batches: Callable[[], Iterator[Any]], name: str, scratch: Scratch | None = None, key: str = ""
) -> list[Any]:
    """Record batches in a temporary Arrow file, mapped into memory.

    Without a scratch folder the file has no name, and goes with the batches. Where there is no room
    for it, the batches stay in memory.
    """
    import pyarrow as pa

    folder = tempfile.gettempdir() if scratch is None else scratch.folder
    path = os.path.join(folder, key)
    with suppress(OSError):
        if scratch is not None and os.path.exists(path):
            with open(path, "rb") as file:
                return _map(file)
        limit, new_batches = _room(folder, scratch), batches()
        is_shared = scratch is not None
        with tempfile.NamedTemporaryFile("wb+", dir=folder, delete=not is_shared) as new:
            if (first := next(new_batches, None)) is None:
                return []
            with pa.ipc.new_file(new, first.schema) as writer:
                for batch in chain([first], new_batches):
                    if new.tell() + batch.nbytes > limit:
                        raise OSError(f"there is room for {limit} bytes")
                    writer.write_batch(batch)
            new.flush()
            mapped = _map(new)
        if is_shared:
            os.replace(new.name, path)  # at once, so that nobody reads half a file
        return mapped
    in_memory, size = list[Any](), 0
    for batch in batches():
        in_memory.append(batch)
        size += batch.nbytes
        advice = "Set TMPDIR to a folder with more room, or save the file as Parquet."
        refuse_beyond_memory(size, f"{name}: rows that found no room in {folder}", advice)
    return in_memory


def _map(file: Any) -> list[Any]:
    import pyarrow as pa

    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    batches = pa.ipc.open_file(pa.py_buffer(content))
    return [batches.get_batch(k) for k in range(batches.num_record_batches)]


def _room(folder: str, scratch: Scratch | None) -> float:
    """Bytes that a new file may have: half of what is free, or what its owner has left."""
    free = shutil.disk_usage(folder).free
    with suppress(AttributeError):  # Windows, which has no tmpfs
        if os.major(os.stat(folder).st_dev) == 0:  # no disk: it may lie in memory
            free = min(free, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    if scratch is None:
        return free // 2
    return min(free // 2, scratch.size - sum(one.stat().st_size for one in os.scandir(folder)))
