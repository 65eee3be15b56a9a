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
def judged(lines, d, learns):
    """Of a block whose y is the second half of the first line: the largest |y|, infinite where a y
    is not finite; the energies of y and d; and how many samples may change the weights."""
    B = d.shape[0]
    top, loud, now, teaching = 0.0, 0.0, 0.0, 0
    for n in range(B):
        y = lines[0, B + n]
        loud += y.real * y.real + y.imag * y.imag
        now += d[n].real * d[n].real + d[n].imag * d[n].imag
        teaching += learns[n] != 0.0
    for n in range(B):
        size = abs(lines[0, B + n])
        top = max(top, size) if np.isfinite(size) else np.inf
    return top, loud, now, teaching


@sums_kernel
def _filtered(W, ring, at, Y):
    """Y = the sum over rows of W X, where X is the ring from row `at` on."""
    rows, bins = W.shape
    for f in range(bins):
        Y[0, f] = W[0, f] * ring[at, f]
    for p in range(1, rows):
        for f in range(bins):
            Y[0, f] += W[p, f] * ring[at + p, f]


@sums_kernel
def _powers(ring, at, rows, latest, smoothing, smoothed, power):
    """Power of each bin over all rows, or its running average where that is larger.

    The first `latest` rows are new and update the running average, scaled to the power of all rows.
    Answers the means over the bins of their power, so scaled, and of the running average.
    """
    bins = power.shape[0]
    share = rows / latest
    total, usual = 0.0, 0.0
    for f in range(bins):
        power[f] = 0.0
    for p in range(at, at + rows):
        for f in range(bins):
            power[f] += ring[p, f].real * ring[p, f].real + ring[p, f].imag * ring[p, f].imag
        if p == at + latest - 1:
            for f in range(bins):
                smoothed[f] = smoothing * smoothed[f] + (1.0 - smoothing) * share * power[f]
                total += share * power[f]
                usual += smoothed[f]
    for f in range(bins):
        power[f] = max(power[f], smoothed[f])
    return total / bins, usual / bins


@kernel
def heard(X, ring, at, W, smoothing, smoothed, power, pair):
    """Write the latest X to the ring, twice, and Y and the powers to pair. Answers the latest power
    and the running average, as means over the bins."""
    latest, bins = X.shape
    for p in range(latest):
        for f in range(bins):
            ring[at + p, f] = ring[at + W.shape[0] + p, f] = X[p, f]
    _filtered(W, ring, at, pair)
    now = _powers(ring, at, W.shape[0], latest, smoothing, smoothed, power)
    for f in range(bins):
        pair[1, f] = power[f]
    return now


@kernel
def errors(lines, d, learns, taper, two):
    """From y (the second half of the first line) and the power's autocorrelation (the second line)
    to the lines of E (zeros, then errors that may change W) and of the leaked power (tapered)."""
    B = d.shape[0]
    for n in range(B):
        two[0, B + n] = (d[n] - lines[0, B + n]) * learns[n]
    for n in range(2 * B):
        two[1, n] = lines[1, n] * taper[n]


@sums_kernel
def gradient(ring, at, E, power, smoothed, eta, floor, share, G):
    """G = eta conj(X) E / (the larger power + floor + share of the running average), row by row;
    E, which holds the errors and the leaked power, is overwritten.

    A bin without any power makes no update.
    """
    rows, bins = G.shape
    for f in range(bins):
        by = max(power[f], E[1, f].real) + floor + share * smoothed[f]
        E[0, f] = E[0, f] * (eta / by) if by > 0.0 else E[0, f] * 0.0
    for p in range(rows):
        for f in range(bins):
            G[p, f] = ring[at + p, f].conjugate() * E[0, f]


@sums_kernel
def held(g, B, last, short):
    """Cut lines off behind the length of a partition, and the `last` ones behind `short`.

    Answers their energy, which is not finite where one of them is not.
    """
    total = 0.0
    for p in range(g.shape[0]):
        end = short if p >= g.shape[0] - last else B
        for n in range(end):
            total += g[p, n].real * g[p, n].real + g[p, n].imag * g[p, n].imag
        for n in range(end, g.shape[1]):
            g[p, n] = 0.0
    return total


@kernel
def added(W, change):
    """W + change, in place."""
    for p in range(W.shape[0]):
        for f in range(W.shape[1]):
            W[p, f] += change[p, f]
