"""Rows shared out among threads, in pieces whose number and size depend on the data alone.

Called by sums and procedures that pass over rows. The pieces are the same with one thread or many,
BLAS works on one thread in each, and their sums are added in their order: the bits of an answer do
not depend on the number of threads. As many threads are used as BLAS may use, so that
`threadpoolctl.threadpool_limits` and OMP_NUM_THREADS are honoured; calls at the same time share
that number. Constants: bench/bench_threads.py.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import cache, lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
Cuts = list[tuple[int, int]]

MIN_NUMBERS = 2**20  # in a piece: a millisecond of work
MIN_PRODUCTS = 2**26  # in a piece, where a row of q numbers costs q^2 products
MIN_PRODUCT_ROWS = 768  # in such a piece: products of 512 rows take BLAS a tenth longer
MAX_PIECES = 32  # twice the cores of a large machine, so that none waits long at the end
MAX_SUMS = 2**24  # numbers in the sums of all pieces together: 128 MB
WORTHWHILE_PIECES = 8  # if there is room for fewer, the threads of BLAS do better
TILE_ROWS = 256  # pieces hold a multiple of this
MANY_COLUMNS = 1024  # beyond, a factorisation has work enough for the threads of BLAS


def pieces(n: int, q: int, held: int = 0) -> Cuts:
    """Where to cut n rows of q columns.

    held is the number of sums that every piece keeps: by default q, a vector. Where it is q^2, of
    a matrix, a row costs that many products and pieces may be shorter.
    """
    q, held = max(q, 1), max(held, q, 1)
    most = MAX_SUMS // held
    if n <= TILE_ROWS or most < WORTHWHILE_PIECES:
        return [(0, n)] if n else []
    least = MIN_NUMBERS // q
    if held >= q * q:
        least = min(least, max(MIN_PRODUCTS // (q * q), MIN_PRODUCT_ROWS))
    rows = max(least, -(-n // min(most, MAX_PIECES)))
    rows = -(-rows // TILE_ROWS) * TILE_ROWS
    return [(i, min(i + rows, n)) for i in range(0, n, rows)]


def over_pieces(work: Callable[[int, int], T], n: int, q: int) -> list[T]:
    """work(start, stop) of every piece, in order."""
    results: list[T] = []
    share_out(work, pieces(n, q), results.append)
    return results


def summed(work: Callable[[int, int], T], add: Callable[[T, T], T], cuts: Cuts) -> T:
    """work(start, stop) of every cut, added in order as soon as possible: few are kept."""
    total: list[T] = []
    share_out(work, cuts, lambda part: total.append(add(total.pop(), part) if total else part))
    return total[0]


def share_out(work: Callable[[int, int], T], cuts: Cuts, take: Callable[[T], Any]) -> None:
    """take(work(start, stop)) of every cut, in order; an error is that of the first that fails."""
    if len(cuts) == 1:  # small data: no time to lose
        take(work(*cuts[0]))
        return
    count, futures = threads(), deque[Future[T]]()
    with one_thread:
        if count == 1:
            for cut in cuts:
                take(work(*cut))
            return
        try:
            for cut in cuts:
                if len(futures) == count:  # no more than count threads, and results, at a time
                    take(futures.popleft().result())
                # numpy's errstate and the like hold in other threads too.
                run: Any = copy_context().run
                futures.append(pool(count).submit(run, work, *cut))
            while futures:
                take(futures.popleft().result())
        finally:
            wait([future for future in futures if not future.cancel()])


@lru_cache(maxsize=1)
def pool(count: int) -> ThreadPoolExecutor:
    """Threads that are kept, and shared by calls at the same time: to start sixteen takes as long
    as a pass over 10^5 rows."""
    return ThreadPoolExecutor(count, f"adaline-{count}", one_thread.enter_for_good)


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads BLAS may use now, but for limits of ours.

    One for a thread that has itself set BLAS to one: work inside pieces is not cut again. Never
    more than cores: BLAS does not see an affinity that was set after it was loaded.
    """
    return min(one_thread.allowed(), cores())


def one_blas_thread(q: int) -> AbstractContextManager[None]:
    """BLAS on one thread, for factorisations of q columns, unless many, between two passes.

    Threads of BLAS go on waiting busily after their work, for some hundredths of a second, on the
    very cores that the next pass wants for its own threads: it would take twice as long.
    """
    return one_thread if q <= MANY_COLUMNS else nullcontext()


def between_passes(n: int, q: int) -> AbstractContextManager[None]:
    """`one_blas_thread`, where the passes are over so many rows that threads share them."""
    return one_blas_thread(q) if n * q >= 2 * MIN_NUMBERS else nullcontext()


class OneThread:
    """BLAS on one thread as long as any thread of this process is inside.

    Most BLAS libraries have one limit for the process: the first thread that enters sets it, and
    the last one that leaves restores it. Were each thread to restore what itself had found, two
    that overlap could leave the limit at one for ever. With OpenMP each thread has its own limit.
    """

    def __init__(self) -> None:
        self._own = threading.local()  # how often a thread has entered, and its limits of OpenMP
        self._lock, self._inside = threading.Lock(), 0
        self._limits: list[tuple[Any, int]] = []  # before the first thread entered

    def __enter__(self) -> None:
        self._own.depth = getattr(self._own, "depth", 0) + 1
        if self._own.depth == 1:
            with self._lock:
                limits = [(one, number) for one, number in current_limits() if number > 1]
                if self._inside == 0:
                    self._limits = limits
                self._inside += 1
                set_limits([(one, 1) for one, _ in limits])
            self._own.limits = [(one, number) for one, number in limits if is_openmp(one)]

    def __exit__(self, *_: object) -> None:
        self._own.depth -= 1
        if self._own.depth == 0:
            with self._lock:
                self._inside -= 1
                set_limits((self._limits if self._inside == 0 else []) + self._own.limits)

    def enter_for_good(self) -> None:
        """A thread of the pool works only while the thread that calls it is inside."""
        self._own.depth = 1
        set_limits([(one, 1) for one, _ in current_limits() if is_openmp(one)])

    def allowed(self) -> int:
        """Threads that BLAS may use, were nobody else inside."""
        if getattr(self._own, "depth", 0):
            return 1
        with self._lock:
            limits = self._limits if self._inside else current_limits()
        return max((number for _, number in limits), default=1)

    def after_fork(self) -> None:
        """The thread that has forked is the only one here, so no other is inside."""
        pool.cache_clear()
        was_inside, self._lock = self._inside, threading.Lock()
        self._inside = min(getattr(self._own, "depth", 0), 1)
        if was_inside and not self._inside:
            set_limits(self._limits)


one_thread = OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.after_fork)


@cache
def blas_libraries() -> list[Any]:
    return [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]


def is_openmp(library: Any) -> bool:
    return getattr(library, "threading_layer", "") == "openmp"


def current_limits() -> list[tuple[Any, int]]:
    return [(one, one.num_threads or 1) for one in blas_libraries()]


def set_limits(limits: list[tuple[Any, int]]) -> None:
    for one, number in limits:
        # From 3.8 on, `set_num_threads` silently ignores every thread but the first to call it.
        getattr(one, "_real_set_num_threads", one.set_num_threads)(number)
