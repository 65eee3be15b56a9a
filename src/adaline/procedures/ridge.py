"""Ridge regression: one eigendecomposition of the data, and the weights at given penalties.

    w = (S + lambda I)^-1 c,    S = V diag(s) V',    the fitted part of y: V's directions, each
    kept by s/(s + lambda) and lost by lambda/(s + lambda)

Legend: s (r,) eigenvalues of the centred scatter; a (r, k) what y has along each direction, as
unit vectors of row space; rest (k,) its sum of squares outside them; lam (L, k) or (L, 1)
penalties in the units of s; lost (r, L, k) = lam/(s + lam). With these the residual sum is
rest + sum (a lost)^2, the degrees of freedom r - sum lost: O(r) for a penalty.

A row of weight omega counts as omega rows; one of weight below 1 as one row of less trust. So n
is the larger of the number of rows and the sum of weights, here `count`. Where columns are given a
unit (p,), all of this is of x / unit: w / unit are the weights of x.

Digits come from refinement by the rows: of tall ones as in least squares, of wide ones with

    (A'A + lam)^-1 g = (g - A'(A A' + lam)^-1 A g) / lam,

by a Cholesky factor of the n x n side, or its eigenvectors for targets of many penalties.

Called by `Ridge` and by `procedures.penalties`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates import digits
from adaline.linalg import (
    UNDERFLOW,
    UNIT,
    cholesky,
    condition,
    eigen,
    graded_both,
    lengths,
    solve_cholesky,
)
from adaline.procedures.krylov import CentredRows
from adaline.procedures.least_squares import least_squares, unit_columns
from adaline.procedures.refinement import Problem, Solution, Solver, refine
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows, block_rows

RULES = {
    "loo": "the leave-one-out error",
    "gcv": "the generalised cross-validation error",
    "evidence": "minus the log marginal likelihood",
}
GRADED = 0.125  # lengths of columns, as shares of the longest, below which a unit is their own
CUT = 1e-12  # share of the largest eigenvalue, below which one is rounding
TOGETHER = 64  # targets whose last digits are worth a pass over the rows; moments prove about nine
# The penalty on w^2 of an alpha: a number, or one for each column.
Penalty = Callable[[float], Any]


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

    def quadratic(self, along: Array, squares: Array, lam: Array) -> Array:
        """z'(S + lam)^-1 z (n, k) of vectors z: their parts along V (n, r), and |z|^2 (n,)."""
        along = along**2
        own = along @ (1.0 / (self.s[self.s > 0, None] + lam))
        if self.full:
            return np.asarray(own)
        # What the data say nothing about.
        beyond = np.maximum(squares - along.sum(axis=1), 0.0)
        with np.errstate(over="ignore"):
            return np.asarray(own + beyond[:, None] / lam)

    def variances(self, lam: Array) -> Array:
        """The diagonal of (S + lam)^-1 for each penalty, (k, p): no matrix of p rows is kept."""
        V = self.basis()
        return self.quadratic(V, np.ones(len(V)), lam).T

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
        p, V, out = X.shape[1], self.basis(), np.empty((X.shape[0], len(lam)))
        scale = np.full(p, np.ldexp(1.0, -self.e)) / (1.0 if units is None else units)
        for part, z, _ in Rows.of(X).blocks(scale, self.mean, block_rows(p)):
            z = z[:, :p]
            out[part] = self.quadratic(z @ V, np.einsum("ij,ij->i", z, z), lam)
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
    # Of the weighted ones, which A' takes to zero, the eigenvalue becomes the largest, and is left.
    ones = A.root / np.linalg.norm(A.root) * A.intercept
    s, U = eigen(K + 2 * (np.linalg.norm(K) or 1.0) * np.outer(ones, ones))
    s, U = (s[:-1], U[:, :-1]) if A.intercept else (s, U)
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


class Dual(Solver):
    """(A'A + lam_t)^-1 by the n x n side; V = diag(1/rest) where columns are measured in units.

    The n x n side is factored for one penalty, or its spectrum is that of these rows.
    """

    def __init__(self, A: CentredRows, lams: Array, spectrum: Spectrum | None, rest: Array):
        self.A, self.least, self.V, self.rest = A, lams, 1.0 / rest, rest[:, None]
        self.spectrum = spectrum
        if spectrum is None:
            R = cholesky(A.gram() + lams[0] * np.eye(len(A.root)), overwrite=True)
            if R is None:
                raise ValueError(
                    "the penalty is too small beside the rows: alpha=0 is least squares."
                )
            self.R, self.condition = R, condition(R)
        else:
            top, low = float(spectrum.s.max(initial=0.0)), float(lams.min())
            self.condition = sqrt((top + low) / low)
        size = float(A.raw_squares.sum()) + 4 * A.weight * float(A.mean[: A.p] @ A.mean[: A.p])
        self.own = digits.gamma(4 * (A.p + len(A.root))) * (size + 2 * lams)
        self.top = sqrt(float(lams.max()))

    def side(self, h: Array, on: Any) -> Array:
        """(A A' + lam_t)^-1 h."""
        if self.spectrum is None:
            return solve_cholesky(self.R, h)
        U, s = self.spectrum.U, self.spectrum.s
        return np.asarray(U @ ((U.T @ h) / (s[:, None] + self.least[on])))

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        A, lam, g = self.A, self.least[on], g / self.rest
        d = (g - A.transposed(self.side(A.times(g), on))) / lam
        # Of penalties far from the squares of the columns, squares may leave float64's range.
        size_g, left, size = (lengths(a.T) for a in (g, g - A.scatter(d) - lam * d, d))
        return d / self.rest, left + self.own[on] * size + 2 * UNIT * size_g, UNIT * size


def ridge_by_target(
    m: Moments, rows: Rows | None, alphas: Array, penalty: Penalty, intercept: bool
) -> ClosedFit:
    """Least squares with a penalty for each target; those of one penalty are solved together."""

    def fit(which: NDArray[np.intp]) -> ClosedFit:
        one, some = m, rows
        if len(which) < m.targets:
            one, some = of_targets(m, which), None if rows is None else rows.targets(which)
        a = float(alphas[which[0]])
        accuracy = "full" if m.targets <= TOGETHER or a == 0 else "moments"
        return least_squares(one, some, intercept=intercept, ridge=penalty(a), accuracy=accuracy)

    return joined([(fit(which), which) for which in equal(alphas)])


def wide_ridge_by_target(
    f: Spectrum | CentredRows, rows: Rows, alphas: Array, units: Array | None
) -> ClosedFit:
    """`wide_ridge` of targets with a penalty, and the least norm of those without."""
    A, spectrum = (f.A, f) if isinstance(f, Spectrum) else (f, None)
    assert A is not None

    def fit(which: NDArray[np.intp]) -> ClosedFit:
        some = rows.targets(which)
        if alphas[which[0]] == 0:
            return least_squares(None, some, intercept=A.intercept)
        return wide_ridge(A.targets(which), some, alphas[which], spectrum, units)

    return joined([(fit(which), which) for which in equal(alphas > 0)])


def equal(values: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Indices of equal values."""
    if (values == values[0]).all():
        return [np.arange(len(values))]
    return [np.flatnonzero(values == value) for value in np.unique(values)]


def of_targets(m: Moments, which: NDArray[np.intp]) -> Moments:
    pick = np.append(np.arange(m.p), m.p + which)
    vectors = {v: getattr(m, v)[pick] for v in ("mean", "exponent", "rounding", "mean_rounding")}
    return replace(m, scatter=m.scatter[np.ix_(pick, pick)], targets=len(which), **vectors)


def joined(parts: list[tuple[ClosedFit, NDArray[np.intp]]]) -> ClosedFit:
    """One fit of the targets of all parts; the least certain target speaks for them."""
    fits = [fit for fit, _ in parts]
    if len(fits) == 1:
        return fits[0]
    order = np.argsort(np.concatenate([which for _, which in parts]))
    stacked: dict[str, Any] = {
        name: np.concatenate([getattr(fit, name) for fit in fits])[order]
        for name in ("W", "b", "W_low", "b_low", "squares")
    }
    evidence, kappa = [fit.certificate.evidence for fit in fits], max(f.condition for f in fits)
    worst = fits[int(np.argmin([e.get("digits", 0.0) for e in evidence]))]
    certificate = worst.certificate
    if all("floor" in e for e in evidence):  # bounds on each weight
        few = min(len(e["floor"]) for e in evidence)
        bounds, floor = (
            np.hstack([e[key][:few] for e in evidence])[:, order]
            for key in ("error_bound", "floor")
        )
        weights = np.vstack([stacked["W"].T, stacked["b"]])[:few]
        missing = max((e.get("without_bound", "") for e in evidence), key=len)
        certificate = digits.stated(weights, bounds, floor, {"condition": kappa}, missing)
    how = f"of {len(order)} targets, the least certain: {certificate.statement}"
    return replace(
        worst,
        certificate=Certificate(certificate.kind, how, certificate.evidence),
        rank=min(fit.rank for fit in fits),
        condition=kappa,
        root=None,
        dependent=max((fit.dependent for fit in fits), key=len),
        **stacked,
    )


@np.errstate(all="ignore")  # what is infinite or NaN has no bound, and certificates tell
def wide_ridge(
    A: CentredRows,
    rows: Rows,
    alphas: Array,
    spectrum: Spectrum | None,
    units: Array | None = None,
) -> ClosedFit:
    """w = A'(A A' + lam)^-1 y for each target; spectrum is that of these rows, if it is known.

    With units (p,), A is of x / units, and the penalty is fl(alpha fl(units_j^2)) w_j^2. Then w is
    that of columns divided by the powers of two above units, `rest` what of units is left, in
    [1/2, 1): weights w of these columns have lam sum (rest_j w_j)^2 for a penalty.
    """
    p, k = A.p, len(alphas)
    lams = np.ldexp(alphas, -2 * A.e)
    rest, power = np.frexp(units) if units is not None else (np.ones(p), np.full(p, A.e))
    solver = Dual(A, lams, spectrum, rest)
    raw = np.sqrt(A.raw_squares + A.weight * (A.mean[:p] ** 2 if not A.sparse else 0.0)) * rest
    problem = Problem(
        mean=A.mean[:p] * rest,
        # Rounded sums, and a division by units.
        drift=(len(A.root) + 8) * UNIT * (raw / sqrt(A.weight)) * A.intercept,
        lengths=np.append(raw * (1 + 64 * len(A.root) * UNIT), sqrt(A.weight)),
        lengths_y=lengths(A.B.T) + sqrt(A.weight) * np.abs(A.mean[p:]),
        weight=A.weight,
        rows=len(A.root),
        D=np.multiply.outer(rest**2, lams),
        floor=np.zeros((p + 1, k)),
        intercept=A.intercept,
    )
    theta = np.zeros((p + 1, k))
    theta[:p] = A.transposed(solver.side(A.B, slice(None))) / rest[:, None]
    theta[p] = A.mean[p:] - problem.mean @ theta[:p]

    def good(s: Solution) -> NDArray[np.bool_]:
        top = np.abs(s.theta[:p]).max(axis=0, initial=0.0)
        return np.asarray(s.bound[:p].max(axis=0) <= UNIT / 64 * top)

    gradients = partial(rows.gradient, np.ldexp(1.0, -np.append(power, A.e_y)))
    s = refine(problem, solver, gradients, Solution.start(theta), good)
    e = np.vstack([A.e_y - power[:, None], A.e_y])
    theta, low = np.ldexp(s.theta, e), np.ldexp(s.low, e)
    bounds = s.bound[:p].max(axis=0) + 4 * UNIT**2 * lengths(s.theta[:p].T) + p * UNDERFLOW
    # Lengths of p numbers, each of which may have underflowed here or in the units of X.
    bounds = digits.in_users_units(bounds, A.e_y - power.min()) + p * UNDERFLOW
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=digits.stated_together(
            theta[:p].T,
            digits.outward(digits.SLACK * (bounds + lengths(low[:p].T))),
            {"condition": solver.condition},
        ),
        rank=len(A.root) - A.intercept if spectrum is None else int(np.count_nonzero(spectrum.s)),
        condition=solver.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp(s.squares, 2 * A.e_y),
    )
