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

from adaline.certificates.digits import SLACK, gamma, lengths_of
from adaline.kernels.double_double import towards_the_mean
from adaline.linalg import UNIT
from adaline.results import Array
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, add_exactly

ENOUGH = 2.0**-58  # relative error before the last rounding
SIDES = 1e-7  # error, as a share of the largest weight, that is enough to decide on classes
MOST_CORRECTIONS = 40  # a solver with half a digit needs these
MOST_STALLS = 3  # steps hardly shorter than the shortest: float64 factors can give no more
UNDERFLOWN = 1e-290  # more than products can lose below float64's range


class Solver:
    """Corrections for gradients, and what theorem (a) needs to know: V and lambda.

    V : ndarray of shape (p, p), or the diagonal (p,)
    least : lambda of the theorem, one number or (k,)
    condition : of S + D, an estimate
    """

    V: Array
    least: Any
    condition: float

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        """For the targets `on`: d (p, k), bounds on |V'(g - (S + D)d)| (k,), roundings of d."""
        raise NotImplementedError

    def noise(self, e: Array) -> Array:
        """Bounds on |V'f| for all f with |f| <= e (p, k)."""
        return lengths_of(np.abs(self.V).T @ e if self.V.ndim > 1 else self.V[:, None] * e)

    def reach(self) -> Array:
        """Lengths of the rows of V, (p,)."""
        return lengths_of(self.V.T) if self.V.ndim > 1 else self.V

    def along(self, a: Array) -> float:
        """A bound on |V'a|."""
        return float(np.linalg.norm(self.V.T @ a if self.V.ndim > 1 else self.V * a))


@dataclass(eq=False)
class Problem:
    """What is known of the columns, and the penalties; all in the units of theta.

    mean, drift (p,) : means of the columns, and by how much they may be off.
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
        """From moments in unit columns, about zero without a bias; D (p,) or (p, k)."""
        p, D = u.p, D[:, None] if D.ndim == 1 else D
        spread = np.maximum(np.diagonal(u.scatter), 0.0)
        raw, own = np.sqrt(spread + u.weight * u.mean**2) + u.rounding, np.sqrt(spread[:p])
        some = np.maximum(own, np.finfo(np.float64).tiny)[:, None]
        with np.errstate(over="ignore"):  # beside so large a penalty no weight is small
            # A share of what one column alone could have; of a constant column no weight counts.
            unit = np.where((own > u.rounding[:p])[:, None], UNIT / (some + D / some), np.inf)
        unit = np.vstack([unit, np.full((1, unit.shape[1]), UNIT / sqrt(u.weight))])
        floor = unit * np.where(raw[p:] > 0, raw[p:], 1.0)
        lengths, mean, drift = np.append(raw[:p], sqrt(u.weight)), u.mean[:p], u.mean_rounding[:p]
        return cls(mean, drift, lengths, raw[p:], u.weight, u.rows, D, floor, intercept)

    @property
    def used(self) -> slice:
        """The rows of theta that are weights, or a bias that is there."""
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
        used, size, p = problem.used, np.abs(s.theta), len(problem.mean)
        if accuracy == "moments":
            return np.ones(len(s.squares), dtype=bool)
        if accuracy == "sides":
            return np.asarray((s.bound[:p] <= SIDES * size[:p].max(axis=0)).all(axis=0))
        if dtype == np.float32:  # every number within the bounds rounds to the same
            low, high = (np.asarray(s.theta + s.bound * e, dtype=dtype) for e in (-1.0, 1.0))
            fine = (low == high) & (s.passes > 0)
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
    most: int = MOST_CORRECTIONS,
) -> Solution:
    """Correct theta until its bounds are good, or no longer shrink; each target stops on its own.

    gradients(on, theta, low) are sums over the rows, of the targets `on`.
    """
    on = np.flatnonzero(~good(s))
    # The shortest step of each target, in the metric of S + D, and how often one was hardly shorter
    least, stalls = np.full(len(s.squares), np.inf), np.zeros(len(s.squares), dtype=np.int64)
    while len(on) and s.passes < most:
        s.passes += 1
        theta, low = s.theta[:, on], s.low[:, on]
        sums = gradients(on, theta, low)
        step, pull, bound, squares = corrections(problem, solver, on, sums, theta, low)
        ahead = pull <= 4.0 * least[on]  # otherwise it leads away from the solution
        at = on[ahead]
        moved = add_exactly(theta[:, ahead], low[:, ahead], step[:, ahead])
        s.theta[:, at], s.low[:, at] = moved
        s.bound[:, at], s.squares[at] = bound[:, ahead], squares[ahead]
        size = np.maximum(np.abs(s.theta[:, on]), problem.floor[:, on])
        still = (np.abs(step) <= UNIT / 64 * size).all(axis=0)  # nothing changes any more
        stalls[on] += pull > 0.5 * least[on]
        stalls[on[~ahead | still]] = MOST_STALLS
        least[on] = np.minimum(pull, least[on])
        on = on[(stalls[on] < MOST_STALLS) & ~good(s)[on]]
    return s


def corrections(
    problem: Problem, solver: Solver, on: NDArray[Any], sums: Gradient, theta: Array, low: Array
) -> tuple[Array, Array, Array, Array]:
    """Steps of (w, b) (p + 1, k), their lengths in the metric of S + D, bounds on what they leave,
    and squared residuals."""
    p, k, weight, lengths = len(problem.mean), len(on), problem.weight, problem.lengths
    D = problem.D[:, on] if problem.D.shape[1] > 1 else problem.D
    mean, drift = problem.mean[:, None], problem.drift[:, None]
    G, g, total = sums.g[:p], np.empty((p, k)), sums.g[p] * problem.intercept
    of_mean = problem.mean if problem.intercept else np.zeros(p)
    towards_the_mean(sums.g, sums.low, of_mean, D, theta, low, g)
    # What may be wrong with g: sums with twice the digits, the mean, the last rounding.
    far = 8 * sums.added * UNIT**2 * np.sqrt(sums.squares)
    of_total = far * lengths[p] + 2 * UNIT * np.abs(total)
    noise = np.multiply.outer(lengths[:p], far) + np.abs(mean) * (far * lengths[p])
    noise += drift * (np.abs(total) + of_total) + UNIT * np.abs(g) + UNDERFLOWN
    noise += 8 * UNIT**2 * (np.abs(G) + np.abs(mean * total) + D * np.abs(theta[:p]))
    # The residuals themselves are sums of p + 1 products, whose low parts are added in float64.
    doubt = 2 * (p + 3) ** 2 * UNIT**2 * (problem.lengths_y[on] + lengths @ np.abs(theta))
    d, left, rounded = solver.step(g, on)
    worse = ~(left <= solver.noise(np.abs(g)))  # a step that gains nothing is none
    if worse.any():
        d, left = np.where(worse, 0.0, d), np.where(worse, solver.noise(np.abs(g)), left)
    least = solver.least if np.ndim(solver.least) == 0 else solver.least[on]
    step, bound = np.zeros((p + 1, k)), np.zeros((p + 1, k))
    step[:p] = d
    with np.errstate(divide="ignore", invalid="ignore"):
        off = doubt / np.sqrt(least)
        if np.any(np.asarray(least) > 1.0):  # penalties that outweigh the columns: |A'f| / lambda
            off = np.minimum(off, solver.noise(np.multiply.outer(lengths[:p], doubt)) / least)
        near = SLACK * ((left + solver.noise(noise)) / least + off)
    near = np.where(np.isfinite(near), near, np.inf)
    bound[:p] = np.multiply.outer(solver.reach(), near) + rounded
    if problem.intercept:
        # b* - b = g_b / n - m'(w* - w), with a mean that is off by drift.
        step[p] = total / weight - problem.mean @ d
        shift = np.abs(problem.mean) @ np.abs(d)
        bound[p] = solver.along(problem.mean) * near + np.abs(problem.mean) @ rounded
        bound[p] += problem.drift @ (bound[:p] + np.abs(d))
        bound[p] += (of_total + doubt * lengths[p] + UNDERFLOWN) / weight
        # The sum of the weights is rounded, too.
        bound[p] += gamma(p + problem.rows + 4) * (np.abs(total) / weight + shift)
    bound = SLACK * bound + 4 * UNIT**2 * np.abs(theta + step)
    # |y - A(w + d)|^2 = |r|^2 - d'(g + 2 D w + D d), as A'r = g + D w and A'A d = g - D d.
    less = np.einsum("jt,jt->t", d, g + D * (2 * theta[:p] + d)) + total**2 / weight
    pull = np.sqrt(np.maximum(np.einsum("jt,jt->t", d, g), 0.0))
    return step, pull, bound, np.maximum(sums.squares - less, 0.0)
