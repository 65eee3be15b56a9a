"""Newton's procedure where every evaluation is a pass over rows that are not in memory.

A pass is dear, so that each one sums value, gradient g and curvature H at theta. A step
d = -H^-1 g that moves no value v by more than s leaves a gradient

    |g(theta + d)| <= |d|_H (e^s - 1 - s) / s    in the metric H^-1,

because H(theta + t d) stays within e^(±ts) H (see `objective.Loss`); so the last step needs no pass
to be proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from adaline.certificates.optimality import CurvatureBound, optimality
from adaline.linalg import UNIT
from adaline.objective import Objective, gradient_rounding
from adaline.procedures.newton.curvature import Root, root_of
from adaline.procedures.newton.pass_sums import Sums
from adaline.procedures.newton.stopping import concluded, is_noise, lowers, proof
from adaline.results import Array, Certificate, NewtonFit, Outcome

_TRIES = 3  # passes to prove a minimum that seems reached
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
    return _Descent(rows, sums, max_iter, tol).descend(starts)


class _Descent:
    """theta, the sums there, and how many passes and steps were made."""

    theta: Array

    def __init__(self, rows: Objective, sums: Pass, max_iter: int, tol: float):
        self.rows, self.sums, self.max_iter, self.tol = rows, sums, max_iter, tol
        self.passes, self.steps = 0, 0
        self.near = 0  # passes made near the minimum, to prove it

    def at(self, theta: Array) -> Sums:
        """A pass; sums with the penalty."""
        self.passes += 1
        s, penalty, (K, q) = self.sums(theta), self.rows.penalty, theta.shape
        D = np.diag(penalty)
        H, M = s.H + (D if K == 1 else np.kron(np.eye(K), D)), s.M + D if K > 1 else s.M
        if not self.rows.intercept:
            for k in range(q - 1, K * q, q):
                H[k], H[:, k], H[k, k] = 0.0, 0.0, 1.0
            if K > 1:
                M[-1, -1] = 1.0
        f = s.f + 0.5 * float(np.sum(penalty * theta**2))
        return replace(s, f=f, g=s.g + penalty * theta, H=H, M=M)

    def descend(self, starts: Sequence[Array]) -> NewtonFit:
        """Steps that lower f, until one of the reasons of `_end`."""
        for self.theta in starts:
            here = self.at(self.theta)
            if here.is_finite:
                break
        else:
            raise OverflowError("sums over the rows leave the range of float64")
        while True:
            root = root_of(here.H, here.depth())
            step = -(root.A @ (root.A.T @ here.g.ravel())).reshape(self.theta.shape)
            fit = self._end(here, root, step)
            if fit is not None:
                return fit
            slope, size = float(np.sum(here.g * step)), 1.0
            noise = self.rows.loss.size(here, self.theta, here.f, here.slopes), here.weight
            there = self.at(self.theta + step)
            while not (there.is_finite and lowers(there.f, here.f, size * slope, *noise)):
                size *= 0.5 if there.is_finite else 0.1
                if size < 1e-6:
                    return self._finished(here, "rounding")
                there = self.at(self.theta + size * step)
            self.theta, here, self.steps = self.theta + size * step, there, self.steps + 1

    def _end(self, here: Sums, root: Root, step: Array) -> NewtonFit | None:
        """The fit, where the minimum is near and proven so, or no step brings it nearer."""
        theta, nu = self.theta, float(np.sqrt(max(-float(np.sum(here.g * step)), 0.0)))
        if not np.any(self.rows.penalty):
            if here.least > 0:
                return self._finished(here, "separated")
            grows = float(np.max(np.abs(step) @ here.top)) > 0.5 and nu * nu < _FLAT * here.weight
            if self.steps > _MANY_STEPS and grows:
                return self._finished(here, "quasi")
        if self.steps >= self.max_iter:
            return self._finished(here, "max_iter")
        goal, ahead = self._goal(here), self._ahead(here, root, step)
        if ahead is not None and ahead[0] <= goal:
            fit = self._predicted(here, root, step, *ahead)
            if fit.certificate.kind == "optimal":
                return fit
        size = self.rows.loss.size(here, theta, here.f, here.slopes)
        if nu <= 0.01 * goal or is_noise(nu, size, here.weight):
            self.near += 1
            fit = self._finished(here, "converged" if nu <= goal else "rounding")
            if fit.certificate.kind == "optimal" or self.near > _TRIES or fit.rank < theta.size:
                return fit
        return None

    def _goal(self, here: Sums) -> float:
        """How small |g| is to be in the metric H^-1."""
        above = max(here.f - here.saturated, 0.0)
        close = self.tol * np.sqrt(here.weight * self.theta.size)
        return float(max(close, np.sqrt(2e-3 * self.tol * above)))

    def _rounding(self, here: Sums) -> Array:
        """Bound on what rounding may have done to each component of the gradient, (q,)."""
        rows = self.rows
        return gradient_rounding(rows.loss, here, rows.penalty, self.theta, here.slopes)

    def _ahead(self, here: Sums, root: Root, step: Array) -> tuple[float, float] | None:
        """Bounds on |g| after the step, in the metric at theta, and on how values move."""
        if root.eps >= 0.5 or root.rank < step.size:
            return None
        moves = np.abs(step) @ here.top
        s = float(moves[0]) if len(moves) == 1 else 2.0 * float(moves.max())
        if not s <= 1.0:
            return None
        # e^s - 1 - s cancels for a small s; s^2/2 (1 + s) is above it for s <= 1.
        curved = s / 2.0 * (1.0 + s)
        length = float(np.sqrt(max(float(step.ravel() @ (here.H @ step.ravel())), 0.0)))
        rest = np.abs(here.H @ step.ravel() + here.g.ravel())
        # theta + step is rounded, and so is H step.
        rounded = np.abs(self.theta + step) + step.size * np.abs(step)
        rest += UNIT * (np.abs(here.H) @ rounded.ravel())
        error = np.tile(self._rounding(here), len(step))
        doubt = float(np.linalg.norm(root.A, axis=1) @ (error + rest))
        bound = length * (curved + 2 * root.eps) + doubt
        return 1.02 * bound / float(np.sqrt(1.0 - root.eps)), s

    def _predicted(self, here: Sums, root: Root, step: Array, bound: float, s: float) -> NewtonFit:
        """The fit after a last step whose outcome is proven without a pass."""
        rows, theta, steps = self.rows, self.theta + step, self.steps + 1
        curvature = _curvature_bound(here)
        curvature = replace(curvature, loss=curvature.loss * float(np.exp(s)))
        # |g| in the metric M^-1 is at most that in H^-1, of whatever direction it is.
        each, share = np.zeros(theta.shape[1]), curvature.deviations()
        place = -1 if rows.intercept else 0
        each[place] = bound * float(np.exp(s / 2)) * _wider(here) / share[place]
        value = here.f + 0.5 * float(np.sum(here.g * step))
        rest = here.top, rows.scale, rows.shift, theta, value
        certificate = optimality(curvature, np.zeros_like(theta), each / np.sqrt(len(theta)), *rest)
        evidence = {k: v for k, v in certificate.evidence.items() if k != "gradient_norm"}
        evidence["passes"] = self.passes
        distance, bias = evidence["distance_bound"], evidence["intercept_bound"]
        said = (
            f"the weights are within {distance:.1e} of those that minimise the (penalised) loss, "
            f"|w - w*|, and the bias is within {bias:.1e}; the last of {steps} steps is bounded by "
            f"the sums of {self.passes} passes."
        )
        certificate = Certificate(certificate.kind, said, evidence)
        rank, made = root.rank, self.passes
        return concluded(rows, theta, value, certificate, rank, "converged", steps, made)

    def _finished(self, here: Sums, outcome: Outcome) -> NewtonFit:
        rows, theta = self.rows, self.theta
        rank = root_of(here.H, here.depth()).rank
        error, curvature = self._rounding(here), _curvature_bound(here)
        certificate = proof(rows, curvature, theta, here.f, here.g, error, here.top, rank)
        return concluded(rows, theta, here.f, certificate, rank, outcome, self.steps, self.passes)


def _curvature_bound(here: Sums) -> CurvatureBound:
    """M <= H(theta), in which distances are measured."""
    found = root_of(here.M if len(here.M) else here.H, here.depth())
    return CurvatureBound(found.A, 1.0 / (1.0 - found.eps) if found.eps < 0.5 else np.inf)


def _wider(here: Sums) -> float:
    """How much longer a gradient can be in the metric M^-1 than in H^-1."""
    if not len(here.M):
        return 1.0
    found = root_of(here.M, here.depth())
    A = np.kron(np.eye(len(here.g)), found.A)
    return float(np.sqrt(max(float(np.linalg.norm(A.T @ here.H @ A, 2)), 1.0))) * 1.01
