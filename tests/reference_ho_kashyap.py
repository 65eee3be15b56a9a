"""Slow twins of Ho and Kashyap's procedure: the lecture's loop, in floats and in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reference import rationals, solve_exactly


def normalised_rows(X, t, intercept=True):
    """Rows t (1, x) of Y."""
    one = [1.0] if intercept else []
    return [[float(s) * v for v in [*one, *map(float, x)]] for s, x in zip(t, X, strict=True)]


def ho_kashyap(X, t, a=None, b=None, eta=0.9, max_iter=1000, tol=1e-6, intercept=True):
    """(k, a, b, e, end) of the lecture's loop; a None starts at the pseudoinverse."""
    Y = np.array(normalised_rows(X, t, intercept))
    b = np.ones(len(Y)) if b is None else np.array(b, dtype=float)
    pseudoinverse = np.linalg.pinv(Y)
    given = a is not None
    a = np.array(a, dtype=float) if given else pseudoinverse @ b
    for k in range(1, max_iter + 1):
        e = Y @ a - b
        if min(Y @ a) > 1e-12:
            return k, a, b, e, "separated"
        if max(e) <= tol * max(-e) and not (given and k == 1):
            return k, a, b, e, "balanced"
        if k < max_iter:
            b = b + eta * (e + abs(e))
            a = pseudoinverse @ b
    return max_iter, a, b, e, "iterations"


def exact_ho_kashyap(X, t, a, eta, max_iter=1000):
    """(k, a, b, Ya) as fractions from a(1) = a and b(1) = 1, until all Ya > 0; Y of full rank."""
    Y = [rationals(row) for row in normalised_rows(X, t)]
    q = range(len(Y[0]))
    G = [[sum(y[i] * y[j] for y in Y) for j in q] for i in q]
    a, b = [Fraction(v) for v in a], [Fraction(1)] * len(Y)
    for k in range(1, max_iter + 1):
        Ya = [sum(v * w for v, w in zip(y, a, strict=True)) for y in Y]
        if min(Ya) > 0:
            return k, a, b, Ya
        e = [v - m for v, m in zip(Ya, b, strict=True)]
        b = [m + eta * (v + abs(v)) for m, v in zip(b, e, strict=True)]
        a = solve_exactly(G, [sum(y[i] * m for y, m in zip(Y, b, strict=True)) for i in q])
    return max_iter, a, b, Ya
