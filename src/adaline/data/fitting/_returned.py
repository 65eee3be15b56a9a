"""What another process or machine returned, checked before it is merged: shapes, numbers, counts.

A pickle can hold anything, and a worker may run another version: what does not fit is refused in a
sentence, and nothing of it gets into the sums.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from adaline.data.storing.checkpoint import storable
from adaline.errors import strange
from adaline.sums.class_moments import ClassMoments
from adaline.sums.moments import Moments
from adaline.sums.objective import Sums
from adaline.sums.triangle import Triangle


@storable
@dataclass(frozen=True)
class Part:
    """What a block, or several, came to: how many rows, and the sum."""

    rows: int
    value: Any


def check_returned(part: Any) -> None:
    """Raise DataError where a part cannot be the sum of a block."""
    if type(part) is not Part or not isinstance(part.rows, int) or part.rows < 0:
        raise strange(f"{type(part).__name__} instead of a part")
    _check(part.value, part.rows)


def _check(value: Any, rows: int) -> None:
    if isinstance(value, Moments):
        q = len(value.mean)
        _demand(value.scatter.shape == (q, q), "a scatter matrix of another shape")
        _demand(all(v.shape == (q,) for v in (value.exponent, value.rounding)), "other columns")
        _demand(0 <= value.rows <= rows, "more rows than were read")
        squares = np.diagonal(value.scatter)
        _demand(bool(np.isfinite(value.scatter[: value.p]).all()), "scatter that is not finite")
        _finite(replace(value, scatter=squares))  # targets' products are not computed
    elif isinstance(value, ClassMoments):
        K, p = value.mean.shape
        shapes = {"shared": (p, p), "full": (K, p, p), "diagonal": (K, p)}
        _demand(value.scatter.shape == shapes.get(value.covariance), "scatter of another shape")
        _demand(value.rows.shape == (K,) and 0 <= value.rows.sum() <= rows, "other counts of rows")
        _finite(value)
    elif isinstance(value, Sums):  # a trial may go too far, so that numbers may be infinite
        K, q = value.g.shape
        sizes = ((q,), (q, q), (K * q, K * q))
        _demand(value.H is None or value.H.shape in sizes, "a curvature of another shape")
        _demand(value.top.shape == (q,) == value.rounding.shape, "bounds of another shape")
        _demand(0 <= value.n <= rows, "more rows than were read")
    elif isinstance(value, Triangle):
        q = len(value.shift) + 1
        _demand(value.R.shape == (q, q) and 0 <= value.rows <= max(rows, 1), "another triangle")
        _finite(value)
    elif isinstance(value, np.ndarray):
        _demand(bool(np.isfinite(value).all()), "numbers that are not finite")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _check(getattr(value, field.name), rows)
    elif isinstance(value, tuple):
        for one in value:
            _check(one, rows)


def _finite(value: Any) -> None:
    """All numbers of a sum are finite."""
    for field in fields(value):
        found = getattr(value, field.name)
        if isinstance(found, float | np.ndarray):
            _demand(bool(np.isfinite(found).all()), f"{field.name} that is not finite")


def _demand(condition: bool, what: str) -> None:
    if not condition:
        raise strange(what)
