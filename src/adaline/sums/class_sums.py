"""Sums over rows by class, in one pass over blocks. Called by class_moments.py.

    sums_k = sum omega t,   G_k = sum omega t t',   t = scale x - shift_k,   x of class k

codes (n,) are the classes 0..K-1 of the rows, root (n,) is sqrt(omega), or empty without weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline.kernels import class_sums as kernels
from adaline.parameters import array, is_sparse
from adaline.results import Array

Codes = NDArray[np.int64]

BLOCK_NUMBERS = 2**16  # in a block of rows: half a megabyte, which stays in a core's cache
BLOCK_ROWS = 1024  # in a block at least: products of fewer rows take BLAS a fifth longer
CENTRE_ROWS = 16  # rows of a class that its centre is the mean of (any round number)


def checked_codes(codes: ArrayLike, n: int, K: int) -> Codes:
    """The class 0..K-1 of each of n rows, as int64."""
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


def scatter_shape(K: int, p: int, covariance: str) -> tuple[int, ...]:
    """Of the scatter of K classes and p features."""
    return {"shared": (p, p), "full": (K, p, p), "diagonal": (K, p)}[covariance]


def block_rows(p: int) -> int:
    """Rows of a block."""
    return max(BLOCK_NUMBERS // p, BLOCK_ROWS)


def blocks(X: Any, i: int, j: int) -> Iterator[tuple[slice, Array]]:
    """Blocks of the rows i..j, dense, in C order."""
    for start in range(i, j, block_rows(X.shape[1])):
        part = slice(start, min(start + block_rows(X.shape[1]), j))
        yield part, X[part].toarray() if is_sparse(X) else np.ascontiguousarray(X[part])


def centres(X: Any, codes: Codes, K: int, scale: Array, omega: Array) -> Array:
    """The mean of the first rows of each class (K, p), exact where they are equal; else zero."""
    seen, head = np.where(omega > 0, codes, K) if len(omega) else codes, 4 * CENTRE_ROWS * K
    while head < len(seen) and np.bincount(seen[:head], minlength=K)[:K].min() == 0:
        head *= 8
    seen = seen[:head]
    order, counts = np.argsort(seen, kind="stable"), np.bincount(seen, minlength=K + 1)[:K]
    starts = np.cumsum(counts) - counts
    counts = np.minimum(counts, CENTRE_ROWS)
    c = np.repeat(np.arange(K), counts)
    first = np.cumsum(counts) - counts
    rows = order[np.arange(len(c)) + (starts - first)[c]]
    x = np.asarray(X[rows].toarray() if is_sparse(X) else X[rows], dtype=np.float64) * scale
    known, shift = counts > 0, np.zeros((K, len(scale)))
    at = first[known]
    shift[known] = x[at] + np.add.reduceat(x - x[first[c]], at) / counts[known, None]
    return np.where(np.isfinite(shift), shift, 0.0)


def sums_of_cut(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, covariance: str, i: int, j: int
) -> tuple[Array, Array]:
    """Sums of omega t by class (K, p), and of omega t t', in the shape of the scatter."""
    (K, p), sums = shift.shape, np.zeros_like(shift)
    G = np.zeros(scatter_shape(K, p, covariance))
    if covariance == "diagonal":
        for part, x in blocks(X, i, j):
            of_block = np.zeros((2, K, p))
            kernels.add_squares(x, codes[part], root[part], scale, shift, *of_block)
            sums += of_block[0]
            G += of_block[1]
        return sums, G
    buffer = np.empty((min(block_rows(p), j - i), p))
    for part, x in blocks(X, i, j):
        c, T, of_block = codes[part], buffer[: len(x)], np.zeros((K, p))
        places, ends = np.arange(len(c)), np.cumsum(np.bincount(c, minlength=K))
        if covariance == "full":
            # Sorting one or two bytes a row takes a tenth of the time of sorting eight.
            places[np.argsort(c.astype(np.min_scalar_type(K)), kind="stable")] = places.copy()
        kernels.add_centred(x, c, places, root[part], scale, shift, T, of_block)
        sums += of_block
        if covariance == "shared":
            G += T.T @ T
            continue
        for k in np.flatnonzero(np.diff(ends, prepend=0)):
            own = T[ends[k - 1] if k else 0 : ends[k]]
            G[k] += own.T @ own
    return sums, G


def sums_of_entries(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, i: int, j: int
) -> tuple[Array, Array]:
    """Sums of omega t and of omega t^2 (K, p) over the stored entries of CSR rows."""
    rows, places = X[i:j], entry_places(X[i:j], codes[i:j])
    r = np.repeat(root[i:j], np.diff(rows.indptr)) if len(root) else 1.0
    t = (rows.data * scale[rows.indices] - shift.ravel()[places]) * r
    sums = [np.bincount(places, terms, shift.size) for terms in (t * r, t * t)]
    return sums[0].astype(np.float64).reshape(shift.shape), sums[1].astype(np.float64).reshape(
        shift.shape
    )


def entry_places(X: Any, codes: Codes) -> Codes:
    """Where each stored entry is in an array (K, p), flattened."""
    return np.asarray(np.repeat(codes, np.diff(X.indptr)) * X.shape[1] + X.indices)
