"""Newton's steps for wide sparse rows: conjugate gradients on products with the Hessian.

A product H d costs two passes over the entries of the rows, as much as a gradient, and L-BFGS needs
many more gradients: columns of text differ in size a thousandfold, and its twenty pairs of K p
numbers take longer to go through than the rows. A step is solved for only as well as it is worth
far from the minimum (Dembo, Eisenstat & Steihaug 1982).

Letters: q columns and the bias, K outputs; d, r, y and Hd are (q, K), as scipy multiplies them.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from adaline.kernels.sums import sparse_products
from adaline.linalg import inner
from adaline.objective import Evaluation, Objective
from adaline.results import Array
from adaline.tiles import entries, is_sparse

_FORCE = 0.3  # how much of nu a step leaves, at most
_LAST = 0.02  # times goal: a nu that is small enough
_LARGE = 100.0  # times the penalty: a curvature that a column is measured by
_MOST = 250  # products of a step
_FEW = 2**21  # multiplications of a product up to which scipy needs no compiler, and little time


def is_worth_products(loss: Objective) -> bool:
    """Whether steps are made by products: rows are sparse and wide, and all columns penalised."""
    return loss.is_wide and is_sparse(loss.X) and bool((loss.penalty[:-1] > 0).all())


class HessianProducts:
    """Steps towards a nu of `goal`; each is kept until the gradient is another.

    `slow` tells that a step needed more products than it is worth, and L-BFGS should go on.
    """

    def __init__(self, loss: Objective, goal: float) -> None:
        self.loss, self.goal, self.first, self.slow = loss, goal, 0.0, False
        self._turned = loss.X.T  # scipy would make it anew for each product
        self._scale, self._penalty = loss.scale[:, None], loss.penalty[:, None]
        self._kept: tuple[Evaluation | None, Array] = (None, np.empty(0))

    def direction(self, here: Evaluation, root: Array) -> Array:
        """About -H^-1 g, (K, q), where rows have the slopes root (see `Objective.at`)."""
        if self._kept[0] is not here:
            self._kept = here, np.ascontiguousarray(self._solved(here.g, root).T)
        return self._kept[1]

    def _solved(self, g: Array, root: Array) -> Array:
        """Conjugate gradients."""
        curvature, units = self._curvature(root), self._units(root)
        r = np.ascontiguousarray(-g.T)
        d, Hy, room, y = np.zeros_like(r), np.empty_like(r), np.empty_like(r), r * units
        size = inner(r, y)
        nu = sqrt(max(size, 0.0))
        self.first = max(self.first, nu)
        if nu == 0.0:
            return d
        enough = min(max(sqrt(nu / self.first), _LAST * self.goal / nu), _FORCE) * nu
        for _ in range(_MOST):
            self._multiply(y, curvature, Hy, room)
            along = inner(y, Hy)
            if not along > 0.0:
                return d if d.any() else y
            length = size / along
            d += np.multiply(y, length, out=room)
            r -= np.multiply(Hy, length, out=room)
            np.multiply(r, units, out=room)
            before, size = size, inner(r, room)
            if not size > enough * enough:
                return d
            y *= size / before
            y += room
        self.slow = True
        return d

    def _units(self, root: Array) -> Array:
        """One over the penalty, or over a hundredth of H's diagonal, about, where that is more.

        A few columns of large curvature, as of frequent words, conjugate gradients find by
        themselves, and in units of their own all others would be too long.
        """
        loss = self.loss
        slopes = root * root if loss.K == 1 else np.mean(root * (1.0 - root), axis=1)
        slopes = slopes * loss.omega if loss.K > 1 and len(loss.omega) else slopes
        own = float(slopes.sum()) / loss.weight * loss.length**2
        units = np.maximum(loss.penalty, own / _LARGE)
        units[-1] = own[-1]
        return 1.0 / np.where(units > 0.0, units, 1.0)[:, None]

    def _curvature(self, root: Array) -> tuple[Array, Array]:
        """Of one output root^2 and nothing; of K classes omega p and their probabilities p, (n, K).

        A row of several classes has the curvature omega (diag(p) - p p').
        """
        if self.loss.K == 1:
            return (root * root)[:, None], np.empty(0)
        omega = self.loss.omega
        return root * omega[:, None] if len(omega) else root, root

    def _multiply(self, d: Array, curvature: tuple[Array, Array], Hd: Array, room: Array) -> None:
        """Leave H d in Hd."""
        loss, (slopes, P) = self.loss, curvature
        if len(P) and loss.X.nnz * loss.K > _FEW:
            np.multiply(d, self._penalty, out=Hd)
            work = *entries(loss.X), loss.scale, slopes, P, d, Hd, np.empty(loss.K)
            sparse_products.add_class_curvature(*work)
            if not loss.intercept:
                Hd[-1] = d[-1]
            return
        V = np.asarray(loss.X @ np.multiply(d[:-1], self._scale, out=room[:-1]), dtype=np.float64)
        V += d[-1]
        if len(P):
            V -= np.einsum("ij,ij->i", P, V)[:, None]
        V *= slopes
        np.multiply(self._turned @ V, self._scale, out=Hd[:-1])
        Hd[-1] = V.sum(axis=0) if loss.intercept else d[-1]
        Hd += np.multiply(d, self._penalty, out=room)
