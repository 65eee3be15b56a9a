"""Slow twins: the lectures' equations in plain Python, most of them in rational arithmetic."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np

_PRECISE = decimal.Context(prec=80, Emin=-(10**12), Emax=10**12)
_BERNOULLI = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
_LONG = 10**60  # fixed point


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def solve_exactly(G, c):
    """x with G x = c, by elimination on fractions or decimals; G must be regular."""
    n = len(G)
    rows = [[*row, value] for row, value in zip(G, c, strict=True)]
    for j in range(n):
        pivot = next(i for i in range(j, n) if rows[i][j] != 0)
        rows[j], rows[pivot] = rows[pivot], rows[j]
        for i in range(j + 1, n):
            factor = rows[i][j] / rows[j][j]
            if factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    x = [Fraction(0)] * n
    for j in reversed(range(n)):
        known = dot(rows[j][j + 1 : n], x[j + 1 :])
        x[j] = (rows[j][n] - known) / rows[j][j]
    return x


def decimals(values):
    """A sequence of float64 as decimals, exactly where the context has digits for them."""
    return [Decimal(float(v)) for v in values]


def rationals(values):
    """A sequence of float64 as fractions, exactly; fractions stay."""
    return [v if isinstance(v, Fraction) else Fraction(float(v)) for v in values]


def exact_least_squares(X, y, weights=None, intercept=True, ridge=0.0):
    """(w_1 .. w_p, b) minimising sum omega (y - w'x - b)^2 + ridge |w|^2, as fractions.

    X may hold floats or fractions. Without an intercept there is no b.
    """
    A = [rationals(row) + [Fraction(1)] * intercept for row in X]
    b = rationals(y)
    omega = [Fraction(1)] * len(b) if weights is None else rationals(weights)
    q = len(A[0])
    columns = [list(column) for column in zip(*A, strict=True)]
    weighted = [[o * a for o, a in zip(omega, column, strict=True)] for column in columns]
    G = [[dot(u, v) for v in columns] for u in weighted]
    c = [dot(u, b) for u in weighted]
    for j in range(q - intercept):
        G[j][j] += Fraction(ridge)
    return solve_exactly(G, c)


def exact_moments(rows, weights=None):
    """(weight, mean, scatter) of rows of floats, as fractions."""
    A = [rationals(row) for row in rows]
    omega = [Fraction(1)] * len(A) if weights is None else rationals(weights)
    n, q = sum(omega), len(A[0])
    mean = [sum(o * row[j] for o, row in zip(omega, A, strict=True)) / n for j in range(q)]
    scatter = [
        [
            sum(o * (r[i] - mean[i]) * (r[j] - mean[j]) for o, r in zip(omega, A, strict=True))
            for j in range(q)
        ]
        for i in range(q)
    ]
    return n, mean, scatter


def scatter_is_within(S, exact, rounding, unit):
    """Whether each sum of squares differs from the exact one by no more than its bound."""
    r = [Fraction(float(a)) * u for a, u in zip(rounding, unit, strict=True)]
    return all(
        abs(Fraction(float(S[i, j])) * unit[i] * unit[j] - exact[i][j]) <= r[i] * r[j]
        for i in range(len(r))
        for j in range(len(r))
    )


def correct_digits(values, exact):
    """Correct decimal digits of the worst value; 17 where all are the nearest float64."""
    worst = 17.0
    for value, truth in zip(values, exact, strict=True):
        if float(truth) == value:
            continue
        error = abs(Fraction(float(value)) - truth) / (abs(truth) or Fraction(1))
        worst = min(worst, -np.log10(float(error)))
    return worst


def minimum_squared_error(X, t, margins):
    """a = (w0, w) of the lecture's Ya = b: rows of Y are t (1, x), by the pseudoinverse."""
    Y = np.asarray(t)[:, None] * np.column_stack([np.ones(len(X)), X])
    a = np.linalg.pinv(Y) @ np.asarray(margins, dtype=float)
    return a, Y @ a


def ill_conditioned(rng, n, p, kappa):
    """X (n, p) with singular values from 1 down to 1/kappa, in random directions."""
    U, _ = np.linalg.qr(rng.standard_normal((n, p)))
    V, _ = np.linalg.qr(rng.standard_normal((p, p)))
    return (U * np.logspace(0, -np.log10(kappa), p)) @ V.T


def exact_fraction(N, D):
    """2^(1-N) sum over i < D of binomial(N - 1, i)."""
    return Fraction(sum(math.comb(N - 1, i) for i in range(D)), 2 ** (N - 1))


def precise_log_tail(M, D):
    """ln P(fewer than D heads in M tosses) to about fifty digits, for 0 < D <= (M + 1)/2."""
    with decimal.localcontext(_PRECISE):
        k = D - 1
        log = _log_factorial(M) - _log_factorial(k) - _log_factorial(M - k) - M * Decimal(2).ln()
        total = term = _LONG
        while term and k:
            term = term * k // (M - k + 1)
            total += term
            k -= 1
        return log + (Decimal(total) / _LONG).ln()


def relative_error(value, log):
    """|value / exp(log) - 1| of a float."""
    with decimal.localcontext(_PRECISE):
        return float(abs(Decimal(value) / log.exp() - 1))


def _log_factorial(k):
    """Exact below 2000; above, eight terms of Stirling's series leave less than 1e-55."""
    if k < 2000:
        return Decimal(math.factorial(k)).ln()
    n = Decimal(k)
    log = (2 * _pi() * n).ln() / 2 + n * (n.ln() - 1)
    for j, (a, b) in enumerate(_BERNOULLI, 1):
        log += Decimal(a) / Decimal(b) / (2 * j * (2 * j - 1) * n ** (2 * j - 1))
    return log


@cache
def _pi():
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239)."""
    return 16 * _atan_inverse(5) - 4 * _atan_inverse(239)


def _atan_inverse(x):
    total, power, k, sign = Decimal(0), Decimal(1) / x, 1, 1
    while power > Decimal(10) ** -85:
        total += sign * power / k
        power, k, sign = power / (x * x), k + 2, -sign
    return total
