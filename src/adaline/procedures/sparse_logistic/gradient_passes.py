"""L-BFGS for the penalised logistic loss, where an evaluation is a pass over rows out of memory.

A pass gives the loss and its gradient, both as small as the weights. The steps are those of Nocedal
(1980), from the diagonal of the curvature at weights zero of columns less their means, which makes
columns of any scale cost the same. Without the means, counts of words, which are never negative,
would all pull at the bias: generated documents took three times as many passes, real ones up to 1.7
times. The steps end when `certificates.strong_convexity` proves the relative gap.

All that is known between two passes is a `Descent`: plain arrays, so that it can be written down,
and a run that goes on from it takes the same steps. It holds about 2 PAIRS + 6 vectors like theta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from adaline.certificates.strong_convexity import RowSizes, certificate_of, gap_of, relative
from adaline.objective import Objective
from adaline.procedures.newton.descent import fit_of, lowers
from adaline.procedures.sparse_logistic.gradient_sums import ClassSums, GradientSums
from adaline.results import Array, NewtonFit, Outcome

PAIRS = 10  # steps that L-BFGS remembers
_SMALLEST = 1e-6  # part of a step that is tried, at least
_LEAST = 1e-8  # of a column's sum of squares is taken to be left without its mean, at least
_FAR = 16.0  # times the gap that rounding may make: a gradient nearer than that may be all rounding

Pass = Callable[[Array], GradientSums]  # sums over all rows at theta


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the descent is, and where it looks next: theta + size step.

    Attributes
    ----------
    theta : ndarray of shape (K, p + 1)
        Weights and, last, the bias.
    f, g, curvature, reach
        As in `GradientSums`, with the penalty.
    centre : ndarray of shape (p,)
        Means of the columns, or zeros without a bias.
    diagonal : ndarray of shape (K, p + 1)
        Of the curvature at the start, of columns less their centre.
    steps, changes : ndarray of shape (pairs, K, p + 1)
        The last steps, and how each changed g.
    step, size : ndarray of shape (K, p + 1), and float
    made, passes : int
        Steps and passes so far.
    sizes : RowSizes
    """

    theta: Array
    f: float
    g: Array
    curvature: Array
    reach: float
    centre: Array
    diagonal: Array
    steps: Array
    changes: Array
    step: Array
    size: float
    made: int
    passes: int
    sizes: RowSizes


def begun(first: ClassSums, alpha: float, intercept: bool) -> Descent:
    """At weights zero and the best bias for them, whose loss and gradient the class sums tell."""
    K, L, p = first.outputs, len(first.labels), len(first.squares)
    whole = float(first.weight.sum())
    share = first.weight / whole if intercept else np.full(L, 1.0 / L)
    f = -float(first.weight @ np.log(share))
    total = first.rows.sum(axis=0)
    if K == 1:
        b = np.log(share[1] / share[0]) if intercept else 0.0
        G, slopes = share[1] * total - first.rows[1], np.array([share[1] * whole - first.weight[1]])
        bent, G = np.array([share[0] * share[1]]), G[None, :]
        H = np.array([[whole * bent[0]]])
    else:
        b = np.log(share) - np.log(share).mean()
        G, slopes = share[:, None] * total - first.rows, share * whole - first.weight
        bent = share * (1.0 - share)
        H = whole * (np.diag(share) - np.outer(share, share))
    theta = np.zeros((K, p + 1))
    theta[:, -1] = b
    centre = total / whole if intercept else np.zeros(p)
    spread = np.maximum(first.squares - whole * centre**2, _LEAST * first.squares)
    curved = np.column_stack([bent[:, None] * spread + alpha, bent * whole])
    g = np.column_stack([G, slopes])
    if not intercept:
        H, g[:, -1], curved[:, -1] = np.empty((0, 0)), 0.0, 1.0
    reach = float(bent.sum()) * first.sizes.terms_squares  # more than the sum of |x|^2
    none = np.empty((0, *theta.shape))
    here = Descent(theta, f, g, H, reach, centre, curved, none, none, none, 1.0, 0, 1, first.sizes)
    return _directed(here)


def minimum_in_passes(
    here: Descent,
    sums: Pass,
    keep: Callable[[Descent], None],
    units: Objective,
    max_passes: int,
    tol: float,
) -> NewtonFit:
    """theta whose loss is proven to be within tol of the least, relative to it.

    units holds the penalty and no rows; keep gets the descent after every pass.
    """
    alpha = float(units.penalty[0])
    while True:
        found = gap_of(here.g, here.curvature, here.reach, here.sizes, here.theta, alpha)
        outcome: Outcome | None = None
        if relative(found, here.f) <= tol:
            outcome = "converged"
        elif here.size < _SMALLEST or found.gap < _FAR * found.rounding > tol * here.f:
            outcome = "rounding"
        elif here.passes >= max_passes:
            outcome = "max_iter"
        if outcome is not None:
            certificate = certificate_of(found, here.f, tol, here.passes)
            rest = certificate, here.theta.size, outcome, here.made, here.passes
            return fit_of(units, here.theta, here.f, *rest)
        here = _after(here, sums(here.theta + here.size * here.step), units)
        keep(here)


def _after(here: Descent, there: GradientSums, units: Objective) -> Descent:
    """The descent after a pass at theta + size step: there, or with a smaller step in mind."""
    theta = here.theta + here.size * here.step
    f = there.f + 0.5 * float(np.sum(units.penalty * theta**2))
    g = there.g + units.penalty * theta
    slope, passes = float(np.sum(here.g * here.step)), here.passes + 1
    if not (np.isfinite(f) and np.isfinite(g).all()):
        return replace(here, size=0.1 * here.size, passes=passes)
    if not lowers(f, here.f, here.size * slope, here.f, here.sizes.weight):
        # The parabola through f, its slope and the new f has its minimum at this part of the step.
        best = -slope * here.size / (2.0 * (f - here.f - slope * here.size))
        return replace(here, size=here.size * float(np.clip(best, 0.1, 0.5)), passes=passes)
    moved, change = (theta - here.theta)[None], (g - here.g)[None]
    steps, changes = here.steps, here.changes
    if float(np.sum(moved * change)) > 0.0:
        steps = np.concatenate([steps[-PAIRS + 1 :], moved])
        changes = np.concatenate([changes[-PAIRS + 1 :], change])
    moved_on = replace(
        here,
        theta=theta,
        f=f,
        g=g,
        curvature=there.curvature,
        reach=there.reach,
        steps=steps,
        changes=changes,
        made=here.made + 1,
        passes=passes,
    )
    return _directed(moved_on)


def _directed(here: Descent) -> Descent:
    """With the next step to try: minus g times the inverse curvature, as the last steps tell it."""
    q, parts = here.g.copy(), []
    pairs = list(zip(here.steps, here.changes, strict=True))
    for s, y in reversed(pairs):
        rho = 1.0 / float(np.sum(s * y))
        parts.append((rho, rho * float(np.sum(s * q))))
        q -= parts[-1][1] * y
    # In units of columns less their centre, v = w'(x - centre) + b', and b = b' - w'centre.
    q[:, :-1] -= q[:, -1:] * here.centre
    q /= here.diagonal
    q[:, -1] -= q[:, :-1] @ here.centre
    for (s, y), (rho, part) in zip(pairs, reversed(parts), strict=True):
        q += (part - rho * float(np.sum(y * q))) * s
    if len(q) > 1:  # what the biases of all classes share changes nothing, and would drift
        q[:, -1] -= q[:, -1].mean()
    return replace(here, step=-q, size=1.0)
