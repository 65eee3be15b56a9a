"""Means of classes and the scatter about them: sums that merge, for Gaussian classifiers.

The same ideas as `Moments`: one pass in cache-sized tiles, centred sums, units that are powers of
two, and bounds on the rounding errors. Rows are centred about a mean guess of their own class
on the way into the tile, so that classes far apart cost no digits.

Letters: K classes, p features, n_k weight and m_k mean of class k.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline._threads import one_blas_thread
from adaline.errors import refuse_beyond_memory
from adaline.kernels.sums.classes import FLUSH
from adaline.linalg import UNIT
from adaline.parameters import ParameterError, blocks_of, count, named, words
from adaline.results import Array, Result
from adaline.row_sums.class_tiles import (
    Codes,
    checked_codes,
    class_pieces,
    class_sums,
    in_float_range,
    units,
)
from adaline.tiles import FAINT, VAGUE, as_rows, check_finite, is_dask

Covariance = Literal["shared", "full", "diagonal"]
COVARIANCE = replace(
    words("shared", "full", "diagonal"), says="it can be 'shared', 'full' or 'diagonal'"
)
CLASSES = count(1, 10**6)
SIZE = count(0)

_SMALL = 2**13  # products too few for threads of BLAS, which change the last digit
_LOST = 2.0**-1072  # a square may lose this much below float64's range
_FAR = -400  # powers of two between units, from which on nothing is left of the smaller


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
            from adaline.distributed.collections import reduced

            of = partial(_of_block, cls.of, K, covariance)
            found: ClassMoments = reduced(of, X, codes, weights)
            return found
        X, _, omega = as_rows(X, None, weights)
        if not X.shape[1]:
            raise ParameterError("X has no columns; class moments need at least one.")
        c = checked_codes(codes, X.shape[0], K)
        p = X.shape[1]
        refuse_beyond_memory(
            8.0 * p * {"shared": p, "full": K * p, "diagonal": K}[covariance],
            f"the {covariance} covariances of {p} columns and {K} classes",
            "Select or hash the columns first, or use covariance='diagonal'.",
        )
        if X.shape[0] == 0 or (len(omega) and not omega.any()):
            return cls.empty(X.shape[1], K, covariance)
        with np.errstate(over="ignore", invalid="ignore"):
            m = _of(X, c, K, omega, np.zeros(X.shape[1], dtype=np.int64), covariance)
            if in_float_range(X, m.weight, m.mean, m.spread):
                return m
            check_finite(X)
            m = _of(X, c, K, omega, units(X), covariance)
        if not (np.isfinite(m.mean).all() and np.isfinite(m.spread).all()):
            raise ValueError("sums over X and weights leave the range of float64; rescale them.")
        return m

    @classmethod
    def over(
        cls, blocks: Iterable[tuple[Any, ...]], K: int, covariance: Covariance = "shared"
    ) -> ClassMoments:
        """Moments of all blocks (X, codes) or (X, codes, weights)."""
        total: ClassMoments | None = None
        CLASSES("K", K)
        COVARIANCE("covariance", covariance)
        for i, block in blocks_of(blocks, "(X, codes) or (X, codes, weights)"):
            try:
                X, codes, *weights = block
                part = cls.of(X, codes, K, weights[0] if weights else None, covariance)
            except (ValueError, TypeError) as error:
                raise named(error, f"blocks[{i}]") from None
            total = part if total is None else total + part
        if total is None:
            raise ValueError("there are no blocks to merge; give at least one (X, codes).")
        return total

    @classmethod
    def empty(cls, p: int, K: int, covariance: Covariance = "shared") -> ClassMoments:
        """Moments of no rows: the zero of `+`."""
        SIZE("p", p)
        CLASSES("K", K)
        COVARIANCE("covariance", covariance)
        z, none = np.zeros((K, p)), np.zeros(p, dtype=np.int64)
        scatter = {"shared": (p, p), "full": (K, p, p), "diagonal": (K, p)}[covariance]
        rounding = z[0] if covariance == "shared" else z
        count = np.zeros(K, dtype=np.int64)
        return cls(count, np.zeros(K), z, np.zeros(scatter), none, rounding, z, covariance)

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
        return _diagonals(self.scatter, self.covariance)

    def in_units(self, exponent: NDArray[np.int64]) -> ClassMoments:
        """The same moments with components divided by 2**exponent instead."""
        shift = self.exponent - exponent
        return replace(
            self,
            mean=np.ldexp(self.mean, shift),
            scatter=np.ldexp(self.scatter, _twice(shift, self.covariance)),
            exponent=np.asarray(exponent, dtype=np.int64),
            rounding=np.ldexp(self.rounding, shift),
            mean_rounding=np.ldexp(self.mean_rounding, shift),
        )

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """Both sets of rows together (Chan, Golub & LeVeque 1979, class by class)."""
        self._check_like(other)
        exponent = _common(self, other)
        a, b = _in_common(self, exponent), _in_common(other, exponent)
        n = a.weight + b.weight
        both = (a.weight > 0) & (b.weight > 0)
        d = np.where(both[:, None], b.mean - a.mean, 0.0)
        # Products of weights may overflow, or lose their digits below float64's range.
        root = np.sqrt(a.weight[:, None]) * np.sqrt(_column(b.weight, n))
        return replace(
            a,
            rows=a.rows + b.rows,
            weight=n,
            mean=np.where(a.weight[:, None] > 0, a.mean + d * _column(b.weight, n), b.mean),
            scatter=a.scatter + b.scatter + _outer(root * d, a.covariance),
            rounding=_root_sum(a, b, root, d, a.mean_rounding + b.mean_rounding),
            mean_rounding=_column(a.weight, n) * a.mean_rounding
            + _column(b.weight, n) * b.mean_rounding
            + 4 * UNIT * np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean)),
        )

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        """Forget the rows of `other`, which must be among these."""
        self._check_like(other)
        exponent = _common(self, other)
        a, b = _in_common(self, exponent), _in_common(other, exponent)
        rows, n = a.rows - b.rows, np.where(a.rows > b.rows, a.weight - b.weight, 0.0)
        wrong = (rows < 0) | (a.weight - b.weight < -1e-9 * a.weight) | ((rows > 0) & (n <= 0))
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ValueError(
                f"cannot forget {b.rows[k]} rows of total weight {b.weight[k]:g} of class {k} from "
                f"{a.rows[k]} rows of total weight {a.weight[k]:g}; forget only rows that were "
                "added."
            )
        if not rows.any():
            return ClassMoments.empty(self.p, self.K, self.covariance)
        left = (rows > 0)[:, None]
        mean = np.where(left, a.mean + (a.mean - b.mean) * _column(b.weight, n), 0.0)
        doubt = _column(a.weight, n) * a.mean_rounding + _column(b.weight, n) * b.mean_rounding
        moved = np.where(a.mean == b.mean, 0.0, np.abs(a.mean) + np.abs(mean))
        doubt = np.where(left, doubt + 4 * UNIT * moved, 0.0)
        d = np.where(left & (b.weight[:, None] > 0), mean - b.mean, 0.0)
        root = np.sqrt(n[:, None]) * np.sqrt(_column(b.weight, a.weight))
        scatter = a.scatter - b.scatter - _outer(root * d, a.covariance)
        rounding = _root_sum(a, b, root, d, doubt + b.mean_rounding)
        spread = _diagonals(scatter, a.covariance)
        if np.any(spread < -(rounding**2)):
            j = int(np.argmax((spread < -(rounding**2)).reshape(-1, self.p).any(axis=0)))
            raise ValueError(
                f"forgetting these rows would leave component {j} with a negative sum of squares; "
                "they are not among the rows that were added. Forget only rows that were added."
            )
        if a.covariance != "shared":
            gone = rows == 0
            scatter[gone], rounding[gone] = 0.0, 0.0
        if a.covariance == "diagonal":
            np.maximum(scatter, 0.0, out=scatter)
        else:
            i = np.arange(self.p)
            scatter[..., i, i] = np.maximum(scatter[..., i, i], 0.0)
        return replace(
            a,
            rows=rows,
            weight=n,
            mean=mean,
            scatter=scatter,
            rounding=rounding,
            mean_rounding=doubt,
        )

    def _check_like(self, other: ClassMoments) -> None:
        if not isinstance(other, ClassMoments):
            raise TypeError(f"class moments merge with ClassMoments, not {type(other).__name__}.")
        ours, theirs = (self.K, self.p, self.covariance), (other.K, other.p, other.covariance)
        if ours != theirs:
            raise ValueError(
                "moments of {} classes, {} features and {} covariance do not merge with those of "
                "{} classes, {} features and {} covariance.".format(*ours, *theirs)
            )


def _of_block(of: Any, K: int, covariance: Any, X: Any, codes: Any, weights: Any) -> Any:
    """`of` with its other parameters given: a function that can travel to other processes."""
    return of(X, codes, K, weights, covariance)


def _of(
    X: Any, codes: Codes, K: int, omega: Array, exponent: NDArray[np.int64], covariance: Covariance
) -> ClassMoments:
    weight, shift, sums, G = class_sums(X, codes, K, omega, np.ldexp(1.0, -exponent), covariance)
    root = _column(np.ones(K), np.sqrt(weight))  # 1 / weight may overflow
    scatter = G - _outer(sums * root, covariance)
    # Every sum has at most N additions after N - 8 rounded operations on its terms.
    most = max(FLUSH, 256 * K) + K
    more = len(class_pieces(X.shape[0], X.shape[1], K, covariance)) - 1
    gamma = (min(X.shape[0], most) + X.shape[0] // 256 + 16 + more) * UNIT
    lost = X.shape[0] * _LOST
    reach = np.sqrt(_diagonals(G, covariance) + lost)
    mean = np.where(weight[:, None] > 0, shift + sums * root * root, 0.0)
    moved = np.where(sums == 0.0, 0.0, np.abs(mean))  # the mean of a constant is not rounded
    seen = codes if not len(omega) else codes[omega > 0]
    whole = weight.sum() if covariance == "shared" else weight[:, None]
    unsure = np.where(whole < FAINT, VAGUE, 0.0)
    return ClassMoments(
        rows=np.bincount(seen, minlength=K).astype(np.int64),
        weight=weight,
        mean=mean,
        scatter=scatter,
        exponent=exponent,
        rounding=np.sqrt(4 * gamma * reach**2 + lost) + np.sqrt(whole) * unsure,
        mean_rounding=2 * gamma * reach * root
        + 2 * UNIT * moved
        + np.where(weight[:, None] < FAINT, VAGUE, lost * root * root),
        covariance=covariance,
    )


def _column(part: Array, whole: Array) -> Array:
    """part / whole of each class as a column (K, 1), and 0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)[:, None]


def _outer(D: Array, covariance: Covariance) -> Array:
    """D_k D_k' of each class, in the shape of the scatter."""
    if covariance == "shared":
        p = D.shape[1]
        with one_blas_thread(p) if p * D.size > _SMALL else nullcontext():
            return np.asarray(D.T @ D)
    return D[:, :, None] * D[:, None, :] if covariance == "full" else D * D


def _diagonals(scatter: Array, covariance: Covariance) -> Array:
    return scatter if covariance == "diagonal" else np.diagonal(scatter, axis1=-2, axis2=-1)


def _twice(exponent: NDArray[np.int64], covariance: Covariance) -> NDArray[np.int64]:
    """The exponents of products, in the shape of the scatter."""
    return 2 * exponent if covariance == "diagonal" else exponent[:, None] + exponent


def _common(a: ClassMoments, b: ClassMoments) -> NDArray[np.int64]:
    """Units for both; moments without rows have none of their own."""
    if not b.rows.any():
        return a.exponent
    return np.maximum(a.exponent, b.exponent) if a.rows.any() else b.exponent


def _in_common(m: ClassMoments, exponent: NDArray[np.int64]) -> ClassMoments:
    """m in these units; where they are far larger than its own, in doubt by what that drowns."""
    found = m.in_units(exponent)
    drowned = (m.exponent - exponent < _FAR) & np.any(m.mean != 0.0, axis=0)
    if not drowned.any():
        return found
    n = m.weight.sum() if m.covariance == "shared" else m.weight[:, None]
    doubt = np.where(drowned, np.ldexp(np.sqrt(n), _FAR // 2), 0.0)
    return replace(found, rounding=found.rounding + doubt)


def _root_sum(a: ClassMoments, b: ClassMoments, root: Array, d: Array, doubt: Array) -> Array:
    """A rounding vector that covers both parts', and that of root^2 d d' where d is in doubt.

    For any t, |d_i| e_j + e_i |d_j| <= (t |d_i| + e_i / t)(t |d_j| + e_j / t).
    """
    d, e = root * np.abs(d), root * (doubt + 3 * UNIT * np.abs(d))
    far, unsure = d.max(axis=1, keepdims=True), e.max(axis=1, keepdims=True)
    t = np.where(far > 0, np.sqrt(np.maximum(unsure / np.where(far > 0, far, 1.0), UNIT)), 1.0)
    joint = (t * d + e / t) ** 2 + 3 * UNIT * d**2
    joint = joint.sum(axis=0) if a.covariance == "shared" else joint
    own = 3 * UNIT * (np.abs(a.spread) + np.abs(b.spread))
    return np.sqrt(a.rounding**2 + b.rounding**2 + joint + own)
