"""Signed rows of labelled samples: exact values in integers, and floats with error bounds.

Two classes: y = t (1, x), t = ±1, and w separates where every y'w > 0. K classes (Kesler's
construction): one weight vector for each class, the first class's zero, and for every sample and
every other class j a row y with y'w = (w_own - w_j)'(1, x). Two classes are the case K = 2.

Called by checking, separation, and procedures/separability. Legend: D = p + 1 with an intercept,
whose input 1 is column 0; W (K-1, D) weights of the classes 1..K-1; a pair (sample, s) with
s = 0..K-2 for the other classes is row sample (K-1) + s. Floats see samples that are scaled and
centred: z = x / 2^e - c. That keeps the digits that products with a far column would lose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.integers import Matrix, dyadic, integer_rows, least_exponents, reduced
from adaline.linalg import UNIT
from adaline.parameters import is_sparse
from adaline.results import Array

Ints = NDArray[np.int64]
Weights = Sequence[Sequence[int]]

BLOCK = 4096  # rows at a time, where they become Python integers; any round number
TINY = 2.0**-450  # lengths below: squares, or the scaled numbers, may have lost their digits


class SignedRows:
    """All pairs (sample, other class) of n samples with codes 0..K-1; X float64 or CSR."""

    def __init__(self, X: Any, codes: Ints, K: int, intercept: bool) -> None:
        self.X, self.codes, self.K, self.intercept = X, codes, K, intercept
        self.n, self.p = X.shape
        self.D = self.p + intercept
        self.count = self.n * (K - 1)
        self.is_sparse = is_sparse(X)

    def pair(self, row: int) -> tuple[int, int]:
        """The sample, and the code of the other class."""
        i, s = divmod(int(row), self.K - 1)
        return i, s if s < self.codes[i] else s + 1

    def row_of(self, sample: int, other: int) -> int:
        return int(sample * (self.K - 1) + other - (other > self.codes[sample]))

    @cached_property
    def sign(self) -> Array:
        return np.where(self.codes == 1, 1.0, -1.0)

    @cached_property
    def others(self) -> Ints:
        """Codes of the other classes of each sample, (n, K - 1)."""
        s = np.arange(self.K - 1)
        return s + (s >= self.codes[:, None])

    # ---- in integers

    @cached_property
    def grains(self) -> Ints:
        """Largest q for which every entry of a column is a whole multiple of 2^q, (D,)."""
        if not self.is_sparse:
            q = least_exponents(self.X)
        else:
            m, e = dyadic(self.X.data)
            q = np.full(self.p, 2000)  # more than any exponent
            np.minimum.at(q, self.X.indices[m != 0], e[m != 0])
            q[q == 2000] = 0
        return np.concatenate([np.zeros(int(self.intercept), dtype=np.int64), q])

    def samples(self, at: Ints) -> tuple[Array, Ints]:
        """Samples (1, x) as dense rows, and which columns they are (CSR: those not zero)."""
        columns, X = np.arange(self.p), self.X[at]
        if self.is_sparse:
            columns = np.unique(X.indices[X.data != 0])
            X = X[:, columns].toarray()
        if self.intercept:
            X = np.concatenate([np.ones((len(at), 1)), X], axis=1)
            columns = np.concatenate([[0], columns + 1])
        return X, columns

    def values(self, rows: Ints, W: Weights) -> tuple[list[int], int]:
        """v and e with y'w = v 2^e exactly, for the rows with these numbers."""
        at, place = np.unique(rows // (self.K - 1), return_inverse=True)
        A, columns = self.samples(at)
        used = [c for c, j in enumerate(columns.tolist()) if any(w[j] for w in W)]
        A, columns = A[:, used], columns[used]
        if not used:
            return [0] * len(rows), 0
        q = least_exponents(A)
        least = int(q.min())
        pairs = list(zip(columns.tolist(), q.tolist(), strict=True))
        V = [
            [0, *row]
            for row in products(A, q, [[w[j] << (f - least) for j, f in pairs] for w in W])
        ]
        own = self.codes[rows // (self.K - 1)].tolist()
        other = [self.pair(row)[1] for row in rows.tolist()]
        triples = zip(place.tolist(), own, other, strict=True)
        return [V[i][a] - V[i][b] for i, a, b in triples], least

    def integers(
        self, rows: Sequence[int], q: Ints | None = None, columns: Ints | None = None
    ) -> tuple[Matrix, Ints, Ints]:
        """Signed rows in integers, K - 1 blocks of the columns, and columns and exponents q.

        Column j holds its entries divided by 2^q_j, with the largest q that allows it unless
        exponents (for all D columns) are given. Columns that are zero in all rows may be missing
        unless the columns wanted are given.
        """
        pairs = [self.pair(row) for row in rows]
        A, present = self.samples(np.array([i for i, _ in pairs], dtype=np.int64))
        if columns is not None:
            every = np.zeros((len(A), self.D))
            every[:, present] = A
            A, present = every[:, columns], columns
        q = least_exponents(A) if q is None else q[present]
        matrix = zip(integer_rows(A, q), pairs, strict=True)
        return (
            [blocks(x, int(self.codes[i]), other, self.K) for x, (i, other) in matrix],
            present,
            q,
        )

    def distance(self, rows: Ints, W: Weights) -> float:
        """The least y'w / |w_own - w_other| of some rows, from exact sums rounded once."""
        values, e = self.values(rows, W)
        full = [[0] * self.D, *(list(w) for w in W)]
        squares: dict[tuple[int, int], int] = {}
        least = math.inf
        for row, value in zip(rows.tolist(), values, strict=True):
            i, other = self.pair(row)
            own = int(self.codes[i])
            if (own, other) not in squares:
                pairs = zip(full[own], full[other], strict=True)
                squares[own, other] = sum((a - b) ** 2 for a, b in [*pairs][int(self.intercept) :])
            if squares[own, other]:
                least = min(least, over_root(value, squares[own, other], e))
        return least

    # ---- in floats

    @cached_property
    def extremes(self) -> tuple[Array, Array]:
        """Least and largest entry of each column; for CSR minus and plus the largest size."""
        if self.is_sparse:
            top = np.asarray(abs(self.X).max(axis=0).todense()).ravel()
            return -top, top
        return self.X.min(axis=0), self.X.max(axis=0)

    @cached_property
    def top(self) -> Array:
        low, high = self.extremes
        return np.asarray(np.maximum(high, -low))

    @cached_property
    def exponents(self) -> Ints:
        """Powers of two e that bring each column's largest entry to about one."""
        return np.frexp(self.top)[1].astype(np.int64)

    @cached_property
    def centre(self) -> Array:
        """c, about the middle of each scaled column, in few bits; zero without an intercept."""
        if self.is_sparse or not self.intercept:
            return np.zeros(self.p)
        low, high = (np.ldexp(end, -self.exponents) for end in self.extremes)
        middle, spread = (low + high) / 2, high - low
        grain = np.ldexp(1.0, np.frexp(np.maximum(spread, TINY))[1])
        with np.errstate(over="ignore"):
            c = np.where(spread > 0, np.rint(middle / grain) * grain, low)
        return np.where(np.isfinite(c), c, 0.0)

    @cached_property
    def unit_samples(self) -> tuple[Any, Array]:
        """Samples (1, z) of unit length, (n, D) dense or CSR, and the lengths that they had.

        Rows too short to tell, which only occur without an intercept, are zero.
        """
        s, e = int(self.intercept), self.exponents
        if self.is_sparse:
            data = np.ldexp(self.X.data, -e[self.X.indices])
            csr = sparse.csr_matrix((data, self.X.indices, self.X.indptr), shape=self.X.shape)
            length = np.sqrt(np.asarray(csr.multiply(csr).sum(axis=1)).ravel() + s)
            factor = np.divide(1.0, length, out=np.zeros(self.n), where=length > TINY)
            unit: list[Any] = [sparse.csr_matrix(factor[:, None])] if s else []
            return sparse.hstack([*unit, sparse.diags(factor) @ csr], format="csr"), length
        Z = np.ones((self.n, self.D))
        Z[:, s:] = np.ldexp(self.X, -e) - self.centre
        length = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        Z *= np.divide(1.0, length, out=np.zeros(self.n), where=length > TINY)[:, None]
        return Z, length

    def floats(self, W: Weights) -> tuple[Array, int]:
        """U and f: U 2^f weigh samples (1, z) as W weighs samples; the largest is about 1.

        x = 2^e (z + c), so u_j = w_j 2^e_j and u_0 = w_0 + sum w_j 2^e_j c_j, which is summed in
        integers and rounded once.
        """
        s = int(self.intercept)
        m, e = (a.tolist() for a in dyadic(np.concatenate([np.ones(s), self.centre])))
        shifts = [*([0] * s), *self.exponents.tolist()]
        least = min([*shifts, *(a + b for a, b, c in zip(shifts, e, m, strict=True) if c)])
        rows = []
        for w in W:
            u = [a << (b - least) for a, b in zip(w, shifts, strict=True)]
            if s and any(m[1:]):
                terms = zip(w[1:], m[1:], shifts[1:], e[1:], strict=True)
                u[0] += sum(a * b << (f + g - least) for a, b, f, g in terms if b)
            rows.append(u)
        bits = max((a.bit_length() for u in rows for a in u), default=0)
        return np.array([[rounded(a, bits) for a in u] for u in rows]), bits + least

    def from_floats(self, m: Sequence[int]) -> list[list[int]]:
        """Weights W of samples from whole weights m, (K - 1) D of them, of samples (1, z).

        The inverse of `floats`: w_j = u_j / 2^e_j and w_0 = u_0 - sum u_j c_j, times a power of
        two that makes them whole, in lowest terms.
        """
        s = int(self.intercept)
        c, f = (a.tolist() for a in dyadic(self.centre))
        shifts = [*([0] * s), *(-a for a in self.exponents.tolist())]
        least = min([*shifts, *(a for a, b in zip(f, c, strict=True) if b)])
        flat = []
        for k in range(0, len(m), self.D):
            u = m[k : k + self.D]
            w = [a << (b - least) for a, b in zip(u, shifts, strict=True)]
            if s and any(c):
                terms = zip(u[1:], c, f, strict=True)
                w[0] -= sum(a * b << (g - least) for a, b, g in terms if b)
            flat += w
        flat = reduced(flat)
        return [flat[k : k + self.D] for k in range(0, len(flat), self.D)]

    def gaps(self, V: Array) -> Array:
        """y'w of all pairs from values V (n, K - 1) of the classes 1..K-1, (n, K - 1)."""
        if self.K == 2:
            return np.asarray(V * self.sign[:, None])
        full = np.concatenate([np.zeros((self.n, 1)), V], axis=1)
        own = np.take_along_axis(full, self.codes[:, None], axis=1)
        return np.asarray(own - np.take_along_axis(full, self.others, axis=1))

    def float_gaps(self, U: Array) -> tuple[Array, Array]:
        """y'w of all pairs in floats, for samples (1, z), (n, K - 1), and their lengths (n, 1)."""
        A, length = self.unit_samples
        return self.gaps(np.asarray(A @ U.T)) * length[:, None], length[:, None]

    def sides(
        self, W: Weights, known: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
        """The exact signs of y'w of every row, and rows among which the closest is.

        A float is believed where it is larger than all that rounding can have done to it; the
        others are computed in integers, but for those `known` to be zero.
        """
        U, _ = self.floats(W)
        gap, length = self.float_gaps(U)
        # A sum of D products errs by D UNIT |z| |u|. z, u, the division by the length, the product
        # with it and the difference of two outputs are rounded once each: 12 leaves room.
        size = (1 + (self.K > 2)) * float(np.sqrt((U * U).sum(axis=1)).max(initial=0.0))
        bound = 1.01 * (self.D + 12) * UNIT * size * length
        bound[length <= TINY] = size
        signs = np.sign(gap).ravel().astype(np.int8)
        doubtful = np.flatnonzero(~(np.abs(gap) > bound))  # NaN would be doubtful, too
        if known is not None:
            signs[known] = 0
            doubtful = doubtful[~known[doubtful]]
        for k in range(0, len(doubtful), BLOCK):
            part = doubtful[k : k + BLOCK]
            signs[part] = [(a > 0) - (a < 0) for a in self.values(part, W)[0]]
        low, high = gap - bound, gap + bound
        if self.K == 2:
            return signs, np.flatnonzero(low <= high.min())
        per = self.pair_lengths(U)[self.codes[:, None], self.others]
        low = np.where(per < np.inf, low / per, -np.inf)
        nearest = np.where(per < np.inf, high / per, np.inf).min()
        # 1e-6: the lengths are not exact. Where they were infinite they are unknown.
        return signs, np.flatnonzero(low <= abs(nearest) * (1.0 + 1e-6))

    def pair_lengths(self, U: Array) -> Array:
        """About |w_a - w_b| of all pairs of classes.

        Infinite where cancellation or the range of float64 leave it unknown.
        """
        full = np.concatenate([np.zeros((1, self.D)), U])[:, int(self.intercept) :]
        with np.errstate(all="ignore"):
            full = np.ldexp(full, -self.exponents)
            top = np.abs(full).max()
            length = np.sqrt((((full[:, None] - full[None]) / top) ** 2).sum(axis=2))
        return np.where((length > 1e-9) & (length < np.inf), length, np.inf)


def blocks(x: list[int], own: int, other: int, K: int) -> list[int]:
    """The row (e_own - e_other) x (sample) of K - 1 blocks, the first class left out."""
    if K == 2:
        return x if own == 1 else [-a for a in x]
    row = [0] * (len(x) * (K - 1))
    if own:
        row[(own - 1) * len(x) : own * len(x)] = x
    if other:
        row[(other - 1) * len(x) : other * len(x)] = [-a for a in x]
    return row


def rounded(a: int, bits: int) -> float:
    """a / 2^bits with an error of 2^-52 of it at most, or of underflow."""
    excess = max(a.bit_length() - 64, 0)
    return float(np.ldexp(float(a >> excess), excess - bits))


def over_root(a: int, square: int, e: int = 0) -> float:
    """a 2^e / sqrt(square) for whole numbers of any size, square > 0."""
    shift = max(0, square.bit_length() // 2 - abs(a).bit_length() + 80)  # root has 79 bits or more
    root = math.isqrt((a * a << 2 * shift) // square)  # |a| 2^shift / sqrt(square), rounded down
    bits = root.bit_length()
    size = float(np.ldexp(rounded(root, bits), bits - shift + e))
    return -size if a < 0 else size


def products(A: Array, q: Ints, W: Matrix) -> Matrix:
    """A W' with column j of A divided by 2^q_j, in integers; int64 where everything fits."""
    m, e = dyadic(A)
    bits = int(np.max(np.where(m == 0, 0, e - q + np.frexp(np.abs(m).astype(float))[1]), initial=0))
    wide = max((a.bit_length() for w in W for a in w), default=0)
    if bits + wide + len(q).bit_length() <= 62:
        small = m << np.where(m == 0, 0, e - q)
        result: Matrix = (small @ np.array(W, dtype=np.int64).T).tolist()
        return result
    return [[sum(map(int.__mul__, row, w)) for w in W] for row in integer_rows(A, q)]
