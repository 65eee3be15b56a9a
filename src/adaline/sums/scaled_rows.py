"""Rows of a table in units that suit them, handed out in blocks.

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
from adaline.sums.threads import one_blas_thread, over_pieces

T = TypeVar("T")

BLOCK = 2**16  # numbers in a block: half a megabyte stays in the cache of a core
SMALL = 2**18  # numbers in X up to which (z, 1) is computed once and stored: two megabytes
NEAR = 4.0  # deviations; the mean of a column nearer to zero than this costs at most three bits
MANY = 2000  # columns above which no p x p matrix is computed
SAMPLE = 512  # rows that deviations are estimated from: units need only be about right
FAR_EXPONENT = 300  # z is computed, not folded into the weights, for scales beyond 2^±300
LARGEST_EXPONENT = 1020  # 2^1020 can be squared with care; 2^1024 is no number
NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows, targets, weights and offsets, and the units in which theta is measured.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, p)
        Validated; z is computed from it block by block.
    y : ndarray of shape (n,)
        As the loss reads it: -1 and +1, class codes, counts.
    omega, offset : ndarray of shape (n,) or (0,)
        Sample weights divided by `unit`, and numbers added to theta'z.
    scale, shift : ndarray of shape (p,)
    top : ndarray of shape (p + 1,)
        Bounds on |z_j|; 1 for the bias.
    deviation : ndarray of shape (p,)
        Standard deviations of z, roughly; zero for constant columns.
    unit : float
        A power of two.
    """

    X: Any
    y: NDArray[Any]
    omega: Array
    offset: Array
    intercept: bool
    scale: Array
    shift: Array
    top: Array
    deviation: Array
    unit: float = 1.0
    stored: Array | None = None  # all (z, 1) of a small table

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
            scale, shift, top, deviation = _units(X, intercept)
        scaled = omega / unit if len(omega) else omega
        rows = cls(X, y, scaled, offset, intercept, scale, shift, top, deviation, unit)
        return rows.prepared()

    def prepared(self) -> ScaledRows:
        """The same, with z computed where the table is small."""
        if is_sparse(self.X) or self.X.size > SMALL or not np.isfinite(self.top).all():
            return replace(self, stored=None)
        Z = np.empty((self.n, self.q))
        return replace(self, stored=_with_bias(self.X, self.scale, self.shift, Z))

    def in_unit(self, unit: float) -> ScaledRows:
        """The same weights measured in another power of two."""
        return replace(self, omega=self.weights * (self.unit / unit), unit=unit)

    def with_rows(self, X: Any, y: NDArray[Any], omega: Array, offset: Array) -> ScaledRows:
        """Other rows in the same units: a block of a file. `top` is theirs, unless it is known."""
        top = self.top
        if not len(top):
            with np.errstate(invalid="ignore", over="ignore"):
                ends = np.array(_ends(X)) * self.scale - self.shift
            top = np.append(1.01 * np.abs(ends).max(axis=0), 1.0)
        if len(omega) or self.unit != 1.0:  # rows without weights weigh 1, in this unit, too
            omega = (omega if len(omega) else np.ones(X.shape[0])) / self.unit
        return replace(self, X=X, y=y, omega=omega, offset=offset, top=top, stored=None)

    def taking(self, k: slice | Array) -> ScaledRows:
        """Only these rows, with the units of all."""
        omega = self.omega[k] if len(self.omega) else NONE
        offset = self.offset[k] if len(self.offset) else NONE
        X = self.X[k] if is_sparse(self.X) else np.ascontiguousarray(self.X[k])
        few = replace(self, X=X, y=np.ascontiguousarray(self.y[k]), omega=omega, offset=offset)
        return few.prepared()

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.X.shape[0])

    @property
    def q(self) -> int:
        """Columns, and the bias."""
        return len(self.top)

    @cached_property
    def weight(self) -> float:
        """Sum of the sample weights, in `unit`."""
        return float(self.omega.sum()) if len(self.omega) else float(self.n)

    @property
    def weights(self) -> Array:
        """A weight for each row."""
        return self.omega if len(self.omega) else np.ones(self.n)

    @cached_property
    def farthest(self) -> float:
        """The largest |offset|."""
        return float(np.max(np.abs(self.offset), initial=0.0))

    @property
    def is_wide(self) -> bool:
        """Whether there are too many columns for a matrix of columns x columns."""
        return self.q > MANY

    @cached_property
    def folded(self) -> bool:
        """Whether products use x itself, with scale and shift folded into the weights."""
        if self.stored is not None:
            return False
        # Sparse rows stay sparse: where they are wide, digits lost to a far mean are only counted.
        near = bool(np.all(np.abs(self.shift) <= NEAR)) or (is_sparse(self.X) and self.is_wide)
        exponents = np.frexp(self.scale)[1]
        return near and bool(np.all(np.abs(exponents) < FAR_EXPONENT))

    @cached_property
    def away(self) -> Array:
        """|z - scale x|, (p + 1,), where products use x itself; else zeros."""
        away = np.zeros(self.q)
        if self.folded:
            away[:-1] = np.abs(self.shift)
        return away

    @cached_property
    def extent(self) -> Array:
        """Bounds on the terms that sums over z_j are made of, (p + 1,)."""
        return np.asarray(self.top + 2.0 * self.away)

    @cached_property
    def lost(self) -> Array:
        """What underflow of one product can change in a sum over z_j, (p + 1,)."""
        lost = np.full(self.q, UNDERFLOW)
        if self.folded:  # products of x are scaled after they are summed
            lost[:-1] *= np.maximum(self.scale, 1.0)
        return lost

    def block_rows(self, matrix: bool, K: int = 1) -> int:
        """Rows of a block: so many that calls of numpy cost little; Gram matrices want tall ones.

        Arrays of more than BLOCK numbers cost more to allocate than to fill.
        """
        rows = min(max(BLOCK // max(self.q, K), 1024), 4096)
        return max(rows, min(2 * self.q, 4096)) if matrix else rows

    def depth(self, matrix: bool = False) -> float:
        """Rounded additions behind a sum over all rows, at most."""
        return self._depths[matrix]

    @cached_property
    def _depths(self) -> tuple[float, float]:
        n, rows = self.n, [min(self.block_rows(matrix), self.n) for matrix in (False, True)]
        if is_sparse(self.X):
            rows[0] = n
        # 40: pieces of `over_pieces`, merged in order.
        plain, square = (k + n / 1024 + 40.0 for k in rows)  # blocks have 1024 rows at least
        return plain, square

    def over_blocks(
        self, work: Callable[[Iterator[tuple[slice, Any]]], T], matrix: bool, K: int = 1
    ) -> list[T]:
        """work(blocks) for pieces of the rows, in order, by threads; the bits do not depend on
        them.

        A block is a slice of the rows and their (z, 1), or x where products are `folded`. With
        matrix, it is always (z, 1), in dense rows. It may take the place of the block before. Of
        each row K numbers are computed.
        """
        with one_blas_thread(1):  # threads of BLAS would change the last digit
            if is_sparse(self.X) and self.is_wide:  # sums too large to hold several of
                return [work(self._blocks(0, self.n, matrix, K))]
            return over_pieces(lambda i, j: work(self._blocks(i, j, matrix, K)), self.n, self.q)

    def _blocks(self, start: int, stop: int, matrix: bool, K: int) -> Iterator[tuple[slice, Any]]:
        if is_sparse(self.X) and self.folded and not matrix:
            whole = start == 0 and stop == self.n
            yield slice(start, stop), self.X if whole else self.X[start:stop]
            return
        rows, place = self.block_rows(matrix, K), np.empty((0, 0))
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            if self.stored is not None:
                yield part, self.stored[part]
            elif self.folded and not matrix:
                yield part, np.ascontiguousarray(self.X[part], dtype=np.float64)
            else:
                X = self.X[part].toarray() if is_sparse(self.X) else self.X[part]
                place = place if len(place) else np.empty((len(X), self.q))
                yield part, _with_bias(X, self.scale, self.shift, place[: len(X)])

    def weights_of_blocks(self, theta: Array) -> Array:
        """theta (K, p + 1) for blocks that are x where these are `folded`."""
        return np.column_stack(self.original(theta)) if self.folded else theta

    def sums_of_blocks(self, G: Array) -> Array:
        """Sums of r (z, 1), from sums G (K, p + 1) of `add_products` over blocks."""
        if self.folded:
            G[:, :-1] = G[:, :-1] * self.scale - G[:, -1:] * self.shift
        return G

    def original(self, theta: Array) -> tuple[Array, Array]:
        """W (K, p) and b (K,) for the columns of X."""
        return theta[:, :-1] * self.scale, theta[:, -1] - theta[:, :-1] @ self.shift

    def theta(self, W: Array, b: Array) -> Array:
        """(K, p + 1) from weights for the columns of X."""
        return np.column_stack([W / self.scale, b + W @ (self.shift / self.scale)])

    def project(self, A: Array) -> Array:
        """A'(z, 1) of every row, (n, columns of A)."""
        A = A if self.intercept else np.vstack([A[:-1], np.zeros(A.shape[1])])
        W = self.weights_of_blocks(A.T)
        parts = self.over_blocks(lambda blocks: [values(Z, W) for _, Z in blocks], False)
        return np.concatenate([V.T for piece in parts for V in piece])

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
            gram = Gram()
            return sum(gram.of(Z, np.sqrt(c[part])) for part, Z in blocks)  # type: ignore[return-value]

        H = np.sum(self.over_blocks(of, True), axis=0)
        if not self.intercept:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        return np.asarray(H)

    def squares(self, A: Array, root: Array = NONE) -> Array:
        """|A'(z, 1)|^2 of every row, times root^2 where given; (n,)."""

        def of(blocks: Iterator[tuple[slice, Any]]) -> list[Array]:
            found = []
            for part, Z in blocks:
                V = Z @ A if self.intercept else Z[:, :-1] @ A[:-1]
                own = np.einsum("ij,ij->i", V, V)
                found.append(own * root[part] ** 2 if len(root) else own)
            return found

        return np.concatenate([v for piece in self.over_blocks(of, True) for v in piece])

    def value_error(self, theta: Array) -> float:
        """Bound on what rounding did to any value theta'z + offset."""
        reach = float((np.abs(theta) @ self.extent).max()) + self.farthest
        return (self.q + 8) * UNIT * reach + self.q * UNDERFLOW

    @cached_property
    def longest(self) -> float:
        """The largest |x| of a CSR row."""
        return self._longest(np.ones(self.q - 1))

    def _longest(self, each: Array) -> float:
        """The largest root of sum each_j x_j^2 of a CSR row."""
        entries = np.abs(self.X.data, dtype=np.float64) * np.sqrt(each)[self.X.indices]
        top = float(entries.max(initial=0.0))
        entries /= top or 1.0  # squares stay in the range of float64
        rows = np.add.reduceat(np.append(entries * entries, 0.0), self.X.indptr[:-1])
        return top * sqrt(float(rows.max()))

    def farthest_from(self, mean: Array, units: Array) -> float:
        """A bound on the largest |(z - mean) / sqrt(units)| of a row; mean and units are (p,)."""
        root = np.sqrt(units)
        if is_sparse(self.X):
            # |z - mean| <= |scale x| + |shift + mean|, so that no row is unpacked.
            each = (self.scale / root) ** 2
            plain = np.ptp(each) <= 1e-12 * each.max(initial=0.0)
            longest = sqrt(each.max(initial=0.0)) * self.longest if plain else self._longest(each)
            return 1.01 * (longest + length((self.shift + mean) / root))
        each = (self.scale / root) ** 2
        if self.folded and np.ptp(each) == 0.0:  # |x - c|^2 from products that keep rows whole
            c = (self.shift + mean) / self.scale
            square = float(c @ c)

            def of_rows(blocks: Iterator[tuple[slice, Any]]) -> float:
                largest = 0.0
                for _, X in blocks:
                    own = np.einsum("ij,ij->i", X, X)
                    lost = 4.0 * (len(c) + 8) * UNIT * (own + square)
                    largest = max(largest, float((own - 2.0 * (X @ c) + square + lost).max()))
                return largest

            return 1.01 * sqrt(float(each[0]) * max(self.over_blocks(of_rows, False)))

        def of(blocks: Iterator[tuple[slice, Any]]) -> float:
            largest = 0.0
            for _, Z in blocks:
                D = Z[:, :-1] * (1.0 / root)
                D -= mean / root
                largest = max(largest, float(np.einsum("ij,ij->i", D, D).max()))
            return largest

        return 1.01 * sqrt(max(self.over_blocks(of, True)))


def values(Z: Any, W: Array) -> Array:
    """W (z, 1) of every row of a block, (K, m); W is that of `weights_of_blocks`."""
    if Z.shape[1] == W.shape[1]:
        return np.asarray(W @ Z.T)
    if is_sparse(Z):
        return np.ascontiguousarray((Z @ np.ascontiguousarray(W[:, :-1].T)).T) + W[:, -1:]
    return np.asarray(W[:, :-1] @ Z.T) + W[:, -1:]


def add_products(G: Array, R: Array, Z: Any) -> None:
    """Add the sums of r (z, 1) over a block to G (K, p + 1), for numbers R (K, m) of its rows."""
    if Z.shape[1] == G.shape[1]:
        G += R @ Z
        return
    G[:, :-1] += (Z.T @ np.ascontiguousarray(R.T)).T if is_sparse(Z) else R @ Z
    G[:, -1] += R.sum(axis=1)


class Gram:
    """Sums of root^2 (z, 1)(z, 1)' over blocks, in one place for the rows times root."""

    def __init__(self) -> None:
        self.place = NONE

    def of(self, Z: Array, root: Array) -> Array:
        """Over rows (z, 1) of Z; root (m,), or (K, m) for the rows root_k (z, 1) side by side."""
        K = len(root) if root.ndim > 1 else 1
        size = Z.size * K
        self.place = self.place if len(self.place) >= size else np.empty(size)
        A = self.place[:size].reshape(len(Z), K, -1)
        np.multiply(root.reshape(K, -1).T[:, :, None], Z[:, None, :], out=A)
        flat = A.reshape(len(Z), -1)
        return flat.T @ flat


def _with_bias(X: Any, scale: Array, shift: Array, Z: Array) -> Array:
    """(scale x - shift, 1) in Z, with the same bits in any layout of X."""
    np.multiply(X, scale, dtype=np.float64, out=Z[:, :-1])
    Z[:, :-1] -= shift
    Z[:, -1] = 1.0
    return Z


def _units(X: Any, intercept: bool) -> tuple[Array, Array, Array, Array]:
    """scale, shift, top and deviation.

    Means and deviations are those of a sample of dense rows: units need only be about right, but
    the bounds hold for every row.
    """
    n, p = X.shape
    few: Any = X.tocsc() if is_sparse(X) else X[:: -(-n // SAMPLE)]
    few = few if is_sparse(X) else np.ascontiguousarray(few, dtype=np.float64)
    low, high = _ends(few if is_sparse(X) else X)
    mean = np.zeros(p)
    if intercept and is_sparse(X):
        mean = _column_sums(few, few.data) / n
    elif intercept:
        mean = few[0] + (few - few[0]).mean(axis=0)  # exact for a constant column
    mean = np.clip(np.where(np.isfinite(mean), mean, 0.0), low, high) if intercept else mean
    largest = np.maximum(np.abs(high - mean), np.abs(low - mean))
    # The mean square of n numbers lies between their largest square over n and that square.
    size = np.clip(_spread(few, mean, largest), largest / sqrt(2.0 * n), largest)
    exponent = np.clip(np.frexp(size)[1], -LARGEST_EXPONENT, LARGEST_EXPONENT)
    if not (size > 0).all():  # a column of zeros has the units, and so the penalty, of the others
        exponent[~(size > 0)] = int(np.median(exponent[size > 0])) if (size > 0).any() else 0
    scale = np.ldexp(1.0, -exponent)
    shift = mean * scale
    # 1.01: the mean was rounded, and so is this bound.
    top = 1.01 * (largest * scale + 8 * UNIT * np.abs(shift))
    return scale, shift, np.append(top, 1.0), size * scale


def _column_sums(X: Any, entries: Array, of: np.ufunc = np.add) -> Array:
    """Sum (or another reduction) of these entries of CSC rows for each column; 0 of empty ones."""
    found, some = np.zeros(X.shape[1]), np.diff(X.indptr) > 0
    if some.any():
        found[some] = of.reduceat(entries, X.indptr[:-1][some], dtype=np.float64)
    return found


def _ends(X: Any) -> tuple[Array, Array]:
    """The least and the largest number of every column."""
    if is_sparse(X):
        X = X.tocsc()
        low, high = (_column_sums(X, X.data, of) for of in (np.minimum, np.maximum))
        full = np.diff(X.indptr) == X.shape[0]  # the others have a zero
        return np.where(full, low, np.minimum(low, 0.0)), np.where(full, high, np.maximum(high, 0))
    n, p = X.shape
    # numpy takes several times as long for the extremes of columns of narrow rows as of long ones.
    many = max(256 // max(p, 1), 1)

    def of_piece(i: int, j: int) -> tuple[Array, Array]:
        low, high = X[i].copy(), X[i].copy()
        rows = max(BLOCK // max(p, 1), 256) // many * many
        for k in range(i, j, rows):
            part = X[k : min(k + rows, j)]
            if len(part) % many == 0 and part.flags.c_contiguous:
                part = part.reshape(-1, many * p)
            for ends, best in ((low, np.minimum), (high, np.maximum)):
                found = best.reduce(part, axis=0).reshape(-1, p)
                best(ends, best.reduce(found, axis=0), out=ends)
        return low, high

    parts = over_pieces(of_piece, n, p)
    low, high = (
        np.min([part[0] for part in parts], axis=0),
        np.max([part[1] for part in parts], axis=0),
    )
    return low.astype(np.float64), high.astype(np.float64)


def _spread(X: Any, around: Array, largest: Array) -> Array:
    """Root of the mean of (x - around)^2."""
    safe = np.where(largest > 0, largest, 1.0)  # squares stay in the range of float64
    if is_sparse(X):
        count = np.diff(X.indptr)
        data = (X.data - np.repeat(around, count)) / np.repeat(safe, count)
        squares, zeros = _column_sums(X, data * data), X.shape[0] - count
        # A zero is as far from the mean as the mean from zero.
        return np.asarray(safe * np.sqrt((squares + zeros * (around / safe) ** 2) / X.shape[0]))
    D = (X - around) / safe
    return np.asarray(safe * np.sqrt(np.einsum("ij,ij->j", D, D) / len(D)))
