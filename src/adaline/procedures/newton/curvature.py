"""Factored Hessians, which turn gradients into steps, and the L-BFGS corrections of them.

Legend: H Hessian (q, q), q = p + 1; A with A A' = H^-1; g gradient (K, q). For steps it is good
enough if H is of every stride-th row, or of an earlier theta.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline._threads import one_blas_thread
from adaline.linalg import (
    SHORT,
    UNDERFLOW,
    UNIT,
    add_multiple,
    condition,
    eigen,
    inner,
    inner_by_blas,
    inverse_cholesky,
)
from adaline.objective import Objective
from adaline.procedures.newton import _stride
from adaline.results import Array

_SLIGHT = 200  # columns of which a small sample's Gram matrix is no work for two threads
EXACT = 320  # K q up to which the Hessian of K classes is made as one matrix
MEMORY = 20  # pairs of steps and changes of gradient that L-BFGS keeps
_DEAR = 2**24  # products in a Hessian of K classes, beyond which it is made only for slow steps
_DEPENDENT = 1e-13  # eigenvalues of the scaled curvature below this are rounding

Pairs = list[tuple[Array, Array, float]]  # step s, change of gradient y, and s'y > 0


@dataclass(frozen=True, eq=False)
class Root:
    """A A' = H^-1 of a symmetric H, on its range; eps bounds |A'HA - I| by what rounding can do."""

    A: Array
    rank: int
    eps: float


def root_of(H: Array, depth: float) -> Root:
    """Factor H, columns scaled to unit diagonal; by eigenvalues where Cholesky cannot."""
    with one_blas_thread(len(H)):
        return _root_of(H, depth)


def _root_of(H: Array, depth: float) -> Root:
    d = np.sqrt(np.maximum(H.diagonal(), 0.0))
    d[d == 0.0] = 1.0
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
    # Products of weights and numbers below float64's range lose more than rounding takes.
    lost = UNIT + 256 * UNDERFLOW / float(np.min(d * d, initial=1.0))
    eps = (depth + 8 * len(H)) * len(H) * lost * cond
    return Root(A / d[:, None], rank, float(eps))


@dataclass(frozen=True, eq=False)
class Curvature:
    """What turns a gradient into a step; `exact` where the step is Newton's.

    Attributes
    ----------
    roots : tuple of Root
        One for K = 1 or for the full Hessian of K classes; K of them if only the diagonal blocks
        are known; none if the loss is too wide for matrices, when `diagonal` is set.
    stride : int
        H is a sum over every stride-th row.
    slopes : ndarray or None
        sqrt(omega p (1 - p)) of those rows, where K = 1 and H is their plain sum.
    diagonal : ndarray or None
        About the diagonal of H, where no matrix is made (see `_sketch`).
    along : tuple or None
        Directions V (q, k) and how much less of H^-1 lies along each than the diagonal tells.
    rough : ndarray or None
        A in float32 with A A' = H^-1, about (see `_float32`): for steps, never for a proof.
    matrix : ndarray or None
        H itself, where it can be transported (see `_transported_hessian`); for K classes, the
        block of one class at theta = 0.
    shrunk : bool
        Whether the correlations in H were shrunk.
    """

    roots: tuple[Root, ...]
    exact: bool
    stride: int = 1
    slopes: Array | None = None
    diagonal: Array | None = None
    along: tuple[Array, Array] | None = None
    rough: NDArray[np.float32] | None = None
    matrix: Array | None = None
    shrunk: bool = False

    def solve(self, g: Array) -> Array:
        """H^-1 g, for g (K, q)."""
        if self.rough is not None:
            size = float(np.abs(g).max()) or 1.0  # numbers of float32 end at 1e-38
            v = (g / size).astype(np.float32)
            with one_blas_thread(1):
                found = (v @ self.rough) @ self.rough.T
            return size * found.astype(np.float64)
        if self.diagonal is not None:
            if self.along is None:
                return np.asarray(g / self.diagonal)
            V, less = self.along
            return np.asarray(g / self.diagonal - ((g @ V) * less) @ V.T)
        if self.exact:
            A = self.roots[0].A
            return np.asarray((A @ (A.T @ g.ravel())).reshape(g.shape))
        g = g - g.mean(axis=0)  # what all classes share changes nothing
        each = np.array([r.A @ (r.A.T @ row) for r, row in zip(self.roots, g, strict=True)])
        return np.asarray(each - each.mean(axis=0))

    def deviations(self) -> Array:
        """Root of the diagonal of H^-1, (Kq,), or (q,) where one serves all classes."""
        if self.rough is not None:
            own = np.einsum("ij,ij->i", self.rough, self.rough)
            return np.asarray(np.sqrt(own.astype(np.float64)))
        if self.diagonal is not None:
            own = 1.0 / self.diagonal
            if self.along is not None:
                V, less = self.along
                own = own - (V * V) @ less
            return np.asarray(np.sqrt(np.maximum(own, 0.0)))
        return np.concatenate([np.sqrt(np.einsum("ij,ij->i", r.A, r.A)) for r in self.roots])


def curvature(
    loss: Objective, theta: Array, root: Array, left: float, stride: int = 0, most: int = 2**62
) -> Curvature:
    """Hessian at theta from root = sqrt(omega p (1 - p)), or from p (n, K) for K classes.

    It is a sum over every stride-th row. With stride = 0 the cheapest stride is chosen, at most
    `most`, for a distance from the minimum that is to shrink by exp(left).
    """
    K, q = theta.shape
    if K > 1 and is_one_matrix(loss) and not (_is_dear(loss) and not theta.any()):
        return Curvature((root_of(full_hessian(loss, root), depth(loss)),), True)
    slopes = root if K == 1 else np.sqrt(_omega(loss) * (1.0 - np.einsum("ij,ij->i", root, root)))
    sums = 1 if K == 1 or not np.any(theta) else K
    stride = stride or min(_worth(loss, theta, slopes, left, sums), most)
    chance = _chance(slopes, stride) if stride > 1 else 0.0
    if K > 1:
        roots, H, shrunk = _blocks(loss, root, stride, chance, sums)
        if is_one_matrix(loss) and roots[0].rank < q:  # it tells which weights are not unique
            return Curvature((root_of(full_hessian(loss, root), depth(loss)),), True)
        return Curvature(roots, False, stride, matrix=H if sums == 1 else None, shrunk=shrunk)
    found, H, shrunk = _factored(loss, root, stride, 1.0, chance)
    if found.rank < q and stride > 1:  # rare columns may be missing in the rows chosen
        return curvature(loss, theta, root, left, 1)
    own = None if shrunk else root[::stride].copy()
    matrix = H if found.rank == q else None
    return Curvature((found,), True, stride, own, matrix=matrix, shrunk=shrunk)


def _chance(slopes: Array, stride: int) -> float:
    """How far chance moves a sum over every stride-th row: one over the rows it is worth."""
    share = slopes[::stride] / (slopes.max() or 1.0)  # sums of fourth powers must stay in range
    weights = share**2
    total = float(np.sum(weights)) or 1.0
    return (1.0 - 1.0 / stride) * float(np.sum(weights**2)) / total**2


def _factored(
    loss: Objective, slopes: Array, stride: int, more: float, chance: float
) -> tuple[Root, Array, bool]:
    """The Hessian of every stride-th row with these slopes, factored and as it is, and whether it
    was shrunk."""
    G = more * stride * loss.gram(slopes, stride)
    H, shrunk = _stride.shrunk(G, loss.penalty, chance)
    return root_of(H, depth(loss)), H, shrunk


def _worth(loss: Objective, theta: Array, slopes: Array, left: float, sums: int) -> int:
    """The cheapest stride, by what a small sample of the rows tells of the correlations."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if _stride.strides(loss) == [1]:
        return 1
    few = max(n // (2 * q), 1)
    weights = slopes[::few] ** 2
    rows = float(np.sum(weights)) ** 2 / float(np.sum(weights**2))
    with one_blas_thread(q) if q <= _SLIGHT else nullcontext():
        G = loss.gram(slopes, few)
    related = _stride.correlations(G, rows)
    return _stride.best_stride(loss, left, related, sums, far=not np.any(theta))


def _omega(loss: Objective) -> Array:
    return loss.omega if len(loss.omega) else np.ones(loss.X.shape[0])


def is_one_matrix(loss: Objective) -> bool:
    """Whether the Hessian of all classes together is small enough to be made as one matrix."""
    return loss.K * len(loss.penalty) <= EXACT


def _is_dear(loss: Objective) -> bool:
    """Whether the Hessian of all classes costs more than steps from theta = 0 without it.

    One block then serves all classes; where steps turn out to be slow, the whole is made.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    pairs = loss.K * (loss.K - 1) // 2
    return n * q * q * pairs > _DEAR and bool((loss.penalty[:-1] > 0).all())


def depth(loss: Objective) -> float:
    """Rounded additions behind an entry of the curvature, at most."""
    return float(4096 + loss.X.shape[0] / 256)


def full_hessian(loss: Objective, P: Array) -> Array:
    """The Hessian of K classes, (Kq, Kq), plus 11' (x) c I, which makes it regular."""
    from adaline.procedures.newton._class_products import class_products

    K, q = P.shape[1], len(loss.penalty)
    H = np.zeros((K, K, q, q))
    for k, m, G in class_products(loss, P):
        H[k, m] = H[m, k] = -G
        H[k, k] += G  # p (1 - p) is the sum of its products with the others
        H[m, m] += G
    own = np.einsum("kkjj->kj", H)  # views: what is added to them is added to H
    own += loss.penalty
    if not loss.intercept:
        own[:, -1] = 1.0
    c, each = own.sum(axis=0) / K**2, np.einsum("kmjj->kmj", H)
    each += np.where(c > 0, c, 1.0)
    return H.transpose(0, 2, 1, 3).reshape(K * q, K * q)


def hessians(loss: Objective, root: Array) -> list[Array]:
    """The Hessian where it is one matrix; else a block of each class, times K / (K - 1)."""
    if loss.K == 1:
        return [loss.gram(root) + np.diag(loss.penalty)]
    if is_one_matrix(loss):
        return [full_hessian(loss, root)]
    omega, more = _omega(loss), loss.K / (loss.K - 1)
    own = np.diag(loss.penalty)
    return [more * loss.gram(np.sqrt(omega * p * (1.0 - p))) + own for p in root.T]


def with_other_penalty(H: list[Array], before: Array, loss: Objective) -> Curvature:
    """What `hessians` made with the penalty `before`, with that of this loss instead."""
    more, roots = np.resize(loss.penalty - before, len(H[0])), []
    for each in H:
        other = each.copy()
        other.flat[:: len(other) + 1] += more
        roots.append(root_of(other, depth(loss)))
    return Curvature(tuple(roots), len(H) == 1)


def _blocks(
    loss: Objective, P: Array, stride: int, chance: float, sums: int
) -> tuple[tuple[Root, ...], Array, bool]:
    """Sums of omega p_k (1 - p_k) z z' of each class; at theta = 0 one serves all.

    And the last of them, and whether it was shrunk.
    """
    omega, K = _omega(loss), P.shape[1]
    more, roots = K / (K - 1), []  # on what classes do not share
    for p in P.T[:sums]:
        found, H, shrunk = _factored(loss, np.sqrt(omega * p * (1 - p)), stride, more, chance)
        roots.append(found)
    return tuple(roots if len(roots) == K else roots * K), H, shrunk


def solver(A: Array) -> Callable[[Array], Array]:
    """The function g -> H^-1 g, for A A' = H^-1."""
    return lambda g: np.asarray(A @ (A.T @ g))


def corrected(g: Array, pairs: Pairs, solve: Callable[[Array], Array]) -> Array:
    """About H^-1 g, where solve(g) is a first guess of it: the two loops of L-BFGS.

    >>> corrected(np.array([4.0]), [(np.array([1.0]), np.array([2.0]), 2.0)], np.copy)
    array([2.])
    """
    r, shares = np.array(g, order="C"), []
    with one_blas_thread(1) if r.size > SHORT else nullcontext():
        for s, y, sy in reversed(pairs):
            shares.append(inner_by_blas(s, r) / sy)
            add_multiple(r, -shares[-1], y)
        r = np.array(solve(r), order="C")
        for (s, y, sy), share in zip(pairs, reversed(shares), strict=True):
            add_multiple(r, share - inner_by_blas(y, r) / sy, s)
    return r


def remember(pairs: Pairs, s: Array, y: Array) -> None:
    """Add the step s and its change of gradient y, if they show curvature; forget the oldest."""
    sy = inner(s, y)
    if sy > 0.0:
        pairs[:] = [*pairs[1 - MEMORY :], (s, y, sy)]
