"""Ridge at given penalties: one for all targets or one for each, tall rows or wide.

    tall:  (S + D_t)^-1 g,      S = V diag(s) V'
    wide:  (A'A + lam)^-1 g = (g - A'(A A' + lam)^-1 A g) / lam

These are two more solvers for `procedures.refinement`: eigenvectors serve targets of many
penalties, and one Cholesky factor, or the eigenvectors, of the n x n side serve rows with more
columns than p x p matrices are made for.

Called by `Ridge`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import SLACK, gamma, in_users_units, lengths_of, outward
from adaline.certificates.statements import stated, stated_together
from adaline.linalg import UNDERFLOW, UNIT, cholesky, condition, eigen, solve_cholesky
from adaline.procedures.krylov import CentredRows
from adaline.procedures.least_squares import (
    PROVABLE,
    Factor,
    deliver,
    from_moments,
    least_squares,
    unit_columns,
)
from adaline.procedures.refinement import Problem, Solution, Solver, goal, refine
from adaline.procedures.spectrum import Spectrum
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows

TOGETHER = 64  # targets whose last digits are worth a pass over the rows; moments prove about nine
RANGE = 1e100  # penalties from 1/RANGE to RANGE of the columns' squares keep products in range
# The penalty on w^2 of an alpha: a number, or one for each column. Of alphas (k, 1): rows of them.
Penalty = Callable[[Any], Any]


class Eigen(Solver):
    """S + D_t of all targets: size S size = U diag(s) U', size^2 D_t = lam_t."""

    def __init__(self, u: Moments, D: Array, lams: Array, size: Array, least: Array):
        self.S, self.D, self.rounding = u.scatter[: u.p, : u.p], D, u.rounding[: u.p]
        s, U = eigen(self.S * np.outer(size, size))
        s = np.maximum(s, 0.0)
        self.U, self.inverse = size[:, None] * U, 1.0 / (s[:, None] + lams)
        self.V, self.least = np.ones(u.p), least
        self.condition = sqrt((float(s.max()) + lams.min()) / (float(s.min()) + lams.min()))

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        D = self.D[:, on]
        d = self.U @ (self.inverse[:, on] * (self.U.T @ g))
        left, length = lengths_of(g - self.S @ d - D * d), lengths_of(d)
        off = lengths_of(g) + float(np.linalg.norm(self.S)) * length + lengths_of(D * d)
        own = gamma(len(d) + 3) * off + float(self.rounding @ self.rounding) * length
        return d, left + own, np.zeros_like(d)


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
        self.own = gamma(4 * (A.p + len(A.root))) * (size + lams)

    def side(self, h: Array, on: Any) -> Array:
        """(A A' + lam_t)^-1 h."""
        if self.spectrum is None:
            return solve_cholesky(self.R, h)
        U, s = self.spectrum.U, self.spectrum.s
        return np.asarray(U @ ((U.T @ h) / (s[:, None] + self.least[on])))

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        A, lam, g = self.A, self.least[on], g / self.rest
        d = (g - A.transposed(self.side(A.times(g), on))) / lam
        left, length = lengths_of(g - A.scatter(d) - lam * d), lengths_of(d)
        return d / self.rest, left + self.own[on] * length, np.broadcast_to(UNIT * length, d.shape)


def ridge_by_target(
    m: Moments, rows: Rows | None, alphas: Array, penalty: Penalty, intercept: bool
) -> ClosedFit:
    """Least squares with a penalty for each target; those of one penalty are solved together.

    Of different penalties, targets are solved together by eigenvectors where moments prove digits,
    and otherwise alone.
    """
    if np.all(alphas == alphas[0]):
        accuracy = "full" if m.targets <= TOGETHER or alphas[0] == 0 else "moments"
        ridge = penalty(float(alphas[0]))
        return least_squares(m, rows, intercept=intercept, ridge=ridge, accuracy=accuracy)
    parts = by_eigenvectors(m, rows, alphas, penalty, intercept)
    done = parts[0][1] if parts else np.empty(0, dtype=np.intp)
    for a in np.unique(alphas):
        which = np.setdiff1d(np.flatnonzero(alphas == a), done)
        if len(which):
            some = None if rows is None else rows.targets(which)
            one = of_targets(m, which)
            ridge = penalty(float(a))
            parts.append((least_squares(one, some, intercept=intercept, ridge=ridge), which))
    return joined(parts)


def of_targets(m: Moments, which: NDArray[np.intp]) -> Moments:
    """Moments of x and of some of the targets."""
    pick = np.append(np.arange(m.p), m.p + which)
    vectors = {v: getattr(m, v)[pick] for v in ("mean", "exponent", "rounding", "mean_rounding")}
    return replace(m, scatter=m.scatter[np.ix_(pick, pick)], targets=len(which), **vectors)


def by_eigenvectors(
    m: Moments, rows: Rows | None, alphas: Array, penalty: Penalty, intercept: bool
) -> list[tuple[ClosedFit, NDArray[np.intp]]]:
    """The fit of the penalised targets for which moments prove digits, if there are any."""
    which, p = np.flatnonzero(alphas > 0), m.p
    if not len(which):
        return []
    low = float(alphas[which].min())
    u, least = unit_columns(of_targets(m, which), intercept, penalty(low))
    if not (least.max() < RANGE * least.min() and least.min() > 1 / RANGE):
        return []
    D = np.broadcast_to(penalty(alphas[which, None]), (len(which), p)).T
    D = np.ldexp(D, -2 * u.exponent[:p, None])
    factor, bound = Factor.of(u, least), D.min(axis=0)
    if factor is not None:
        bound = np.maximum(bound, factor.least / float(np.sum(factor.V**2)))
    trace = float(np.trace(u.scatter[:p, :p]))
    on = np.flatnonzero(gamma(p + 3) * (trace + D.max(axis=0)) < PROVABLE * bound)
    if not len(on) or not D.max() < RANGE:
        return []
    u, D = of_targets(u, on), np.ascontiguousarray(D[:, on])
    lams, size = alphas[which[on]] / low * least.min(), np.sqrt(least.min() / least)
    solver, problem = Eigen(u, D, lams, size, bound[on]), Problem.of(u, D, intercept)
    s = from_moments(u, problem, solver)
    if rows is not None and len(alphas) <= TOGETHER:
        some, scale = rows.targets(which[on]), np.ldexp(1.0, -u.exponent)
        s = refine(problem, solver, partial(some.gradient, scale), s, goal(problem, "full"))
    return [(deliver(u, problem, solver, s), which[on])]


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


def wide_ridge_by_target(
    f: Spectrum | CentredRows, rows: Rows, alphas: Array, units: Array | None
) -> ClosedFit:
    """`wide_ridge` of targets with a penalty, and the least norm of those without."""
    A, spectrum = (f.A, f) if isinstance(f, Spectrum) else (f, None)
    assert A is not None
    if np.all(alphas > 0):
        return wide_ridge(A, rows, alphas, spectrum, units)
    free, positive = np.flatnonzero(alphas == 0), np.flatnonzero(alphas > 0)
    parts = [(least_squares(None, rows.targets(free), intercept=A.intercept), free)]
    if not len(positive):
        return parts[0][0]
    some = A.targets(positive), rows.targets(positive), alphas[positive]
    return joined([*parts, (wide_ridge(*some, spectrum, units), positive)])


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
        lengths_y=lengths_of(A.B) + sqrt(A.weight) * np.abs(A.mean[p:]),
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
    bounds = s.bound[:p].max(axis=0) + 4 * UNIT**2 * lengths_of(s.theta[:p]) + p * UNDERFLOW
    # Lengths of p numbers, each of which may have underflowed here or in the units of X.
    bounds = in_users_units(bounds, A.e_y - power.min()) + p * UNDERFLOW
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped="solved through the n x n side, then corrected in double-double.",
        certificate=stated_together(
            theta[:p].T,
            outward(SLACK * (bounds + lengths_of(low[:p]))),
            {"condition": solver.condition},
        ),
        rank=len(A.root) - A.intercept if spectrum is None else int(np.count_nonzero(spectrum.s)),
        condition=solver.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp(s.squares, 2 * A.e_y),
    )
