"""The same face as Moments, as a mergeable QR, for data whose squares would lose the digits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline.errors import refuse_beyond_memory
from adaline.linalg import triangle_of
from adaline.results import Array, Result
from adaline.sums.rows import Rows, check_finite, is_dask, merged


@dataclass(frozen=True, eq=False)
class Triangle(Result):
    """R of a QR factorisation of the rows (1, x - shift, y - shift): mergeable, never squared.

    R'R holds the same sums as `Moments`, but the condition number is that of the data and not
    its square. It costs twice the time, and cannot forget.

    Parameters
    ----------
    rows, weight, targets
        As in `Moments`.
    R : ndarray of shape (1 + p + k, 1 + p + k)
        Upper triangle, columns divided by 2**exponent.
    shift : ndarray of shape (p + k,)
        What was subtracted, in the same units.
    exponent : ndarray of int, shape (p + k,)

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, Triangle
    >>> X, y = np.array([[1.0], [2.0], [3.0], [6.0]]), np.array([3.0, 5.0, 7.0, 13.0])
    >>> t = Triangle.of(X[:2], y[:2]) + Triangle.of(X[2:], y[2:])
    >>> LeastSquares().fit_moments(t).predict([[10.0]]).round(12)
    array([21.])
    """

    rows: int
    weight: float
    R: Array
    shift: Array
    exponent: NDArray[np.int64]
    targets: int

    @classmethod
    def of(cls, X: Any, y: ArrayLike | None = None, weights: ArrayLike | None = None) -> Triangle:
        """The triangle of one block of rows, dense or CSR, folded in tile by tile.

        Of dask arrays and DataFrames: the triangle of all their blocks, merged.
        """
        if is_dask(X):
            from adaline.distributed.collections import sum_blocks

            found: Triangle = sum_blocks(cls.of, X, y, weights)
            return found
        t = Rows.of(X, y, weights)
        k = t.Y.shape[1]
        q = t.p + k
        if t.n == 0 and weights is None:
            raise ValueError("X has no rows; a triangle needs at least one.")
        cure = "Select or hash the columns first."
        refuse_beyond_memory(16.0 * (q + 1) ** 2, f"the triangle of {q} columns", cure)
        check_finite(t.X)
        check_finite(t.Y, what="y")
        exponent = t.exponents()
        scale, rows = np.ldexp(1.0, -exponent), max(1024, 4 * q)
        shift = t.first_mean(scale)
        R = np.zeros((q + 1, q + 1))
        for _, z, Y in t.blocks(scale, shift, rows):
            R = triangle_of(np.vstack([R, np.column_stack([z[:, -1], z[:, :-1], Y])]))
        return cls(t.n, t.weight, R, shift, exponent, k)

    @classmethod
    def over(cls, blocks: Iterable[tuple[Any, ...]]) -> Triangle:
        """The triangle of all blocks (X, y) or (X, y, weights)."""
        return merged(blocks, "(X, y) or (X, y, weights)", cls.of)

    @property
    def p(self) -> int:
        """Number of features."""
        return len(self.shift) - self.targets

    @property
    def mean(self) -> Array:
        """Means of (x, y), divided by 2**exponent."""
        if self.R[0, 0] == 0:
            return self.shift
        return np.asarray(self.shift + self.R[0, 1:] / self.R[0, 0])

    def mean_and_squares(self, about_zero: bool = False) -> tuple[Array, Array]:
        """Means and sums of squares about them (or about zero) of (x, y), in the user's units."""
        R = self.about_zero() if about_zero else self.centred()
        squares = np.sum(R**2, axis=0)
        return np.ldexp(self.mean, self.exponent), np.ldexp(squares, 2 * self.exponent)

    def centred(self) -> Array:
        """The triangle about the means, (p + k, p + k)."""
        return self.R[1:, 1:]

    def about_zero(self) -> Array:
        """The triangle about zero, (p + k, p + k)."""
        R = self.R.copy()
        R[:, 1:] += np.outer(R[:, 0], self.shift)
        return triangle_of(R[:, 1:].copy())

    def in_units(self, exponent: NDArray[np.int64], shift: Array | None = None) -> Triangle:
        """The same triangle with columns divided by 2**exponent, about another shift."""
        change = self.exponent - exponent
        R, here = self.R.copy(), np.ldexp(self.shift, change)
        R[:, 1:] = np.ldexp(R[:, 1:], change)
        if shift is not None:
            R[:, 1:] += np.outer(R[:, 0], here - shift)
            here = shift
        return Triangle(self.rows, self.weight, R, here, exponent, self.targets)

    def __add__(self, other: Triangle) -> Triangle:
        """Both sets of rows together: the QR of one triangle on top of the other."""
        if not isinstance(other, Triangle):
            raise TypeError(f"a Triangle merges with a Triangle, not {type(other).__name__}.")
        if (self.p, self.targets) != (other.p, other.targets):
            ours, theirs = (f"{t.p} features and {t.targets} targets" for t in (self, other))
            raise ValueError(f"a triangle of {ours} does not merge with one of {theirs}.")
        exponent = np.maximum(self.exponent, other.exponent)
        a = self.in_units(exponent)
        b = other.in_units(exponent, a.shift)
        R = triangle_of(np.vstack([a.R, b.R]))
        return replace(a, rows=a.rows + b.rows, weight=a.weight + b.weight, R=R)

    def __sub__(self, other: object) -> Triangle:
        raise TypeError("a Triangle cannot forget without losing digits; use Moments to forget.")
