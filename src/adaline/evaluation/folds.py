"""Which rows are predicted together, by a model that has learned from others: folds.

Folds are a function of the rows' places, of labels, groups or times, and of the seed. A hash of
place and seed decides: the same rows in another order have other folds, unless their `places` go
with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.dealing import Index, codes_of, hashed, in_hands, sizes_of
from adaline.data.dealing import share_out as share_out
from adaline.evaluation.words import HOLD_OUT, plural
from adaline.parameters import ParameterError, array, is_whole, shown
from adaline.results import Result

_STRATA = 30  # classes that grouped folds balance


@dataclass(frozen=True, eq=False)
class Folds(Result):
    """Pairs of rows to learn from and rows to predict.

    Attributes
    ----------
    pairs : tuple of (ndarray of int, ndarray of int)
        Sorted numbers of rows: those learned from, those predicted. No row is predicted twice.
    way : str
        What to call it in a sentence.
    """

    pairs: tuple[tuple[Index, Index], ...]
    way: str

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Any:
        return iter(self.pairs)


def folds(
    y: Any,
    cv: int = 10,
    *,
    groups: Any = None,
    times: Any = None,
    places: Any = None,
    seed: int = 0,
) -> Folds:
    """Folds for cross-validation: each with about the same labels, or numbers, as all rows.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, k)
        Labels or numbers. Each fold gets its part of every class, or of small and large numbers.
    cv : int
        How many, at least 2; there are fewer where rows or groups are fewer. n leaves out one row
        at a time.
    groups : array-like of shape (n,), optional
        Rows of one group stay together: no group is both learned from and predicted.
    times : array-like of shape (n,), optional
        Numbers, dates or text that sorts by time. Each fold is predicted from what came before it:
        rows of the first of cv + 1 spans are learned from only, and equal times stay together.
    places : array-like of int of shape (n,), optional
        Numbers that belong to the rows; 0, 1, ... by default.
    seed : int

    Returns
    -------
    Folds

    Examples
    --------
    >>> found = folds(["a", "b"] * 6, 3)
    >>> print(found.way, [len(test) for _, test in found])
    3-fold cross-validation [4, 4, 4]
    >>> folds([1.0, 2.0, 3.0], 2, times=[2001, 2003, 2002]).pairs[-1]
    (array([0, 2]), array([1]))
    """
    truth = array("y", y)
    if truth.ndim not in (1, 2) or len(truth) < 2:
        raise ParameterError(f"y has shape {truth.shape}; folds need two rows or more.")
    if not is_whole(cv) or cv < 2:
        raise ParameterError(f"cv is {shown(cv)}; expected how many folds there are, 2 or more.")
    if not is_whole(seed):
        raise ParameterError(f"seed is {shown(seed)}; expected a whole number.")
    if groups is not None and times is not None:
        raise ParameterError("groups and times are both given; folds follow one of them.")
    n = len(truth)
    rows = np.arange(n) if places is None else array("places", places)
    if rows.shape != (n,) or rows.dtype.kind not in "iu":
        raise ParameterError(f"places has shape {rows.shape}; expected {n} whole numbers.")
    drawn = hashed(rows, seed)
    if times is not None:
        return _in_time(codes_of("times", times, n), int(cv))
    if groups is not None:
        named = codes_of("groups", groups, n)
        return _paired(*_grouped(_strata(truth), named, drawn, int(cv)))
    if cv >= n:
        return Folds(_pairs(np.argsort(np.argsort(drawn))), "leave-one-out cross-validation")
    return _paired(_dealt(truth, drawn, int(cv)), "cross-validation")


def hold_out(y: Any, cv: int = 5, *, seed: int = 0) -> Folds:
    """The first of `folds(y, cv, seed=seed)` alone: of five, a fifth of the rows is predicted.

    >>> [(train, test)] = hold_out(["a", "b"] * 5)
    >>> len(train), len(test)
    (8, 2)
    """
    return Folds(folds(y, cv, seed=seed).pairs[:1], HOLD_OUT)


def _strata(y: NDArray[Any]) -> Index:
    """The class of each row; one class where y holds numbers, or very many classes."""
    codes, classes = sizes_of(y)
    return codes if classes and codes.max() < _STRATA else np.zeros(len(y), dtype=np.int64)


def _dealt(y: NDArray[Any], drawn: NDArray[np.uint64], k: int) -> Index:
    """The fold of each row: sorted by class or size, rows are dealt like cards.

    Of numbers, every k neighbours go to k different folds, in an order that the hash decides. Of
    classes, each class is dealt in the order of the hash, and the next one where it ended.
    """
    fold = np.empty(len(y), dtype=np.int64)
    fold[in_hands(y, drawn, k)] = np.arange(len(y)) % k
    return fold


def _grouped(strata: Index, groups: Index, drawn: NDArray[np.uint64], k: int) -> tuple[Index, str]:
    """The fold of each row: large groups first, each to the fold that has least of its classes."""
    count = int(groups.max()) + 1
    if count < 2:
        raise ParameterError("groups holds one group; folds need two or more.")
    k = min(k, count)
    table = np.zeros((count, int(strata.max()) + 1))
    np.add.at(table, (groups, strata), 1.0)
    share = table / table.sum(axis=0)
    first = np.full(count, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(first, groups, drawn)
    filled, of_group = np.zeros((k, table.shape[1])), np.empty(count, dtype=np.int64)
    sizes = np.zeros(k)
    for g in np.lexsort((first, -table.sum(axis=1))):
        # What the sum of squared shares grows by; of equal ones the emptier fold.
        grows = (2 * filled + share[g]) @ share[g]
        best = int(np.lexsort((sizes, np.round(grows, 12)))[0])
        of_group[g] = best
        filled[best] += share[g]
        sizes[best] += table[g].sum()
    return of_group[groups], f"cross-validation over {plural(count, 'group')}"


def _in_time(when: Index, k: int) -> Folds:
    """Spans of about equally many rows; each but the first is predicted from those before it."""
    counts = np.bincount(when)
    if len(counts) < 2:
        raise ParameterError("times holds one time; folds need two or more.")
    k = min(k, len(counts) - 1)
    before = np.cumsum(counts) - counts  # rows before each time
    span = np.minimum(before * (k + 1) // len(when), k)
    _, span = np.unique(span, return_inverse=True)  # a time of very many rows may fill two spans
    of_row = span[when]
    last = int(of_row.max())
    if last == 0:
        span = (np.arange(len(counts)) > 0).astype(np.int64)
        of_row, last = span[when], 1
    pairs = tuple(
        (np.flatnonzero(of_row < j), np.flatnonzero(of_row == j)) for j in range(1, last + 1)
    )
    return Folds(pairs, f"{plural(last, 'span')} of time predicted from what came before")


def _paired(fold: Index, way: str) -> Folds:
    pairs = _pairs(fold)
    return Folds(pairs, f"{len(pairs)}-fold {way}")


def _pairs(fold: Index) -> tuple[tuple[Index, Index], ...]:
    found = (np.flatnonzero(fold == j) for j in range(int(fold.max()) + 1))
    return tuple((np.flatnonzero(fold != fold[test[0]]), test) for test in found if len(test))
