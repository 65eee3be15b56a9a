"""Corrections by residuals in twice the working precision, until float64 can hold no better."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adaline.certificates.digits import (
    after_correction,
    certificate_of_digits,
    contraction_with_low_parts,
    gamma,
)
from adaline.kernels import double_double
from adaline.linalg import UNIT
from adaline.procedures._normal import Normal
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows, gradient

_MAX_CORRECTIONS = 40
_ENOUGH = 2.0**-58  # relative error before the last rounding


def refine(normal: Normal, rows: Rows) -> ClosedFit:
    """w <- w + W W'g with g = A'(y - A w) in double-double, for every target."""
    if len(rows.X_low):
        lengths = _raw_lengths(normal)[:-1]
        alpha = contraction_with_low_parts(normal.alpha, normal.W, lengths)
        normal = replace(normal, alpha=alpha)
    m, p = normal.m, normal.m.p
    columns = [_refine_target(normal, rows, t) for t in range(m.targets)]
    exponent = np.vstack([normal.weights_exponent, m.exponent[p:]])  # the bias has y's units
    theta, low, bound, floor = (
        np.ldexp(np.column_stack([getattr(c, name) for c in columns]), exponent)
        for name in ("theta", "low", "bound", "floor")
    )
    used = slice(None) if normal.intercept else slice(p)
    certificate = certificate_of_digits(
        theta[used], bound[used], floor[used], normal.alpha, normal.condition
    )
    passes = max(c.passes for c in columns)
    with np.errstate(over="ignore"):  # squares of targets of 1e200 are infinite; weights are not
        squares = np.ldexp([c.squares for c in columns], 2 * m.exponent[p:])
    return ClosedFit(
        W=theta[:p].T.copy(),
        b=theta[p].copy(),
        stopped=f"solved in closed form, then corrected {passes} times in double-double.",
        certificate=certificate,
        rank=p,
        condition=normal.condition,
        W_low=low[:p].T.copy(),
        b_low=low[p].copy(),
        squares=squares,
        root=normal.root,
    )


class _Target(NamedTuple):
    """What was found for one target: theta + low = (w, b), each within its bound."""

    theta: Array
    low: Array
    bound: Array
    floor: Array
    passes: int
    squares: float


def _refine_target(normal: Normal, rows: Rows, t: int) -> _Target:
    """Corrections of (w, b) until the bounds are small enough or no longer shrink."""
    m, W, p = normal.m, normal.W, normal.m.p
    mean, y = m.mean[:p], m.p + t
    floor = _floor(normal, t)
    # Moments too ill-conditioned to factor are too ill-conditioned to start from.
    w = W @ (W.T @ m.scatter[:p, y]) if normal.from_moments else np.zeros(p)
    theta = np.append(w, m.mean[y] - mean @ w)
    if not normal.intercept:
        theta[p] = 0.0
    low = np.zeros(p + 1)
    least, stalls = np.inf, 0
    for passes in range(1, _MAX_CORRECTIONS + 1):  # noqa: B007
        g, noise, rows_noise, squares = _gradient(normal, rows, t, theta, low)
        step, bound = _step(normal, g, noise, rows_noise)
        theta, low = _add(theta, low, step)
        if not normal.intercept:
            theta[p], low[p], bound[p] = 0.0, 0.0, 0.0
        size = np.maximum(np.abs(theta), floor)
        moved = float(np.max(np.abs(step) / size, initial=0.0))
        if np.all(bound + 4 * UNIT**2 * size <= _ENOUGH * size) or moved <= UNIT / 64:
            break
        pull = float(np.linalg.norm(W.T @ g[:p]))
        stalls = stalls + 1 if pull > least / 2 else 0
        if stalls == 3:  # no longer contracting: this is what float64 factors can give
            break
        least = min(least, pull)
    squares = max(squares - float(step[:p] @ g[:p]) - float(g[p]) ** 2 / m.weight, 0.0)
    return _Target(theta, low, bound + 4 * UNIT**2 * np.abs(theta), floor, passes, squares)


def _gradient(
    normal: Normal, rows: Rows, t: int, theta: Array, low: Array
) -> tuple[Array, Array, float, float]:
    """g = A'(y - A theta) about the means, bounds on its own errors, and the sum of squares."""
    m, p = normal.m, normal.m.p
    scale = np.ldexp(1.0, -m.exponent)
    g, g_low, squares = gradient(rows, t, scale[:p], float(scale[p + t]), theta, low)
    lengths = _raw_lengths(normal)
    operations = rows.X.shape[0] // double_double.LANES + double_double.LANES + 16
    noise = 8 * operations * UNIT**2 * lengths * np.sqrt(squares)
    size = _target_length(normal, t) + float(lengths @ np.abs(theta))
    rows_noise = 2 * (p + 3) ** 2 * UNIT**2 * size
    # Towards the centre: sum (x - mean) r = sum x r - mean sum r, and the penalty's pull.
    a = np.append(m.mean[:p], 0.0)
    c, c_low = np.full(p + 1, g[p]), np.full(p + 1, g_low[p])
    noise += np.abs(a) * noise[p] + 4 * UNIT**2 * (np.abs(g) + np.abs(a * c))
    g, g_low = double_double.minus_product(g, g_low, a, c, c_low)
    D = np.append(normal.ridge, 0.0)
    noise += 4 * UNIT**2 * (np.abs(g) + D * np.abs(theta))
    g, g_low = double_double.minus_product(g, g_low, D, theta, low)
    noise += UNIT * np.abs(g) + 1e-290
    if not normal.intercept:
        g[p] = noise[p] = 0.0  # there is no b to correct
    return g, noise, rows_noise, squares


def _step(normal: Normal, g: Array, noise: Array, rows_noise: float) -> tuple[Array, Array]:
    """The correction of (w, b), and what the exact solution may still differ by after it."""
    m, W, p = normal.m, normal.W, normal.m.p
    mean, root = m.mean[:p], np.sqrt(m.weight)
    whole = np.zeros((p + 1, p + 1))  # the bias about the centre is uncoupled from the weights
    whole[:p, :p], whole[p, p] = W, 1 / root
    dw = W @ (W.T @ g[:p])
    dc = g[p] / m.weight
    bound = after_correction(whole, normal.alpha, g, noise, rows_noise)
    # b = c - mean'w: the row of b among (w, c) is (-mean'W, 1/root).
    row = np.hypot(np.linalg.norm(mean @ W), 1 / root)
    reach = bound[p] * root * row
    own = gamma(p + 4) * (abs(dc) + np.abs(mean) @ (np.abs(dw) + np.abs(W) @ np.abs(W.T @ g[:p])))
    bound[p] = reach + own + gamma(p + 2) * float(np.abs(mean) @ np.abs(dw))
    return np.append(dw, dc - mean @ dw), bound


def _add(theta: Array, low: Array, step: Array) -> tuple[Array, Array]:
    """theta + low + step as a new high and low part."""
    high = theta + step
    t = high - theta
    tail = low + ((theta - (high - t)) + (step - t))
    total = high + tail
    return total, tail - (total - high)


def _raw_lengths(normal: Normal) -> Array:
    """Bounds on the lengths of the columns of X about zero, and of the column of ones."""
    m, p = normal.m, normal.m.p
    x = np.sqrt(np.diag(m.scatter)[:p] + m.weight * m.mean[:p] ** 2) + m.rounding[:p]
    return np.append(x, np.sqrt(m.weight))


def _target_length(normal: Normal, t: int) -> float:
    m, y = normal.m, normal.m.p + t
    return float(np.sqrt(m.scatter[y, y] + m.weight * m.mean[y] ** 2) + m.rounding[y])


def _floor(normal: Normal, t: int) -> Array:
    """Coefficients below this share of the units count as zeros of this size.

    A column that does not vary has no say, and its coefficient no digits to count.
    """
    m, p = normal.m, normal.m.p
    lengths = np.append(np.sqrt(np.diag(m.scatter)[:p]), np.sqrt(m.weight))
    moves = np.append(lengths[:p] > m.rounding[:p], True)
    target = _target_length(normal, t) or 1.0
    return np.where(moves, UNIT * target / np.where(moves, lengths, 1.0), np.inf)
