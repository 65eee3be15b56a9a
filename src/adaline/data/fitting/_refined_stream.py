"""The last digits of streamed least squares: corrections by residuals, each in one more pass.

Sums over blocks for `procedures.refinement`, with the same proof as for rows in memory. Where the
moments have lost the digits, a pass makes a triangle instead, and one more bounds how nearly it
inverts.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaline.data.fitting._passes import Passes, RowReader
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.errors import plural
from adaline.procedures.least_squares import RowSums, by_rows, unit_columns
from adaline.results import Array, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows
from adaline.sums.triangle import Triangle

ENOUGH = 6.0  # proven digits with which no further pass is made
MOST_PASSES = 4  # corrections, at most

storable(Triangle)
storable(Gradient)


def table_of(rows: RowReader, block: Block) -> tuple[int, Rows]:
    """How many rows a block of numbers has, and those of positive weight."""
    X, y = rows.numbers(block, "C")
    return len(y), Rows.of(X, y, rows.weights(block) if rows.weighted else None)


@dataclass(frozen=True, eq=False)
class GradientOf:
    """The gradients of a block at theta + low, in units 1/scale."""

    rows: RowReader
    scale: Array
    on: NDArray[np.int64]
    theta: Array
    low: Array

    def __call__(self, block: Block) -> Part:
        n, t = table_of(self.rows, block)
        return Part(n, t.gradient(self.scale, self.on, self.theta, self.low))


@dataclass(frozen=True, eq=False)
class TriangleOf:
    """The triangle of a block; one row of zeros and no weight where it is empty."""

    rows: RowReader

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "C")
        if len(y):
            omega = self.rows.weights(block) if self.rows.weighted else None
            return Part(len(y), Triangle.of(X, None, omega))
        return Part(0, Triangle.of(np.zeros((1, X.shape[1])), None, np.zeros(1)))


@dataclass(frozen=True, eq=False)
class ProductsOf:
    """(A V)'A V of a block, and how many numbers were added in a row."""

    rows: RowReader
    scale: Array
    mean: Array
    V: Array

    def __call__(self, block: Block) -> Part:
        n, t = table_of(self.rows, block)
        K, added = t.products(self.scale, self.mean, self.V)
        return Part(n, np.append(K.ravel(), float(added)))


def refined(
    m: Moments, passes: Passes, rows: RowReader, ridge: float | Array, intercept: bool
) -> ClosedFit | None:
    """The solution to the digits that float64 can hold, or None where columns depend on others."""
    if m.rows < m.p + intercept and not np.all(ridge > 0):
        return None
    u, D = unit_columns(m, intercept, ridge)
    count = 0

    def gradient(scale: Array, on: NDArray[np.int64], theta: Array, low: Array) -> Gradient:
        nonlocal count
        count += 1  # each pass has a name by which checkpoints find it
        job = GradientOf(rows, scale, on, theta, low)
        found: Gradient = passes.sums(f"residuals {count}", job, operator.add)
        return found

    def triangle() -> Triangle:
        found: Triangle = passes.sums("triangle", TriangleOf(rows), operator.add)
        return found

    def products(scale: Array, mean: Array, V: Array) -> tuple[Array, int]:
        sums = passes.sums("products", ProductsOf(rows, scale, mean, V), operator.add)
        return sums[:-1].reshape(u.p, u.p), int(sums[-1]) + 64

    fit = by_rows(u, D, intercept, RowSums(gradient, triangle, products), most=MOST_PASSES)
    if fit is None:
        return None
    said = "solved in closed form, then corrected in " + plural(count, "more pass")
    return replace(fit, stopped=f"{said} in double-double.")
