"""Logistic regression in a few passes: Newton's steps on sums over blocks, and a proof at the end.

A sample spread over the source gives the units and a start. Then every pass sums value, gradient g
and curvature H at theta. A step d = -H^-1 g that moves no value v by more than s leaves a gradient

    |g(theta + d)| <= |d|_H (e^s - 1 - s) / s    in the metric H^-1,

because H(theta + t d) stays within e^(±ts) H; so the last step needs no pass to be proven.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.optimality import Metric, optimality
from adaline.data.fitting._logistic_sums import Start, Sums, SumsOf, begin
from adaline.data.fitting._passes import Passes, Rows, class_array, union
from adaline.errors import DataError, SeparableError
from adaline.linalg import UNDERFLOW, UNIT
from adaline.objective import MANY, penalty_of, penalty_rounding
from adaline.procedures.newton.curvature import Root, root_of
from adaline.procedures.newton.newton_fit import NewtonFit
from adaline.results import Array, Certificate

_NONE = np.empty(0)
_TRIES = 3  # passes to prove a minimum that seems reached


def logistic(model: Any, passes: Passes, rows: Rows, classes: Any) -> Any:
    """LogisticRegression on a source that can be read again."""
    if isinstance(model.alpha, str):
        raise ValueError(
            f"alpha={model.alpha!r} needs all rows in memory; on a stream give a number."
        )
    model._check_parameters()
    if not passes.source.again:
        raise DataError(
            f"{passes.source.name} can be read once only, and logistic regression needs a few "
            "passes; save it to a file first, or use partial_fit."
        )
    p = len(rows.encoding.names)
    if p > MANY:
        raise DataError(f"{p} columns are too many for passes of Newton; {MANY} is the most.")
    known = () if classes is None else tuple(np.unique(np.asarray(classes)).tolist())
    while True:
        name = f"start {len(known)}"
        if name not in passes.done:
            passes.keep(name, begin(passes.source, rows, model, known))
        walk = _Walk(model, passes, rows, passes.done[name])
        fit = walk.descend()
        if fit is not None:
            break
        known = walk.start.labels
    _accept(model, fit, class_array(walk.start.labels, rows.target), p)
    return model


def _accept(model: Any, fit: NewtonFit, classes: NDArray[Any], p: int) -> None:
    model._state = model._known = model._shown = None
    model.n_features_in_, model.alpha_, model._information = p, float(model.alpha), None
    model._know(classes)
    model.n_iter_ = np.array([max(fit.steps, 1)], dtype=np.int32)
    model._accept(fit, np.dtype(np.float64))
    model._speak_up()


class _Walk:
    """Newton's steps; each evaluation is a pass."""

    def __init__(self, model: Any, passes: Passes, rows: Rows, start: Start):
        self.model, self.passes, self.rows, self.start = model, passes, rows, start
        self.intercept, self.pass_, self.top = bool(model.fit_intercept), 0, _NONE
        self.near = 0  # passes made near the minimum, to prove it
        self.penalty = penalty_of(float(model.alpha), start.scale)

    def at(self, theta: Array) -> Sums | None:
        """Sums at theta with the penalty, or None where there were labels nobody knew of."""
        name = f"newton {len(self.start.labels)} {self.pass_}"
        self.pass_ += 1
        function = SumsOf(self.rows, self.start, theta, self.intercept, self.top)
        s: Sums = self.passes.sums(name, function, lambda a, b: a + b)
        if s.strange:
            self.start = replace(self.start, labels=union(self.start.labels, s.strange))
            return None
        self.top = s.top
        K, q = theta.shape
        D = np.diag(self.penalty)
        H, M = s.H + (D if K == 1 else np.kron(np.eye(K), D)), s.M + D if K > 1 else s.M
        if not self.intercept:
            for k in range(q - 1, K * q, q):
                H[k], H[:, k], H[k, k] = 0.0, 0.0, 1.0
            if K > 1:
                M[-1, -1] = 1.0
        f = s.f + 0.5 * float(np.sum(self.penalty * theta**2))
        return replace(s, f=f, g=s.g + self.penalty * theta, H=H, M=M)

    def descend(self) -> NewtonFit | None:
        """The minimum; None where labels turned up that nobody knew of."""
        theta, here = self.start.theta, None
        steps, step = 0, np.zeros_like(self.start.theta)
        slope, size = 0.0, 1.0
        while True:
            there = self.at(theta + size * step)
            if there is None:
                return None
            noise = 64 * UNIT * (abs(there.f) + there.rows * UNIT)
            if here is not None and not there.f <= here.f + 1e-4 * size * slope + noise:
                size /= 2.0
                if size < 1e-6:
                    return self._finished(theta, here, "rounding", steps)
                continue
            theta, here, size = theta + size * step, there, 1.0
            root = root_of(here.H, self._depth(here))
            step = -(root.A @ (root.A.T @ here.g.ravel())).reshape(theta.shape)
            slope = float(np.sum(here.g * step))
            self._refuse_separable(here, step, steps)
            fit = self._enough(theta, here, root, step, steps)
            if fit is not None:
                return fit
            steps += 1

    def _refuse_separable(self, here: Sums, step: Array, steps: int) -> None:
        if float(self.model.alpha) > 0.0:
            return
        if here.least > 0:
            raise SeparableError(
                "a hyperplane separates the classes, so that maximum likelihood has no finite "
                "weights; give alpha > 0, or use MaxMargin or Perceptron."
            )
        if steps > 20 and float(np.max(np.abs(step) @ here.top)) > 0.5:
            raise SeparableError(
                "after 20 steps the weights still grow: the classes seem separable but for ties, "
                "and then maximum likelihood has no finite weights; give alpha > 0."
            )

    def _enough(
        self, theta: Array, here: Sums, root: Root, step: Array, steps: int
    ) -> NewtonFit | None:
        """The fit, where it is near the minimum and proven so, or can come no nearer."""
        nu, goal = np.sqrt(max(-float(np.sum(here.g * step)), 0.0)), self._goal(here, theta)
        if steps >= self.model.max_iter:
            return self._finished(theta, here, "max_iter", steps)
        ahead = self._ahead(theta, here, root, step)
        if ahead is not None and ahead[0] <= goal:
            fit = self._predicted(theta, here, root, step, ahead, steps + 1)
            if fit.certificate.kind == "optimal":
                return fit
        noise = 1e3 * UNIT * (abs(here.f) + here.rows * UNIT)
        if nu <= 0.01 * goal or nu * nu < noise:
            self.near += 1
            fit = self._finished(theta, here, "converged" if nu <= goal else "rounding", steps)
            if fit.certificate.kind == "optimal" or self.near > _TRIES or fit.rank < theta.size:
                return fit
        return None

    def _goal(self, here: Sums, theta: Array) -> float:
        """As in memory, or where the loss is within 1e-3 tol of the least: a pass may be dear."""
        tol = float(self.model.tol)
        return float(max(tol * np.sqrt(here.rows * theta.size), np.sqrt(2e-3 * tol * here.f)))

    def _depth(self, here: Sums) -> float:
        """Rounded additions behind a sum, at most: in the largest block, and over blocks."""
        return float(4096 + here.longest / 128 + here.blocks)

    def _rounding(self, theta: Array, here: Sums) -> Array:
        """Bound on what rounding may have done to each component of the gradient, (q,)."""
        q = theta.shape[1]
        reach = float(np.max(np.abs(theta) @ here.top))
        each = (self._depth(here) + 0.25 * (q + 3) * reach + 8.0) * UNIT * 1.01
        each *= 10.0 if len(theta) > 1 else 1.0  # rows whose means are near zero are not centred
        own = penalty_rounding(self.penalty, theta) + here.rows * UNDERFLOW
        return np.asarray(each * here.rows * here.top + own)

    def _metric(self, here: Sums) -> Metric:
        """M <= H(theta), in which distances are measured."""
        found = root_of(here.M if len(here.M) else here.H, self._depth(here))
        return Metric(found.A, 1.0 / (1.0 - found.eps) if found.eps < 0.5 else np.inf)

    def _ahead(
        self, theta: Array, here: Sums, root: Root, step: Array
    ) -> tuple[float, float] | None:
        """Bounds on |g| after the step, in the metric at theta, and on how values move."""
        if root.eps >= 0.5 or root.rank < theta.size:
            return None
        moves = np.abs(step) @ here.top
        s = float(moves[0]) if len(moves) == 1 else 2.0 * float(moves.max())
        if s > 1.0:
            return None
        # e^s - 1 - s cancels for a small s; s^2/2 (1 + s) is above it for s <= 1.
        curved = s / 2.0 * (1.0 + s)
        length = float(np.sqrt(max(float(step.ravel() @ (here.H @ step.ravel())), 0.0)))
        rest = here.H @ step.ravel() + here.g.ravel()
        error = np.tile(self._rounding(theta, here), len(theta))
        doubt = float(np.linalg.norm(root.A, axis=1) @ (error + np.abs(rest)))
        return 1.02 * (length * (curved + 2 * root.eps) + doubt), s

    def _predicted(
        self,
        theta: Array,
        here: Sums,
        root: Root,
        step: Array,
        ahead: tuple[float, float],
        steps: int,
    ) -> NewtonFit:
        """The fit after a last step whose outcome is proven without a pass."""
        bound, s = ahead
        metric = self._metric(here)
        metric = replace(metric, loss=metric.loss * float(np.exp(s)))
        after = theta + step
        # |g| in the metric M^-1 is at most that in H^-1, of whatever direction it is.
        each = np.zeros(theta.shape[1])
        share = metric.deviations()
        each[-1] = bound * float(np.exp(s / 2)) * self._wider(here, root) / share[-1]
        if not self.intercept:
            each[-1], each[0] = 0.0, each[-1] * share[-1] / share[0]
        value = here.f + 0.5 * float(np.sum(here.g * step))
        rest = here.top, self.start.scale, self.start.shift, after, value
        certificate = optimality(metric, np.zeros_like(theta), each / np.sqrt(len(theta)), *rest)
        evidence = {k: v for k, v in certificate.evidence.items() if k != "gradient_norm"}
        evidence["passes"] = self.pass_
        distance, bias = evidence["distance_bound"], evidence["intercept_bound"]
        said = (
            f"the minimum of the loss, with any penalty, is within {distance:.1e} of these "
            f"weights, |w - w*|, and the bias within {bias:.1e} of its own; the last of {steps} "
            f"steps is bounded by the sums of {self.pass_} passes."
        )
        certificate = Certificate(certificate.kind, said, evidence)
        return self._fit(after, certificate, "converged", steps, value, root.rank)

    def _wider(self, here: Sums, root: Root) -> float:
        """How much longer a gradient can be in the metric M^-1 than in H^-1."""
        if not len(here.M):
            return 1.0
        K = len(here.g)
        found = root_of(here.M, self._depth(here))
        A = np.kron(np.eye(K), found.A)
        return float(np.sqrt(max(float(np.linalg.norm(A.T @ here.H @ A, 2)), 1.0))) * 1.01

    def _finished(self, theta: Array, here: Sums, outcome: Any, steps: int) -> NewtonFit:
        metric = self._metric(here)
        error = self._rounding(theta, here)
        place = here.top, self.start.scale, self.start.shift, theta, here.f
        certificate = optimality(metric, here.g, error, *place)
        rank = root_of(here.H, self._depth(here)).rank
        if rank < theta.size and certificate.kind == "optimal":
            said = (
                "columns depend on others, so many weights give the same least loss; these are "
                "one choice."
            )
            certificate = Certificate("unproven", said, certificate.evidence)
        return self._fit(theta, certificate, outcome, steps, here.f, rank)

    def _fit(
        self, theta: Array, certificate: Certificate, outcome: Any, steps: int, f: float, rank: int
    ) -> NewtonFit:
        scale, shift = self.start.scale, self.start.shift
        W, b = theta[:, :-1] * scale, theta[:, -1] - theta[:, :-1] @ shift
        if not self.intercept:
            b = np.zeros(len(theta))
        why = {
            "converged": "the gradient is within the tolerance",
            "max_iter": "max_iter steps were made",
            "rounding": "rounding allows no further step",
        }[outcome]
        stopped = f"{why} ({steps} steps, {self.pass_} passes over the rows)."
        return NewtonFit(W, b, stopped, certificate, theta, outcome, steps, f, rank)
