"""Weights recorded while a filter runs, every so many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.filters._signals import Signal


class History:
    """Recorded weights, and after how many samples each of them was recorded."""

    def __init__(self, records: list[Signal] | None = None, at: list[int] | None = None) -> None:
        self.records = records or []
        self.at = at or []

    def copy(self) -> History:
        """The same records in arrays of their own."""
        return History([w.copy() for w in self.records], list(self.at))

    def weights(self, shape: tuple[int, ...]) -> Signal:
        """All records in one array; `shape` is that of one of them."""
        return np.array(self.records) if self.records else np.empty((0, *shape))

    def places(self) -> NDArray[np.int64]:
        """After how many samples each record was taken."""
        return np.array(self.at, dtype=np.int64)

    def add(self, found: list[tuple[int, Signal]]) -> None:
        """Records of a block, each with its place."""
        self.at += [at for at, _ in found]
        self.records += [w for _, w in found]


def pieces(count: int, n: int, every: int | None) -> list[slice]:
    """A block of n samples after `count` others, cut where weights are recorded.

    >>> pieces(3, 10, every=5)
    [slice(0, 2, None), slice(2, 7, None), slice(7, 10, None)]
    """
    ends = [n] if every is None else [*range(every - count % every, n, every), n]
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
