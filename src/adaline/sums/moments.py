"""Centred mergeable statistics that know their own rounding error.

`Moments` are what closed forms need to know of the data: how many, the means, and the scatter
about the means. They are computed on row blocks and merge with `+`; `-` forgets. Raw sums x'x
would lose every digit when features have large means; centred sums do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adaline.linalg import UNIT
from adaline.parameters import count
from adaline.results import Array
from adaline.sums.centred import CentredSums, Covariance
from adaline.sums.rows import Rows, block_rows, check_finite, is_dask, merged
from adaline.sums.threads import one_blas_thread, pieces, summed

MOST = 30_000  # columns whose sums, 7 GB, a large machine may still hold
SIZE = count(0, MOST)
FAINT = 2.0**-860  # sums of smaller weights lose digits below float64's range
VAGUE = 2.0**300  # what such sums leave unknown: more than any number in good units
LOST = 2.0**-1072  # a square may lose this much below float64's range
THIN = 80  # products of nonzeros that take as long as one of a dense matrix, in BLAS
SPREAD = 1e-3  # share of the squares about zero that has to be left about the mean


@dataclass(frozen=True, eq=False)
class Moments(CentredSums):
    """Count, means and centred scatter of samples x (p) and targets y (k), mergeable.

    Lecture: the Wiener equations, with R_xx and r_xy about the means.

    Parameters
    ----------
    rows : int
        Rows with a positive weight.
    weight : float
        Sum of the weights; the number of rows where none were given.
    mean, scatter : ndarray of shape (p + k,) and (p + k, p + k)
        Of the joint vector (x, y), each component divided by 2**exponent.
    exponent : ndarray of int, shape (p + k,)
        Powers of two that keep squares of huge and tiny units within float64; mostly zero.
    rounding, mean_rounding : ndarray of shape (p + k,)
        Bounds on the rounding errors: |scatter_jk - exact| <= rounding_j rounding_k,
        |mean_j - exact| <= mean_rounding_j. They grow with every `+` and `-`, so what is left
        after much forgetting still says how many digits it holds.
    targets : int
        k, the number of targets.

    Notes
    -----
    Products of one target with another are not computed, as no closed form needs them, and for
    1000 targets they would cost more than all else: these numbers of `scatter_yy` are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import Moments
    >>> X, y = np.array([[1.0], [2.0], [3.0], [6.0]]), np.array([1.0, 2.0, 3.0, 6.0])
    >>> whole = Moments.of(X[:2], y[:2]) + Moments.of(X[2:], y[2:])
    >>> whole.weight, whole.mean_x, whole.scatter_xx
    (4.0, array([3.]), array([[14.]]))
    >>> (whole - Moments.of(X[3:], y[3:])).mean_x
    array([2.])
    """

    rows: int
    weight: float
    mean: Array
    scatter: Array
    exponent: NDArray[np.int64]
    rounding: Array
    mean_rounding: Array
    targets: int
    covariance: ClassVar[Covariance] = "shared"  # type: ignore[misc]

    @classmethod
    def of(cls, X: Any, y: ArrayLike | None = None, weights: ArrayLike | None = None) -> Moments:
        """Moments of one block of rows: X (n, p) dense or CSR, y (n,) or (n, k) or None.

        Of dask arrays and DataFrames: the moments of all their blocks, merged.
        """
        if is_dask(X):
            from adaline.distributed.collections import sum_blocks

            found: Moments = sum_blocks(cls.of, X, y, weights)
            return found
        return cls.of_rows(Rows.of(X, y, weights))

    @classmethod
    def of_rows(cls, t: Rows) -> Moments:
        """Moments of rows that are checked but for infinities and NaN."""
        q = t.p + t.Y.shape[1]
        if q > MOST:
            raise ValueError(
                f"X has {t.p} columns; their {q} x {q} sums would take {8 * q**2 / 2**30:.0f} GiB. "
                "Select or hash the columns first, or fit fewer rows than columns."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            m: Moments = t.in_safe_units(partial(moments, t))
        if not (np.isfinite(m.mean).all() and np.isfinite(m.scatter[: t.p]).all()):
            check_finite(t.X)
            check_finite(t.Y, what="y")
            raise ValueError("sums over X, y and weights leave the range of float64; rescale them.")
        return m

    @classmethod
    def over(cls, blocks: Iterable[tuple[Any, ...]]) -> Moments:
        """Moments of all blocks (X, y) or (X, y, weights), merged in a tree of fixed shape."""
        return merged(blocks, "(X, y) or (X, y, weights)", cls.of)

    @classmethod
    def empty(cls, p: int, k: int = 0) -> Moments:
        """Moments of no rows: the zero of `+`."""
        SIZE("p", p)
        SIZE("k", k)
        q = p + k
        z = np.zeros(q)
        return cls(0, 0.0, z, np.zeros((q, q)), np.zeros(q, dtype=np.int64), z, z, k)

    @property
    def p(self) -> int:
        """Number of features."""
        return len(self.mean) - self.targets

    @property
    def mean_x(self) -> Array:
        """Means of the features (p,)."""
        return np.ldexp(self.mean, self.exponent)[: self.p]

    @property
    def mean_y(self) -> Array:
        """Means of the targets (k,)."""
        return np.ldexp(self.mean, self.exponent)[self.p :]

    @property
    def scatter_xx(self) -> Array:
        """Sum of (x - mean)(x - mean)', (p, p)."""
        return self._unscaled_scatter(slice(self.p), slice(self.p))

    @property
    def scatter_xy(self) -> Array:
        """Sum of (x - mean)(y - mean)', (p, k)."""
        return self._unscaled_scatter(slice(self.p), slice(self.p, None))

    @property
    def scatter_yy(self) -> Array:
        """Sum of (y - mean)(y - mean)', (k, k)."""
        return self._unscaled_scatter(slice(self.p, None), slice(self.p, None))

    def _unscaled_scatter(self, rows: slice, columns: slice) -> Array:
        # A block alone: another one may be beyond float64 in the user's units.
        exponent = self.exponent[rows, None] + self.exponent[columns]
        return np.asarray(np.ldexp(self.scatter[rows, columns], exponent))

    def about_zero(self) -> Moments:
        """The scatter about zero instead of about the means: what a fit without bias needs."""
        # Products of means may underflow where the weight is huge: roots of it come first.
        root = np.sqrt(self.weight) * self.mean
        drift = np.sqrt(self.weight) * self.mean_rounding
        t = np.sqrt(8 * UNIT)  # two roots, their products, and the sum
        return replace(
            self,
            scatter=self.scatter + np.outer(root, root),
            rounding=np.hypot(self.rounding, t * np.abs(root) + drift / t),
            mean=np.zeros_like(self.mean),
            mean_rounding=np.zeros_like(self.mean),
        )

    def mean_and_squares(self, about_zero: bool = False) -> tuple[Array, Array]:
        """Means and sums of squares about them (or about zero) of (x, y), in the user's units."""
        squares = self.scatter.diagonal() + (self.weight * self.mean**2 if about_zero else 0.0)
        return np.ldexp(self.mean, self.exponent), np.ldexp(squares, 2 * self.exponent)

    def _description(self) -> str:
        return f"{self.p} features and {self.targets} targets"


def moments(t: Rows, exponent: NDArray[np.int64]) -> Moments:
    """Moments of a table whose columns are divided by 2**exponent."""
    if t.n == 0:
        return Moments.empty(t.p, t.Y.shape[1])
    p, q = t.p, len(exponent)
    scale = np.ldexp(1.0, -exponent)
    shift = t.first_mean(scale)
    sums, additions = products_of_nonzeros(t, scale, shift), t.n + 2
    if sums is None:
        sums, additions = products_of_blocks(t, scale, shift)
    else:
        shift[:p] = 0.0
    side, across, squares_y = sums
    weight, total = float(side[p, p]), np.concatenate([side[p, :p], across[p]])
    if weight == 0:
        return Moments.empty(p, q - p)
    squares = np.concatenate([side.diagonal()[:p], squares_y])
    # The terms of the sums carry a few roundings of their own.
    gamma, lost = (additions + 16) * UNIT, math.sqrt(t.n * LOST)
    reach, length = np.sqrt(squares) + lost, math.sqrt(weight)
    mean = shift + total / weight
    moved = np.abs(mean) * (total != 0.0)  # the mean of a constant is not rounded
    unsure = VAGUE if weight < FAINT else 0.0
    root = total / length  # squares of sums over tiny weights may overflow
    scatter = np.empty((q, q))
    np.subtract(side[:p, :p], root[:p, None] * root[:p], out=scatter[:p, :p])
    np.subtract(across[:p], root[:p, None] * root[p:], out=scatter[:p, p:])
    scatter[p:, :p], scatter[p:, p:] = scatter[:p, p:].T, np.nan
    scatter.flat[:: q + 1] = np.maximum(squares - root**2, 0.0)
    return Moments(
        rows=t.n,
        weight=float(t.n) if not len(t.omega) else weight,
        mean=mean,
        scatter=scatter,
        exponent=exponent,
        rounding=reach * (2 * math.sqrt(gamma)) + (lost + length * unsure),
        mean_rounding=reach * (2 * gamma / length) + 2 * UNIT * moved + (lost / length + unsure),
        targets=q - p,
    )


def products_of_blocks(t: Rows, scale: Array, shift: Array) -> tuple[tuple[Array, ...], int]:
    """Sums of z z', z y' and y^2 for rows z = (x, 1), and how many numbers were added in a row."""
    q, k = len(scale) + 1, len(scale) - t.p
    cuts, rows = pieces(t.n, q, q * q), block_rows(t.p)

    def of_piece(i: int, j: int) -> tuple[Array, ...]:
        side, across, squares = np.zeros((t.p + 1, t.p + 1)), np.zeros((t.p + 1, k)), np.zeros(k)
        for _, z, y in t.blocks(scale, shift, rows, i, j):
            side += z.T @ z
            across += z.T @ y
            squares += np.einsum("ij,ij->j", y, y)
        return side, across, squares

    def both(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    with one_blas_thread(q if len(cuts) == 1 else 0):  # more would change the last digit
        sums = summed(of_piece, both, cuts)
    return sums, min(rows, t.n) + cuts[0][1] // rows + len(cuts)


def products_of_nonzeros(t: Rows, scale: Array, shift: Array) -> tuple[Array, ...] | None:
    """The same for CSR rows about zero, where nonzeros are few; the targets are about the shift.

    None where they are many, or where a column has so large a mean that squares about zero would
    leave few digits of those about the mean.
    """
    p = t.p
    if not t.sparse or np.sum(np.diff(t.X.indptr).astype(float) ** 2) * THIN > t.n * p * p:
        return None
    X = sparse.csr_array(t.X.multiply(scale[:p]), dtype=np.float64)
    Z = np.column_stack([t.Y * scale[p:] - shift[p:], np.ones(t.n)])
    omega = t.omega if len(t.omega) else np.ones(t.n)
    weighted = sparse.diags_array(omega) @ X if len(t.omega) else X
    side, across, squares = np.empty((p + 1, p + 1)), np.empty((p + 1, Z.shape[1])), omega @ Z**2
    S = (X.T @ weighted).toarray()
    side[:p, :p], side[p, p] = (S + S.T) / 2, squares[-1]
    across[:p], across[p] = weighted.T @ Z, omega @ Z
    side[p, :p] = side[:p, p] = across[:p, -1]
    own = np.diagonal(side)[:p]
    with np.errstate(divide="ignore", invalid="ignore"):
        if not np.all((own == 0) | (own - side[p, :p] ** 2 / side[p, p] > SPREAD * own)):
            return None
    return side, across[:, :-1], squares[:-1]
