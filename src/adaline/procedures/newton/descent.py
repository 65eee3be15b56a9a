"""Newton's loop: steps until there is a reason to end, and what is said and proven then.

Rows in memory (`newton`) and passes over a file (`few_passes`) are two kinds of `State`, which say
how a step is made, each with its `Rule`, which says whether a further step pays. All else is here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Protocol, TypeVar

from adaline.certificates.optimality import CurvatureBound, Within, optimality
from adaline.errors import plural
from adaline.linalg import UNIT, inner
from adaline.objective import Evaluation, Objective
from adaline.procedures.steps import Steps
from adaline.results import Array, Certificate, NewtonFit, Outcome

E = TypeVar("E", bound=Evaluation)

_SAID = {
    "converged": "the gradient is within the tolerance",
    "max_iter": "max_iter steps were made",
    "rounding": "rounding allows no further step",
    "separated": "a hyperplane separates the classes, and without a penalty no minimum exists",
    "interrupted": "interrupted; these are the weights after the last complete step",
}


class State(Protocol):
    """theta, f and its gradient there, and how a step is made.

    loss has the penalty, the units and bounds on |z|; of passes over a file it holds no rows.
    `step` makes one step that lowers f, and is false where it had to be shortened or none was
    found. `bounded` is a lower bound on the Hessian, and nu, rho and delta of the proof by it.
    """

    loss: Objective
    theta: Array
    steps: int

    @property
    def here(self) -> Evaluation: ...
    @property
    def rank(self) -> int: ...
    def step(self) -> bool: ...
    def bounded(self) -> tuple[CurvatureBound, Within]: ...


class Rule(Protocol):
    """Whether to end, by what a further step costs and brings: the outcome, or None to go on."""

    def arrived(self, more: bool) -> Outcome | None:
        """Near enough to the minimum; more tells whether max_iter allows a further step."""
        ...

    def is_endless(self) -> bool:
        """Whether, without a penalty, weights grow for ever."""
        ...

    def after_step(self, moved: bool, whole: bool) -> Outcome | None:
        """No further step helps; whole tells that the step was not shortened."""
        ...


def descend(state: State, rule: Rule, max_iter: int) -> Steps[Outcome]:
    """Steps, each of which lowers f, and why they ended."""
    bare = not state.loss.penalty[:-1].any()
    while True:
        if bare and state.here.least > 0:
            return "separated"
        outcome = rule.arrived(state.steps < max_iter)
        if outcome is not None:
            return outcome
        if state.steps >= max_iter:
            return "max_iter"
        if bare and rule.is_endless():
            return "quasi"
        before, whole = state.steps, state.step()
        moved = state.steps > before
        if moved and (yield state.steps, state):
            return "interrupted"
        outcome = rule.after_step(moved, whole)
        if outcome is not None:
            return outcome


def line_search(
    at: Callable[[Array], E],
    theta: Array,
    d: Array,
    here: Evaluation,
    weight: float,
    size: float = 1.0,
    tries: int = 40,
) -> tuple[float, Array, E] | None:
    """The length, end and evaluation of the first step theta + size d that lowers f.

    size is halved until it does; None where all tries failed. weight is that of all rows.
    """
    slope = inner(here.g, d)
    for _ in range(tries):
        end = theta + size * d
        there = at(end)
        if lowers(there.f, here.f, size * slope, here.size, weight):
            return size, end, there
        size *= 0.5 if isfinite(there.f) else 0.1
    return None


def lowers(there: float, here: float, slope: float, size: float, weight: float) -> bool:
    """Whether f fell by 1e-4 of what the slope promised (Armijo), up to the rounding of f.

    size is the sum of the sizes of the terms of f, weight the sum of the sample weights.
    """
    return there <= here + 1e-4 * slope + 64 * UNIT * (size + weight * UNIT)


def is_noise(nu: float, size: float, weight: float) -> bool:
    """Whether the decrease still possible, nu^2 / 2, drowns in the rounding of f."""
    return nu * nu < 1e3 * UNIT * (size + weight * UNIT)


def concluded(state: State, outcome: Outcome, passes: int = 0) -> NewtonFit:
    """The fit and its proof; passes are told where rows were read from a file."""
    rest = _proof(state), state.rank, outcome, state.steps, passes
    return fit_of(state.loss, state.theta, state.here.f, *rest)


def fit_of(
    loss: Objective,
    theta: Array,
    f: float,
    certificate: Certificate,
    rank: int,
    outcome: Outcome,
    steps: int,
    passes: int,
) -> NewtonFit:
    """The fit, its weights in the units of X, and why steps ended."""
    W, b = loss.original(theta)
    why = loss.loss.endless if outcome == "quasi" else _SAID[outcome]
    read = f", {plural(passes, 'pass')} over the rows" if passes else ""
    stopped = f"{why} ({plural(steps, 'step')}{read})."
    return NewtonFit(W, b, stopped, certificate, theta, outcome, steps, f, rank)


def _proof(state: State) -> Certificate:
    """How near the minimum is."""
    loss, theta, here = state.loss, state.theta, state.here
    found = optimality(*state.bounded(), here.g, loss.scale, loss.shift, theta, here.f)
    if state.rank < theta.size:
        said = (
            "the curvature is singular to rounding, as it is where columns depend on others: many "
            "weights may give the same least loss, and these are one choice."
        )
        return Certificate("unproven", said, found.evidence)
    return found
