"""Profile-likelihood intervals: all values of one parameter that the data do not contradict.

With F(theta) the (penalised) loss, -log L, of least value F*, the profile of a parameter
beta = c'theta is F(beta) = min F(theta) where c'theta = beta, and the interval of a level is

    { beta : 2 (F(beta) - F*) <= chi2_1(level) }.

Unlike Wald's beta +- z error it need not be symmetric, is the same in all parametrisations, and
stays right where few samples, or rare events, make the likelihood far from a parabola. Where the
profile never reaches the level, the bound is infinite. With Firth's penalty F is not convex: the
bounds are the nearest values that are rejected, and farther ones may not be.

theta = beta e + N n: moving beta moves theta along e, and N spans what leaves beta as it is. The
curvature is only ever factored on N: it may be lost along the profile itself, where that is flat.

Called by `LogisticRegression.summary`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from adaline.linalg import UNIT, Factor
from adaline.procedures.firth import Firth
from adaline.procedures.newton import begin, descend
from adaline.results import Array, finished
from adaline.sums.objective import Objective, Sums, Want
from adaline.sums.scaled_rows import MANY

FARTHEST = 1e7  # standard errors beyond which a bound is called infinite
MAX_DECREMENT = 1e-3  # standard errors, up to which theta counts as the minimum


def profile_intervals(
    loss: Objective, theta: Array, level: float, *, firth: bool = False
) -> tuple[Array, Array]:
    """Bounds (p + 1,) of the weights and, last, the bias, in the units of X; two classes.

    theta (p + 1,) is the minimum, in the units of the loss; `firth` says that Firth's penalty is
    part of the criterion.
    """
    q, rows = len(theta), loss.rows
    if loss.K > 1 or rows.is_wide:
        most = f"profile intervals are for two classes and at most {MANY} features"
        raise ValueError(f"{most}; use intervals='wald'.")
    problem: Any = Firth(loss) if firth else loss
    unit = 1.0 if firth else rows.unit
    goal = float(ndtri((1.0 + level) / 2.0)) / sqrt(unit)  # of sqrt(2 (F - F*))
    best = Place.at(theta, problem)
    if not best.g @ Factor(best.H).solve(best.g) < MAX_DECREMENT**2 / unit:
        why = "the fitted weights are not the likeliest of these rows"
        raise ValueError(f"{why}; give profile intervals the rows and sample_weight of the fit.")
    best = Search(problem, theta, np.eye(q), best, goal).settle(theta) or best
    low, high = np.zeros(q), np.zeros(q)
    for j in range(q if loss.intercept else q - 1):
        e, N = np.eye(q)[j], np.delete(np.eye(q), j, axis=1)
        c, size = e, float(rows.scale[j]) if j < q - 1 else 1.0
        if j == q - 1:  # the bias is theta_q - shift'theta
            c, N[-1] = np.append(-rows.shift, 1.0), rows.shift
        for bound, side in ((low, -1.0), (high, 1.0)):
            reach = Search(problem, side * e, N, best, goal).cross()
            bound[j] = (float(c @ best.theta) + side * reach) * size
    return low, high


@dataclass(frozen=True, eq=False)
class Place:
    """theta (q,), and the criterion with its slope and curvature there."""

    theta: Array
    f: float
    g: Array
    H: Array

    @classmethod
    def at(cls, theta: Array, criterion: Any) -> Place:
        sums = criterion.sums(theta[None], "joint")
        return cls(theta, sums.f, sums.g[0], sums.H)


@dataclass(frozen=True, eq=False)
class Constrained:
    """A criterion on the weights n (1, q - 1) of theta = origin + N n: a `Problem` for Newton."""

    of: Any
    origin: Array
    N: Array
    K, is_bare, intercept = 1, False, True

    @property
    def penalty(self) -> Array:
        return np.zeros(self.N.shape[1])

    @property
    def weight(self) -> float:
        return float(self.of.weight)

    def price(self, want: Want) -> float:
        return float(getattr(self.of, "PRICE", 1.0))

    def sums(self, n: Array, want: Want = "") -> Sums:
        there: Sums = self.of.sums(self.origin + n @ self.N.T, "joint")
        assert there.H is not None
        return replace(there, g=there.g @ self.N, H=self.N.T @ there.H @ self.N)


@dataclass(frozen=True, eq=False)
class Search:
    """The profile of one parameter: e moves it by 1, and N (q, q - 1) spans what does not."""

    of: Any
    e: Array
    N: Array
    best: Place
    goal: float

    def cross(self) -> float:
        """How far beta can go until sqrt(2 (F - F*)) reaches the goal; inf where that is never, NaN
        where the profile cannot be followed.
        """
        e, H, place, reach = self.e, self.best.H, self.best, 0.0
        along = float(e @ H @ self.tangent(self.best))  # the curvature of the profile
        error = 1.0 / sqrt(max(along, 1e-16 * float(e @ H @ e), np.finfo(np.float64).tiny))
        step = self.goal * error
        while True:
            there = self.move(place, step)
            if there is not None and self.excess(there) >= 0.0:
                break
            if there is None:  # too far to follow at once
                step *= 0.25
                if not step > 1e-12 * max(reach, 1e-12 * error):
                    return nan
                continue
            place, reach = there, reach + step
            if reach >= FARTHEST * error:
                return inf
            step = max(reach, self.goal * error)
        return reach + float(
            brentq(lambda x: self.excess(self.move(place, x)), 0.0, step, rtol=1e-12)
        )

    def excess(self, place: Place | None) -> float:
        """By how much sqrt(2 (F - F*)), nearly linear in beta, is above the goal."""
        if place is None:
            return self.goal
        return sqrt(max(2.0 * (place.f - self.best.f), 0.0)) - self.goal

    def tangent(self, place: Place) -> Array:
        """How theta moves with beta, by the curvature here."""
        He = place.H @ self.e
        return np.asarray(self.e - self.N @ self._factor(place).solve(self.N.T @ He))

    def move(self, place: Place, change: float) -> Place | None:
        return self.settle(place.theta + change * self.tangent(place))

    def settle(self, theta: Array) -> Place | None:
        """The minimum along N; None where Newton's steps do not find it."""
        problem, n = Constrained(self.of, theta, self.N), np.zeros((1, self.N.shape[1]))
        near = 1e-6 * self.goal  # what the decrement may be
        try:
            with np.errstate(all="ignore"):
                if not np.isfinite(problem.sums(n).f):
                    return None
                state = begin(problem, n, near)
                outcome = finished(descend(state, near, 100))
                place = Place.at(theta + self.N @ state.theta[0], self.of)
        except (ValueError, np.linalg.LinAlgError):  # too far out for the criterion
            return None
        g = place.g @ self.N
        # Where all curvature is gone, a slope that is left shows that this is no minimum.
        left = g - self.N.T @ (place.H @ (self.N @ self._factor(place).solve(g)))
        is_flat = np.linalg.norm(left) <= 1e-6 * (1.0 + np.linalg.norm(place.g))
        noise = sqrt(1e3 * UNIT * (1.0 + abs(place.f)))
        is_least = outcome == "converged" or state.nu <= noise
        return place if is_flat and is_least and np.isfinite(place.f) else None

    def _factor(self, place: Place) -> Factor:
        return Factor(self.N.T @ place.H @ self.N)
