"""Rows of a loss, in units that suit them, handed out in blocks.

    z = scale x - shift, and 1 for the bias

The scales are powers of two that bring every column to a deviation of about 1, and the shifts are
the means in these units, so that columns in any unit and far from zero cost no digits. Weights of
samples are divided by a power of two, `unit`, so that the largest is about 1: no sum underflows
because all weights are tiny. theta (K, p + 1) holds weights for z and, last, the bias.

Called by `objective`, once per fit. Dense rows, CSR rows and rows in float32 all end here: nothing
below asks how X is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp, ldexp, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.rows import BLOCK, LARGEST_EXPONENT, extremes
from adaline.sums.threads import one_blas_thread, over_pieces

T = TypeVar("T")

NEAR = 4.0  # deviations; the mean of a column nearer to zero than this costs at most three bits
MANY = 2000  # columns above which no p x p matrix is computed
SAMPLE = 512  # rows that deviations are estimated from: units need only be about right
FAR_EXPONENT = 100  # z is computed, not folded into the weights, for scales beyond 2^±100
LOST = UNDERFLOW * 4.0**FAR_EXPONENT  # what underflow can change in a product of x, once scaled
NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows, targets, weights and offsets, and the units in which theta is measured."""

    X: Any  # validated, dense or CSR; z is computed from it block by block
    y: NDArray[Any]  # as the loss reads it: -1 and +1, class codes, counts
    omega: Array  # sample weights divided by `unit`, (n,) or (0,)
    offset: Array  # added to theta'z, (n,) or (0,)
    intercept: bool
    scale: Array
    shift: Array
    top: Array  # bounds on |z_j|, 1 for the bias, (p + 1,)
    deviation: Array  # of z, roughly; zero for constant columns
    unit: float = 1.0  # a power of two

    @classmethod
    def of(
        cls,
        X: Any,
        y: NDArray[Any],
        omega: Array = NONE,
        offset: Array = NONE,
        *,
        intercept: bool = True,
    ) -> ScaledRows:
        """Choose the units. Numbers in X that are not finite give bounds that are not finite."""
        unit = ldexp(1.0, frexp(float(omega.max()))[1]) if len(omega) else 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            units = good_units(X, intercept)
        return cls(X, y, omega / unit, offset, intercept, *units, unit)

    def in_unit(self, unit: float) -> ScaledRows:
        return replace(self, omega=self.weights * (self.unit / unit), unit=unit)

    def with_rows(self, X: Any, y: NDArray[Any], omega: Array, offset: Array) -> ScaledRows:
        """Other rows in the same units: a block of a file. `top` is theirs, unless it is known."""
        top = self.top
        if not len(top):
            with np.errstate(invalid="ignore", over="ignore"):
                z = np.array(extremes(X)) * self.scale - self.shift
            top = np.append(1.01 * np.abs(z).max(axis=0), 1.0)
        if len(omega) or self.unit != 1.0:  # rows without weights weigh 1, in this unit, too
            omega = (omega if len(omega) else np.ones(X.shape[0])) / self.unit
        return replace(self, X=X, y=y, omega=omega, offset=offset, top=top)

    def taking(self, k: slice | Array) -> ScaledRows:
        omega, offset = (a[k] if len(a) else NONE for a in (self.omega, self.offset))
        X = self.X[k] if self.sparse else np.ascontiguousarray(self.X[k])
        y = np.ascontiguousarray(self.y[k])
        return replace(self, X=X, y=y, omega=omega, offset=offset)

    @cached_property
    def n(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def q(self) -> int:
        return len(self.top)

    @cached_property
    def sparse(self) -> bool:
        return is_sparse(self.X)

    @cached_property
    def weight(self) -> float:
        return float(self.omega.sum()) if len(self.omega) else float(self.n)

    @cached_property
    def weights(self) -> Array:
        """(n,), of rows that have none, too."""
        return self.omega if len(self.omega) else np.ones(self.n)

    @property
    def is_wide(self) -> bool:
        """Whether there are too many columns for a matrix of columns x columns."""
        return self.q > MANY

    @cached_property
    def folded(self) -> bool:
        """Whether products use x itself, with scale and shift folded into the weights."""
        # Sparse rows stay sparse: where they are wide, digits lost to a far mean are only counted.
        near = bool(np.all(np.abs(self.shift) <= NEAR)) or (self.sparse and self.is_wide)
        return (
            self.table is None
            and near
            and bool(np.all(np.abs(np.frexp(self.scale)[1]) < FAR_EXPONENT))
        )

    @cached_property
    def table(self) -> Array | None:
        """(z, 1) of all rows, where they are one block: calls of numpy take most of the time."""
        if self.sparse or self.n * self.q > BLOCK:
            return None
        return self._scaled(self.X, np.empty((self.n, self.q)))

    @cached_property
    def extent(self) -> Array:
        """Bounds on the terms that sums over z_j are made of, (p + 1,)."""
        return np.asarray(self.top + np.append(2.0 * np.abs(self.shift) * self.folded, 0.0))

    @cached_property
    def largest_offset(self) -> float:
        return float(np.max(np.abs(self.offset), initial=0.0))

    @cached_property
    def lost(self) -> Array:
        """What underflow of one product can change in a sum over z_j, (p + 1,)."""
        # Products of x are scaled after they are summed.
        return UNDERFLOW * np.append(np.maximum(self.scale, 1.0) ** self.folded, 1.0)

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

        A block is a slice of the rows and their (z, 1), or x where products are `folded`; dense
        with matrix. It may take the place of the block before. Of each row K numbers are computed.
        """
        with one_blas_thread(1):  # threads of BLAS would change the last digit
            if self.sparse and self.is_wide:  # sums too large to hold several of
                return [work(self._blocks(0, self.n, matrix, K))]
            return over_pieces(lambda i, j: work(self._blocks(i, j, matrix, K)), self.n, self.q)

    def _blocks(self, start: int, stop: int, matrix: bool, K: int) -> Iterator[tuple[slice, Any]]:
        if self.table is not None:
            yield slice(start, stop), self.table[start:stop]
            return
        if self.sparse and self.folded and not matrix:
            yield slice(start, stop), self.X if stop - start == self.n else self.X[start:stop]
            return
        rows, place = self.block_rows(matrix, K), np.empty((0, 0))
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            X = self.X[part].toarray() if self.sparse else self.X[part]
            if self.folded:
                yield part, np.ascontiguousarray(X, dtype=np.float64)
            else:
                place = place if len(place) else np.empty((len(X), self.q))
                yield part, self._scaled(X, place[: len(X)])

    def _scaled(self, X: Any, Z: Array) -> Array:
        """(scale x - shift, 1) in Z, with the same bits in any layout of X."""
        np.multiply(X, self.scale, dtype=np.float64, out=Z[:, :-1])
        Z[:, :-1] -= self.shift
        Z[:, -1] = 1.0
        return Z

    def weights_of_blocks(self, theta: Array) -> Array:
        """theta (K, p + 1) for blocks that are x where these are `folded`."""
        return np.column_stack(self.original(theta)) if self.folded else theta

    def sums_of_blocks(self, G: Array) -> Array:
        """Sums of r (z, 1), from sums G (K, p + 1) of `add_products` over blocks."""
        if self.folded:
            G[:, :-1] = G[:, :-1] * self.scale - G[:, -1:] * self.shift
        return G

    def matrix_of_blocks(self, H: Array) -> tuple[Array, Array]:
        """Sums of c (z, 1)(z, 1)', from sums H of `gram_of` over blocks, and their `spread`.

        Of sums of the terms c x_j x_k, each right to e times its size, E is the error:

            |E_jk| <= e sqrt(spread_j spread_k)

        by Cauchy-Schwarz: with h = sum c, the terms of H_jk are at most R_j R_k for
        R_j = scale_j sqrt(sum c x_j^2) + |shift_j| sqrt(h), and R_j^2 <= spread_j.
        """
        squares = np.diagonal(H, axis1=-2, axis2=-1).reshape(-1, self.q)
        if not self.folded:
            return H, squares.ravel()
        spread = 2.0 * squares
        spread[:, :-1] *= self.scale**2
        spread[:, :-1] += 2.0 * squares[:, -1:] * self.shift**2
        for _ in range(2):  # rows, then columns
            H = np.ascontiguousarray(np.swapaxes(H, -1, -2))
            self.sums_of_blocks(H.reshape(-1, self.q))
        # Of a constant column rounding would leave small numbers, as if it were independent.
        if (none := self.top[:-1] <= 16 * UNIT * np.abs(self.shift)).any():
            same = np.tile(np.append(none, False), H.shape[-1] // self.q)
            H[..., same, :], H[..., :, same] = 0.0, 0.0
        return H, spread.ravel()

    def centred(self, Z: Array) -> Array:
        """z of a block of dense rows."""
        return Z * self.scale - self.shift if self.folded else Z[:, :-1]

    def original(self, theta: Array) -> tuple[Array, Array]:
        return theta[:, :-1] * self.scale, theta[:, -1] - theta[:, :-1] @ self.shift

    def theta(self, W: Array, b: Array) -> Array:
        """(K, p + 1) from weights for the columns of X."""
        return np.column_stack([W / self.scale, b + W @ (self.shift / self.scale)])

    def project(self, A: Array) -> Array:
        """A'(z, 1) of every row, (n, columns of A)."""
        W = self.weights_of_blocks(self._of_intercept(A).T)
        parts = self.over_blocks(lambda blocks: [values(Z, W) for _, Z in blocks], False)
        return np.concatenate([V.T for piece in parts for V in piece])

    def _of_intercept(self, A: Array) -> Array:
        """A (p + 1, m) without its last row, where there is no bias."""
        return A if self.intercept else np.vstack([A[:-1], np.zeros(A.shape[1])])

    def combine(self, R: Array) -> Array:
        """Sums of r (z, 1) for every column r of R (n, K), (K, p + 1)."""

        def of(blocks: Iterator[tuple[slice, Any]]) -> Array:
            G = np.zeros((R.shape[1], self.q))
            for part, Z in blocks:
                add_products(G, R[part].T, Z)
            return G

        G = self.sums_of_blocks(np.sum(self.over_blocks(of, False), axis=0))
        G[:, -1] *= self.intercept
        return G

    def gram(self, c: Array) -> Array:
        """Sum of c (z, 1)(z, 1)' for c >= 0 of every row, (p + 1, p + 1)."""

        def of(blocks: Iterator[tuple[slice, Any]]) -> Array:
            return np.asarray(
                np.sum([gram_of(Z, np.sqrt(c[part]), self.q) for part, Z in blocks], axis=0)
            )

        H, _ = self.matrix_of_blocks(np.sum(self.over_blocks(of, True), axis=0))
        if not self.intercept:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        return np.asarray(H)

    def squares(self, A: Array, root: Array = NONE) -> Array:
        """|A'(z, 1)|^2 of every row, times root^2 where given; (n,)."""
        W = self.weights_of_blocks(self._of_intercept(A).T)

        def of(blocks: Iterator[tuple[slice, Any]]) -> list[Array]:
            V = (values(Z, W) for _, Z in blocks)
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
        entries = np.abs(self.X.data, dtype=np.float64) * (self.scale / root)[self.X.indices]
        top = float(entries.max(initial=0.0))
        entries /= top or 1.0  # squares stay in the range of float64
        squares = np.add.reduceat(np.append(entries * entries, 0.0), self.X.indptr[:-1])
        return 1.01 * (top * sqrt(squares.max()) + length((self.shift + mean) / root))


def values(Z: Any, W: Array) -> Array:
    """W (z, 1) of every row of a block, (K, m); W is that of `weights_of_blocks`."""
    if Z.shape[1] == W.shape[1]:
        return np.asarray(W @ Z.T)
    if isinstance(Z, np.ndarray):
        V = np.asarray(W[:, :-1] @ Z.T)
    else:
        V = np.ascontiguousarray((Z @ np.ascontiguousarray(W[:, :-1].T)).T)
    V += W[:, -1:]
    return V


def add_products(G: Array, R: Array, Z: Any) -> None:
    """Add the sums of r (z, 1) over a block to G (K, p + 1), for numbers R (K, m) of its rows."""
    if Z.shape[1] == G.shape[1]:
        G += R @ Z
        return
    dense = isinstance(Z, np.ndarray)
    G[:, :-1] += R @ Z if dense else (Z.T @ np.ascontiguousarray(R.T)).T
    G[:, -1] += R.sum(axis=1)


def gram_of(Z: Array, root: Array, q: int) -> Array:
    """Sum of root^2 (z, 1)(z, 1)' of a block; of root (K, m) that of all root_k z side by side."""
    R = np.atleast_2d(root).T[:, :, None]
    A = np.empty((*R.shape[:2], q))
    np.multiply(R, Z[:, None, :], out=A[:, :, : Z.shape[1]])
    A[:, :, Z.shape[1] :] = R
    A = A.reshape(len(Z), -1)
    return np.asarray(A.T @ A)


def good_units(X: Any, intercept: bool) -> tuple[Array, Array, Array, Array]:
    """scale, shift, top and deviation.

    Means and deviations are those of a sample of dense rows: units need only be about right, but
    the bounds hold for every row.
    """
    n, p = X.shape
    (low, high), mean, few = extremes(X), np.zeros(p), X
    if not is_sparse(X):
        few = np.ascontiguousarray(X[:: -(-n // SAMPLE)], dtype=np.float64)
        D = few - few[0]
        mean = few[0] + D.mean(axis=0)  # exact for a constant column
    elif intercept:
        mean = np.bincount(X.indices, X.data, p) / n
    mean = np.clip(np.where(np.isfinite(mean), mean, 0.0), low, high) * intercept
    largest = np.maximum(np.abs(high - mean), np.abs(low - mean))
    safe = np.where(largest > 0, largest, 1.0)  # squares stay in the range of float64
    if is_sparse(X):
        # A zero is as far from the mean as the mean from zero.
        away, at = mean / safe, X.indices
        squares = np.bincount(at, (X.data / safe[at] - away[at]) ** 2, p)
        squares = (squares + (n - np.bincount(at, minlength=p)) * away**2) / n
    else:
        D -= mean - few[0]
        D /= safe
        squares = np.einsum("ij,ij->j", D, D) / len(D)
    # The mean square of n numbers lies between their largest square over n and that square.
    size = np.clip(safe * np.sqrt(squares), largest / sqrt(2.0 * n), largest)
    exponent = np.clip(np.frexp(size)[1], -LARGEST_EXPONENT, LARGEST_EXPONENT)
    if not (size > 0).all():  # a column of zeros has the units, and so the penalty, of the others
        others = np.sort(exponent[size > 0])
        exponent[~(size > 0)] = others[len(others) // 2] if len(others) else 0
    scale = np.ldexp(1.0, -exponent)
    shift = mean * scale
    # 1.01: the mean was rounded, and so is this bound.
    top = 1.01 * (largest * scale + 8 * UNIT * np.abs(shift))
    return scale, shift, np.append(top, 1.0), size * scale
