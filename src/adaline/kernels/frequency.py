"""Loops of the partitioned frequency-domain filter: spectra (rows, bins), the latest rows first.

W weights    X delayed inputs    Y output    E error    a power is one number a bin
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel


@kernel
def peak(line):
    """The largest |value|; infinite where a value is NaN or infinite."""
    top = 0.0
    for i in range(line.shape[0]):
        size = abs(line[i])
        if not np.isfinite(size):
            return np.inf
        top = max(top, size)
    return top


@sums_kernel
def energy(line):
    """Sum of |value|^2, in double precision."""
    total = 0.0
    for i in range(line.shape[0]):
        total += line[i].real * line[i].real + line[i].imag * line[i].imag
    return total


@sums_kernel
def filtered(W, X, Y):
    """Y = the sum over rows of W X; Y is overwritten."""
    rows, bins = X.shape
    for f in range(bins):
        Y[f] = W[0, f] * X[0, f]
    for p in range(1, rows):
        for f in range(bins):
            Y[f] += W[p, f] * X[p, f]


@sums_kernel
def powers(X, latest, smoothing, smoothed, power):
    """Power of each bin over all rows, or its running average where that is larger.

    The first `latest` rows are new: they join the running average, which stands for all rows.
    The mean over the bins of what they stand for is returned.
    """
    rows, bins = X.shape
    share = rows / latest
    total = 0.0
    for f in range(bins):
        power[f] = 0.0
    for p in range(rows):
        for f in range(bins):
            power[f] += X[p, f].real * X[p, f].real + X[p, f].imag * X[p, f].imag
        if p == latest - 1:
            for f in range(bins):
                smoothed[f] = smoothing * smoothed[f] + (1.0 - smoothing) * share * power[f]
                total += share * power[f]
    for f in range(bins):
        power[f] = max(power[f], smoothed[f])
    return total / bins


@kernel
def errors(lines, d, learns, taper, two):
    """From y (the second half of the first line) and the power's autocorrelation (the second line)
    to the lines of E and of the leaked power: errors that may teach after zeros, and the taper."""
    B = d.shape[0]
    for n in range(B):
        two[0, B + n] = (d[n] - lines[0, B + n]) * learns[n]
    for n in range(2 * B):
        two[1, n] = lines[1, n] * taper[n]


@sums_kernel
def gradient(X, E, power, leaked, eta, floor, G):
    """G = eta conj(X) E / (the larger power + floor), row by row; E and G are overwritten.

    A bin without any power teaches nothing.
    """
    rows, bins = X.shape
    for f in range(bins):
        by = max(power[f], leaked[f].real) + floor
        E[f] = E[f] * (eta / by) if by > 0.0 else E[f] * 0.0
    for p in range(rows):
        for f in range(bins):
            G[p, f] = X[p, f].conjugate() * E[f]
