"""Sums of products of columns in double-double: what many targets have in common costs once."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import for_work
from adaline._jit.processor import fma
from adaline.kernels.double_double.double_double import two_product, two_sum

LANES = 32  # columns of Y worked on together: whole vector registers, and sums stay in cache
CHUNK = 32  # rows whose products are added to one large number, from which sums cannot stray far
# Units roundoff squared, of the product of lengths, that all chunks together are off, at most.
CHUNKS_OFF = 2**18
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


def with_products_of_rows(X, Y, sums):
    """`with_products` in half the time: off by shares of the lengths of columns, not of the sums.

    With u = 2^-53, in a chunk of 32 rows what additions lose is below 1.26 u c, c = 128 max|x|
    max|y|. To add these up, and to add their sum to the others', costs at most 1411 u^2 c and 4 u^2
    of the sum so far. By Cauchy and Schwarz the max|x| max|y| of all chunks add up to no more than
    the product of the lengths of x and y: all together are off by CHUNKS_OFF + n/8 u^2 of it.
    """
    _, rows, k = sums.shape
    blocks = -(-k // LANES)
    lanes = np.zeros((2, rows, blocks * LANES))
    lanes[:, :, :k] = sums
    lanes = np.ascontiguousarray(lanes.reshape(2, rows, blocks, LANES).swapaxes(1, 2))
    chunks = -(-len(X) // CHUNK)
    columns = np.zeros((chunks, rows, CHUNK))
    for c in range(chunks):
        some = X[c * CHUNK : (c + 1) * CHUNK]
        columns[c, : X.shape[1], : len(some)] = some.T
    tops = np.abs(columns).max(axis=2)
    room = np.empty((3, LANES)), np.empty((CHUNK, LANES))
    for_work(_add_chunks, X.size * k)(columns, tops, Y, lanes[0], lanes[1], *room)
    return lanes.swapaxes(1, 2).reshape(2, rows, -1)[:, :, :k]


@kernel
def _add_chunks(columns, tops, Y, high, low, room, y):
    """A chunk's products are added to c = 128 max|x| max|y|, so large that every sum lies between
    c/2 and 2c: then what an addition loses is found by one subtraction, which is exact, and one
    more product.
    """
    n, a = Y.shape[0], tops.shape[1] - 1
    sums, tails, top = room[0], room[1], room[2]
    for b in range(high.shape[0]):
        first = b * LANES
        width = min(LANES, Y.shape[1] - first)
        for c in range(tops.shape[0]):
            begin = c * CHUNK
            rows = min(CHUNK, n - begin)
            if rows < CHUNK or width < LANES:
                y[:] = 0.0
            for i in range(rows):
                for t in range(width):
                    y[i, t] = Y[begin + i, first + t]
            for t in range(LANES):
                top[t] = 0.0
            for i in range(rows):
                for t in range(LANES):
                    size = abs(y[i, t])
                    top[t] = size if size > top[t] else top[t]
            for j in range(a):
                largest = 128.0 * tops[c, j]
                for t in range(LANES):
                    sums[t] = largest * top[t]
                    tails[t] = 0.0
                for i in range(0, CHUNK, 4):
                    x0, x1 = columns[c, j, i], columns[c, j, i + 1]
                    x2, x3 = columns[c, j, i + 2], columns[c, j, i + 3]
                    for t in range(LANES):
                        s0 = sums[t]
                        s1 = fma(x0, y[i, t], s0)
                        s2 = fma(x1, y[i + 1, t], s1)
                        s3 = fma(x2, y[i + 2, t], s2)
                        s4 = fma(x3, y[i + 3, t], s3)
                        tail = tails[t] + fma(x0, y[i, t], s0 - s1)
                        tail += fma(x1, y[i + 1, t], s1 - s2)
                        tail += fma(x2, y[i + 2, t], s2 - s3)
                        tails[t] = tail + fma(x3, y[i + 3, t], s3 - s4)
                        sums[t] = s4
                for t in range(LANES):
                    total, carry = two_sum(high[b, j, t], sums[t] - largest * top[t])
                    tail = low[b, j, t] + (carry + tails[t])
                    high[b, j, t] = total + tail
                    low[b, j, t] = tail - (high[b, j, t] - total)
            for t in range(LANES):
                sums[t] = 128.0 * top[t] * top[t]
                tails[t] = 0.0
            for i in range(CHUNK):
                for t in range(LANES):
                    total = fma(y[i, t], y[i, t], sums[t])
                    tails[t] += fma(y[i, t], y[i, t], sums[t] - total)
                    sums[t] = total
            for t in range(LANES):
                total, carry = two_sum(high[b, a, t], sums[t] - 128.0 * top[t] * top[t])
                tail = low[b, a, t] + (carry + tails[t])
                high[b, a, t] = total + tail
                low[b, a, t] = tail - (high[b, a, t] - total)


def add_rows_of_classes(X, codes, sums):
    """Add each row of X (n, a) to the sum of its class: sums (2, K, a) are high and low parts."""
    for_work(_add_rows, X.size)(X, codes, sums[0], sums[1])


@kernel
def _add_rows(X, codes, high, low):
    for i in range(X.shape[0]):
        c = codes[i]
        for j in range(X.shape[1]):
            total, carry = two_sum(high[c, j], X[i, j])
            tail = low[c, j] + carry
            high[c, j] = total + tail
            low[c, j] = tail - (high[c, j] - total)
