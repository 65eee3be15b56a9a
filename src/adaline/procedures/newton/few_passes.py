"""Newton's procedure where every evaluation is a pass over rows that are not in memory.

A pass is dear, so that each one sums value, gradient g and curvature H at theta. A step
d = -H^-1 g that moves no value v by more than s leaves a gradient

    |g(theta + d)| <= |d|_H (e^s - 1 - s) / s    in the metric H^-1,

because H(theta + t d) stays within e^(±ts) H (see `objective.Loss`); so the last step needs no pass
to be proven. The loop is that of rows in memory (`descent`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, sqrt

import numpy as np

from adaline.certificates.optimality import CurvatureBound, Within, radius
from adaline.linalg import UNIT
from adaline.objective import Evaluation, Objective, gradient_rounding
from adaline.procedures.newton._curvature_bound import lessened
from adaline.procedures.newton.curvature import root_of
from adaline.procedures.newton.descent import concluded, descend, is_noise, line_search
from adaline.procedures.newton.pass_sums import Sums
from adaline.procedures.steps import finished
from adaline.results import Array, Certificate, NewtonFit, Outcome

_TRIES = 3  # passes to prove a minimum that seems reached
_HALVINGS = 20  # passes with shorter and shorter steps, at most
_MANY_STEPS = 20  # after which weights without a penalty that still grow have no end
_FLAT = 1e-6  # times the rows: 2 f can fall by no more than this where weights grow for ever


Pass = Callable[[Array], Sums]  # sums over all rows at theta


def newton_in_passes(
    rows: Objective, sums: Pass, starts: Sequence[Array], max_iter: int, tol: float
) -> NewtonFit:
    """theta that minimises f, with a bound on its distance from the minimum.

    rows holds the loss, the penalty and the units; its own rows are not looked at. The first of the
    starts is taken whose sums stay in the range of float64. Stops where the
    gradient is as small as `newton` wants it, or f is within 1e-3 tol of the least, measured by
    half the deviance, and the minimum is proven to be near.
    """
    state = _PassState(rows, sums, starts, tol)
    outcome = finished(descend(state, state, max_iter))
    fit = concluded(state, outcome, state.passes)
    return fit if state.ahead is None else replace(fit, certificate=_told(fit, state.passes))


@dataclass(frozen=True, eq=False)
class _Evaluation(Evaluation):
    """With the penalty; f is infinite where a sum left float64. And H with it, and all sums."""

    H: Array
    sums: Sums


class _PassState:
    """theta, what a pass told of f there, and how many passes and steps were made.

    ahead is set where the last step was made without a pass: a bound on |g| after it, in the metric
    H^-1 of theta before, and on how far values moved.
    """

    here: _Evaluation

    def __init__(self, loss: Objective, sums: Pass, starts: Sequence[Array], tol: float):
        self.loss, self.sums, self.tol = loss, sums, tol
        self.passes, self.steps = 0, 0
        self.near = 0  # passes made near the minimum, to prove it
        self.ahead: tuple[float, float] | None = None
        for theta in starts:
            here = self._at(theta)
            if isfinite(here.f):
                break
        else:
            raise OverflowError("sums over the rows leave the range of float64")
        self.loss = replace(loss, top=here.sums.top)
        self._arrive(theta, here)

    def _at(self, theta: Array) -> _Evaluation:
        """A pass; sums with the penalty."""
        self.passes += 1
        s, penalty, (K, q) = self.sums(theta), self.loss.penalty, theta.shape
        H = s.H + np.kron(np.eye(K), np.diag(penalty))
        if not self.loss.intercept:
            for k in range(q - 1, K * q, q):
                H[k], H[:, k], H[k, k] = 0.0, 0.0, 1.0
        own = 0.5 * float(np.sum(penalty * theta**2))
        size = self.loss.loss.size(s, theta, s.f, s.slopes) + own
        f = s.f + own if s.is_finite else inf
        return _Evaluation(f, s.g + penalty * theta, s.least, s.slopes, size, H, s)

    def _arrive(self, theta: Array, here: _Evaluation) -> None:
        self.theta, self.here = theta, here
        self.root = root_of(here.H, here.sums.depth())
        self.direction = -(self.root.A @ (self.root.A.T @ here.g.ravel())).reshape(theta.shape)
        self.nu = sqrt(max(-float(np.sum(here.g * self.direction)), 0.0))

    @property
    def rank(self) -> int:
        """Rank of the Hessian."""
        return self.root.rank

    def step(self) -> bool:
        """Make one step that lowers f. False where it had to be shortened, or none was found."""
        at = self.theta, self.direction, self.here, self.here.sums.weight
        found = line_search(self._at, *at, tries=_HALVINGS)
        if found is None:
            return False
        size, theta, there = found
        self.steps += 1
        self._arrive(theta, there)
        return size == 1.0

    def curvature_bound(self) -> CurvatureBound:
        """The Hessian itself; after a step without a pass, what is sure to be left of it."""
        moved = 0.0 if self.ahead is None else self.ahead[1]
        return lessened(self.root, exp(moved), len(self.theta))

    def rounding(self) -> Array:
        """Bound on the error of each component of g, (q,).

        After a step without a pass only the length of g is known: |g| in the metric is at most that
        of an error of one component, of whatever direction g is.
        """
        if self.ahead is None:
            s, units = self.here.sums, (self.loss.penalty, self.loss.scale)
            return gradient_rounding(self.loss.loss, s, *units, self.theta, s.slopes)
        one = np.zeros(self.theta.shape[1])
        one[-1 if self.loss.intercept else 0] = 1.0
        bound, moved = self.ahead
        return one * (bound * exp(moved / 2) / self.curvature_bound().doubt(one, len(self.theta)))

    def proven(self) -> bool:
        """Whether the distance from the minimum is proven."""
        return isfinite(self.bounded()[1][2])

    def bounded(self) -> tuple[CurvatureBound, Within]:
        """A lower bound on the Hessian, and nu, rho and delta of the proof by it."""
        bound = self.curvature_bound()
        return bound, radius(bound, self.here.g, self.rounding(), self.loss.top)

    def look_ahead(self) -> tuple[float, float] | None:
        """Bounds on |g| after the step, in the metric at theta, and on how values move."""
        root, step, H = self.root, self.direction, self.here.H
        if root.eps >= 0.5 or root.rank < step.size:
            return None
        moves = np.abs(step) @ self.loss.top
        s = float(moves[0]) if len(moves) == 1 else 2.0 * float(moves.max())
        if not s <= 1.0:
            return None
        # e^s - 1 - s cancels for a small s; s^2/2 (1 + s) is above it for s <= 1.
        curved = s / 2.0 * (1.0 + s)
        length = sqrt(max(float(step.ravel() @ (H @ step.ravel())), 0.0))
        rest = np.abs(H @ step.ravel() + self.here.g.ravel())
        # theta + step is rounded, and so is H step.
        rounded = np.abs(self.theta + step) + step.size * np.abs(step)
        rest += UNIT * (np.abs(H) @ rounded.ravel())
        error = np.tile(self.rounding(), len(step))
        doubt = float(np.linalg.norm(root.A, axis=1) @ (error + rest))
        bound = length * (curved + 2 * root.eps) + doubt
        return 1.02 * bound / sqrt(1.0 - root.eps), s

    def step_without_pass(self, ahead: tuple[float, float]) -> bool:
        """Make the step where that proves the minimum to be near; else stay."""
        before, step = self.here, self.direction
        value = before.f + 0.5 * float(np.sum(before.g * step))
        self.here, self.ahead = replace(before, f=value, g=np.zeros_like(step)), ahead
        if not self.proven():
            self.here, self.ahead = before, None
            return False
        self.theta, self.steps = self.theta + step, self.steps + 1
        return True

    def arrived(self, more: bool) -> Outcome | None:
        """Near the minimum and proven so, after a step without a pass or here."""
        goal = self._goal()
        ahead = self.look_ahead() if more else None
        if ahead is not None and ahead[0] <= goal and self.step_without_pass(ahead):
            return "converged"
        if self.nu <= 0.01 * goal or is_noise(self.nu, self.here.size, self.here.sums.weight):
            self.near += 1
            if self.near > _TRIES or self.rank < self.theta.size or self.proven():
                return "converged" if self.nu <= goal else "rounding"
        return None

    def _goal(self) -> float:
        """How small |g| is to be in the metric H^-1."""
        sums, size = self.here.sums, self.theta.size
        above = max(self.here.f - sums.saturated, 0.0)
        close = self.tol * sqrt(sums.weight * size)
        return max(close, sqrt(2e-3 * self.tol * above))

    def is_endless(self) -> bool:
        """Whether values still move much after many steps, and the loss hardly falls."""
        grows = float(np.max(np.abs(self.direction) @ self.loss.top)) > 0.5
        flat = self.nu**2 < _FLAT * self.here.sums.weight
        return self.steps > _MANY_STEPS and grows and flat

    def after_step(self, moved: bool, whole: bool) -> Outcome | None:
        """Every pass gives a new Hessian, so that no later try would find a step."""
        return None if moved else "rounding"


def _told(fit: NewtonFit, passes: int) -> Certificate:
    """The proof of a fit whose last step was made without a pass: its gradient is only bounded."""
    evidence = {k: v for k, v in fit.certificate.evidence.items() if k != "gradient_norm"}
    distance, bias = evidence["distance_bound"], evidence["intercept_bound"]
    said = (
        f"the weights are within {distance:.1e} of those that minimise the (penalised) loss, "
        f"|w - w*|, and the bias is within {bias:.1e}; the last of {fit.steps} steps is bounded by "
        f"the sums of {passes} passes."
    )
    return Certificate(fit.certificate.kind, said, evidence | {"passes": passes})
