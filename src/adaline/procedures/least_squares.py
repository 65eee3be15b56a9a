"""Least squares, with or without penalties, to the last digit that float64 can hold.

    (S + D) w = c,    S = sum (x - m)(x - m)',    c = sum (x - m)(y - m_y),    b = m_y - m'w

A solver of these equations may be rough, because `procedures.refinement` corrects its solution by
the rows: here the Cholesky factor of the moments and, where squaring costs too many digits, the
triangle of the rows. Without the rows, the gradient is that of the moments.

Called by the estimators, by `procedures.ridge` and by `data.fitting` for streams.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import (
    SLACK,
    bound_of_bias,
    cholesky_defect,
    gamma,
    in_users_units,
    lengths_of,
    noise_of_sums,
    outward,
    triangle_defect,
)
from adaline.certificates.statements import delivered as rounded
from adaline.certificates.statements import stated
from adaline.errors import plural
from adaline.linalg import (
    UNIT,
    cholesky,
    condition,
    inverse_triangle,
    times_power,
    triangle_of,
)
from adaline.procedures.krylov import (
    GRAM_UP_TO,
    CentredRows,
    is_large_and_sparse,
    iterative_least_squares,
)
from adaline.procedures.minimum_norm import (
    minimum_norm,
    minimum_norm_of_moments,
    rank_of,
    wide_minimum_norm,
)
from adaline.procedures.refinement import Problem, Solution, Solver, refine
from adaline.procedures.standard_errors import covariance_root
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows, block_rows
from adaline.sums.threads import between_passes
from adaline.sums.triangle import Triangle

PROVABLE = 0.1  # an alpha below this gains a digit a correction; above, squares cost too much
ENOUGH = 2.0**-58  # relative error before the last rounding
SIDES = 1e-7  # relative error that is enough to decide on classes
SMALL_PART = 2.0**-10  # of the largest weight: smaller ones decide little
SURE = 1e-9  # relative error of the squared residuals: standard errors depend on it
HEAVY = 2.0**400  # total weights and penalties beyond this leave float64's range in products
NEAR = 100  # powers of two
NEGLIGIBLE = 2.0**-500  # a variance below this is none: columns are in units of about one
FROM_MOMENTS = "solved in closed form from moments."


@dataclass(frozen=True, eq=False)
class Factor:
    """V = R^-1 of a triangle R with R'R = S + D nearly: |V'(S + D)V - I| <= alpha."""

    V: Array
    alpha: float
    condition: float
    rough: float  # relative error of V V' as the inverse of S + D

    @classmethod
    def of(cls, u: Moments, D: Array) -> Factor | None:
        """By Cholesky of the moments in unit columns; None where S + D is not positive definite."""
        if not (D < HEAVY).all():
            return None
        G = u.scatter[: u.p, : u.p].copy()
        G.flat[:: u.p + 1] += D
        R = cholesky(G.T)  # which is G in the order of LAPACK
        V = None if R is None else inverse_triangle(R)
        if R is None or V is None:
            return None
        kappa = condition(V)
        return cls(V, cholesky_defect(G, R, V, u.rounding[: u.p]), kappa, UNIT * kappa * kappa)

    @property
    def least(self) -> float:
        return max(1.0 - self.alpha, 0.0)

    @cached_property
    def sizes(self) -> Array:
        """|V|."""
        return np.abs(self.V)

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        z, own = self.V.T @ g, gamma(len(g) + 2)
        left = self.alpha * lengths_of(z) + own * lengths_of(self.sizes.T @ np.abs(g))
        return self.V @ z, left, own * (self.sizes @ np.abs(z))

    def noise(self, e: Array) -> Array:
        return lengths_of(self.sizes.T @ e)

    def reach(self) -> Array:
        return lengths_of(self.V.T)

    def along(self, a: Array) -> float:
        rounded = gamma(len(a) + 1) * np.linalg.norm(self.sizes.T @ np.abs(a))
        return float(np.linalg.norm(self.V.T @ a) + rounded)


def unit_columns(m: Moments, intercept: bool, ridge: float | Array = 0.0) -> tuple[Moments, Array]:
    """Moments in units where S + D has a diagonal of about one, and D in these; about zero without
    a bias.

    A penalty that outweighs its column sets the unit: no entry of S + D then outweighs another.
    """
    about = m if intercept else m.about_zero()
    squares, p = np.diagonal(about.scatter), m.p
    # A column that is constant up to rounding has no length to be measured by.
    squares = np.where(squares > about.rounding**2, np.maximum(squares, 0.0), 0.0)
    exponent = m.exponent + np.frexp(np.sqrt(squares))[1]
    if np.any(ridge):
        # Not so far above the column's own unit that its squares would underflow.
        penalised = np.frexp(np.sqrt(np.broadcast_to(ridge, (p,))))[1]
        exponent[:p] = np.clip(penalised, exponent[:p], exponent[:p] + NEAR)
    u = m.in_units(exponent)
    with np.errstate(over="ignore"):  # `Factor.of` refuses what is too large
        D = np.ldexp(np.broadcast_to(np.asarray(ridge, dtype=np.float64), (p,)), -2 * exponent[:p])
    return u if intercept else u.about_zero(), D


def drowned(m: Moments, intercept: bool) -> NDArray[np.intp]:
    """Columns for which rounding hides whether they vary; constants are exact and not listed.

    This happens after forgetting rows of far larger numbers.
    """
    about = m if intercept else m.about_zero()
    squares, doubt = np.diagonal(about.scatter)[: m.p], about.rounding[: m.p] ** 2
    return np.flatnonzero(~(squares > doubt) & ~(doubt <= NEGLIGIBLE * m.weight))


def sizes_of(u: Moments) -> Array:
    """Bounds on the lengths of columns about the mean: |S_ij| is at most the product of two."""
    return np.asarray(np.sqrt(np.maximum(np.diagonal(u.scatter), 0.0)) + 2 * u.rounding)


def from_moments(u: Moments, problem: Problem, solver: Solver) -> Solution:
    """The solution that moments give, corrected once by them, and what they prove of it."""
    p, k, D = u.p, u.targets, problem.D
    S, c, everything = u.scatter[:p, :p], u.scatter[:p, p:], slice(None)
    w = solver.step(c, everything)[0]
    w = w + solver.step(c - S @ w - D * w, everything)[0]
    g = c - S @ w - D * w
    sizes, rounding = sizes_of(u), u.rounding
    noise = noise_of_sums(sizes[:p], rounding[:p], sizes[p:], rounding[p:], D, w)
    theta, bound = np.zeros((p + 1, k)), np.full((p + 1, k), np.inf)
    theta[:p] = w
    with np.errstate(divide="ignore", invalid="ignore"):
        near = SLACK * solver.noise(np.abs(g) + noise) / solver.least
    bound[:p] = np.where(np.isfinite(near), np.multiply.outer(solver.reach(), near), np.inf)
    if problem.intercept:
        theta[p] = u.mean[p:] - u.mean[:p] @ w
        means = u.mean[:p], u.mean_rounding[:p], u.mean[p:], u.mean_rounding[p:]
        bound[p] = bound_of_bias(*means, w, bound[:p])
    else:
        bound[p] = 0.0
    squares = np.diagonal(u.scatter)[p:] - np.einsum("jt,jt->t", w, c + g + D * w)
    return Solution(theta, np.zeros_like(theta), bound, np.maximum(squares, 0.0))


def least_squares(
    m: Moments | None,
    rows: Rows | None = None,
    *,
    intercept: bool = True,
    ridge: float | Array = 0.0,
    accuracy: str = "full",
) -> ClosedFit:
    """min |y - Xw - b|^2 + ridge |w|^2 from moments; to the last digit where rows are given.

    Parameters
    ----------
    m : Moments or None
        Of all rows and targets; None for rows with so many columns that none were made.
    rows : Rows, optional
        The rows themselves, where they are at hand.
    intercept : bool
        Whether there is a bias b.
    ridge : float or ndarray of shape (p,)
        The penalty lambda, or that of each weight: sum ridge_j w_j^2.
    accuracy : {"full", "sides", "moments"}
        Correct the weights by the rows until float64, or float32 where rows are float32, can hold
        no better; until seven digits are proven; or only where moments are too ill-conditioned.
    """
    if m is None:
        if rows is None:
            raise ValueError("least squares needs moments or rows.")
        if is_large_and_sparse(rows.X, GRAM_UP_TO if accuracy == "full" else 0):
            return iterative_least_squares(CentredRows.of(rows, intercept))
        return wide_minimum_norm(rows, intercept)
    rows = None if not 1 / HEAVY < m.weight < HEAVY else rows
    enough = m.rows >= m.p + intercept or bool(np.all(ridge > 0))
    with between_passes(0 if rows is None else m.rows, m.p + 1):
        u, D = unit_columns(m, intercept, ridge)
        problem, solver = Problem.of(u, D, intercept), Factor.of(u, D) if enough else None
        plain = None if solver is None else from_moments(u, problem, solver)
    if rows is None:
        if solver is None or plain is None:
            fit = minimum_norm_of_moments(u, intercept)
        else:
            fit = delivered(u, problem, solver, plain, FROM_MOMENTS)
        return weakened(fit, drowned(m, intercept))
    better: Solver | None = solver
    if solver is None or not solver.alpha < PROVABLE or len(rows.X_low):
        better = triangle_solver(u, D, rows, intercept) if enough else None
        plain, accuracy = zero_solution(u, intercept), "full"
    if better is None or plain is None:
        return minimum_norm(u, rows, intercept)
    if rows.X.dtype == np.float32 and accuracy == "full" and are_sure(u, plain):
        # Moments in float64 nearly always prove the one float32 that every weight rounds to.
        fit = delivered(u, problem, better, plain, FROM_MOMENTS, rows)
        if rounded(fit, np.float32).certificate.kind == "exact":
            return fit
    good = goal(problem, accuracy)
    fit = refine_by_rows(u, problem, better, rows, plain, good)
    if fit.certificate.kind == "unproven" and solver is not None:
        # One row that outweighs all others by far hides their residuals in the rounding of its own,
        # while moments about that row keep them.
        other = delivered(u, problem, solver, from_moments(u, problem, solver), FROM_MOMENTS)
        return other if other.certificate.kind != "unproven" else fit
    return fit


def refine_by_rows(
    u: Moments,
    problem: Problem,
    solver: Solver,
    rows: Rows,
    s: Solution,
    good: Callable[[Solution], NDArray[np.bool_]],
) -> ClosedFit:
    """Corrections by rows in memory."""
    scale = np.ldexp(1.0, -u.exponent)

    def gradients(on: NDArray[np.int64], theta: Array, low: Array) -> Gradient:
        return rows.gradient(scale, on, theta, low)

    s = refine(problem, solver, gradients, s, good)
    said = f"solved in closed form, then corrected {plural(s.passes, 'time')} in double-double."
    return delivered(u, problem, solver, s, said if s.passes else FROM_MOMENTS, rows)


def zero_solution(u: Moments, intercept: bool) -> Solution:
    """Where corrections start if moments are too ill-conditioned to start from."""
    p, k = u.p, u.targets
    theta = np.zeros((p + 1, k))
    theta[p] = u.mean[p:] if intercept else 0.0
    return Solution(theta, np.zeros_like(theta), np.full_like(theta, np.inf), np.zeros(k))


def are_sure(u: Moments, s: Solution) -> bool:
    """Whether moments leave the squared residuals their digits."""
    p, sizes, w = u.p, sizes_of(u), np.abs(s.theta[: u.p])
    doubt = (u.rounding[p:] + u.rounding[:p] @ w) ** 2
    doubt += gamma(2 * p + 8) * (sizes[p:] + sizes[:p] @ w) ** 2
    return bool(np.all(doubt <= SURE * s.squares))


def goal(problem: Problem, accuracy: str) -> Callable[[Solution], NDArray[np.bool_]]:
    """When the bounds of a target are good enough, (k,)."""

    def good(s: Solution) -> NDArray[np.bool_]:
        if accuracy == "moments":
            return np.ones(len(s.squares), dtype=bool)
        size, enough = np.maximum(np.abs(s.theta), problem.floor), ENOUGH
        if accuracy == "sides":
            top = np.abs(s.theta[problem.used]).max(axis=0, initial=0.0)
            size, enough = np.maximum(size, SMALL_PART * top), SIDES
        fine = s.bound <= enough * size
        return np.asarray(fine[problem.used].all(axis=0))

    return good


def triangle_solver(u: Moments, D: Array, rows: Rows, intercept: bool) -> Factor | None:
    """From a QR factorisation of the rows; None where columns are dependent."""
    t = Triangle.of(rows.X, None, rows.omega if len(rows.omega) else None)
    low = bool(len(rows.X_low))
    return invert_triangle(u, D, t, lambda V: products(rows, u, V), intercept, low)


def products(rows: Rows, u: Moments, V: Array) -> tuple[Array, int]:
    """(A V)'A V of the rows about the means, and how many numbers were added in a row, at most."""
    size, K = block_rows(u.p), np.zeros((u.p, u.p))
    scale, mean = np.ldexp(1.0, -u.exponent[: u.p]), u.mean[: u.p]
    for _, z, _ in rows.blocks(scale, mean, size):
        B = z[:, :-1] @ V
        K += B.T @ B
    return K, min(size, rows.n) + rows.n // size + 16


def invert_triangle(
    u: Moments,
    D: Array,
    t: Triangle,
    products: Callable[[Array], tuple[Array, int]],
    intercept: bool,
    low: bool = False,
) -> Factor | None:
    """V = R^-1 of the triangle of X, and how good it is by the products (A V)'A V of the rows.

    low: samples are off by what rounding left of them, at most u of each.
    """
    p = u.p
    t = t.in_units(u.exponent[:p])
    R = t.centred() if intercept else t.about_zero()
    if np.any(D):
        R = triangle_of(np.vstack([R, np.diag(np.sqrt(D))]))
    V = inverse_triangle(R) if np.isfinite(R).all() and rank_of(R) == p else None
    if V is None:
        return None
    drift = sqrt(u.weight) * u.mean_rounding[:p] * intercept
    alpha = triangle_defect(*products(V), V, sizes_of(u)[:p], D, drift)
    if low:
        moved = UNIT * float(Problem.of(u, D, intercept).lengths[:p] @ lengths_of(V.T))
        alpha = SLACK * (alpha + 2 * sqrt(p * (1 + alpha)) * moved + moved * moved)
    return Factor(V, alpha, condition(R), UNIT * condition(R))


def delivered(
    u: Moments,
    problem: Problem,
    solver: Solver,
    s: Solution,
    said: str,
    rows: Rows | None = None,
) -> ClosedFit:
    """The solution in the user's units, with what is proven of it."""
    p, e = u.p, u.exponent
    exponent = np.vstack([e[p:] - e[:p, None], e[p:]])  # the bias has the units of y
    with np.errstate(over="ignore"):  # squares may be infinite; of weights the certificate tells
        theta, low, floor = (times_power(a, exponent) for a in (s.theta, s.low, problem.floor))
        squares = np.ldexp(s.squares, 2 * e[p:])
    bound, used = outward(in_users_units(s.bound, exponent) + np.abs(low)), problem.used
    missing = "the intercept" if rows is None and not s.passes and problem.intercept else ""
    used = slice(p) if missing else used
    evidence = {"condition": solver.condition}
    root = None
    if isinstance(solver, Factor) and not np.any(problem.D):
        root = covariance_root(solver.V, solver.rough, u, rows, problem.intercept)
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped=said,
        certificate=stated(theta[used], bound[used], floor[used], evidence, missing),
        rank=p,
        condition=solver.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=squares,
        root=root,
    )


def weakened(fit: ClosedFit, lost: NDArray[np.intp]) -> ClosedFit:
    """The fit, claiming nothing where rounding has left columns without digits."""
    if not len(lost):
        return fit
    said = (
        f"rounding has left no digit of the variance of {len(lost)} of {fit.W.shape[1]} columns "
        "certain, so no digit of the weights is: fit anew from the rows themselves."
    )
    evidence = {**fit.certificate.evidence, "digits": 0.0, "drowned": lost}
    return replace(fit, certificate=Certificate("unproven", said, evidence), dependent=())
