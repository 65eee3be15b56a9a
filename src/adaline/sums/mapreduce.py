"""One map-reduce: a pure function of blocks, merged in a tree whose shape the blocks alone decide.

Parts are merged like the digits of a binary counter: two parts of equal size become one of twice
the size. What waits to be merged, a part for each 1 in the binary number of blocks seen, is all
there is to remember; so a run can stop at any block and go on with the same bits.

Who applies the function is an `Executor`: this process, a pool of processes, or the workers of a
cluster (`adaline.distributed`). It may merge whole branches of the tree on the way, and so decides
nothing about the bits.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any, Generic, Protocol, TypeVar

from threadpoolctl import threadpool_info, threadpool_limits

D = TypeVar("D")
T = TypeVar("T")

AHEAD = 2  # blocks in flight for each process: enough to keep it busy, few enough to hold


@dataclass
class Reduction(Generic[T]):
    """Parts merged so far: `count` of them, and a merged part for each 1 of count in binary.

    >>> sums = Reduction(merge=lambda a, b: f"({a}{b})")
    >>> for letter in "abcde":
    ...     sums.push(letter)
    >>> sums.waiting, sums.total()
    (['((ab)(cd))', 'e'], '(((ab)(cd))e)')
    >>> sums.push("(fg)", of=2)
    Traceback (most recent call last):
    ValueError: a branch of 2 parts does not begin at part 5 of the tree.
    """

    merge: Callable[[T, T], T]  # (earlier, later) -> both together
    count: int = 0
    waiting: list[T] = field(default_factory=list)  # the largest first

    def __post_init__(self) -> None:
        if self.count < 0 or len(self.waiting) != self.count.bit_count():
            raise ValueError(f"{len(self.waiting)} merged parts are not what {self.count} come to.")

    def push(self, part: T, of: int = 1) -> None:
        """Take the next part, or a branch of the tree: `of` parts, a power of two, merged."""
        if self.count % of or of & (of - 1):
            raise ValueError(
                f"a branch of {of} parts does not begin at part {self.count} of the tree."
            )
        carries = self.count // of
        while carries & 1:
            part = self.merge(self.waiting.pop(), part)
            carries >>= 1
        self.waiting.append(part)
        self.count += of

    def total(self) -> T:
        """All parts together; more may still come."""
        if not self.waiting:
            raise ValueError("there are no blocks to merge; give at least one.")
        whole = self.waiting[-1]
        for earlier in self.waiting[-2::-1]:
            whole = self.merge(earlier, whole)
        return whole


class Executor(Protocol):
    """Who applies the function to the descriptors."""

    def parts(
        self,
        function: Callable[[Any], Any],
        descriptors: Iterator[Any],
        merge: Callable[[Any, Any], Any],
        start: int,
    ) -> Iterator[tuple[Any, int]]:
        """Parts in the order of the descriptors, and of how many descriptors each is.

        The first descriptor is number `start` of the tree. A part of several is a branch: their
        number is a power of two that divides the number of its first descriptor.
        """
        ...


def branch(function: Callable[[D], T], merge: Callable[[T, T], T], descriptors: Iterable[D]) -> T:
    """The merged parts of a branch of the tree, which holds as many descriptors as a power of two.

    >>> branch(str, lambda a, b: f"({a}{b})", [1, 2, 3, 4])
    '((12)(34))'
    """
    sums: Reduction[T] = Reduction(merge)
    for descriptor in descriptors:
        sums.push(function(descriptor))
    return sums.total()


def mapreduce(
    function: Callable[[D], T],
    descriptors: Iterable[D],
    merge: Callable[[T, T], T],
    jobs: int | Executor = 1,
    progress: Callable[[T], None] | None = None,
    *,
    reduction: Reduction[T] | None = None,
    after: Callable[[Reduction[T]], None] | None = None,
) -> T:
    """Apply a pure function to every descriptor and merge what it gives.

    The answer has the same bits in this process, over any number of processes, and on any cluster.
    function, merge and descriptors travel to other processes, so they must be picklable: functions
    of a module, or `functools.partial` of them. A descriptor says where rows are; it does not hold
    them. `progress` gets every part as it comes, in order; `after` the reduction, which may be kept
    to go on from later: then its `count` descriptors are skipped.

    >>> mapreduce(abs, [-1, 2, -3], int.__add__)
    6
    """
    sums: Reduction[T] = Reduction(merge) if reduction is None else reduction
    remaining = iter(descriptors)
    skipped = sum(1 for _ in islice(remaining, sums.count))
    if skipped < sums.count:
        raise ValueError(f"{sums.count} parts are merged, and there are {skipped}.")
    with open_executor(jobs) as executor:
        for part, of in executor.parts(function, remaining, merge, sums.count):
            sums.push(part, of)
            if progress is not None:
                progress(part)
            if after is not None:
                after(sums)
    return sums.total()


def open_executor(jobs: int | Executor) -> AbstractContextManager[Executor]:
    """Who does the work: so many processes, or the executor itself.

    Starting processes takes seconds, so many passes share those of one context.
    """
    if not isinstance(jobs, int):
        return nullcontext(jobs)
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; give a number of processes, 1 or more.")
    return nullcontext(InProcess()) if jobs == 1 else Processes(jobs)


class InProcess:
    """This process, a part after the other."""

    def parts(
        self, function: Callable[[Any], Any], descriptors: Iterator[Any], merge: Any, start: int
    ) -> Iterator[tuple[Any, int]]:
        """The parts in order."""
        return ((function(descriptor), 1) for descriptor in descriptors)


class Processes(AbstractContextManager[Any]):
    """A pool of processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        context = get_context("spawn")
        self.pool = ProcessPoolExecutor(jobs, context, initializer=begin_process, initargs=(jobs,))

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)

    def parts(
        self, function: Callable[[Any], Any], descriptors: Iterator[Any], merge: Any, start: int
    ) -> Iterator[tuple[Any, int]]:
        """The parts in order, a few blocks ahead of who takes them."""
        pending = deque[Future[Any]]()
        try:
            for descriptor in descriptors:
                pending.append(self.pool.submit(function, descriptor))
                if len(pending) >= AHEAD * self.jobs:
                    yield pending.popleft().result(), 1
            while pending:
                yield pending.popleft().result(), 1
        finally:
            for future in pending:
                future.cancel()


def begin_process(jobs: int) -> None:
    """Give a process its share of the threads of BLAS, which would compete for the cores.

    Ctrl-C is for the process that started this one, which ends it in order.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    counts = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    threadpool_limits(max(max(counts, default=1) // jobs, 1))
