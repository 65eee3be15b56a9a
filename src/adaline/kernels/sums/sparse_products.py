"""Products of CSR rows with a vector, and sizes of their columns, for steps that need no matrix.

Legend: data, indices and indptr of X (n, p). Indices come as unsigned numbers: for others numba
looks whether each counts from the end, which takes longer than the product.
"""

from __future__ import annotations

from adaline._jit import kernel, sums_kernel
from adaline._jit.little import for_work


def unsigned(indices):
    """Indices that are not negative, as unsigned numbers of the same size; nothing is copied."""
    return indices.view(f"u{indices.dtype.itemsize}")


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
