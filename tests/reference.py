"""Slow twins: the lectures' equations in plain Python, most of them in rational arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np


def solve_exactly(G, c):
    """x with G x = c, by elimination on fractions; G must be regular."""
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
        known = sum(rows[j][k] * x[k] for k in range(j + 1, n))
        x[j] = (rows[j][n] - known) / rows[j][j]
    return x


def decimals(values):
    """A sequence of float64 as decimals, exactly where the context has digits for them."""
    return [Decimal(float(v)) for v in values]


def product(a, b):
    """a'b of decimals."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def solve_in_decimals(G, c):
    """x with G x = c for a positive definite G, by elimination in the context's digits."""
    n = len(G)
    rows = [[*row, value] for row, value in zip(G, c, strict=True)]
    for j in range(n):
        for i in range(j + 1, n):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    x = [Decimal(0)] * n
    for j in reversed(range(n)):
        x[j] = (rows[j][n] - product(rows[j][j + 1 : n], x[j + 1 :])) / rows[j][j]
    return x


def rationals(values):
    """A sequence of float64 as fractions, exactly."""
    return [Fraction(float(v)) for v in values]


def exact_least_squares(X, y, weights=None, intercept=True, ridge=0.0):
    """(w_1 .. w_p, b) minimising sum omega (y - w'x - b)^2 + ridge |w|^2, as fractions.

    X may hold floats or fractions. Without an intercept there is no b.
    """
    A = [
        [v if isinstance(v, Fraction) else Fraction(float(v)) for v in row]
        + [Fraction(1)] * intercept
        for row in X
    ]
    b = rationals(y)
    omega = [Fraction(1)] * len(b) if weights is None else rationals(weights)
    q = len(A[0])
    G = [
        [sum(o * row[i] * row[j] for o, row in zip(omega, A, strict=True)) for j in range(q)]
        for i in range(q)
    ]
    c = [sum(o * row[i] * t for o, row, t in zip(omega, A, b, strict=True)) for i in range(q)]
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
