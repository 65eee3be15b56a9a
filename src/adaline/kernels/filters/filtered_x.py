"""Filtered-x LMS, sample by sample.

h (C, M) the controller's responses, the oldest tap first    s (J,) secondary path, likewise
x (C, M-1+N) references and f (C, M-1+N) the same heard through the model of s, oldest first
u (J-1+N) drive, filled from J-1 on    learns (N,) whether a sample may change h
level: the mean of |f|^2 so far, its count, the largest |f|^2, and the excess of the errors
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline.kernels.filters.guards import EVERY, MEMORY, excess, jumps, louder, mean_power

SAMPLES = EVERY * MEMORY  # that the mean level averages over
FADES = 1.0 - 1.0 / SAMPLES  # the weight of earlier errors falls by this factor in a sample


@kernel
def follow(level, power):
    """Update the mean level by |f|^2 of one more sample."""
    if power > 0.0:
        level[0], level[1] = mean_power(level[0], level[1], power, SAMPLES)


@kernel
def starts_over(level, power, relative):
    """Whether |f|^2 is far above all before it, and the weights have not reduced the error."""
    jumped = relative > 0.0 and jumps(power, level[2])
    level[2] = louder(power, level[2])
    if not (jumped and level[3] > 0.0):
        return False
    level[3] = 0.0
    return True


@sums_kernel
def control(h, x, f, d, s, u, y, e, eta, eps, relative, most, level, learns):
    """y = s * (h * x), e = d - y, h + eta e conj(f) / (|f|^2 + eps + relative level).

    Answers how many samples went well; an error above `most` ends the loop before h changes.
    """
    C, M = h.shape
    J, N = s.shape[0], d.shape[0]
    for n in range(N):
        drive = h[0, 0] * 0
        power = 0.0
        for c in range(C):
            for k in range(M):
                at = np.uintp(n) + np.uintp(k)
                drive += h[c, k] * x[c, at]
                power += f[c, at].real * f[c, at].real + f[c, at].imag * f[c, at].imag
        if starts_over(level, power, relative) and learns[n]:
            h[:] = 0.0
            drive = h[0, 0] * 0
        u[np.uintp(n) + np.uintp(J - 1)] = drive
        heard = h[0, 0] * 0
        for j in range(J):
            heard += s[j] * u[np.uintp(n) + np.uintp(j)]
        y[n] = heard
        e[n] = d[n] - heard
        if not abs(e[n]) <= most:
            return n
        level[3] = excess(level[3], FADES, e[n], d[n])
        follow(level, power)
        by = power + eps + relative * level[0]
        if not learns[n] or not by > 0.0:
            continue
        step = e[n] * (eta / by)
        for c in range(C):
            for k in range(M):
                h[c, k] += step * np.conj(f[c, np.uintp(n) + np.uintp(k)])
    return N
