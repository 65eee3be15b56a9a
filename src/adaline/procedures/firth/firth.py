"""Firth's penalised likelihood: finite weights even where a hyperplane separates the classes.

    maximise    log L(theta) + log |I(theta)| / 2

with I the Fisher information. It removes the first-order bias of maximum likelihood; in a table of
counts it adds 1/2 to every cell (D. Firth, Biometrika 80, 1993). The slope of two classes is
sum_i (omega_i (y_i - p_i) + h_i (1/2 - p_i)) z_i with h_i the leverages; see `jeffreys` for more.
"""

from __future__ import annotations

import numpy as np

from adaline.errors import plural
from adaline.objective import Objective
from adaline.procedures.firth.jeffreys import Point, jeffreys
from adaline.procedures.newton.curvature import Pairs, corrected, remember, solver
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array, Certificate, NewtonFit, Outcome
from adaline.row_sums.objective_sums import MANY

MOST = 100  # parameters of more than two classes; each step costs n times their square


@Stepwise
def firth(loss: Objective, max_iter: int = 100, tol: float = 1e-8) -> Steps[NewtonFit]:
    """theta where Firth's score is zero, by Fisher scoring with L-BFGS corrections."""
    q = len(loss.penalty)
    if loss.is_wide or (loss.K > 1 and (loss.K - 1) * q > MOST):
        raise ValueError(
            f"Firth's penalty is for two classes and at most {MANY} features, or for more and at "
            f"most {MOST} parameters; here are {max(loss.K, 2)} classes and {q - 1} features. Give "
            "alpha a positive number."
        )
    loss = loss.with_penalty(0.0)
    theta, steps, nu = np.zeros((loss.K, q)), 0, np.inf
    pairs: Pairs = []
    here, goal = jeffreys(loss, theta), tol * np.sqrt(loss.weight)
    outcome: Outcome = "max_iter"
    try:
        while True:
            nu = float(np.linalg.norm(here.A.T @ here.g.ravel()))
            if nu <= goal:
                outcome = "converged"
            if nu <= goal or steps >= max_iter:
                break
            theta, here = _step(loss, theta, here, pairs)
            steps += 1
            if (yield steps, None):
                outcome = "interrupted"
                break
    except KeyboardInterrupt:
        outcome = "interrupted"
    return _finished(loss, theta, here, nu, outcome, steps)


def _step(loss: Objective, theta: Array, here: Point, pairs: Pairs) -> tuple[Array, Point]:
    """One step, halved until Firth's criterion does not grow.

    The step is -I^-1 g, corrected by L-BFGS: I leaves out the curvature of the penalty, which is
    not small where samples are few.
    """
    d, free = (
        np.zeros_like(theta),
        corrected(here.g.ravel(), pairs, solver(here.A)),
    )
    d[-len(here.g) :] = -free.reshape(here.g.shape)
    size = 1.0
    for _ in range(30):
        there = _tried(loss, theta + size * d)
        if there is not None and there.value <= here.value + 1e-12 * (abs(here.value) + 1.0):
            remember(pairs, -size * free, (there.g - here.g).ravel())
            return theta + size * d, there
        size /= 2
    pairs.clear()
    return theta, here


def _tried(loss: Objective, theta: Array) -> Point | None:
    """Firth's criterion, or None where probabilities of 0 and 1 leave no curvature."""
    try:
        return jeffreys(loss, theta)
    except ValueError:
        return None


def _finished(
    loss: Objective, theta: Array, here: Point, nu: float, outcome: Outcome, steps: int
) -> NewtonFit:
    theta = theta - theta.mean(axis=0) if loss.K > 1 else theta  # no class is the reference
    W, b = loss.original(theta)
    converged = outcome == "converged"
    how = "vanishes to" if converged else "is still"
    certificate = Certificate(
        "unproven",
        f"Firth's modified score {how} {nu:.1e} standard errors; his criterion need not be convex, "
        "so that no distance from its maximum is claimed.",
        {"score": -here.g.ravel(), "newton_decrement": nu, "value": here.value},
    )
    within = "within" if converged else "not within"
    stopped = f"Firth's score is {within} tolerance ({plural(steps, 'step')})."
    if outcome == "interrupted":
        after = f"after the last complete step ({plural(steps, 'step')})"
        stopped = f"interrupted; these are the weights {after}."
    return NewtonFit(W, b, stopped, certificate, theta, outcome, steps, here.value, theta.size)
