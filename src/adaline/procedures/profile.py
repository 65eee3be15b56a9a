"""Profile-likelihood intervals: all values of one parameter that the data do not contradict.

With F(theta) the (penalised) loss, -log L, of least value F*, the profile of a parameter
beta = c'theta is F(beta) = min F(theta) where c'theta = beta, and the interval of a level is

    { beta : 2 (F(beta) - F*) <= chi2_1(level) }.

Unlike Wald's beta +- z error it need not be symmetric, is the same in all parametrisations, and
stays right where few samples, or rare events, make the likelihood far from a parabola. The root of
the left side is nearly linear in beta, so Newton's method finds where it reaches the level; each
profile on the way is a minimum, found by Newton's steps from the last one. Where the profile never
reaches the level, the bound is infinite. With Firth's penalty F is not convex, and values between
the bounds may be rejected: the bounds are the farthest values found that are not. Searches that
follow one minimum may miss others, so farther values may exist.

theta = beta e + N n: moving beta moves theta along e, and N spans what leaves beta as it is. The
curvature is only ever factored on N: it may be lost along the profile itself, where that is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from adaline.linalg import UNIT, Factor
from adaline.procedures.newton import correct
from adaline.results import Array
from adaline.sums.objective import Objective
from adaline.sums.scaled_rows import MANY

Pairs = list[tuple[Array, Array, float]]  # step s, change of gradient y, and s'y > 0

FAR = 1e7  # standard errors beyond which a bound is called infinite
TRUST = 10.0  # standard errors that one of Newton's steps may go
BEYOND, STRIDE = 100.0, 1.25  # how far beyond a crossing the next is searched, and in what steps
NEAR = 1e-3  # decrement, in standard errors, up to which theta counts as the minimum


@dataclass(frozen=True, eq=False)
class Place:
    """F, its slope (q,) and curvature (q, q) at theta."""

    theta: Array
    value: float
    g: Array
    H: Array


Criterion = Callable[[Array], Place]


def profile_intervals(
    loss: Objective, theta: Array, level: float, *, firth: bool = False
) -> tuple[Array, Array]:
    """Bounds (p + 1,) of the weights and, last, the bias, in the units of X; two classes.

    Parameters
    ----------
    loss : Objective
        The rows of the fit, and its penalty.
    theta : ndarray of shape (p + 1,)
        The minimum, in the units of the loss.
    level : float
        Between 0 and 1.
    firth : bool
        Whether Firth's penalty is part of the criterion.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
    q, goal = len(theta), float(ndtri((1.0 + level) / 2.0))
    if loss.K > 1 or loss.rows.is_wide:
        raise ValueError(
            f"profile intervals are for two classes and at most {MANY} features; here are "
            f"{max(loss.K, 2)} classes and {q - 1} features. Use intervals='wald'."
        )
    at = _criterion(loss, firth)
    best = _minimum(at, theta, not firth)
    low, high, seen = np.zeros(q), np.zeros(q), list[Place]()
    # What one parameter's search finds below the level may lie beyond the bounds of an earlier one.
    for j in [*range(q if loss.intercept else q - 1)] * (2 if firth else 1):
        e, N = np.zeros(q), np.delete(np.eye(q), j, axis=1)
        e[j] = 1.0
        if j == q - 1:  # the bias is theta_q - shift'theta
            N[-1] = loss.rows.shift
        line = _Line(at, e, N, best.H, not firth)
        unit = float(loss.rows.scale[j]) if j < q - 1 else 1.0
        beta = theta_of(best, j, loss)
        for bound, side in ((low, -1.0), (high, 1.0)):
            reach = _reach(line, best, goal, side, seen)
            if firth:
                far = [(side * (theta_of(place, j, loss) - beta), place) for place in seen]
                reach = _farthest(line, best, goal, side, reach, far, seen)
            bound[j] = (beta + side * reach) * unit
    return low, high


def theta_of(best: Place, j: int, loss: Objective) -> float:
    """The weight, or the bias at the origin of X, in the units of the loss."""
    q = len(best.theta)
    bias = best.theta[-1] - loss.rows.shift @ best.theta[:-1]
    return float(bias if j == q - 1 else best.theta[j])


def _criterion(loss: Objective, firth: bool) -> Criterion:
    unit = loss.rows.unit

    def plain(theta: Array) -> Place:
        here = loss.sums(theta[None], "joint")
        assert here.H is not None
        return Place(theta, here.f * unit, here.g[0] * unit, here.H * unit)

    if not firth:
        return plain
    from adaline.procedures.firth import Firth  # most fits have no use for it

    problem = Firth(loss)

    def penalised(theta: Array) -> Place:
        here = problem.sums(theta[None])
        assert here.H is not None
        return Place(theta, here.f, here.g[0], here.H)

    return penalised


def _minimum(at: Criterion, theta: Array, exact: bool) -> Place:
    """The minimum as good as rounding allows; an error where theta is not that of these rows."""
    here = at(theta)
    A = Factor(here.H).root()
    if not np.linalg.norm(A.T @ here.g) < NEAR:
        raise ValueError(
            "the fitted weights are not the likeliest of these rows; give profile intervals the "
            "very rows, labels and sample_weight of the fit."
        )
    free = _Line(at, np.zeros(len(theta)), np.eye(len(theta)), here.H, exact)
    return free.settled(here) or here


@dataclass(frozen=True, eq=False)
class _Line:
    """The profile of a parameter: e moves it, N (q, q - 1) spans what does not.

    near is the curvature at the minimum, in which the length of steps is measured; exact tells
    whether H is all of the curvature.
    """

    at: Criterion
    e: Array
    N: Array
    near: Array
    exact: bool = True

    def settled(self, here: Place) -> Place | None:
        """The minimum along N, by damped Newton's steps; None where they do not find it."""
        pairs: Pairs = []
        for _ in range(100):
            A, g = self._root(here), self.N.T @ here.g
            n = -correct(g, pairs, _solver(A))
            decrement = -float(g @ n)
            noise = 64.0 * UNIT * (1.0 + abs(here.value))
            if not decrement > noise / 64.0:
                # Where all curvature is gone, a slope that is left tells that this is no minimum.
                rest = float(np.linalg.norm(g - self._back(here, A @ (A.T @ g))))
                return here if rest <= 1e-6 * (1.0 + float(np.linalg.norm(here.g))) else None
            there = self._lower(here, self.N @ n, decrement, noise)
            if there is None or there.value >= here.value - 1e-3 * noise:
                return (there or here) if decrement <= 1e3 * noise else None
            if not self.exact:
                step = self.N.T @ (there.theta - here.theta)
                _remember(pairs, self._along(step), self.N.T @ (there.g - here.g))
            here = there
        return None

    def _along(self, step: Array) -> Array:
        """n of a step N n, from N'N n."""
        return np.asarray(np.linalg.solve(self.N.T @ self.N, step))

    def _back(self, here: Place, n: Array) -> Array:
        """The slope along N that a step N n removes, by the curvature here."""
        return np.asarray(self.N.T @ (here.H @ (self.N @ n)))

    def _lower(self, here: Place, d: Array, decrement: float, noise: float) -> Place | None:
        """Along d, not further than curvatures can be trusted, until the criterion is lower."""
        with np.errstate(over="ignore", invalid="ignore"):
            length = float(np.sqrt(d @ self.near @ d))
        if np.isfinite(length):
            size = min(1.0, TRUST / length) if length > 0.0 else 1.0
        else:
            most = float(np.abs(d).max())
            d, decrement, size = d / most, decrement / most, TRUST
        for _ in range(60):
            there = self.tried(here.theta + size * d)
            if there and there.value <= here.value - 1e-4 * size * decrement + noise:
                return there
            size *= 0.5
        return None

    def moved(self, here: Place, change: float) -> Place | None:
        """The profile where beta is changed: by the best linear guess, then settled."""
        there = self.tried(here.theta + change * self._tangent(here)[0])
        return None if there is None else self.settled(there)

    def error(self, here: Place) -> float:
        """The standard error of beta: one over the root of its curvature along the profile."""
        whole = float(self.e @ here.H @ self.e)
        along = max(self._tangent(here)[1], 1e-16 * whole, np.finfo(np.float64).tiny)
        return float(1.0 / np.sqrt(along))

    def _tangent(self, here: Place) -> tuple[Array, float]:
        """How theta moves with beta, and the curvature that is left on the way."""
        A, He = self._root(here), here.H @ self.e
        y = A.T @ (self.N.T @ He)
        return self.e - self.N @ (A @ y), float(self.e @ He) - float(y @ y)

    def _root(self, here: Place) -> Array:
        H = self.N.T @ here.H @ self.N
        return Factor(H).root() if np.any(np.diagonal(H) > 0.0) else np.zeros_like(H)

    def tried(self, theta: Array) -> Place | None:
        """The criterion, or None where it cannot be had: too far out."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                here = self.at(theta)
        except ValueError:
            return None
        return here if np.isfinite(here.value) and np.isfinite(here.H).all() else None


def _farthest(
    line: _Line,
    best: Place,
    goal: float,
    side: float,
    reach: float,
    far: list[tuple[float, Place]],
    seen: list[Place],
) -> float:
    """The last crossing of a profile that may come back below the level, as Firth's may.

    Beyond the first crossing, `reach`, the profile is followed for BEYOND times the way, and from
    the places `far` out that are known to be below the level. Where it is below the level again,
    the next crossing is searched from there.
    """

    def next_crossing(beta: float, place: Place | None) -> float | None:
        if place is None or not 2.0 * (place.value - best.value) < goal * goal:
            return None
        return _reach(line, best, goal, side, seen, (beta, place))

    for beta, place in sorted(far, key=lambda one: one[0]):
        if beta > reach:
            reach = next_crossing(beta, line.settled(place)) or reach
    step, start, place = reach, 0.0, best
    while 0.0 < step < reach * BEYOND and np.isfinite(reach):
        step *= STRIDE
        there = line.moved(place, side * (step - start))
        if there is None:
            break
        start, place = step, there
        crossing = next_crossing(step, there)
        if crossing is not None:
            reach = step = crossing
    return reach


def _reach(
    line: _Line,
    best: Place,
    goal: float,
    side: float,
    seen: list[Place] | None = None,
    begin: tuple[float, Place] | None = None,
) -> float:
    """How far beta can go to one side until sqrt(2 (F - F*)) = goal; inf where that is never.

    The search begins at the minimum, or at a distance and its profile below the level; what it
    finds below the level, or on it, is added to `seen`.

    Newton's steps on that root between an inner and an outer bound, always from the inner one. A
    step that leaves them, or is not half the last one, is replaced by one to their middle, or
    further out; NaN where the profile cannot be followed.
    """
    unit, place = line.error(best), best
    inner, outer, step, last = 0.0, np.inf, goal, np.inf  # in standard errors
    if begin is not None:
        inner, place = begin[0] / unit, begin[1]
        step = inner + goal
    close = 1e-10 * goal + 16.0 * UNIT * (1.0 + abs(best.value)) / goal
    for _ in range(300):
        there = line.moved(place, side * (step - inner) * unit)
        if there is None:  # too far to follow at once
            if not step - inner > 1e-12 * max(step, 1e-12):
                return float(np.nan)
            step = inner + 0.25 * (step - inner)
            continue
        r = float(np.sqrt(max(2.0 * (there.value - best.value), 0.0)))
        if seen is not None and r <= goal + close:
            seen.append(there)
        if abs(r - goal) <= close:
            return step * unit
        slope = side * float(there.g @ line.e) * unit / r if r > 0.0 else 0.0
        guess = step + (goal - r) / slope if slope > 0.0 else np.inf
        if r < goal:
            inner, place = step, there
        else:
            outer = step
        if inner >= FAR:
            return float(np.inf)
        last, before = abs(guess - step), last
        if np.isfinite(outer) and (not inner < guess < outer or last > 0.5 * before):
            guess = 0.5 * (inner + outer)
        step = min(guess, 4.0 * (inner + goal)) if guess > inner else 2.0 * inner
        if np.isfinite(outer) and outer - inner <= 1e-13 * outer:
            return step * unit
    return float(np.nan)


def _solver(A: Array) -> Callable[[Array], Array]:
    """The function g -> H^-1 g, for A A' = H^-1."""
    return lambda g: np.asarray(A @ (A.T @ g))


def _remember(pairs: Pairs, s: Array, y: Array) -> None:
    """Add a step and its change of gradient, if they show curvature."""
    sy = float(s @ y)
    if sy > 0.0:
        pairs[:] = [*pairs[-19:], (s, y, sy)]
