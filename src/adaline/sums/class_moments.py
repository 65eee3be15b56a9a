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
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline.errors import refuse_beyond_memory
from adaline.kernels.double_double import add_centred
from adaline.linalg import UNIT
from adaline.parameters import ParameterError, array, count, is_sparse, words
from adaline.results import Array, Result
from adaline.sums.moments import join_means, leaves_negative, not_among
from adaline.sums.rows import Rows, as_rows, check_finite, is_dask, merged
from adaline.sums.threads import one_blas_thread, pieces, summed

Codes = NDArray[np.int64]
Covariance = Literal["shared", "full", "diagonal"]
COVARIANCE = words("shared", "full", "diagonal")
CLASSES, SIZE = count(1, 10**6), count(0)

BLOCK_NUMBERS = 2**16  # in a block of rows: half a megabyte, which stays in a core's cache
BLOCK_ROWS = 1024  # in a block at least: products of fewer rows take BLAS a fifth longer
LOST = 2.0**-1072  # what a square may lose below float64's range
FAR_UNITS = 400  # powers of two between units beyond which nothing is left of the smaller


@dataclass(frozen=True, eq=False)
class ClassMoments(Result):
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
        return np.ldexp(self.scatter, _twice(self.exponent, self.covariance))

    @property
    def spread(self) -> Array:
        """Diagonals of the scatter: (p,) if "shared", else (K, p), divided by 4**exponent."""
        return diagonals(self.scatter, self.covariance)

    def in_units(self, exponent: NDArray[np.int64]) -> ClassMoments:
        """The same moments with components divided by 2**exponent instead."""
        shift = self.exponent - exponent
        # In far larger units all digits are lost, and the rounding must cover them.
        drowned = (shift < -FAR_UNITS) & np.any(self.mean != 0.0, axis=0)
        n = self.weight.sum() if self.covariance == "shared" else self.weight[:, None]
        doubt = np.where(drowned, np.ldexp(np.sqrt(n), -FAR_UNITS // 2), 0.0)
        return replace(
            self,
            mean=np.ldexp(self.mean, shift),
            scatter=np.ldexp(self.scatter, _twice(shift, self.covariance)),
            exponent=np.asarray(exponent, dtype=np.int64),
            rounding=np.ldexp(self.rounding, shift) + doubt,
            mean_rounding=np.ldexp(self.mean_rounding, shift),
        )

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """Both sets of rows together (Chan, Golub & LeVeque 1979, class by class)."""
        self._check_like(other)
        return _combined(self, other, 1.0, self.weight + other.weight)

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        """Forget the rows of `other`, which must be among these."""
        self._check_like(other)
        if not other.rows.any():
            return self
        rows, n = self.rows - other.rows, self.weight - other.weight
        wrong = (rows < 0) | (n < -1e-9 * self.weight) | ((rows > 0) & (n <= 0))
        if wrong.any():
            k = int(np.argmax(wrong))
            theirs, ours = (int(m.rows[k]) for m in (other, self))
            raise not_among(theirs, other.weight[k], ours, self.weight[k], f" of class {k}")
        if not rows.any():
            return ClassMoments.empty(self.p, self.K, self.covariance)
        m = _combined(self, other, -1.0, np.where(rows > 0, n, 0.0))
        negative = m.spread < -(m.rounding**2)
        if negative.any():
            raise leaves_negative(int(np.argmax(negative.reshape(-1, self.p).any(axis=0))))
        if self.covariance != "shared":
            m.scatter[rows == 0], m.rounding[rows == 0] = 0.0, 0.0
        np.maximum(m.spread, 0.0, out=m.spread)
        return m

    def _check_like(self, other: ClassMoments) -> None:
        if not isinstance(other, ClassMoments):
            raise TypeError(f"class moments merge with ClassMoments, not {type(other).__name__}.")
        ours, theirs = (
            f"{m.K} classes, {m.p} features and {m.covariance} covariance" for m in (self, other)
        )
        if ours != theirs:
            raise ValueError(f"moments of {ours} do not merge with those of {theirs}.")


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
        scatter = G - _outer(sums * each, covariance)
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
    rows = np.flatnonzero(omega) if len(omega) else np.arange(len(codes))
    head = rows[: 64 * K]  # mostly holds all classes
    rows = (head if np.bincount(codes[head], minlength=K).all() else rows)[::-1]
    first[codes[rows]] = rows
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
    T = np.empty((min(block_rows(p), j - i), p))
    for part, x in blocks(X, i, j):
        c, places, of_block = codes[part], np.arange(len(x)), np.zeros((2, K, p))
        if covariance == "full":  # rows of a class side by side
            # Sorting one or two bytes a row takes a tenth of the time of sorting eight.
            places[np.argsort(c.astype(np.min_scalar_type(K)), kind="stable")] = places.copy()
        add_centred(x, c, places, root[part], scale, shift, T, *of_block)
        sums += of_block[0]
        if covariance == "shared":
            G += T[: len(x)].T @ T[: len(x)]
        elif covariance == "diagonal":
            G += of_block[1]
        else:
            ends = np.append(0, np.cumsum(np.bincount(c, minlength=K)))
            for k in np.flatnonzero(np.diff(ends)):
                own = T[ends[k] : ends[k + 1]]
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


def _combined(a: ClassMoments, b: ClassMoments, sign: float, n: Array) -> ClassMoments:
    """The rows of a with those of b added (sign 1) or taken away (-1); weights n are left."""
    if not (a.rows.any() and b.rows.any()):  # no rows have no units
        return a if a.rows.any() else b
    exponent = np.maximum(a.exponent, b.exponent)
    a, b = (m if (m.exponent == exponent).all() else m.in_units(exponent) for m in (a, b))
    mean, doubt, d, joint = join_means(a, b, sign, n[:, None])
    with one_blas_thread(1):
        between = _outer(d, a.covariance)
    joint = joint.sum(axis=0) if a.covariance == "shared" else joint
    joint += 3 * UNIT * (np.abs(a.spread) + np.abs(b.spread))
    return replace(
        a,
        rows=a.rows + int(sign) * b.rows,
        weight=n,
        mean=mean,
        scatter=a.scatter + sign * (b.scatter + between),
        rounding=np.sqrt(a.rounding**2 + b.rounding**2 + joint),
        mean_rounding=doubt,
    )


def _ratio(part: Array, whole: Array) -> Array:
    """part / whole of each class as a column (K, 1), and 0 where there is no whole."""
    ratio: Array = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
    return ratio[:, None]


def _outer(D: Array, covariance: Covariance) -> Array:
    """D_k D_k' of each class, in the shape of the scatter."""
    if covariance == "shared":
        return np.asarray(D.T @ D)
    return D[:, :, None] * D[:, None, :] if covariance == "full" else D * D


def diagonals(scatter: Array, covariance: Covariance) -> Array:
    """The diagonals of the scatter, as a view."""
    return scatter if covariance == "diagonal" else np.einsum("...ii->...i", scatter)


def _twice(exponent: NDArray[np.int64], covariance: Covariance) -> NDArray[np.int64]:
    return 2 * exponent if covariance == "diagonal" else exponent[:, None] + exponent
