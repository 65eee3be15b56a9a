"""Corrections W W'g of targets, one by one, and how far the exact solutions may be after them.

A target has the bits that it would have alone: BLAS adds in an order that hangs on the number of
targets; here each sum runs upwards. One kernel does all of a pass that follows the sums over rows,
since on small tables a call of numpy takes far longer than its arithmetic.

Legend: T (p, p) = W', lower triangular, read as it lies in memory; theta + low (p + 1,) weights
and, last, the bias of a target; g (p + 1,) its gradient, and noise bounds on the errors of g.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work
from adaline._jit.processor import fma
from adaline.kernels.double_double.double_double import two_product, two_sum

_UNIT = 2.0**-53
_UNIT2 = _UNIT * _UNIT
_SLACK = 1.01  # the bounds themselves are computed in float64
_LOST = 1e-290  # more than products can lose below float64's range
_ENOUGH = 2.0**-58  # relative error before the last rounding
_ENTRIES = 6  # of T, that take Python as long as it takes for what `for_work` counts as a step
_STILL = _UNIT / 64  # a relative step that changes nothing any more


def first_guess(T, mean, weight, G):
    """(w, b) = (W W'g, g_b / weight - mean'w) of each row g of G (k, p + 1), which ends in g_b."""
    guess, u = np.zeros(G.shape), np.zeros(len(T))
    for_work(_first_guess, len(G) * T.size // 2 // _ENTRIES)(T, mean, weight, G, u, guess)
    return guess


@kernel
def _first_guess(T, mean, weight, G, u, guess):
    for t in range(G.shape[0]):
        for i in range(T.shape[0]):
            u[i] = 0.0
            for j in range(i + 1):
                u[i] += T[i, j] * G[t, j]
            for j in range(i + 1):
                guess[t, j] += T[i, j] * u[i]
        guess[t, -1] = _bias_step(mean, weight, G[t], guess[t])


@kernel
def _bias_step(mean, weight, g, step):
    """g_b / weight - mean'step."""
    moved = 0.0
    for j in range(mean.shape[0]):
        moved += mean[j] * step[j]
    return g[-1] / weight - moved


def correct(T, mean, ridge, lengths, weight, alpha, intercept, sums, at, of_y):
    """Correct theta + low of k targets in place, with bounds; what became of them, four (k,).

    mean, ridge (p,), lengths (p + 1,) : of the columns; lengths are bounds, about zero, and the
        last is that of the column of ones.
    weight, alpha, intercept : of the rows; |W'SW - I| at most; whether there is a bias.
    sums : (g, g_low, reach, additions), sums of (x, 1) r (k, p + 1); lengths of the residuals that
        they were made of (k,), and how many numbers were added in a row.
    at : (theta, low, bound, floor), each (k, p + 1); a weight below its floor counts as that.
    of_y : (lengths, least, squares), each (k,): of the targets; |W'g| so far; sums of r^2, which
        are changed to those after the correction.

    Returns |W'g| and whether weights are close enough, whether they hardly moved, and whether the
    step was not made since it would have led away.
    """
    k, q = at[0].shape
    pull, state, room = np.empty(k), np.empty((3, k), np.bool_), np.zeros((7, q))
    for_work(_correct, k * q * q // 2 // _ENTRIES)(
        T, mean, ridge, lengths, weight, alpha, intercept, *sums, *at, *of_y, pull, state, room
    )
    return pull, *state


@kernel
def _correct(
    T, mean, ridge, lengths, weight, alpha, intercept, sums, sums_low, reach, additions,
    theta, low, bound, floor, lengths_y, least, squares, pull, state, room,
):  # fmt: skip
    p = T.shape[0]
    rows, g, noise, step, found = room[0], room[1], room[2], room[3], room[4]
    rows[p] = _row_lengths(T, mean, weight, rows)
    for t in range(theta.shape[0]):
        far = 8.0 * additions * _UNIT2 * reach[t]
        _towards_the_centre(
            mean, ridge, lengths, far, sums[t], sums_low[t], theta[t], low[t], g, noise
        )
        if not intercept:  # there is no b to correct
            g[p], noise[p] = 0.0, 0.0
        doubt = _doubt_of_residuals(lengths, lengths_y[t], theta[t])
        pull[t] = _step(T, mean, weight, alpha, rows, g, noise, doubt, step, found, room[5:])
        away = not pull[t] <= 4.0 * least[t]
        for j in range(p + 1):
            if away:
                step[j] = 0.0
            else:
                bound[t, j] = found[j]
        _add(theta[t], low[t], step)
        if not intercept:
            theta[t, p], low[t, p], bound[t, p] = 0.0, 0.0, 0.0
        state[2, t] = away
        state[0, t], state[1, t] = _close_and_still(theta[t], step, bound[t], floor[t])
        less = 0.0
        for j in range(p):
            less += step[j] * g[j]
        squares[t] -= less + g[p] * g[p] / weight


@kernel
def _row_lengths(T, mean, weight, rows):
    """Lengths of the rows of W (p,), and that of the row of b among (w, b about the centre).

    b = c - mean'w, so its row is (-mean'W, 1 / sqrt(weight)).
    """
    p, of_b = T.shape[0], 1.0 / weight
    for i in range(p):
        v = 0.0
        for j in range(i + 1):
            rows[j] += T[i, j] * T[i, j]
            v += mean[j] * T[i, j]
        of_b += v * v
    for j in range(p):
        rows[j] = sqrt(rows[j])
    return sqrt(of_b)


@kernel
def _towards_the_centre(mean, ridge, lengths, far, sums, sums_low, theta, low, g, noise):
    """g = sum x r - mean sum r - ridge theta, and bounds on its errors; far lengths are of sums."""
    p = mean.shape[0]
    c, c_low = sums[p], sums_low[p]
    for j in range(p + 1):
        a = mean[j] if j < p else 0.0
        D = ridge[j] if j < p else 0.0
        noise[j] = far * lengths[j] + abs(a) * (far * lengths[p])
        noise[j] += 4.0 * _UNIT2 * (abs(sums[j]) + abs(a * c))
        high, tail = _less_product(sums[j], sums_low[j], a, c, c_low)
        noise[j] += 4.0 * _UNIT2 * (abs(high) + D * abs(theta[j]))
        g[j] = _less_product(high, tail, D, theta[j], low[j])[0]
        noise[j] += _UNIT * abs(g[j]) + _LOST


@kernel
def _doubt_of_residuals(lengths, length_y, theta):
    """A bound on the length of the errors of the residuals y - X theta in double-double."""
    size = length_y
    for j in range(theta.shape[0]):
        size += lengths[j] * abs(theta[j])
    return 2.0 * (theta.shape[0] + 2) * (theta.shape[0] + 2) * _UNIT2 * size


@kernel
def _less_product(g, g_low, a, c, c_low):
    """g + g_low - a (c + c_low) in double-double."""
    product, error = two_product(-a, c)
    total, carry = two_sum(g, product)
    tail = g_low + (carry + fma(-a, c_low, error))
    high = total + tail
    return high, tail - (high - total)


@kernel
def _step(T, mean, weight, alpha, rows, g, noise, doubt, step, bound, room):
    """The step of (w, b), bounds on what it leaves (as in `certificates.digits`), and |W'g|.

    doubt bounds the length of the residuals' errors.
    """
    p, root = T.shape[0], sqrt(weight)
    moved, far = room[0], room[1]
    for j in range(p):
        step[j], moved[j], far[j] = 0.0, 0.0, 0.0
    last = abs(g[p]) / root
    pulls, sizes, doubts = 0.0, last * last, (noise[p] / root) ** 2
    for i in range(p):
        u, size, unsure = 0.0, 0.0, 0.0
        for j in range(i + 1):
            w = T[i, j]
            u += w * g[j]
            size += abs(w) * abs(g[j])
            unsure += abs(w) * noise[j]
        for j in range(i + 1):
            w = T[i, j]
            step[j] += w * u
            moved[j] += abs(w) * abs(u)
            far[j] += abs(w) * size
        pulls, sizes, doubts = pulls + u * u, sizes + size * size, doubts + unsure * unsure
    step[p] = _bias_step(mean, weight, g, step)
    own = _gamma(p + 2) * sqrt(sizes)
    length = sqrt(pulls + last * last) + own
    reach = (alpha * length + sqrt(doubts) + doubt) / (1.0 - alpha) + own if alpha < 1.0 else inf
    shift, of_b = 0.0, abs(g[p]) / weight
    for j in range(p):
        bound[j] = _SLACK * (rows[j] * reach + _gamma(p + 3) * far[j])
        shift += abs(mean[j]) * abs(step[j])
        of_b += abs(mean[j]) * (abs(step[j]) + moved[j])
    bound[p] = _SLACK * (reach + _gamma(p + 3) * last) * rows[p]
    bound[p] += _gamma(p + 4) * of_b + _gamma(p + 2) * shift
    return sqrt(pulls)


@kernel
def _gamma(k):
    """Relative error of k rounded operations in a row."""
    return k * _UNIT / (1.0 - k * _UNIT)


@kernel
def _add(theta, low, step):
    """theta + low + step as a new high and low part."""
    for j in range(theta.shape[0]):
        high, carry = two_sum(theta[j], step[j])
        tail = low[j] + carry
        theta[j] = high + tail
        low[j] = tail - (theta[j] - high)


@kernel
def _close_and_still(theta, step, bound, floor):
    """Whether all errors are lost in the last rounding, and whether no step can be seen."""
    close, still = True, True
    for j in range(theta.shape[0]):
        size = abs(theta[j])
        if floor[j] > size:
            size = floor[j]
        close = close and bound[j] + 4.0 * _UNIT2 * size <= _ENOUGH * size
        still = still and abs(step[j]) <= _STILL * size
    return close, still
