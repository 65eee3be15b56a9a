"""Labels that come in runs, as in a file sorted by class: what is learned last outweighs the rest.

Learners that go row by row warn of it; `adaline.evaluation` and the command shuffle such rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import plural
from adaline.estimators._progress import FRAMES
from adaline.results import Certificate

# Fewer runs than a random order has, by this factor. Sorted rows of two classes reach it from 40
# rows on, so small examples never do; in a random order of 40 rows the chance is below 1e-10.
LONG_RUNS = 10


def runs_of(codes: NDArray[Any]) -> tuple[int, float] | None:
    """How many runs of equal labels there are and a random order has, where these are long.

    The mean number of runs in a random order is 1 + n - sum n_k^2 / n (Wald and Wolfowitz).

    >>> runs_of(np.repeat([0, 1], 30)), runs_of(np.tile([0, 1], 30)), runs_of(np.repeat([0, 1], 9))
    ((2, 31.0), None, None)
    """
    n = len(codes)
    if n < 2 * LONG_RUNS:
        return None
    runs = 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
    if LONG_RUNS * runs > n:  # a random order has at most n
        return None
    return are_long(runs, np.unique(codes, return_counts=True)[1])


def are_long(runs: int, counts: Any) -> tuple[int, float] | None:
    """The same for so many runs of classes with so many rows."""
    n, rows = float(np.sum(counts)), np.asarray(counts, dtype=np.float64)
    expected = 1.0 + n - float(rows @ rows) / n
    return (runs, expected) if LONG_RUNS * runs <= expected else None


def goes_in_order(model: Any) -> bool:
    """Whether a classifier takes the rows as they come."""
    in_order = getattr(model, "_order_matters", False) and hasattr(model, "_learns")
    return bool(in_order and model._learns == "classes" and not getattr(model, "shuffle", False))


def warn_of_runs(model: Any, codes: NDArray[Any], certificate: Certificate) -> None:
    """Warn, for `fit`, where the order of the rows decides what is learned.

    Not where all rows are on their right sides: then none was outweighed.
    """
    if certificate.kind == "separable" or not goes_in_order(model):
        return
    if (found := runs_of(codes)) is not None:
        how = "Give shuffle=True" if hasattr(model, "shuffle") else "Shuffle the rows first"
        warnings.warn(f"{sentence(model, *found)} {how}.", UserWarning, stacklevel=3 + FRAMES)


def sentence(model: Any, runs: int, expected: float) -> str:
    """What is wrong with the order of the rows."""
    return (
        f"the labels come in {plural(runs, 'run')}, as in sorted rows, where a random order has "
        f"about {expected:,.0f}; {type(model).__name__} learns row by row, so the last rows "
        "outweigh the others."
    )
