"""Two convex hulls brought nearer, by steps that move weight from one row to another of its class.

Legend: G (n, n) inner products of the rows; t -1 or +1, or all +1 for one hull and the origin;
weights (n,) convex for each class; z = sum_i t_i weight_i x_i; h_i = t_i x_i'z.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


@kernel
def _lowest(h, side, weights):
    """The row of lowest h on this side, its h, and how far above the highest with weight lies."""
    low, high, i = np.inf, -np.inf, np.int64(-1)
    for k in range(h.shape[0]):
        if side[k]:
            if h[k] < low:
                low, i = h[k], np.int64(k)
            if weights[k] > 0.0 and h[k] > high:
                high = h[k]
    return i, low, high - low


@kernel
def _partner(G, h, side, weights, i):
    """The row with weight from which a step to i shortens z most."""
    best, j = 0.0, np.int64(-1)
    for k in range(h.shape[0]):
        fall = h[k] - h[i]
        if side[k] and weights[k] > 0.0 and fall > 0.0:
            curvature = G[i, i] + G[k, k] - 2.0 * G[i, k]
            gain = fall * fall / curvature if curvature > 0.0 else np.inf
            if gain > best:
                best, j = gain, np.int64(k)
    return j


@kernel
def approach(G, t, weights, h, tol, most):
    """Steps until z'z - min z'v <= tol z'z, v the vertices, or the most; returns their number.

    weights and h are overwritten, and have to fit each other. The side that is further from its
    minimum makes the step.
    """
    sides = np.empty((2, h.shape[0]), dtype=np.bool_)
    for k in range(h.shape[0]):
        sides[0, k], sides[1, k] = t[k] > 0.0, t[k] < 0.0
    for step in range(most):
        i, low, apart = _lowest(h, sides[0], weights)
        side, below = 0, low
        i_other, low, apart_other = _lowest(h, sides[1], weights)
        if i_other >= 0:
            below += low
            if apart_other > apart:
                side, i = 1, i_other
        square = 0.0
        for k in range(h.shape[0]):
            square += weights[k] * h[k]
        if square - below <= tol * square:
            return step
        j = _partner(G, h, sides[side], weights, i)
        if j < 0:
            return step
        curvature = G[i, i] + G[j, j] - 2.0 * G[i, j]
        move = weights[j]
        if curvature > 0.0 and (h[j] - h[i]) / curvature < move:
            move = (h[j] - h[i]) / curvature
            weights[j] -= move
        else:
            weights[j] = 0.0
        weights[i] += move
        for k in range(h.shape[0]):
            h[k] += t[k] * t[i] * move * (G[i, k] - G[j, k])
    return most
