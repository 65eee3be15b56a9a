"""Ridge at given penalties: one for all targets or one for each, tall rows or wide.

    tall:  (S + D_t)^-1 g,      S = V diag(s) V'
    wide:  (A'A + lam)^-1 g = (g - A'(A A' + lam)^-1 A g) / lam

These are two more solvers for `procedures.least_squares.refine`: eigenvectors serve targets of many
penalties, and one Cholesky factor, or the eigenvectors, of the n x n side serve rows with more
columns than p x p matrices are made for.

Called by `Ridge`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import SLACK, gamma, in_users_units, lengths_of, outward
from adaline.certificates.statements import stated, stated_together
from adaline.linalg import UNDERFLOW, UNIT, cholesky, condition, eigen, solve_cholesky
from adaline.procedures.krylov import CentredRows
from adaline.procedures.least_squares import (
    FROM_MOMENTS,
    PROVABLE,
    Factor,
    delivered,
    from_moments,
    goal,
    least_squares,
    refine_by_rows,
    unit_columns,
)
from adaline.procedures.refinement import Problem, Solution, refine
from adaline.procedures.spectrum import Spectrum
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows

TOGETHER = 64  # targets whose last digits are worth a pass over the rows; moments prove about nine
RANGE = 1e100  # penalties from 1/RANGE to RANGE of the columns' squares keep products in range
# The penalty on w^2 of an alpha: a number, or one for each column. Of alphas (k, 1): rows of them.
Penalty = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Eigen:
    """S + D_t of all targets: size S size = V diag(s) V', size^2 D_t = lam_t."""

    S: Array
    D: Array
    V: Array
    size: Array
    inverse: Array
    rounding: Array
    least: Array
    condition: float

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        size, D = self.size[:, None], self.D[:, on]
        d = size * (self.V @ (self.inverse[:, on] * (self.V.T @ (size * g))))
        left, length = lengths_of(g - self.S @ d - D * d), lengths_of(d)
        off = lengths_of(g) + float(np.linalg.norm(self.S)) * length + lengths_of(D * d)
        own = gamma(len(d) + 3) * off + float(self.rounding @ self.rounding) * length
        return d, left + own, np.zeros_like(d)

    def noise(self, e: Array) -> Array:
        return lengths_of(e)

    def reach(self) -> Array:
        return np.ones(len(self.S))

    def along(self, a: Array) -> float:
        return float(np.linalg.norm(a))


def ridge_by_target(
    m: Moments, rows: Rows | None, alphas: Array, penalty: Penalty, intercept: bool
) -> ClosedFit:
    """Least squares with a penalty for each target; those of one penalty are solved together."""
    if np.all(alphas == alphas[0]):
        accuracy = "full" if m.targets <= TOGETHER or alphas[0] == 0 else "moments"
        ridge = penalty(float(alphas[0]))
        return least_squares(m, rows, intercept=intercept, ridge=ridge, accuracy=accuracy)
    parts, alone = [], [np.flatnonzero(alphas == a) for a in np.unique(alphas)]
    positive = np.flatnonzero(alphas > 0)
    fit, proven = by_eigenvectors(m, rows, alphas, positive, penalty, intercept)
    if fit is not None:
        parts, alone = [(fit, proven)], [np.setdiff1d(which, proven) for which in alone]
    for which in alone:
        if len(which):
            some = None if rows is None else rows.targets(which)
            ridge = penalty(float(alphas[which[0]]))
            fit = least_squares(of_targets(m, which), some, intercept=intercept, ridge=ridge)
            parts.append((fit, which))
    return joined(parts)


def of_targets(m: Moments, which: NDArray[np.intp]) -> Moments:
    """Moments of x and of some of the targets."""
    pick = np.append(np.arange(m.p), m.p + which)
    vectors = {v: getattr(m, v)[pick] for v in ("mean", "exponent", "rounding", "mean_rounding")}
    return replace(m, scatter=m.scatter[np.ix_(pick, pick)], targets=len(which), **vectors)


def by_eigenvectors(
    m: Moments,
    rows: Rows | None,
    alphas: Array,
    which: NDArray[np.intp],
    penalty: Penalty,
    intercept: bool,
) -> tuple[ClosedFit | None, NDArray[np.intp]]:
    """Of the targets `which`, all with penalties, those for which eigenvectors prove digits."""
    nothing = None, which[:0]
    if not len(which):
        return nothing
    low, p = float(alphas[which].min()), m.p
    u, least = unit_columns(of_targets(m, which), intercept, penalty(low))
    if not (least.max() < RANGE * least.min() and least.min() > 1 / RANGE):
        return nothing
    shape = len(which), p
    D = np.broadcast_to(penalty(alphas[which, None]), shape).T
    D = np.ldexp(D, -2 * u.exponent[:p, None])
    S, factor = u.scatter[:p, :p], Factor.of(u, least)
    bound = D.min(axis=0)
    if factor is not None:
        bound = np.maximum(bound, factor.least / float(np.sum(factor.V**2)))
    on = np.flatnonzero(gamma(p + 3) * (np.trace(S) + D.max(axis=0)) < PROVABLE * bound)
    if not len(on) or not D.max() < RANGE:
        return nothing
    u, D = of_targets(u, on), np.ascontiguousarray(D[:, on])
    size = np.sqrt(least.min() / least)
    s, V = eigen(S * np.outer(size, size))
    s, lams = np.maximum(s, 0.0), alphas[which[on]] / low * least.min()
    kappa = sqrt((float(s.max()) + lams.min()) / (float(s.min()) + lams.min()))
    solver = Eigen(S, D, V, size, 1 / (s[:, None] + lams), u.rounding[:p], bound[on], kappa)
    problem = Problem.of(u, D, intercept)
    plain = from_moments(u, problem, solver)
    if rows is None or len(alphas) > TOGETHER:
        return delivered(u, problem, solver, plain, FROM_MOMENTS), which[on]
    some, good = rows.targets(which[on]), goal(problem, "full")
    return refine_by_rows(u, problem, solver, some, plain, good), which[on]


def joined(parts: list[tuple[ClosedFit, NDArray[np.intp]]]) -> ClosedFit:
    """One fit of the targets of all parts; the least certain target speaks for them."""
    fits = [fit for fit, _ in parts]
    order = np.argsort(np.concatenate([which for _, which in parts]))
    worst = min(fits, key=lambda fit: float(fit.certificate.evidence.get("digits", 0.0)))
    stacked: dict[str, Any] = {
        name: np.concatenate([getattr(fit, name) for fit in fits])[order]
        for name in ("W", "b", "W_low", "b_low", "squares")
    }
    certificate, kappa = worst.certificate, max(fit.condition for fit in fits)
    evidence = [fit.certificate.evidence for fit in fits]
    if all(np.ndim(e.get("error_bound", 0.0)) == 2 for e in evidence):
        few = min(len(e["error_bound"]) for e in evidence)
        bounds, floor = (
            np.hstack([e[key][:few] for e in evidence])[:, order]
            for key in ("error_bound", "floor")
        )
        weights = np.vstack([stacked["W"].T, stacked["b"]])[: len(bounds)]
        missing = max((e.get("without_bound", "") for e in evidence), key=len)
        certificate = stated(weights, bounds, floor, {"condition": kappa}, missing)
    said = f"of {len(order)} targets, the least certain: {certificate.statement}"
    return replace(
        worst,
        certificate=Certificate(certificate.kind, said, certificate.evidence),
        rank=min(fit.rank for fit in fits),
        condition=kappa,
        root=None,
        dependent=max((fit.dependent for fit in fits), key=len),
        **stacked,
    )


@dataclass(frozen=True, eq=False)
class Dual:
    """(A'A + lam_t)^-1 by the n x n side; V = diag(1/rest) where columns are measured in units.

    solve(h, on) is (A A' + lam_t)^-1 h.
    """

    A: CentredRows
    solve: Callable[[Array, Any], Array]
    rest: Array
    least: Array
    condition: float

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        A, lam, g = self.A, self.least[on], g / self.rest[:, None]
        d = (g - A.transposed(self.solve(A.times(g), on))) / lam
        left, length = lengths_of(g - A.scatter(d) - lam * d), lengths_of(d)
        size = float(A.raw_squares.sum()) + 4 * A.weight * float(A.mean[: A.p] @ A.mean[: A.p])
        own = gamma(4 * (A.p + len(A.root))) * (size + lam) * length
        return d / self.rest[:, None], left + own, np.broadcast_to(UNIT * length, d.shape)

    def noise(self, e: Array) -> Array:
        return lengths_of(e / self.rest[:, None])

    def reach(self) -> Array:
        return 1.0 / self.rest

    def along(self, a: Array) -> float:
        return float(np.linalg.norm(a / self.rest))


def wide_ridge_by_target(
    f: Spectrum | CentredRows, rows: Rows, alphas: Array, units: Array | None
) -> ClosedFit:
    """`wide_ridge` of targets with a penalty, and the least norm of those without."""
    A, known = (f.A, f) if isinstance(f, Spectrum) else (f, None)
    assert A is not None
    if np.all(alphas > 0):
        return wide_ridge(A, rows, alphas, known, units)
    free, positive = np.flatnonzero(alphas == 0), np.flatnonzero(alphas > 0)
    parts = [(least_squares(None, rows.targets(free), intercept=A.intercept), free)]
    if len(positive):
        some = A.targets(positive), rows.targets(positive), alphas[positive]
        parts.append((wide_ridge(*some, known, units), positive))
    return joined(parts) if len(positive) else parts[0][0]


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
    if spectrum is None:
        R = cholesky(A.gram() + lams[0] * np.eye(len(A.root)), overwrite=True)
        if R is None:
            raise ValueError("the penalty is too small beside the rows: alpha=0 is least squares.")
        kappa = condition(R)

        def solve(h: Array, on: Any) -> Array:
            return solve_cholesky(R, h)
    else:
        values, U = spectrum.s, spectrum.U
        kappa = sqrt((float(values.max(initial=0.0)) + lams.min()) / float(lams.min()))

        def solve(h: Array, on: Any) -> Array:
            return np.asarray(U @ ((U.T @ h) / (values[:, None] + lams[on])))

    solver = Dual(A, solve, rest, lams, kappa)
    raw = np.sqrt(A.raw_squares + A.weight * (A.mean[:p] ** 2 if not A.sparse else 0.0)) * rest
    problem = Problem(
        mean=A.mean[:p] * rest,
        # Rounded sums, and a division by units.
        drift=(len(A.root) + 8) * UNIT * (raw / sqrt(A.weight)) * A.intercept,
        lengths=np.append(raw * (1 + 64 * len(A.root) * UNIT), sqrt(A.weight)),
        lengths_y=lengths_of(A.B) + sqrt(A.weight) * np.abs(A.mean[p:]),
        weight=A.weight,
        rows=len(A.root),
        D=np.multiply.outer(rest**2, lams),
        floor=np.zeros((p + 1, k)),
        intercept=A.intercept,
    )
    theta = np.zeros((p + 1, k))
    theta[:p] = A.transposed(solve(A.B, slice(None))) / rest[:, None]
    theta[p] = A.mean[p:] - problem.mean @ theta[:p]
    s = Solution(theta, np.zeros_like(theta), np.full_like(theta, np.inf), np.zeros(k))

    def good(s: Solution) -> NDArray[np.bool_]:
        top = np.abs(s.theta[:p]).max(axis=0, initial=0.0)
        return np.asarray(s.bound[:p].max(axis=0) <= UNIT / 64 * top)

    def gradients(on: NDArray[np.int64], theta: Array, low: Array) -> Gradient:
        return rows.gradient(np.ldexp(1.0, -np.append(power, A.e_y)), on, theta, low)

    s = refine(problem, solver, gradients, s, good)
    e = np.vstack([A.e_y - power[:, None], A.e_y])
    theta, low = np.ldexp(s.theta, e), np.ldexp(s.low, e)
    bounds = s.bound[:p].max(axis=0) + 4 * UNIT**2 * lengths_of(s.theta[:p]) + p * UNDERFLOW
    # Lengths of p numbers, each of which may have underflowed here or in the units of X.
    bounds = in_users_units(bounds, A.e_y - power.min()) + p * UNDERFLOW
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=stated_together(
            theta[:p].T, outward(SLACK * (bounds + lengths_of(low[:p]))), {"condition": kappa}
        ),
        rank=len(A.root) - A.intercept if spectrum is None else int(np.count_nonzero(spectrum.s)),
        condition=kappa,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp(s.squares, 2 * A.e_y),
    )
