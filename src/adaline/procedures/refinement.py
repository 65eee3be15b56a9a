"""Iterative refinement: corrections by gradients with twice the digits of float64.

    w <- w + d,    (S + D) d = g = A'(y - A w) - D w

A solver maps a gradient g to a correction d. It may be rough: every correction gains as many digits
as the solver has (Wilkinson 1963), and theorem (a) of `certificates.digits` proves what is left
from g and d alone, whoever made them. Targets go together, and each stops on its own.

Called by `procedures.least_squares` and `ridge`, and by `data.fitting` for streams.

Legend: theta + low (p + 1, k) are the weights and, last, the bias of k targets, in units where the
columns have about length one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import SLACK, gamma
from adaline.kernels.double_double import towards_the_mean
from adaline.linalg import UNIT
from adaline.results import Array
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, add_exactly

MOST_CORRECTIONS = 40  # a solver with half a digit needs these
MOST_WEIGHTS = 2**22  # numbers of the weights that are corrected together
MOST_STALLS = 3  # this is then what float64 factors can give
STILL = UNIT / 64  # a relative step that changes nothing any more
UNDERFLOWN = 1e-290  # more than products can lose below float64's range
NO_LENGTH = 1e-300  # a column without length is not divided by


class Solver(Protocol):
    """Corrections for gradients; what `certificates.digits` needs to know of its V and lambda."""

    @property
    def least(self) -> Any:
        """lambda of the theorem, one number or (k,)."""

    @property
    def condition(self) -> float:
        """Of S + D, an estimate."""

    def step(self, g: Array, on: Any) -> tuple[Array, Array, Array]:
        """For the targets `on`: d (p, k), bounds on |V'(g - (S + D)d)| (k,), roundings of d."""

    def noise(self, e: Array) -> Array:
        """Bounds on |V'f| for all f with |f| <= e (p, k)."""

    def reach(self) -> Array:
        """Lengths of the rows of V, (p,)."""

    def along(self, a: Array) -> float:
        """A bound on |V'a|."""


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
        some = np.maximum(own, NO_LENGTH)[:, None]
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


Gradients = Callable[[NDArray[np.int64], Array, Array], Gradient]


def refine(
    problem: Problem,
    solver: Solver,
    gradients: Gradients,
    s: Solution,
    good: Callable[[Solution], NDArray[np.bool_]],
    most: int = MOST_CORRECTIONS,
) -> Solution:
    """Correct theta until its bounds are good, or no longer shrink; each target stops on its own.

    gradients(on, theta, low) are sums over the rows, of the targets `on`: of rows in memory, or by
    a pass over a file.
    """
    on = np.flatnonzero(~good(s))
    least, stalls = np.full(len(s.squares), np.inf), np.zeros(len(s.squares), dtype=np.int64)
    together = max(MOST_WEIGHTS // len(s.theta), 1)
    while len(on) and s.passes < most:
        s.passes += 1
        for i in range(0, len(on), together):
            correct(problem, solver, gradients, s, on[i : i + together], least, stalls)
        on = on[(stalls[on] < MOST_STALLS) & ~good(s)[on]]
    return s


def correct(
    problem: Problem,
    solver: Solver,
    gradients: Gradients,
    s: Solution,
    on: NDArray[np.int64],
    least: Array,
    stalls: NDArray[np.int64],
) -> None:
    """Correct the targets `on` in place; least (k,) is the shortest step of each in the metric
    of S + D, stalls how often a step was hardly shorter, or MOST_STALLS where none is worth it."""
    theta, low = s.theta[:, on], s.low[:, on]
    sums = gradients(on, theta, low)
    step, pull, bound, squares = corrections(problem, solver, on, sums, theta, low)
    ahead = pull <= 4.0 * least[on]  # otherwise it leads away from the solution
    at = on[ahead]
    s.theta[:, at], s.low[:, at] = add_exactly(theta[:, ahead], low[:, ahead], step[:, ahead])
    s.bound[:, at], s.squares[at] = bound[:, ahead], squares[ahead]
    size = np.maximum(np.abs(s.theta[:, on]), problem.floor[:, on])
    stalls[on] += pull > 0.5 * least[on]
    stalls[on[~ahead | (np.abs(step) <= STILL * size).all(axis=0)]] = MOST_STALLS
    least[on] = np.minimum(pull, least[on])


def corrections(
    problem: Problem,
    solver: Solver,
    on: NDArray[np.int64],
    sums: Gradient,
    theta: Array,
    low: Array,
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
