"""Steps of Newton's procedure for the logistic loss: where we are, and what we know around there.

A step is H^-1 g with H the curvature at an earlier theta, taken along as slopes change and
corrected by what the gradients since have told (L-BFGS). Every step must lower f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from adaline.certificates.optimality import Metric, radius
from adaline.objective import MANY, Evaluation, Objective
from adaline.procedures.newton._curvature_bound import metric
from adaline.procedures.newton._stride import proof_rows
from adaline.procedures.newton._transported_hessian import Carried, Sample, sample_step
from adaline.procedures.newton.curvature import Curvature, curvature
from adaline.procedures.newton.stopping import lowers
from adaline.results import Array

Watch = Callable[[Array, Array, float, float], None]  # gets W, b, f and |g| after each step

_LONGEST = 16.0  # times Newton's first step, at most
_MEMORY = 20  # pairs of steps and changes of gradient that are kept


@dataclass(eq=False)
class Walk:
    """Where we are, and what we know of the surroundings."""

    loss: Objective
    theta: Array
    here: Evaluation
    root: Array
    known: Curvature
    pairs: list[tuple[Array, Array, float]] = field(default_factory=list)
    steps: int = 0
    full: int = 0  # rank of the first curvature
    sample: Sample | None = None
    carried: Carried | None = None
    measured: tuple[Array, Metric] | None = None
    watch: Watch | None = None

    def look(self) -> None:
        """Show where we are to whoever looks on."""
        if self.watch is not None:
            W, b = self.loss.original(self.theta)
            self.watch(W, b, self.here.f, float(np.linalg.norm(self.here.g)))

    @property
    def nu(self) -> float:
        """|g| in the metric of the inverse curvature: distance from the minimum, about."""
        g = self.here.g
        return float(np.sqrt(max(np.sum(g * self.solve(g)), 0.0)))

    def solve(self, g: Array) -> Array:
        """H^-1 g, with the slopes of here."""
        found = self.known.solve(g)
        return found if self.carried is None else self.carried.solve(g, found)

    def direction(self) -> Array:
        """-H^-1 g, H corrected by the pairs (the two loops of L-BFGS)."""
        r = self.here.g.copy()
        shares = []
        for s, y, sy in reversed(self.pairs):
            shares.append(float(np.sum(s * r)) / sy)
            r -= shares[-1] * y
        r = self.solve(r)
        for (s, y, sy), share in zip(self.pairs, reversed(shares), strict=True):
            r += (share - float(np.sum(y * r)) / sy) * s
        return -r

    @property
    def lost(self) -> bool:
        """Whether columns that were independent at first no longer are: probabilities of 0 and 1
        have taken the curvature away."""
        return self.known.exact and self.known.roots[0].rank < self.full

    def renew(self, left: float, every: int) -> None:
        """Curvature of the rows at theta; what gradients told is in it.

        It is of at least twice the rows of the last, which were fewer than they seemed to be.
        """
        most = max(self.known.every // 2, 1)
        self.known = curvature(self.loss, self.theta, self.root, left, every, most)
        self.pairs.clear()
        self.settle()

    def settle(self) -> None:
        """Remember what the sample's slopes are where the curvature was made."""
        self.carried = None
        if self.sample is not None:
            self.sample.settle(self.theta, self.root, not self.known.shrunk)
            self.carry()

    def carry(self) -> None:
        """Take the curvature along to here, if here is elsewhere."""
        if self.sample is not None and self.known.matrix is not None:
            found = self.sample.carry(self.known.matrix, self.theta, self.root)
            self.carried = self.carried if found is None else found

    def proven(self) -> bool:
        """Whether the minimum is proven to be near."""
        near, error = self.metric(), self.loss.rounding(self.theta, self.here)
        return bool(np.isfinite(radius(near, self.here.g, error, self.loss.top)[2]))

    def metric(self) -> Metric:
        """What the proof of optimality measures with, at theta: all rows where some do not do."""
        if self.measured is None or self.measured[0] is not self.theta:
            error, top = self.loss.rounding(self.theta, self.here), self.loss.top
            regular = self.full == self.theta.size
            for every in sorted({proof_rows(self.loss), 1}, reverse=True):
                near = metric(self.loss, self.theta, self.root, self.known, regular, every)
                if np.isfinite(radius(near, self.here.g, error, top)[2]):
                    break
            self.measured = self.theta, near
        return self.measured[1]

    def _first_length(self, d: Array) -> float:
        """How long the first step should be: where f of a small sample of the rows is least.

        From the start, Newton's step points well where rows are like draws from an elliptical
        distribution, and only its length is too small (Brillinger 1982).
        """
        if self.sample is None:
            return 1.0

        def slope(c: float) -> float:
            return float(np.sum(self.sample.rows.at(self.theta + c * d).g * d))

        low, high = 1.0, 2.0
        if not slope(low) < 0.0:
            return 1.0
        while high < _LONGEST and slope(high) < 0.0:
            low, high = high, 2.0 * high
        for _ in range(4):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return low

    def step(self) -> bool:
        """One step that lowers f, or False where none is found; the root is of the new theta."""
        d = self.direction()
        slope = float(np.sum(self.here.g * d))
        noise = self.here.size, self.loss.weight
        size = first = self._first_length(d) if self.steps == 0 else 1.0
        for _ in range(40):
            theta = self.theta + size * d
            there = self.loss.at(theta, self.root)
            if lowers(there.f, self.here.f, size * slope, *noise):
                change = there.g - self.here.g
                sy = size * float(np.sum(d * change))
                if sy > 0 and size <= 1.0:  # what lies behind a long step tells little of here
                    self.pairs = [*self.pairs[1 - _MEMORY :], (size * d, change, sy)]
                self.theta, self.here, self.steps = theta, there, self.steps + 1
                self.carry()
                return size == first
            size *= 0.5 if np.isfinite(there.f) else 0.1
        self.loss.at(self.theta, self.root)
        return False


def begin(loss: Objective, theta: Array, goal: float) -> Walk:
    """At theta, with the curvature there; nu is to fall to goal."""
    root = loss.room()
    here = loss.at(theta, root)
    far = np.sqrt(loss.weight)
    if np.any(theta):  # the minimum of a sample
        far = min(far, 4.0 * np.sqrt(theta.size))
    known = curvature(loss, theta, root, float(np.log(max(far / goal, 2.0))))
    walk = Walk(loss, theta, here, root, known)
    walk.full = known.roots[0].rank if known.exact else theta.size
    if theta.shape[1] <= MANY and (every := sample_step(loss)):
        walk.sample = Sample(loss, every)
        walk.settle()
    return walk
