"""Descriptors cut into branches of the merge tree, for the executors of Dask.

How long the branches are decides who works on what, and no bit of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from adaline.sums.mapreduce import branch

LARGEST_BRANCH = 32  # descriptors of a task: what is computed again when a worker dies


def cut_branches(
    descriptors: Iterator[Any], start: int, threads: Callable[[], int]
) -> Iterator[list[Any]]:
    """Branches of the merge tree in order; the first descriptor is number `start` of the tree.

    They are short at first, and where many threads work, so that every thread gets some. A length
    is a power of two that divides the number of descriptors before: that makes it a branch.

    >>> [len(branch) for branch in cut_branches(iter(range(40)), 0, lambda: 1)]
    [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8]
    """
    count, most, some = start, 1, [None]
    while len(some) == most:  # else the descriptors are used up
        share = max(count // (4 * max(threads(), 1)), 1)  # a quarter of a thread's work so far
        most = min(count & -count or 1, 1 << (share.bit_length() - 1), LARGEST_BRANCH)
        some = list(islice(descriptors, most))
        left = some
        while left:  # the last descriptors may be fewer than a branch
            size = 1 << (len(left).bit_length() - 1)
            yield left[:size]
            count, left = count + size, left[size:]


def lazy_branch(
    function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], blocks: Sequence[Any]
) -> Any:
    """The branch as a graph of Dask: a task for each block, and one for each merge."""
    from dask import delayed

    options = {"pure": False, "traverse": False}  # functions are no collections to look into
    return branch(delayed(function, **options), delayed(merge, **options), blocks)
