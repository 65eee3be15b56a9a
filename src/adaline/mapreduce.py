"""One map-reduce: a pure function of blocks, merged in a tree whose shape the blocks alone decide.

Parts are merged like the digits of a binary counter: two parts of equal size become one of twice
the size. What waits to be merged, a part for each 1 in the binary number of blocks seen, is all
there is to remember; so a run can stop at any block and go on with the same bits.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_info, threadpool_limits

D = TypeVar("D")
T = TypeVar("T")

_AHEAD = 2  # blocks in flight for each process: enough to keep it busy, few enough to hold


@dataclass
class Reduction(Generic[T]):
    """Parts merged so far.

    Attributes
    ----------
    merge : callable
        (earlier, later) -> both together.
    count : int
        Parts seen.
    waiting : list
        A merged part for each 1 of `count` in binary, the largest first.

    Examples
    --------
    >>> sums = Reduction(merge=lambda a, b: f"({a}{b})")
    >>> for letter in "abcde":
    ...     sums.push(letter)
    >>> sums.waiting, sums.total()
    (['((ab)(cd))', 'e'], '(((ab)(cd))e)')
    """

    merge: Callable[[T, T], T]
    count: int = 0
    waiting: list[T] = field(default_factory=list)

    def push(self, part: T) -> None:
        """Take the next part."""
        carries = self.count
        while carries & 1:
            part = self.merge(self.waiting.pop(), part)
            carries >>= 1
        self.waiting.append(part)
        self.count += 1

    def total(self) -> T:
        """All parts together; more may still come."""
        if not self.waiting:
            raise ValueError("there are no blocks to merge; give at least one.")
        whole = self.waiting[-1]
        for earlier in self.waiting[-2::-1]:
            whole = self.merge(earlier, whole)
        return whole


def mapreduce(
    function: Callable[[D], T],
    descriptors: Iterable[D],
    merge: Callable[[T, T], T],
    jobs: int = 1,
    progress: Callable[[T], None] | None = None,
    *,
    reduction: Reduction[T] | None = None,
    after: Callable[[Reduction[T]], None] | None = None,
) -> T:
    """Apply a pure function to every descriptor and merge what it gives.

    The answer has the same bits in this process and over any number of processes.

    Parameters
    ----------
    function : callable
        From a descriptor to a part. With jobs > 1 it and the descriptors travel to processes of
        their own (started by "spawn"), so they must be picklable: a function of a module, or a
        `functools.partial` of one.
    descriptors : iterable
        What each call needs to find its rows; not the rows themselves.
    merge : callable
        (earlier, later) -> both together. Called in this process.
    jobs : int
        Processes; 1 stays in this one.
    progress : callable, optional
        Gets every part as it comes, in order.
    reduction : Reduction, optional
        Where to go on from: its `count` descriptors are skipped.
    after : callable, optional
        Gets the reduction after every part; may keep it, to go on from later.

    Examples
    --------
    >>> mapreduce(abs, [-1, 2, -3], int.__add__)
    6
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; give a number of processes, 1 or more.")
    sums: Reduction[T] = Reduction(merge) if reduction is None else reduction
    rest = iter(descriptors)
    for _ in range(sums.count):
        next(rest, None)
    parts = map(function, rest) if jobs == 1 else _in_processes(function, rest, jobs)
    for part in parts:
        sums.push(part)
        if progress is not None:
            progress(part)
        if after is not None:
            after(sums)
    return sums.total()


_function: Callable[[Any], Any] | None = None  # of a worker, sent once and not with every block


def _begin(function: Callable[[Any], Any], jobs: int) -> None:
    """Begin a worker, with its share of the threads: were every process to use as many as there
    are, they would stand in each other's way.
    """
    global _function
    _function = function
    found = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    threadpool_limits(max(max(found, default=1) // jobs, 1))


def _apply(descriptor: Any) -> Any:
    assert _function is not None
    return _function(descriptor)


def _in_processes(function: Callable[[D], T], descriptors: Iterator[D], jobs: int) -> Iterator[T]:
    """The parts in the order of the descriptors, a few blocks ahead of who takes them."""
    with ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(function, jobs)
    ) as pool:
        flying: deque[Future[T]] = deque()
        try:
            for descriptor in descriptors:
                flying.append(pool.submit(_apply, descriptor))
                if len(flying) >= _AHEAD * jobs:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            for future in flying:
                future.cancel()
