"""The area under the ROC curve: how often a row of the second class has the larger score.

Scores of several models, as in cross-validation, are compared within each model only.
Scores are kept while they are few, and the area is exact. Beyond that they are counted in bins
that follow the bits of a float64, which any blocks in any order fill alike; then the area is known
up to the pairs of rows that share a bin, and this error is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.results import Result

_EXACT = 1_000_000  # scores that are kept
_BITS = 20  # bits of a score that name its bin: sign, exponent and eight more
_SHIFT = np.uint64(64 - _BITS)
_SIGN = np.uint64(1 << 63)


@dataclass
class Ranks(Result):
    """Scores of two classes, block by block.

    Examples
    --------
    >>> import numpy as np
    >>> found = Ranks()
    >>> found.add(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> found.area()
    (0.75, 0.0)
    """

    most: int = _EXACT
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    truths: list[NDArray[np.bool_]] = field(default_factory=list)
    rows: int = 0
    bins: Any = None  # (2, 2**_BITS) counts, once the rows are many
    parts: list[Ranks] = field(default_factory=list)  # those whose scores compare with no others

    def add(self, scores: NDArray[Any], yes: NDArray[np.bool_]) -> None:
        """The next rows; one with a score that is no number has no rank and is left out."""
        v = np.asarray(scores, dtype=np.float64)
        there = ~np.isnan(v)
        v, yes = v[there], np.asarray(yes, dtype=bool)[there]
        self.rows += len(v)
        if self.bins is not None:
            self._count(v, yes)
            return
        self.scores.append(v)
        self.truths.append(yes)
        if self.rows > self.most:
            self.bins = np.zeros((2, 1 << _BITS), dtype=np.int64)
            for part, truth in zip(self.scores, self.truths, strict=True):
                self._count(part, truth)
            self.scores, self.truths = [], []

    def _count(self, v: NDArray[np.float64], yes: NDArray[np.bool_]) -> None:
        places = _bins(v)
        for k, rows in enumerate((~yes, yes)):
            self.bins[k] += np.bincount(places[rows], minlength=1 << _BITS)

    def cut(self) -> None:
        """What comes now has scores of another model, which do not compare with those before."""
        part = Ranks(self.most, self.scores, self.truths, self.rows, self.bins)
        self.parts.append(part)
        self.scores, self.truths, self.rows, self.bins = [], [], 0, None

    @property
    def counts(self) -> tuple[int, int]:
        """Rows of the first class and of the second."""
        no, yes = self._counts()
        for part in self.parts:
            no, yes = no + part.counts[0], yes + part.counts[1]
        return no, yes

    def _counts(self) -> tuple[int, int]:
        if self.bins is not None:
            return int(self.bins[0].sum()), int(self.bins[1].sum())
        yes = sum(int(truth.sum()) for truth in self.truths)
        return self.rows - yes, yes

    def area(self) -> tuple[float, float] | None:
        """The area, and how far it may be off at most; None where there are no pairs of rows."""
        won, off, pairs = np.sum([part._pairs() for part in (self, *self.parts)], axis=0).tolist()
        return (won / pairs, off / pairs) if pairs else None

    def _pairs(self) -> tuple[float, float, float]:
        """Pairs of a row of each class that are in order, how far off that may be, and all."""
        no, yes = self._counts()
        if not no or not yes:
            return 0.0, 0.0, 0.0
        if self.bins is not None:
            below, here = self.bins
        else:
            v, truth = np.concatenate(self.scores), np.concatenate(self.truths)
            _, places = np.unique(v, return_inverse=True)
            size = int(places.max()) + 1
            below, here = (np.bincount(places[k], minlength=size) for k in (~truth, truth))
        beaten = (np.cumsum(below) - below).astype(np.float64)  # products may leave int64
        surely, shared = float(here @ beaten), float(here @ below.astype(np.float64))
        off = 0.0 if self.bins is None else shared / 2
        return surely + shared / 2, off, float(no) * float(yes)


def _bins(v: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of each number: the larger the number, the larger the bin; -0 and 0 share one."""
    bits = (v + 0.0).view(np.uint64)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return (ordered >> _SHIFT).astype(np.int64)
