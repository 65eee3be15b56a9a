"""Signed rows in floats, of unit length, where proposals come from; nothing here is proof."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline._jit.little import for_sums
from adaline._jit.working_time import working_time
from adaline.certificates.separation.exact_rows import Ints
from adaline.certificates.separation.signed_rows import SignedRows
from adaline.integers import dyadic
from adaline.kernels.separability import pricing
from adaline.procedures.max_margin.nearest_point import NearestPoint, nearest_point
from adaline.results import Array
from adaline.tiles import is_sparse

_EXPLICIT = 2**24  # numbers up to which K-class rows are written out
_SEEN = 1e-11  # of a row's length: a shorter rest of it is rounding
_MEMORY = 2**25  # numbers in a corral


class FloatRows:
    """Unit rows A (m, k), with the numbers they have among the signed rows.

    Rows that floats cannot see (zero to rounding) are left out; the integers will meet them.
    """

    def __init__(self, A: Any, numbers: Ints) -> None:
        self.A, self.numbers = A, numbers
        self.k = A.shape[1]

    def row(self, i: int) -> Array:
        """Row i, dense."""
        if is_sparse(self.A):
            return np.asarray(self.A[[i]].toarray()).ravel()
        return np.asarray(self.A[i])

    def values(self, u: Array) -> Array:
        """A u."""
        return np.asarray(self.A @ u)

    def some(self, at: Ints) -> Any:
        """The rows at these places."""
        return self.A[at]

    def reduced(self, Q: Array, keep: NDArray[np.bool_]) -> FloatRows:
        """Rows A Q of those kept (a mask over signed rows), of unit length again."""
        at = np.flatnonzero(keep[self.numbers])
        return unit_rows(np.asarray(self.some(at) @ Q), self.numbers[at], _SEEN)


class KeslerRows(FloatRows):
    """K-class rows that would be too many to write out: A holds unit samples (n, D)."""

    def __init__(self, A: Any, rows: SignedRows) -> None:
        super().__init__(A, np.arange(rows.count))
        self.signed = rows
        self.k = A.shape[1] * (rows.K - 1)

    def row(self, i: int) -> Array:
        return np.asarray(self.some(np.array([i]))[0])

    def values(self, u: Array) -> Array:
        V = np.asarray(self.A @ u.reshape(self.signed.K - 1, -1).T)
        return self.signed.gaps(V, 0, self.signed.n).ravel()

    def some(self, at: Ints) -> Any:
        i, s = np.divmod(at, self.signed.K - 1)
        return written_out(self.A[i], self.signed.codes[i], self.signed.others[i, s], self.signed.K)


def written_out(Z: Any, own: Ints, other: Ints, K: int) -> Array:
    """Rows (e_own - e_other) x z of K - 1 blocks, the first class left out."""
    Z = Z.toarray() if is_sparse(Z) else Z
    m, D = Z.shape
    rows = np.zeros((m, K, D))
    at = np.arange(m)
    rows[at, own] = Z
    rows[at, other] = -Z
    return rows[:, 1:].reshape(m, -1)


def unit_rows(A: Array, numbers: Ints, seen: float = 0.0) -> FloatRows:
    """Rows divided by their lengths, without those not longer than `seen`."""
    length = np.sqrt(np.einsum("ij,ij->i", A, A))
    if not np.all(length > max(seen, 1e-150)):
        top = np.abs(A).max(axis=1, initial=0.0)
        keep = top > seen
        A, numbers, top = A[keep], numbers[keep], top[keep]
        A = A / top[:, None]
        length = np.sqrt(np.einsum("ij,ij->i", A, A))
    A /= length[:, None]
    return FloatRows(A, numbers)


def float_rows(rows: SignedRows) -> FloatRows:
    """All signed rows, from scaled and centred samples."""
    Z: Any
    t = np.where(rows.codes == 1, 1.0, -1.0)
    if rows.K == 2 and not rows.is_sparse and rows.scale is not None:
        Z = np.empty((rows.n, rows.D))
        run = for_sums(pricing.unit_rows, rows.X.size)
        least = run(rows.X, rows.scale, rows.centre, t, int(rows.intercept), Z)
        if least > 1e-150:
            return FloatRows(Z, np.arange(rows.n))
    if rows.is_sparse:
        Z = sparse.vstack([_over(block, length) for _, _, block, length in rows.blocks()], "csr")
    else:
        Z = np.empty((rows.n, rows.D))
        for i, j, block, _ in rows.blocks():
            Z[i:j] = block
    if not rows.is_sparse or rows.K > 2:
        return signed_floats(Z, rows)
    keep = np.flatnonzero(np.diff(Z.indptr))
    signed: Any = sparse.diags(t) @ Z
    return FloatRows(signed.tocsr()[keep], keep)


def signed_floats(Z: Any, rows: SignedRows) -> FloatRows:
    """Signed rows of unit length from samples Z (n, any number of columns); Z is overwritten."""
    if rows.K > 2:
        if rows.count * Z.shape[1] * (rows.K - 1) > _EXPLICIT:
            return KeslerRows(Z, rows)
        at = np.repeat(np.arange(rows.n), rows.K - 1)
        A = written_out(Z[at], rows.codes[at], rows.others.ravel(), rows.K)
        return unit_rows(A, np.arange(rows.count))
    Z *= np.where(rows.codes == 1, 1.0, -1.0)[:, None]
    return unit_rows(Z, np.arange(rows.n))


def _over(block: Any, length: Array) -> Any:
    return sparse.diags(1.0 / np.where(length > 0, length, 1.0)) @ block


def search(A: FloatRows, deadline: float | None, attempt: int = 0) -> NearestPoint:
    """The nearest point of the rows' hull, or one with A z > 0, whichever comes first.

    A pool of rows is priced at each step, all rows only when the pool is positive; the lowest of
    all then join the pool. Later attempts begin elsewhere.
    """
    m, rng = len(A.numbers), np.random.default_rng(attempt)
    size = max(1000, 12 * A.k)
    written = A.A.shape[0] == m
    start = A.values(np.asarray(A.A.mean(axis=0)).ravel()) if written else np.zeros(m)
    first = int(np.argmin(start)) if attempt == 0 else int(rng.integers(m))
    pool = np.arange(m)
    if m > 2 * size or (attempt and m > 4 * A.k):
        some = rng.choice(m, size if attempt == 0 else min(size, 4 * A.k), replace=False)
        pool = np.unique(np.concatenate([some, np.argpartition(start, min(A.k, m - 1))[: A.k]]))
    chosen = A.some(pool)
    inside = np.zeros(m, dtype=bool)
    inside[pool] = True

    def lowest(z: Array) -> tuple[Any, Array, float]:
        nonlocal pool, chosen
        values = np.asarray(chosen @ z)
        i = int(np.argmin(values))
        if values[i] > 0.0 and len(pool) < m:
            every = A.values(z)
            worst = np.argpartition(every, min(size // 4, m - 1))[: size // 4]
            worst = worst[(every[worst] <= 0.0) & ~inside[worst]]
            if len(worst):
                inside[worst] = True
                more = A.some(worst)
                stack = sparse.vstack if is_sparse(chosen) else np.concatenate
                chosen = stack([chosen, more])
                pool = np.concatenate([pool, worst])
            best = int(np.argmin(every))
            return best, A.row(best), float(every[best])
        best = int(pool[i])
        return best, A.row(best), float(values[i])

    most = max(64, _MEMORY // A.k) if A.k > 3000 else 20 * A.k + 2000
    return nearest_point(
        lowest,
        (first, A.row(first)),
        tol=1e-9,
        max_iter=most,
        deadline=deadline,
        until_positive=True,
    )


def to_integers(u: Array, least: float) -> tuple[list[int], int]:
    """Whole numbers m and an exponent e with u about m 2^e, in no more bits than needed.

    Rounding u to multiples of 2^e moves u'z by less than a quarter of `least` for unit z.
    """
    top = float(np.abs(u).max())
    grain = math.frexp(top)[1] - 62
    if least > 0.0:
        grain = max(grain, math.frexp(least / math.sqrt(len(u)))[1] - 3)
    grain = min(grain, math.frexp(top)[1] - 8)
    m, e = dyadic(np.ldexp(np.rint(np.ldexp(u, -grain)), grain))
    lowest = int(e[m != 0].min())
    return [
        a << (b - lowest) if a else 0 for a, b in zip(m.tolist(), e.tolist(), strict=True)
    ], lowest


def expired(deadline: float | None) -> bool:
    """Whether the time is over."""
    return deadline is not None and working_time() > deadline
