"""Equal rows with different labels: the simplest reason why nothing separates."""

from __future__ import annotations

import numpy as np

from adaline.certificates.separation.given import Given
from adaline.tiles import is_sparse

_SOME = 5


def equal_and_opposite(data: Given) -> tuple[tuple[int, int], ...]:
    """Up to five pairs of equal rows with different labels, by their numbers."""
    ordered = np.sort(data.keys)
    if not np.any(ordered[1:] == ordered[:-1]):
        return ()
    order = np.argsort(data.keys, kind="stable")
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    # Equal rows are neighbours now; where labels change in a run, they change between neighbours.
    same = same[data.codes[order[same]] != data.codes[order[same + 1]]]
    pairs = []
    for k in same.tolist():
        i, j = sorted(order[k : k + 2].tolist())
        if _equal(data, i, j):
            pairs.append((int(data.numbers[i]), int(data.numbers[j])))
            if len(pairs) == _SOME:
                break
    return tuple(sorted(pairs))


def _equal(data: Given, i: int, j: int) -> bool:
    difference = data.X[[i]] != data.X[[j]]
    return not (difference.nnz if is_sparse(difference) else difference.any())
