"""Sums over the spectra of a filter that is cut into partitions.

Called by filters/block_lms.py, whose Fourier transforms take most of the time. In numpy these sums
need temporary arrays of the size of the filter, and twice its time.

W, X, G (P, F): the weights, the latest blocks of x, and a gradient, one row for each partition and
channel, F frequencies
"""

from __future__ import annotations

from adaline.jit import sum_kernel


@sum_kernel
def filter_spectra(W, X, y, powers):
    """y = sum_p W_p X_p, and powers[p, f] = |X_p|^2."""
    y[:] = 0.0
    for p in range(W.shape[0]):
        for f in range(W.shape[1]):
            v = X[p, f]
            y[f] += W[p, f] * v
            powers[p, f] = v.real * v.real + v.imag * v.imag


@sum_kernel
def correlate_spectra(X, E, G):
    """G_p = conj(X_p) E."""
    for p in range(X.shape[0]):
        for f in range(X.shape[1]):
            G[p, f] = X[p, f].conjugate() * E[f]
