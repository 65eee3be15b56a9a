"""Filtered-x LMS, sample by sample.

h (C, M) the controller's responses, the oldest tap first    s (J,) secondary path, likewise
x (C, M-1+N) references and f (C, M-1+N) the same heard through the model of s, oldest first
u (J-1+N) drive, filled from J-1 on    learns (N,) whether a sample may change h
level: mean of |f|^2 so far, of how many samples, the largest, and the energy of errors less USEFUL
    of that of d
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

MEMORY = 32768.0  # samples the mean level looks back
JUMP = 4.0  # a sample counts in it as at most so many times the mean
# As in LMS: a |f|^2 so far above all before it ends what was learned, if it was of no use.
LOUDER, USEFUL, FADES = 4.0, 0.9, 1.0 - 1.0 / 32768.0


@kernel
def follow(level, power):
    """Let one more |f|^2 join the mean level."""
    if power > 0.0:
        level[1] = min(level[1] + 1.0, MEMORY)
        joining = power if level[0] == 0.0 else min(power, JUMP * level[0])
        level[0] += (joining - level[0]) / level[1]


@kernel
def starts_over(level, power, relative):
    """Whether |f|^2 is far above all before it, and the weights were of no use so far."""
    jumped = relative > 0.0 and 0.0 < LOUDER * level[2] < power
    level[2] = max(level[2], power) if np.isfinite(power) else level[2]
    if not (jumped and level[3] > 0.0):
        return False
    level[3] = 0.0
    return True


@kernel
def judged(level, e, d):
    """Let an error tell of the use of the weights."""
    use = level[3] * FADES + abs(e) ** 2 - USEFUL * abs(d) ** 2
    level[3] = use if np.isfinite(use) else level[3]


@sums_kernel
def control(h, x, f, d, s, u, y, e, eta, eps, relative, most, level, learns):
    """y = s * (h * x), e = d - y, h + eta e conj(f) / (|f|^2 + eps + relative level).

    Returns how many samples went well: an error above `most` ends it, before h is touched.
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
        judged(level, e[n], d[n])
        follow(level, power)
        by = power + eps + relative * level[0]
        if not learns[n] or not by > 0.0:
            continue
        step = e[n] * (eta / by)
        for c in range(C):
            for k in range(M):
                h[c, k] += step * np.conj(f[c, np.uintp(n) + np.uintp(k)])
    return N
