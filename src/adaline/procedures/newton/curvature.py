"""Curvature of the logistic loss, factored: what steps are measured in.

Legend: H curvature (q, q), q = p + 1, A with A A' = H^-1, g gradient (K, q). A curvature may be of
every so many-th row, or of an earlier theta: good enough for steps.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from adaline._threads import calm
from adaline.linalg import UNIT, condition, eigen, inverse_cholesky
from adaline.objective import MANY, Objective
from adaline.procedures.newton import _stride
from adaline.results import Array

_SLIGHT = 200  # columns of which a small sample's Gram matrix is no work for two threads
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
    with calm(len(H)):
        return _root_of(H, depth)


def _root_of(H: Array, depth: float) -> Root:
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
    the rows' sqrt(omega p (1 - p)) that H was made of, for K = 1 and where H is their plain sum;
    matrix is H itself, of one class at zero for K classes, where it can be taken along (see
    `_transported_hessian`), and shrunk tells whether its correlations were shrunk.
    """

    roots: tuple[Root, ...]
    exact: bool
    every: int = 1
    slopes: Array | None = None
    diagonal: Array | None = None
    matrix: Array | None = None
    shrunk: bool = False

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

    def deviations(self) -> Array:
        """Root of the diagonal of H^-1, (Kq,), or (q,) where one serves all classes."""
        if self.diagonal is not None:
            return np.asarray(1.0 / np.sqrt(self.diagonal))
        return np.concatenate([np.sqrt(np.einsum("ij,ij->i", r.A, r.A)) for r in self.roots])


def curvature(
    loss: Objective, theta: Array, root: Array, left: float, every: int = 0, most: int = 2**62
) -> Curvature:
    """Curvature at theta from root = sqrt(omega p (1 - p)), or p (n, K) for more classes.

    It is of every so many-th row, or, with 0, of as many as are worth it where the distance from
    the minimum is to shrink by exp(left), and at least of every `most`-th.
    """
    K, q = theta.shape
    if q > MANY:
        diagonal = _mean_slope(loss, root) * loss.length**2 + loss.penalty
        return Curvature((), False, diagonal=np.where(diagonal > 0, diagonal, 1.0))
    if K > 1 and K * q <= EXACT:
        return Curvature((root_of(whole(loss, root), depth(loss)),), True)
    slopes = root if K == 1 else np.sqrt(_omega(loss) * (1.0 - np.einsum("ij,ij->i", root, root)))
    sums = 1 if K == 1 or not np.any(theta) else K
    every = every or min(_worth(loss, slopes, left, sums, not np.any(theta)), most)
    share = slopes[::every] / (slopes.max() or 1.0)  # sums of fourth powers must stay in range
    weights = share**2
    total = float(np.sum(weights)) or 1.0
    chance = (1.0 - 1.0 / every) * float(np.sum(weights**2)) / total**2
    if K > 1:
        roots, H, shrunk = _blocks(loss, root, every, chance, sums)
        return Curvature(roots, False, every, matrix=H if sums == 1 else None, shrunk=shrunk)
    found, H, shrunk = _factored(loss, root, every, 1.0, chance)
    if found.rank < q and every > 1:  # rare columns may be missing in the rows chosen
        return curvature(loss, theta, root, left, 1)
    own = None if shrunk else root[::every].copy()
    matrix = H if found.rank == q else None
    return Curvature((found,), True, every, own, matrix=matrix, shrunk=shrunk)


def _factored(
    loss: Objective, slopes: Array, every: int, more: float, chance: float
) -> tuple[Root, Array, bool]:
    """The curvature with these slopes of every so many-th row, and whether it was shrunk."""
    G = more * every * loss.gram(slopes, every)
    H, shrunk = _stride.shrunk(G, loss.penalty, chance)
    return root_of(H, depth(loss)), H, shrunk


def _worth(loss: Objective, slopes: Array, left: float, sums: int, far: bool) -> int:
    """Every so many-th row, as many as a small sample of the rows says are worth it."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if n * q * q <= _stride.WORK:
        return 1
    few = max(n // (2 * q), 1)
    weights = slopes[::few] ** 2
    rows = float(np.sum(weights)) ** 2 / float(np.sum(weights**2))
    with calm(q) if q <= _SLIGHT else nullcontext():
        G = loss.gram(slopes, few)
    related = _stride.correlations(G, rows)
    return _stride.cheapest(loss, left, related, sums, far)


def _omega(loss: Objective) -> Array:
    return loss.omega if len(loss.omega) else np.ones(loss.X.shape[0])


def depth(loss: Objective) -> float:
    """Rounded additions behind an entry of the curvature, at most."""
    return float(4096 + loss.X.shape[0] / 256)


def whole(loss: Objective, P: Array) -> Array:
    """The curvature of K classes, (Kq, Kq), and 11' (x) c I, which makes it regular."""
    K, q = P.shape[1], len(loss.penalty)
    omega = _omega(loss)
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


def _blocks(
    loss: Objective, P: Array, every: int, chance: float, sums: int
) -> tuple[tuple[Root, ...], Array, bool]:
    """Sums of omega p_k (1 - p_k) z z' of each class; at theta = 0 one serves all.

    And the last of them, and whether it was shrunk.
    """
    omega, K = _omega(loss), P.shape[1]
    more, roots = K / (K - 1), []  # on what classes do not share
    for p in P.T[:sums]:
        found, H, shrunk = _factored(loss, np.sqrt(omega * p * (1 - p)), every, more, chance)
        roots.append(found)
    return tuple(roots if len(roots) == K else roots * K), H, shrunk


def _mean_slope(loss: Objective, root: Array) -> float:
    """Mean of p (1 - p) over rows, and over classes where there are more than two."""
    if loss.K == 1:
        return float(np.sum(root**2)) / loss.weight
    return float(np.mean(np.sum(root * (1 - root), axis=1))) / loss.K
