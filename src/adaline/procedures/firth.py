"""Firth's penalised likelihood: finite weights even where a hyperplane separates the classes.

    F(theta) = -log L(theta) - log |I(theta)| / 2,    I the Fisher information

It removes the first-order bias of maximum likelihood; in a table of counts it adds 1/2 to every
cell (D. Firth, Biometrika 80, 1993).

Two classes: I = sum omega_i p_i (1 - p_i) z_i z_i', and the slope of the penalty is the sum of
h_i (p_i - 1/2) z_i with leverages h_i. K classes: the parameters are those of the classes 1..K-1
against class 0 (the determinant is the same for any reference), the blocks of I are

    I_kl = sum omega_i p_ik (1[k = l] - p_il) z_i z_i',

and with C = I^-1, Q_kl = z_i' C_kl z_i, a_k = Q_kk, r = Q p, s = p'Q p, the penalty's slope by
theta_m is -1/2 sum omega_i p_im (a_m - 2 r_m - p'a + 2 s) z_i.

Called by `estimators.newton` and, for profile intervals, by `inference`. The criterion need not be
convex, and its curvature is not bounded by theorem (b), so that no distance is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from adaline.errors import plural
from adaline.linalg import Factor
from adaline.procedures.newton import State, begin, descend
from adaline.results import Array, Certificate, NewtonFit, Outcome, Steps, Stepwise
from adaline.sums.objective import Objective, Sums, Want
from adaline.sums.scaled_rows import MANY

MOST = 100  # parameters of more than two classes; each step costs n times their square
CHUNK = 2**20  # numbers held at a time


class Firth:
    """Firth's criterion as a `Problem` of one output: theta (1, m), the classes 1..K-1 in a row."""

    K, is_bare = 1, False
    PRICE = 2.0  # each of its gradients has the information; where steps are slow, it is taken

    def __init__(self, objective: Objective):
        rows = objective.rows  # half a log determinant does not scale with the weights
        rows = replace(rows, omega=rows.omega * rows.unit, unit=1.0)
        self.of = replace(objective, rows=rows, penalty=0.0 * objective.penalty)
        self.outputs = max(objective.K - 1, 1)
        self.q = self.outputs * objective.q
        self.penalty, self.spread, self.weight = np.zeros(self.q), np.zeros(self.q), self.of.weight
        self.intercept = objective.intercept

    def price(self, want: Want) -> float:
        return self.PRICE

    def sums(self, theta: Array, want: Want = "") -> Sums:
        sums, P = self.of.sums(self.theta(theta)), self.of.curvatures(self.theta(theta))
        H = self._information(P)
        factor = Factor(H)
        if factor.rank < len(H):  # too far out, or columns depend on others
            return replace(sums, f=inf, g=np.full((1, self.q), inf), H=H)
        extra = self._slopes(P, self.of.values(self.theta(theta)), factor.root())
        g = (sums.g[-self.outputs :] - extra).reshape(1, -1)
        return replace(sums, f=sums.f - 0.5 * factor.log_determinant(), g=g, H=H)

    def theta(self, flat: Array) -> Array:
        """(K, q) with the first class at zero, or (1, q) of two classes."""
        own = flat.reshape(self.outputs, -1)
        return own if self.of.K == 1 else np.vstack([np.zeros(own.shape[1]), own])

    def _information(self, P: Array) -> Array:
        rows, K = self.of.rows, self.of.K
        if K == 1:
            return rows.gram(P)
        q, weights = rows.q, rows.weights
        H = np.zeros((K - 1, q, K - 1, q))
        for k in range(1, K):
            H[k - 1, :, k - 1] = rows.gram(weights * P[:, k] * (1.0 - P[:, k]))
            for m in range(1, k):
                G = -rows.gram(weights * P[:, k] * P[:, m])
                if not rows.intercept:
                    G[-1, -1] = 0.0
                H[k - 1, :, m - 1] = H[m - 1, :, k - 1] = G
        return H.reshape((K - 1) * q, (K - 1) * q)

    def _slopes(self, P: Array, V: Array, A: Array) -> Array:
        """Minus the slope of the penalty, (outputs, q), where A A' is the inverse information."""
        rows = self.of.rows
        if self.of.K == 1:
            h = rows.squares(A, np.sqrt(P))
            return rows.combine((-0.5 * h * np.tanh(0.5 * V[:, 0]))[:, None])  # 1/2 - p
        k, q = self.outputs, rows.q
        turned = np.ascontiguousarray(A.reshape(k, q, -1).transpose(1, 0, 2).reshape(q, -1))
        U, step = np.empty_like(P[:, 1:]), max(CHUNK // turned.shape[1], 256)
        for i in range(0, rows.n, step):
            some = slice(i, i + step)
            p = P[some, 1:]
            B = rows.taking(some).project(turned).reshape(len(p), k, -1)
            Bp = np.einsum("ikm,ik->im", B, p)
            a, r = np.einsum("ikm,ikm->ik", B, B), np.einsum("ikm,im->ik", B, Bp)
            s = np.einsum("im,im->i", Bp, Bp) - 0.5 * np.einsum("ik,ik->i", p, a)
            U[some] = 0.5 * p * (a - 2.0 * r + 2.0 * s[:, None])
        return rows.combine(rows.weights[:, None] * U)

    def products(self, theta: Array) -> Callable[[Array], Array] | None:
        return None

    def farthest(self, sums: Sums) -> float:
        return inf


@Stepwise
def firth(objective: Objective, max_iter: int = 100, tol: float = 1e-8) -> Steps[NewtonFit]:
    """theta where Firth's score is zero, by Fisher scoring with L-BFGS corrections."""
    K, q = objective.K, objective.q
    if objective.rows.is_wide or (K > 1 and (K - 1) * q > MOST):
        raise ValueError(
            f"Firth's penalty is for at most {MANY} features, or {MOST} parameters of several "
            f"classes; here are {max(K, 2)} classes and {q - 1} features. Give alpha a number."
        )
    problem, goal = Firth(objective), float(tol) * np.sqrt(objective.weight)
    state = begin(problem, np.zeros((1, problem.q)), goal)
    outcome: Outcome = "max_iter"
    if isinstance(state.model, Factor) and state.model.rank < problem.q:
        raise ValueError(
            f"columns depend on others (rank {state.model.rank} of {problem.q}, the intercept "
            "included). Drop columns, or give alpha a number."
        )
    try:
        outcome = yield from descend(state, goal, max_iter)
    except KeyboardInterrupt:
        outcome = "interrupted"
    return _fit(problem, state, outcome)


def _fit(problem: Firth, state: State, outcome: Outcome) -> NewtonFit:
    theta, rows = problem.theta(state.theta), problem.of.rows
    theta = theta - theta.mean(axis=0) if len(theta) > 1 else theta  # no class is the reference
    score, value = state.sums.g.reshape(problem.outputs, -1) * rows.unit, state.sums.f
    converged = outcome == "converged"
    how, nu = "vanishes to" if converged else "is still", state.nu * np.sqrt(rows.unit)
    certificate = Certificate(
        "unproven",
        f"Firth's modified score {how} {nu:.1e} standard errors; his criterion need not be convex, "
        "so that no distance from its maximum is claimed.",
        {"score": -score.ravel(), "newton_decrement": nu, "value": value},
    )
    within = "within" if converged else "not within"
    stopped = f"Firth's score is {within} tolerance ({plural(state.steps, 'step')})."
    if outcome == "interrupted":
        after = f"after the last complete step ({plural(state.steps, 'step')})"
        stopped = f"interrupted; these are the weights {after}."
    W, b = rows.original(theta)
    return NewtonFit(W, b, stopped, certificate, theta, outcome, state.steps, value, theta.size)
