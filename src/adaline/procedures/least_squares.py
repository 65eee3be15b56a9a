"""Least squares, with or without penalties, to the last digit that float64 can hold.

    (S + D) w = c,    S = sum (x - m)(x - m)',    c = sum (x - m)(y - m_y),    b = m_y - m'w

A solver of these equations may be rough, because `procedures.refinement` corrects its solution by
the rows: here the Cholesky factor of the moments and, where squaring costs too many digits, the
triangle of the rows. Without the rows, the gradient is that of the moments.

Called by the estimators, by `procedures.ridge` and by `data.fitting` for streams.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline import linalg
from adaline.certificates import digits
from adaline.errors import plural
from adaline.kernels.double_double import values
from adaline.linalg import UNIT, condition
from adaline.procedures import krylov, refinement
from adaline.procedures import minimum_norm as shortest
from adaline.procedures.refinement import Problem, Solution, Solver
from adaline.results import Array, Certificate, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows
from adaline.sums.threads import between_passes
from adaline.sums.triangle import Triangle

PROVABLE = 0.1  # an alpha below this gains a digit a correction; above, squares cost too much
HEAVY = 2.0**400  # total weights and penalties beyond this leave float64's range in products
NEAR = 100  # powers of two between the unit of a penalty and that of its column, at most
NEGLIGIBLE = 2.0**-500  # a variance below this is none: columns are in units of about one
PRECISE = 1e-13  # relative error of a factor, up to which there is nothing to gain
WORK = 2**18  # n p^2, up to which products with twice the digits take about a millisecond


class Factor(Solver):
    """V = R^-1 of a triangle R with R'R = S + D nearly: |V'(S + D)V - I| <= alpha.

    rough is the relative error of V V' as the inverse of S + D.
    """

    top = 1.5  # |V'D V| is at most 1 + alpha < 2

    def __init__(self, V: Array, alpha: float, condition: float, rough: float):
        self.V, self.alpha, self.condition, self.rough = V, alpha, condition, rough
        self.least, self.size = np.maximum(1.0 - alpha, 0.0), float(np.linalg.norm(V))

    @classmethod
    def of(cls, u: Moments, D: Array) -> Factor | None:
        """By Cholesky of the moments in unit columns; None where S + D is not positive definite."""
        G = u.scatter[: u.p, : u.p].T.copy(order="F")
        squares = G.diagonal() + D
        G.flat[:: u.p + 1] = squares
        R = linalg.cholesky(G, overwrite=True) if squares.max(initial=0.0) < HEAVY else None
        V = None if R is None else linalg.inverse_triangle(R)
        if R is None or V is None:
            return None
        kappa, rounding = condition(V), u.rounding[: u.p]
        alpha = digits.cholesky_defect(squares, V, rounding)
        return cls(V, alpha, kappa, UNIT * kappa * kappa)

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        z, own = self.V.T @ g, digits.gamma(len(g) + 4)
        size = digits.norms(z)
        return self.V @ z, self.alpha * size + own * self.size * digits.norms(g), own * size


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
    about, p = m if intercept else m.about_zero(), m.p
    squares = about.scatter.diagonal()
    # A column that is constant up to rounding has no length to be measured by.
    exponent = m.exponent + np.frexp(np.sqrt(squares * (squares > about.rounding**2)))[1]
    D = np.zeros(p) + ridge
    if D.any():
        # Not so far above the column's own unit that its squares would underflow.
        penalised = np.frexp(np.sqrt(D))[1]
        exponent[:p] = np.clip(penalised, exponent[:p], exponent[:p] + NEAR)
        with np.errstate(over="ignore"):  # `Factor.of` refuses what is too large
            D = np.ldexp(D, -2 * exponent[:p])
    u = m.in_units(exponent)
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

    m is None for rows with so many columns that none were made; ridge is the penalty lambda, or
    that of each weight: sum ridge_j w_j^2. With accuracy="full" weights are corrected by the rows
    until float64, or float32 where rows are float32, can hold no better; with "sides" until seven
    digits are proven; with "moments" only where moments are too ill-conditioned.
    """
    if m is None:
        if rows is None:
            raise ValueError("least squares needs moments or rows.")
        if krylov.is_large_and_sparse(rows.X, krylov.GRAM_UP_TO if accuracy == "full" else 0):
            A = krylov.CentredRows.of(rows, intercept)
            return krylov.solve_by_products(A, np.zeros(A.B.shape[1]))
        return shortest.wide_minimum_norm(rows, intercept)
    enough = m.rows >= m.p + intercept or bool(np.all(ridge > 0))
    u, D = unit_columns(m, intercept, ridge)
    if rows is None or not 1 / HEAVY < m.weight < HEAVY:
        fit = solve(u, D, intercept) if enough else None
        fit = shortest.minimum_norm_of_moments(u, intercept) if fit is None else fit
        return weakened(fit, drowned(m, intercept))
    fit = solve(u, D, intercept, RowSums.over(rows), accuracy) if enough else None
    if fit is None:
        return shortest.minimum_norm(u, rows, intercept)
    if fit.certificate.kind == "unproven":
        # One row that outweighs all others by far hides their residuals in the rounding of its own,
        # while moments about that row keep them.
        other = solve(u, D, intercept)
        return fit if other is None or other.certificate.kind == "unproven" else other
    return fit


@np.errstate(all="ignore")  # what is infinite or NaN has no bound, and certificates tell
def solve(
    u: Moments,
    D: Array,
    intercept: bool,
    sums: RowSums | None = None,
    accuracy: str = "moments",
    most: int = refinement.MAX_CORRECTIONS,
) -> ClosedFit | None:
    """The solution that moments give, corrected by passes over the rows if there are `sums`; None
    where columns are dependent."""
    rows = None if sums is None else sums.rows
    dtype = np.float64 if rows is None else rows.X.dtype
    with between_passes(u.rows, u.p + 1):
        problem, solver = Problem.of(u, D, intercept), Factor.of(u, D)
        if sums is not None and (solver is None or solver.alpha >= PROVABLE or sums.low):
            accuracy, solver = "full", None  # moments are too ill-conditioned to start from
            s = start_from(u, np.zeros((u.p, u.targets)), intercept)
        elif solver is None:
            return None
        elif accuracy == "full" and dtype == np.float64:
            s = start_from(u, solver.step(u.scatter[: u.p, u.p :], slice(None))[0], intercept)
        else:
            s = from_moments(u, problem, solver)
    if sums is not None:
        solver = invert_triangle(u, D, sums, intercept) if solver is None else solver
        if solver is None:
            return None
        gradients = partial(sums.gradient, np.ldexp(1.0, -u.exponent))
        good = refinement.goal(problem, accuracy, dtype)
        s = refinement.refine(problem, solver, gradients, s, good, most)
    assert solver is not None
    return deliver(u, problem, solver, s, rows, s.passes > 0 or accuracy == "full")


def start_from(u: Moments, w: Array, intercept: bool) -> Solution:
    b = (u.mean[u.p :] - u.mean[: u.p] @ w) * intercept
    return Solution.start(np.concatenate([w, b[None]]))


def from_moments(u: Moments, problem: Problem, solver: Factor) -> Solution:
    """The solution that moments give, corrected once by them, and what they prove of it."""
    p, D = u.p, problem.D
    S, c = u.scatter[:p, :p], u.scatter[:p, p:]
    w = solver.step(c, slice(None))[0]
    g = c - S @ w - D * w
    d, left, rounded = solver.step(g, slice(None))
    # |S_ij| is at most the product of two of these lengths, and off by that of their roundings.
    size, rounding = np.sqrt(np.maximum(u.scatter.diagonal(), 0.0)) + 2 * u.rounding, u.rounding
    of_size, of_rounding = solver.sizes(np.stack([size[:p], rounding[:p]], axis=1))
    noise = digits.norms(np.sqrt(D) * w) * solver.top if D.any() else 0.0
    noise = digits.gamma(p + 4) * (noise + of_size * (size[p:] + size[:p] @ np.abs(w)))
    noise += of_rounding * (rounding[p:] + rounding[:p] @ np.abs(w))
    s = start_from(u, w + d, problem.intercept)
    near = digits.SLACK * (left + noise) / solver.least
    near = np.where(np.isfinite(near), near, np.inf)
    sizes, mean, drift = np.abs(s.theta[:p]), np.abs(u.mean), u.mean_rounding
    s.bound[:p] = solver.reach()[:, None] * (near + rounded) + 2 * UNIT * sizes
    s.bound[p] = digits.gamma(p + 2) * (mean[p:] + mean[:p] @ sizes) + drift[p:]
    s.bound[p] += drift[:p] @ sizes + (mean[:p] + drift[:p]) @ s.bound[:p]
    s.bound *= digits.SLACK
    s.bound[p] *= problem.intercept
    explained = np.einsum("jt,jt->t", s.theta[:p], c + D * s.theta[:p])
    s.squares = np.maximum(u.scatter.diagonal()[p:] - explained, 0.0)
    return s


def invert_triangle(u: Moments, D: Array, sums: RowSums, intercept: bool) -> Factor | None:
    """V = R^-1 of a QR factorisation of the rows; None where columns are dependent.

    How good it is, the products (A V)'A V of another pass say.
    """
    p = u.p
    t = sums.triangle().in_units(u.exponent[:p])
    R = t.centred() if intercept else t.about_zero()
    if np.any(D):
        R = linalg.triangle_of(np.vstack([R, np.diag(np.sqrt(D))]))
    V = linalg.inverse_triangle(R) if np.isfinite(R).all() and shortest.rank_of(R) == p else None
    if V is None:
        return None
    K, added = sums.products(np.ldexp(1.0, -u.exponent[:p]), u.mean[:p], V)
    drift = sqrt(u.weight) * u.mean_rounding[:p] * intercept
    sizes = np.sqrt(np.maximum(u.scatter.diagonal()[:p], 0.0)) + 2 * u.rounding[:p]
    alpha = digits.triangle_defect(K, added, V, sizes, D, drift)
    if sums.low:
        moved = UNIT * float(Problem.of(u, D, intercept).lengths[:p] @ digits.norms(V.T))
        alpha = digits.SLACK * (alpha + 2 * sqrt(p * (1 + alpha)) * moved + moved * moved)
    return Factor(V, alpha, condition(R), UNIT * condition(R))


def deliver(
    u: Moments, problem: Problem, solver: Factor, s: Solution, rows: Rows | None, biased: bool
) -> ClosedFit:
    """The solution in the user's units, with what is proven of it.

    Unless `biased`, nothing is said of the bias: its terms cancel, so that moments prove less of it
    than of the weights.
    """
    p, e, how = u.p, u.exponent, "solved in closed form from moments."
    if s.passes:
        how = f"solved in closed form, then corrected {plural(s.passes, 'time')} in double-double."
    exponent = np.concatenate([e[p:] - e[:p, None], e[None, p:]])  # the bias has the units of y
    theta, low, floor = (np.ldexp(a, exponent) for a in (s.theta, s.low, problem.floor))
    squares = np.ldexp(s.squares, 2 * e[p:])
    bound = digits.outward(digits.in_users_units(s.bound, exponent) + np.abs(low))
    used = problem.used if biased else slice(p)
    missing = "the intercept" * (problem.intercept and not biased)
    evidence = {"condition": solver.condition}
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped=how,
        certificate=digits.stated(theta[used], bound[used], floor[used], evidence, missing),
        rank=p,
        condition=solver.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=squares,
        root=None if problem.D.any() else covariance_root(solver, u, rows, problem.intercept),
    )


def drowned(m: Moments, intercept: bool) -> NDArray[np.intp]:
    """Columns for which rounding hides whether they vary; constants are exact and not listed.

    This happens after forgetting rows of far larger numbers.
    """
    about = m if intercept else m.about_zero()
    squares, doubt = about.scatter.diagonal()[: m.p], about.rounding[: m.p] ** 2
    return np.flatnonzero(~(squares > doubt) & ~(doubt <= NEGLIGIBLE * min(m.weight, 1.0)))


def weakened(fit: ClosedFit, lost: NDArray[np.intp]) -> ClosedFit:
    """The fit, claiming nothing where rounding has left columns without digits."""
    if not len(lost):
        return fit
    why = (
        f"rounding has left no digit of the variance of {len(lost)} of {fit.W.shape[1]} columns "
        "certain, so no digit of the weights is: fit anew from the rows themselves."
    )
    evidence = {**fit.certificate.evidence, "digits": 0.0, "drowned": lost}
    return replace(fit, certificate=Certificate("unproven", why, evidence), dependent=())


def covariance_root(solver: Factor, u: Moments, rows: Rows | None, intercept: bool) -> Array:
    """root (p, p) with root root' = S^-1 in the user's units, from V in those of u.

    A V that is good enough to correct weights with may be too rough for standard errors. Measured
    with twice the digits of float64, B = (X - 1 c')V, c near the means, is right to its last
    digits, however much of X V cancels; and K = B'B about its own means, which is nearly I, gives
    S^-1 = V K^-1 V'. Then root is (p + 1, p), and the last row is mean'root, or zeros without a
    bias.
    """
    p = u.p
    root = np.ldexp(1.0, -u.exponent[:p, None]) * solver.V
    if rows is None or solver.rough <= PRECISE or rows.n * p * p > WORK:
        return root
    # Of columns of 1e200 numbers may be infinite: the factor as it is will have to do.
    centre = np.ldexp(u.mean[:p], u.exponent[:p]) @ root if intercept else np.zeros(p)
    X = np.ascontiguousarray(rows.dense(slice(None)), dtype=np.float64)
    low = rows.X_low if len(rows.X_low) else np.zeros_like(X)
    columns = zip(np.ascontiguousarray(root.T), centre, strict=True)
    B = np.column_stack([values(X, low, v, np.zeros(p), -c, 0.0) for v, c in columns])
    omega = rows.omega if len(rows.omega) else np.ones(rows.n)
    about = omega @ B / omega.sum() if intercept else np.zeros(p)
    B -= about
    L = linalg.inverse_cholesky(B.T @ (omega[:, None] * B))
    if L is None or np.abs(L - np.eye(p)).max(initial=0.0) > 0.5:
        return root
    better = np.vstack([root, centre + about]) @ L
    return better if np.isfinite(better).all() else root
