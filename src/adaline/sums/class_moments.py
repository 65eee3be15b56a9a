"""Means of classes and the scatter about them: sums that merge, for Gaussian classifiers.

    n_k = sum omega,   m_k = s_k + sum omega t / n_k,
    S_k = sum omega t t' - n_k (m_k - s_k)(m_k - s_k)',   t = x / 2^e - s_k,

over the rows x of class k. The centre s_k is the first of them, so that classes far from zero and
from each other cost no digits. In code root is sqrt(omega), or empty without weights.

Called by estimators/bayes and data/fitting. tests/test_class_moments.py compares the bounds with
rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adaline.errors import refuse_beyond_memory
from adaline.linalg import UNIT
from adaline.parameters import ParameterError, array, count, is_sparse, words
from adaline.results import Array
from adaline.sums.centred import CentredSums, Covariance, diagonals, outer
from adaline.sums.rows import Rows, as_rows, check_finite, is_dask, merged
from adaline.sums.threads import one_blas_thread, pieces, summed

Codes = NDArray[np.int64]
COVARIANCE = words("shared", "full", "diagonal")
CLASSES, SIZE = count(1, 10**6), count(0)

BLOCK_NUMBERS = 2**16  # in a block of rows: half a megabyte, which stays in a core's cache
BLOCK_ROWS = 1024  # in a block at least: products of fewer rows take BLAS a fifth longer
LOST = 2.0**-1072  # what a square may lose below float64's range


@dataclass(frozen=True, eq=False)
class ClassMoments(CentredSums):
    """Weights and means of K classes, and the centred scatter within them, mergeable.

    Lecture: the linear Gaussian classifier, (5.33) and (5.34).

    Parameters
    ----------
    rows : ndarray of int, shape (K,)
        Rows of each class with a positive weight.
    weight : ndarray of shape (K,)
        Their summed weights; the number of rows where none were given.
    mean : ndarray of shape (K, p)
        Each component divided by 2**exponent; zero for a class without rows.
    scatter : ndarray
        Sum of (x - m_k)(x - m_k)', divided likewise: over all rows (p, p) if "shared", for each
        class (K, p, p) if "full", its diagonals (K, p) if "diagonal".
    exponent : ndarray of int, shape (p,)
        Powers of two that keep squares of huge and tiny units within float64; mostly zero.
    rounding : ndarray of shape (p,) if "shared", else (K, p)
        |scatter_ij - exact| <= rounding_i rounding_j, whatever was added and forgotten.
    mean_rounding : ndarray of shape (K, p)
        |mean - exact| <= mean_rounding.
    covariance : {"shared", "full", "diagonal"}

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import ClassMoments
    >>> X, codes = np.array([[1.0], [3.0], [10.0], [14.0]]), np.array([0, 0, 1, 1])
    >>> whole = ClassMoments.of(X[:3], codes[:3], K=2) + ClassMoments.of(X[3:], codes[3:], K=2)
    >>> whole.weight, whole.means.ravel(), whole.within
    (array([2., 2.]), array([ 2., 12.]), array([[10.]]))
    >>> (whole - ClassMoments.of(X[3:], codes[3:], K=2)).means.ravel()
    array([ 2., 10.])
    """

    rows: NDArray[np.int64]
    weight: Array
    mean: Array
    scatter: Array
    exponent: NDArray[np.int64]
    rounding: Array
    mean_rounding: Array
    covariance: Covariance

    @classmethod
    def of(
        cls,
        X: Any,
        codes: ArrayLike,
        K: int,
        weights: ArrayLike | None = None,
        covariance: Covariance = "shared",
    ) -> ClassMoments:
        """Moments of one block: X (n, p) dense or CSR, codes (n,) the class 0..K-1 of each row.

        Of dask arrays and DataFrames: the moments of all their blocks, merged.
        """
        K = int(CLASSES("K", K))
        COVARIANCE("covariance", covariance)
        if is_dask(X):
            from adaline.distributed.collections import sum_blocks

            found: ClassMoments = sum_blocks(partial(_of_block, K, covariance), X, codes, weights)
            return found
        X, _, omega = as_rows(X, None, weights)
        c, p = checked_codes(codes, X.shape[0], K), X.shape[1]
        if not p:
            raise ParameterError("X has no columns; class moments need at least one.")
        cure = "Select or hash the columns first, or use covariance='diagonal'."
        what = f"the {covariance} covariances of {p} columns and {K} classes"
        refuse_beyond_memory(8.0 * prod(scatter_shape(K, p, covariance)), what, cure)
        if X.shape[0] == 0 or (len(omega) and not omega.any()):
            return cls.empty(p, K, covariance)
        with np.errstate(over="ignore", invalid="ignore"):
            rows = Rows(X, np.empty((len(c), 0)), omega)
            m: ClassMoments = rows.in_safe_units(partial(_of_rows, X, c, K, omega, covariance))
        if not (np.isfinite(m.mean).all() and np.isfinite(m.spread).all()):
            check_finite(X)
            raise ValueError("sums over X and weights leave the range of float64; rescale them.")
        return m

    @classmethod
    def over(
        cls, blocks: Iterable[tuple[Any, ...]], K: int, covariance: Covariance = "shared"
    ) -> ClassMoments:
        """Moments of all blocks (X, codes) or (X, codes, weights)."""
        CLASSES("K", K)
        COVARIANCE("covariance", covariance)
        of = partial(_of_block, K, covariance)
        return merged(blocks, "(X, codes) or (X, codes, weights)", of)

    @classmethod
    def empty(cls, p: int, K: int, covariance: Covariance = "shared") -> ClassMoments:
        """Moments of no rows: the zero of `+`."""
        SIZE("p", p)
        CLASSES("K", K)
        COVARIANCE("covariance", covariance)
        rows, exponent, zeros = np.zeros(K, int), np.zeros(p, int), np.zeros((K, p))
        scatter = np.zeros(scatter_shape(K, p, covariance))
        rounding = zeros[0] if covariance == "shared" else zeros
        return cls(rows, zeros[:, 0], zeros, scatter, exponent, rounding, zeros, covariance)

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.weight)

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.mean.shape[1])

    @property
    def means(self) -> Array:
        """Means of the classes (K, p)."""
        return np.ldexp(self.mean, self.exponent)

    @property
    def within(self) -> Array:
        """Scatter within classes: (p, p), (K, p, p) or (K, p), see `scatter`."""
        e = self.exponent
        return np.ldexp(self.scatter, 2 * e if self.covariance == "diagonal" else e[:, None] + e)

    def _description(self) -> str:
        return f"{self.K} classes, {self.p} features and {self.covariance} covariance"


# A function of the module can travel to other processes.
def _of_block(K: int, covariance: Any, X: Any, codes: Any, weights: Any = None) -> ClassMoments:
    return ClassMoments.of(X, codes, K, weights, covariance)


def _of_rows(
    X: Any, codes: Codes, K: int, omega: Array, covariance: Covariance, exponent: NDArray[np.int64]
) -> ClassMoments:
    (n, p), root, scale = X.shape, np.sqrt(omega), np.ldexp(1.0, -exponent)
    seen = np.bincount(codes if not len(omega) else codes[omega > 0], minlength=K)
    weight: Array = (np.bincount(codes, omega, K) if len(omega) else seen).astype(np.float64)
    shift, rows = centres(X, codes, K, scale, omega), min(block_rows(p), n)
    work = partial(sums_of_cut, X, codes, root, scale, shift, covariance)
    cuts = pieces(n, p, prod(scatter_shape(K, p, covariance)) + K * p)
    if is_sparse(X) and covariance == "diagonal":
        # Zeros that are not stored need no visit where the centre is zero, too.
        stored = np.bincount(entry_places(X, codes), minlength=K * p).reshape(K, p)
        shift[stored < np.bincount(codes, minlength=K)[:, None]] = 0.0
        work, rows = partial(sums_of_entries, X, codes, root, scale, shift), cuts[0][1]
    each = _ratio(np.ones(K), np.sqrt(weight))  # 1 / weight may overflow
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        sums, G = summed(work, lambda a, b: (a[0] + b[0], a[1] + b[1]), cuts)
    scatter = G - outer(sums * each, covariance)
    # Additions behind every sum at most, and 16 roundings on the way to its terms.
    gamma = (rows + cuts[0][1] // rows + len(cuts) + 16) * UNIT
    lost = n * LOST
    reach = np.sqrt(diagonals(G, covariance) + lost)
    mean = np.where(weight[:, None] > 0, shift + sums * each * each, 0.0)
    moved = np.where(sums == 0.0, 0.0, np.abs(mean))  # the mean of a constant is not rounded
    return ClassMoments(
        rows=seen.astype(np.int64),
        weight=weight,
        mean=mean,
        scatter=scatter,
        exponent=exponent,
        rounding=np.sqrt(4 * gamma * reach**2 + lost),
        mean_rounding=2 * gamma * reach * each + 2 * UNIT * moved + lost * each * each,
        covariance=covariance,
    )


def checked_codes(codes: ArrayLike, n: int, K: int) -> Codes:
    """The class 0..K-1 of each of n rows, as int64."""
    c = array("codes", codes)
    want = f"expected integers 0..{K - 1} (K = {K}), one code a row."
    if c.dtype.kind not in "iub" or c.shape != (n,):
        raise ValueError(f"X has {n} rows; codes have dtype {c.dtype} and shape {c.shape}; {want}")
    if n and (c.min() < 0 or c.max() >= K):
        raise ValueError(f"codes run from {c.min()} to {c.max()}; {want}")
    return np.ascontiguousarray(c, dtype=np.int64)


def scatter_shape(K: int, p: int, covariance: str) -> tuple[int, ...]:
    return {"shared": (p, p), "full": (K, p, p), "diagonal": (K, p)}[covariance]


def block_rows(p: int) -> int:
    return max(BLOCK_NUMBERS // p, BLOCK_ROWS)


def blocks(X: Any, i: int, j: int) -> Iterator[tuple[slice, Array]]:
    """Blocks of the rows i..j, dense, in C order."""
    for start in range(i, j, block_rows(X.shape[1])):
        part = slice(start, min(start + block_rows(X.shape[1]), j))
        yield part, X[part].toarray() if is_sparse(X) else np.ascontiguousarray(X[part])


def centres(X: Any, codes: Codes, K: int, scale: Array, omega: Array) -> Array:
    """The first row of each class (K, p), so that columns that are constant in it become zero."""
    shift, first = np.zeros((K, len(scale))), np.full(K, -1)
    rows = np.flatnonzero(omega)[::-1] if len(omega) else np.arange(len(codes))[::-1]
    first[codes[rows]] = rows  # the last one assigned is the first row
    seen = np.flatnonzero(first >= 0)
    x = X[first[seen]]
    shift[seen] = np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64) * scale
    return np.where(np.isfinite(shift), shift, 0.0)


def sums_of_cut(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, covariance: str, i: int, j: int
) -> tuple[Array, Array]:
    """Sums of omega t by class (K, p), and of omega t t', in the shape of the scatter."""
    (K, p), sums = shift.shape, np.zeros_like(shift)
    G = np.zeros(scatter_shape(K, p, covariance))
    place = np.empty((min(block_rows(p), j - i), p))
    for part, x in blocks(X, i, j):
        c, m = codes[part], len(x)
        T = np.multiply(x, scale, dtype=np.float64, out=place[:m])
        T -= np.take(shift, c, axis=0)
        r = np.ones(m)
        if len(root):
            r = root[part]
            T *= r[:, None]
        members = sparse.csr_array((r, c, np.arange(m + 1)), shape=(m, K)).T
        sums += np.asarray(members @ T, dtype=np.float64)
        if covariance == "shared":
            G += T.T @ T
        elif covariance == "diagonal":
            members.data[:] = 1.0
            G += np.asarray(members @ (T * T), dtype=np.float64)
        else:
            for k in np.flatnonzero(np.bincount(c)):
                own = T[c == k]
                G[k] += own.T @ own
    return sums, G


def sums_of_entries(
    X: Any, codes: Codes, root: Array, scale: Array, shift: Array, i: int, j: int
) -> tuple[Array, Array]:
    """Sums of omega t and of omega t^2 (K, p) over the stored entries of CSR rows."""
    rows, places, size = X[i:j], entry_places(X[i:j], codes[i:j]), shift.size
    r = np.repeat(root[i:j], np.diff(rows.indptr)) if len(root) else 1.0
    t = (rows.data * scale[rows.indices] - shift.ravel()[places]) * r
    sums, squares = (np.bincount(places, a, size).astype(np.float64) for a in (t * r, t * t))
    return sums.reshape(shift.shape), squares.reshape(shift.shape)


def entry_places(X: Any, codes: Codes) -> Codes:
    """Where each stored entry is in an array (K, p), flattened."""
    return np.asarray(np.repeat(codes, np.diff(X.indptr)) * X.shape[1] + X.indices)


def _ratio(part: Array, whole: Array) -> Array:
    """part / whole of each class as a column (K, 1), and 0 where there is no whole."""
    ratio: Array = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
    return ratio[:, None]
