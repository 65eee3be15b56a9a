"""Sums over rows that an objective is made of: spreads of columns and the units they give, Grams.

Rows are taken in pieces whose number depends on their shape alone, so that threads change no bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from math import isfinite, sqrt
from operator import iadd
from typing import Any

import numpy as np

from adaline._threads import one_blas_thread, over_cuts, over_pieces, pieces, summed
from adaline.kernels.losses import losses
from adaline.kernels.sums import sums
from adaline.linalg import symmetric
from adaline.results import Array
from adaline.tiles import exponents, is_sparse, product_of, tile_rows, tiles

FEW = 64  # columns up to which our own loop makes a Gram matrix faster than BLAS
UNPACKED = 256  # columns up to which sparse rows are unpacked, and may be centred
MANY = 2000  # columns beyond which no p x p matrix is made
_LITTLE, _SHARED = 2**23, 512  # products worth a piece, and columns of such small pieces, at most
_BLOCK = 4096  # rows that are copied at a time


def units_of_columns(X: Any, omega: Array, intercept: bool) -> tuple[Array, Array, Array, Array]:
    """Powers of two and shifts that bring columns to mean about 0 and deviation about 1."""
    n, p = X.shape
    mean, spread, first, top = _spreads(X)
    centre = intercept and (not is_sparse(X) or p <= UNPACKED)
    size = spread if centre else np.hypot(spread, first + mean)
    about = np.where(size > 0, size, top)  # squares so small that they were lost
    scale = np.where(about > 0, np.ldexp(1.0, -np.frexp(about)[1]), 1.0)
    shift = (first + mean) * scale if centre else np.zeros(p)
    # The shift is rounded; so is the bound: a little more than the largest |z|.
    top = (top + np.abs(mean if centre else first)) * scale * 1.01
    weight = float(omega.sum()) if len(omega) else float(n)
    largest = float(omega.max()) if len(omega) else 1.0
    length = np.minimum(sqrt(n * largest) * size * scale, sqrt(weight) * top)
    return scale, shift, and_bias(top, 1.0), and_bias(1.01 * length, sqrt(weight))


def and_bias(each: Array, last: float) -> Array:
    """A number for each column and, last, one for the bias; numpy's append takes four times as
    long."""
    found = np.empty(len(each) + 1)
    found[:-1], found[-1] = each, last
    return found


def _spreads(X: Any) -> tuple[Array, Array, Array, Array]:
    """Mean minus the first row, deviation, first row, and largest |x - first| of each column."""
    n, p = X.shape
    if is_sparse(X) and p > UNPACKED:
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        top = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
        safe = np.where(top > 0, top, 1.0)
        scaled = X.astype(np.float64).copy()
        scaled.data = (scaled.data / safe[scaled.indices]) ** 2
        square = np.asarray(scaled.mean(axis=0)).ravel()
        spread = safe * np.sqrt(np.maximum(square - (mean / safe) ** 2, 0.0))
        return mean, np.where(spread > 1e-8 * top, spread, 0.0), np.zeros(p), top
    head = X[:1].toarray()[0] if is_sparse(X) else X[0]
    first, unit = np.asarray(head, dtype=np.float64), np.ones(p)
    parts = over_pieces(lambda i, j: _spread(X, first, unit, i, j), n, p)
    if not isfinite(sum(float(part[1].sum()) for part in parts)):
        unit = np.ldexp(1.0, -exponents(X, np.empty((n, 0))) - 4)
        parts = over_pieces(lambda i, j: _spread(X, first, unit, i, j), n, p)
    mean, square = (added([part[i] for part in parts]) / n for i in range(2))
    top = parts[0][2] if len(parts) == 1 else np.max([part[2] for part in parts], axis=0)
    return mean / unit, np.sqrt(np.maximum(square - mean**2, 0.0)) / unit, first, top / unit


def _spread(X: Any, first: Array, unit: Array, i: int, j: int) -> tuple[Array, Array, Array]:
    """Sums and squares of (x - first) unit, and its largest size, over rows i..j."""
    if not is_sparse(X):
        return losses.spread_dense(X[i:j], first, unit)  # type: ignore[no-any-return]
    parts = [
        losses.spread_dense(X[k : min(k + 4096, j)].toarray(), first, unit)
        for k in range(i, j, 4096)
    ]
    total, squares, top = (np.array(part) for part in zip(*parts, strict=True))
    return total.sum(axis=0), squares.sum(axis=0), top.max(axis=0)


def gram(X: Any, root: Array, scale: Array, shift: Array, *, apart: bool = False) -> Array:
    """Sum of root^2 z z' over the rows, z = (scale x - shift, 1); (p + 1, p + 1).

    apart tells that the rows lie apart in memory, as every k-th of many do.
    """
    p, none = len(scale), np.empty((X.shape[0], 0))

    def of_piece(i: int, j: int) -> Array:
        rest = none[i:j], root[i:j], scale, shift
        if p >= FEW:
            part = X[i:j] if is_sparse(X) else np.ascontiguousarray(X[i:j])
            rows = _even(j - i, max(tile_rows(p), 2 * p))
            return product_of(tiles(part, *rest, rows), p + 1)
        if is_sparse(X):
            return np.asarray(sums.gram_sparse(X.data, X.indices, X.indptr[i : j + 1], *rest))
        if not apart:
            return np.asarray(sums.gram_dense(X[i:j], *rest))
        blocks = [(k, min(k + _BLOCK, j)) for k in range(i, j, _BLOCK)]  # copied, they are even
        return _summed(
            sums.gram_dense(np.ascontiguousarray(X[k:m]), none[k:m], root[k:m], scale, shift)
            for k, m in blocks
        )

    G = _summed(_products(of_piece, X.shape[0], p + 1, apart=apart))
    return G if p >= FEW else symmetric(G)


def has_pair_grams(X: Any) -> bool:
    """Whether `pair_grams` is the way to Gram matrices of these rows."""
    return not is_sparse(X) and X.shape[1] < FEW


def pair_grams(X: Array, R: Array, scale: Array, shift: Array) -> Array:
    """Sums of (r_k r_m)^2 z z' over rows of few columns, for each pair m < k of the columns of R.

    (pairs, p + 1, p + 1); each tile of rows is transposed once for all of them.
    """
    n, q, K = len(X), len(scale) + 1, R.shape[1]
    none, pairs = np.empty((n, 0)), K * (K - 1) // 2

    def of_piece(i: int, j: int) -> Array:
        return np.asarray(sums.class_products(X[i:j], none[i:j], R[i:j], scale, shift))

    upper = summed(of_piece, iadd, pieces(n, q, pairs * q * q))
    return np.array([symmetric(G) for G in upper])


def _even(n: int, rows: int) -> int:
    """About so many rows of n, such that none are left over for a small last tile."""
    even = -(-n // max(round(n / rows), 1))
    return even if even <= _BLOCK else rows  # sums may not be longer than `depth` says


def copied_rows(X: Array) -> Array:
    """A contiguous copy of rows that lie apart, by threads: each row is a wait for the memory."""
    found = np.empty(X.shape, dtype=X.dtype)

    def of_piece(i: int, j: int) -> None:
        found[i:j] = X[i:j]

    over_pieces(of_piece, len(X), 4 * X.shape[1])
    return found


def over_rows(work: Any, X: Any) -> list[Any]:
    n, p = X.shape
    if is_sparse(X) and p > MANY:  # sums too large to hold several of
        return [work(0, n)]
    return over_pieces(work, n, p)


def _products(
    work: Callable[[int, int], Array], n: int, q: int, *, apart: bool = False
) -> list[Array]:
    """work(start, stop) of pieces of n rows; a row costs q^2 products, so pieces may be short.

    So they may be where rows lie apart: each is a wait for the memory.
    """
    cuts = pieces(n, q, q * q)
    if apart:
        cuts = max(cuts, pieces(n, 4 * q, q * q), key=len)
    if len(cuts) == 1 and FEW < q <= _SHARED and n * q * q >= 2 * _LITTLE:
        middle = n // 2  # little work, but Newton's steps have nothing else to wait for
        cuts = [(0, middle), (middle, n)]
    # Threads of BLAS would change the last digit.
    with one_blas_thread(q) if len(cuts) == 1 and q > FEW else nullcontext():
        return over_cuts(work, cuts)


def added(parts: list[Array]) -> Array:
    """The sum of vectors, of which there is one where rows are few."""
    return parts[0] if len(parts) == 1 else np.asarray(np.sum(parts, axis=0))


def _summed(parts: Iterable[Array]) -> Array:
    """The sum of matrices, in order, in the place of the first."""
    total: Array | None = None
    for part in parts:
        if total is None:
            total = part
        else:
            total += part
    assert total is not None
    return total
