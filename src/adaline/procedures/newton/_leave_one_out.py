"""The loss a left-out sample would have, without leaving it out: approximate leave-one-out.

One Newton step from the minimum for all rows to that without row i moves its value v_i by

    B s / (1 - B c),    B = z'H^-1 z,  s = dloss/dv,  c = d2loss/dv2    (matrices for K classes)

Where K classes make H too large for one matrix, each class is measured by itself, as if its
Hessian were that of classes of equal share: K/(K - 1) times its own block.

A row of weight omega is omega rows, of which one is left out; one of weight below 1 is a row of
less trust, and left out whole. So s and c above count min(omega, 1) times.
"""

from __future__ import annotations

import numpy as np

from adaline.objective import Objective
from adaline.procedures.newton.curvature import depth, full_hessian, is_one_matrix, root_of
from adaline.procedures.newton.rows import leverages, projected
from adaline.results import Array

_NONE = np.empty(0)


def leave_one_out(loss: Objective, theta: Array, root: Array) -> float:
    """Mean approximate leave-one-out loss at the minimum; root as `Objective.at` left it.

    Infinite where rounding has spoiled it: no row is predicted better by a fit without it.
    """
    omega = loss.omega if len(loss.omega) else np.ones(loss.X.shape[0])
    if loss.K == 1:
        each = _binary(loss, theta, root, np.minimum(omega, 1.0))
    else:
        of_classes = _classes if is_one_matrix(loss) else _class_by_class
        each = of_classes(loss, theta, root, np.minimum(omega, 1.0))
    fitted = _fitted(loss, theta)
    spoiled = each < fitted - 1e-6 * (1.0 + fitted)
    return np.inf if np.any(spoiled) else float(omega @ each) / loss.weight


def _fitted(loss: Objective, theta: Array) -> Array:
    """Losses of the rows at theta."""
    V = projected(loss, theta.T)
    if loss.K == 1:
        return np.asarray(np.logaddexp(0.0, -loss.target * V[:, 0]))
    V -= V.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(V).sum(axis=1)) - V[np.arange(len(V)), loss.target])


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


def _class_by_class(loss: Objective, theta: Array, P: Array, copy: Array) -> Array:
    """`_classes` with one block of the Hessian a class."""
    K = len(theta)
    omega = loss.omega if len(loss.omega) else np.ones(len(P))
    more, V = K / (K - 1), projected(loss, theta.T)
    for k in range(K):
        slope = P[:, k] * (1.0 - P[:, k])
        H = more * loss.gram(np.sqrt(omega * slope)) + np.diag(loss.penalty)
        B = copy * leverages(loss, _NONE, root_of(H, depth(loss)).A)
        s = P[:, k] - (loss.target == k)
        V[:, k] += B * s / np.maximum(1.0 - more * slope * B, 1e-3)
    V -= V.max(axis=1, keepdims=True)
    own = np.arange(len(P)), loss.target
    return np.asarray(np.log(np.exp(V).sum(axis=1)) - V[own])
