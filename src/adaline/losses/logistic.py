"""The logistic loss: two classes by one output, K classes by softmax.

    two: log(1 + exp(-t v)), t = -1 or +1        K: log sum_k exp(v_k) - v_code

Lecture: 5.9, logistic regression.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline._threads import over_pieces
from adaline.kernels.losses import losses
from adaline.kernels.losses.links import LOGISTIC
from adaline.linalg import UNIT
from adaline.objective import Extent, Objective, Part, reach
from adaline.results import Array
from adaline.tiles import tile_rows, tiles

_NONE = np.empty(0)


class Logistic:
    """The criterion; see `objective.Loss`."""

    endless = "weights grow without bound: the classes are separable but for ties"

    def parts(self, rows: Objective, theta: Array, slopes: Array) -> list[Part]:
        """Sums over pieces of the rows."""
        if rows.K == 1:
            if rows.long_rows:
                return _long_rows(rows, theta, slopes)
            return rows.neuron(LOGISTIC, theta, slopes)
        probability = slopes.reshape(-1, rows.K)
        if rows.centred:
            return _classes(rows, theta, probability)
        return [_sparse_classes(rows, theta, probability)]

    def size(self, rows: Extent, theta: Array, f: float, slopes: float) -> float:
        """All terms are positive."""
        return f

    def rounding(self, rows: Extent, theta: Array, slopes: float) -> Array:
        """Slopes are at most 1, and values v are off by less than (p + 4) u |theta|'|z|.

        A sum of n terms in tiles: |error| <= (rows in a tile + tiles) u sum |terms|. Sums of x in
        the place of z have larger terms, and a second one is taken from them to centre them.
        """
        away, root = rows.uncentred, sqrt(rows.weight)
        each = rows.depth() + 0.25 * (len(rows.top) + 3) * reach(rows, theta, 2.0 * away) + 8.0
        return np.asarray(1.01 * UNIT * each * root * (rows.length + 4.0 * root * away))

    def start(self, rows: Objective) -> Array:
        """Equal probabilities."""
        return np.zeros((rows.K, len(rows.top)))

    def null(self, rows: Objective) -> float:
        """Loss of the best constant probabilities; of equal ones where there is no bias."""
        codes = (rows.target > 0).astype(np.int64) if rows.K == 1 else rows.target
        weights = rows.omega if len(rows.omega) else None
        share = np.bincount(codes, weights, minlength=max(rows.K, 2)) / rows.weight
        if not rows.intercept:
            return rows.weight * float(np.log(len(share)))
        share = share[share > 0]
        return -rows.weight * float(share @ np.log(share))

    def saturated(self, rows: Objective) -> float:
        """No loss at all."""
        return 0.0

    def constant(self, rows: Objective) -> float:
        """Nothing: the loss is minus the log likelihood."""
        return 0.0


def logistic_loss(
    X: Any, codes: NDArray[np.int64], K: int, omega: Array, alpha: float, intercept: bool
) -> Objective:
    """The penalised loss of rows with class codes, in units that fit the columns."""
    target = 2.0 * codes - 1.0 if K == 2 else np.ascontiguousarray(codes)
    outputs = 1 if K == 2 else K
    return Objective.of(Logistic(), X, target, omega, alpha, intercept, K=outputs)


def _long_rows(rows: Objective, theta: Array, slopes: Array) -> list[Part]:
    """One output, of rows so long that each is read from memory once, and as it is."""
    X, (W, b) = rows.X, rows.original(theta)

    def of_piece(i: int, j: int) -> Part:
        some = rows.target[i:j], rows.omega[i:j], rows.offset[i:j]
        f, g, least = losses.long_rows(X[i:j], *some, W[0], float(b[0]), slopes[i:j])
        total = g[-1]
        g[:-1] = g[:-1] * rows.scale - total * rows.shift
        return f, g, least

    return over_pieces(of_piece, *X.shape)


def _classes(rows: Objective, theta: Array, probability: Array) -> list[Part]:
    X, K, q = rows.X, rows.K, theta.shape[1]
    size, plain = tile_rows(q + K), rows.plain
    none, turned, b = np.empty((X.shape[0], 0)), theta.T, np.zeros(K)
    if plain:
        W, b = rows.original(theta)
        turned = W.T
    turned = np.ascontiguousarray(turned)

    def of_rows(Z: Array, i: int) -> tuple[float, Array, Array, float]:
        """Loss, sums of R'z and of R, and the least lead of the rows Z, the first being i."""
        end = i + len(Z)
        rest = rows.target[i:end], rows.omega[i:end], turned, b, probability[i:end]
        return losses.classes_dense(Z, *rest)  # type: ignore[no-any-return]

    def of_piece(i: int, j: int) -> Part:
        if plain:
            f, sums, total, least = of_rows(X[i:j], i)
            g = np.empty((K, q))
            g[:, :-1] = sums * rows.scale - total[:, None] * rows.shift
            g[:, -1] = total
            return f, g, least
        filled = tiles(X, none, _NONE, rows.scale, rows.shift, size, i, j)
        parts = [of_rows(tile, i + k * size) for k, tile in enumerate(filled)]
        f, g, least = 0.0, np.zeros((K, q)), np.inf
        for part, part_g, _, low in parts:
            f, g, least = f + part, g + part_g, min(least, low)
        return f, g, least

    return over_pieces(of_piece, X.shape[0], q)


def _sparse_classes(rows: Objective, theta: Array, probability: Array) -> Part:
    V = np.asarray(rows.X @ (theta[:, :-1] * rows.scale).T + theta[:, -1], dtype=np.float64)
    R = np.empty_like(V)
    f, least = losses.softmax(V, rows.target, rows.omega, R, probability)
    return f, np.column_stack([(rows.X.T @ R).T * rows.scale, R.sum(axis=0)]), least
