"""What a pass over rows tells where columns are too many for a matrix: sums as long as a row.

The first pass finds the classes, and sums the rows of each: that is all there is to know of the
loss of weights zero and any bias. Later passes sum the loss and its gradient at theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.strong_convexity import RowSizes
from adaline.kernels.losses.dual import row_squares, square_combination
from adaline.linalg import UNDERFLOW
from adaline.losses.logistic import Logistic
from adaline.objective import Objective
from adaline.results import Array
from adaline.tiles import is_sparse

_NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Classes of rows, and sums over the rows of each.

    Attributes
    ----------
    labels : tuple
        Sorted.
    weight : ndarray of shape (L,)
        Sum of the weights of each class.
    rows : ndarray of shape (L, p)
        Sums of omega x.
    squares : ndarray of shape (p,)
        Sums of omega x^2 over all rows.
    sizes : RowSizes
    """

    labels: tuple[Any, ...]
    weight: Array
    rows: Array
    squares: Array
    sizes: RowSizes

    @classmethod
    def of(
        cls, X: Any, labels: tuple[Any, ...], codes: NDArray[np.int64], omega: Array
    ) -> ClassSums:
        """Of a block."""
        L = len(labels)
        ones = omega if len(omega) else np.ones(len(codes))
        weight = np.bincount(codes, ones, minlength=L).astype(np.float64)
        each = np.zeros((len(codes), L))
        each[np.arange(len(codes)), codes] = ones
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.asarray((X.T @ each).T, dtype=np.float64, order="C")
        return cls(labels, weight, rows, _column_squares(X, ones), sizes_of(X, omega))

    def placed(self, labels: tuple[Any, ...]) -> ClassSums:
        """The same sums among more labels."""
        if labels == self.labels:
            return self
        at = [labels.index(label) for label in self.labels]
        weight, rows = np.zeros(len(labels)), np.zeros((len(labels), self.rows.shape[1]))
        weight[at], rows[at] = self.weight, self.rows
        return ClassSums(labels, weight, rows, self.squares, self.sizes)

    def plus(self, other: ClassSums, labels: tuple[Any, ...]) -> ClassSums:
        """Both together, with the labels of both."""
        a, b = self.placed(labels), other.placed(labels)
        with np.errstate(over="ignore", invalid="ignore"):
            rows, squares = a.rows + b.rows, a.squares + b.squares
        return ClassSums(labels, a.weight + b.weight, rows, squares, a.sizes + b.sizes)

    @property
    def outputs(self) -> int:
        """K."""
        return 1 if len(self.labels) <= 2 else len(self.labels)


@dataclass(frozen=True, eq=False)
class GradientSums:
    """Loss and gradient of rows at theta, without the penalty; they add up.

    Attributes
    ----------
    f, g : float, and ndarray of shape (K, p + 1)
    curvature : ndarray of shape (K, K)
        Of the biases: sum of omega (diag(p) - p p'), or of omega p (1 - p); empty without a bias.
    reach : float
        Sum of omega |x|^2 times a bound on the curvature of the row's loss in its values.
    n : int
    """

    f: float
    g: Array
    curvature: Array
    reach: float
    n: int

    @classmethod
    def of(cls, rows: Objective, theta: Array) -> GradientSums:
        """Of a block, whose units are those of X and whose penalty is zero."""
        root = rows.room()
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may go too far
            here = rows.at(theta, root)
        if not rows.intercept:
            return cls(here.f, here.g, np.empty((0, 0)), 0.0, rows.n)
        squares = _row_squares(rows.X)
        if rows.K == 1:
            bent = root * root
            H = np.array([[bent.sum()]])
        else:
            omega = rows.omega if len(rows.omega) else np.ones(rows.n)
            bent = omega * np.maximum(1.0 - np.einsum("ik,ik->i", root, root), 0.0)
            H = np.diag(omega @ root) - (root * omega[:, None]).T @ root
        return cls(here.f, here.g, H, float(bent @ squares), rows.n)

    def __add__(self, other: GradientSums) -> GradientSums:
        with np.errstate(over="ignore", invalid="ignore"):
            return GradientSums(
                self.f + other.f,
                self.g + other.g,
                self.curvature + other.curvature,
                self.reach + other.reach,
                self.n + other.n,
            )


def in_own_units(X: Any, target: NDArray[Any], omega: Array, K: int, intercept: bool) -> Objective:
    """The logistic loss of rows in the units that they came in, without a penalty."""
    p = X.shape[1]
    none = np.zeros(p + 1)
    units = intercept, np.ones(p), np.zeros(p), none, none, none
    return Objective(Logistic(), X, target, omega, _NONE, K, *units)


def sizes_of(X: Any, omega: Array) -> RowSizes:
    """How long rows are, and how many entries they have."""
    entries = np.diff(X.indptr) if is_sparse(X) else np.full(len(X), X.shape[1])
    return RowSizes.of(_row_squares(X), entries.astype(np.float64), omega)


def _row_squares(X: Any) -> Array:
    """Bounds on |x|^2, also where squares underflow."""
    if is_sparse(X):
        squares = row_squares(X.data, X.indptr)
    else:
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.asarray(squares + X.shape[1] * UNDERFLOW)


def _column_squares(X: Any, omega: Array) -> Array:
    if is_sparse(X):
        return np.asarray(square_combination(X.data, X.indices, X.indptr, omega, X.shape[1]))
    return np.asarray(np.einsum("i,ij,ij->j", omega, X, X, dtype=np.float64))
