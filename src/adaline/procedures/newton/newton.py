"""Newton's procedure for the logistic loss, its curvature renewed only when that pays.

A pass for the gradient costs much less than one for the curvature, and a curvature of some of the
rows is good enough for steps (see `_newton_state`, and `_stride` for how many). The start is the
minimum for a spread sample of the rows where they are many, else zero.

Lecture: 5.9, logistic regression.
"""

from __future__ import annotations

import numpy as np

from adaline.linalg import UNIT
from adaline.objective import FEW, MANY, Objective
from adaline.procedures.newton import _stride
from adaline.procedures.newton._leave_one_out import least, leave_one_out
from adaline.procedures.newton._newton_state import Walk, Watch, begin
from adaline.procedures.newton.curvature import EXACT
from adaline.procedures.newton.newton_fit import NewtonFit, Outcome
from adaline.procedures.newton.rows import row_space, scatters
from adaline.procedures.newton.stopping import concluded, is_noise, proof
from adaline.results import Array

_SAMPLE = 4096  # rows of the sample to start from, at least
_ROWS = 1000  # rows up to which their n x n side is the way to very many features
_CHEAP = 2**16  # numbers in the rows, up to which a further step costs next to nothing
_DEAR = 100.0  # times tol: the part of a weight that is worth a step, however many rows there are


def newton(
    loss: Objective,
    max_iter: int = 100,
    tol: float = 1e-8,
    start: Array | None = None,
    watch: Watch | None = None,
) -> NewtonFit:
    """theta that minimises f, with a bound on its distance from the minimum.

    Stops where the gradient, in the metric of the inverse curvature (so that it tells how many
    standard errors the weights are off, root of mean square) and divided by the root of the number
    of samples, is below tol, the next step would change no weight by a part of more than tol (see
    `_is_fine`), and the minimum is proven to be near.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    theta = loss.loss.start(loss) if start is None else start
    spare = n // max(_SAMPLE, 50 * q * loss.K)
    if start is None and q <= MANY and spare >= 4:
        theta = _from_a_sample(loss, min(16, spare))
    if start is None and q > MANY and n <= _ROWS and np.all(loss.penalty[:-1] > 0):
        few, back = row_space(loss)
        inner = newton(few, max_iter, tol, few.loss.start(few))
        theta = np.column_stack([back(inner.W), inner.b])
    goal = tol * np.sqrt(loss.weight * theta.size)
    walk = begin(loss, theta, goal)
    walk.watch = watch
    walk.look()
    try:
        outcome = _descend(walk, max_iter, goal, proven=True, tol=tol)
    except KeyboardInterrupt:
        outcome = "interrupted"
        walk.here = loss.at(walk.theta, walk.root)  # a trial may have left its own
    return _finished(walk, outcome)


def newton_auto(
    loss: Objective, max_iter: int, tol: float, watch: Watch | None = None
) -> tuple[NewtonFit, float]:
    """The fit, and the penalty alpha, of least approximate leave-one-out loss."""
    start: list[Array] = []

    def score(alpha: float) -> float:
        here = loss.with_penalty(alpha)
        goal = 1e-4 * np.sqrt(loss.weight)
        walk = begin(here, start[-1] if start else loss.loss.start(loss), goal)
        _descend(walk, max_iter, goal, proven=False)
        start.append(walk.theta)
        return leave_one_out(here, walk.theta, walk.root)

    middle = float(np.median(scatters(loss)))
    alpha = least(score, middle if 0.0 < middle < np.inf else 1.0)
    return newton(loss.with_penalty(alpha), max_iter, tol, watch=watch), alpha


def _from_a_sample(loss: Objective, every: int) -> Array:
    """About the minimum for every so many-th row: as near as such a sample can tell."""
    few = loss.thinned(every)
    start = loss.loss.start(few)
    goal = 0.1 * np.sqrt(every * start.size)
    walk = begin(few, start, goal)
    outcome = _descend(walk, 30, goal, proven=False)
    return start if outcome in ("separated", "quasi") else walk.theta


def _descend(
    walk: Walk, max_iter: int, goal: float, *, proven: bool, tol: float = np.inf
) -> Outcome:
    """Step until nu <= goal, and with `proven` until the minimum is proven near.

    The steps after that, until weights are fine, end where one wins less than a digit.
    """
    loss = walk.loss
    bare = not np.any(loss.penalty[:-1])
    # No mean slope is to be above tol, columns measured by their deviations.
    steepest = goal / np.sqrt(walk.theta.size) * np.where(loss.length > 0, loss.length, np.inf)
    brief = 0 if len(loss.penalty) <= FEW and walk.known.exact else 3
    nu, since, stuck, still, renewals = walk.nu, 0, 0, 0, 0
    ratio, finer = 1.0, 0  # finer: steps after nu <= goal, for the sake of weights
    while True:
        if bare and walk.here.least > 0:
            return "separated"
        level = not proven or bool(np.all(np.abs(walk.here.g) <= steepest))
        near = nu <= goal and level and not walk.lost
        wins = walk.steps < max_iter and (finer == 0 or ratio < 0.1)
        if near and wins and not _is_fine(walk, tol):
            finer += 1
        elif near and (not proven or walk.proven()):
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
            if proven and not walk.lost and walk.proven():  # but for a mean slope
                return "converged"
            return "rounding" if not bare else "quasi"
        if (
            stuck > 12
            and since > 1
            and walk.known.exact
            and is_noise(nu, walk.here.size, loss.weight)
        ):
            return "rounding"
        left = np.log(max(nu / goal, 1.0))
        more = left / -np.log(max(ratio, UNIT)) if ratio < 1.0 else np.inf
        patience = brief if renewals == 0 or (walk.known.exact and not walk.known.shrunk) else 15
        if since > patience and nu > 0.1 * goal and (not whole_step or more > _anew(loss, left)):
            walk.renew(left, 0 if whole_step else 1)
            nu, since, renewals = walk.nu, 0, renewals + 1


def _is_fine(walk: Walk, tol: float) -> bool:
    """Whether a further step would change no weight w_j by more than tol max(|w_j|, its error).

    nu is small against the standard errors, which does not make it small against the weights:
    where columns nearly depend on each other, standard errors are large. A step costs the more
    the more numbers there are in the rows; then the part may be up to _DEAR tol, and weights are
    measured by their root of mean square rather than each by itself.
    """
    if not np.isfinite(tol):
        return True
    K, q = walk.theta.shape
    cost = float(np.clip(walk.loss.X.shape[0] * q * K / _CHEAP, 1.0, _DEAR))
    w, error = walk.theta[:, :-1], walk.known.deviations().reshape(-1, q)[:, :-1]
    usual = np.sqrt(np.mean(w * w)) * (1.0 - 1.0 / cost)
    size = np.maximum(np.maximum(np.abs(w), error), usual)
    return bool(np.all(np.abs(walk.direction()[:, :-1]) <= tol * cost * size))


def _anew(loss: Objective, left: float) -> float:
    """Passes that a new curvature, and the way to the minimum with it, would cost."""
    n, K, q = loss.X.shape[0], loss.K, len(loss.penalty)
    if n * q * q <= _stride.WORK:  # a step with a new curvature wins twice the digits
        return 2.0 + q / 25.0
    if K > 1 and K * q <= EXACT:
        return _stride.price(loss, 1, K * (K + 1) // 2) + _stride.passes(loss, 1, left)
    every = _stride.cheapest(loss, left, sums=K)
    return _stride.price(loss, every, K) + _stride.passes(loss, every, left)


def _finished(walk: Walk, outcome: Outcome) -> NewtonFit:
    loss, theta, here = walk.loss, walk.theta, walk.here
    rank = walk.known.roots[0].rank if walk.known.exact else theta.size
    error = loss.rounding(theta, here)
    certificate = proof(loss, walk.metric(), theta, here.f, here.g, error, loss.top, rank)
    return concluded(loss, theta, here.f, certificate, rank, outcome, walk.steps)
