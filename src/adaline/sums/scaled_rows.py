"""Rows of a loss, in units that suit them, handed out in blocks.

    z = scale x - shift, and 1 for the bias

The scales are powers of two that bring every column to a deviation of about 1, and the shifts are
the means in these units, so that columns in any unit and far from zero cost no digits. Weights of
samples are divided by a power of two, `unit`, so that the largest is about 1: no sum underflows
because all weights are tiny. theta (K, p + 1) holds weights for z and, last, the bias.

Called by `objective`, once per fit. Blocks of dense rows, in any type and layout, are (z, 1) in
float64. CSR rows stay sparse where no matrix is computed: their blocks are scale x, and the shift
is subtracted from products. The digits that a far mean costs there are counted (`extent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp, ldexp, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.rows import BLOCK, LARGEST_EXPONENT, NONE, Rows, extremes
from adaline.sums.threads import one_blas_thread, over_pieces

T = TypeVar("T")

MANY = 2000  # columns above which no p x p matrix is computed
SAMPLE = 512  # rows that deviations are estimated from: units need only be about right
KEPT = 2**27  # numbers of z up to which they are computed once (1 GB), and not in every pass


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaledRows(Rows):
    """Rows, and the units in which theta is measured; Y (n,) is as the loss reads it.

    Sample weights omega are divided by `unit`. Offsets (n,), or none, are added to theta'z.
    """

    offset: Array
    intercept: bool
    scale: Array
    shift: Array
    top: Array  # bounds on |z_j|, 1 for the bias, (p + 1,)
    deviation: Array  # of z, roughly; zero for constant columns
    unit: float = 1.0  # a power of two

    @classmethod
    def choose(
        cls, X: Any, y: NDArray[Any], omega: Array = NONE, offset: Array = NONE, *, intercept: bool
    ) -> ScaledRows:
        """Choose the units. Numbers in X that are not finite give bounds that are not finite."""
        unit = ldexp(1.0, frexp(float(omega.max()))[1]) if len(omega) else 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            units = good_units(X, intercept)
        return cls(X, y, omega / unit, offset=offset, intercept=intercept, unit=unit, **units)

    def in_unit(self, unit: float) -> ScaledRows:
        return replace(self, omega=self.weights * (self.unit / unit), unit=unit)

    def with_rows(self, X: Any, y: NDArray[Any], omega: Array, offset: Array) -> ScaledRows:
        """Other rows in the same units: a block of a file."""
        with np.errstate(invalid="ignore", over="ignore"):
            z = np.array(extremes(X)) * self.scale - self.shift
        top = np.append(1.01 * np.abs(z).max(axis=0), 1.0)
        if len(omega) or self.unit != 1.0:  # rows without weights weigh 1, in this unit, too
            omega = (omega if len(omega) else np.ones(X.shape[0])) / self.unit
        return replace(self, X=X, Y=y, omega=omega, offset=offset, top=top)

    def taking(self, k: slice | Array) -> ScaledRows:
        omega, offset = (a[k] if len(a) else NONE for a in (self.omega, self.offset))
        return replace(self, X=self.X[k], Y=self.Y[k], omega=omega, offset=offset)

    @cached_property
    def q(self) -> int:
        return len(self.top)

    @property
    def is_wide(self) -> bool:
        """Whether there are too many columns for a matrix of columns x columns."""
        return self.q > MANY

    @cached_property
    def Z(self) -> Any:
        """(z, 1) of all dense rows, or None where there are too many; of CSR rows scale x."""
        if self.sparse:
            data = self.X.data * self.scale[self.X.indices]
            return sparse.csr_array((data, self.X.indices, self.X.indptr), shape=self.X.shape)
        if self.n * self.q > KEPT:
            return None
        return self.in_units(slice(None), self.scale, self.shift, np.empty((self.n, self.q)))

    @cached_property
    def extent(self) -> Array:
        """Bounds on the terms that sums over z_j are made of, (p + 1,)."""
        return np.asarray(self.top + np.append(2.0 * np.abs(self.shift) * self.sparse, 0.0))

    @cached_property
    def largest_offset(self) -> float:
        return float(np.max(np.abs(self.offset), initial=0.0))

    def block_rows(self, matrix: bool, K: int = 1) -> int:
        """Rows of a block: so many that calls of numpy cost little; Gram matrices want tall ones.

        Arrays of more than BLOCK numbers cost more to allocate than to fill.
        """
        return min(max(2 * BLOCK // max(self.q, K), 2 * self.q if matrix else 1024, 1024), 4096)

    @cached_property
    def depths(self) -> tuple[float, float]:
        """Rounded additions behind a sum over all rows, at most; behind one of matrices."""
        n, rows = self.n, (min(self.block_rows(matrix), self.n) for matrix in (False, True))
        vector, matrix = rows
        # 40: pieces of `over_pieces`, merged in order; blocks have 1024 rows at least.
        return (n if self.sparse else vector) + n / 1024 + 40.0, matrix + n / 1024 + 40.0

    def over_blocks(
        self, work: Callable[[Iterator[tuple[slice, Any]]], T], matrix: bool, K: int = 1
    ) -> list[T]:
        """work(blocks) for pieces of the rows, in order, by threads; the bits do not depend on
        them.

        A block is a slice of the rows and their (z, 1), or scale x of CSR rows; dense with matrix.
        It may take the place of the block before. Of each row K numbers are computed.
        """
        with one_blas_thread(1):  # threads of BLAS would change the last digit
            if self.sparse and self.is_wide:  # sums too large to hold several of
                return [work(self._blocks(0, self.n, matrix, K))]
            return over_pieces(lambda i, j: work(self._blocks(i, j, matrix, K)), self.n, self.q)

    def _blocks(self, start: int, stop: int, matrix: bool, K: int) -> Iterator[tuple[slice, Any]]:
        if self.sparse and not matrix:
            yield slice(start, stop), self.Z if stop - start == self.n else self.Z[start:stop]
            return
        rows, ready = self.block_rows(matrix, K), not self.sparse and self.Z is not None
        place = np.empty((0 if ready else min(rows, stop - start), self.q))
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            ours = self.Z[part] if ready else self.in_units(part, self.scale, self.shift, place)
            yield part, ours

    def values(self, Z: Any, W: Array) -> Array:
        """W (z, 1) of every row of a block, (K, m)."""
        if isinstance(Z, np.ndarray):
            return np.asarray(W @ Z.T)
        V = np.ascontiguousarray((Z @ np.ascontiguousarray(W[:, :-1].T)).T)
        V += (W[:, -1] - W[:, :-1] @ self.shift)[:, None]
        return V

    def add_products(self, G: Array, R: Array, Z: Any) -> None:
        """Add the sums of r (z, 1) over a block to G (K, p + 1), for numbers R (K, m)."""
        if isinstance(Z, np.ndarray):
            G += R @ Z
            return
        total = R.sum(axis=1)
        G[:, :-1] += (Z.T @ np.ascontiguousarray(R.T)).T - np.multiply.outer(total, self.shift)
        G[:, -1] += total

    def original(self, theta: Array) -> tuple[Array, Array]:
        return theta[:, :-1] * self.scale, theta[:, -1] - theta[:, :-1] @ self.shift

    def theta(self, W: Array, b: Array) -> Array:
        """(K, p + 1) from weights for the columns of X."""
        return np.column_stack([W / self.scale, b + W @ (self.shift / self.scale)])

    def project(self, A: Array) -> Array:
        """A'(z, 1) of every row, (n, columns of A)."""
        W = self._weights(A)

        def of(blocks: Iterator[tuple[slice, Any]]) -> list[Array]:
            return [self.values(Z, W).T for _, Z in blocks]

        return np.concatenate([V for piece in self.over_blocks(of, False) for V in piece])

    def _weights(self, A: Array) -> Array:
        """A' with a column for the bias, which is zero where there is none."""
        return A.T if self.intercept else np.column_stack([A[:-1].T, np.zeros(A.shape[1])])

    def combine(self, R: Array) -> Array:
        """Sums of r (z, 1) for every column r of R (n, K), (K, p + 1)."""

        def of(blocks: Iterator[tuple[slice, Any]]) -> Array:
            G = np.zeros((R.shape[1], self.q))
            for part, Z in blocks:
                self.add_products(G, R[part].T, Z)
            return G

        G = np.sum(self.over_blocks(of, False), axis=0)
        G[:, -1] *= self.intercept
        return np.asarray(G)

    def gram(self, c: Array) -> Array:
        """Sum of c (z, 1)(z, 1)' for c >= 0 of every row, (p + 1, p + 1)."""

        def of(blocks: Iterator[tuple[slice, Any]]) -> Array:
            return np.asarray(np.sum([gram_of(Z, np.sqrt(c[part])) for part, Z in blocks], axis=0))

        H = np.asarray(np.sum(self.over_blocks(of, True), axis=0))
        if not self.intercept:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        return H

    def squares(self, A: Array, root: Array = NONE) -> Array:
        """|A'(z, 1)|^2 of every row, times root^2 where given; (n,)."""
        W = self._weights(A)

        def of(blocks: Iterator[tuple[slice, Any]]) -> list[Array]:
            V = (self.values(Z, W) for _, Z in blocks)
            return [np.einsum("ij,ij->j", v, v) for v in V]

        own = np.concatenate([v for piece in self.over_blocks(of, True) for v in piece])
        return own * root**2 if len(root) else own

    def value_error(self, theta: Array) -> float:
        """Bound on what rounding did to any value theta'z + offset."""
        reach = float((np.abs(theta) @ self.extent).max()) + self.largest_offset
        return (self.q + 8) * UNIT * reach + self.q * UNDERFLOW

    def farthest_from(self, mean: Array, units: Array) -> float:
        """A bound on the largest |(z - mean) / sqrt(units)| of a row; mean and units are (p,)."""
        root = np.sqrt(units)
        if not self.sparse:
            return 1.01 * length((self.top[:-1] + np.abs(mean)) / root)
        # |z - mean| <= |scale x| + |shift + mean|: no row is unpacked
        entries = np.abs(self.Z.data) / root[self.X.indices]
        top = float(entries.max(initial=0.0))
        entries /= top or 1.0  # squares stay in the range of float64
        squares = np.add.reduceat(np.append(entries * entries, 0.0), self.X.indptr[:-1])
        return 1.01 * (top * sqrt(squares.max()) + length((self.shift + mean) / root))


def gram_of(Z: Array, root: Array) -> Array:
    """Sum of root^2 (z, 1)(z, 1)' of a block; of root (K, m) that of all root_k z side by side."""
    A = Z * root[:, None] if root.ndim == 1 else (Z[:, None] * root.T[:, :, None])
    A = A.reshape(len(Z), -1)
    return np.asarray(A.T @ A)


def good_units(X: Any, intercept: bool) -> dict[str, Array]:
    """scale, shift, top and deviation.

    Means and deviations are those of a sample of dense rows: units need only be about right, but
    the bounds hold for every row.
    """
    n, p = X.shape
    low, high = extremes(X)
    if is_sparse(X):
        mean = np.bincount(X.indices, X.data, p) / n
    else:
        few = np.ascontiguousarray(X[:: -(-n // SAMPLE)], dtype=np.float64)
        mean = few[0] + (few - few[0]).mean(axis=0)  # exact for a constant column
    mean = np.clip(np.where(np.isfinite(mean), mean, 0.0), low, high) * intercept
    largest = np.maximum(np.abs(high - mean), np.abs(low - mean))
    safe = np.where(largest > 0, largest, 1.0)  # squares stay in the range of float64
    if is_sparse(X):
        # A zero is as far from the mean as the mean from zero.
        away, at = mean / safe, X.indices
        squares = np.bincount(at, (X.data / safe[at] - away[at]) ** 2, p)
        squares = (squares + (n - np.bincount(at, minlength=p)) * away**2) / n
    else:
        squares = np.mean(((few - mean) / safe) ** 2, axis=0)
    # The mean square of n numbers lies between their largest square over n and that square.
    size = np.clip(safe * np.sqrt(squares), largest / sqrt(2.0 * n), largest)
    exponent = np.clip(np.frexp(size)[1], -LARGEST_EXPONENT, LARGEST_EXPONENT)
    if not (size > 0).all():  # a column of zeros has the units, and so the penalty, of the others
        others = np.sort(exponent[size > 0])
        exponent[~(size > 0)] = others[len(others) // 2] if len(others) else 0
    scale = np.ldexp(1.0, -exponent)
    shift = mean * scale
    # 1.01: the mean was rounded, and so is this bound.
    top = np.append(1.01 * (largest * scale + 8 * UNIT * np.abs(shift)), 1.0)
    return {"scale": scale, "shift": shift, "top": top, "deviation": size * scale}
