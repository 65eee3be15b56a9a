"""What one pass over rows tells Newton's procedure, in pieces that add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.objective import NEAR, Objective
from adaline.procedures.newton.curvature import depth, full_hessian
from adaline.results import Array


@dataclass(frozen=True, eq=False)
class Sums:
    """Loss, gradient and curvature of rows at theta, without the penalty; they add up.

    Attributes
    ----------
    f, g, H : float, ndarray of shape (K, q), and (K q, K q)
    least, slopes : float
        As in `objective.Evaluation`.
    saturated : float
        The least that f could be.
    top, total, farthest : ndarray of shape (q,), and float
        As in `objective.Extent`.
    deepest, blocks, n, weight : float and int
        Rounded additions behind a sum over one block, at most; blocks; rows; sum of their weights.
    """

    f: float
    g: Array
    H: Array
    least: float
    slopes: float
    saturated: float
    top: Array
    total: float
    farthest: float
    deepest: float
    blocks: int
    n: int
    weight: float

    @classmethod
    def of(cls, rows: Objective, theta: Array, top: Array) -> Sums:
        """Sums over a block at theta; top bounds |z_j|, and the penalty of rows is zero."""
        root = rows.room()
        here = rows.at(theta, root)
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may go too far
            H = rows.gram(root) if rows.K == 1 else full_hessian(rows, root)
        values = here.f, here.g, H, here.least, here.slopes, rows.loss.saturated(rows)
        deepest = max(rows.depth(), depth(rows))
        return cls(*values, top, rows.total, rows.farthest, deepest, 1, rows.n, rows.weight)

    @classmethod
    def nothing(cls, K: int, q: int) -> Sums:
        """Sums over no rows."""
        none = np.inf, 0.0, 0.0, np.zeros(q), 0.0, 0.0, 0.0
        return cls(0.0, np.zeros((K, q)), np.zeros((K * q, K * q)), *none, 1, 0, 0.0)

    def __add__(self, other: Sums) -> Sums:
        with np.errstate(over="ignore", invalid="ignore"):
            return Sums(
                self.f + other.f,
                self.g + other.g,
                self.H + other.H,
                min(self.least, other.least),
                self.slopes + other.slopes,
                self.saturated + other.saturated,
                np.maximum(self.top, other.top),
                self.total + other.total,
                max(self.farthest, other.farthest),
                max(self.deepest, other.deepest),
                self.blocks + other.blocks,
                self.n + other.n,
                self.weight + other.weight,
            )

    @property
    def length(self) -> Array:
        """Every |z_j| may be the largest."""
        return np.asarray(np.sqrt(self.weight) * self.top)

    @property
    def uncentred(self) -> Array:
        """Rows of K classes whose means are near zero are not centred."""
        away = np.zeros(len(self.top))
        away[:-1] = NEAR if len(self.g) > 1 else 0.0
        return away

    def depth(self) -> float:
        """Rounded additions behind a sum: in the block where they are most, and over blocks."""
        return self.deepest + self.blocks

    @property
    def is_finite(self) -> bool:
        """Whether all sums stayed in the range of float64."""
        return bool(np.isfinite(self.f) and np.isfinite(self.g).all() and np.isfinite(self.H).all())
