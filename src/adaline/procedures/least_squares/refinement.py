"""Corrections by residuals in twice the working precision, until float64 can hold no better.

Legend: theta + low (p + 1, k) are the weights and, last, the bias of each target; g (p + 1, k) the
gradients A'(y - A theta) about the means. Targets are corrected together and stop one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import (
    certificate_of_digits,
    contraction_with_low_parts,
    in_users_units,
)
from adaline.errors import plural
from adaline.kernels.double_double.corrections import correct, first_guess
from adaline.linalg import UNIT, times_power
from adaline.moments import Moments
from adaline.procedures.least_squares._covariance import covariance_root
from adaline.procedures.least_squares.gradients import additions, gradients
from adaline.procedures.least_squares.normal_equations import Normal
from adaline.procedures.least_squares.product_sums import (
    MANY,
    ProductSums,
    product_sums,
)
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows

_MAX_CORRECTIONS = 40
_NO_LENGTH = 1e-300  # a column without length is not divided by


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
        lengths, _ = raw_lengths(normal.m)
        alpha = contraction_with_low_parts(normal.alpha, normal.W, lengths[:-1])
        normal = replace(normal, alpha=alpha)
    p, scale = normal.m.p, np.ldexp(1.0, -normal.m.exponent)
    most = additions(rows.X.shape[0], p)

    def sums(on: NDArray[np.int64], theta: Array, low: Array) -> tuple[Array, Array, Array, int]:
        return *gradients(rows, on, scale[:p], scale[p:][on], theta, low), most

    said = "solved in closed form, then corrected {times} in double-double."
    first = None
    if by_sums and (normal.m.targets > MANY or rows.codes is not None):
        first = product_sums(normal, rows, np.concatenate(raw_lengths(normal.m)))
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
    found = _corrected(normal, sums, most, first)
    return delivered(found, normal.m, normal.intercept, normal.alpha, normal.condition, said, root)


@dataclass
class Found:
    """theta + low (k, p + 1), each within its bound; squared residuals; passes of the slowest."""

    theta: Array
    low: Array
    bound: Array
    floor: Array
    squares: Array
    passes: int = 0


def delivered(
    found: Found,
    m: Moments,
    intercept: bool,
    alpha: float,
    condition: float,
    said: str,
    root: Array | None = None,
) -> ClosedFit:
    """The fit, in the user's units; alpha is the share of an error that a correction leaves."""
    p, e = m.p, m.exponent
    exponent = np.empty((m.targets, p + 1), dtype=np.int64)
    exponent[:, :p], exponent[:, p] = e[p:, None] - e[:p], e[p:]  # the bias has y's
    bound = found.bound + 4 * UNIT**2 * np.abs(found.theta)
    bound = in_users_units(bound, exponent)
    with np.errstate(over="ignore"):
        theta, low, floor = (
            times_power(a, exponent) for a in (found.theta, found.low, found.floor)
        )
        squares = np.ldexp(found.squares, 2 * e[p:])  # may be infinite; weights are not
    bound = outward(bound + np.abs(low))
    used = slice(p + 1 if intercept else p)
    certificate = certificate_of_digits(
        theta[:, used].T, bound[:, used].T, floor[:, used].T, alpha, condition
    )
    n = found.passes
    return ClosedFit(
        W=theta[:, :p].copy(),
        b=theta[:, p].copy(),
        stopped=said.format(times=plural(n, "time"), passes=plural(n, "more pass")),
        certificate=certificate,
        rank=p,
        condition=condition,
        W_low=low[:, :p].copy(),
        b_low=low[:, p].copy(),
        squares=squares,
        root=root,
    )


def _corrected(normal: Normal, sums: Sums, most: int, first: ProductSums | None) -> Found:
    """Corrections of (w, b) until the bounds are small enough or no longer shrink."""
    m, p, k = normal.m, normal.m.p, normal.m.targets
    lengths, lengths_y = raw_lengths(m)
    T = np.ascontiguousarray(normal.W.T)
    columns = T, m.mean[:p], normal.ridge, lengths, m.weight, normal.alpha, normal.intercept
    theta, floor = _first_guess(normal, T), floors(m, lengths_y, normal.ridge)
    unknown = np.full(theta.shape, np.inf)
    found = Found(theta, np.zeros(theta.shape), unknown, floor, np.zeros(k))
    on = np.arange(k)
    least, stalls = np.full(k, np.inf), np.zeros(k, dtype=np.int64)
    while found.passes < most:
        found.passes += 1
        at = on if len(on) < k else slice(None)  # a slice is quicker
        of_on = [a[at] for a in (found.theta, found.low, found.bound, found.floor)]
        if first is None:
            g, g_low, squares, added = sums(on, of_on[0].T, of_on[1].T)
            reach = np.sqrt(squares)
        else:  # errors of sums of products are shares of y, not of the residuals
            g, g_low, squares = first.gradients(of_on[0].T, of_on[1].T)
            reach = lengths_y + np.abs(theta) @ lengths
            added = first.additions
        # The kernel is compiled once, for arrays without gaps.
        made_of = np.ascontiguousarray(g.T), np.ascontiguousarray(g_low.T), reach, added
        squares = np.ascontiguousarray(squares)
        of_y = lengths_y[at], least, squares
        pull, close, still, away = correct(*columns, made_of, of_on, of_y)
        if at is on:
            found.theta[on], found.low[on], found.bound[on], _ = of_on
        found.squares[at] = np.maximum(squares, 0.0)
        done = close | still if first is None else close & first.trusted(squares)
        if done.all():
            break
        first = None  # what they did not finish, the rows have to
        stalls = np.where(pull > least / 2, stalls + 1, 0)
        # Three times without contracting: this is what float64 factors can give.
        more = ~done & (stalls < 3) & ~away
        if not more.any():
            break
        on, least, stalls = on[more], np.minimum(least, pull)[more], stalls[more]
    return found


def outward(bound: Array) -> Array:
    """A little more than the bound: it was added up in float64, and may have underflowed."""
    return np.asarray(np.nextafter(np.nextafter(bound, np.inf), np.inf))


def _first_guess(normal: Normal, T: Array) -> Array:
    """W W'c and the bias that goes with it, or zeros, (k, p + 1)."""
    m, p = normal.m, normal.m.p
    theta = np.zeros((m.targets, p + 1))
    # Moments too ill-conditioned to factor are too ill-conditioned to start from.
    if normal.from_moments:
        theta[:, :p] = m.scatter[:p, p:].T
        theta = first_guess(T, m.mean[:p], m.weight, theta)
    theta[:, p] = theta[:, p] + m.mean[p:] if normal.intercept else 0.0
    return theta


def raw_lengths(m: Moments) -> tuple[Array, Array]:
    """Bounds on the lengths about zero of the columns of X, of that of ones, (p + 1,), and of Y."""
    lengths = np.sqrt(m.scatter.diagonal() + m.weight * m.mean**2) + m.rounding
    of_x = np.empty(m.p + 1)
    of_x[:-1], of_x[-1] = lengths[: m.p], sqrt(m.weight)
    return of_x, lengths[m.p :]


def floors(m: Moments, lengths_y: Array, ridge: Array) -> Array:
    """Coefficients below this share of the units count as zeros of this size, (k, p + 1).

    A column that does not vary has no influence, and its coefficient has no digits to count. The
    unit is what one column alone could have as its coefficient: a penalty makes it smaller.
    """
    lengths, doubt = np.sqrt(m.scatter.diagonal()[: m.p]), m.rounding[: m.p]
    share, some = np.empty(m.p + 1), np.maximum(lengths, _NO_LENGTH)
    with np.errstate(over="ignore"):  # beside so large a penalty no weight is small
        share[:-1] = np.where(lengths > doubt, UNIT / (some + ridge / some), np.inf)
    share[-1] = UNIT / sqrt(m.weight)
    return np.where(lengths_y > 0, lengths_y, 1.0)[:, None] * share
