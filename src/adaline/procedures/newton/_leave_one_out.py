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
from adaline.procedures.newton.curvature import depth, root_of
from adaline.procedures.newton.rows import class_leverages, leverages, projected
from adaline.results import Array

_NONE = np.empty(0)


def leave_one_out(loss: Objective, theta: Array, root: Array, H: list[Array]) -> float:
    """Mean approximate leave-one-out loss at the minimum; root as `Objective.at` left it.

    H is what `hessians` makes of it. Infinite where rounding has spoiled it: no row is predicted
    better by a fit without it.
    """
    omega = loss.omega if len(loss.omega) else np.ones(loss.X.shape[0])
    copy, V = np.minimum(omega, 1.0), projected(loss, theta.T)
    roots = [root_of(each, depth(loss)).A for each in H]
    if loss.K == 1:
        fitted = np.logaddexp(0.0, -loss.target * V[:, 0])
        each = binary_losses(loss, V[:, 0], leverages(loss, _NONE, roots[0]), copy)
    else:
        fitted = _of_classes(loss, V)
        moved = (
            _moved(loss, root, roots[0], copy) if len(H) == 1 else _apart(loss, root, roots, copy)
        )
        each = _of_classes(loss, V + moved)
    spoiled = each < fitted - 1e-6 * (1.0 + fitted)
    return np.inf if np.any(spoiled) else float(omega @ each) / loss.weight


def _of_classes(loss: Objective, V: Array) -> Array:
    """Losses of rows with the values V (n, K)."""
    V = V - V.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(V).sum(axis=1)) - V[np.arange(len(V)), loss.target])


def binary_losses(loss: Objective, v: Array, B: Array, copy: Array) -> Array:
    """Losses of the rows, each without one copy of itself, of this weight; B and v (n,)."""
    B, m = copy * B, loss.target * v
    own = np.exp(-np.logaddexp(0.0, m))  # probability of the wrong class
    kept = np.maximum(1.0 - own * (1.0 - own) * B, 1e-3)
    return np.asarray(np.logaddexp(0.0, -(m - B * own / kept)))


def _moved(loss: Objective, P: Array, A: Array, copy: Array) -> Array:
    """How far the values (n, K) of a row move without one copy of it."""
    B = copy[:, None, None] * class_leverages(loss, A)
    s = P.copy()
    s[np.arange(len(P)), loss.target] -= 1.0
    # I - S B with S = diag(p) - p p'
    kept = np.eye(loss.K) - P[:, :, None] * (B - np.einsum("ik,ikm->im", P, B)[:, None, :])
    return np.asarray(np.einsum("ikm,im->ik", B, np.linalg.solve(kept, s[:, :, None])[:, :, 0]))


def _apart(loss: Objective, P: Array, roots: list[Array], copy: Array) -> Array:
    """`_moved` with one block of the Hessian a class."""
    more, moved = loss.K / (loss.K - 1), np.empty(P.shape)
    for k, A in enumerate(roots):
        B = copy * leverages(loss, _NONE, A)
        slope, s = P[:, k] * (1.0 - P[:, k]), P[:, k] - (loss.target == k)
        moved[:, k] = B * s / np.maximum(1.0 - more * slope * B, 1e-3)
    return moved
