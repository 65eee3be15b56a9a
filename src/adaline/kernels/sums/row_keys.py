"""A 64-bit key of each row: equal rows have equal keys, dense or CSR, with 0 and -0 alike.

The key is the sum over the entries that are not zero of scrambled bits (splitmix64), which mix the
entry's 64 bits with its column's number.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel
from adaline._jit.little import uncompiled


@kernel
def scrambled(x):
    """splitmix64: every bit of the result depends on every bit of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def keys_dense(X, bits):
    """Keys of the rows of X (n, p), which is given as floats and as their bits."""
    n, p = X.shape
    columns = np.empty(p, dtype=np.uint64)
    for j in range(p):
        columns[j] = scrambled(np.uint64(j))
    keys = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        key = np.uint64(0)
        for j in range(p):
            if X[i, j] != 0.0:
                key += scrambled(bits[i, j] ^ columns[j])
        keys[i] = key
    return keys


def keys_by_numpy(X, bits):
    """`keys_dense` with nothing to compile; it takes ten to twenty times as long."""
    mix = uncompiled(scrambled)
    mixed = mix(bits ^ mix(np.arange(X.shape[1], dtype=np.uint64)))
    mixed[X == 0.0] = 0
    return mixed.sum(axis=1, dtype=np.uint64)


@kernel
def keys_sparse(data, bits, indices, indptr):
    """Keys of the rows of a CSR matrix."""
    n = indptr.shape[0] - 1
    keys = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        key = np.uint64(0)
        for s in range(indptr[i], indptr[i + 1]):
            if data[s] != 0.0:
                key += scrambled(bits[s] ^ scrambled(np.uint64(indices[s])))
        keys[i] = key
    return keys
