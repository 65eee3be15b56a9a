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

Of large sparse rows a spectrum is estimated. Rules need y'f(K)y and tr f(K) for K = A A' and
f(s) = lam/(s + lam), its square and its logarithm, at every lam. Lanczos steps from y give the
first for all lam at once, as a Gauss quadrature with nodes theta and weights tau^2 (Golub and
Meurant 2010); steps from random signs z give the second, since E z'f(K)z = tr f(K) (Hutchinson
1989). These are estimates, and the sentences say so.

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

RULES = {
    "loo": "the leave-one-out error",
    "gcv": "the generalised cross-validation error",
    "evidence": "minus the log marginal likelihood",
}
GRADED = 0.125  # lengths of columns, as shares of the longest, below which a unit is their own
CUT = 1e-12  # share of the largest eigenvalue, below which one is rounding
PROBES = 6  # random vectors; more cost more time than the flat minimum is worth
STEPS = 60  # of Lanczos
TOGETHER = 32  # vectors in a product
AGREE = 0.02  # shares by which half the steps may differ for a penalty to be considered
GRID = np.geomspace(1e-9, 1e3, 481)  # penalties, in units of the largest eigenvalue


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

    def covariances(self, lam: Array, noise: Array) -> Array:
        """noise (S + lam)^-1 for each penalty, (k, p, p), in the user's units."""
        V, s = self.basis(), self.s[self.s > 0]
        covariances = []
        # Directions that the data say nothing about; squared, so that no variance is negative.
        beyond = None if self.full else np.eye(len(V)) - V @ V.T
        with np.errstate(over="ignore"):  # columns of 1e-160 have covariances beyond float64
            for penalty, variance in zip(lam, noise, strict=True):
                C = (V / (s + penalty)) @ V.T
                if beyond is not None:
                    C += beyond @ beyond.T / penalty
                covariances.append(np.ldexp(C * variance, -2 * self.e))
        return np.array(covariances)

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


@dataclass(frozen=True)
class Quadrature:
    """Nodes theta and weights tau2 (m, q) of each vector; f is integrated by sum tau2 f(theta)."""

    theta: Array
    tau2: Array

    def kept(self, lam: Array, power: int = 1) -> Array:
        """Of (lam/(theta + lam))^power, (L, q)."""
        lost = lam[:, None, None] / (self.theta + lam[:, None, None])
        return np.asarray((lost**power * self.tau2).sum(axis=1))

    def logs(self, lam: Array) -> Array:
        """Of ln(1 + theta/lam), (L, q)."""
        return np.asarray((np.log1p(self.theta / lam[:, None, None]) * self.tau2).sum(axis=1))


def estimated_penalties(s: CentredRows, rule: str) -> tuple[Array, list[str]]:
    """alpha of each target by "auto" (which is "gcv" here), "gcv" or "evidence", and sentences."""
    if rule == "loo":
        raise ValueError(
            f'alpha="loo" needs eigenvalues of X, and {s.X.shape[0]} sparse rows of '
            f'{s.X.shape[1]} columns are too many for that; give "auto", "gcv" or "evidence", '
            "which are estimated from products, or a number."
        )
    rule = "gcv" if rule == "auto" else rule
    k, length = s.B.shape[1], np.linalg.norm(s.B, axis=0)
    probes = lanczos(s, random_probes(s))
    top = float(probes[STEPS].theta.max(initial=0.0))
    if not top > 0.0:
        return np.ones(k), ["no column of X varies: every penalty gives weights of zero."]
    lam, alphas, sentences = top * GRID, np.empty(k), []
    for t in range(0, k, TOGETHER):
        block = slice(t, min(t + TOGETHER, k))
        own = lanczos(s, s.B[:, block] / np.where(length[block] > 0, length[block], 1.0))
        F, half = (
            criterion(rule, lam, own[m], probes[m], length[block], s) for m in (STEPS, STEPS // 2)
        )
        for j, i in enumerate(range(block.start, block.stop)):
            flat = not length[i] > 1e-14 * np.sqrt(s.weight)
            alphas[i], said = minimiser(lam, F[:, j], half[:, j], RULES[rule], flat)
            # How sure the estimated trace is.
            each = probes[STEPS].kept(alphas[i : i + 1])[0]
            share = each.std(ddof=1) / np.sqrt(PROBES) / max(each.mean(), 1e-300)
            note = f"({STEPS} Lanczos steps; the trace by {PROBES} random vectors, to {share:.1g}.)"
            sentences.append(f"{said} {note}")
    return np.ldexp(alphas, 2 * s.e), sentences


def criterion(
    rule: str, lam: Array, y: Quadrature, z: Quadrature, length: Array, s: CentredRows
) -> Array:
    """The criterion at each penalty, (L, k)."""
    n = float(len(s.root) - s.intercept)
    if rule == "gcv":
        left = n * z.kept(lam).mean(axis=1)[:, None]  # residual degrees of freedom
        count = max(s.weight, float(len(s.root)))
        return np.asarray(length**2 * y.kept(lam, 2) / s.weight * (count / left) ** 2)
    with np.errstate(divide="ignore"):
        logs = np.log(length**2 * y.kept(lam) / n)
    return np.asarray(n * logs + n * z.logs(lam).mean(axis=1)[:, None])


def minimiser(lam: Array, F: Array, half: Array, name: str, flat: bool) -> tuple[float, str]:
    """The penalty of the least error among those where half the steps say nearly the same."""
    if flat:
        return lam[-1], "y is constant: every penalty predicts it, and a large one was taken."
    close = np.abs(F - half) <= AGREE * np.abs(F)
    first = len(lam) - int(np.argmin(np.append(close[::-1], False)))  # all from here on agree
    i = first + int(np.argmin(F[first:])) if first < len(lam) else len(lam) - 1
    if i == len(lam) - 1:
        return 1e3 * lam[i], f"{name} is least at infinite penalties: the weights are zero."
    if i == first:
        return lam[i], (
            f"{name} falls to the smallest penalty that {STEPS} Lanczos steps can tell, which was "
            "taken; a smaller number may be better."
        )
    return lam[i], f"alpha minimises an estimate of {name}."


def random_probes(s: CentredRows) -> Array:
    """Random signs without what is common to all rows, each of length one."""
    Z = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(s.root), PROBES))
    if s.intercept:
        Z -= np.multiply.outer(s.root, s.root @ Z / s.weight)
    return np.asarray(Z / np.linalg.norm(Z, axis=0))


def lanczos(s: CentredRows, V: Array) -> dict[int, Quadrature]:
    """Quadratures after all steps and after half of them, for A A' and columns of length one."""
    q = V.shape[1]
    diagonal, beside = np.zeros((STEPS, q)), np.zeros((STEPS, q))
    before, size = np.zeros_like(V), np.zeros(q)
    for m in range(STEPS):
        U = s.times(s.transposed(V)) - size * before
        diagonal[m] = np.einsum("ij,ij->j", U, V)
        U -= diagonal[m] * V
        size = np.linalg.norm(U, axis=0)
        # Where the span is exhausted the next vector is zero, and adds nodes of no weight.
        size = np.where(size > 1e-13 * np.abs(diagonal[: m + 1]).max(axis=0), size, 0.0)
        beside[m] = size
        before, V = V, np.divide(U, size, out=np.zeros_like(U), where=size > 0)
    return {m: gauss_nodes(diagonal[:m], beside[: m - 1]) for m in (STEPS // 2, STEPS)}


def gauss_nodes(diagonal: Array, beside: Array) -> Quadrature:
    """By the eigenvectors of the tridiagonal matrices."""
    m, q = diagonal.shape
    T, at = np.zeros((q, m, m)), np.arange(m)
    T[:, at, at] = diagonal.T
    T[:, at[1:], at[:-1]] = T[:, at[:-1], at[1:]] = beside.T
    theta, vectors = np.linalg.eigh(T)
    return Quadrature(np.maximum(theta.T, 0.0), vectors[:, 0].T ** 2)
