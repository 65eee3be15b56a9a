"""Ridge at penalties that are not small beside the data: one Cholesky factor, and no inverse.

    (S + D) w = c,    w <- w + d,    (S + D) d = g = A'(y - A w) - D w in double-double

The penalties bound how far the weights are from the exact ones (`certificates.penalty_digits`). So
neither the inverse of the factor is made, nor the product of matrices that would tell how good
it is: for many columns together they take longer than the factor itself.
"""

from __future__ import annotations

import numpy as np

from adaline._threads import between_passes, one_blas_thread
from adaline.certificates.penalty_digits import PenalisedColumns
from adaline.linalg import UNIT, cholesky, condition, solve_cholesky
from adaline.moments import Moments
from adaline.procedures.least_squares.gradients import (
    additions_of_pieces,
    doubt_of_residuals,
    gradients,
    minus_product,
)
from adaline.procedures.least_squares.normal_equations import in_unit_columns, penalty
from adaline.procedures.least_squares.refinement import (
    Found,
    delivered,
    floors,
    raw_lengths,
)
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows

MANY = 256  # columns from which on an inverse costs more than it is worth
_SHARE = 2.0**-14  # of a column's squares, that its penalty is at least
_MOST = 6  # corrections
_ENOUGH = 2.0**-58  # of its unit: the error of a weight that is zero to rounding
_STILL = UNIT / 64  # a relative step that changes nothing any more
_CONTRACTS = 0.1  # a correction that leaves more than this of a gradient is none


def penalised_least_squares(
    m: Moments, rows: Rows, intercept: bool, ridge: float | Array
) -> ClosedFit | None:
    """Weights and bias to the last digit; None where an inverse proves more."""
    if m.p < MANY or len(rows.X_low) or not _outweigh(m, intercept, ridge):
        return None
    m = in_unit_columns(m, intercept)
    D = penalty(m, ridge)
    with between_passes(m.rows, m.p + 1):
        G = m.scatter[: m.p, : m.p].copy()
        G.flat[:: m.p + 1] += D
        R = cholesky(G.T, overwrite=True)  # G.T is G, in the order of LAPACK
    return None if R is None else _corrected(m, rows, D, R, intercept)


def _outweigh(m: Moments, intercept: bool, ridge: float | Array) -> bool:
    """Whether no penalty is small beside the squares of its column."""
    p = m.p
    squares = m.scatter.diagonal()[:p] + (0.0 if intercept else m.weight * m.mean[:p] ** 2)
    with np.errstate(over="ignore"):
        own = np.ldexp(ridge, -2 * m.exponent[:p])
    return bool(np.all(own >= _SHARE * squares) and np.all((own > 0.0) & (own < 1 / UNIT)))


def _corrected(m: Moments, rows: Rows, D: Array, R: Array, intercept: bool) -> ClosedFit | None:
    """Corrections of all targets until bounds are small enough; None where they stay too large."""
    p, k = m.p, m.targets
    lengths, lengths_y = raw_lengths(m)
    columns = PenalisedColumns.of(m, D, lengths, intercept)
    theta = _first_guess(m, R, intercept)
    unknown = np.full(theta.shape, np.inf)
    found = Found(theta, np.zeros(theta.shape), unknown, floors(m, lengths_y, D), np.zeros(k))
    scale, on, share = np.ldexp(1.0, -m.exponent), np.arange(k), 0.0
    steps = additions_of_pieces(rows.X.shape[0], p)
    while len(on):
        if found.passes == _MOST:
            return None
        found.passes += 1
        at = found.theta[on].T, found.low[on].T
        g, g_low, squares = gradients(rows, on, scale[:p], scale[p:][on], *at)
        done = np.zeros(len(on), dtype=bool)
        for i, t in enumerate(on.tolist()):
            size = float(lengths_y[t] + lengths @ np.abs(found.theta[t]))
            doubt = doubt_of_residuals(rows, p, size)
            sums = np.ascontiguousarray(g[:, i]), np.ascontiguousarray(g_low[:, i])
            far = 8 * steps * UNIT**2 * float(np.sqrt(squares[i]))
            with one_blas_thread(0):  # others would change the last digit
                left, done[i] = _correct(columns, R, found, t, sums, float(squares[i]), far, doubt)
            share = max(share, left)
        if not share <= _CONTRACTS:
            return None
        on = on[~done]
    said = "solved in closed form, then corrected {times} in double-double."
    fit = delivered(found, m, intercept, share, condition(R), said)
    if fit.certificate.kind == "exact":
        return fit
    # An inverse has smaller bounds; but no bound proves digits of a weight that is zero.
    zeros = np.any((np.abs(found.theta) < found.floor)[:, : p + intercept])
    return fit if zeros and all(_is_sure(found, t) for t in range(k)) else None


def _first_guess(m: Moments, R: Array, intercept: bool) -> Array:
    """The solution from moments, (k, p + 1): one by one, since BLAS adds those of many targets in
    another order.
    """
    p, theta = m.p, np.zeros((m.targets, m.p + 1))
    with one_blas_thread(0):
        for t in range(m.targets):
            theta[t, :p] = solve_cholesky(R, m.scatter[:p, p + t])
            theta[t, p] = m.mean[p + t] - m.mean[:p] @ theta[t, :p] if intercept else 0.0
    return theta


def _correct(
    columns: PenalisedColumns,
    R: Array,
    found: Found,
    t: int,
    sums: tuple[Array, Array],
    squares: float,
    far: float,
    doubt: float,
) -> tuple[float, bool]:
    """Correct target t: what is left of its gradient, as a share, and whether that is enough.

    sums of (x, 1) r (p + 1,) are high and low parts, each within far times the length of its
    column; doubt bounds the length of the errors of r.
    """
    m, p, D = columns.m, columns.m.p, columns.D
    theta, low = found.theta[t], found.low[t]
    total, total_low = (np.full(p, part[p]) for part in sums)
    high, tail = minus_product(sums[0][:p], sums[1][:p], m.mean[:p], total, total_low)
    g = np.empty(p + 1)
    g[:p] = minus_product(high, tail, D, theta[:p].copy(), low[:p].copy())[0]
    g[p] = sums[0][p] if columns.intercept else 0.0
    d = np.zeros(p + 1)
    d[:p] = solve_cholesky(R, g[:p])
    left = g[:p] - columns.S @ d[:p] - D * d[:p]
    if columns.intercept:
        d[p] = g[p] / m.weight - m.mean[:p] @ d[:p]
    noise = columns.noise(sums[0], g[:p], theta, far)
    found.bound[t], rest = columns.after_step(g, noise, doubt, d, left)
    pulls = float(np.linalg.norm(g[:p] / np.sqrt(D)))
    less = float(d[:p] @ (g[:p] + D * (2 * theta[:p] + d[:p]))) + g[p] ** 2 / m.weight
    found.squares[t] = max(squares - less, 0.0)
    return rest / pulls if pulls > 0 else 0.0, _added(found, t, d)


def _added(found: Found, t: int, d: Array) -> bool:
    """Add the step d to target t; whether its error, or any further step, is lost in rounding."""
    theta = found.theta[t]
    high = theta + d
    moved = high - theta
    tail = found.low[t] + ((theta - (high - moved)) + (d - moved))  # what rounding left of high
    found.theta[t] = high + tail
    found.low[t] = tail - (found.theta[t] - high)
    size = np.maximum(np.abs(found.theta[t]), found.floor[t])
    return _is_sure(found, t) or bool(np.all(np.abs(d) <= _STILL * size))


def _is_sure(found: Found, t: int) -> bool:
    """Whether the exact weights of target t round to these, or are as good as zero as these are."""
    theta, floor = np.abs(found.theta[t]), found.floor[t]
    half = (theta - np.nextafter(theta, 0.0)) / 2  # of the distance to the next float64
    room = np.where(theta < floor, _ENOUGH * floor, half - np.abs(found.low[t]))
    return bool(np.all(found.bound[t] + 8 * UNIT**2 * theta < room))
