"""Newton's procedure for the logistic loss, its curvature renewed only when that pays.

A step is H^-1 g with H the curvature at an earlier theta, corrected by what the gradients since
have told (L-BFGS); a pass for the gradient costs much less than one for the curvature. The start is
the minimum for a spread sample of the rows. Every step must lower f.

Lecture: 5.9, logistic regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from adaline.certificates.optimality import Metric, optimality, radius
from adaline.linalg import UNIT
from adaline.objective import FEW, MANY, Evaluation, LogisticLoss
from adaline.procedures._alo import least, leave_one_out
from adaline.procedures._curvature import Curvature, curvature, metric
from adaline.procedures._newton_fit import NewtonFit, Outcome
from adaline.procedures._rows import row_space
from adaline.results import Array, Certificate

Watch = Callable[[Array, Array, float, float], None]  # gets W, b, f and |g| after each step

_MEMORY = 20  # pairs of steps and changes of gradient that are kept
_SAMPLE = 4096  # rows of the sample to start from, at least
_ROWS = 1000  # rows up to which their n x n side is the way to very many features
_WORK = 1e8  # n q^2 up to which all rows are summed
_SAID = {
    "converged": "the gradient is within the tolerance",
    "max_iter": "max_iter steps were made",
    "rounding": "rounding allows no further step",
    "separated": "a hyperplane separates the classes, and without a penalty no minimum exists",
    "quasi": "weights grow without bound: the classes are separable but for ties",
    "interrupted": "interrupted; these are the weights after the last complete step",
}


@dataclass(eq=False)
class _Walk:
    """Where we are, and what we know of the surroundings."""

    loss: LogisticLoss
    theta: Array
    here: Evaluation
    root: Array
    known: Curvature
    pairs: list[tuple[Array, Array, float]] = field(default_factory=list)
    steps: int = 0
    full: int = 0  # rank of the first curvature
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
        return float(np.sqrt(max(np.sum(g * self.known.solve(g)), 0.0)))

    def direction(self) -> Array:
        """-H^-1 g, H corrected by the pairs (the two loops of L-BFGS)."""
        r = self.here.g.copy()
        shares = []
        for s, y, sy in reversed(self.pairs):
            shares.append(float(np.sum(s * r)) / sy)
            r -= shares[-1] * y
        r = self.known.solve(r)
        for (s, y, sy), share in zip(self.pairs, reversed(shares), strict=True):
            r += (share - float(np.sum(y * r)) / sy) * s
        return -r

    @property
    def lost(self) -> bool:
        """Whether columns that were independent at first no longer are: probabilities of 0 and 1
        have taken the curvature away."""
        return self.known.exact and self.known.roots[0].rank < self.full

    def renew(self, every: int) -> None:
        """Curvature of the rows at theta; what gradients told is in it."""
        self.known = curvature(self.loss, self.theta, self.root, every)
        self.pairs.clear()

    def proven(self) -> bool:
        """Whether the minimum is proven to be near."""
        near, error = self.metric(), self.loss.rounding(self.theta)
        return bool(np.isfinite(radius(near, self.here.g, error, self.loss.top)[2]))

    def metric(self) -> Metric:
        """What the proof of optimality measures with, at theta."""
        if self.measured is None or self.measured[0] is not self.theta:
            regular = self.full == self.theta.size
            near = metric(self.loss, self.theta, self.root, self.known, regular)
            self.measured = self.theta, near
        return self.measured[1]

    def step(self) -> bool:
        """One step that lowers f, or False where none is found; the root is of the new theta."""
        d = self.direction()
        slope = float(np.sum(self.here.g * d))
        noise = 64 * UNIT * (abs(self.here.f) + self.loss.weight * UNIT)
        size = 1.0
        for _ in range(40):
            theta = self.theta + size * d
            there = self.loss.at(theta, *_rooms(self.loss, self.root))
            if there.f <= self.here.f + 1e-4 * size * slope + noise:
                change = there.g - self.here.g
                sy = size * float(np.sum(d * change))
                if sy > 0:
                    self.pairs = [*self.pairs[1 - _MEMORY :], (size * d, change, sy)]
                self.theta, self.here, self.steps = theta, there, self.steps + 1
                return size == 1.0
            size *= 0.5 if np.isfinite(there.f) else 0.1
        self.loss.at(self.theta, *_rooms(self.loss, self.root))
        return False


def newton(
    loss: LogisticLoss,
    max_iter: int = 100,
    tol: float = 1e-8,
    start: Array | None = None,
    watch: Watch | None = None,
) -> NewtonFit:
    """theta that minimises f, with a bound on its distance from the minimum.

    Stops where the gradient, in the metric of the inverse curvature (so that it tells how many
    standard errors the weights are off, root of mean square) and divided by the root of the number
    of samples, is below tol, and the minimum is proven to be near.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    theta = np.zeros((loss.K, q)) if start is None else start
    spare = n // max(_SAMPLE, 50 * q * loss.K)
    if start is None and q <= MANY and spare >= 4:
        theta = _from_a_sample(loss, min(16, spare))
    if start is None and q > MANY and n <= _ROWS and np.all(loss.penalty[:-1] > 0):
        few, back = row_space(loss)
        inner = newton(few, max_iter, tol, np.zeros((loss.K, few.X.shape[1] + 1)))
        theta = np.column_stack([back(inner.W), inner.b])
    walk = _begin(loss, theta)
    walk.watch = watch
    walk.look()
    try:
        outcome = _descend(walk, max_iter, tol * np.sqrt(loss.weight * theta.size), proven=True)
    except KeyboardInterrupt:
        outcome = "interrupted"
        walk.here = loss.at(walk.theta, *_rooms(loss, walk.root))  # a trial may have left its own
    return _finished(walk, outcome)


def newton_auto(
    loss: LogisticLoss, max_iter: int, tol: float, watch: Watch | None = None
) -> tuple[NewtonFit, float]:
    """The fit, and the penalty alpha, of least approximate leave-one-out loss."""
    start: list[Array] = []

    def score(alpha: float) -> float:
        here = loss.with_penalty(alpha)
        walk = _begin(here, start[-1] if start else np.zeros((loss.K, len(loss.penalty))))
        _descend(walk, max_iter, 1e-4 * np.sqrt(loss.weight), proven=False)
        start.append(walk.theta)
        return leave_one_out(here, walk.theta, walk.root)

    spread = float(np.median((loss.length[:-1] / loss.scale) ** 2))
    alpha = least(score, spread if spread > 0 else 1.0)
    return newton(loss.with_penalty(alpha), max_iter, tol, watch=watch), alpha


def _begin(loss: LogisticLoss, theta: Array) -> _Walk:
    root = np.empty(loss.X.shape[0] if loss.K == 1 else (loss.X.shape[0], loss.K))
    here = loss.at(theta, *_rooms(loss, root))
    walk = _Walk(loss, theta, here, root, curvature(loss, theta, root, _thinning(loss)))
    walk.full = walk.known.roots[0].rank if walk.known.exact else theta.size
    return walk


def _thinning(loss: LogisticLoss) -> int:
    """A curvature of every so many-th row is good enough for steps."""
    n, q = loss.X.shape[0], len(loss.penalty)
    return int(np.clip(n // (25 * q), 1, 4)) if n * q * q > _WORK else 1


def _rooms(loss: LogisticLoss, root: Array) -> tuple[Array, Array]:
    """Where `LogisticLoss.at` writes: root for two classes, probabilities for more."""
    none = np.empty(0)
    return (root, none) if loss.K == 1 else (none, root)


def _from_a_sample(loss: LogisticLoss, every: int) -> Array:
    """About the minimum for every so many-th row: as near as such a sample can tell."""
    few = loss.thinned(every)
    zero = np.zeros((loss.K, len(loss.penalty)))
    walk = _begin(few, zero)
    outcome = _descend(walk, 30, 0.1 * np.sqrt(every * zero.size), proven=False)
    return zero if outcome in ("separated", "quasi") else walk.theta


def _descend(walk: _Walk, max_iter: int, goal: float, *, proven: bool) -> Outcome:
    """Step until nu <= goal, and with `proven` until the minimum is proven near."""
    loss = walk.loss
    bare = not np.any(loss.penalty[:-1])
    price = 2.0 + len(loss.penalty) / 25.0 / _thinning(loss)  # of a curvature, in gradients
    brief = 0 if len(loss.penalty) <= FEW and walk.known.exact else 3
    nu, since, stuck, still, renewals = walk.nu, 0, 0, 0, 0
    while True:
        if bare and walk.here.least > 0:
            return "separated"
        if nu <= goal and not walk.lost and (not proven or walk.proven()):
            return "converged"
        if walk.steps >= max_iter:
            return "max_iter"
        if bare and (walk.lost or (nu <= goal and walk.steps > 20)):
            return "quasi"
        steps, whole_step = walk.steps, walk.step()
        still = still + 1 if walk.steps == steps else 0
        if not still:
            walk.look()
        if still > 3:
            return "rounding"
        before, nu, since = nu, walk.nu, since + 1
        ratio = nu / before if before > 0 else 1.0
        stuck = stuck + 1 if not whole_step or ratio > 0.9 else 0
        if nu <= goal and ratio > 0.5 and stuck > 3:
            return "rounding" if not bare else "quasi"
        if stuck > 12 and since > 1 and walk.known.exact and _noisy(walk, nu):
            return "rounding"
        left = np.log(max(nu / goal, 1.0)) / -np.log(ratio) if ratio < 1.0 else np.inf
        patience = brief if renewals == 0 or walk.known.exact else 15
        if (left > price or not whole_step) and since > patience and nu > 0.1 * goal:
            walk.renew(_thinning(loss) if whole_step else 1)
            nu, since, renewals = walk.nu, 0, renewals + 1


def _noisy(walk: _Walk, nu: float) -> bool:
    """Whether the decrease still possible, nu^2 / 2, drowns in the rounding of f."""
    return nu * nu < 1e3 * UNIT * (abs(walk.here.f) + walk.loss.weight * UNIT)


def _finished(walk: _Walk, outcome: Outcome) -> NewtonFit:
    loss, theta = walk.loss, walk.theta
    W, b = loss.original(theta)
    rank = walk.known.roots[0].rank if walk.known.exact else theta.size
    near = walk.metric()
    certificate = optimality(
        near,
        walk.here.g,
        loss.rounding(theta),
        loss.top,
        loss.scale,
        loss.shift,
        theta,
        walk.here.f,
    )
    if rank < theta.size and certificate.kind == "optimal":
        certificate = Certificate(
            "unproven",
            "columns depend on others, so many weights give the same least loss; these are one "
            "choice.",
            certificate.evidence,
        )
    stopped = f"{_SAID[outcome]} ({walk.steps} steps)."
    return NewtonFit(W, b, stopped, certificate, theta, outcome, walk.steps, walk.here.f, rank)
