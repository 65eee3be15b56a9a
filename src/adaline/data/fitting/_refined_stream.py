"""The last digits of streamed least squares: corrections by residuals, each in one more pass.

The same proof as for rows in memory (`procedures.least_squares.refinement`), with sums over blocks:
g = A'(y - Aw) in double-double. Where the moments have lost the digits, a pass makes a triangle
instead, and one more bounds how nearly it inverts.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.certificates.digits import (
    certificate_of_digits,
    contraction_of_rows,
    in_users_units,
)
from adaline.data.fitting._passes import Passes, RowReader
from adaline.data.fitting._returned import Part
from adaline.data.reading.source import Block
from adaline.data.storing.checkpoint import storable
from adaline.kernels.double_double import double_double
from adaline.linalg import UNIT, condition, inverse_triangle, symmetric, triangle_of
from adaline.moments import Moments
from adaline.procedures.least_squares.closed_form import PROVABLE
from adaline.procedures.least_squares.normal_equations import (
    Normal,
    in_unit_columns,
    normal_equations,
    penalty,
    rank_of,
)
from adaline.procedures.least_squares.refinement import (
    about_the_centre,
    added,
    correction,
    first_guess,
    floors,
    outward,
    target_lengths,
)
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows as KernelRows
from adaline.tiles import gradient, tile_rows, tiles
from adaline.triangle import Triangle

ENOUGH = 6.0  # proven digits with which no further pass is made
_PASSES = 4  # corrections, at most
_DONE = 2.0**-58  # relative error before the last rounding
_NO_ROWS = np.empty((0, 0))

storable(Triangle)


@storable
@dataclass(frozen=True, eq=False)
class Gradient:
    """Sums of (x, 1) r, high and low parts, of r^2, and of how many blocks."""

    g: Array
    low: Array
    squares: float
    blocks: int

    def __add__(self, other: Gradient) -> Gradient:
        g, carry = double_double.two_sum(self.g, other.g)
        g, low = double_double.two_sum(g, self.low + other.low + carry)
        return Gradient(g, low, self.squares + other.squares, self.blocks + other.blocks)


@dataclass(frozen=True, eq=False)
class GradientOf:
    """The gradient of a block at theta + low, in the units of the normal equations."""

    rows: RowReader
    scale: Array
    theta: Array
    low: Array

    def __call__(self, block: Block) -> Part:
        X, y = self.rows.numbers(block, "F")
        p = X.shape[1]
        one = KernelRows(X, y[:, None], self.rows.weights(block), _NO_ROWS)
        at = self.scale[:p], float(self.scale[p]), self.theta, self.low
        return Part(len(y), Gradient(*gradient(one, 0, *at), 1))


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
    return _corrected(normal, passes, rows)


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


def _corrected(normal: Normal, passes: Passes, rows: RowReader) -> ClosedFit:
    """w <- w + W W'g until the bounds are small enough, or no longer shrink."""
    m, p, lanes = normal.m, normal.m.p, double_double.LANES
    theta, lengths = first_guess(normal), target_lengths(normal)
    low, floor, scale = np.zeros_like(theta), floors(normal, lengths), np.ldexp(1.0, -m.exponent)
    count = 0
    while True:
        count += 1
        at = GradientOf(rows, scale, theta[:, 0], low[:, 0])
        sums = passes.sums(f"residuals {count}", at, operator.add)
        merges = max(sums.blocks.bit_length(), 1)
        additions = m.rows // lanes + (lanes + 16) * merges + sums.blocks
        found = sums.g[:, None], sums.low[:, None], np.full(1, sums.squares)
        g, noise, rows_noise = about_the_centre(normal, *found, theta, low, lengths, additions)
        step, bound, _ = correction(normal, g, noise, rows_noise)
        theta, low = added(theta, low, step)
        if not normal.intercept:
            theta[p], low[p], bound[p] = 0.0, 0.0, 0.0
        size = np.maximum(np.abs(theta), floor)
        if count == _PASSES or np.all(bound + 4 * UNIT**2 * size <= _DONE * size):
            break
    squares = sums.squares - float(step[:p, 0] @ g[:p, 0]) - float(g[p, 0]) ** 2 / m.weight
    one = theta[:, 0], low[:, 0], bound[:, 0], floor[:, 0]
    return _fit(normal, *one, count, max(squares, 0.0))


def _fit(
    normal: Normal,
    theta: Array,
    low: Array,
    bound: Array,
    floor: Array,
    count: int,
    squares: float,
) -> ClosedFit:
    m, p = normal.m, normal.m.p
    exponent = np.append(normal.weights_exponent[:, 0], m.exponent[p])
    bound = bound + 4 * UNIT**2 * np.abs(theta)
    bound = in_users_units(bound, exponent)[:, None]
    columns: Any = [np.ldexp(v, exponent)[:, None] for v in (theta, low, floor)]
    theta, low, floor = columns
    used = slice(None) if normal.intercept else slice(p)
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped=f"solved in closed form, then corrected in {count} more passes in double-double.",
        certificate=certificate_of_digits(
            theta[used],
            outward(bound[used] + np.abs(low[used])),
            floor[used],
            normal.alpha,
            normal.condition,
        ),
        rank=p,
        condition=normal.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=np.ldexp([squares], 2 * m.exponent[p:]),
        root=normal.root,
    )
