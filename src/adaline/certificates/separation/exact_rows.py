"""Signed rows of labelled samples in integers: exact values, sums and distances.

Two classes: y = t (1, x), t = ±1, and w separates where every y'w > 0. K classes (Kesler's
construction): one weight vector a class, the first class's zero, and for every sample and every
other class j a row y with y'w = (w_own - w_j)'(1, x). Two classes are the case K = 2.

Legend: D = p + 1 with an intercept, whose input 1 is column 0, W (K-1, D) weights of the classes
1..K-1, a pair (sample, s) with s = 0..K-2 for the other classes is row sample (K-1) + s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.integers import Matrix, dyadic, integer_rows, least_exponents
from adaline.results import Array
from adaline.tiles import is_sparse

Ints = NDArray[np.int64]


class ExactRows:
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
        """The number of a pair."""
        return int(sample * (self.K - 1) + other - (other > self.codes[sample]))

    @cached_property
    def grains(self) -> Ints:
        """Largest q for which every entry of a column is a whole multiple of 2^q, (D,)."""
        if not self.is_sparse:
            q = least_exponents(self.X)
        else:
            m, e = dyadic(self.X.data)
            q = np.full(self.p, 2000)
            np.minimum.at(q, self.X.indices[m != 0], e[m != 0])
            q[q == 2000] = 0
        return np.concatenate([np.zeros(int(self.intercept), dtype=np.int64), q])

    def samples(self, at: Ints) -> tuple[Array, Ints]:
        """Samples (1, x) as dense rows, and which columns they are (CSR: those not zero)."""
        columns = np.arange(self.p)
        X = self.X[at]
        if self.is_sparse:
            columns = np.unique(X.indices[X.data != 0])
            X = X[:, columns].toarray()
        if self.intercept:
            X = np.concatenate([np.ones((len(at), 1)), X], axis=1)
            columns = np.concatenate([[0], columns + 1])
        return X, columns

    def values(self, rows: Ints, W: Sequence[Sequence[int]]) -> tuple[list[int], int]:
        """v and e with y'w = v 2^e exactly, for the rows with these numbers."""
        at, place = np.unique(rows // (self.K - 1), return_inverse=True)
        A, columns = self.samples(at)
        used = [c for c, j in enumerate(columns.tolist()) if any(w[j] for w in W)]
        A, columns = A[:, used], columns[used]
        if not used:
            return [0] * len(rows), 0
        q = least_exponents(A)
        least = int(q.min())
        scaled = [
            [w[j] << (f - least) for j, f in zip(columns.tolist(), q.tolist(), strict=True)]
            for w in W
        ]
        V = [[0, *row] for row in _products(A, q, scaled)]
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
        at = np.array([self.pair(row)[0] for row in rows], dtype=np.int64)
        A, found = self.samples(at)
        if columns is not None:
            whole = np.zeros((len(at), self.D))
            whole[:, found] = A
            A, found = whole[:, columns], columns
        q = least_exponents(A) if q is None else q[found]
        matrix = integer_rows(A, q)
        result = []
        for row, x in zip(rows, matrix, strict=True):
            i, other = self.pair(row)
            result.append(blocks(x, int(self.codes[i]), other, self.K))
        return result, found, q

    def distance(self, rows: Ints, W: Sequence[Sequence[int]]) -> float:
        """The least y'w / |w_own - w_other| of some rows, from exact sums rounded once."""
        values, e = self.values(rows, W)
        full = [[0] * self.D, *(list(w) for w in W)]
        squares: dict[tuple[int, int], int] = {}
        least = np.inf
        for row, value in zip(rows.tolist(), values, strict=True):
            i, other = self.pair(row)
            key = int(self.codes[i]), other
            if key not in squares:
                pairs = zip(full[key[0]], full[key[1]], strict=True)
                squares[key] = sum((a - b) ** 2 for a, b in list(pairs)[int(self.intercept) :])
            if squares[key]:
                least = min(least, over_root(value, squares[key], e))
        return float(least)


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
    excess = a.bit_length() - 64
    if excess > 0:
        return float(np.ldexp(float(a >> excess), excess - bits))
    return float(np.ldexp(float(a), -bits))


def over_root(a: int, square: int, e: int = 0) -> float:
    """a 2^e / sqrt(square) for whole numbers of any size, square > 0."""
    shift = max(0, square.bit_length() // 2 - abs(a).bit_length() + 80)  # root has 79 bits or more
    root = math.isqrt((a * a << 2 * shift) // square)  # |a| 2^shift / sqrt(square), rounded down
    bits = root.bit_length()
    size = float(np.ldexp(rounded(root, bits), bits - shift + e))
    return -size if a < 0 else size


def _products(A: Array, q: Ints, W: Matrix) -> Matrix:
    """A W' with column j of A divided by 2^q_j, in integers; int64 where everything fits."""
    m, e = dyadic(A)
    bits = int(np.max(np.where(m == 0, 0, e - q + np.frexp(np.abs(m).astype(float))[1]), initial=0))
    wide = max((a.bit_length() for w in W for a in w), default=0)
    if bits + wide + len(q).bit_length() <= 62:
        small = m << np.where(m == 0, 0, e - q)
        products: Matrix = (small @ np.array(W, dtype=np.int64).T).tolist()
        return products
    return [[sum(map(int.__mul__, row, w)) for w in W] for row in integer_rows(A, q)]
