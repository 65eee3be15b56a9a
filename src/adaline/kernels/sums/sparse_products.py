"""Products of CSR rows with a vector, and sizes of their columns, for steps that need no matrix.

Legend: data, indices and indptr of X (n, p), the last two unsigned, as `tiles.entries` makes them.
For signed ones numba looks whether each counts from the end, which takes longer than the product.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline._jit.little import for_work
from adaline._jit.processor import prefetch

_U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
_LINE = _U(8)  # numbers that are fetched together
_AHEAD = _U(8)  # entries: what their rows of K numbers take to arrive


@sums_kernel
def values(data, indices, indptr, w, v):
    """v = X w."""
    for i in range(v.shape[0]):
        total = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            total += data[q] * w[indices[q]]
        v[i] = total


@kernel
def add_rows(data, indices, indptr, r, g):
    """g += X'r."""
    for i in range(r.shape[0]):
        for q in range(indptr[i], indptr[i + 1]):
            g[indices[q]] += r[i] * data[q]


def add_sizes(data, indices, indptr, omega, root, sizes):
    """Sums of omega x^2, of root |x| and of ones added to sizes (3, p); the longest root |x|_1."""
    return for_work(_add_sizes, len(data))(data, indices, indptr, omega, root, *sizes)


@kernel
def _add_sizes(data, indices, indptr, omega, root, squares, sums, counts):
    longest = 0.0
    for i in range(root.shape[0]):
        total = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            j, size = indices[q], abs(data[q])
            squares[j] += omega[i] * (size * size)
            sums[j] += root[i] * size
            counts[j] += 1.0
            total += size
        if root[i] * total > longest:
            longest = root[i] * total
    return longest


@sums_kernel
def add_class_curvature(data, indices, indptr, scale, slopes, P, d, Hd, v):
    """Hd += Z'(diag(slopes) - slopes p') Z d over rows z = (scale x, 1) with probabilities p.

    d and Hd (p + 1, K), slopes and P (n, K), v (K,) to work in. A row is read once for both
    products. Each entry asks for K numbers, at a place that no processor guesses.
    """
    K, last, end = _U(v.shape[0]), _U(d.shape[0] - 1), _U(indices.shape[0] - 1)
    for i in range(_U(slopes.shape[0])):
        lo, hi, mean = _U(indptr[i]), _U(indptr[i + _U(1)]), 0.0
        for k in range(K):
            v[k] = d[last, k]
        for q in range(lo, hi):
            j, later = _U(indices[q]), K * _U(indices[min(q + _AHEAD, end)])
            for k in range(_U(0), K, _LINE):
                prefetch(d, later + k)
            x = data[q] * scale[j]
            for k in range(K):
                v[k] += x * d[j, k]
        for k in range(K):
            mean += P[i, k] * v[k]
        for k in range(K):
            v[k] = (v[k] - mean) * slopes[i, k]
            Hd[last, k] += v[k]
        for q in range(lo, hi):
            j, later = _U(indices[q]), K * _U(indices[min(q + _AHEAD, end)])
            for k in range(_U(0), K, _LINE):
                prefetch(Hd, later + k)
            x = data[q] * scale[j]
            for k in range(K):
                Hd[j, k] += x * v[k]
