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

from adaline.kernels.sums import sparse_products
from adaline.results import Array
from adaline.tiles import Rows, entries, is_sparse

DENSE_UP_TO = 1024  # columns up to which a p x p matrix costs little
GRAM_UP_TO = 4096  # columns of tall data up to which a p x p matrix pays: it proves all digits
_LARGE = 2**21  # entries, zeros counted, up to which the dense procedures take milliseconds
_FEW = 2**14  # nonzeros up to which scipy is as fast, and needs no compiler
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

    @cached_property
    def entries(self) -> tuple[Array, NDArray[Any], NDArray[Any]]:
        """Numbers and indices of X for the kernels."""
        return entries(self.X)

    def product(self, W: Array) -> Array:
        """X W, (n, k)."""
        if W.shape[1] > 1 or self.X.nnz <= _FEW:
            return np.asarray(self.X @ W)
        v = np.empty(self.X.shape[0])
        sparse_products.values(*self.entries, np.ascontiguousarray(W[:, 0]), v)
        return v[:, None]

    def turned_product(self, R: Array) -> Array:
        """X'R, (p, k)."""
        if R.shape[1] > 1 or self.X.nnz <= _FEW:
            return np.asarray(self.turned @ R)
        g = np.zeros(self.X.shape[1])
        sparse_products.add_rows(*self.entries, np.ascontiguousarray(R[:, 0]), g)
        return g[:, None]

    def values(self, W: Array) -> Array:
        """(X - 1 mean') W, (n, k)."""
        V = self.product(W)
        V -= self.mean @ W
        return V

    def pull(self, R: Array) -> Array:
        """(X - 1 mean')' R for weighted residuals R (n, k)."""
        G = self.turned_product(R)
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
    def _sizes(self) -> tuple[Array, float]:
        """Of each column sums of omega x^2, root |x| and ones, (3, p); the longest root |x|_1."""
        found = np.zeros((3, self.X.shape[1]))
        longest = sparse_products.add_sizes(*self.entries, self.omega, self.root, found)
        return found, longest

    @property
    def raw_squares(self) -> Array:
        """Sums of omega x^2 for each column, about zero, (p,)."""
        return np.asarray(self._sizes[0][0])

    @cached_property
    def squares(self) -> Array:
        """The diagonal of A'A, (p,)."""
        return np.maximum(self.raw_squares - self.weight * self.mean**2, 0.0)

    @property
    def counts(self) -> Array:
        """Nonzeros of each column, (p,)."""
        return np.asarray(self._sizes[0][2])

    @cached_property
    def norm(self) -> float:
        """A bound on the spectral norm of diag(root) |X|, and so of A."""
        (squares, sums, _), longest = self._sizes
        tall = float(np.max(sums, initial=0.0))
        return 1.01 * float(np.sqrt(min(tall * longest, squares.sum())))

    def bias(self, W: Array) -> Array:
        """b of each target, in units of e_y, (k,)."""
        return np.asarray(self.mean_y - self.mean @ W)


def _exponent(data: Any) -> int:
    top = max(float(data.max(initial=0.0)), -float(data.min(initial=0.0)))
    return max(int(np.frexp(top)[1]), -1000)
