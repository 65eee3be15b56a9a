"""Rows of labelled classes and their sums: tiles centred class by class.

The sibling of `tiles` for rows with a class code each. No copy of X is ever made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline.kernels.sums import classes
from adaline.linalg import add_gram, symmetric
from adaline.parameters import array
from adaline.results import Array
from adaline.tiles import exponents, first_mean, in_range, is_sparse

Codes = NDArray[np.int64]

FLUSH = 8192  # rows summed before a partial sum is put away, which bounds its rounding error

_HEAD = 16  # rows of a class that guess its mean
_TILE = 2**17  # numbers in a tile: a megabyte
_BUFFER = 2**21  # numbers in the largest tile: 16 MB


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


def class_sums(
    X: Any, codes: Codes, K: int, omega: Array, scale: Array, covariance: str
) -> tuple[Array, Array, Array, Array]:
    """Weights n_k, shifts s_k, sums of omega t and of omega t t', with t = scale x - s_k.

    The last are over all rows (p, p) if covariance is "shared", for each class (K, p, p) if it
    is "full", and their diagonals (K, p) if it is "diagonal".
    """
    p, root = X.shape[1], np.sqrt(omega)
    shift, sums = first_means(X, codes, K, scale, omega), np.zeros((K, p))
    weight = np.bincount(codes, weights=omega if len(omega) else None, minlength=K).astype(float)
    if covariance == "diagonal":
        return weight, shift, sums, add_squares(X, codes, omega, weight, scale, shift, sums)
    if covariance == "shared":
        G = np.zeros((p, p), order="F")
        for tile, _, _ in class_tiles(X, codes, root, scale, shift, sums):
            G = add_gram(G, tile)
        return weight, shift, sums, symmetric(G)
    grams = [np.zeros((p, p), order="F") for _ in range(K)]
    for tile, ends, _ in class_tiles(X, codes, root, scale, shift, sums, sort=True):
        for k in np.flatnonzero(np.diff(ends, prepend=0)):
            start = ends[k - 1] if k else 0
            grams[k] = add_gram(grams[k], tile[start : ends[k]])
    return weight, shift, sums, np.stack([symmetric(gram) for gram in grams])


def class_tiles(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, sums: Array, sort: bool = False
) -> Iterator[tuple[Array, NDArray[np.int64], slice]]:
    """Blocks of rows sqrt(omega) (scale X - shift of their class), in one reused buffer.

    Yields the block, where each class ends in it if its rows are to be sorted by class, and which
    rows of X it holds. At the end sums (K, p) has gained omega (scale X - shift).
    """
    (n, p), K = X.shape, len(shift)
    # A tile stays in cache, but has enough rows for the threads of BLAS to share, and when sorted
    # enough of each class for a matrix product of their own.
    least = min(256 * max(K, 4) if sort else 1024, _BUFFER // max(p, 1))
    rows = max(256, least, min(_TILE // max(p, 1), FLUSH))
    buffer, unsorted = np.empty((min(rows, n), p)), np.arange(min(rows, n))
    ends, part, summed = np.zeros(K, dtype=np.int64), np.zeros((K, p)), 0
    for i in range(0, n, rows):
        j = min(i + rows, n)
        tile, block, c = buffer[: j - i], root[i:j], codes[i:j]
        places = classes.class_places(c, ends) if sort else unsorted[: j - i]
        if is_sparse(X):
            entries = X.data, X.indices, X.indptr[i : j + 1]
            classes.fill_classes_sparse(*entries, c, places, block, scale, shift, tile, part)
        else:
            classes.fill_classes_dense(X[i:j], c, places, block, scale, shift, tile, part)
        summed += j - i
        if summed >= max(FLUSH, K) or j == n:  # with many classes, putting away costs too
            sums += part
            part[:], summed = 0.0, 0
        yield tile, ends, slice(i, j)


def add_squares(
    X: Any, codes: Codes, omega: Array, weight: Array, scale: Array, shift: Array, sums: Array
) -> Array:
    """Sums (K, p) of omega t^2 with t = scale X - shift; sums (K, p) gains those of omega t.

    Only stored entries of CSR are visited: a zero that is not stored has t = -shift, and their
    number is known.
    """
    n, rows = X.shape[0], max(FLUSH, len(shift))
    total, part, squares = np.zeros_like(sums), np.zeros_like(sums), np.zeros_like(sums)
    stored = np.zeros_like(sums) if is_sparse(X) else sums[:0]
    for i in range(0, n, rows):
        j = min(i + rows, n)
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
        zeros = np.maximum(weight[:, None] - stored, 0.0)
        sums -= zeros * shift
        total += zeros * shift**2
    return total


def in_float_range(X: Any, weight: Array, mean: Array, spread: Array) -> bool:
    """Whether no square can have left float64, judged by the mean square of each column."""
    total = weight.sum() or 1.0
    about = np.atleast_2d(spread).sum(axis=0) / total + (weight / total) @ mean**2
    return in_range(X, np.empty((X.shape[0], 0)), about, np.abs(mean).max(axis=0))


def units(X: Any) -> NDArray[np.int64]:
    """Exponents that bring every column's largest entry to about one."""
    return exponents(X, np.empty((X.shape[0], 0)))
