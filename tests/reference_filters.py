"""Slow twins of the filters: the textbook recursions, one sample at a time, and plain loops."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import numpy as np

import reference


def delay_line(x, taps):
    """The rows x(n) = (x[n], ..., x[n-taps+1]) of a signal (n,) or (n, channels)."""
    x = np.asarray(x)
    x = x[:, None] if x.ndim == 1 else x
    rows = np.zeros((len(x), x.shape[1] * taps), x.dtype)
    for n in range(len(x)):
        for c in range(x.shape[1]):
            for k in range(min(taps, n + 1)):
                rows[n, c * taps + k] = x[n - k, c]
    return rows


def unit(v):
    """v/|v|, 0 at 0."""
    size = np.abs(v)
    return np.where(size > 0, v / np.where(size > 0, size, 1), 0)


def mean_powers(U):
    """The mean of x(n)^H x(n) over every 32nd sample, and the first that is not silent.

    One sample counts at most four times the mean.
    """
    power, count, powers = 0.0, 0, []
    for n, u in enumerate(U):
        now = np.vdot(u, u).real
        if (n % 32 == 0 or count == 0) and now > 0:
            count = min(count + 1, 1024)
            power = now if count == 1 else power + (min(now, 4 * power) - power) / count
        powers.append(power)
    return powers


def automatic_eps(power, u):
    """A hundredth of the mean power, and more where x is quieter than that."""
    low, now = 0.01 * power, max(np.vdot(u, u).real, 1e-290)
    return low * (1 + low / now)


class StartOver:
    """When a filter with an automatic step starts over: x(n)^H x(n) is four times above all before
    it, and of the energy of d the errors so far have kept more than 0.9."""

    def __init__(self, on):
        self.on, self.loudest, self.use = on, 0.0, 0.0

    def now(self, u):
        power = np.vdot(u, u).real
        jumped, self.loudest = 0 < 4 * self.loudest < power, max(self.loudest, power)
        if not (self.on and jumped and self.use > 0):
            return False
        self.use = 0.0
        return True

    def tell(self, e, d):
        self.use = (1 - 2**-15) * self.use + abs(e) ** 2 - 0.9 * abs(d) ** 2


def lms(x, d, taps, eta, leak=0.0, sign=None, w=None):
    """(y, e, w) of LMS; eta is a function of the sample."""
    return lms_rows(delay_line(x, taps), d, eta, leak, sign, w)


def lms_rows(U, d, eta, leak=0.0, sign=None, w=None, automatic=False):
    """The same for given rows; eta(n, u) is a number."""
    again = StartOver(automatic)
    w = np.zeros(U.shape[1], U.dtype) if w is None else np.array(w, U.dtype)
    y, e = np.zeros(len(d), U.dtype), np.zeros(len(d), U.dtype)
    for n, u in enumerate(U):
        w = 0 * w if again.now(u) else w
        y[n] = np.vdot(w, u)
        e[n] = d[n] - y[n]
        again.tell(e[n], d[n])
        wanted = unit(e[n]) if sign in ("error", "both") else e[n]
        along = unit(u) if sign in ("data", "both") else u
        rate = eta(n, u)
        w = (1 - rate * leak) * w + rate * np.conj(wanted) * along
    return y, e, w


def automatic_rate(U):
    """A tenth of 2/tr[R], and never above 0.2/x(n)^H x(n)."""
    powers = mean_powers(U)

    def rate(n, u):
        below = max(np.vdot(u, u).real, powers[n])
        return 0.2 / below if below > 0 else 0.0

    return rate


def nlms(x, d, taps, eta, eps="auto", w=None):
    """(y, e, w) of normalised LMS."""
    U = delay_line(x, taps)
    powers = mean_powers(U)

    def rate(n, u):
        below = np.vdot(u, u).real + (automatic_eps(powers[n], u) if eps == "auto" else eps)
        return eta / below if below > 0 else 0.0

    return lms_rows(U, d, rate, w=w, automatic=eps == "auto" and w is None)


def affine_projection(x, d, taps, order, eta, eps="auto"):
    """(y, e, w) of affine projection: every error anew, every system solved anew."""
    U, d = delay_line(x, taps), np.asarray(d)
    powers = mean_powers(U)
    w = np.zeros(U.shape[1], U.dtype)
    y, e = np.zeros(len(d), U.dtype), np.zeros(len(d), U.dtype)
    again, d = StartOver(eps == "auto"), np.array(d)
    for n in range(len(d)):
        if again.now(U[n]):
            w, d[:n] = 0 * w, 0  # samples before are to stay as these weights have them
        X = U[max(0, n - order + 1) : n + 1][::-1].T  # columns x(n), x(n-1), ...
        errors = d[max(0, n - order + 1) : n + 1][::-1] - w.conj() @ X
        y[n], e[n] = d[n] - errors[0], errors[0]
        again.tell(e[n], d[n])
        power = max(powers[n], np.vdot(U[n], U[n]).real / 4) if order > 1 else powers[n]
        ridge = automatic_eps(power, U[n]) if eps == "auto" else eps
        R = X.conj().T @ X + ridge * np.eye(X.shape[1])
        w = w + eta * X @ np.linalg.lstsq(R, errors.conj(), rcond=None)[0]
    return y, e, w


def rls(x, d, taps, forgetting, delta):
    """(y, e, w, P) of recursive least squares, the textbook's four lines."""
    U = delay_line(x, taps)
    w, P = np.zeros(U.shape[1], U.dtype), np.eye(U.shape[1], dtype=U.dtype) / delta
    y, e = np.zeros(len(d), U.dtype), np.zeros(len(d), U.dtype)
    for n, u in enumerate(U):
        y[n] = np.vdot(w, u)
        e[n] = d[n] - y[n]
        kept = forgetting if u.any() else 1.0  # in silence nothing is forgotten
        k = P @ u / (kept + np.vdot(u, P @ u).real)
        w = w + k * np.conj(e[n])
        P = (P - np.outer(k, u.conj() @ P)) / kept
        P = (P + P.conj().T) / 2  # or rounding errors grow by 1/forgetting a sample
    return y, e, w, P


def rls_by_qr(x, d, taps, forgetting, delta):
    """(e, w) of recursive least squares by a QR decomposition a sample: no rank is too low for it.

    The rows of R w = z stand for all samples so far; each sample is one more row below them.
    """
    U, m = delay_line(x, taps), taps
    R = np.sqrt(delta) * np.eye(m, m + 1, dtype=U.dtype)
    w, e = np.zeros(m, U.dtype), np.zeros(len(d), U.dtype)
    for n, u in enumerate(U):
        e[n] = d[n] - np.vdot(w, u)
        if u.any():  # in silence nothing is forgotten
            row = np.append(u.conj(), np.conj(d[n]))
            R = np.linalg.qr(np.vstack([np.sqrt(forgetting) * R, row]), mode="r")[:m]
            w = np.linalg.solve(R[:, :m], R[:, m])
    return e, w


def exact_least_squares(x, d, taps, forgetting, delta):
    """The same w in rational arithmetic, rounded once; a complex w as twice as many real ones."""
    U, d = delay_line(x, taps), np.asarray(d)
    m = U.shape[1]
    rows, wanted = U.real, d.real
    if np.iscomplexobj(U):  # w = a + ib: w^H x = (a'r + b's) + i (a's - b'r), x = r + is
        rows = np.stack([np.hstack([U.real, U.imag]), np.hstack([U.imag, -U.real])], axis=1)
        rows, wanted = rows.reshape(-1, 2 * m), np.column_stack([d.real, d.imag]).ravel()
    per, kept = len(rows) // len(d), Fraction(float(forgetting))
    weights = [kept ** (len(d) - 1 - n // per) for n in range(len(rows))]
    ridge = Fraction(float(delta)) * kept ** len(d)
    w = np.array(
        [float(v) for v in reference.exact_least_squares(rows, wanted, weights, False, ridge)]
    )
    return w[:m] + 1j * w[m:] if np.iscomplexobj(U) else w


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
