"""Filters that follow the gradient of |e|^2: LMS, NLMS, affine projection, filtered-x LMS.

Called by the modules of filters/ with these names. tests/reference_filters.py has the recursions
without any of the guards below.

    y = w^H x(n),   e = d - y,   w <- (1 - mu leak) w + mu conj(e) x(n)

A block is (line, d, learns, sample, y). line (C, H + N) holds the C references, each after the
samples of earlier blocks that are still needed, oldest first, and w (C, M) has the same order, so
that x(n) = line[:, n : n + M]. Only samples with learns[n] may change w; `sample` is the number of
the first sample in the signal, and a kernel writes y. mu(n) is the step, r(n) = x(n)^H x(n), and
P(n) its mean.

Indices are unsigned: numba checks whether a signed index is negative, which prevents vector
instructions. Arrays are not sliced in loops: a slice costs more than a sample of a short filter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.jit import kernel, sum_kernel

GIVEN, AUTOMATIC, NORMALISED = range(3)  # rules of the step, see `steps`

UPDATE_SAMPLES = 32  # samples of the signal, not of the block, between two updates of P
MEAN_UPDATES = 1024.0  # updates that P averages over: 32,768 samples
MAX_RISE = 4.0  # an r counts in P as at most so many times P, so that a spike is soon forgotten
LEAST_ENERGY = 1e-290  # an r below makes no update: dividing by it could overflow
RESTART_RISE = 4.0  # a filter restarts where r is so many times above all r before it, ...
USEFUL_SHARE = 0.9  # ... if the errors so far have more than this share of the energy of d
ERROR_FADE = 1.0 - 2.0**-15  # by which a sample reduces the weight of earlier errors
DIVERGENCE_RATIO = 1e8  # a gain |y|/|x| so many times above |d|/|x| is divergence
SUDDEN_SHARE = 0.25  # affine projection takes a P of at least this share of r


class Rate(NamedTuple):
    """The step of learning; `steps` has the equations."""

    rule: int
    eta: float
    tau: float = np.inf  # samples after which a given eta falls
    eps: float = 0.0  # added to r
    relative: float = 0.0  # the same as a share of P
    leak: float = 0.0


class Level(NamedTuple):
    """What the guards remember of the signals; kernels take and return a plain tuple of it."""

    power: float = 0.0  # P
    averaged: float = 0.0  # updates of P, MEAN_UPDATES at most
    loudest_x: float = 0.0  # the largest r
    loudest_d: float = 0.0  # the largest |d|
    excess: float = 0.0  # energy of the errors less USEFUL_SHARE times that of d
    gain: float = 0.0  # the norm of weights that the user set: these are never thrown away
    updates: float = 0.0  # so far, which schedules averaged


@sum_kernel
def lms(block, w, along, rate, sign, level):
    """Filter and adapt: changes w; returns N, or the sample that diverged, and the new level.

    `along` is line or its signs, along which w moves; `sign` is None, or True to take e/|e| for e.
    """
    line, d, learns, sample, y = block
    N, M, C = d.shape[0], np.uintp(w.shape[1]), np.uintp(w.shape[0])
    kind = w.dtype.type
    r, P, mu = np.empty(N), np.empty(N), np.empty(N)
    energies(line, w.shape[1], r)
    power, averaged, loudest_x, loudest_d, excess, gain, updates = level
    power, averaged = mean_powers(r, sample, power, averaged, P)
    updates = steps(r, P, learns, rate, updates, mu)
    highest = highest_gain(loudest_d, power, gain)
    restarts = gain == 0.0 and (rate.rule == AUTOMATIC or rate.relative > 0.0)
    step, stays, before = kind(0), 1.0, np.uintp(0)
    for n in range(N + 1):
        i = min(n, N - 1)  # the last turn adds the update of the last sample, in the same way
        now = np.uintp(i)
        if abs(d[i]) > loudest_d:
            loudest_d = abs(d[i])
            highest = highest_gain(loudest_d, power, gain)
        if r[i] > loudest_x and np.isfinite(r[i]):
            if restarts and learns[i] and 0.0 < RESTART_RISE * loudest_x < r[i] and excess > 0.0:
                # Weights learned from a nearly silent x fit noise; y would be far too loud now.
                scale(w, 0.0)
                step, excess = kind(0), 0.0
            loudest_x = r[i]
        if stays != 1.0:
            scale(w, stays)
        # Add the update of the sample before, and filter this one: w is read once for both.
        output = kind(0)
        for c in range(C):
            for k in range(M):
                v = w[c, k] + step * along[c, before + k]
                w[c, k] = v
                output += np.conj(v) * line[c, now + k]
        # Not `>`, because NaN is divergence, too.
        if not (abs(output) <= highest * np.sqrt(r[i] + 1e-300) and abs(output) < np.inf):
            return i, level
        if n == N:
            break
        y[n] = output
        e = d[n] - output
        excess = excess * ERROR_FADE + energy(e) - USEFUL_SHARE * energy(d[n])
        if sign is not None:  # numba compiles this for filters of the sign only
            e = e / abs(e) if e != 0 else e
        step, stays, before = kind(mu[n] * np.conj(e)), 1.0 - mu[n] * rate.leak, now
    return N, (power, averaged, loudest_x, loudest_d, excess, gain, updates)


@sum_kernel
def affine_projection(block, w, R, errors, rate, rounding, level):
    """w <- w + eta X g with (R + eps I) g = conj(errors), X = [x(n), ..., x(n-K+1)], R = X^H X.

    Changes w, R (K, K) and the errors (K,) of w at the last K samples; returns as `lms` does.
    The line begins K - 1 places earlier: x(n) begins at n + K - 1.
    """
    line, d, learns, sample, y = block
    eta, eps, relative = rate.eta, rate.eps, rate.relative
    N, M, C, K = d.shape[0], np.uintp(w.shape[1]), np.uintp(w.shape[0]), errors.shape[0]
    kind, wide = w.dtype.type, R.dtype.type
    r_all, P = np.empty(N + K - 1), np.empty(N)
    energies(line, w.shape[1], r_all)
    r = r_all[K - 1 :]
    power, averaged, loudest_x, loudest_d, excess, gain, updates = level
    power, averaged = mean_powers(r, sample, power, averaged, P)
    highest = highest_gain(loudest_d, power, gain)
    g, L = np.empty(K, R.dtype), np.empty((K, K), R.dtype)
    for n in range(N):
        now = np.uintp(n + K - 1)
        if abs(d[n]) > loudest_d:
            loudest_d = abs(d[n])
            highest = highest_gain(loudest_d, power, gain)
        for i in range(K - 1, 0, -1):
            for j in range(K - 1, 0, -1):
                R[i, j] = R[i - 1, j - 1]
            errors[i] = errors[i - 1]
        for lag in range(K):
            past, s = now - np.uintp(lag), wide(0)
            for c in range(C):
                for k in range(M):
                    s += wide(np.conj(line[c, past + k])) * line[c, now + k]
            R[lag, 0], R[0, lag] = s, np.conj(s)
        if r[n] > loudest_x and np.isfinite(r[n]):
            jumped = relative > 0.0 and gain == 0.0 and 0.0 < RESTART_RISE * loudest_x < r[n]
            if jumped and learns[n] and excess > 0.0:
                scale(w, 0.0)
                errors[:] = 0.0
                excess = 0.0
            loudest_x = r[n]
        output = kind(0)
        for c in range(C):
            for k in range(M):
                output += np.conj(w[c, k]) * line[c, now + k]
        y[n] = output
        if not (abs(output) <= highest * np.sqrt(r[n] + 1e-300) and abs(output) < np.inf):
            return n, level
        e = d[n] - output
        excess = excess * ERROR_FADE + energy(e) - USEFUL_SHARE * energy(d[n])
        errors[0] = e if learns[n] else e * 0  # later updates do not learn from it either
        if not learns[n]:
            continue
        # A jump of x makes the vectors nearly parallel; a small eps would then amplify noise.
        low = relative * (max(P[n], SUDDEN_SHARE * r[n]) if K > 1 else P[n])
        solve(R, eps + low * (1.0 + low / max(r[n], LEAST_ENERGY)), errors, rounding, L, g)
        for lag in range(K):
            past, step = now - np.uintp(lag), kind(eta * g[lag])
            for c in range(C):
                for k in range(M):
                    w[c, k] += step * line[c, past + k]
        for i in range(K):
            for j in range(K):
                errors[i] -= eta * np.conj(R[i, j] * g[j])
    good = True
    for c in range(C):
        for k in range(M):
            good &= np.isfinite(w[c, k])
    level = power, averaged, loudest_x, loudest_d, excess, gain, updates
    return (N if good else N - 1), level


@kernel
def solve(R, eps, errors, rounding, L, g):
    """(R + eps I) g = conj(errors) by L D L^H, with D on the diagonal of L.

    A pivot below `rounding` times its diagonal is rounding error: that vector depends on the
    others, and gets g = 0.
    """
    K = R.shape[0]
    for i in range(K):
        g[i] = np.conj(errors[i])
        for j in range(i):
            v = R[i, j]
            for k in range(j):
                v -= L[i, k] * np.conj(L[j, k]) * L[k, k]
            L[i, j] = v / L[j, j] if L[j, j] != 0 else v * 0
            g[i] -= L[i, j] * g[j]
        pivot = R[i, i].real + eps
        least = rounding * pivot + LEAST_ENERGY
        for k in range(i):
            pivot -= energy(L[i, k]) * L[k, k].real
        L[i, i] = pivot if pivot > least else 0.0
    for i in range(K):
        g[i] = g[i] / L[i, i] if L[i, i] != 0 else g[i] * 0
    for i in range(K - 1, -1, -1):
        for k in range(i + 1, K):
            g[i] -= np.conj(L[k, i]) * g[k]
        if L[i, i] == 0:
            g[i] = g[i] * 0


@sum_kernel
def filtered_x(block, heard, path, mu, r, w, u, limit, relative, level):
    """As `lms`, but w drives a loudspeaker: u = w^H x, y = path * u, and w moves along `heard`.

    heard (C, M-1+N) is x through the model of the path, and mu and r are of it. path (J,) begins
    with its last number, and u (J-1+N) is filled from J-1 on.
    """
    line, d, learns, _, y = block
    N, M, C, J = d.shape[0], np.uintp(w.shape[1]), w.shape[0], np.uintp(path.shape[0])
    power, averaged, loudest_x, loudest_d, excess, gain, updates = level
    for n in range(N):
        now = np.uintp(n)
        if r[n] > loudest_x and np.isfinite(r[n]):
            jumped = relative > 0.0 and gain == 0.0 and 0.0 < RESTART_RISE * loudest_x < r[n]
            if jumped and learns[n] and excess > 0.0:
                scale(w, 0.0)
                excess = 0.0
            loudest_x = r[n]
        drive, output = w[0, 0] * 0, w[0, 0] * 0
        for c in range(C):
            for k in range(M):
                drive += np.conj(w[c, k]) * line[c, now + k]
        u[now + J - np.uintp(1)] = drive
        for j in range(J):
            output += path[j] * u[now + j]
        y[n] = output
        e = d[n] - output
        if not abs(e) <= limit:
            return n, level
        excess = excess * ERROR_FADE + energy(e) - USEFUL_SHARE * energy(d[n])
        step = w.dtype.type(mu[n] * np.conj(e))
        for c in range(C):
            for k in range(M):
                w[c, k] += step * heard[c, now + k]
    return N, (power, averaged, loudest_x, loudest_d, excess, gain, updates)


@kernel
def scale(w, factor):
    """w <- factor w."""
    for c in range(w.shape[0]):
        for k in range(w.shape[1]):
            w[c, k] *= w.dtype.type(factor)


@kernel
def energy(v):
    """|v|^2 in double precision."""
    real, imaginary = np.float64(v.real), np.float64(v.imag)
    return real * real + imaginary * imaginary


@kernel
def highest_gain(loudest_d, power, gain):
    """A |y|/|x| far above that of any filter that works; infinite before the first sound."""
    return DIVERGENCE_RATIO * (loudest_d / np.sqrt(power) + gain) if power > 0.0 else np.inf


@sum_kernel
def energies(line, M, r):
    """r(n) = x(n)^H x(n), each summed anew.

    A sliding sum, from which the squares that leave are subtracted, would keep the rounding error
    of a loud sample.
    """
    squares = np.zeros(line.shape[1])
    for c in range(line.shape[0]):
        for i in range(line.shape[1]):
            squares[i] += energy(line[c, i])
    for n in range(np.uintp(r.shape[0])):
        s = 0.0
        for k in range(np.uintp(M)):
            s += squares[n + k]
        r[n] = s


@kernel
def mean_powers(r, sample, power, averaged, P):
    """P(n), which changes every UPDATE_SAMPLES and at the first sound; returns the last."""
    n, N = 0, r.shape[0]
    while n < N:
        place = (sample + n) % UPDATE_SAMPLES
        if (place == 0 or averaged == 0.0) and r[n] > 0.0:
            averaged = min(averaged + 1.0, MEAN_UPDATES)
            power += ((r[n] if averaged == 1.0 else min(r[n], MAX_RISE * power)) - power) / averaged
        stop = n + 1 if averaged == 0.0 else min(N, n + UPDATE_SAMPLES - place)
        for i in range(np.uintp(n), np.uintp(stop)):
            P[i] = power
        n = stop
    return power, averaged


@sum_kernel
def steps(r, P, learns, rate, updates, mu):
    """mu(n), which is zero where the filter does not learn; returns the number of updates so far.

    GIVEN: eta / (1 + updates/tau), where tau may be infinite. AUTOMATIC: eta / max(r, P).
    NORMALISED: eta / (r + eps), with a relative eps of low (1 + low/r), low = relative P, which
    grows where x is much quieter than usual.
    """
    N = r.shape[0]
    rule, eta, tau, eps, relative, _ = rate
    if rule == NORMALISED:
        for n in range(N):
            low = relative * P[n]
            below = r[n] + eps + low * (1.0 + low / r[n])
            mu[n] = eta / below if r[n] > LEAST_ENERGY else 0.0
    elif rule == AUTOMATIC:
        for n in range(N):
            below = max(r[n], P[n])
            mu[n] = eta / below if below > LEAST_ENERGY else 0.0
    elif tau == np.inf:
        mu[:] = eta
    else:
        for n in range(N):
            mu[n] = eta / (1.0 + updates / tau)
            updates += learns[n]
    for n in range(N):
        mu[n] *= learns[n]
    return updates
