"""Recursive least squares by Bierman's factorisation P = U D U^H.

Called by filters/rls.py. tests/reference_filters.py has the plain recursion

    pi = P x,  c = 1/(lambda + x^H pi),  w <- w + c conj(e) pi,  P <- (P - c pi pi^H)/lambda

for P, the inverse of the forgetting sum of x x^H. It loses digits where x is far louder than
before, or excites few directions, and P may turn indefinite. U (unit upper triangular) and D > 0
are updated by products and sums of positive numbers instead (Bierman 1977, Factorization Methods
for Discrete Sequential Estimation), in as many operations:

    f = U^H x,  g = D f,  alpha_j = alpha_(j-1) + conj(f_j) g_j with alpha_(-1) = lambda
    D_j <- D_j alpha_(j-1) / (alpha_j lambda),  column j of U loses g_(0..j-1) conj(f_j)/alpha_(j-1)

A block is as in `gradient`; row j of U here is column j of the equations. w (m,), m = C M,
and all else is in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.jit import sum_kernel

UPDATE_SAMPLES = 32  # samples from one update of the mean power to the next
MEAN_UPDATES = 1024.0  # updates that the mean power averages over
MAX_RISE = 4.0  # an x^H x counts in it as at most so many times the mean
LEAST_ENERGY = 1e-290  # an x^H x below makes no update, and forgets nothing
DIVERGENCE_RATIO = 1e64  # a gain |y|/|x| so many times above |d|/|x| is divergence
START_SHARE = 0.01  # delta="auto", in units of the power of the first sample that is not silent
LARGEST_INVERSE = 1e5  # bound on D_j in units of m/power: directions that x does not excite
OPEN_INVERSE = 1e3  # the same in units of 1/delta, if that is larger


class Level(NamedTuple):
    """What the guards remember; kernels take and return a plain tuple of it."""

    power: float = 0.0  # the mean of x^H x
    averaged: float = 0.0  # updates of it
    loudest_d: float = 0.0  # the largest |d|
    gain: float = 0.0  # the norm of weights that the user set
    delta: float = 0.0  # P began as I/delta; 0 before


@sum_kernel
def rls(block, U, D, w, forgetting, delta, level):
    """Filter and adapt: changes U, D and w; returns N, or the sample that diverged, and level."""
    line, d, learns, sample, y = block
    m, C, M = np.uintp(w.shape[0]), np.uintp(line.shape[0]), np.uintp(w.shape[0] // line.shape[0])
    x, pi = np.empty(m, w.dtype), np.empty(m, w.dtype)
    power, averaged, loudest_d, gain, began = level
    for n in range(d.shape[0]):
        r, output = 0.0, w[0] * 0
        for c in range(C):  # channel after channel, the newest sample first
            for k in range(M):
                v = line[c, np.uintp(n) + M - np.uintp(1) - k]
                x[c * M + k] = v
                r += np.float64(v.real) * np.float64(v.real)
                r += np.float64(v.imag) * np.float64(v.imag)
        for k in range(m):
            output += np.conj(w[k]) * x[k]
        if r > LEAST_ENERGY and ((sample + n) % UPDATE_SAMPLES == 0 or averaged == 0.0):
            averaged = min(averaged + 1.0, MEAN_UPDATES)
            power += ((r if averaged == 1.0 else min(r, MAX_RISE * power)) - power) / averaged
        loudest_d = max(loudest_d, abs(d[n]))
        y[n] = output
        usual = np.sqrt(power)
        highest = DIVERGENCE_RATIO * (loudest_d + gain * usual) * np.sqrt(r + 1e-300)
        if not abs(output) * usual <= highest:  # not `>`: NaN is divergence, too
            return n, level
        if not learns[n] or not r > LEAST_ENERGY:
            continue
        if began == 0.0:
            began = delta if delta > 0.0 else START_SHARE * r / np.count_nonzero(x)
            D[:] = 1.0 / began
        bound = max(OPEN_INVERSE / began, LARGEST_INVERSE * m / max(power, LEAST_ENERGY))
        alpha = forgetting
        for j in range(m):
            f = x[j]
            for i in range(j):
                f += np.conj(U[j, i]) * x[i]
            g = D[j] * f
            before = alpha
            alpha += (np.conj(f) * g).real
            fallen = D[j] * (before / alpha)
            # Beyond the bound a direction is forgotten no further: x does not excite it.
            D[j] = min(fallen / forgetting, max(fallen, bound))
            ratio = np.conj(f) / before
            for i in range(j):
                u = U[j, i]
                U[j, i] = u - pi[i] * ratio
                pi[i] += u * g
            pi[j] = g
        step = np.conj(d[n] - output) / alpha
        for k in range(m):
            w[k] += step * pi[k]
    return d.shape[0], (power, averaged, loudest_d, gain, began)
