"""Recursive least squares: by P, the inverse of the forgetting sum of x x^H, or a factor of P^-1.

Called by filters/rls.py. tests/reference_filters.py has both in plain numpy and in fractions.

    recursion   pi = P x,  c = 1/(lambda + x^H pi),  w <- w + c conj(e) pi,
                P <- (P - c pi pi^H)/lambda
    rotations   P^-1 = R^H R,  R w = z: Givens rotations add the row x^H w = conj(d) to R and z

P - c pi pi^H loses digits where x is far louder than before, or excites few directions. R and z
lose none, and take some ten times as long: so they run from such a sample on until P is well
conditioned again.

line, hop and sample are as in `gradient`; w (m,), m = C M, and all else is in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.jit import kernel, sum_kernel

DONE, LOST, CHECK, DIVERGED = range(4)  # why a kernel stops

UPDATE_SAMPLES = 32  # samples from one update of the mean power, and one look at R, to the next
MEAN_UPDATES = 1024.0  # updates that the mean power averages over
MAX_RISE = 4.0  # an x^H x counts in it as at most so many times the mean
LEAST_ENERGY = 1e-290  # an x^H x below makes no update, and forgets nothing
DIVERGENCE_RATIO = 1e8  # a gain |y|/|x| so many times above |d|/|x| is divergence, ...
FACTOR_DIVERGENCE_RATIO = 1e64  # ... for rotations: least-squares solutions may be large
START_SHARE = 0.01  # delta="auto", in units of the power of the first sample that is not silent
LARGEST_INVERSE = 1e5  # bound on P_kk in units of m/power: directions that x does not excite
OPEN_INVERSE = 1e3  # the same in units of 1/delta, if that is larger
LOUD_SAMPLE = 1e6  # x^H P x in units of lambda, above which an update costs P too many digits
UNEVEN_GAIN = 1e9  # sum |x_k|^2 P_kk over lambda + x^H P x, above which the gain is wrong, ...
ROUNDED_GAIN = 1e11  # ... and over x^H P x, above which rounding may turn P indefinite


class Level(NamedTuple):
    """What the guards remember; kernels take and return a plain tuple of it."""

    power: float = 0.0  # the mean of x^H x
    averaged: float = 0.0  # updates of it
    loudest_d: float = 0.0  # the largest |d|
    gain: float = 0.0  # the norm of weights that the user set
    delta: float = 0.0  # P began as I/delta; 0 before
    rotating: float = 0.0  # 1 while the matrix holds R, not P


@sum_kernel
def recursion(line, hop, start, d, learns, sample, P, w, forgetting, delta, mirrors, level, y):
    """Samples start, ... of d by the recursion: writes P, w and y.

    Returns the sample at which it stopped, which has changed nothing, why, and the new level. An
    update of P, by g, waits for the next sample. `mirrors` is True for complex numbers, else None.

    Short loops are written out: to call a function costs as much as a loop of 16 weights.
    """
    m, M = np.uintp(w.shape[0]), w.shape[0] // line.shape[0]
    x, pi, g = np.empty(m, w.dtype), np.empty(m, w.dtype), np.zeros(m, w.dtype)
    power, averaged, loudest_d, gain, began, _ = level
    growth, n, why = 1.0, start, DONE
    while n < d.shape[0]:
        r = gather(line, n * hop, M, x)
        updates = learns[n] and r > LEAST_ENERGY
        q = 0.0
        if updates:
            if began == 0.0:
                began = delta if delta > 0.0 else START_SHARE * r / np.count_nonzero(x)
                for i in range(m):
                    P[i, i] = 1.0 / began
            q, apart, top = multiply(P, g, growth, x, pi)
            growth = 1.0
            g[:] = 0.0
            bound = max(OPEN_INVERSE / began, LARGEST_INVERSE * m / max(power, LEAST_ENERGY))
            if forgetting < 1.0 and top > bound:
                confirm(P, bound, g, x, pi)
                q, apart, top = multiply(P, g, growth, x, pi)
            # numba compiles this for complex numbers only.
            if mirrors is not None and ((sample + n) % UPDATE_SAMPLES == 0 or forgetting < 0.95):
                mirror(P)
            lost = q > LOUD_SAMPLE * forgetting or apart > UNEVEN_GAIN * (forgetting + q)
            if lost or apart > ROUNDED_GAIN * q or not q > 0.0:
                why = LOST
                break
        power, averaged = mean_power(r, sample + n, power, averaged)
        loudest_d = max(loudest_d, abs(d[n]))
        output = w[0] * 0
        for k in range(m):
            output += np.conj(w[k]) * x[k]
        y[n] = output
        if blown(output, r, power, loudest_d, gain, DIVERGENCE_RATIO):
            why = DIVERGED
            break
        if updates:
            c = 1.0 / (forgetting + q)
            step, root = c * np.conj(d[n] - output), np.sqrt(c)
            for k in range(m):
                w[k] += step * pi[k]
                g[k] = root * pi[k]
            growth = 1.0 / forgetting
        n += 1
    multiply(P, g, growth, x, pi)
    return n, why, (power, averaged, loudest_d, gain, began, 0.0)


@kernel
def rotations(line, hop, start, d, learns, sample, R, z, w, forgetting, level, y):
    """The same by rotations of R and z, which stop every UPDATE_SAMPLES samples for a look at R."""
    m, M = w.shape[0], w.shape[0] // line.shape[0]
    x = np.empty(m, w.dtype)
    power, averaged, loudest_d, gain, began, _ = level
    for n in range(start, d.shape[0]):
        r = gather(line, n * hop, M, x)
        power, averaged = mean_power(r, sample + n, power, averaged)
        loudest_d = max(loudest_d, abs(d[n]))
        y[n] = output = dot(w, x)
        if blown(output, r, power, loudest_d, gain, FACTOR_DIVERGENCE_RATIO):
            return n, DIVERGED, level
        if learns[n] and r > LEAST_ENERGY:
            bound = max(OPEN_INVERSE / began, LARGEST_INVERSE * m / max(power, LEAST_ENERGY))
            rotate(R, z, np.conj(x), np.conj(d[n]) + 0.0 * x[0], forgetting, 1.0 / np.sqrt(bound))
            solve(R, z, w)
        if (sample + n + 1) % UPDATE_SAMPLES == 0:
            return n + 1, CHECK, (power, averaged, loudest_d, gain, began, 1.0)
    return d.shape[0], DONE, (power, averaged, loudest_d, gain, began, 1.0)


@sum_kernel
def gather(line, at, M, x):
    """Write x(n), channel after channel, the newest sample first, and return x^H x."""
    r = 0.0
    for c in range(np.uintp(line.shape[0])):
        first, newest = c * np.uintp(M), np.uintp(at + M - 1)
        for k in range(np.uintp(M)):
            v = line[c, newest - k]
            x[first + k] = v
            r += np.float64(v.real) * np.float64(v.real) + np.float64(v.imag) * np.float64(v.imag)
    return r


@kernel
def mean_power(r, sample, power, averaged):
    """The mean power with one more r, and the number of its updates."""
    if r > LEAST_ENERGY and (sample % UPDATE_SAMPLES == 0 or averaged == 0.0):
        averaged = min(averaged + 1.0, MEAN_UPDATES)
        power += ((r if averaged == 1.0 else min(r, MAX_RISE * power)) - power) / averaged
    return power, averaged


@kernel
def blown(y, r, power, loudest_d, gain, limit):
    """Whether |y|/|x| is `limit` times above what d and the weights that were set explain."""
    level = np.sqrt(power)
    # Not `>`: NaN is divergence, too.
    return not abs(y) * level <= limit * (loudest_d + gain * level) * np.sqrt(r + 1e-300)


@sum_kernel
def dot(w, x):
    """w^H x."""
    s = w[0] * 0
    for k in range(w.shape[0]):
        s += np.conj(w[k]) * x[k]
    return s


@sum_kernel
def multiply(P, g, growth, x, pi):
    """P <- (P - g g^H) growth and pi = P x; returns x^H P x, sum |x_k|^2 P_kk and max P_kk.

    Each row of P is read once for both.
    """
    m = np.uintp(x.shape[0])
    q, apart, top = 0.0, 0.0, 0.0
    for i in range(m):
        s, a = x[0] * 0, g[i]
        for j in range(m):
            v = (P[i, j] - a * np.conj(g[j])) * growth
            P[i, j] = v
            s += v * x[j]
        pi[i] = s
        size = P[i, i].real
        q += (np.conj(x[i]) * s).real
        apart += (np.conj(x[i]) * x[i]).real * size
        top = max(top, size)
    return q, apart, top


@kernel
def mirror(P):
    """Make P Hermitian again, which rounding prevents for complex numbers.

    The asymmetry grows by 1/lambda a sample, until P explodes, as the textbook's does.
    """
    for i in range(P.shape[0]):
        for j in range(i):
            P[j, i] = np.conj(P[i, j])
        P[i, i] = P[i, i].real


@kernel
def confirm(P, bound, g, x, pi):
    """Halve the bound for every direction k beyond it, as a sample would that confirms w_k.

    So P stays bounded in directions that x does not excite, and the others keep forgetting. (In
    silence, which excites none, nothing is forgotten.) g is zero before and afterwards.
    """
    m = P.shape[0]
    for k in range(m):
        size = P[k, k].real
        if size > bound:
            for i in range(m):
                g[i] = P[i, k] * np.sqrt((1.0 - 0.5 * bound / size) / size)
            multiply(P, g, 1.0, x, pi)
    g[:] = 0.0


@kernel
def rotate(R, z, a, b, forgetting, least):
    """R and z with one more row a w = b; a row of R below `least` is forgotten no further."""
    m, root = a.shape[0], np.sqrt(forgetting)
    for j in range(m):
        stays = root if R[j, j].real * root >= least else 1.0
        old = R[j, j].real * stays
        size = np.hypot(old, abs(a[j]))
        c, s = old / size, a[j] / size
        for k in range(j + 1, m):
            above, below = R[j, k] * stays, a[k]
            R[j, k] = c * above + np.conj(s) * below
            a[k] = c * below - s * above
        R[j, j] = size
        above = z[j] * stays
        z[j] = c * above + np.conj(s) * b
        b = c * b - s * above


@kernel
def solve(R, z, w):
    """w of R w = z."""
    m = w.shape[0]
    for j in range(m - 1, -1, -1):
        s = z[j]
        for k in range(j + 1, m):
            s -= R[j, k] * w[k]
        w[j] = s / R[j, j].real
