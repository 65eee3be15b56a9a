"""Rows shared out among threads, in pieces whose number and size depend on the data alone.

The pieces are the same with one thread or many, and their sums are added in their order, so
the bits of an answer do not depend on the machine's load. As many threads are used as BLAS may use:
`threadpoolctl.threadpool_limits` and OMP_NUM_THREADS are honoured. All fits of a process that
run at the same time share that number.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from functools import cache
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
Cuts = list[tuple[int, int]]

_NUMBERS = 2**20  # in a piece, at least: a millisecond of work
_PRODUCTS = 2**26  # in a piece, at least, where a row of q numbers costs q^2 products
_PIECES = 32  # at most: twice the cores of a large machine, so that none waits long at the end
_ROOM = 2**24  # numbers in the sums of all pieces together, at most: 128 MB
_WORTH = 8  # pieces, if room for fewer the threads of BLAS do better
_PRODUCT_ROWS = 768  # in such a piece, at least: BLAS takes a tenth longer for products of 512 rows
_ROWS = 256  # a multiple of which every piece holds: whole tiles
_LARGE = 1024  # columns beyond which BLAS has work enough for its own threads


def pieces(n: int, q: int, held: int = 0) -> Cuts:
    """Where to cut n rows of q columns.

    held is the number of sums that every piece keeps: by default q, a vector. Where it is q^2, of
    a matrix, a row costs that many products and pieces may be shorter.
    """
    if 0 < n <= _ROWS:  # one piece, whatever the columns; no time to lose
        return [(0, n)]
    q = max(q, 1)
    held = max(held, q)
    most = _ROOM // held
    if most < _WORTH:
        return [(0, n)]
    least = _NUMBERS // q
    if held >= q * q:
        least = min(least, max(_PRODUCTS // (q * q), _PRODUCT_ROWS))
    rows = max(least, -(-n // min(most, _PIECES)))
    rows = -(-rows // _ROWS) * _ROWS
    return [(i, min(i + rows, n)) for i in range(0, n, rows)]


def over_pieces(work: Callable[[int, int], T], n: int, q: int) -> list[T]:
    """work(start, stop) of every piece, in order."""
    return over_cuts(work, pieces(n, q))


def over_cuts(
    work: Callable[[int, int], T], cuts: Cuts, most_threads: int | None = None
) -> list[T]:
    """work(start, stop) of every cut, in order, by this many threads at most."""
    if len(cuts) == 1:  # small data: no time to lose
        return [work(*cuts[0])]
    found: list[T] = []
    _share_out(_Shares(work, cuts, found.append), most_threads or len(cuts))
    return found


def summed(work: Callable[[int, int], T], add: Callable[[T, T], T], cuts: Cuts) -> T:
    """work(start, stop) of every cut, added in order as soon as may be: few are kept at a time."""
    if len(cuts) == 1:
        return work(*cuts[0])
    total: list[T] = []

    def take(part: T) -> None:
        total[:] = [add(total[0], part)] if total else [part]

    _share_out(_Shares(work, cuts, take), len(cuts))
    return total[0]


class _Shares(Generic[T]):
    """Pieces of work that any thread may take, and what was found, handed on in order."""

    def __init__(self, work: Callable[[int, int], T], cuts: Cuts, take: Callable[[T], None]):
        self.left = deque(enumerate(cuts))
        self.errors: dict[int, BaseException] = {}
        self._work, self._take = work, take
        self._lock, self._found, self._next = threading.Lock(), dict[int, T](), 0

    def do(self) -> None:
        """Take pieces until none are left."""
        while True:
            try:
                k, cut = self.left.popleft()
            except IndexError:
                return
            try:
                self._hand_on(k, self._work(*cut))
            except BaseException as error:
                self.errors[k] = error
                self.left.clear()
                return

    def _hand_on(self, k: int, part: T) -> None:
        with self._lock:
            self._found[k] = part
            del part
            while self._next in self._found:
                self._take(self._found.pop(self._next))
                self._next += 1

    def check(self) -> None:
        """Raise the error of the first piece that failed: the one that a single thread meets."""
        if self.errors:
            raise self.errors[min(self.errors)]


def _share_out(shares: _Shares[Any], most_threads: int) -> None:
    """Do all pieces, in this thread and in as many more as are free."""
    # Without helpers too: others may be at work now, and leave BLAS its threads in between.
    with _budget.helpers(min(most_threads, len(shares.left)) - 1) as helpers, _one_thread:
        if helpers == 0:
            shares.do()
        else:
            _with_helpers(shares, helpers)
    shares.check()


def _with_helpers(shares: _Shares[Any], helpers: int) -> None:
    futures: list[Future[None]] = []
    try:
        try:
            for _ in range(helpers):  # numpy's errstate and the like hold for helpers too
                futures.append(_pool().submit(copy_context().run, shares.do))
        except RuntimeError:
            pass  # no more threads, as at the end of the program: those at hand do it all
        shares.do()
    finally:
        shares.left.clear()
        wait([future for future in futures if not future.cancel()])


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that are kept: to start sixteen takes as long as a pass over 10^5 rows.

    No more than processors. A thread that has done its work needs a moment until it is free again,
    and calls that follow quickly on one another would start new ones without end.
    """
    return ThreadPoolExecutor(
        os.cpu_count() or 1, thread_name_prefix="adaline", initializer=_one_thread.enter_for_good
    )


class _Budget:
    """How many threads of this process work on pieces now; together at most `threads()`."""

    def __init__(self) -> None:
        self._lock, self._busy = threading.Lock(), 0

    @contextmanager
    def helpers(self, most: int) -> Any:
        """Count this thread and its helpers as busy; how many helpers it may have."""
        limit = threads()
        with self._lock:
            helpers = max(min(most, limit - self._busy - 1), 0)
            self._busy += 1 + helpers
        try:
            yield helpers
        finally:
            with self._lock:
                self._busy -= 1 + helpers

    def after_fork_in_child(self) -> None:
        """Threads are not copied: neither those at work nor those of the pool."""
        self._lock, self._busy = threading.Lock(), 0
        _pool.cache_clear()


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread(q: int) -> AbstractContextManager[None]:
    """BLAS on one thread, for small factorisations (q columns, unless many) between two passes.

    Threads of BLAS go on waiting busily after their work, for some hundredths of a second, on the
    very cores that the next pass wants for its own threads: it would take twice as long.
    """
    return _one_thread if q <= _LARGE else nullcontext()


def between_passes(n: int, q: int) -> AbstractContextManager[None]:
    """`one_blas_thread`, where the passes are over so many rows that threads share them."""
    return one_blas_thread(q) if n * q >= 2 * _NUMBERS else nullcontext()


def threads() -> int:
    """How many threads BLAS may use now, but for limits of ours; one where it does not tell.

    One for a thread that has itself set BLAS to one: work inside pieces is not cut again. Never
    more than cores: BLAS does not see an affinity that was set after it was loaded.
    """
    return min(_one_thread.allowed(), cores())


class _OneThread:
    """BLAS on one thread as long as any thread of this process is inside.

    Most BLAS libraries have one limit for the whole process. So the first thread that enters sets
    it, and the last one that leaves restores what the first one found. Were each thread to restore
    what itself had found, two that overlap could leave the limit at one for ever. Libraries on
    OpenMP have a limit for each thread: there every thread sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0  # how many threads are inside
        self._found: list[tuple[Any, int]] = []  # limits of the process, before the first entered
        self._own = _Own()

    def __enter__(self) -> None:
        own = self._own
        if own.depth > 0:  # this thread has set the limits already
            own.depth += 1
            return
        process, thread = _libraries()  # outside the lock: a first search for libraries is long
        with self._lock:
            if self._inside == 0:
                self._found = _limited(process)
            self._inside += 1
        own.found = _limited(thread)
        own.depth = 1

    def __exit__(self, *_: object) -> None:
        own = self._own
        own.depth -= 1
        if own.depth > 0:
            return
        _restore(own.found)
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._lift()

    def enter_for_good(self) -> None:
        """Count a worker as inside: it works only while the thread that calls it is."""
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
        self._inside = min(self._own.depth, 1)
        if self._inside == 0:
            self._lift()


class _Own(threading.local):
    """What a thread knows of itself: how many times it has entered, and what it found."""

    depth = 0
    found: list[tuple[Any, int]] = []  # noqa: RUF012 (replaced, never changed)


_one_thread = _OneThread()
_budget = _Budget()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_one_thread.before_fork,
        after_in_parent=_one_thread.after_fork_in_parent,
        after_in_child=_one_thread.after_fork_in_child,
    )
    os.register_at_fork(after_in_child=_budget.after_fork_in_child)


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
