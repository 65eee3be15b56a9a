"""Rows of labelled classes and their sums: tiles centred class by class.

The sibling of `tiles` for rows with a class code each. No copy of X is ever made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline._threads import Cuts, one_blas_thread, pieces, summed
from adaline.kernels.sums import classes
from adaline.kernels.sums.classes import FLUSH
from adaline.kernels.sums.sums import GRAM_ROWS
from adaline.linalg import add_gram, symmetric
from adaline.parameters import array
from adaline.results import Array
from adaline.tiles import add_product, exponents, first_mean, in_range, is_sparse

Codes = NDArray[np.int64]

_HEAD = 16  # rows of a class that guess its mean
_TILE = 2**20  # numbers in a tile: 8 MB; threads wait for each other between two tiles
_BUFFER = 2**21  # numbers in the largest tile: 16 MB
_SMALL = 2**13  # numbers in rows too few for threads of BLAS
_FEW = 64  # columns up to which our own loop beats BLAS
_NUMBERS = 2**16  # in the tiles of our own loop, one a class, at most: half a megabyte

Part = tuple[Array, Array]  # sums of omega t (K, p), and of omega t t' in the shape of the scatter


def checked_codes(codes: ArrayLike, n: int, K: int) -> Codes:
    """The class 0..K-1 of each of n rows, as int64: kernels index with them unchecked."""
    c = array("codes", codes)
    if c.dtype.kind not in "iub":
        raise ValueError(f"codes have dtype {c.dtype}; expected integers 0..{K - 1}.")
    if c.shape != (n,):
        raise ValueError(f"X has {n} rows and codes have shape {c.shape}; give one code a row.")
    if n and (c.min() < 0 or c.max() >= K):
        raise ValueError(
            f"codes run from {c.min()} to {c.max()}; {K} classes are 0..{K - 1} (K = {K})."
        )
    return np.ascontiguousarray(c, dtype=np.int64)


def first_means(X: Any, codes: Codes, K: int, scale: Array, omega: Array) -> Array:
    """About where each class is (K, p): the mean of its first rows; zero without rows."""
    shift, nothing = np.zeros((K, X.shape[1])), np.empty((_HEAD, 0))
    kept = np.flatnonzero(omega) if len(omega) and not omega.all() else None
    seen = codes if kept is None else codes[kept]
    for k, rows in enumerate(classes.first_rows(seen, K, _HEAD)):
        found = rows[rows >= 0] if kept is None else kept[rows[rows >= 0]]
        if len(found):
            shift[k] = first_mean(X[found], nothing[: len(found)], scale, len(found))
    return shift


def class_pieces(n: int, p: int, K: int, covariance: str) -> Cuts:
    """Where to cut n rows: by how many numbers the sums of a piece hold."""
    held = {"shared": p * p + K * p, "full": K * p * p, "diagonal": 2 * K * p}
    return pieces(n, p, held[covariance])


def class_sums(
    X: Any, codes: Codes, K: int, omega: Array, scale: Array, covariance: str
) -> tuple[Array, Array, Array, Array]:
    """Weights n_k, shifts s_k, sums of omega t and of omega t t', with t = scale x - s_k.

    The last are over all rows (p, p) if covariance is "shared", for each class (K, p, p) if it
    is "full", and their diagonals (K, p) if it is "diagonal".
    """
    root, shift = np.sqrt(omega), first_means(X, codes, K, scale, omega)
    weight = np.bincount(codes, weights=omega if len(omega) else None, minlength=K).astype(float)
    cuts = class_pieces(X.shape[0], X.shape[1], K, covariance)

    def of_piece(i: int, j: int) -> Part:
        if covariance == "diagonal":
            return add_squares(X, codes, omega, scale, shift, i, j)
        if len(cuts) == 1:
            return _grams_alone(X, codes, root, scale, shift, covariance)
        return _grams_of_piece(X, codes, root, scale, shift, covariance, i, j)

    # Threads of BLAS would change the last digit.
    alone = len(cuts) == 1 and X.shape[0] * X.shape[1] > _SMALL
    with one_blas_thread(X.shape[1]) if alone else nullcontext():
        sums, G = summed(of_piece, _added, cuts)
    return weight, shift, sums, G if covariance == "diagonal" else _symmetric(G)


def _added(total: Part, part: Part) -> Part:
    for whole, more in zip(total, part, strict=True):
        whole += more
    return total


def _symmetric(upper: Array) -> Array:
    """The whole matrices whose upper triangles are given."""
    if upper.ndim == 2:
        return symmetric(upper)
    return np.stack([symmetric(one) for one in upper])


def _grams_alone(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, covariance: str
) -> Part:
    """Sums where rows are not cut, by the threads of BLAS."""
    K, p = shift.shape
    sums = np.zeros((K, p))
    grams = [np.zeros((p, p), order="F") for _ in range(1 if covariance == "shared" else K)]
    for tile, k in _by_matrix(X, codes, root, scale, shift, sums, covariance, 0, X.shape[0]):
        grams[k] = add_gram(grams[k], tile)
    return sums, grams[0] if covariance == "shared" else np.stack(grams)


def _grams_of_piece(
    X: Any,
    codes: Codes,
    root: Array,
    scale: Array,
    shift: Array,
    covariance: str,
    start: int,
    stop: int,
) -> Part:
    """Sums of some rows, while other threads do others: Python's lock is not held for long."""
    K, p = shift.shape
    sums, groups = np.zeros((K, p)), 1 if covariance == "shared" else K
    q = -(-p // 4) * 4
    if p <= _FEW and not is_sparse(X) and groups * q * GRAM_ROWS <= _NUMBERS:
        G = np.zeros((groups, q, q))
        rows = X[start:stop], codes[start:stop], K, root[start:stop]
        classes.class_grams_dense(*rows, scale, shift, G, sums)
        G = G[:, :p, :p]
    else:
        G, room = np.zeros((groups, p, p)), np.empty((p, p))
        some = X, codes, root, scale, shift, sums, covariance, start, stop
        for tile, k in _by_matrix(*some):
            add_product(G[k], tile, room)
    return sums, G[0] if covariance == "shared" else G


def _by_matrix(
    X: Any,
    codes: Codes,
    root: Array,
    scale: Array,
    shift: Array,
    sums: Array,
    covariance: str,
    start: int,
    stop: int,
) -> Iterator[tuple[Array, int]]:
    """Blocks of rows, and to which matrix they belong: that of their class, or of all if shared."""
    sort = covariance == "full"
    for tile, ends, _ in class_tiles(X, codes, root, scale, shift, sums, sort, start, stop):
        if not sort:
            yield tile, 0
            continue
        for k in np.flatnonzero(np.diff(ends, prepend=0)):
            yield tile[ends[k - 1] if k else 0 : ends[k]], int(k)


def class_tiles(
    X: Any,
    codes: Codes,
    root: Array,
    scale: Array,
    shift: Array,
    sums: Array,
    sort: bool = False,
    start: int = 0,
    stop: int | None = None,
) -> Iterator[tuple[Array, NDArray[np.int64], slice]]:
    """Blocks of rows sqrt(omega) (scale X - shift of their class), in one reused buffer.

    Yields the block, where each class ends in it if its rows are to be sorted by class, and which
    rows of X it holds. At the end sums (K, p) has gained omega (scale X - shift).
    """
    p, K, stop = X.shape[1], len(shift), X.shape[0] if stop is None else stop
    n = stop - start
    # A tile has enough rows for the threads of BLAS to share, and when sorted enough of each class
    # for a matrix product of their own.
    least = min(256 * max(K, 4) if sort else 1024, _BUFFER // max(p, 1))
    rows = max(256, least, min(_TILE // max(p, 1), FLUSH))
    buffer, unsorted = np.empty((min(rows, n), p)), np.arange(min(rows, n))
    ends, part, since = np.zeros(K, dtype=np.int64), np.zeros((K, p)), 0
    for i in range(start, stop, rows):
        j = min(i + rows, stop)
        tile, block, c = buffer[: j - i], root[i:j], codes[i:j]
        places = classes.class_places(c, ends) if sort else unsorted[: j - i]
        if is_sparse(X):
            entries = X.data, X.indices, X.indptr[i : j + 1]
            classes.fill_classes_sparse(*entries, c, places, block, scale, shift, tile, part)
        else:
            classes.fill_classes_dense(X[i:j], c, places, block, scale, shift, tile, part)
        since += j - i
        if since >= max(FLUSH, K) or j == stop:  # with many classes, putting away costs too
            sums += part
            part[:], since = 0.0, 0
        yield tile, ends, slice(i, j)


def add_squares(
    X: Any, codes: Codes, omega: Array, scale: Array, shift: Array, start: int, stop: int
) -> Part:
    """Sums (K, p) of omega t and of omega t^2, with t = scale X - shift, over rows start..stop.

    Only stored entries of CSR are visited: a zero that is not stored has t = -shift, and their
    number is known.
    """
    (K, p), rows = shift.shape, max(FLUSH, len(shift))
    sums, total, part, squares = np.zeros((4, K, p))
    stored = np.zeros((K, p)) if is_sparse(X) else sums[:0]
    for i in range(start, stop, rows):
        j = min(i + rows, stop)
        c, block = codes[i:j], omega[i:j]
        if is_sparse(X):
            entries = X.data, X.indices, X.indptr[i : j + 1]
            classes.add_squares_sparse(*entries, c, block, scale, shift, part, squares, stored)
        else:
            classes.add_squares_dense(X[i:j], c, block, scale, shift, part, squares)
        sums += part
        total += squares
        part[:], squares[:] = 0.0, 0.0
    if is_sparse(X):
        some = omega[start:stop] if len(omega) else None
        weight = np.bincount(codes[start:stop], weights=some, minlength=K)
        zeros = np.maximum(weight[:, None] - stored, 0.0)
        sums -= zeros * shift
        total += zeros * shift**2
    return sums, total


def in_float_range(X: Any, weight: Array, mean: Array, spread: Array) -> bool:
    """Whether no square can have left float64, judged by the mean square of each column."""
    total = weight.sum() or 1.0
    about = np.atleast_2d(spread).sum(axis=0) / total + (weight / total) @ mean**2
    return in_range(X, np.empty((X.shape[0], 0)), about, np.abs(mean).max(axis=0))


def units(X: Any) -> NDArray[np.int64]:
    """Exponents that bring every column's largest entry to about one."""
    return exponents(X, np.empty((X.shape[0], 0)))
