"""What the perceptron in dual variables asks of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.parameters import is_sparse
from adaline.results import Array


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of positive weight, (K, n) targets, weights or none; at: which of the n rows given."""

    X: Any
    T: Array
    omega: Array
    at: NDArray[np.int64]
    n: int
    classes: NDArray[Any]


def signs(codes: Any, K: int) -> Array:
    """+1 for the own class and -1 for others, a row a machine: (1, n) or (K, n)."""
    machines = [1] if K == 2 else range(K)
    return np.array([np.where(codes == k, 1.0, -1.0) for k in machines])


def stacked(top: Any, X: Any) -> Any:
    """The rows of both, sparse where one is."""
    if is_sparse(top) or is_sparse(X):
        return sparse.vstack([sparse.csr_array(top), sparse.csr_array(X)], format="csr")
    return np.vstack([top, X])


def variance(X: Any) -> float:
    """Variance of all entries."""
    if not is_sparse(X):
        return float(np.var(X, dtype=np.float64))
    entries, total = X.data.astype(np.float64), X.shape[0] * X.shape[1]
    return float((entries @ entries) / total - (entries.sum() / total) ** 2)
