"""Corrections W W'g of many targets, each with the bits it would have alone."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work


def corrections(W, mean, weight, g):
    """W'g (p, k), and (dw, db) = (W W'g, g_b / weight - mean'dw), (p + 1, k).

    W (p, p) is upper triangular, g (p + 1, k) ends in g_b. BLAS adds in an order that hangs on
    the number of targets; here each sum runs upwards.
    """
    p, k = len(W), g.shape[1]
    u, step, moved = np.zeros((p, k)), np.zeros((p + 1, k)), np.zeros(k)
    for_work(_corrections, p * p * k)(W, mean, weight, g, u, step, moved)
    return u, step


@kernel
def _corrections(W, mean, weight, g, u, step, moved):
    p, k = W.shape[0], g.shape[1]
    for i in range(p):
        for j in range(i + 1):
            for t in range(k):
                u[i, t] += W[j, i] * g[j, t]
    for i in range(p):
        for j in range(i, p):
            for t in range(k):
                step[i, t] += W[i, j] * u[j, t]
    for i in range(p):
        for t in range(k):
            moved[t] += mean[i] * step[i, t]
    for t in range(k):
        step[p, t] = g[p, t] / weight - moved[t]
