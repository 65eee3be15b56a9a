"""Predictions of rows that Dask holds: lazy, a block at a time; scores are computed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.distributed.answers import like
from adaline.distributed.collections import executor, is_collection, plain, row_blocks, width_of
from adaline.sums.mapreduce import mapreduce

Method = Callable[..., Any]


def lazily(model: Any, method: Method, X: Any, *args: Any, **kwargs: Any) -> Any:
    """What `method(model, X)` gives, as a dask array that is computed when someone asks."""
    table = one_row(X)
    shown = np.asarray(method(model, table, *args, **kwargs))
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    apply = _Applied(_nameless(model), method.__name__, args, kwargs, shown[:0])
    shape: dict[str, Any] = {"drop_axis": 1} if shown.ndim == 1 else {}
    if shown.ndim == 2:
        shape = {"chunks": (X.chunks[0], (shown.shape[1],))}
    return X.map_blocks(apply, dtype=shown.dtype, meta=shown[:0], **shape)


def one_row(X: Any) -> Any:
    """A row of zeros with the columns of X: what checks the columns, and shows what comes out."""
    zeros = np.zeros((1, width_of(X)), dtype=_dtype(X))
    if not hasattr(X, "columns"):
        return zeros
    return type(X._meta)(zeros, columns=X.columns)


def _dtype(X: Any) -> Any:
    found = getattr(X, "dtype", None)
    return found if found is not None and found in (np.float32, np.float64) else np.float64


def _nameless(model: Any) -> Any:
    """A copy that takes arrays: names are checked once, and blocks have none."""
    twin = copy.copy(model)
    vars(twin).pop("feature_names_in_", None)
    return twin


@dataclass(frozen=True, eq=False)
class _Applied:
    """A method of a model, of one block."""

    model: Any
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    empty: NDArray[Any]

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:
            return self.empty
        return getattr(self.model, self.method)(X, *self.args, **self.kwargs)


def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R^2 of a regressor, or the share of rows decided rightly, in one pass of sums."""
    if not is_collection(X):
        raise TypeError("y or sample_weight is of Dask, and X is not; give all three alike.")
    if model._scored_by not in ("R2", "accuracy"):
        known = model._scored_by or "not declared"
        raise TypeError(
            f"the score of {type(model).__name__} is {known}, which cannot be summed over rows of "
            "Dask; give X.compute()."
        )
    shown = model.predict(one_row(X))  # refuses other columns, and a model that is not fitted
    blocks = row_blocks(X, y, sample_weight)
    of = _RightOf if model._scored_by == "accuracy" else _ErrorsOf
    targets = np.zeros(np.size(shown))
    example = (1.0, 0.0, 0.0, 0.0) if of is _RightOf else (1.0, targets, targets, targets)
    found = mapreduce(of(_nameless(model)), blocks, _merged, executor(), check=like(example))
    if found is None or not found[0] > 0:
        raise ValueError("X has no rows to score.")
    weight, first, second, _ = found
    if of is _RightOf:
        return float(first / weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = np.where(second > 0, 1.0 - first / second, np.where(first > 0, 0.0, 1.0))
    return float(np.mean(explained))


Scored = tuple[float, Any, Any, Any]  # weight, and sums: right; or squares of errors, of y, mean


@dataclass(frozen=True, eq=False)
class _RightOf:
    """The weight of the rows of a block, and of those decided rightly."""

    model: Any

    def __call__(self, block: tuple[int, Any, Any, Any]) -> Scored | None:
        _, X, y, weights = block
        if not X.shape[0]:
            return None
        X, y = plain(X), plain(y)
        omega = np.ones(len(y)) if weights is None else np.asarray(plain(weights), dtype=float)
        if not omega.any():
            return None
        share = self.model.score(X, y, omega)
        return float(omega.sum()), float(omega.sum()) * share, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class _ErrorsOf:
    """Weight, squared errors, and squares and means of y, of each target."""

    model: Any

    def __call__(self, block: tuple[int, Any, Any, Any]) -> Scored | None:
        _, X, y, weights = block
        if not X.shape[0]:
            return None
        Y = np.asarray(plain(y), dtype=np.float64).reshape(X.shape[0], -1)
        V = np.asarray(self.model.predict(plain(X)), dtype=np.float64).reshape(len(Y), -1)
        if V.shape != Y.shape:
            raise ValueError(f"y has {Y.shape[1]} targets; predictions have {V.shape[1]}.")
        omega = np.ones(len(Y)) if weights is None else np.asarray(plain(weights), dtype=float)
        weight = float(omega.sum())
        if weight == 0.0:
            return None
        mean = omega @ Y / weight
        return weight, omega @ (Y - V) ** 2, omega @ (Y - mean) ** 2, mean


def _merged(a: Scored | None, b: Scored | None) -> Scored | None:
    if a is None or b is None:
        return b if a is None else a
    weight = a[0] + b[0]
    apart = b[3] - a[3]
    between = apart**2 * (a[0] * b[0] / weight)
    return weight, a[1] + b[1], a[2] + b[2] + between, a[3] + apart * (b[0] / weight)
