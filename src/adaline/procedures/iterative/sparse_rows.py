"""Sparse rows as a centred operator: A = diag(root) (X - 1 mean'), which is never formed.

Legend: X (n, p) CSR, divided by 2**e; omega (n,) weights, root their roots; B (n, k) targets about
their means, divided by 2**e_y. Products with A cost two multiplications with X, and a bias costs
no nonzero: the mean is subtracted from the products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.results import Array
from adaline.tiles import Rows, is_sparse

DENSE_UP_TO = 1024  # columns up to which a p x p matrix costs little
GRAM_UP_TO = 4096  # columns of tall data up to which a p x p matrix pays: it proves all digits
_LARGE = 2**21  # entries, zeros counted, up to which the dense procedures take milliseconds
_THIN = 8  # entries to a nonzero, from which on products with sparse rows are cheaper


def is_large_and_sparse(X: Any) -> bool:
    """Whether X is better left sparse than filled in for a factorisation."""
    if not is_sparse(X):
        return False
    n, p = X.shape
    wide = p > DENSE_UP_TO and n <= p
    return bool((wide or p > GRAM_UP_TO) and n * p > _LARGE and X.nnz * _THIN < n * p)


@dataclass(frozen=True)
class SparseRows:
    """Rows ready for products; see the legend above."""

    X: Any
    B: Array
    omega: Array
    root: Array
    mean: Array
    mean_y: Array
    weight: float
    intercept: bool
    e: int
    e_y: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> SparseRows:
        """Rows of weight zero are left out."""
        X, Y, omega = rows.X, rows.Y, rows.omega
        if len(omega) and not omega.all():
            kept = omega > 0
            X, Y, omega = X[kept], Y[kept], omega[kept]
        e = _exponent(X.data)
        e = e if abs(e) > 100 else 0  # most data need no copy
        data = np.asarray(X.data, dtype=np.float64)
        X = type(X)((np.ldexp(data, -e) if e else data, X.indices, X.indptr), shape=X.shape)
        e_y = np.asarray(np.frexp(np.abs(Y).max(axis=0, initial=0.0))[1], dtype=np.int64)
        B = np.ldexp(Y, -e_y)
        omega = omega if len(omega) else np.ones(len(Y))
        weight = float(omega.sum())
        mean, mean_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        if intercept:
            mean, mean_y = np.asarray(X.T @ omega) / weight, omega @ B / weight
        return cls(X, B - mean_y, omega, np.sqrt(omega), mean, mean_y, weight, intercept, e, e_y)

    @cached_property
    def turned(self) -> Any:
        """X'."""
        return self.X.T

    def values(self, W: Array) -> Array:
        """(X - 1 mean') W, (n, k)."""
        V = _product(self.X, W)
        V -= self.mean @ W
        return V

    def pull(self, R: Array) -> Array:
        """(X - 1 mean')' R for weighted residuals R (n, k)."""
        G = _product(self.turned, R)
        if self.intercept:
            G -= np.multiply.outer(self.mean, R.sum(axis=0))
        return G

    def times(self, W: Array) -> Array:
        """A W."""
        return self.weighted(self.values(W), self.root)

    def transposed(self, C: Array) -> Array:
        """A' C."""
        return self.pull(self.weighted(C, self.root))

    def scatter(self, W: Array) -> Array:
        """A'A W."""
        return self.pull(self.weighted(self.values(W), self.omega))

    def weighted(self, V: Array, by: Array) -> Array:
        """Rows of V (n, k) times numbers by (n,), which are all one without weights."""
        return V * by[:, None] if self.uneven else V

    @cached_property
    def uneven(self) -> bool:
        """Whether rows have weights other than one."""
        return bool(np.any(self.omega != 1.0))

    @cached_property
    def raw_squares(self) -> Array:
        """Sums of omega x^2 for each column, about zero, (p,)."""
        data = self.X.data**2
        return np.asarray(_with_data(self.X, data).T @ self.omega)

    @cached_property
    def squares(self) -> Array:
        """The diagonal of A'A, (p,)."""
        return np.maximum(self.raw_squares - self.weight * self.mean**2, 0.0)

    @cached_property
    def counts(self) -> Array:
        """Nonzeros of each column, (p,); a product is faster than numpy's bincount."""
        ones = _with_data(self.X, np.ones(len(self.X.data)))
        return np.asarray(ones.T @ np.ones(self.X.shape[0]))

    @cached_property
    def norm(self) -> float:
        """A bound on the spectral norm of diag(root) |X|, and so of A."""
        size = _with_data(self.X, np.abs(self.X.data))
        tall = float(np.max(size.T @ self.root, initial=0.0))
        long = float(np.max(self.root * (size @ np.ones(size.shape[1])), initial=0.0))
        return 1.01 * float(np.sqrt(min(tall * long, self.raw_squares.sum())))

    def bias(self, W: Array) -> Array:
        """b of each target, in units of e_y, (k,)."""
        return np.asarray(self.mean_y - self.mean @ W)


def _product(X: Any, W: Array) -> Array:
    """X W; a product with a vector is faster than with a matrix of one column."""
    if W.shape[1] == 1:
        return np.asarray(X @ W[:, 0])[:, None]
    return np.asarray(X @ W)


def _exponent(data: Any) -> int:
    top = max(float(data.max(initial=0.0)), -float(data.min(initial=0.0)))
    return max(int(np.frexp(top)[1]), -1000)


def _with_data(X: Any, data: Array) -> Any:
    """X with other numbers in the same places."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
