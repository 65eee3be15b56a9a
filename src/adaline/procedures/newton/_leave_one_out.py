"""The loss a left-out sample would have, without leaving it out: approximate leave-one-out.

One Newton step from the minimum for all rows to that without row i moves its value v_i by

    B s / (1 - B c),    B = z'H^-1 z,  s = dloss/dv,  c = d2loss/dv2    (matrices for K classes)

A row of weight omega is omega rows, of which one is left out; one of weight below 1 is a row of
less trust, and left out whole. So s and c above count min(omega, 1) times.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaline.objective import Objective
from adaline.procedures.newton.curvature import EXACT, depth, full_hessian, is_one_matrix, root_of
from adaline.procedures.newton.rows import leverages, projected
from adaline.results import Array

_NONE = np.empty(0)
_STEPS = 8  # of the golden section: the minimum to a tenth of a decade


def leave_one_out(loss: Objective, theta: Array, root: Array) -> float:
    """Mean approximate leave-one-out loss at the minimum; root as `Objective.at` left it."""
    omega = loss.omega if len(loss.omega) else np.ones(loss.X.shape[0])
    if loss.K == 1:
        each = _binary(loss, theta, root, np.minimum(omega, 1.0))
    else:
        if not is_one_matrix(loss):
            raise ValueError(
                f"alpha='auto' for {loss.K} classes and {theta.shape[1] - 1} features needs "
                f"{theta.size} x {theta.size} matrices; the limit is {EXACT}. Give alpha a number."
            )
        each = _classes(loss, theta, root, np.minimum(omega, 1.0))
    return float(omega @ each) / loss.weight


def _binary(loss: Objective, theta: Array, root: Array, copy: Array) -> Array:
    """Losses of the rows, each without one copy of itself, of this weight."""
    A = root_of(loss.gram(root) + np.diag(loss.penalty), depth(loss)).A
    B = copy * leverages(loss, _NONE, A)
    v = projected(loss, theta.T)[:, 0]
    m = loss.target * v
    own = np.exp(-np.logaddexp(0.0, m))  # probability of the wrong class
    kept = np.maximum(1.0 - own * (1.0 - own) * B, 1e-3)
    return np.asarray(np.logaddexp(0.0, -(m - B * own / kept)))


def _classes(loss: Objective, theta: Array, P: Array, copy: Array) -> Array:
    """`_binary` for K classes."""
    K, q = theta.shape
    n, own = len(P), (np.arange(len(P)), loss.target)
    A = root_of(full_hessian(loss, P), depth(loss)).A.reshape(K, q, K * q)
    T = np.stack([projected(loss, A[k]) for k in range(K)], axis=1)
    B = copy[:, None, None] * (T @ T.transpose(0, 2, 1))
    S = -P[:, :, None] * P[:, None, :]
    S[:, np.arange(K), np.arange(K)] += P
    s = P.copy()
    s[own] -= 1.0
    kept = np.eye(K) - S @ B
    moved = np.linalg.solve(kept, s[:, :, None])
    V = projected(loss, theta.T) + (B @ moved)[:, :, 0]
    V -= V.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(V).sum(axis=1)) - V[own]).reshape(n)


def least(score: Callable[[float], float], middle: float) -> float:
    """The argument that minimises score over nine decades about `middle`, on a log scale."""
    decades = np.arange(1.0, -8.0, -1.0)
    scores = [score(middle * 10.0**d) for d in decades]
    best = int(np.argmin(scores))
    low, high = decades[min(best + 1, 8)], decades[max(best - 1, 0)]
    golden = (np.sqrt(5.0) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = score(middle * 10.0**left), score(middle * 10.0**right)
    for _ in range(_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = score(middle * 10.0**left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = score(middle * 10.0**right)
    return float(middle * 10.0 ** ((low + high) / 2))
