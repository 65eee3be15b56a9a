"""Weights of rows: from a column, and such that every class counts the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import DataError


def row_weights(
    y: NDArray[Any], given: NDArray[Any] | None, wanted: str | None, balanced: bool
) -> NDArray[np.float64] | None:
    """Weights of rows, or None where all count the same; `wanted` is what to call those given.

    Balanced: every class gets the same weight in all, and the weights sum to the number of rows.

    >>> row_weights(np.array(["a", "b", "b", "b"]), None, None, True).round(3)
    array([2.   , 0.667, 0.667, 0.667])
    """
    omega = None if given is None else _checked(given, f"the column of weights {wanted!r}")
    if not balanced:
        return omega
    omega = np.ones(len(y)) if omega is None else omega
    labels, places = np.unique(y, return_inverse=True)
    totals = np.bincount(places, weights=omega)
    if not totals.all():
        empty = str(labels[int(np.argmin(totals))])
        raise DataError(f"balanced: the class {empty!r} has no weight; leave its rows out.")
    return np.asarray(omega * (omega.sum() / len(labels) / totals)[places])


def _checked(given: NDArray[Any], who: str) -> NDArray[np.float64]:
    if given.dtype.kind == "O":
        raise DataError(f"{who} holds text such as {str(given[0])[:40]!r}; expected numbers.")
    omega = given.astype(np.float64)
    bad = ~(np.isfinite(omega) & (omega >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise DataError(f"{who} is {omega[i]:g} in row {i + 1}; weights are numbers, 0 or more.")
    if not omega.any():
        raise DataError(f"{who} is 0 in every row; some must count.")
    return omega
