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
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import (
    SLACK,
    cholesky_defect,
    gamma,
    in_users_units,
    lengths_of,
    noise_of_sums,
    outward,
    triangle_defect,
)
from adaline.certificates.statements import stated
from adaline.errors import plural
from adaline.linalg import UNIT, cholesky, condition, inverse_triangle, triangle_of
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
from adaline.procedures.refinement import (
    MOST_CORRECTIONS,
    Problem,
    Solution,
    Solver,
    goal,
    refine,
)
from adaline.procedures.standard_errors import covariance_root
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows
from adaline.sums.threads import between_passes
from adaline.sums.triangle import Triangle

PROVABLE = 0.1  # an alpha below this gains a digit a correction; above, squares cost too much
HEAVY = 2.0**400  # total weights and penalties beyond this leave float64's range in products
NEAR = 100  # powers of two between the unit of a penalty and that of its column, at most
NEGLIGIBLE = 2.0**-500  # a variance below this is none: columns are in units of about one
FROM_MOMENTS = "solved in closed form from moments."


@dataclass(frozen=True, eq=False)
class Factor(Solver):
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

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        z, own, sizes = self.V.T @ g, gamma(len(g) + 2), np.abs(self.V)
        left = self.alpha * lengths_of(z) + own * lengths_of(sizes.T @ np.abs(g))
        return self.V @ z, left, own * (sizes @ np.abs(z))

    def along(self, a: Array) -> float:
        rounded = gamma(len(a) + 1) * np.linalg.norm(np.abs(self.V).T @ np.abs(a))
        return super().along(a) + float(rounded)


class RowSums(NamedTuple):
    """Sums over rows in memory, or over those of a file.

    gradient(scale, on, theta, low) and products(scale, mean, V) are those of `Rows`; triangle() is
    that of x. rows: the rows themselves, where they are in memory.
    """

    gradient: Callable[[Array, NDArray[np.int64], Array, Array], Gradient]
    triangle: Callable[[], Triangle]
    products: Callable[[Array, Array, Array], tuple[Array, int]]
    rows: Rows | None = None

    @classmethod
    def over(cls, rows: Rows) -> RowSums:
        """Rows in memory."""
        triangle = partial(Triangle.of, rows.X, None, rows.omega if len(rows.omega) else None)
        return cls(rows.gradient, triangle, rows.products, rows)

    @property
    def low(self) -> bool:
        """Whether samples are known to more than float64: x is off by at most u of each."""
        return self.rows is not None and len(self.rows.X_low) > 0


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
    enough = m.rows >= m.p + intercept or bool(np.all(ridge > 0))
    u, D = unit_columns(m, intercept, ridge)
    if rows is None or not 1 / HEAVY < m.weight < HEAVY:
        fit = solve_moments(u, D, intercept) if enough else None
        fit = minimum_norm_of_moments(u, intercept) if fit is None else fit
        return weakened(fit, drowned(m, intercept))
    fit = by_rows(u, D, intercept, RowSums.over(rows), accuracy) if enough else None
    if fit is None:
        return minimum_norm(u, rows, intercept)
    if fit.certificate.kind == "unproven":
        # One row that outweighs all others by far hides their residuals in the rounding of its own,
        # while moments about that row keep them.
        other = solve_moments(u, D, intercept)
        return fit if other is None or other.certificate.kind == "unproven" else other
    return fit


def solve_moments(u: Moments, D: Array, intercept: bool) -> ClosedFit | None:
    """The solution that moments give; None where columns are dependent."""
    problem, solver = Problem.of(u, D, intercept), Factor.of(u, D)
    if solver is None:
        return None
    return deliver(u, problem, solver, from_moments(u, problem, solver))


def by_rows(
    u: Moments,
    D: Array,
    intercept: bool,
    sums: RowSums,
    accuracy: str = "full",
    most: int = MOST_CORRECTIONS,
) -> ClosedFit | None:
    """The solution corrected by passes over the rows; None where columns are dependent."""
    solver: Factor | None
    with between_passes(u.rows, u.p + 1):
        problem, solver = Problem.of(u, D, intercept), Factor.of(u, D)
        if solver is not None and solver.alpha < PROVABLE and not sums.low:
            s = from_moments(u, problem, solver)
        else:  # moments are too ill-conditioned to start from
            accuracy, solver = "full", None
            s = Solution.start(np.zeros((u.p + 1, u.targets)))
            s.theta[u.p] = u.mean[u.p :] if intercept else 0.0
    solver = invert_triangle(u, D, sums, intercept) if solver is None else solver
    if solver is None:
        return None
    good = goal(problem, accuracy, np.float64 if sums.rows is None else sums.rows.X.dtype)
    s = refine(problem, solver, partial(sums.gradient, np.ldexp(1.0, -u.exponent)), s, good, most)
    return deliver(u, problem, solver, s, sums.rows)


def from_moments(u: Moments, problem: Problem, solver: Solver) -> Solution:
    """The solution that moments give, corrected once by them, and what they prove of it."""
    p, k, D = u.p, u.targets, problem.D
    S, c, everything = u.scatter[:p, :p], u.scatter[:p, p:], slice(None)
    w = solver.step(c, everything)[0]
    w = w + solver.step(c - S @ w - D * w, everything)[0]
    g = c - S @ w - D * w
    # |S_ij| is at most the product of two of these lengths.
    sizes, rounding = np.sqrt(np.maximum(np.diagonal(u.scatter), 0.0)) + 2 * u.rounding, u.rounding
    noise = noise_of_sums(sizes[:p], rounding[:p], sizes[p:], rounding[p:], D, w)
    theta, bound = np.zeros((p + 1, k)), np.full((p + 1, k), np.inf)
    theta[:p] = w
    with np.errstate(divide="ignore", invalid="ignore"):
        near = SLACK * solver.noise(np.abs(g) + noise) / solver.least
    bound[:p] = np.where(np.isfinite(near), np.multiply.outer(solver.reach(), near), np.inf)
    bound[p] = np.inf if problem.intercept else 0.0
    theta[p] = (u.mean[p:] - u.mean[:p] @ w) * problem.intercept
    squares = np.diagonal(u.scatter)[p:] - np.einsum("jt,jt->t", w, c + g + D * w)
    return Solution(theta, np.zeros_like(theta), bound, np.maximum(squares, 0.0))


def invert_triangle(u: Moments, D: Array, sums: RowSums, intercept: bool) -> Factor | None:
    """V = R^-1 of a QR factorisation of the rows; None where columns are dependent.

    How good it is, the products (A V)'A V of another pass say.
    """
    p = u.p
    t = sums.triangle().in_units(u.exponent[:p])
    R = t.centred() if intercept else t.about_zero()
    if np.any(D):
        R = triangle_of(np.vstack([R, np.diag(np.sqrt(D))]))
    V = inverse_triangle(R) if np.isfinite(R).all() and rank_of(R) == p else None
    if V is None:
        return None
    K, added = sums.products(np.ldexp(1.0, -u.exponent[:p]), u.mean[:p], V)
    drift = sqrt(u.weight) * u.mean_rounding[:p] * intercept
    sizes = np.sqrt(np.maximum(np.diagonal(u.scatter)[:p], 0.0)) + 2 * u.rounding[:p]
    alpha = triangle_defect(K, added, V, sizes, D, drift)
    if sums.low:
        moved = UNIT * float(Problem.of(u, D, intercept).lengths[:p] @ lengths_of(V.T))
        alpha = SLACK * (alpha + 2 * sqrt(p * (1 + alpha)) * moved + moved * moved)
    return Factor(V, alpha, condition(R), UNIT * condition(R))


def deliver(
    u: Moments, problem: Problem, solver: Solver, s: Solution, rows: Rows | None = None
) -> ClosedFit:
    """The solution in the user's units, with what is proven of it."""
    p, e, said = u.p, u.exponent, FROM_MOMENTS
    if s.passes:
        said = f"solved in closed form, then corrected {plural(s.passes, 'time')} in double-double."
    exponent = np.vstack([e[p:] - e[:p, None], e[p:]])  # the bias has the units of y
    with np.errstate(over="ignore"):  # squares may be infinite; of weights the certificate tells
        theta, low, floor = (np.ldexp(a, exponent) for a in (s.theta, s.low, problem.floor))
        squares = np.ldexp(s.squares, 2 * e[p:])
    bound, used = outward(in_users_units(s.bound, exponent) + np.abs(low)), problem.used
    missing = "the intercept" if problem.intercept and not s.passes else ""
    used = slice(p) if missing else used
    root = None
    if isinstance(solver, Factor) and not np.any(problem.D):
        root = covariance_root(solver.V, solver.rough, u, rows, problem.intercept)
    evidence = {"condition": solver.condition}
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


def drowned(m: Moments, intercept: bool) -> NDArray[np.intp]:
    """Columns for which rounding hides whether they vary; constants are exact and not listed.

    This happens after forgetting rows of far larger numbers.
    """
    about = m if intercept else m.about_zero()
    squares, doubt = np.diagonal(about.scatter)[: m.p], about.rounding[: m.p] ** 2
    return np.flatnonzero(~(squares > doubt) & ~(doubt <= NEGLIGIBLE * m.weight))


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
