"""Sums of products of columns in double-double: what many targets have in common costs once."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work
from adaline.kernels.double_double.double_double import two_product, two_sum

LANES = 32  # columns of Y worked on together: whole vector registers, and sums stay in cache
TOGETHER = 64  # rows whose rounding errors are added up before they go into the sums


def with_products(X, Y, sums):
    """sums (2, a + 1, k) and X'Y, and below it the squares of each column of Y, added to them.

    sums are high and low parts; X is (n, a), Y (n, k) float64. The bits of a column of Y do not
    depend on the others.
    """
    _, rows, k = sums.shape
    blocks = -(-k // LANES)
    lanes = np.zeros((2, rows, blocks * LANES))
    lanes[:, :, :k] = sums
    lanes = np.ascontiguousarray(lanes.reshape(2, rows, blocks, LANES).swapaxes(1, 2))
    for_work(_add_products, X.size * k)(X, Y, lanes[0], lanes[1], np.zeros(LANES))
    return lanes.swapaxes(1, 2).reshape(2, rows, -1)[:, :, :k]


@kernel
def _add_products(X, Y, high, low, y):
    n, a = X.shape
    for b in range(high.shape[0]):
        first = b * LANES
        width = LANES if first + LANES < Y.shape[1] else Y.shape[1] - first
        for i in range(n):
            for t in range(width):
                y[t] = Y[i, first + t]
            for j in range(a):
                x = X[i, j]
                for t in range(LANES):
                    product, error = two_product(x, y[t])
                    total, carry = two_sum(high[b, j, t], product)
                    high[b, j, t] = total
                    low[b, j, t] += carry + error
            for t in range(LANES):
                product, error = two_product(y[t], y[t])
                total, carry = two_sum(high[b, a, t], product)
                high[b, a, t] = total
                low[b, a, t] += carry + error
            if i % TOGETHER == TOGETHER - 1 or i == n - 1:
                for j in range(a + 1):
                    for t in range(LANES):
                        total = high[b, j, t] + low[b, j, t]
                        low[b, j, t] -= total - high[b, j, t]
                        high[b, j, t] = total
