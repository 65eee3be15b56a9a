"""One eigendecomposition of the data, from which ridge at every penalty follows.

    w = (S + lambda I)^-1 c,    S = V diag(s) V',    the fitted part of y: V's directions, each
    kept by s/(s + lambda) and lost by lambda/(s + lambda)

Legend: s (r,) eigenvalues of the centred scatter; a (r, k) what y has along each direction, as
unit vectors of row space; rest (k,) its sum of squares outside them; lam (L, k) or (L, 1)
penalties in the units of s; lost (r, L, k) = lam/(s + lam). With these the residual sum is
rest + sum (a lost)^2, the degrees of freedom r - sum lost: O(r) for a penalty.

A row of weight omega counts as omega rows; one of weight below 1 as one row of less trust. So n
is the larger of the number of rows and the sum of weights, here `count`.

Where columns are given a unit (p,), all of this is of x / unit: w / unit are the weights of x.

Called by `Ridge`, and by `procedures.penalties` and `ridge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT, eigen, graded_both
from adaline.procedures.krylov import CentredRows
from adaline.procedures.least_squares import unit_columns
from adaline.results import Array
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows, block_rows

GRADED = 0.125  # lengths of columns, as shares of the longest, below which a unit is their own
CUT = 1e-12  # share of the largest eigenvalue, below which one is rounding


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What ridge needs to know of the data, in units where x is divided by 2**e, y by 2**e_y.

    full tells whether s has a direction for every column; mean is of (x, y), zero without a bias.
    Tall data keep V (p, r); wide data U (n, r) and the rows A, with V = A'U/sqrt(s).
    """

    s: Array
    a: Array
    rest: Array
    weight: float
    count: float
    intercept: bool
    full: bool
    flat: NDArray[np.bool_]
    mean: Array
    e: int
    e_y: NDArray[np.int64]
    V: Array
    U: Array
    A: CentredRows | None

    def lost(self, lam: Array) -> Array:
        """lam/(s + lam) for every direction, (r, L, k)."""
        s = self.s[:, None, None]
        return np.divide(lam, s + lam, out=np.ones((len(self.s), *lam.shape)), where=s > 0)

    def in_units(self, alpha: Any) -> Array:
        """Penalties of the user in the units of s."""
        return np.asarray(np.ldexp(np.asarray(alpha, dtype=np.float64), -2 * self.e))

    def residual(self, lam: Array) -> tuple[Array, Array]:
        """Residual sum of squares and residual degrees of freedom, (L, k)."""
        lost = self.lost(lam)
        free = self.count - self.intercept - len(self.s) + lost.sum(axis=0)
        return self.rest + ((self.a[:, None] * lost) ** 2).sum(axis=0), free

    def basis(self) -> Array:
        """V (p, r), the directions with s > 0."""
        if self.A is None:
            return self.V
        on = self.s > 0
        return self.A.transposed(self.U[:, on]) / np.sqrt(self.s[on])

    def variances(self, lam: Array) -> Array:
        """The diagonal of (S + lam)^-1 for each penalty, (k, p): no matrix of p rows is kept."""
        V, s = self.basis(), self.s[self.s > 0]
        known = (V**2 @ (1.0 / (s[:, None] + lam))).T
        if self.full:
            return known
        # The diagonal of I - V V': what the data say nothing about.
        beyond = np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0)
        with np.errstate(over="ignore"):
            return np.asarray(known + beyond / lam[:, None])

    def weights(self, lam: Array) -> tuple[Array, Array]:
        """W (L, k, p) and b (L, k) at each penalty, in the user's units."""
        on = self.s > 0
        s, a = self.s[on, None, None], self.a[on, None]
        W = np.tensordot(a * np.sqrt(s) / (s + lam), self.basis(), axes=(0, 1))
        b = self.mean[W.shape[2] :] - W @ self.mean[: W.shape[2]]
        return np.ldexp(W, self.e_y[:, None] - self.e), np.ldexp(b, self.e_y)

    def spread(self, X: Any, lam: Array, units: Array | None = None) -> Array:
        """(x - mean)'(S + lam)^-1 (x - mean) for each row and target, (n, k)."""
        p = X.shape[1]
        V, s, out = self.basis(), self.s[self.s > 0], np.empty((X.shape[0], len(lam)))
        scale = np.full(p, np.ldexp(1.0, -self.e)) / (1.0 if units is None else units)
        for part, z, _ in Rows.of(X).blocks(scale, self.mean, block_rows(p)):
            Z2 = (z[:, :p] @ V) ** 2
            v = Z2 @ (1 / (s[:, None] + lam))
            if not self.full:
                beyond = np.maximum((z[:, :p] ** 2).sum(axis=1) - Z2.sum(axis=1), 0.0)
                v += beyond[:, None] / lam
            out[part] = v
        return out


def spectrum_of_moments(m: Moments, intercept: bool, units: Array | None = None) -> Spectrum:
    """By eigenvectors of S, of columns in equal units first where their units differ much."""
    unit, _ = unit_columns(m, intercept)
    p = unit.p
    moving = np.diag(unit.scatter)[:p] > unit.rounding[:p] ** 2
    if units is None:
        e = int(unit.exponent[:p][moving].max()) if moving.any() else 0
        size = np.ldexp(1.0, np.minimum(unit.exponent[:p] - e, 0))
    else:
        e, size = 0, 1.0 / np.ldexp(units, -unit.exponent[:p])
    D = np.where(moving, size, 0.0)
    even = units is not None or bool(np.all(D[moving] >= GRADED))
    scale = D if even else moving.astype(np.float64)
    values, V = eigen(unit.scatter[:p, :p] * np.outer(scale, scale))
    keep = values > max(64 * p * UNIT, CUT) * values.max(initial=0.0)
    r = int(np.count_nonzero(keep))
    s, V = np.where(keep, values, 0.0)[::-1], V[:, ::-1]
    if not even:  # tiny units are no small eigenvalues
        _, root, V = graded_both(np.sqrt(s)[:, None] * V.T * D)
        s = root**2
    s, V = s[:r], np.ascontiguousarray(V[:, :r])
    a = (V.T * D) @ unit.scatter[:p, p:] / np.sqrt(s)[:, None]
    yy = np.diag(unit.scatter)[p:]
    mean = unit.mean.copy()
    mean[:p] = np.ldexp(mean[:p], unit.exponent[:p] - e) if units is None else mean[:p] * size
    return Spectrum(
        s=s,
        a=a,
        rest=np.maximum(yy - (a**2).sum(axis=0), 0.0),
        weight=m.weight,
        count=max(m.weight, m.rows),
        intercept=intercept,
        full=len(s) == p,
        flat=yy <= (unit.rounding[p:] ** 2 if intercept else 0.0),
        mean=mean,
        e=e,
        e_y=unit.exponent[p:],
        V=V,
        U=np.empty((0, 0)),
        A=None,
    )


def spectrum_of_rows(A: CentredRows) -> Spectrum:
    """Through the n x n side, A A' = U diag(s) U': no p x p matrix."""
    K, k = A.gram(), A.B.shape[1]
    s, U = eigen_without_ones(K, A.root) if A.intercept else eigen(K)
    s = np.where(s > 4 * len(K) * UNIT * s.max(initial=0.0), s, 0.0)
    return Spectrum(
        s=s,
        a=U.T @ A.B,
        rest=np.zeros(k),
        weight=A.weight,
        count=max(A.weight, float(len(K))),
        intercept=A.intercept,
        full=int(np.count_nonzero(s)) == A.p,
        flat=A.flat,
        mean=A.mean,
        e=A.e,
        e_y=A.e_y,
        V=np.empty((0, 0)),
        U=U,
        A=A,
    )


def eigen_without_ones(K: Array, root: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors (n, n - 1) of K on what is orthogonal to the weighted ones.

    The reflection H = I - v v'/v_0 takes the ones to the first axis, which is left away.
    """
    v = root / np.linalg.norm(root)
    v[0] += 1.0
    q = K @ v / v[0]
    q -= (v @ q) / (2 * v[0]) * v
    s, inner = eigen((K - np.outer(v, q) - np.outer(q, v))[1:, 1:])
    U = np.vstack([np.zeros(len(s)), inner])
    return s, U - np.outer(v / v[0], v[1:] @ inner)
