"""Iterative refinement: corrections by gradients with twice the digits of float64.

    w <- w + d,    (S + D) d ~ g = A'(y - A w) - D w,    A = the rows about their means

A solver maps a gradient g to a correction d. It may be rough: every correction gains as many digits
as the solver has (Wilkinson 1963), and theorem (a) of `certificates.digits` proves what is left
from g and d alone, whoever made them. Targets go together, and each stops on its own.

Called by `procedures.least_squares` and `ridge`. Legend: theta + low (p + 1, k) are the weights
and, last, the bias of k targets, in units where the columns have about length one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import SLACK, gamma, norms
from adaline.kernels.double_double import towards_the_mean
from adaline.linalg import UNIT
from adaline.results import Array
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, add_exactly

ENOUGH = 2.0**-58  # relative error before the last rounding
SIDES = 1e-7  # error, as a share of the largest weight, that is enough to decide on classes
FAINT = 1e-100  # length of a target below which all of it is zero
MAX_CORRECTIONS = 40  # a solver with half a digit needs these
MAX_STALLS = 3  # steps hardly shorter than the shortest: float64 factors can give no more
UNDERFLOWN = 1e-290  # more than products can lose below float64's range


class Solver:
    """Corrections for gradients, and what theorem (a) needs to know: V and lambda.

    V : ndarray of shape (p, p), or the diagonal (p,)
    least : lambda of the theorem, one number or (k,)
    top : bound on |V' sqrt(D)|
    condition : of S + D, an estimate
    """

    V: Array
    least: Any
    top: float
    condition: float

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        """For the targets `on`: d (p, k); bounds (k,) on |V'(g - (S + D) d)|, where g was rounded;
        and the rounding of d, in units of `reach`."""
        raise NotImplementedError

    def sizes(self, A: Array) -> Array:
        """Bounds on |V'f| for all f with |f| <= a, for each column a of A >= 0."""
        return norms(np.abs(self.V).T @ A if self.V.ndim > 1 else self.V[:, None] * A)

    def reach(self) -> Array:
        """How far w_j moves, at most, where V^-1 w moves by 1."""
        return norms(self.V.T) if self.V.ndim > 1 else self.V


@dataclass(eq=False)
class Problem:
    """What is known of the columns, and the penalties; all in the units of theta.

    mean, drift (p,) : means of the columns, and by how much they may be off; zero without a bias.
    lengths (p + 1,), lengths_y (k,) : bounds on the lengths about zero of the columns, of that of
        ones, and of the targets.
    D (p, 1) or (p, k) : penalties.
    floor (p + 1, k) : weights below this count as zeros of that size.
    """

    mean: Array
    drift: Array
    lengths: Array
    lengths_y: Array
    weight: float
    rows: int
    D: Array
    floor: Array
    intercept: bool

    @classmethod
    def of(cls, u: Moments, D: Array, intercept: bool) -> Problem:
        """From moments in unit columns, about zero without a bias; D (p,)."""
        p, root = u.p, sqrt(u.weight)
        spread = np.maximum(u.scatter.diagonal(), 0.0)
        raw, own = np.sqrt(spread + u.weight * u.mean**2) + u.rounding, np.sqrt(spread[:p])
        some = np.maximum(own, np.finfo(np.float64).tiny)
        # A share of what one column alone could have; of a constant column no weight counts.
        unit = np.where(own > u.rounding[:p], UNIT / (some + D / some), np.inf)
        # Targets in their units are about 1, or zero with a rounding bound that is not.
        size_y = np.where(raw[p:] > FAINT, raw[p:], 1.0)
        floor = np.append(unit, UNIT / root)[:, None] * size_y
        lengths, drift = np.append(raw[:p], root), u.mean_rounding[:p]
        return cls(
            u.mean[:p], drift, lengths, raw[p:], u.weight, u.rows, D[:, None], floor, intercept
        )

    @property
    def used(self) -> slice:
        return slice(len(self.mean) + self.intercept)


@dataclass
class Solution:
    """theta + low (p + 1, k), each within its bound, and the squared residuals (k,)."""

    theta: Array
    low: Array
    bound: Array
    squares: Array
    passes: int = 0

    @classmethod
    def start(cls, theta: Array) -> Solution:
        """Of theta, nothing is known."""
        return cls(theta, 0.0 * theta, np.full_like(theta, np.inf), np.zeros(theta.shape[1]))


Gradients = Callable[[NDArray[np.int64], Array, Array], Gradient]
Good = Callable[[Solution], NDArray[np.bool_]]


def goal(problem: Problem, accuracy: str, dtype: Any = np.float64) -> Good:
    """When the bounds of a target are good enough, (k,)."""

    def good(s: Solution) -> NDArray[np.bool_]:
        used, p = problem.used, len(problem.mean)
        if accuracy == "moments":
            return np.ones(len(s.squares), dtype=bool)
        size = np.abs(s.theta)
        if accuracy == "sides":
            return np.asarray((s.bound[:p] <= SIDES * size[:p].max(axis=0)).all(axis=0))
        if dtype == np.float32:  # every number within the bounds rounds to the same
            low, high = (np.asarray(s.theta + s.bound * e, dtype=dtype) for e in (-1.0, 1.0))
            fine = low == high
        else:
            fine = s.bound <= ENOUGH * np.maximum(size, problem.floor)
        return np.asarray(fine[used].all(axis=0))

    return good


def refine(
    problem: Problem,
    solver: Solver,
    gradients: Gradients,
    s: Solution,
    good: Good,
    most: int = MAX_CORRECTIONS,
) -> Solution:
    """Correct theta until its bounds are good, or no longer shrink; each target stops on its own.

    gradients(on, theta, low) are sums over the rows, of the targets `on`.
    """
    on, correct = np.flatnonzero(~good(s)), corrector(problem, solver)
    # The shortest step of each target, in the metric of S + D, and how often one was hardly shorter
    least, stalls = np.full(len(on), np.inf), np.zeros(len(on), dtype=np.int64)
    while len(on) and s.passes < most:
        s.passes += 1
        theta, low = s.theta[:, on], s.low[:, on]
        step, pull, bound, squares = correct(on, gradients(on, theta, low), theta, low)
        ahead = pull <= 4.0 * least  # otherwise it leads away from the solution
        if not ahead.all():
            on, least, stalls = on[ahead], least[ahead], stalls[ahead]
            theta, low, step, bound = (a[:, ahead] for a in (theta, low, step, bound))
            pull, squares = pull[ahead], squares[ahead]
        at = on if len(on) < len(s.squares) else slice(None)
        s.theta[:, at], s.low[:, at] = theta, low = add_exactly(theta, low, step)
        s.bound[:, at], s.squares[at] = bound, squares
        more = ~good(s)[on]
        if not more.any():
            break
        still = np.abs(step) <= UNIT / 64 * np.maximum(np.abs(theta), problem.floor[:, on])
        stalls += pull > 0.5 * least
        more &= ~still.all(axis=0) & (stalls < MAX_STALLS)
        on, least, stalls = on[more], np.minimum(pull, least)[more], stalls[more]
    return s


def corrector(problem: Problem, solver: Solver) -> Callable[..., tuple[Array, Array, Array, Array]]:
    """correct(on, sums, theta, low): steps of (w, b) (p + 1, k), their lengths in the metric of
    S + D, bounds on what they leave, and squared residuals."""
    p, weight, lengths, mean = len(problem.mean), problem.weight, problem.lengths, problem.mean
    drift, root, reach = problem.drift, sqrt(weight), solver.reach()
    columns = np.array([lengths[:p], drift, np.abs(mean), np.ones(p)]).T
    of_lengths, of_drift, of_mean, of_ones = solver.sizes(columns).tolist()
    # |V'm|: the bias moves by so much where V^-1 w moves by 1.
    along = float(np.linalg.norm(solver.V.T @ mean if solver.V.ndim > 1 else solver.V * mean))
    along += gamma(p + 1) * of_mean + float(drift @ reach)
    sizes = np.abs(mean) + drift
    of_rounding = float(sizes @ reach)

    def correct(
        on: NDArray[Any], sums: Gradient, theta: Array, low: Array
    ) -> tuple[Array, Array, Array, Array]:
        D = problem.D[:, on] if problem.D.shape[1] > 1 else problem.D
        g, total = np.empty((p, len(on))), sums.g[p] * problem.intercept
        towards_the_mean(sums.g, sums.low, mean, D, theta, low, g)
        size_r = np.sqrt(sums.squares)
        d, left, rounded = solver.step(g, on)
        # What may be wrong with g: sums with twice the digits, the mean, and their difference.
        far = 8 * sums.added * UNIT**2 * size_r
        noise = of_lengths * (2 * far + 16 * UNIT**2 * size_r) + of_ones * UNDERFLOWN
        noise += of_drift * (np.abs(total) + far * root)
        if D.any():
            noise += 8 * UNIT**2 * solver.top * norms(np.sqrt(D) * theta[:p])
        # The residuals themselves are sums of p + 1 products, whose low parts are added in float64:
        # off by f, |A'f| is at most |f| times the largest length of A V, or that of columns.
        doubt = 2 * (p + 3) ** 2 * UNIT**2 * (problem.lengths_y[on] + lengths @ np.abs(theta))
        least = solver.least if np.ndim(solver.least) == 0 else solver.least[on]
        off = doubt * np.minimum(1 / np.sqrt(least), of_lengths / least)
        near = SLACK * ((left + noise) / least + off)
        near = np.where(np.isfinite(near), near, np.inf)
        step, bound = np.zeros_like(theta), np.zeros_like(theta)
        step[:p] = d
        bound[:p] = reach[:, None] * (near + rounded)
        if problem.intercept:
            # b* - b = g_b / n - m'(w* - w), with a mean that is off by drift; the sum of the
            # weights is rounded, too.
            shift = sizes @ np.abs(d)
            step[p] = total / weight - mean @ d
            bound[p] = along * near + of_rounding * rounded + drift @ np.abs(d)
            bound[p] += (far * root + 2 * UNIT * np.abs(total) + doubt * root + UNDERFLOWN) / weight
            bound[p] += gamma(p + problem.rows + 4) * (np.abs(total) / weight + shift)
        bound = SLACK * bound + 4 * UNIT**2 * np.abs(theta + step)
        # |y - A(w + d)|^2 = |r|^2 - d'(g + 2 D w + D d), as A'r = g + D w and A'A d = g - D d.
        less = np.einsum("jt,jt->t", d, g + D * (2 * theta[:p] + d)) + total**2 / weight
        pull = np.sqrt(np.maximum(np.einsum("jt,jt->t", d, g), 0.0))
        return step, pull, bound, np.maximum(sums.squares - less, 0.0)

    return correct
