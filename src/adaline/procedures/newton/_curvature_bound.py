"""A lower bound on the Hessian of the loss, on which proofs of optimality rest.

The Hessian is a sum of positive semidefinite terms, one for each row. So the sum over some of the
rows is a lower bound. Fewer rows cost less and prove a larger distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.certificates.optimality import CurvatureBound, JointBound
from adaline.linalg import UNIT
from adaline.objective import Objective
from adaline.procedures.newton.curvature import Curvature, Root, depth, full_hessian, root_of
from adaline.results import Array
from adaline.tiles import is_sparse


def curvature_bound(
    loss: Objective, theta: Array, root: Array, known: Curvature, regular: bool, stride: int
) -> CurvatureBound:
    """M <= H(theta) for `certificates.optimality`, from a known Hessian or every stride-th row.

    Where columns are independent (`regular`), a singular M proves nothing.
    """
    K, q = theta.shape
    if K == 1 and known.slopes is not None and known.roots[0].rank == q:
        left = np.ones(len(known.slopes))
        np.divide(root[:: known.stride], known.slopes, out=left, where=known.slopes > 0)
        kept = float(np.min(left, initial=1.0)) ** 2
        if kept > 0.1:
            return lessened(known.roots[0], 1.001 * known.stride / kept)
    weights = root
    if K > 1:
        weights = np.zeros(len(root))
        weights[::stride] = np.sqrt(root[::stride].min(axis=1))
        weights *= np.sqrt(loss.omega) if len(loss.omega) else 1.0
    H = loss.gram(weights, stride) + np.diag(loss.penalty)
    found = root_of(H, depth(loss))
    if found.rank < q and stride > 1:  # rare columns may be missing in the rows chosen
        return curvature_bound(loss, theta, root, known, regular, 1)
    return lessened(found, np.inf if found.rank < q and regular else 1.0)


def joint_bound(loss: Objective, root: Array) -> CurvatureBound:
    """H(theta) of all classes as one matrix: dear, and the largest M there is."""
    found = root_of(full_hessian(loss, root), depth(loss))
    return lessened(found, 1.0 if found.rank == len(found.A) else np.inf, loss.K)


def lessened(root: Root, factor: float, K: int = 1) -> CurvatureBound:
    """The Hessian that was factored, less what rounding may have added, over the factor.

    It is of one output, or of one class of several; with K > 1 it is of all K classes together.
    """
    loss = factor / (1 - root.eps) if root.eps < 0.5 else np.inf
    return CurvatureBound(root.A, loss) if K == 1 else JointBound(root.A, loss, K=K)


def thin_bound(loss: Objective, root: Array) -> CurvatureBound:
    """A bound that needs no matrix: the penalty, and the curvature of all rows at their mean."""
    X, omega = loss.X, loss.omega if len(loss.omega) else 1.0
    weights = root**2 if loss.K == 1 else omega * root.min(axis=1)
    h = float(weights.sum())
    mean = np.asarray(weights @ X).ravel() / max(h, np.finfo(np.float64).tiny)
    if is_sparse(X):
        far = float(np.sqrt(np.max(X.multiply(X).sum(axis=1)))) + float(np.linalg.norm(mean))
    else:
        far = _farthest(X, mean)
    alpha = loss.penalty[:-1]
    none = np.empty((0, 0))
    if not np.all(alpha > 0):
        return CurvatureBound(none, np.inf, np.ones(len(alpha)), mean, h, np.inf)
    middle = mean * loss.scale - loss.shift
    if not loss.intercept:
        middle, h, far = np.zeros(len(mean)), 0.0, float(np.sqrt(_longest(X)))
    weakest = float(np.max(loss.scale**2 / alpha))
    return CurvatureBound(none, 1.001, alpha, middle, h * 0.999, far**2 * weakest)


def _farthest(X: Array, mean: Array) -> float:
    """A little more than the largest |x - mean| of a row, from products that X stays whole in."""
    own, square = np.einsum("ij,ij->i", X, X, dtype=np.float64), float(mean @ mean)
    apart = own - 2.0 * (X @ mean) + square
    lost = 4 * (X.shape[1] + 8) * UNIT * (own + square)
    return float(np.sqrt(np.max(np.maximum(apart, 0.0) + lost)))


def _longest(X: Any) -> float:
    """The largest |x|^2 of a row."""
    if is_sparse(X):
        return float(np.max(X.multiply(X).sum(axis=1)))
    return float(np.max(np.einsum("ij,ij->i", X, X)))
