"""Paired tests of two learners on the same rows; `compare` calls them.

McNemar's test conditions on the rows where exactly one of the two is right, and is exact at any
number of them. Means of folds share most of their training rows, and their spread is too small by
a factor that Nadeau and Bengio (Machine Learning 52, 2003) correct.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr


def mcnemar(d: NDArray[Any]) -> float:
    """The exact p-value that +1 and -1 are equally likely in d; zeros do not count.

    >>> mcnemar(np.array([1, 1, 1, 1, 0, 0]))
    0.125
    """
    more, less = int(np.sum(d > 0)), int(np.sum(d < 0))
    return min(1.0, 2 * float(bdtr(min(more, less), more + less, 0.5)))


def corrected_t(d: NDArray[Any], folds: Sequence[tuple[NDArray[Any], float]]) -> float:
    """The p-value of a mean of 0, by t = mean / sqrt((1/k + test/train) s^2) of the k folds' means.

    `folds` are rows of d, and how many there are for each row learned from. Of a single fold the
    rows take the place of folds.

    >>> d = np.array([1.0, 2.0, 1.0, 2.0])
    >>> halves = [(np.array([0, 1]), 1.0), (np.array([2, 3]), 1.0)]
    >>> corrected_t(d - 1.5, halves)
    1.0
    """
    means = np.array([np.mean(d[rows]) for rows, _ in folds]) if len(folds) > 1 else d
    k = len(means)
    if k < 2 or not np.all(np.isfinite(means)) or not np.any(d):
        return 1.0
    spread = float(np.std(means, ddof=1)) * math.sqrt(1 / k + float(np.mean([r for _, r in folds])))
    middle = abs(float(np.mean(d)))
    return 2 * float(stdtr(k - 1, -middle / spread)) if spread else float(middle == 0)
