"""Slow twins of the Wiener filter, the block filters, filtered-x and the measures: plain loops."""

from __future__ import annotations

import cmath
import math

import numpy as np


def delay_lines(x, taps):
    """Row n holds x_c(n), x_c(n-1), ... of channel after channel, with zeros before the signal."""
    x = np.asarray(x)
    x = x[:, None] if x.ndim == 1 else x
    rows = []
    for n in range(len(x)):
        rows.append(
            [x[n - k, c] if n >= k else 0.0 for c in range(x.shape[1]) for k in range(taps)]
        )
    return np.array(rows)


def dft(line, sign=-1):
    n = len(line)
    return [
        sum(line[t] * cmath.exp(sign * 2j * math.pi * f * t / n) for t in range(n))
        for f in range(n)
    ]


def inverse_dft(spectrum):
    return [value / len(spectrum) for value in dft(spectrum, +1)]


def block_lms(x, d, taps, block, eta, eps=0.0, relative=0.0, smoothing=0.9, half_life=2.0**14):
    """(y, h) of the partitioned block filter, on whole blocks, one reference, real or complex."""
    count, points, real = -(-taps // block), 2 * block, not np.iscomplexobj(x)
    h = [[0.0] * block for _ in range(count)]
    spectra = [[0.0] * points for _ in range(count)]
    smoothed, level, usual, y = [0.0] * points, 0.0, 0.0, []
    before = [0.0] * block
    for start in range(0, len(x) - block + 1, block):
        now = [complex(v) for v in x[start : start + block]]
        spectra = [dft([*before, *now]), *spectra[:-1]]
        before = now
        output = [
            sum(
                h[p][k] * (x[start + n - p * block - k] if start + n >= p * block + k else 0.0)
                for p in range(count)
                for k in range(block)
            )
            for n in range(block)
        ]
        y += output
        latest = [count * abs(X) ** 2 for X in spectra[0]]
        smoothed = [
            smoothing * s + (1 - smoothing) * v for s, v in zip(smoothed, latest, strict=True)
        ]
        power = [max(sum(abs(X[f]) ** 2 for X in spectra), smoothed[f]) for f in range(points)]
        counted = latest[: block + 1] if real else latest
        loudness = sum(counted) / len(counted)
        level = max(
            min(loudness, 4 * level) if level else loudness, level * 2 ** (-block / half_life)
        )
        wanted = sum(abs(v) ** 2 for v in d[start : start + block])
        before_d, usual = usual, usual + (min(wanted, 4 * usual) - usual) / 16 if usual else wanted
        if sum(abs(v) ** 2 for v in output) > 100 * wanted >= 10 * before_d:
            h = [[0.0] * block for _ in range(count)]  # worse than no filter
            continue
        # Each bin also by what leaks into it from the others, as half of the points are cut off.
        lags = inverse_dft(power)
        leaked = dft([lags[t] * (1 - min(t, points - t) / block) for t in range(points)])
        # A hundredth of the level, spread over the bins as x is, and 1/100 of that everywhere.
        known = smoothed[: block + 1] if real else smoothed
        mean = sum(known) / len(known)
        floors = [
            2 * eps + relative * level * (0.01 + (s / mean if mean > 0 else 0.0)) for s in smoothed
        ]
        by = [max(a, b.real) + floor for a, b, floor in zip(power, leaked, floors, strict=True)]
        E = dft([0.0] * block + [d[start + n] - output[n] for n in range(block)])
        for p in range(count):
            g = inverse_dft(
                [
                    eta * complex(X).conjugate() * v / q if q > 0 else 0.0
                    for X, v, q in zip(spectra[p], E, by, strict=True)
                ]
            )
            for k in range(block):
                if p * block + k < taps:
                    h[p][k] += g[k].real if real else g[k]
    return y, [v for part in h for v in part][:taps]


def filtered_x(x, d, taps, path, estimate, eta, eps):
    """(y, e, w) of normalised filtered-x LMS with one reference: e = d - path * (w^H x)."""
    w, u, y, e = [0.0] * taps, [], [], []

    def past(line, n, count):
        return [line[n - k] if n >= k else 0.0 for k in range(count)]

    seen = []  # the reference as the loop hears it
    for n in range(len(x)):
        line = past(x, n, taps)
        u.append(sum(np.conj(a) * b for a, b in zip(w, line, strict=True)))
        seen.append(sum(s * v for s, v in zip(estimate, past(x, n, len(estimate)), strict=True)))
        y.append(sum(s * v for s, v in zip(path, past(u, n, len(path)), strict=True)))
        e.append(d[n] - y[n])
        line = past(seen, n, taps)
        power = sum(abs(v) ** 2 for v in line) + eps
        if power > 0:
            w = [a + eta * np.conj(e[n]) * v / power for a, v in zip(w, line, strict=True)]
    return y, e, w


def learning_curve(e, window):
    squares = [abs(v) ** 2 for v in e]
    return [
        sum(squares[max(0, n - window + 1) : n + 1]) / min(n + 1, window)
        for n in range(len(squares))
    ]
