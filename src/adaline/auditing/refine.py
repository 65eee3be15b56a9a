"""A minimiser of logistic or Poisson losses with nearly all digits of float64, and its proof.

The bounds of a fit count every rounding of a sum over the rows, so that they prove some eight of
its sixteen digits. Here scores and gradients are sums of twice the digits; what remains are the
roundings of exp, which are multiples of whole rows. Two Newton steps with such gradients and the
Hessian of the fit, and theorem (b) of `certificates.bounds` with the smaller rounding, prove most
of the other digits. Called by `minimum`, for tables where this takes less than a second or two.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from adaline.certificates.bounds import SLACK, Matrix, regular
from adaline.linalg import UNIT
from adaline.parameters import is_sparse
from adaline.procedures.refinement import UNDERFLOWN
from adaline.results import Array
from adaline.sums.objective import FUNCTIONS, STEEPEST, Objective

MOST_NUMBERS = 4_000_000  # of X, times outputs: about half a second
MODERATE = 1e100  # largest number whose products can be split into halves without overflow
STEPS = 2  # the first leaves the square of the fit's error, the second only rounding

Weights = tuple[Array, Array]  # W (K, p) and b (K,)


def refine(problem: Objective, W: Array, b: Array) -> tuple[Weights, Weights] | None:
    """Weights and bounds on their distance from the minimiser; None where nothing is proven."""
    rows, K = problem.rows, problem.K
    largest = max(float(np.abs(a).max(initial=0.0)) for a in (rows.top / rows.scale.min(), W, b))
    too_many = rows.n * rows.q * K > MOST_NUMBERS or not np.isfinite(problem.price("joint"))
    if too_many or not largest < MODERATE:
        return None
    X = rows.X.toarray() if is_sparse(rows.X) else np.asarray(rows.X)
    X = np.ascontiguousarray(X.T, dtype=np.float64)
    Z = np.vstack(
        [X * rows.scale[:, None] - rows.shift[:, None], np.full(rows.n, float(problem.intercept))]
    )
    theta = rows.theta(W, b)
    there = problem.sums(theta, "joint")
    assert there.H is not None
    H = regular(there.H, K)
    best: tuple[Weights, Weights] | None = None
    narrowest = np.inf
    for _ in range(STEPS + 1):
        near = rows.theta(W, b)
        moved = float((2.0 * np.abs(near - theta) @ there.top).max()) + 4 * rows.value_error(near)
        metric = Matrix.of(H, there, moved, K)
        if metric is None:
            break
        g, each, lost = sharp_gradient(problem, X, Z, W, b)
        # A row's slopes are off by at most `each`: their sum by |A'z| times that in the metric.
        blocks = metric.A.reshape(K, rows.q, -1)
        reach = sum(float(each @ np.linalg.norm(Z.T @ A, axis=1)) for A in blocks)
        wide = 4.0 * rows.q * UNIT * metric.doubt(np.abs(Z) @ each, K)
        nu = metric.length(g) + metric.doubt(lost, K) + sqrt(metric.factor) * reach + wide
        rho = SLACK * metric.fastest(there.top)
        delta = SLACK * nu / (1.0 - SLACK * rho * nu) if SLACK * rho * nu < 1.0 else np.inf
        if delta < narrowest:
            deviations, narrowest = metric.deviations(), delta
            far = np.broadcast_to(delta * deviations[:, :-1] * rows.scale, W.shape)
            bias = delta * (deviations[:, -1] + deviations[:, :-1] @ np.abs(rows.shift))
            if K > 1:  # what classes share is nothing at the minimum
                far = far + np.abs(W.mean(axis=0)) + 2 * K * UNIT * np.abs(W).max(axis=0)
            best = (W, b), (far, np.broadcast_to(bias, b.shape))
        step = (metric.A @ (metric.A.T @ g.ravel())).reshape(K, -1)
        if K > 1:
            step -= step.mean(axis=0)
        if not problem.intercept:
            step[:, -1] = step[:, :-1] @ rows.shift
        W = W - step[:, :-1] * rows.scale
        b = b - (step[:, -1] - step[:, :-1] @ rows.shift)
    return best


def sharp_gradient(
    problem: Objective, X: Array, Z: Array, W: Array, b: Array
) -> tuple[Array, Array, Array]:
    """The gradient (K, q) at exactly W and b for X (p, n) and Z (q, n), in units of the rows.

    And bounds on its errors: of each row's slopes, their sums included, and of the penalty.
    """
    rows, K = problem.rows, problem.K
    score, low = two_sum(np.tile(b[:, None], rows.n), rows.offset if len(rows.offset) else 0.0)
    for w, x in zip(W.T, X, strict=True):
        product, part = two_product(w[:, None], x[None])
        score, rest = two_sum(score, product)
        low = low + (part + rest)
    score, low = two_sum(score, low)
    parts = problem.loss.parts(score[0] if K == 1 else score, rows.Y)
    p = parts.curvature  # of K classes: their probabilities
    slope = parts.slope + p * (low[0] if K == 1 else low - np.sum(p * low, axis=0))
    # Scores are sums of q parts in twice the digits; the line through the slope leaves out squares.
    largest = float((np.abs(W) @ np.abs(X).max(axis=1) + np.abs(b)).max()) + rows.largest_offset
    off = (4.0 * rows.q * UNIT) ** 2 * largest + 4.0 * float(np.abs(low).max()) ** 2
    each = 1.01 * ((FUNCTIONS + K + 4.0) * UNIT + off) * parts.terms * rows.weights + UNDERFLOWN
    slope = np.atleast_2d(slope) * rows.weights
    # Sums over x have twice the digits: what rounding did to a row is a multiple of that row.
    digits = (4.0 * UNIT * (np.log2(rows.n) + 4.0)) ** 2
    total, rest = sum_twice(slope, np.zeros_like(slope))
    g, lost = np.empty((K, rows.q)), np.empty(rows.q)
    g[:, -1], size = total + rest, float(np.abs(slope).sum(axis=1).max())
    lost[-1] = digits * size
    for j, (x, scale, shift) in enumerate(zip(X, rows.scale, rows.shift, strict=True)):
        high, low = sum_twice(*two_product(slope, x[None]))
        mean, part = two_product(total, np.full(K, shift))
        g[:, j], more = two_sum(high * scale, -mean)
        g[:, j] += more + (low * scale - part - rest * shift)
        lost[j] = digits * (scale * float((np.abs(slope) @ np.abs(x)).max()) + abs(shift) * size)
    pull = problem.penalty * rows.theta(W, b)
    pull[:, -1] = 0.0
    g += pull
    lost += 8.0 * UNIT * (np.abs(pull) + np.abs(g)).max(axis=0) + UNDERFLOWN
    if not float(np.max(parts.terms * rows.weights, initial=0.0)) < MODERATE:
        lost[:] = np.inf
    lost[problem.penalty >= STEEPEST] = np.inf
    if not problem.intercept:
        g[:, -1], lost[-1] = 0.0, 0.0
    return g, each, lost


def two_sum(a: Array, b: Array | float) -> tuple[Array, Array]:
    """a + b and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a b and its rounding error (Dekker)."""
    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def halves(a: Array) -> tuple[Array, Array]:
    c = (2.0**27 + 1.0) * a
    high = c - (c - a)
    return high, a - high


def sum_twice(high: Array, low: Array) -> tuple[Array, Array]:
    """Sums of the rows of high + low with twice the digits, by a tree."""
    while high.shape[1] > 1:
        half = high.shape[1] // 2
        odd, odd_low = high[:, 2 * half :], low[:, 2 * half :]
        high, lost = two_sum(high[:, :half], high[:, half : 2 * half])
        low = low[:, :half] + low[:, half : 2 * half] + lost
        if odd.shape[1]:
            high[:, :1], lost = two_sum(high[:, :1], odd)
            low[:, :1] += odd_low + lost
    return high[:, 0], low[:, 0]
