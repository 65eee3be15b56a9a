"""What sums about means have in common: units, and adding and forgetting rows.

    m = (n_a m_a + n_b m_b) / n,    S = S_a + S_b + (n_a n_b / n) d d',    d = m_b - m_a

(Chan, Golub & LeVeque 1979), with n_b < 0 to forget rows. Bounds on the rounding of S and m are
carried along, so that what is left after much forgetting still says how many digits it holds.

Called by `Moments`, sums of one set of rows, and `ClassMoments`, those of K classes: there
weights, counts and means have one more axis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT
from adaline.results import Array, Result
from adaline.sums.threads import one_blas_thread

Covariance = Literal["shared", "full", "diagonal"]

DROWNED = 400  # powers of two between units beyond which nothing is left of the smaller


class CentredSums(Result):
    """Base of sums about means; `covariance` says of what shape the scatter is."""

    rows: Any
    weight: Any
    mean: Array
    scatter: Array
    exponent: NDArray[np.int64]
    rounding: Array
    mean_rounding: Array
    covariance: Covariance

    @property
    def spread(self) -> Array:
        """Diagonals of the scatter, divided by 4**exponent."""
        return diagonals(self.scatter, self.covariance)

    def in_units(self, exponent: NDArray[np.int64]) -> Self:
        """The same moments with components divided by 2**exponent instead."""
        shift = self.exponent - exponent
        if not shift.any():
            return self
        # Squares of far larger units lose all digits, and the rounding must cover them.
        drowned = (shift < -DROWNED) & np.any(np.atleast_2d(self.mean) != 0.0, axis=0)
        n = np.sum(self.weight) if self.rounding.ndim == 1 else self.weight[:, None]
        factor = np.ldexp(1.0, shift)  # of a scatter, ldexp takes ten times as long
        rows = factor if self.covariance == "diagonal" else factor[:, None]
        return replace(  # type: ignore[type-var]
            self,
            mean=np.ldexp(self.mean, shift),
            scatter=self.scatter * rows * factor,
            exponent=np.asarray(exponent, dtype=np.int64),
            rounding=np.ldexp(self.rounding, shift) + drowned * np.ldexp(np.sqrt(n), -DROWNED // 2),
            mean_rounding=np.ldexp(self.mean_rounding, shift),
        )

    def __add__(self, other: Self) -> Self:
        """Both sets of rows together."""
        self._check_like(other)
        if not np.any(self.rows) or not np.any(other.rows):  # no rows have no units
            return self if np.any(self.rows) else other
        return self._merged(other, 1, self.weight + other.weight)

    def __sub__(self, other: Self) -> Self:
        """Forget the rows of `other`, which must be among these."""
        self._check_like(other)
        if not np.any(other.rows):
            return self
        rows, n = self.rows - other.rows, self.weight - other.weight
        wrong = np.atleast_1d((rows < 0) | (n < -1e-9 * self.weight) | ((rows > 0) & (n <= 0)))
        if wrong.any():
            k, where = int(np.argmax(wrong)), ""
            if np.ndim(rows):
                where = f" of class {k}"
            theirs, ours = ((np.ravel(m.rows)[k], np.ravel(m.weight)[k]) for m in (other, self))
            raise ValueError(
                f"cannot forget {theirs[0]} rows of total weight {theirs[1]:g}{where} from "
                f"{ours[0]} rows of total weight {ours[1]:g}. Forget only rows that were added."
            )
        m = self._merged(other, -1, n * (rows > 0) + 0.0)
        negative = np.atleast_2d(m.spread < -(m.rounding**2)).any(axis=0)
        if negative.any() and np.any(rows):
            raise ValueError(
                f"forgetting these rows would leave component {int(np.argmax(negative))} with a "
                "negative sum of squares. Forget only rows that were added."
            )
        # Of what has no rows left, nothing is left.
        ended = not np.any(rows) if m.rounding.ndim == 1 else rows == 0
        m.scatter[ended], m.rounding[ended] = 0.0, 0.0
        np.maximum(m.spread, 0.0, out=m.spread)
        return m

    def _merged(self, other: Self, sign: int, n: Any) -> Self:
        """With the rows of other added (1) or taken away (-1); a weight n is left."""
        exponent = np.maximum(self.exponent, other.exponent)
        a, b = self.in_units(exponent), other.in_units(exponent)
        left, of_a, of_b = (
            np.reshape(w, self.mean.shape[:-1])[..., None] for w in (n, a.weight, b.weight)
        )
        own, share = (
            np.divide(w, left, out=np.zeros(left.shape), where=left > 0) for w in (of_a, of_b)
        )
        d = np.where((of_a > 0) & (share > 0), b.mean - a.mean, 0.0)
        mean = np.where(left > 0, np.where(of_a > 0, a.mean, b.mean), 0.0) + sign * share * d
        moved = np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean) + np.abs(mean))
        # Products of weights may overflow, or lose their digits below float64's range.
        root = np.sqrt(of_a) * np.sqrt(share)
        joint = product_rounding(root * d, root * (a.mean_rounding + b.mean_rounding))
        joint = joint.sum(axis=0) if joint.ndim > self.rounding.ndim else joint
        joint = joint + 3 * UNIT * (np.abs(a.spread) + np.abs(b.spread))
        return replace(  # type: ignore[type-var]
            a,
            rows=a.rows + sign * b.rows,
            weight=n,
            mean=mean,
            scatter=a.scatter + sign * (b.scatter + outer(root * d, self.covariance)),
            rounding=np.sqrt(a.rounding**2 + b.rounding**2 + joint),
            mean_rounding=own * a.mean_rounding + share * b.mean_rounding + 4 * UNIT * moved,
        )

    def _description(self) -> str:
        """What sums that merge have in common, in words."""
        raise NotImplementedError

    def _check_like(self, other: Any) -> None:
        name = type(self).__name__
        if not isinstance(other, type(self)):
            raise TypeError(f"{name} merge with {name}, not with {type(other).__name__}.")
        ours, theirs = self._description(), other._description()
        if ours != theirs:
            raise ValueError(f"moments of {ours} do not merge with those of {theirs}.")


def product_rounding(d: Array, doubt: Array) -> Array:
    """Squares of a rounding vector that covers d d' where d is in doubt; the last axis counts.

    For any t, |d_j| e_k + e_j |d_k| <= (t |d_j| + e_j / t)(t |d_k| + e_k / t).
    """
    d = np.abs(d)
    e = doubt + 3 * UNIT * d
    far, unsure = (np.max(a, axis=-1, keepdims=True, initial=0.0) for a in (d, e))
    t = np.sqrt(np.maximum(np.divide(unsure, far, out=np.ones_like(far), where=far > 0), UNIT))
    return np.asarray((t * d + e / t) ** 2 + 3 * UNIT * d**2)


def outer(D: Array, covariance: Covariance) -> Array:
    """D_k D_k' of each class, in the shape of the scatter."""
    if covariance == "shared":
        D = np.atleast_2d(D)
        with one_blas_thread(1):  # threads of BLAS would change the last digit
            return np.asarray(D.T @ D)
    return D[:, :, None] * D[:, None, :] if covariance == "full" else D * D


def diagonals(scatter: Array, covariance: Covariance) -> Array:
    """The diagonals of the scatter, as a view."""
    return scatter if covariance == "diagonal" else np.einsum("...ii->...i", scatter)
