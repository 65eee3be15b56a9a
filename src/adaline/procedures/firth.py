"""Firth's penalised likelihood: finite weights even where a hyperplane separates the classes.

    maximise    log L(theta) + log |H(theta)| / 2
    its slope   sum_i (omega_i (y_i - p_i) + h_i (1/2 - p_i)) z_i

with H = Z' diag(omega p (1 - p)) Z and h_i the leverages. It removes the first-order bias of
maximum likelihood; in a 2 x 2 table it adds 1/2 to every cell (D. Firth, Biometrika 80, 1993).
"""

from __future__ import annotations

import numpy as np

from adaline.objective import MANY, LogisticLoss
from adaline.procedures._curvature import depth, root_of
from adaline.procedures._newton_fit import NewtonFit, Outcome
from adaline.procedures._rows import leverages, projected, summed
from adaline.results import Array, Certificate


def firth(loss: LogisticLoss, max_iter: int = 100, tol: float = 1e-8) -> NewtonFit:
    """theta where Firth's slope vanishes, by scoring with halved steps; two classes only."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if loss.K > 1 or q > MANY:
        raise ValueError(
            f"Firth's penalty is for two classes and at most {MANY} features; here are "
            f"{max(loss.K, 2)} classes and {q - 1} features. Give alpha a positive number."
        )
    loss = loss.with_penalty(0.0)
    theta, root = np.zeros((1, q)), np.empty(n)
    value, slope, A, rank = _slope(loss, theta, root)
    nu, steps, goal = np.inf, 0, tol * np.sqrt(loss.weight)
    outcome: Outcome = "max_iter"
    while steps < max_iter:
        nu = float(np.linalg.norm(A.T @ slope))
        if nu <= goal:
            outcome = "converged"
            break
        d, size = A @ (A.T @ slope), 1.0
        for _ in range(30):
            there = _slope(loss, theta + size * d, root)
            if there[0] <= value + 1e-12 * (abs(value) + 1.0):
                break
            size /= 2
        theta = theta + size * d
        value, slope, A, rank = there
        steps += 1
    return _finished(loss, theta, value, slope, nu, outcome, steps, rank)


def _slope(loss: LogisticLoss, theta: Array, root: Array) -> tuple[float, Array, Array, int]:
    """-log of the penalised likelihood, its slope downhill (q,), and A with A A' = H^-1."""
    here = loss.at(theta, root)
    H = loss.gram(root)
    found = root_of(H, depth(loss))
    h = leverages(loss, root, found.A)
    v = projected(loss, theta.T)[:, 0]
    extra = summed(loss, -0.5 * h * np.tanh(0.5 * v))  # 1/2 - p = -tanh(v/2) / 2
    if found.rank < len(H):
        raise ValueError(
            f"columns depend on others (rank {found.rank} of {len(H)}, the intercept included); "
            "Firth's penalty needs independent ones. Drop columns, or give alpha a number."
        )
    d = np.sqrt(np.diagonal(H))
    log_det = 2 * float(np.sum(np.log(d))) + float(np.linalg.slogdet(H / d / d[:, None])[1])
    return here.f - 0.5 * log_det, extra - here.g[0], found.A, found.rank


def _finished(
    loss: LogisticLoss,
    theta: Array,
    value: float,
    slope: Array,
    nu: float,
    outcome: Outcome,
    steps: int,
    rank: int,
) -> NewtonFit:
    W, b = loss.original(theta)
    converged = outcome == "converged"
    how = "vanishes to" if converged else "is still"
    certificate = Certificate(
        "unproven",
        f"Firth's modified score {how} {nu:.1e} standard errors; his criterion need not be convex, "
        "so that no distance from its maximum is claimed.",
        {"score": slope, "newton_decrement": nu, "value": value},
    )
    stopped = (
        f"Firth's score is {'within' if converged else 'not within'} tolerance ({steps} steps)."
    )
    return NewtonFit(W, b, stopped, certificate, theta, outcome, steps, value, rank)
