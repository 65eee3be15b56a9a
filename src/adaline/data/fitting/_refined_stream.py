"""The last digits of streamed least squares: corrections by residuals, each in one more pass.

The same proof as for rows in memory (`procedures.least_squares.refinement`), with sums over blocks:
g = A'(y - Aw) in double-double. Where the moments have lost the digits, a pass makes a triangle
instead, and one more bounds how nearly it inverts.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import contraction_of_rows
from adaline.data.fitting._passes import Passes, RowReader
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.kernels.double_double import double_double
from adaline.linalg import condition, inverse_triangle, symmetric, triangle_of
from adaline.moments import Moments
from adaline.procedures.least_squares.closed_form import PROVABLE
from adaline.procedures.least_squares.gradients import additions, gradients
from adaline.procedures.least_squares.normal_equations import (
    Normal,
    in_unit_columns,
    normal_equations,
    penalty,
    rank_of,
)
from adaline.procedures.least_squares.refinement import refine_by
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows as KernelRows
from adaline.tiles import tile_rows, tiles
from adaline.triangle import Triangle

ENOUGH = 6.0  # proven digits with which no further pass is made
_PASSES = 4  # corrections, at most
_NO_ROWS = np.empty((0, 0))

storable(Triangle)


@storable
@dataclass(frozen=True, eq=False)
class Gradient:
    """Sums of (x, 1) r, high and low parts (p + 1, k), of r^2 (k,), and of how many blocks."""

    g: Array
    low: Array
    squares: Array
    blocks: int

    def __add__(self, other: Gradient) -> Gradient:
        g, carry = double_double.two_sums(self.g, other.g)
        g, low = double_double.two_sums(g, self.low + other.low + carry)
        return Gradient(g, low, self.squares + other.squares, self.blocks + other.blocks)


@dataclass(frozen=True, eq=False)
class GradientOf:
    """The gradients of a block at theta + low, in the units of the normal equations."""

    rows: RowReader
    scale: Array
    on: NDArray[np.int64]
    theta: Array
    low: Array

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "F")
        p = X.shape[1]
        block_rows = KernelRows(X, y[:, None], self.rows.weights(block), _NO_ROWS)
        at = self.scale[:p], self.scale[p:][self.on], self.theta, self.low
        return Part(len(y), Gradient(*gradients(block_rows, self.on, *at), 1))


@dataclass(frozen=True, eq=False)
class TriangleOf:
    """The triangle of a block; one row of zeros and no weight where it is empty."""

    rows: RowReader

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "C")
        if len(y):
            omega = self.rows.weights(block)
            return Part(len(y), Triangle.of(X, y, omega if len(omega) else None))
        return Part(0, Triangle.of(np.zeros((1, X.shape[1])), np.zeros(1), np.zeros(1)))


@dataclass(frozen=True, eq=False)
class ContractionOf:
    """B'B of a block, B = sqrt(omega) ((x - mean) W, 1 / sqrt(n))."""

    rows: RowReader
    scale: Array
    mean: Array
    W: Array
    weight: float
    intercept: bool

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "C")
        p = X.shape[1]
        K = np.zeros((p + self.intercept, p + self.intercept))
        root = np.sqrt(self.rows.weights(block))
        for tile in tiles(X, y[:, None], root, self.scale, self.mean, tile_rows(p + 1)):
            B = np.empty((len(tile), p + self.intercept))
            np.matmul(tile[:, :p], self.W, out=B[:, :p])
            if self.intercept:
                B[:, p] = tile[:, -1] / np.sqrt(self.weight)
            K += B.T @ B
        return Part(len(y), K)


def refined(
    m: Moments, passes: Passes, rows: RowReader, ridge: float | Array, intercept: bool
) -> ClosedFit | None:
    """The solution to the digits that float64 can hold, or None where columns depend on others."""
    if m.rows < m.p + intercept and not np.all(ridge > 0):
        return None
    normal = normal_equations(m, intercept, ridge)
    if normal is None or normal.alpha > PROVABLE:
        normal = _by_triangle(m, passes, rows, ridge, intercept)
    if normal is None or not normal.alpha < 1:
        return None
    said = "solved in closed form, then corrected in {passes} in double-double."
    return refine_by(normal, _Passes(passes, rows, normal), _PASSES, said, normal.root)


def _by_triangle(
    m: Moments, passes: Passes, rows: RowReader, ridge: float | Array, intercept: bool
) -> Normal | None:
    t: Triangle = passes.sums("triangle", TriangleOf(rows), operator.add)
    unit = in_unit_columns(m, intercept)
    t, p = t.in_units(unit.exponent), m.p
    R = (t.centred() if intercept else t.about_zero())[:p, :p]
    D = penalty(unit, ridge)
    if np.any(ridge):
        R = triangle_of(np.vstack([R, np.diag(np.sqrt(D))]))
    W = inverse_triangle(R) if rank_of(R) == p else None
    if W is None:
        return None
    scale = np.ldexp(1.0, -unit.exponent)
    measure = ContractionOf(rows, scale, unit.mean, W, unit.weight, intercept)
    K = symmetric(passes.sums("contraction", measure, operator.add))
    lengths = np.sqrt(np.diag(unit.scatter)[:p]) + unit.rounding[:p]
    size = tile_rows(p + 1)
    alpha = contraction_of_rows(K, W, lengths, D, size + m.rows // size + 64)
    return Normal(unit, D, W, alpha, condition(R), intercept, from_moments=False)


@dataclass(eq=False)
class _Passes:
    """The sums that `refine_by` asks for: a pass each, counted so that checkpoints find them."""

    passes: Passes
    rows: RowReader
    normal: Normal
    count: int = 0

    def __call__(
        self, on: NDArray[np.int64], theta: Array, low: Array
    ) -> tuple[Array, Array, Array, int]:
        m = self.normal.m
        self.count += 1
        at = GradientOf(self.rows, np.ldexp(1.0, -m.exponent), on, theta, low)
        found: Gradient = self.passes.sums(f"residuals {self.count}", at, operator.add)
        merges = max(found.blocks.bit_length(), 1)
        added = additions(m.rows, m.p) + additions(0, m.p) * merges + found.blocks
        return found.g, found.low, found.squares, added
