"""Slow twins: the perceptron in primal form, and L2 logistic regression in decimals."""

from __future__ import annotations

from decimal import Decimal

import numpy as np


def primal_perceptron(X, t, max_iter=1000, weights=None):
    """Lecture 002, incremental, epsilon = 1, start at zero, the bias an input of 1.

    Returns w, b, and how often each pattern was corrected, times its weight; none for ones.
    """
    omega = np.ones(len(X)) if weights is None else weights
    w, b, corrections = np.zeros(len(X[0])), 0.0, np.zeros(len(X))
    for _ in range(max_iter):
        wrong = 0
        for i, x in enumerate(X):
            if omega[i] > 0 and t[i] * (sum(w[j] * x[j] for j in range(len(x))) + b) <= 0:
                w = w + omega[i] * t[i] * np.asarray(x)
                b = b + omega[i] * t[i]
                corrections[i] += omega[i]
                wrong += 1
        if wrong == 0:
            break
    return w, b, corrections


def exact_logistic(X, t, omega, alpha, w, b):
    """P(w, b) of float64 numbers in decimals of the current precision."""
    D = Decimal
    loss = D(0)
    for x, sign, weight in zip(X, t, omega, strict=True):
        v = sum((D(float(a)) * c for a, c in zip(x, w, strict=True)), D(0)) + b
        m = int(sign) * v
        # log(1 + e) of a tiny e would lose it in the sum
        loss += D(float(weight)) * (_log1p((-abs(m)).exp()) + max(-m, D(0)))
    return loss + D(float(alpha)) / 2 * sum((c * c for c in w), D(0))


def _log1p(e):
    return e - e * e / 2 if e < Decimal("1e-30") else (1 + e).ln()


def exact_logistic_minimum(X, t, omega, alpha, intercept, polish=0):
    """w, b and the least value, by damped Newton in decimals of the current precision.

    Where the loss is almost level at zero already, `polish` steps more find w to all digits.
    """
    D = Decimal
    Z = [[*(D(float(a)) for a in x), D(1 if intercept else 0)] for x in X]
    problem, theta = (Z, t, omega, D(float(alpha)), intercept), [D(0)] * len(Z[0])
    value = exact_logistic(X, t, omega, alpha, theta[:-1], theta[-1])
    for _ in range(400):
        g, d = _newton_step(*problem, theta)
        slope = sum((a * c for a, c in zip(g, d, strict=True)), D(0))
        if -slope <= value * D(10) ** -40:
            break
        size = D(1)
        while True:
            new = [c + size * a for c, a in zip(theta, d, strict=True)]
            there = exact_logistic(X, t, omega, alpha, new[:-1], new[-1])
            if there <= value + size * slope / 10000:
                break
            size /= 2
        theta, value = new, there
    else:
        raise ArithmeticError("the exact minimum was not reached")
    for _ in range(polish):  # whole steps, each of which doubles the digits
        theta = [c + a for c, a in zip(theta, _newton_step(*problem, theta)[1], strict=True)]
    return theta[:-1], theta[-1], value


def _newton_step(Z, t, omega, alpha, intercept, theta):
    """The gradient and Newton's step at theta."""
    D, q = Decimal, len(theta)
    g = [alpha * c for c in theta[:-1]] + [D(0)]
    H = [[alpha * (i == j) for j in range(q)] for i in range(q)]
    H[-1][-1] = D(0 if intercept else 1)
    for z, sign, weight in zip(Z, t, omega, strict=True):
        m = int(sign) * sum((a * c for a, c in zip(z, theta, strict=True)), D(0))
        e = (-abs(m)).exp()
        p = (e if m >= 0 else 1) / (1 + e)
        s = D(float(weight)) * e / (1 + e) ** 2
        for i in range(q):
            g[i] -= D(float(weight)) * int(sign) * p * z[i]
            for j in range(q):
                H[i][j] += s * z[i] * z[j]
    return g, _solved(H, [-c for c in g])


def _solved(H, c):
    """Elimination with pivots, in place."""
    n = len(c)
    for j in range(n):
        pivot = max(range(j, n), key=lambda i: abs(H[i][j]))
        H[j], H[pivot], c[j], c[pivot] = H[pivot], H[j], c[pivot], c[j]
        for i in range(j + 1, n):
            f = H[i][j] / H[j][j]
            H[i] = [a - f * h for a, h in zip(H[i], H[j], strict=True)]
            c[i] -= f * c[j]
    x = [Decimal(0)] * n
    for j in reversed(range(n)):
        rest = sum((H[j][k] * x[k] for k in range(j + 1, n)), Decimal(0))
        x[j] = (c[j] - rest) / H[j][j]
    return x
