"""Curvature of the logistic loss, factored: what steps are measured in, and what proofs rest on.

Legend: H curvature (q, q), q = p + 1, A with A A' = H^-1, g gradient (K, q). A curvature may be of
every so many-th row, or of an earlier theta: good enough for steps, and still a bound for proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.certificates.optimality import Metric
from adaline.linalg import UNIT, condition, eigen, inverse_cholesky
from adaline.objective import MANY, LogisticLoss
from adaline.results import Array
from adaline.tiles import is_sparse

EXACT = 320  # K q up to which the curvature of K classes is one whole matrix
_DEPENDENT = 1e-13  # eigenvalues of the scaled curvature below this are rounding


@dataclass(frozen=True, eq=False)
class Root:
    """A A' = H^-1 of a symmetric H, on its range; eps bounds |A'HA - I| by what rounding can do."""

    A: Array
    rank: int
    eps: float


def root_of(H: Array, depth: float) -> Root:
    """Factor H, columns scaled to unit diagonal; by eigenvalues where Cholesky cannot."""
    d = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    d = np.where(d > 0, d, 1.0)
    C = H / d / d[:, None]
    A = inverse_cholesky(C)
    cond = np.inf if A is None else condition(A) ** 2
    rank = len(H)
    if A is None or cond > 1.0 / _DEPENDENT:
        values, vectors = eigen(C)
        keep = values > _DEPENDENT * len(H) * values[-1]
        rank = int(np.count_nonzero(keep))
        A = vectors * np.where(keep, 1.0 / np.sqrt(np.where(keep, values, 1.0)), 0.0)
        cond = float(values[-1] / values[keep][0]) if rank else np.inf
    eps = (depth + 8 * len(H)) * len(H) * UNIT * cond
    return Root(A / d[:, None], rank, float(eps))


@dataclass(frozen=True, eq=False)
class Curvature:
    """What turns a gradient into a step; `exact` where the step is Newton's.

    roots holds one Root for K = 1 or a whole matrix, one a class where only the blocks on its
    diagonal are known, none where q is too large even for these: then diagonal is. slopes are
    the rows' sqrt(omega p (1 - p)) that H was made of, for K = 1.
    """

    roots: tuple[Root, ...]
    exact: bool
    every: int = 1
    slopes: Array | None = None
    diagonal: Array | None = None

    def solve(self, g: Array) -> Array:
        """H^-1 g, for g (K, q)."""
        if self.diagonal is not None:
            return np.asarray(g / self.diagonal)
        if self.exact:
            A = self.roots[0].A
            return np.asarray((A @ (A.T @ g.ravel())).reshape(g.shape))
        g = g - g.mean(axis=0)  # what all classes share changes nothing
        each = np.array([r.A @ (r.A.T @ row) for r, row in zip(self.roots, g, strict=True)])
        return np.asarray(each - each.mean(axis=0))


def curvature(loss: LogisticLoss, theta: Array, root: Array, every: int) -> Curvature:
    """Curvature at theta from root = sqrt(omega p (1 - p)), or p (n, K) for more classes."""
    K, q = theta.shape
    if q > MANY:
        diagonal = _mean_slope(loss, root) * loss.length**2 + loss.penalty
        return Curvature((), False, diagonal=np.where(diagonal > 0, diagonal, 1.0))
    if K == 1:
        H = every * loss.gram(root, every) + np.diag(loss.penalty)
        found = root_of(H, depth(loss))
        if found.rank < q and every > 1:  # rare columns may be missing in the rows chosen
            return curvature(loss, theta, root, 1)
        return Curvature((found,), True, every, root[::every].copy())
    if K * q <= EXACT:
        return Curvature((root_of(whole(loss, root), depth(loss)),), True)
    return Curvature(_blocks(loss, theta, root, every), False, every)


def depth(loss: LogisticLoss) -> float:
    """Rounded additions behind an entry of the curvature, at most."""
    return float(4096 + loss.X.shape[0] / 256)


def whole(loss: LogisticLoss, P: Array) -> Array:
    """The curvature of K classes, (Kq, Kq), and 11' (x) c I, which makes it regular."""
    K, q = P.shape[1], len(loss.penalty)
    omega = loss.omega if len(loss.omega) else np.ones(len(P))
    H = np.zeros((K, q, K, q))
    for k in range(K):
        for m in range(k):
            G = -loss.gram(np.sqrt(omega * P[:, k] * P[:, m]))
            if not loss.intercept:
                G[-1, -1] = 0.0
            H[k, :, m, :] = H[m, :, k, :] = G
        H[k, :, k, :] = loss.gram(np.sqrt(omega * P[:, k] * (1 - P[:, k])))
        H[k, :, k, :] += np.diag(loss.penalty)
    c = np.einsum("kjkj->j", H) / K**2
    H += np.ones((K, 1, K, 1)) * np.diag(np.where(c > 0, c, 1.0))[None, :, None, :]
    return H.reshape(K * q, K * q)


def _blocks(loss: LogisticLoss, theta: Array, P: Array, every: int) -> tuple[Root, ...]:
    """Sums of omega p_k (1 - p_k) z z' of each class; at theta = 0 one serves all."""
    omega = loss.omega if len(loss.omega) else np.ones(len(P))
    K, more = P.shape[1], every * P.shape[1] / (P.shape[1] - 1)  # on what classes do not share
    roots = [
        root_of(
            more * loss.gram(np.sqrt(omega * p * (1 - p)), every) + np.diag(loss.penalty),
            depth(loss),
        )
        for p in P.T[: K if np.any(theta) else 1]
    ]
    return tuple(roots if len(roots) == K else roots * K)


def _mean_slope(loss: LogisticLoss, root: Array) -> float:
    """Mean of p (1 - p) over rows, and over classes where there are more than two."""
    if loss.K == 1:
        return float(np.sum(root**2)) / loss.weight
    return float(np.mean(np.sum(root * (1 - root), axis=1))) / loss.K


def metric(
    loss: LogisticLoss, theta: Array, root: Array, known: Curvature, regular: bool
) -> Metric:
    """M <= H(theta) for `certificates.optimality`, from what is known or from one more sum.

    Where columns are independent (`regular`), a curvature that is singular proves nothing.
    """
    K, q = theta.shape
    if q > MANY:
        return _thin_metric(loss, root)
    if K == 1 and known.slopes is not None and known.roots[0].rank == q:
        some = known.slopes > 0
        kept = float(np.min((root[:: known.every][some] / known.slopes[some]) ** 2, initial=1.0))
        if kept > 0.1:
            return _lessened(known.roots[0], 1.001 * known.every / kept)
    weights = root
    if K > 1:
        omega = loss.omega if len(loss.omega) else 1.0
        weights = np.sqrt(omega * root.min(axis=1))
    H = loss.gram(weights, known.every) + np.diag(loss.penalty)
    found = root_of(H, depth(loss))
    return _lessened(found, np.inf if found.rank < q and regular else 1.0)


def _lessened(root: Root, factor: float) -> Metric:
    return Metric(root.A, factor / (1 - root.eps) if root.eps < 0.5 else np.inf)


def _thin_metric(loss: LogisticLoss, root: Array) -> Metric:
    """The penalty, and all rows' curvature at their mean; no matrix."""
    X, omega = loss.X, loss.omega if len(loss.omega) else 1.0
    weights = root**2 if loss.K == 1 else omega * root.min(axis=1)
    h = float(weights.sum())
    mean = np.asarray(weights @ X).ravel() / max(h, np.finfo(np.float64).tiny)
    if is_sparse(X):
        far = float(np.sqrt(np.max(X.multiply(X).sum(axis=1)))) + float(np.linalg.norm(mean))
    else:
        far = max(
            float(np.max(np.linalg.norm(X[i : i + 1024] - mean, axis=1)))
            for i in range(0, X.shape[0], 1024)
        )
    alpha = loss.penalty[:-1]
    none = np.empty((0, 0))
    if not np.all(alpha > 0):
        return Metric(none, np.inf, np.ones(len(alpha)), mean, h, np.inf)
    middle = mean * loss.scale - loss.shift
    if not loss.intercept:
        middle, h, far = np.zeros(len(mean)), 0.0, float(np.sqrt(_longest(X)))
    return Metric(
        none, 1.001, alpha, middle, h * 0.999, far**2 * float(loss.scale[0] ** 2 / alpha[0])
    )


def _longest(X: Any) -> float:
    """The largest |x|^2 of a row."""
    if is_sparse(X):
        return float(np.max(X.multiply(X).sum(axis=1)))
    return float(np.max(np.einsum("ij,ij->i", X, X)))
