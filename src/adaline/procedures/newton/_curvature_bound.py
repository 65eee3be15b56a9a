"""A lower bound on the Hessian of the loss, on which proofs of optimality rest.

The Hessian is a sum of positive semidefinite terms, one for each row. So the sum over some of the
rows is a lower bound. Fewer rows cost less and prove a larger distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.certificates.optimality import CurvatureBound, JointBound
from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.objective import Objective
from adaline.procedures.newton.curvature import Curvature, Root, depth, full_hessian, root_of
from adaline.results import Array
from adaline.tiles import is_sparse

_TINY = float(np.finfo(np.float64).tiny)


def curvature_bound(
    loss: Objective, theta: Array, root: Array, known: Curvature, stride: int
) -> CurvatureBound:
    """M <= H(theta) for `certificates.optimality`, from a known Hessian or every stride-th row."""
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
        return curvature_bound(loss, theta, root, known, 1)
    return lessened(found, 1.0)


def joint_bound(loss: Objective, root: Array) -> CurvatureBound:
    """H(theta) of all classes as one matrix: dear, and the largest M there is."""
    return lessened(root_of(full_hessian(loss, root), depth(loss)), 1.0, loss.K)


def lessened(root: Root, factor: float, K: int = 1) -> CurvatureBound:
    """The Hessian that was factored, less what rounding may have added, over the factor.

    It is of one output, or of one class of several; with K > 1 it is of all K classes together.
    Where rounding hides some of it, it proves nothing: the minimum may be far in that direction.
    """
    whole = root.rank == len(root.A) and root.eps < 0.5
    loss = factor / (1 - root.eps) if whole else np.inf
    return CurvatureBound(root.A, loss) if K == 1 else JointBound(root.A, loss, K=K)


def thin_bound(loss: Objective, root: Array) -> CurvatureBound:
    """A bound that needs no matrix: the penalty, and the curvature of all rows at their mean."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number proves nothing
        return _thin_bound(loss, root)


def _thin_bound(loss: Objective, root: Array) -> CurvatureBound:
    X, omega, alpha = loss.X, loss.omega if len(loss.omega) else 1.0, loss.penalty[:-1]
    weights = root**2 if loss.K == 1 else omega * root.min(axis=1)
    h, none = float(weights.sum()), np.empty((0, 0))
    if not np.all(alpha > 0) or (loss.intercept and h < _TINY):
        nothing = np.zeros(len(alpha))
        return CurvatureBound(none, np.inf, np.ones(len(alpha)), nothing, 1.0, np.inf)
    weakest = float(np.max(loss.scale**2 / alpha))
    if not loss.intercept:
        return CurvatureBound(none, 1.001, alpha, np.zeros(len(alpha)), 0.0, _longest(X) * weakest)
    mean = np.asarray(weights @ X).ravel() / h
    far = _farthest(X, mean)
    middle = mean * loss.scale - loss.shift
    factor = 1.001 * (1.0 + _of_rounded_mean(loss, h, alpha))
    return CurvatureBound(none, factor, alpha, middle, h * 0.998, far * far * weakest)


def _of_rounded_mean(loss: Objective, h: float, alpha: Array) -> float:
    """By what share of the penalty the curvature at a mean that is off by e may be too large.

        0.998 ((m + e)'w + b)^2 <= 0.999 (m'w + b)^2 + 1001 (e'w)^2

    and (e'w)^2 is at most the sum of e^2 / alpha times that of alpha w^2. It matters where columns
    are far from zero and penalties are tiny: the mean is one of the rows as they are.
    """
    e = 1.01 * (loss.n + 8) * UNIT * (loss.top[:-1] + np.abs(loss.shift))
    e += loss.n * UNDERFLOW / h * loss.scale
    off = length(e / np.sqrt(alpha))
    return 1001.0 * h * off * off  # ** would raise


def _farthest(X: Any, mean: Array) -> float:
    """A little more than the largest |x - mean| of a row, from products that X stays whole in."""
    if is_sparse(X):
        return float(np.sqrt(_longest(X)) + np.linalg.norm(mean))
    own, square = np.einsum("ij,ij->i", X, X, dtype=np.float64), float(mean @ mean)
    apart = own - 2.0 * (X @ mean) + square
    lost = 4 * (X.shape[1] + 8) * UNIT * (own + square)
    return float(np.sqrt(np.max(np.maximum(apart, 0.0) + lost)))


def _longest(X: Any) -> float:
    """The largest |x|^2 of a row."""
    if is_sparse(X):
        X = X.astype(np.float64, copy=False)  # squares of float32 may underflow
        return float(np.max(X.multiply(X).sum(axis=1)))
    return float(np.max(np.einsum("ij,ij->i", X, X, dtype=np.float64)))
