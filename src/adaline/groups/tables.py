"""Columns in, columns out: rows, targets and groups of arrays, pandas, polars and Arrow tables.

Called by `fit_groups` and `rolling`. Columns of all three are `frame[name].to_numpy()`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adaline.parameters import ParameterError, numbers, weights_of
from adaline.results import Array
from adaline.summaries import data_frame

Codes = NDArray[np.int64]
Keys = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows X, their targets y and weights (empty where all are 1), and the keys of their groups."""

    X: Array
    y: NDArray[Any]
    weight: Array
    keys: Keys
    names: tuple[str, ...]
    kind: str  # "pandas", "polars", "pyarrow", or "" for arrays: what tables to give back

    def take(self, order: Any) -> Columns:
        """Rows and weights in this order."""
        weight = self.weight[order] if len(self.weight) else self.weight
        return replace(self, X=self.X[order], weight=weight)

    def require_finite(self, y: Array) -> None:
        """Raise for the first row with a missing or infinite number."""
        if np.isfinite(self.X).all() and np.isfinite(y).all():
            return
        bad = np.flatnonzero(~(np.isfinite(self.X).all(axis=1) & np.isfinite(y)))
        wrong = [self.names[j] for j in np.flatnonzero(~np.isfinite(self.X[bad[0]]))]
        raise ParameterError(
            f"{[*wrong, 'the target'][0]} is missing or infinite in row {bad[0]}, and {len(bad)} "
            "rows have such values; drop or fill them."
        )


def read_columns(
    X: Any,
    y: Any,
    groups: Any = None,
    target: str | None = None,
    by: Any = None,
    sample_weight: Any = None,
) -> Columns:
    """X, y and groups as arrays; or the columns `target` and `by` of a table, and all others."""
    package = type(X).__module__.partition(".")[0]
    kind = package if package in ("pandas", "polars", "pyarrow") and hasattr(X, "shape") else ""
    known = [str(name) for name in getattr(X, "column_names", None) or X.columns] if kind else []
    by = [by] if isinstance(by, str) else list(by or [])
    own = [name for name in [target, *by, sample_weight] if isinstance(name, str)]
    for name in own:
        if name not in known:
            there = f"there are {', '.join(known)}" if kind else "X is no table with named columns"
            raise ParameterError(f"there is no column {name!r}; {there}.")
    if (target is None) == (y is None) or (by and groups is not None):
        raise ParameterError("give y and groups, or target and by: the names of columns of X.")
    names = [name for name in known if name not in own]
    if kind:
        rows = np.empty((X.shape[0], len(names)))
        for j, name in enumerate(names):
            rows[:, j] = column_numbers(X, name)
    else:
        rows = numbers("X", X)
        if rows.ndim != 2:
            raise ParameterError(f"X has shape {rows.shape}; expected rows and columns, (n, p).")
        names = [f"x{j}" for j in range(rows.shape[1])]
    n = len(rows)
    targets = to_numpy(y).reshape(-1) if target is None else to_numpy(X[target])
    given = groups if isinstance(groups, Mapping) else {"group": groups}
    keys = {str(name): to_numpy(values) for name, values in given.items() if values is not None}
    keys |= {name: to_numpy(X[name]) for name in by}
    for name, values in {"y": targets, **keys}.items():
        if values.shape != (n,):
            raise ParameterError(f"{name} has shape {values.shape}, and X has {n} rows.")
    if isinstance(sample_weight, str):
        sample_weight = column_numbers(X, sample_weight)
    weight = weights_of("sample_weight", sample_weight, n)
    weight = np.empty(0) if weight is None else np.asarray(weight, dtype=np.float64)
    # Kernels read rows one after the other.
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    return Columns(rows, targets, weight, keys, tuple(names), kind)


def column_numbers(table: Any, name: str) -> Array:
    """A column of numbers, in which missing values are NaN."""
    values = to_numpy(table[name])
    if values.dtype.kind not in "buif":
        raise ParameterError(
            f"column {name!r} holds no numbers; name it in by, drop it, or encode it first "
            "(adaline.data.table does)."
        )
    return np.asarray(values, dtype=np.float64)


def to_numpy(values: Any) -> NDArray[Any]:
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def sort_codes(codes: Codes) -> Any:
    """Rows in the order of their groups, as they came within each; a slice where they are.

    Counted by scipy, which takes a tenth of the time of a sort.
    """
    if not np.any(codes[1:] < codes[:-1]):
        return slice(None)
    n = len(codes)
    rows = csr_array((np.ones(n, bool), codes, np.arange(n + 1)), shape=(n, int(codes.max()) + 1))
    return rows.tocsc().indices


def encode_keys(keys: Mapping[str, NDArray[Any]]) -> tuple[Codes, Keys]:
    """The number of each row's group, and the groups' keys, sorted.

    >>> encode_keys({"shop": np.array(["b", "a", "b"])})[0]
    array([1, 0, 1])
    """
    codes, groups = np.empty(0, np.int64), dict[str, NDArray[Any]]()
    for name, values in keys.items():
        own, unique = encode_column(name, values)
        if groups:
            pairs, codes = np.unique(codes * len(unique) + own, return_inverse=True)
            groups = {key: column[pairs // len(unique)] for key, column in groups.items()}
            groups[name] = unique[pairs % len(unique)]
        else:
            codes, groups = own, {name: unique}
    return codes.astype(np.int64, copy=False), groups


def encode_column(name: str, values: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Codes and sorted distinct values of one column; integers without sorting where possible."""
    missing = [value is None for value in values] if values.dtype.kind == "O" else values != values
    if np.any(missing):
        raise ParameterError(f"{name} is missing in row {np.argmax(missing)}; name its group.")
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values):  # a table of marks is smaller than the rows
            places = (values - low).astype(np.int64)
            marks = np.zeros(high - low + 1, dtype=np.int64)
            marks[places] = 1
            return (np.cumsum(marks) - 1)[places], np.flatnonzero(marks) + low
    if values.dtype.kind in "OUT":  # numpy would sort all rows
        table: dict[Any, int] = {}
        codes = np.array([table.setdefault(value, len(table)) for value in values.tolist()])
        unique = np.array(list(table), dtype=values.dtype)
        try:
            order = np.argsort(unique, kind="stable")
        except TypeError as error:
            raise ParameterError(f"{name} mixes types that have no order: {error}.") from None
        return np.argsort(order)[codes], unique[order]
    unique, codes = np.unique(values, return_inverse=True)
    return codes, unique


def make_table(kind: str, columns: Mapping[str, Any]) -> Any:
    """A table of the caller's kind; a pandas data frame for arrays."""
    if kind == "polars":
        return sys.modules["polars"].DataFrame(dict(columns))
    return sys.modules["pyarrow"].table(dict(columns)) if kind == "pyarrow" else data_frame(columns)
