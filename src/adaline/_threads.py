"""Rows shared out among threads, in pieces whose number and size depend on the data alone.

The pieces are the same with one thread or many, and their sums are added in their order, so
the bits of an answer do not depend on the machine's load. As many threads are used as BLAS may use:
`threadpoolctl.threadpool_limits` and OMP_NUM_THREADS are honoured.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_NUMBERS = 2**20  # in a piece, at least: a millisecond of work
_PIECES = 8  # at most: each holds sums of its own
_LARGE = 512  # columns beyond which BLAS has work enough for its own threads


def pieces(n: int, q: int) -> list[tuple[int, int]]:
    """Where to cut n rows of q columns."""
    if q > _LARGE:  # sums too large to hold several of
        return [(0, n)]
    rows = max(_NUMBERS // max(q, 1), -(-n // _PIECES))
    rows = -(-rows // 4096) * 4096
    return [(i, min(i + rows, n)) for i in range(0, n, rows)]


def over_pieces(work: Callable[[int, int], T], n: int, q: int) -> list[T]:
    """work(start, stop) of every piece, in order."""
    cuts = pieces(n, q)
    workers = min(threads(), len(cuts)) if len(cuts) > 1 else 1
    if workers == 1:
        return [work(start, stop) for start, stop in cuts]
    with (
        _one_thread,
        ThreadPoolExecutor(
            workers, thread_name_prefix="adaline", initializer=_one_thread.enter_for_good
        ) as pool,
    ):
        return list(pool.map(work, *zip(*cuts, strict=True)))


def one_blas_thread(q: int) -> AbstractContextManager[None]:
    """BLAS on one thread, for small factorisations (q columns, unless many) between two passes.

    Threads of BLAS go on waiting busily after their work, for some hundredths of a second, on the
    very cores that the next pass wants for its own threads: it would take twice as long.
    """
    return _one_thread if q <= _LARGE else nullcontext()


def threads() -> int:
    """How many threads BLAS may use now, but for limits of ours; one where it does not tell.

    One for a thread that has itself set BLAS to one: work inside pieces is not cut again.
    """
    return _one_thread.allowed()


class _OneThread:
    """BLAS on one thread as long as any thread of this process is inside.

    Most BLAS libraries have one limit for the whole process. So the first thread that enters sets
    it, and the last one that leaves restores what the first one found. Were each thread to restore
    what itself had found, two that overlap could leave the limit at one for ever. Libraries on
    OpenMP have a limit for each thread: there every thread sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0  # how many times entered, by all threads together
        self._found: list[tuple[Any, int]] = []  # limits of the process, before the first entered
        self._own = _Own()

    def __enter__(self) -> None:
        process, thread = _libraries()  # outside the lock: a first search for libraries is long
        with self._lock:
            if self._inside == 0:
                self._found = _limited(process)
            self._inside += 1
        if self._own.depth == 0:
            self._own.found = _limited(thread)
        self._own.depth += 1

    def __exit__(self, *_: object) -> None:
        self._own.depth -= 1
        if self._own.depth == 0:
            _restore(self._own.found)
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._lift()

    def enter_for_good(self) -> None:
        """Count a worker as inside: it ends before the thread that has started it leaves."""
        self._own.depth = 1
        _limited(_libraries()[1])

    def allowed(self) -> int:
        """Threads that BLAS may use, were nobody else inside."""
        if self._own.depth:
            return 1
        process, thread = _libraries()
        with self._lock:
            found = dict(self._found)
            numbers = [found.get(one, one.num_threads) for one in process]
        return max([*numbers, *(one.num_threads for one in thread)], default=1) or 1

    def _lift(self) -> None:
        found, self._found = self._found, []
        _restore(found)

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """The thread that has forked is the only one here, so the others are not inside."""
        self._lock = threading.Lock()
        self._inside = self._own.depth
        if self._inside == 0:
            self._lift()


class _Own(threading.local):
    """What a thread knows of itself: how many times it has entered, and what it found."""

    depth = 0
    found: list[tuple[Any, int]] = []  # noqa: RUF012 (replaced, never changed)


_one_thread = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_one_thread.before_fork,
        after_in_parent=_one_thread.after_fork_in_parent,
        after_in_child=_one_thread.after_fork_in_child,
    )


def _limited(libraries: list[Any]) -> list[tuple[Any, int]]:
    """Set libraries to one thread; which were not, and what they had."""
    found = [(one, one.num_threads) for one in libraries]
    found = [(one, number) for one, number in found if number not in (None, 1)]
    _restore([(one, 1) for one, _ in found])
    return found


def _restore(found: list[tuple[Any, int]]) -> None:
    for one, number in found:
        # From 3.8 on, `set_num_threads` silently ignores every thread but the first to call it.
        getattr(one, "_real_set_num_threads", one.set_num_threads)(number)


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """BLAS libraries whose limit holds for the process, and those where it holds for a thread."""
    blas = [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
    thread = [one for one in blas if getattr(one, "threading_layer", "") == "openmp"]
    return [one for one in blas if one not in thread], thread
