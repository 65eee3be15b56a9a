"""The last digits of streamed least squares: corrections by residuals, each in one more pass.

Sums over chunks for `procedures.least_squares`, with the same proof as for rows in memory. Where
the moments have lost the digits, a pass makes a triangle instead, and one more bounds how nearly it
inverts. Called by `closed.regress`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline.data.fitting.chunks import Chunk, Chunks
from adaline.data.storing.records import storable
from adaline.errors import plural
from adaline.procedures.least_squares import RowSums, by_rows, unit_columns
from adaline.results import Array, ClosedFit
from adaline.sums.moments import Moments
from adaline.sums.rows import Gradient, Rows
from adaline.sums.triangle import Triangle

ENOUGH_DIGITS = 6.0  # proven digits with which no further pass is made
MOST_CORRECTIONS = 4  # passes; each gains about as many digits as the first solution has

storable(Triangle)
storable(Gradient)


def rows_of(chunk: Chunk) -> Rows:
    """The rows as the core takes them."""
    return Rows.of(chunk.X, chunk.y, chunk.weights_or_none)


def gradient(
    chunk: Chunk, scale: Array, on: NDArray[np.int64], theta: Array, low: Array
) -> Gradient:
    """At theta + low, in units 1/scale."""
    return rows_of(chunk).gradient(scale, on, theta, low)


def triangle(chunk: Chunk) -> Triangle:
    """R of the QR factorisation of the centred columns."""
    return Triangle.of(chunk.X, None, chunk.weights_or_none)


def products(chunk: Chunk, scale: Array, mean: Array, V: Array) -> Array:
    """(A V)'A V, and how many numbers were added in a row."""
    K, added = rows_of(chunk).products(scale, mean, V)
    return np.append(K.ravel(), float(added))


def refined(m: Moments, chunks: Chunks, ridge: float | Array, intercept: bool) -> ClosedFit | None:
    """The solution to the digits that float64 can hold, or None where columns depend on others."""
    if m.rows < m.p + intercept and not np.all(ridge > 0):
        return None
    u, D = unit_columns(m, intercept, ridge)
    corrections = 0

    def sum_gradients(scale: Array, on: NDArray[np.int64], theta: Array, low: Array) -> Gradient:
        nonlocal corrections
        corrections += 1
        total: Gradient = chunks.sum(gradient, scale, on, theta, low)
        return total

    def sum_triangles() -> Triangle:
        total: Triangle = chunks.sum(triangle)
        return total

    def sum_products(scale: Array, mean: Array, V: Array) -> tuple[Array, int]:
        sums = chunks.sum(products, scale, mean, V)
        return sums[:-1].reshape(u.p, u.p), int(sums[-1]) + 64

    sums = RowSums(sum_gradients, sum_triangles, sum_products)
    fit = by_rows(u, D, intercept, sums, most=MOST_CORRECTIONS)
    if fit is None:
        return None
    said = "solved in closed form, then corrected in " + plural(corrections, "more pass")
    return replace(fit, stopped=f"{said} in double-double.")
