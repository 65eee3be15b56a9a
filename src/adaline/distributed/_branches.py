"""Descriptors cut into branches of the merge tree, whose sizes change no bit of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

_LARGEST = 32  # descriptors of a task, at most: what a dying worker loses
_SHARE = 4  # a task is at most one in so many of the descriptors done for each thread


def branches(
    descriptors: Iterator[Any], start: int, threads: Callable[[], int]
) -> Iterator[list[Any]]:
    """Branches in order; the first descriptor is number `start` of the tree.

    `threads` tells how many work at present: the more, the smaller a branch.

    >>> [len(branch) for branch in branches(iter(range(40)), 0, lambda: 1)]
    [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8]
    """
    count = start
    while True:
        size = branch_size(count, threads())
        some = list(islice(descriptors, size))
        yield from _ends(some, count) if len(some) < size else [some]
        count += len(some)
        if len(some) < size:
            return


def branch_size(count: int, threads: int) -> int:
    """Descriptors of the next branch: few at first, more as many are done.

    A power of two that divides the number of descriptors before it, so that it is a branch of the
    tree.

    >>> [branch_size(count, 2) for count in (0, 8, 16, 64, 65, 1024)]
    [1, 1, 2, 8, 1, 32]
    """
    aligned = count & -count if count else 1
    share = max(count // (_SHARE * max(threads, 1)), 1)
    return min(aligned, 1 << (share.bit_length() - 1), _LARGEST)


def _ends(descriptors: list[Any], count: int) -> Iterator[list[Any]]:
    """The descriptors that are left at the end, cut into branches."""
    while descriptors:
        size = 1 << (len(descriptors).bit_length() - 1)
        size = min(size, count & -count) if count else size
        yield descriptors[:size]
        descriptors, count = descriptors[size:], count + size
