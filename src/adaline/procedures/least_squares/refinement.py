"""Corrections by residuals in twice the working precision, until float64 can hold no better.

Legend: theta + low (p + 1, k) are the weights and, last, the bias of each target; g (p + 1, k) the
gradients A'(y - A theta) about the means. Targets are corrected together and stop one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adaline._threads import between_passes
from adaline.certificates.digits import (
    after_correction,
    certificate_of_digits,
    contraction_with_low_parts,
    gamma,
    in_users_units,
)
from adaline.kernels.double_double import double_double
from adaline.kernels.double_double.corrections import corrections
from adaline.linalg import UNIT, column_lengths
from adaline.moments import Moments
from adaline.procedures.least_squares._covariance import covariance_root
from adaline.procedures.least_squares.gradients import gradients, minus_product
from adaline.procedures.least_squares.normal_equations import Normal
from adaline.procedures.least_squares.product_sums import (
    ADDITIONS,
    MANY,
    ProductSums,
    product_sums,
)
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows

_MAX_CORRECTIONS = 40
_ENOUGH = 2.0**-58  # relative error before the last rounding


class Sums(Protocol):
    """Sums over all rows at theta + low of the targets `on`, for which residuals are asked again.

    Sums of (x, 1) r, high and low parts (p + 1, k), of r^2 (k,), and how many numbers were added in
    a row, at most. They come from rows in memory, or from a pass over a file.
    """

    def __call__(
        self, on: NDArray[np.int64], theta: Array, low: Array
    ) -> tuple[Array, Array, Array, int]: ...


def refine(normal: Normal, rows: Rows, *, by_sums: bool = False) -> ClosedFit:
    """The corrected solution of rows in memory, and their covariance to its last digits.

    by_sums: many targets may be corrected first by sums of products, which are quicker and leave
    other digits beyond float64 than residuals do.
    """
    if len(rows.X_low):
        lengths = _raw_lengths(normal)[:-1]
        alpha = contraction_with_low_parts(normal.alpha, normal.W, lengths)
        normal = replace(normal, alpha=alpha)
    p, scale = normal.m.p, np.ldexp(1.0, -normal.m.exponent)
    additions = rows.X.shape[0] // double_double.LANES + double_double.LANES + 16

    def sums(on: NDArray[np.int64], theta: Array, low: Array) -> tuple[Array, Array, Array, int]:
        return *gradients(rows, on, scale[:p], scale[p:][on], theta, low), additions

    said = "solved in closed form, then corrected {} times in double-double."
    first = None
    if by_sums and normal.m.targets > MANY:
        lengths = np.append(_raw_lengths(normal), _target_lengths(normal))
        first = product_sums(normal, rows, lengths)
    root = covariance_root(normal, rows)
    return refine_by(normal, sums, _MAX_CORRECTIONS, said, root, first)


def refine_by(
    normal: Normal,
    sums: Sums,
    most: int,
    said: str,
    root: Array,
    first: ProductSums | None = None,
) -> ClosedFit:
    """w <- w + W W'g with g = A'(y - A w) in double-double, for all targets together.

    At most so many corrections are made, the first one by sums of products where these are given;
    said has a place for their number.
    """
    m, p = normal.m, normal.m.p
    found = _corrected(normal, sums, most, first)
    exponent = np.empty((p + 1, m.targets), dtype=np.int64)
    exponent[:p], exponent[p] = normal.weights_exponent, m.exponent[p:]  # the bias has y's units
    bound = found.bound + 4 * UNIT**2 * np.abs(found.theta)
    bound = in_users_units(bound, exponent)
    with np.errstate(over="ignore"):
        theta, low, floor = (np.ldexp(a, exponent) for a in (found.theta, found.low, found.floor))
        squares = np.ldexp(found.squares, 2 * m.exponent[p:])  # may be infinite; weights are not
    used = slice(None) if normal.intercept else slice(p)
    certificate = certificate_of_digits(
        theta[used],
        outward(bound[used] + np.abs(low[used])),
        floor[used],
        normal.alpha,
        normal.condition,
    )
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped=said.format(found.passes),
        certificate=certificate,
        rank=p,
        condition=normal.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=squares,
        root=root,
    )


@dataclass
class _Found:
    """theta + low, each within its bound; sums of squared residuals; passes of the slowest."""

    theta: Array
    low: Array
    bound: Array
    floor: Array
    squares: Array
    passes: int = 0


def _corrected(normal: Normal, sums: Sums, most: int, first: ProductSums | None) -> _Found:
    """Corrections of (w, b) until the bounds are small enough or no longer shrink."""
    m, k = normal.m, normal.m.targets
    theta, lengths = _first_guess(normal), _target_lengths(normal)
    floor, unknown = _floors(normal, lengths), np.full(theta.shape, np.inf)
    found = _Found(theta, np.zeros(theta.shape), unknown, floor, np.zeros(k))
    on = np.arange(k)
    least, stalls = np.full(k, np.inf), np.zeros(k, dtype=np.int64)
    while len(on) and found.passes < most:
        found.passes += 1
        at = on if len(on) < k else slice(None)  # a slice is quicker
        theta, low = found.theta[:, at], found.low[:, at]
        if first is None:
            g, noise, rows_noise, squares = _gradients(normal, sums, on, theta, low, lengths[on])
        else:
            g, noise, rows_noise, squares = _of_products(normal, first, theta, low, lengths)
        with between_passes(m.rows, m.p):
            step, bound, pull = _correction(normal, g, noise, rows_noise)
        away = ~(pull <= 4.0 * least)  # steps that lead away are not made
        if away.any():
            step[:, away], bound[:, away] = 0.0, found.bound[:, on[away]]
        theta, low = _added(theta, low, step)
        if not normal.intercept:
            theta[-1], low[-1], bound[-1] = 0.0, 0.0, 0.0
        squares -= (step[:-1] * g[:-1]).sum(axis=0) + g[-1] ** 2 / m.weight
        found.theta[:, at], found.low[:, at], found.bound[:, at] = theta, low, bound
        found.squares[at] = np.maximum(squares, 0.0)
        size = np.maximum(np.abs(theta), floor[:, at])
        moved = (np.abs(step) / size).max(axis=0, initial=0.0)
        close = bound + 4 * UNIT**2 * size <= _ENOUGH * size
        done = close.all(axis=0)
        done = done | (moved <= UNIT / 64) if first is None else done & first.trusted(squares)
        first = None  # what they did not finish, the rows have to
        stalls = np.where(pull > least / 2, stalls + 1, 0)
        # Three times without contracting: this is what float64 factors can give.
        more = ~done & (stalls < 3) & ~away
        on, least, stalls = on[more], np.minimum(least, pull)[more], stalls[more]
    return found


def outward(bound: Array) -> Array:
    """A little more than the bound: it was added up in float64, and may have underflowed."""
    return np.asarray(np.nextafter(np.nextafter(bound, np.inf), np.inf))


def _first_guess(normal: Normal) -> Array:
    """W W'c and the bias that goes with it, or zeros, (p + 1, k)."""
    m, p = normal.m, normal.m.p
    theta = np.zeros((p + 1, m.targets))
    # Moments too ill-conditioned to factor are too ill-conditioned to start from.
    if normal.from_moments:
        theta[:p] = m.scatter[:p, p:]
        _, theta = corrections(normal.W, m.mean[:p], m.weight, theta)
    theta[p] = theta[p] + m.mean[p:] if normal.intercept else 0.0
    return theta


def _gradients(
    normal: Normal,
    sums: Sums,
    on: NDArray[np.int64],
    theta: Array,
    low: Array,
    lengths_y: Array,
) -> tuple[Array, Array, Array, Array]:
    """g about the means for some targets, bounds on its errors, and sums of squares."""
    g, g_low, squares, additions = sums(on, theta, low)
    at = theta, low, lengths_y, additions
    return *_about_the_centre(normal, g, g_low, squares, *at), squares


def _of_products(
    normal: Normal, sums: ProductSums, theta: Array, low: Array, lengths_y: Array
) -> tuple[Array, Array, Array, Array]:
    """The same of all targets from sums of products; their errors are shares of y, not of r."""
    g, g_low, squares = sums.gradients(theta, low)
    reach = lengths_y + _raw_lengths(normal) @ np.abs(theta)
    additions = ADDITIONS * (normal.m.rows + normal.m.p + 64)
    at = theta, low, lengths_y, additions
    return *_about_the_centre(normal, g, g_low, reach**2, *at), squares


def _about_the_centre(
    normal: Normal,
    g: Array,
    g_low: Array,
    squares: Array,
    theta: Array,
    low: Array,
    lengths_y: Array,
    additions: int,
) -> tuple[Array, Array, Array]:
    """g of A about the means from sums of (x, 1) r, with bounds on its errors and those of r.

    squares (k,) are the sums of r^2, lengths_y (k,) those of the targets; `additions` bounds how
    many numbers were added in a row.
    """
    m, p, k = normal.m, normal.m.p, g.shape[1]
    lengths = _raw_lengths(normal)
    noise = np.multiply.outer(8 * additions * UNIT**2 * lengths, np.sqrt(squares))
    rows_noise = 2 * (p + 3) ** 2 * UNIT**2 * (lengths_y + lengths @ np.abs(theta))
    # Towards the centre: sum (x - mean) r = sum x r - mean sum r, and the penalty's pull.
    a, D, c, c_low = np.zeros((4, p + 1, k))
    a[:p], D[:p], c[:], c_low[:] = m.mean[:p, None], normal.ridge[:, None], g[p], g_low[p]
    noise += np.abs(a) * noise[p] + 4 * UNIT**2 * (np.abs(g) + np.abs(a * c))
    g, g_low = minus_product(g, g_low, a, c, c_low)
    noise += 4 * UNIT**2 * (np.abs(g) + D * np.abs(theta))
    g, _ = minus_product(g, g_low, D, theta, low)
    noise += UNIT * np.abs(g) + 1e-290
    if not normal.intercept:
        g[p], noise[p] = 0.0, 0.0  # there is no b to correct
    return g, noise, rows_noise


def _correction(
    normal: Normal, g: Array, noise: Array, rows_noise: Array
) -> tuple[Array, Array, Array]:
    """Corrections of (w, b), how far the exact solutions may still be after them, and |W'g|."""
    m, W, p = normal.m, normal.W, normal.m.p
    mean, root = m.mean[:p], sqrt(m.weight)
    u, step = corrections(W, mean, m.weight, g)
    whole = np.zeros((p + 1, p + 1))  # the bias about the centre is uncoupled from the weights
    whole[:p, :p], whole[p, p] = W, 1 / root
    bound = after_correction(whole, normal.alpha, g, noise, rows_noise)
    # b = c - mean'w: the row of b among (w, c) is (-mean'W, 1/root).
    v = mean @ W
    row = hypot(sqrt(v @ v), 1 / root)
    reach = bound[p] * root * row
    moved, sizes = np.abs(step[:p]), np.abs(W) @ np.abs(u)
    own = gamma(p + 4) * (np.abs(g[p]) / m.weight + np.abs(mean) @ (moved + sizes))
    bound[p] = reach + own + gamma(p + 2) * (np.abs(mean) @ moved)
    return step, bound, column_lengths(u)


def _added(theta: Array, low: Array, step: Array) -> tuple[Array, Array]:
    """theta + low + step as a new high and low part."""
    high = theta + step
    t = high - theta
    tail = low + ((theta - (high - t)) + (step - t))
    total = high + tail
    return total, tail - (total - high)


def _raw_lengths(normal: Normal) -> Array:
    """Bounds on the lengths of the columns of X about zero, and of the column of ones, (p + 1,)."""
    m, p = normal.m, normal.m.p
    lengths = np.empty(p + 1)
    lengths[:p] = _lengths_about_zero(m)[:p]
    lengths[p] = sqrt(m.weight)
    return lengths


def _target_lengths(normal: Normal) -> Array:
    """Bounds on the lengths of the targets about zero, (k,)."""
    return _lengths_about_zero(normal.m)[normal.m.p :]


def _lengths_about_zero(m: Moments) -> Array:
    """Bounds on the lengths of all columns and targets, (p + k,)."""
    return np.asarray(np.sqrt(m.scatter.diagonal() + m.weight * m.mean**2) + m.rounding)


def _floors(normal: Normal, lengths_y: Array) -> Array:
    """Coefficients below this share of the units count as zeros of this size, (p + 1, k).

    A column that does not vary has no influence, and its coefficient has no digits to count.
    """
    m, p = normal.m, normal.m.p
    lengths, share = np.sqrt(m.scatter.diagonal()[:p]), np.full(p + 1, np.inf)
    moves = lengths > m.rounding[:p]
    np.divide(UNIT, lengths, out=share[:p], where=moves)
    share[p] = UNIT / sqrt(m.weight)
    return np.asarray(np.multiply.outer(share, np.where(lengths_y > 0, lengths_y, 1.0)))
